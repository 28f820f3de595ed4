//! What ITGSend and ITGRecv tell each other over TCP port 9000, and the head of each packet's
//! payload.
//!
//! As observed (`docs/itg-signalling.md` has the whole with captures): a message is a byte that
//! names it and fields of fixed lengths; there is no length field. Numbers are big-endian, but for
//! the receiver's port in [`Open`], which is in the order of bytes of the sender's machine, as
//! D-ITG for s390x shows. Nothing tells which that is: ours writes and reads it little-endian, as
//! x86 does. A receiver of the other order listens on the port with its bytes swapped and answers
//! with that, and packets go there.
//!
//! ```text
//! sender    Hello         Log             Open             (packets)  End             Close
//! receiver        Accept        LogReady        Opened                     Ended            Closed
//! ```
//! Messages are one or more; `Log` is optional; `Open`…`Opened` is once for each flow, one after
//! the other. In the passive mode (`-H`) the receiver makes the connection, `Open` has the sender's
//! port, and the sender says `Listening` after `Opened`.

use super::command::Metadata;
use crate::record::Protocol;
use crate::stream::Meter;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

/// The receiver's TCP port.
pub const PORT: u16 = 9000;
/// Bytes of a log file's name, with its closing zero.
pub const LOG_NAME: usize = 200;
/// Bytes of a serial line's name.
pub const SERIAL_NAME: usize = 10;
/// What stands for no serial line.
const NO_SERIAL: &[u8; SERIAL_NAME] = b"noSerial\0\0";

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// ITGSend.
    Sender,
    /// ITGSend that its receiver comes to (`-H`).
    PassiveSender,
    /// ITGRecv.
    Receiver,
}

/// Why bytes are no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No message begins so.
    #[error(
        "byte {0:#04x} begins no message that a D-ITG 2.8.1 {1:?} sends; the peer has another \
         version or is not D-ITG"
    )]
    Unknown(u8, Side),
    /// A field has a value that it cannot have.
    #[error("{field} is {value} in a message of D-ITG: {wants}")]
    Field {
        /// Which.
        field: &'static str,
        /// What it is.
        value: u32,
        /// What it may be.
        wants: &'static str,
    },
    /// A message came when none such may come.
    #[error("message {0:#04x} out of turn")]
    OutOfTurn(u8),
}

/// The wish to send a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Open {
    /// Its number, from 1.
    pub flow: u32,
    /// What carries it.
    pub protocol: Protocol,
    /// The application that is imitated, 0 for none: 1 Telnet, 2 `VoIP`, 3 DNS, 5 `CSa`, 6 `CSi`, 7
    /// Quake3. ITGRecv does nothing with it that was seen.
    pub application: u8,
    /// One way or round trip.
    pub meter: Meter,
    /// The byte of differentiated services.
    pub ds: u8,
    /// What payloads begin with.
    pub metadata: Metadata,
    /// The serial line to signal on, where there is one.
    pub serial: Option<[u8; SERIAL_NAME]>,
    /// The receiver's port.
    pub port: u16,
    /// The receiver's address.
    pub address: IpAddr,
    /// In the passive mode the sender's port, which the receiver comes to for packets.
    pub back: Option<u16>,
}

/// A log's name as it is sent: zero-terminated, without the rest of the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogName(Vec<u8>);

impl LogName {
    /// A name; none if it is longer than [`LOG_NAME`] − 1 bytes or holds a zero.
    #[must_use]
    pub fn new(name: &[u8]) -> Option<LogName> {
        (name.len() < LOG_NAME && !name.contains(&0)).then(|| LogName(name.to_vec()))
    }

    /// Its bytes, as the peer wrote them: never use it as a path unchecked.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The file that it names, in a folder of ours: only its last part, as where logs go is not the
    /// peer's to say.
    ///
    /// # Errors
    /// If that is no name, or one of a hidden file; the message has the whole.
    pub fn file_name(&self) -> Result<String, String> {
        let name = String::from_utf8_lossy(&self.0).into_owned();
        let file = Path::new(&name).file_name().and_then(|name| name.to_str());
        let file = file.filter(|file| !file.contains(char::is_control) && !file.starts_with('.'));
        file.map(str::to_owned).ok_or_else(|| {
            format!(
                "requests a log `{}`, which is not a name",
                name.escape_debug()
            )
        })
    }

    /// What a field holds before its first zero.
    pub(super) fn of_field(field: &[u8]) -> LogName {
        let end = field.iter().position(|byte| *byte == 0);
        LogName(field[..end.unwrap_or(field.len().saturating_sub(1))].to_vec())
    }
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// 01, the sender's first.
    Hello,
    /// 02, the receiver's answer.
    Accept,
    /// 13, the wish for a log.
    Log(LogName),
    /// 12, the receiver's answer.
    LogReady,
    /// 0c, the wish for a log on a server.
    LogAt {
        /// The log server.
        server: IpAddr,
        /// UDP or TCP.
        protocol: Protocol,
        /// The file's name there.
        name: LogName,
    },
    /// 0d, the receiver's answer.
    LogAtReady,
    /// 03, the wish for a flow.
    Open(Open),
    /// 05, the receiver's answer: it listens.
    Opened {
        /// The flow.
        flow: u32,
        /// The port.
        port: u16,
    },
    /// 05 of a passive sender: its port waits for the receiver.
    Listening {
        /// The flow.
        flow: u32,
    },
    /// 0f, the receiver's answer: it cannot.
    Refused {
        /// The flow.
        flow: u32,
    },
    /// 04, the sender has sent all packets of a flow.
    End {
        /// The flow.
        flow: u32,
    },
    /// 11, the sender cannot go on with a flow.
    Abort {
        /// The flow.
        flow: u32,
    },
    /// 06, the receiver has closed a flow (ITGRecv: a second after `End`).
    Ended {
        /// The flow.
        flow: u32,
    },
    /// 0b, the sender has no more flows.
    Close,
    /// 07, the receiver's answer.
    Closed,
}

/// Numbers of protocols. That of SCTP is unproven: this build refuses it before it signals.
static PROTOCOLS: [(u8, Protocol); 4] = [
    (1, Protocol::Tcp),
    (2, Protocol::Udp),
    (3, Protocol::Icmp),
    (5, Protocol::Dccp),
];

pub(super) fn protocol_of(code: u8) -> Result<Protocol, Error> {
    let known = PROTOCOLS.iter().find(|(known, _)| *known == code);
    known.map(|(_, protocol)| *protocol).ok_or(Error::Field {
        field: "the protocol",
        value: code.into(),
        wants: "1 (TCP), 2 (UDP), 3 (ICMP) or 5 (DCCP)",
    })
}

pub(super) fn code_of(protocol: Protocol) -> Option<u8> {
    PROTOCOLS
        .iter()
        .find(|(_, known)| *known == protocol)
        .map(|(code, _)| *code)
}

/// Reads fields, and notes whether the bytes sufficed.
struct Fields<'a>(Option<&'a [u8]>);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let split = self.0.and_then(|bytes| bytes.split_first_chunk::<N>());
        self.0 = split.map(|(_, rest)| rest);
        split.map_or([0; N], |(taken, _)| *taken)
    }

    fn byte(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    fn u32(&mut self) -> u32 {
        u32::from_be_bytes(self.take())
    }

    fn u16(&mut self) -> u16 {
        u16::from_be_bytes(self.take())
    }

    fn name(&mut self) -> LogName {
        LogName::of_field(&self.take::<LOG_NAME>())
    }
}

impl Message {
    /// The first message in `bytes`, sent by `side`, and how many bytes it is long; none if more
    /// bytes are needed.
    ///
    /// # Errors
    /// If what is there is no message.
    pub fn decode(bytes: &[u8], side: Side) -> Result<Option<(Message, usize)>, Error> {
        let is_passive = side == Side::PassiveSender;
        let side = if is_passive { Side::Sender } else { side };
        let mut fields = Fields(Some(bytes));
        let kind = fields.byte();
        if fields.0.is_none() {
            return Ok(None);
        }
        let message = match (kind, side) {
            (0x01, Side::Sender) => Message::Hello,
            (0x02, Side::Receiver) => Message::Accept,
            (0x03, Side::Sender) => match Open::decode(&mut fields, is_passive)? {
                Some(open) => Message::Open(open),
                None => return Ok(None),
            },
            (0x04, Side::Sender) => Message::End { flow: fields.u32() },
            (0x05, Side::Receiver) => Message::Opened {
                flow: fields.u32(),
                port: fields.u16(),
            },
            (0x05, Side::Sender) if is_passive => Message::Listening { flow: fields.u32() },
            (0x06, Side::Receiver) => Message::Ended { flow: fields.u32() },
            (0x07, Side::Receiver) => Message::Closed,
            (0x0b, Side::Sender) => Message::Close,
            (0x0c, Side::Sender) => {
                let family = fields.u32();
                if fields.0.is_none() {
                    return Ok(None);
                }
                let server = match family {
                    AF_INET => IpAddr::from(fields.take::<4>()),
                    AF_INET6 => IpAddr::from(fields.take::<16>()),
                    _ => {
                        return Err(Error::Field {
                            field: "the log server's address family",
                            value: family,
                            wants: "2 (IPv4) or 10 (IPv6)",
                        });
                    }
                };
                let (_, protocol, name) = (fields.u16(), fields.byte(), fields.name());
                if fields.0.is_none() {
                    return Ok(None);
                }
                Message::LogAt {
                    server,
                    protocol: protocol_of(protocol)?,
                    name,
                }
            }
            (0x0d, Side::Receiver) => Message::LogAtReady,
            (0x0f, Side::Receiver) => Message::Refused { flow: fields.u32() },
            (0x11, Side::Sender) => Message::Abort { flow: fields.u32() },
            (0x12, Side::Receiver) => Message::LogReady,
            (0x13, Side::Sender) => Message::Log(fields.name()),
            _ => return Err(Error::Unknown(kind, side)),
        };
        Ok(fields.0.map(|rest| (message, bytes.len() - rest.len())))
    }

    /// Appends it to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(self.kind());
        match self {
            Message::Hello
            | Message::Accept
            | Message::LogReady
            | Message::LogAtReady
            | Message::Close
            | Message::Closed => {}
            Message::Log(name) => put_name(name, out),
            Message::LogAt {
                server,
                protocol,
                name,
            } => {
                let family = if server.is_ipv4() { AF_INET } else { AF_INET6 };
                out.extend(family.to_be_bytes());
                put_address(*server, out);
                out.extend([0, 0, code_of(*protocol).unwrap_or(2)]);
                put_name(name, out);
            }
            Message::Open(open) => open.encode(out),
            Message::Opened { flow, port } => {
                out.extend(flow.to_be_bytes());
                out.extend(port.to_be_bytes());
            }
            Message::Listening { flow }
            | Message::Refused { flow }
            | Message::End { flow }
            | Message::Abort { flow }
            | Message::Ended { flow } => {
                out.extend(flow.to_be_bytes());
            }
        }
    }

    /// The byte that names it.
    #[must_use]
    pub fn kind(&self) -> u8 {
        match self {
            Message::Hello => 0x01,
            Message::Accept => 0x02,
            Message::Open(_) => 0x03,
            Message::End { .. } => 0x04,
            Message::Opened { .. } | Message::Listening { .. } => 0x05,
            Message::Ended { .. } => 0x06,
            Message::Closed => 0x07,
            Message::Close => 0x0b,
            Message::LogAt { .. } => 0x0c,
            Message::LogAtReady => 0x0d,
            Message::Refused { .. } => 0x0f,
            Message::Abort { .. } => 0x11,
            Message::LogReady => 0x12,
            Message::Log(_) => 0x13,
        }
    }
}

/// How the log server's address is announced: by the numbers that Linux has for the families.
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;

fn put_address(address: IpAddr, out: &mut Vec<u8>) {
    match address {
        IpAddr::V4(address) => out.extend(address.octets()),
        IpAddr::V6(address) => out.extend(address.octets()),
    }
}

fn put_name(name: &LogName, out: &mut Vec<u8>) {
    let end = out.len() + LOG_NAME;
    out.extend(&name.0);
    out.resize(end, 0);
}

impl Open {
    fn decode(fields: &mut Fields<'_>, is_passive: bool) -> Result<Option<Open>, Error> {
        let (protocol, application, meter, ds, version) = (
            fields.byte(),
            fields.byte(),
            fields.byte(),
            fields.byte(),
            fields.byte(),
        );
        let (flow, metadata) = (fields.u32(), fields.byte());
        let serial = fields.take::<SERIAL_NAME>();
        // Swapped: see the module's head.
        let port = u16::from_le_bytes(fields.take());
        let back = is_passive.then(|| {
            // What was in memory comes between.
            fields.byte();
            u16::from_le_bytes(fields.take())
        });
        if fields.0.is_none() {
            return Ok(None);
        }
        let address = match version {
            4 => IpAddr::V4(Ipv4Addr::from(fields.take::<4>())),
            6 => IpAddr::V6(Ipv6Addr::from(fields.take::<16>())),
            _ => {
                return Err(Error::Field {
                    field: "the version of IP",
                    value: version.into(),
                    wants: "4 or 6",
                });
            }
        };
        if fields.0.is_none() {
            return Ok(None);
        }
        Ok(Some(Open {
            flow,
            protocol: protocol_of(protocol)?,
            application,
            meter: match meter {
                1 => Meter::OneWay,
                2 => Meter::RoundTrip,
                _ => {
                    return Err(Error::Field {
                        field: "the meter",
                        value: meter.into(),
                        wants: "1 (one way) or 2 (round trip)",
                    });
                }
            },
            ds,
            metadata: match metadata {
                0 => Metadata::Full,
                1 => Metadata::Sequence,
                2 => Metadata::None,
                _ => {
                    return Err(Error::Field {
                        field: "the payload's kind",
                        value: metadata.into(),
                        wants: "0, 1 or 2",
                    });
                }
            },
            // What follows the closing zero is what the sender's memory held.
            serial: (!serial.starts_with(b"noSerial\0")).then_some(serial),
            port,
            address,
            back,
        }))
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let meter = match self.meter {
            Meter::OneWay => 1,
            Meter::RoundTrip => 2,
        };
        let version = if self.address.is_ipv4() { 4 } else { 6 };
        // A protocol without a number cannot be signalled; 0 makes the peer refuse it.
        out.extend([
            code_of(self.protocol).unwrap_or(0),
            self.application,
            meter,
            self.ds,
            version,
        ]);
        out.extend(self.flow.to_be_bytes());
        out.push(match self.metadata {
            Metadata::Full => 0,
            Metadata::Sequence => 1,
            Metadata::None => 2,
        });
        out.extend(self.serial.as_ref().unwrap_or(NO_SERIAL));
        out.extend(self.port.to_le_bytes());
        if let Some(back) = self.back {
            out.push(0);
            out.extend(back.to_le_bytes());
        }
        put_address(self.address, out);
    }
}

/// What the payload of a packet begins with; what is there depends on `-p` and, for TCP, on the
/// need of a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The flow.
    pub flow: u32,
    /// The packet's number, from 1.
    pub sequence: u32,
    /// When it was sent: seconds of the sender's day (UTC) and microseconds; with
    /// [`Metadata::Full`].
    pub sent: Option<(u32, u32)>,
    /// Bytes of the whole payload; with TCP.
    pub bytes: Option<u32>,
}

/// How long the head is, bytes; 0 if there is none.
#[must_use]
pub(crate) fn head_length(metadata: Metadata, protocol: Protocol) -> usize {
    let length = if protocol == Protocol::Tcp { 4 } else { 0 };
    match metadata {
        Metadata::Full => 16 + length,
        Metadata::Sequence => 8 + length,
        Metadata::None => 0,
    }
}

/// The flow that a payload with a head begins with.
#[must_use]
pub fn flow_of(payload: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(*payload.first_chunk()?))
}

impl Head {
    /// Reads it from a payload; none if that is too short or has no head.
    #[must_use]
    pub fn decode(payload: &[u8], metadata: Metadata, protocol: Protocol) -> Option<Head> {
        if metadata == Metadata::None {
            return None;
        }
        let mut fields = Fields(Some(payload));
        let (flow, sequence) = (fields.u32(), fields.u32());
        let sent = (metadata == Metadata::Full).then(|| (fields.u32(), fields.u32()));
        let bytes = (protocol == Protocol::Tcp).then(|| fields.u32());
        fields.0.map(|_| Head {
            flow,
            sequence,
            sent,
            bytes,
        })
    }

    /// Writes it at the start of a payload; what does not fit is left out, and what the head lacks
    /// is 0.
    pub fn encode(&self, payload: &mut [u8], metadata: Metadata, protocol: Protocol) {
        let (seconds, microseconds) = self.sent.unwrap_or_default();
        let bytes = self.bytes.unwrap_or_default();
        let full = [self.flow, self.sequence, seconds, microseconds, bytes];
        let words: &[u32] = match (metadata, protocol == Protocol::Tcp) {
            (Metadata::None, _) => &[],
            (Metadata::Full, true) => &full,
            (Metadata::Full, false) => &full[..4],
            (Metadata::Sequence, true) => &[self.flow, self.sequence, bytes],
            (Metadata::Sequence, false) => &full[..2],
        };
        for (field, word) in payload.chunks_exact_mut(4).zip(words) {
            field.copy_from_slice(&word.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests;
