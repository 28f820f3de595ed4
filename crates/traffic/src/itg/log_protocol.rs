//! What is said to ITGLog, D-ITG's log server: a request over TCP port 9001, then records over UDP
//! or TCP.
//!
//! ```text
//! server    1          port (u32)                                  closes
//! client      request              records, over UDP or TCP …  end
//! ```
//! A request is of 204 bytes: 2 (UDP) or 1 (TCP), three bytes of what was in memory, and the log's
//! name in [`LOG_NAME`] bytes. Records go to the port that was answered, many at a time. The end is
//! of as many bytes and begins `00 01`. Numbers are big-endian.
//!
//! | bytes of a record | what |
//! | --- | --- |
//! | 0, 4 | flow, packet: u32 each |
//! | 8, 12 | the sender's port, the receiver's: u32 each |
//! | 16, 20 | sent: seconds of the day (UTC), microseconds: u32 each |
//! | 24, 28 | received, the same way |
//! | 32 | bytes of payload: u32 |
//! | 36, 82 | the sender's address, the receiver's: text, closed by a zero, 46 bytes each |
//! | 128 | zeros |

use super::line::{DAY_US, Error as LineError, Line};
use super::signalling::{self, LOG_NAME, LogName, code_of, protocol_of};
use crate::record::Protocol;
use std::net::{IpAddr, SocketAddr};

/// The server's TCP port.
pub const PORT: u16 = 9001;
/// The server's first byte.
pub const GREETING: u8 = 1;
/// Bytes of a request, and of the end.
pub const REQUEST: usize = 4 + LOG_NAME;
/// What is said at the end.
pub const END: [u8; REQUEST] = {
    let mut end = [0; REQUEST];
    end[1] = 1;
    end
};
/// Bytes of a record.
pub const RECORD: usize = 144;
/// Bytes of an address.
const ADDRESS: usize = 46;
/// Microseconds of a second.
const SECOND_US: u64 = 1_000_000;

/// The wish for a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// How records come: UDP or TCP.
    pub protocol: Protocol,
    /// The file's name at the server.
    pub name: LogName,
}

impl Request {
    /// Its bytes.
    #[must_use]
    pub fn encode(&self) -> [u8; REQUEST] {
        let mut bytes = [0; REQUEST];
        bytes[0] = code_of(self.protocol).unwrap_or(0);
        let name = self.name.as_bytes();
        bytes[4..4 + name.len()].copy_from_slice(name);
        bytes
    }

    /// Reads one.
    ///
    /// # Errors
    /// If records are to come by something else than UDP or TCP.
    pub fn decode(bytes: &[u8; REQUEST]) -> Result<Request, signalling::Error> {
        let (code, name) = (bytes[0], &bytes[4..]);
        match protocol_of(code) {
            Ok(protocol @ (Protocol::Udp | Protocol::Tcp)) => Ok(Request {
                protocol,
                name: LogName::of_field(name),
            }),
            _ => Err(signalling::Error::Field {
                field: "the way of a log's records",
                value: code.into(),
                wants: "1 (TCP) or 2 (UDP)",
            }),
        }
    }
}

/// Appends a record.
pub fn write(line: &Line, out: &mut Vec<u8>) {
    let end = out.len() + RECORD;
    // A day has fewer seconds than fit.
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let numbers = [
        line.flow,
        line.sequence,
        line.from.port().into(),
        line.to.port().into(),
        small(line.sent_us / SECOND_US),
        small(line.sent_us % SECOND_US),
        small(line.received_us / SECOND_US),
        small(line.received_us % SECOND_US),
        line.bytes,
    ];
    out.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
    for end in [line.from, line.to] {
        let after = out.len() + ADDRESS;
        // The longest address has 45 characters: there is always a zero.
        out.extend(end.ip().to_string().as_bytes());
        out.resize(after, 0);
    }
    out.resize(end, 0);
}

/// Reads a record; `record` is its number, for the message.
///
/// # Errors
/// If a field is out of its range.
pub fn read(bytes: &[u8; RECORD], record: u64) -> Result<Line, LineError> {
    let number = |at: usize| u32::from_be_bytes(std::array::from_fn(|byte| bytes[at + byte]));
    let wrong = |field: &'static str, found: String, wants: &'static str| LineError::Field {
        record,
        field,
        found,
        wants,
    };
    let time = |at: usize, field: &'static str| {
        let (seconds, us) = (u64::from(number(at)), u64::from(number(at + 4)));
        let time = seconds * SECOND_US + us;
        if us >= SECOND_US || time >= DAY_US {
            let found = format!("{seconds} s and {us} us");
            return Err(wrong(field, found, "a time of the day"));
        }
        Ok(time)
    };
    let end = |port: usize, address: usize, field: &'static str| {
        let text = &bytes[address..address + ADDRESS];
        let length = text.iter().position(|byte| *byte == 0).unwrap_or(ADDRESS);
        let text = String::from_utf8_lossy(&text[..length]);
        let address: Option<IpAddr> = text.parse().ok();
        let port = u16::try_from(number(port)).ok();
        let found = || text.escape_debug().to_string();
        address
            .zip(port)
            .map(SocketAddr::from)
            .ok_or_else(|| wrong(field, found(), "an IP address in text, and a port"))
    };
    Ok(Line {
        flow: number(0),
        sequence: number(4),
        from: end(8, 36, "the sender's address")?,
        to: end(12, 82, "the receiver's address")?,
        sent_us: time(16, "the time of sending")?,
        received_us: time(24, "the time of receiving")?,
        bytes: number(32),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first record that ITGRecv 2.8.1 on x86-64 sent of a flow.
    fn captured() -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        let numbers = [
            1, 1, 0xed11, 0x2711, 0x14496, 0x47376, 0x14496, 0x4744c, 100_u32,
        ];
        for (field, number) in bytes.chunks_exact_mut(4).zip(numbers) {
            field.copy_from_slice(&number.to_be_bytes());
        }
        bytes[36..45].copy_from_slice(b"127.0.0.1");
        bytes[82..91].copy_from_slice(b"127.0.0.1");
        bytes
    }

    #[test]
    fn a_record_is_as_captured() {
        let line = read(&captured(), 1).expect("a record");
        let mut text = String::new();
        crate::itg::text_log::write(&line, &mut text);
        assert_eq!(
            text.split_whitespace().collect::<Vec<_>>().join(" "),
            "Flow>0001 Seq> 1 Src> 127.0.0.1/60689 Dest> 127.0.0.1/10001 txTime>23:4:54.291702 \
             rxTime>23:4:54.291916 Size> 100"
        );
        let mut out = Vec::new();
        write(&line, &mut out);
        assert_eq!(out, captured());
    }

    #[test]
    fn a_request_is_as_captured() {
        let mut bytes = [0; REQUEST];
        // What ITGRecv left of its memory is behind the code and behind the name.
        bytes[..4].copy_from_slice(&[2, 0, 0, 0x64]);
        bytes[4..12].copy_from_slice(b"rcv.log\0");
        bytes[30] = 0xd3;
        let request = Request::decode(&bytes).expect("a request");
        assert_eq!(request.protocol, Protocol::Udp);
        assert_eq!(request.name.as_bytes(), b"rcv.log");
        assert_eq!(Request::decode(&request.encode()), Ok(request));
        assert!(Request::decode(&END).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_and_what_is_read_is_written(bytes: [u8; 32], filler: u8) {
            let mut record = captured();
            record[..32].copy_from_slice(&bytes);
            record[100] = filler;
            if let Ok(line) = read(&record, 1) {
                let mut out = Vec::new();
                write(&line, &mut out);
                prop_assert_eq!(read(&out.try_into().expect("144 bytes"), 1), Ok(line));
            }
        }
    }
}
