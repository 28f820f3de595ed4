// Ethernet frames: made of a few fields, and read out again.

const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const bytesOf = (text) => Uint8Array.from(text.match(/../g) || [], (pair) => parseInt(pair, 16));
const address = (text) => {
  const parts = text.trim().split(".").map(Number);
  if (parts.length !== 4 || parts.some((part) => !Number.isInteger(part) || part < 0 || part > 255)) throw new Error(`“${text}” is no IPv4 address such as 10.0.0.1`);
  return parts;
};
const station = (text) => {
  if (!/^([0-9a-f]{1,2}[:-]){5}[0-9a-f]{1,2}$/i.test(text.trim())) throw new Error(`“${text}” is no Ethernet address such as 02:00:00:00:00:01`);
  return text.trim().split(/[:-]/).map((part) => parseInt(part, 16));
};
// The Internet checksum (RFC 1071).
const checksum = (bytes) => {
  let sum = 0;
  for (let i = 0; i < bytes.length; i += 2) sum += (bytes[i] << 8) | (bytes[i + 1] || 0);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
};
const PROTOCOLS = { udp: 17, tcp: 6, icmp: 1 };

// A frame of `size` bytes with its FCS, as hexadecimal.
export const make = ({ to, from, source, destination, protocol, ttl, port, size }) => {
  if (protocol === "arp") {
    const request = [0, 1, 8, 0, 6, 4, 0, 1, ...station(from), ...address(source), 0, 0, 0, 0, 0, 0, ...address(destination)];
    const frame = [255, 255, 255, 255, 255, 255, ...station(from), 8, 6, ...request];
    return hex([...frame, ...new Array(60 - frame.length).fill(0)]);
  }
  const length = Math.max(64, size) - 18;
  const header = [0x45, 0, length >> 8, length & 255, 0, 0, 0, 0, ttl, PROTOCOLS[protocol], 0, 0, ...address(source), ...address(destination)];
  const sum = checksum(header);
  [header[10], header[11]] = [sum >> 8, sum & 255];
  const payload = new Array(length - 20).fill(0);
  const inside = length - 20;
  if (protocol === "udp") payload.splice(0, 8, 0x30, 0x39, port >> 8, port & 255, inside >> 8, inside & 255, 0, 0);
  if (protocol === "tcp") payload.splice(0, 20, 0x30, 0x39, port >> 8, port & 255, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 0xff, 0xff, 0, 0, 0, 0);
  if (protocol === "icmp") payload.splice(0, 8, 8, 0, 0, 0, 0, 1, 0, 1);
  if (protocol !== "udp") {
    const pseudo = [...address(source), ...address(destination), 0, PROTOCOLS[protocol], inside >> 8, inside & 255];
    const over = checksum(protocol === "tcp" ? [...pseudo, ...payload] : payload);
    const at = protocol === "tcp" ? 16 : 2;
    [payload[at], payload[at + 1]] = [over >> 8, over & 255];
  }
  return hex([...station(to), ...station(from), 8, 0, ...header, ...payload]);
};

const dotted = (bytes) => bytes.join(".");
const colons = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(":");

const readIp = (b) => {
  if (b.length < 20 || b[0] >> 4 !== 4) return null;
  const name = { 1: "ICMP", 6: "TCP", 17: "UDP" }[b[9]] || `protocol ${b[9]}`;
  const start = (b[0] & 15) * 4;
  const ports = (b[9] === 6 || b[9] === 17) && b.length >= start + 4;
  const at = (place) => (ports ? `:${(b[start + place] << 8) | b[start + place + 1]}` : "");
  return `${name} ${dotted(b.subarray(12, 16))}${at(0)} > ${dotted(b.subarray(16, 20))}${at(2)}, TTL ${b[8]}, ${(b[2] << 8) | b[3]} bytes`;
};

// What a packet is: with an Ethernet header, or without one.
export const read = (text) => {
  const b = bytesOf(text);
  const kind = (b[12] << 8) | b[13];
  if (b.length >= 14 && [0x0800, 0x0806, 0x8100, 0x8847, 0x86dd].includes(kind)) {
    const rest = b.subarray(14);
    const inside = kind === 0x0800 ? readIp(rest) : { 0x0806: "ARP", 0x8100: `VLAN ${((rest[0] << 8) | rest[1]) & 0xfff}`, 0x8847: `MPLS ${((rest[0] << 12) | (rest[1] << 4) | (rest[2] >> 4))}`, 0x86dd: "IPv6" }[kind];
    return `${colons(b.subarray(6, 12))} > ${colons(b.subarray(0, 6))}, ${inside || "IPv4, broken"}`;
  }
  return readIp(b) || `${b.length} bytes`;
};

// Places of bytes that differ from those before; of packets that grew or shrank at the front, of
// what they share.
export const changed = (before, after) => {
  const [a, b] = [bytesOf(before), bytesOf(after)];
  const shift = b.length - a.length;
  const places = [];
  for (let i = 0; i < b.length; i++) if (i - shift < 0 || a[i - shift] !== b[i]) places.push(i);
  return places;
};
