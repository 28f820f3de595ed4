//! A packet that is made of a line: headers are made up when a field that stands in one comes.
//!
//! Bytes that no field sets are zero. The packet is as short as its fields allow; what is missing
//! of the length that the line tells is in the EXTRA_LENGTH annotation.

use trammel_packet::anno;
use trammel_packet::headers::checksum::{Sum, checksum};
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::headers::icmp::{Icmp, kind};
use trammel_packet::headers::ipv4::{self, Ipv4, protocol};
use trammel_packet::headers::tcp::Tcp;
use trammel_packet::headers::udp::Udp;
use trammel_packet::packet::Packet;
use trammel_packet::timestamp::Timestamp;

/// Time to live of packets whose line does not tell it.
const DEFAULT_TTL: u8 = 100;
/// The most bytes of an IP or TCP header.
const HEADER_BYTES_MAX: usize = 60;
/// Bytes of ICMP's timestamp messages.
const ICMP_TIMESTAMP_LEN: usize = 20;
/// Bytes of DCCP's header.
const DCCP_LEN: usize = 12;

/// Addresses and ports of packets whose line does not tell them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowId {
    /// From which address.
    pub src: [u8; 4],
    /// From which port.
    pub sport: u16,
    /// To which address.
    pub dst: [u8; 4],
    /// To which port.
    pub dport: u16,
}

/// Whether messages of this type have an identifier and a sequence number in summaries: not those
/// that ask for an address mask, though they have them.
pub(super) fn has_flow(icmp_type: u8) -> bool {
    use kind::{ECHO, ECHO_REPLY, INFORMATION, INFORMATION_REPLY, TIMESTAMP, TIMESTAMP_REPLY};
    matches!(
        icmp_type,
        ECHO | ECHO_REPLY | INFORMATION | INFORMATION_REPLY | TIMESTAMP | TIMESTAMP_REPLY
    )
}

/// What a line says of a packet besides its bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Notes {
    pub(super) timestamp: Timestamp,
    pub(super) first_timestamp: Option<Timestamp>,
    pub(super) extra_packets: Option<u32>,
    pub(super) paint: Option<u8>,
    pub(super) aggregate: Option<u32>,
}

#[derive(Debug, Default)]
pub(super) struct Builder {
    bytes: Vec<u8>,
    has_mac: bool,
    network_at: Option<usize>,
    transport_at: usize,
    /// Whether what follows the link header is IPv4.
    is_ip: bool,
    has_icmp_type: bool,
    has_icmp_code: bool,
    has_ip_header_len: bool,
    has_tcp_header_len: bool,
    pub(super) notes: Notes,
    default_protocol: u8,
    flow: Option<FlowId>,
    pub(super) minor_version: u32,
    /// Bytes that the packet shall have; 0 where the line does not tell.
    pub(super) want_len: usize,
}

impl Builder {
    /// Begins a packet.
    pub(super) fn begin(&mut self, default_protocol: u8, flow: Option<FlowId>, minor_version: u32) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        *self = Builder {
            bytes,
            is_ip: true,
            default_protocol,
            flow,
            minor_version,
            ..Builder::default()
        };
    }

    fn len_from(&self, at: usize) -> usize {
        self.bytes.len().saturating_sub(at)
    }

    /// Makes the packet at least `len` bytes long from `at` on.
    fn reach(&mut self, at: usize, len: usize) {
        let len = at + len;
        if self.bytes.len() < len {
            self.bytes.resize(len, 0);
        }
    }

    /// Writes within the bytes that are there; a field beyond them is left out.
    fn write(&mut self, at: usize, value: &[u8]) {
        if let Some(place) = self.bytes.get_mut(at..at + value.len()) {
            place.copy_from_slice(value);
        }
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn word(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.byte(at), self.byte(at + 1)])
    }

    /// Makes a link header, for writing to.
    pub(super) fn ether(&mut self) -> Option<&mut Ether> {
        if !self.has_mac {
            self.has_mac = true;
            let mut ether = Ether::default();
            ether.ethertype.set(ethertype::IP);
            self.bytes.splice(0..0, ether.bytes().iter().copied());
            self.network_at = Some(Ether::LEN);
            self.transport_at = self.bytes.len();
        }
        Ether::read_mut(&mut self.bytes)
    }

    /// Says what the link header announces.
    pub(super) fn set_ethertype(&mut self, kind: u16) {
        if let Some(ether) = self.ether() {
            ether.ethertype.set(kind);
        }
        self.is_ip = self.is_ip && matches!(kind, ethertype::IP | ethertype::IP6);
    }

    /// Whether there is an IP header.
    fn has_ip(&self) -> bool {
        self.is_ip
            && self
                .network_at
                .is_some_and(|at| self.len_from(at) >= Ipv4::LEN)
    }

    fn network(&self) -> usize {
        self.network_at.unwrap_or(0)
    }

    /// Makes an IP header; tells where it begins, nothing where this is not IP.
    fn make_ip(&mut self) -> Option<usize> {
        if !self.is_ip {
            return None;
        }
        let at = *self.network_at.get_or_insert(0);
        if !self.has_ip() {
            self.bytes.truncate(at);
            self.reach(at, Ipv4::LEN);
            self.transport_at = at + Ipv4::LEN;
            let flow = self.flow.unwrap_or_default();
            if let Some(ip) = Ipv4::read_mut(&mut self.bytes[at..]) {
                ip.version_ihl = 0x45;
                ip.ttl = DEFAULT_TTL;
                ip.protocol = self.default_protocol;
                (ip.src, ip.dst) = (flow.src, flow.dst);
            }
        }
        Some(at)
    }

    fn protocol(&self) -> u8 {
        self.byte(self.network() + 9)
    }

    fn is_first_fragment(&self) -> bool {
        self.word(self.network() + 6) & ipv4::OFFSET_MASK == 0
    }

    /// Makes the transport header of the IP packet; whether this is where one belongs.
    fn make_transport(&mut self) -> bool {
        if !self.is_first_fragment() {
            return false;
        }
        let at = self.transport_at;
        let len = match self.protocol() {
            protocol::TCP => Tcp::LEN,
            protocol::UDP | protocol::UDPLITE => Udp::LEN,
            protocol::DCCP => DCCP_LEN,
            protocol::ICMP => Icmp::LEN,
            _ => return true,
        };
        // The smallest of these headers: with it, the header was made.
        if self.len_from(at) >= Udp::LEN {
            return true;
        }
        let len = if self.want_len > 0 {
            len.min(self.want_len.saturating_sub(at))
        } else {
            len
        };
        if self.len_from(at) < len {
            self.reach(at, len);
            if self.protocol() == protocol::TCP {
                self.write(at + 12, &[(Tcp::LEN / 4) as u8 * 16]);
            }
            if let Some(flow) = self.flow {
                self.write(at, &flow.sport.to_be_bytes());
                self.write(at + 2, &flow.dport.to_be_bytes());
            }
        }
        true
    }

    /// Makes IP and transport headers; tells where the latter begins, where the packet's protocol
    /// is one of `protocols` or not told.
    fn make_upper(&mut self, protocols: &[u8]) -> Option<usize> {
        self.make_ip()?;
        let protocol = self.protocol();
        if protocol != 0 && !protocols.contains(&protocol) {
            return None;
        }
        self.make_transport().then_some(self.transport_at)
    }

    /// Writes into the IP header.
    pub(super) fn put_ip(&mut self, at: usize, value: &[u8]) {
        if let Some(start) = self.make_ip() {
            self.write(start + at, value);
        }
    }

    /// Changes the bits `mask` of TOS.
    pub(super) fn put_tos(&mut self, mask: u8, value: u8) {
        if let Some(start) = self.make_ip() {
            let tos = self.byte(start + 1) & !mask | value & mask;
            self.write(start + 1, &[tos]);
        }
    }

    fn set_ip_header_len(&mut self, start: usize, len: usize) {
        self.bytes[start] = 0x40 | (len / 4) as u8;
    }

    /// Sets the length of the IP header; options that are thus made are zero, the end of options.
    pub(super) fn put_ip_header_len(&mut self, len: u64) {
        let Some(start) = self.make_ip() else { return };
        self.has_ip_header_len = true;
        let len = len.next_multiple_of(4).min(HEADER_BYTES_MAX as u64) as usize;
        let before = usize::from(self.byte(start) & 15) * 4;
        if len > before {
            self.reach(start, len);
            self.transport_at = start + len;
        }
        self.set_ip_header_len(start, len);
    }

    /// Puts options into the IP header, which grows as they need; others that it had are gone.
    pub(super) fn put_ip_options(&mut self, options: &[u8]) {
        let Some(start) = self.make_ip() else { return };
        self.has_ip_header_len = true;
        let options = &options[..options.len().min(HEADER_BYTES_MAX - Ipv4::LEN)];
        if options.is_empty() {
            return;
        }
        let len = Ipv4::LEN + options.len().next_multiple_of(4);
        self.reach(start, len);
        if len > usize::from(self.byte(start) & 15) * 4 {
            self.transport_at = start + len;
            self.set_ip_header_len(start, len);
        }
        let end = self.transport_at.clamp(start + len, self.bytes.len());
        self.bytes[start + Ipv4::LEN..end].fill(0);
        self.write(start + Ipv4::LEN, options);
    }

    /// Says how long the IP packet shall be.
    pub(super) fn put_ip_len(&mut self, len: u64) {
        if let Some(start) = self.make_ip() {
            self.want_len = start + len as usize;
        }
    }

    /// Writes a port.
    pub(super) fn put_port(&mut self, at: usize, port: u16) {
        const WITH: [u8; 4] = [
            protocol::TCP,
            protocol::UDP,
            protocol::DCCP,
            protocol::UDPLITE,
        ];
        if let Some(start) = self.make_upper(&WITH) {
            self.write(start + at, &port.to_be_bytes());
        }
    }

    /// Writes into the TCP header.
    pub(super) fn put_tcp(&mut self, at: usize, value: &[u8]) {
        if let Some(start) = self.make_upper(&[protocol::TCP]) {
            self.write(start + at, value);
        }
    }

    /// Sets the nine flags of TCP.
    pub(super) fn put_tcp_flags(&mut self, flags: u16) {
        if let Some(start) = self.make_upper(&[protocol::TCP]) {
            let offset = self.byte(start + 12) & 0xF0;
            self.write(start + 12, &[offset | (flags >> 8) as u8 & 15, flags as u8]);
        }
    }

    fn set_tcp_header_len(&mut self, start: usize, len: usize) {
        let low = self.byte(start + 12) & 0x0F;
        self.write(start + 12, &[((len / 4) as u8 * 16) | low]);
    }

    /// Sets the length of the TCP header.
    pub(super) fn put_tcp_header_len(&mut self, len: u64) {
        let Some(start) = self.make_upper(&[protocol::TCP]) else {
            return;
        };
        let len = len.next_multiple_of(4).min(HEADER_BYTES_MAX as u64) as usize;
        let before = usize::from(self.byte(start + 12) >> 4) * 4;
        if len > before {
            self.bytes.resize(self.bytes.len() + len - before, 0);
        }
        self.set_tcp_header_len(start, len);
    }

    /// Puts options into the TCP header, which grows as they need; others that it had are gone.
    pub(super) fn put_tcp_options(&mut self, options: &[u8]) {
        let Some(start) = self.make_upper(&[protocol::TCP]) else {
            return;
        };
        self.has_tcp_header_len = true;
        let options = &options[..options.len().min(HEADER_BYTES_MAX - Tcp::LEN)];
        if options.is_empty() {
            return;
        }
        let len = Tcp::LEN + options.len().next_multiple_of(4);
        self.reach(start, len);
        if len > usize::from(self.byte(start + 12) >> 4) * 4 {
            self.set_tcp_header_len(start, len);
        }
        let end = start + usize::from(self.byte(start + 12) >> 4) * 4;
        let end = end.clamp(start + len, self.bytes.len());
        self.bytes[start + Tcp::LEN..end].fill(0);
        self.write(start + Tcp::LEN, options);
    }

    /// Sets the length in the UDP header.
    pub(super) fn put_udp_len(&mut self, len: u16) {
        if let Some(start) = self.make_upper(&[protocol::UDP, protocol::UDPLITE]) {
            self.reach(start, Udp::LEN);
            self.write(start + 4, &len.to_be_bytes());
        }
    }

    fn make_icmp(&mut self) -> Option<usize> {
        let start = self.make_upper(&[protocol::ICMP])?;
        self.reach(start, Icmp::LEN);
        Some(start)
    }

    /// The type of the ICMP message, where the line told it.
    pub(super) fn icmp_type(&self) -> Option<u8> {
        self.has_icmp_type.then(|| self.byte(self.transport_at))
    }

    /// Sets the type of an ICMP message.
    pub(super) fn put_icmp_type(&mut self, icmp_type: u8) {
        if let Some(start) = self.make_icmp() {
            self.write(start, &[icmp_type]);
            self.has_icmp_type = true;
            if matches!(icmp_type, kind::TIMESTAMP | kind::TIMESTAMP_REPLY) {
                self.reach(start, ICMP_TIMESTAMP_LEN);
            }
        }
    }

    /// Sets the code of an ICMP message.
    pub(super) fn put_icmp_code(&mut self, code: u8) {
        if let Some(start) = self.make_icmp() {
            self.write(start + 1, &[code]);
            self.has_icmp_code = true;
        }
    }

    /// Writes identifier or sequence of an ICMP message, unless its type is told and has none.
    pub(super) fn put_icmp_flow(&mut self, at: usize, value: u16) {
        if let Some(start) = self.make_icmp()
            && self.icmp_type().is_none_or(has_flow)
        {
            self.write(start + at, &value.to_be_bytes());
        }
    }

    /// Writes the next hop's MTU, unless type or code are told and have none.
    pub(super) fn put_icmp_next_mtu(&mut self, mtu: u16) {
        use trammel_packet::headers::icmp::unreachable::NEEDFRAG;
        let Some(start) = self.make_icmp() else {
            return;
        };
        let has_code = !self.has_icmp_code || self.byte(start + 1) == NEEDFRAG;
        if has_code && self.icmp_type().is_none_or(|of| of == kind::UNREACHABLE) {
            self.write(start + 6, &mtu.to_be_bytes());
        }
    }

    /// Where the payload begins.
    fn payload_at(&mut self) -> usize {
        if self.make_ip().is_none() {
            return 0;
        }
        self.make_transport();
        let at = self.transport_at;
        if !self.is_first_fragment() {
            return at;
        }
        at + match self.protocol() {
            protocol::TCP => (usize::from(self.byte(at + 12) >> 4) * 4).max(Tcp::LEN),
            protocol::UDP | protocol::UDPLITE => Udp::LEN,
            _ => 0,
        }
    }

    /// Puts the payload.
    pub(super) fn put_payload(&mut self, payload: &[u8]) {
        if payload.is_empty() {
            self.payload_at();
            return;
        }
        let at = self.payload_at();
        let at = at + self.account_for_payload(at, payload.len());
        self.reach(at, payload.len());
        self.write(at, payload);
    }

    /// Says how long the payload shall be.
    pub(super) fn put_payload_len(&mut self, len: u64) {
        let at = self.payload_at();
        self.account_for_payload(at, len as usize);
    }

    /// Brings the packet's length and the payload's into line: without a length of its own, the
    /// packet ends with the payload; where it is longer, headers whose lengths were not told grow.
    /// Tells by how much.
    fn account_for_payload(&mut self, at: usize, len: usize) -> usize {
        if !self.is_ip || self.want_len == 0 {
            self.want_len = at.saturating_add(len);
            return 0;
        }
        let (network, transport) = (self.network(), self.transport_at);
        let mut room = self.want_len.saturating_sub(at.saturating_add(len)) / 4 * 4;
        let mut grown = 0;
        let is_plain_tcp = self.is_first_fragment()
            && self.protocol() == protocol::TCP
            && !self.has_tcp_header_len
            && self.byte(transport + 12) >> 4 == 5;
        if room > 0 && is_plain_tcp {
            let more = room.min(HEADER_BYTES_MAX - Tcp::LEN);
            self.insert(transport + Tcp::LEN, more);
            self.set_tcp_header_len(transport, Tcp::LEN + more);
            (room, grown) = (room - more, more);
        }
        if room > 0 && !self.has_ip_header_len && self.byte(network) & 15 == 5 {
            let more = room.min(HEADER_BYTES_MAX - Ipv4::LEN);
            self.insert(network + Ipv4::LEN, more);
            self.set_ip_header_len(network, Ipv4::LEN + more);
            self.transport_at += more;
            grown += more;
        }
        grown
    }

    /// Inserts zeros.
    fn insert(&mut self, at: usize, count: usize) {
        let at = at.min(self.bytes.len());
        self.bytes.splice(at..at, std::iter::repeat_n(0, count));
    }

    /// Fills in lengths and, on request, checksums; writes the result to `packet`.
    pub(super) fn finish(&mut self, packet: &mut Packet, with_checksums: bool) {
        if self.flow.is_some() {
            self.make_ip();
        }
        if self.has_ip() {
            self.finish_ip(with_checksums);
        }
        packet.set_data(&self.bytes);
        if self.has_mac {
            packet.set_mac_header(0);
        }
        if let Some(at) = self.network_at {
            packet.set_network_header(at as isize);
            packet.set_transport_header(self.transport_at.min(self.bytes.len()) as isize);
        }
        if self.has_ip() {
            let at = self.network() + 16;
            let dst = [at, at + 1, at + 2, at + 3].map(|at| self.byte(at));
            packet.set_anno_bytes(anno::DST_IP, dst);
        }
        let notes = &self.notes;
        packet.set_timestamp(notes.timestamp);
        if let Some(time) = notes.first_timestamp {
            packet.set_anno_bytes(anno::FIRST_TIMESTAMP, time.0.to_ne_bytes());
        }
        if let Some(extra) = notes.extra_packets {
            packet.set_anno_u32(anno::EXTRA_PACKETS, extra);
        }
        if let Some(paint) = notes.paint {
            packet.set_anno_u8(anno::PAINT, paint);
        }
        if let Some(aggregate) = notes.aggregate {
            packet.set_anno_u32(anno::AGGREGATE, aggregate);
        }
        if self.want_len > self.bytes.len() {
            let extra = (self.want_len - self.bytes.len()).min(u32::MAX as usize) as u32;
            packet.set_anno_u32(anno::EXTRA_LENGTH, extra);
        }
    }

    fn finish_ip(&mut self, with_checksums: bool) {
        self.make_transport();
        let network = self.network();
        let ip_len = match self.want_len.checked_sub(network) {
            None | Some(0) => self.len_from(network),
            Some(len) => len,
        };
        let ip_len = ip_len.min(usize::from(u16::MAX));
        self.write(network + 2, &(ip_len as u16).to_be_bytes());
        let transport = self.transport_at;
        let is_udp = self.protocol() == protocol::UDP && self.is_first_fragment();
        if is_udp && self.word(transport + 4) == 0 {
            let len = (network + ip_len).saturating_sub(transport) as u16;
            self.write(transport + 4, &len.to_be_bytes());
        }
        if with_checksums {
            self.reach(network, ip_len);
            self.set_checksums();
        }
    }

    fn set_checksums(&mut self) {
        let (network, transport) = (self.network(), self.transport_at);
        let Some(packet) = self.bytes.get_mut(network..) else {
            return;
        };
        ipv4::set_checksum(packet);
        let Some(ip) = Ipv4::read(packet).copied() else {
            return;
        };
        let dst = ipv4::final_destination(packet).unwrap_or(ip.dst);
        let Some(segment) = self
            .bytes
            .get_mut(transport..)
            .filter(|_| !ip.is_fragment())
        else {
            return;
        };
        let at = match ip.protocol {
            protocol::TCP => 16,
            protocol::UDP => 6,
            protocol::ICMP => 2,
            _ => return,
        };
        let Some(place) = segment.get_mut(at..at + 2) else {
            return;
        };
        place.fill(0);
        let value = if ip.protocol == protocol::ICMP {
            checksum(segment)
        } else {
            let len = segment.len() as u16;
            let sum = Sum::ZERO
                .pseudo_v4(ip.src, dst, ip.protocol, len)
                .bytes(segment);
            sum.checksum()
        };
        // RFC 768: a checksum of 0 would say that there is none.
        let value = if ip.protocol == protocol::UDP && value == 0 {
            0xFFFF
        } else {
            value
        };
        segment[at..at + 2].copy_from_slice(&value.to_be_bytes());
    }
}
