//! D-ITG's binary log: 144 bytes a packet, as its C++ structure lay in memory, and nothing else.
//!
//! | bytes | what | |
//! | --- | --- | --- |
//! | 0 | flow, from 1 | 32 bits |
//! | 4 | packet, from 1; 0 with `-p 2` | 32 bits |
//! | 8, 12 | the sender's port, the receiver's | 32 bits each |
//! | 16, 20 | hour and minute of sending (UTC) | 32 bits each |
//! | 24, 28 | hour and minute of receiving | 32 bits each |
//! | 32 | bytes of payload | 32 bits |
//! | 36, 82 | the sender's address, the receiver's: text, closed by a zero | 46 bytes each |
//! | 128, 136 | second of sending and of receiving, with its fraction | double each |
//!
//! All in the order of bytes of the machine that wrote it, which the log does not tell:
//! [`Order::of`] finds it in the first record, as a port that is below 65,536 in one order is not
//! in the other (but for port 0). What ITGLog writes was seen to be the same.

use super::line::{Error, Line};
use std::net::{IpAddr, SocketAddr};

/// Bytes of a record.
pub const RECORD: usize = 144;
/// Bytes of an address.
const ADDRESS: usize = 46;

/// The order of bytes of the machine that wrote a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// x86, most of ARM.
    Little,
    /// s390x and the boards of old.
    Big,
}

impl Order {
    /// That of this machine, which its `ITGDec` reads.
    pub const NATIVE: Order = if cfg!(target_endian = "big") {
        Order::Big
    } else {
        Order::Little
    };

    /// That of a log that begins with this record.
    #[must_use]
    pub fn of(first: &[u8; RECORD]) -> Order {
        let [a, b, c, d] = [8, 9, 14, 15].map(|at| first[at]);
        // The upper halves of the two ports are zero in the right order.
        if (a, b) == (0, 0) && (c, d) != (0, 0) {
            Order::Big
        } else {
            Order::Little
        }
    }

    /// That of this machine, which `ITGDec` here reads.
    #[must_use]
    pub(crate) fn of_this_machine() -> Order {
        if cfg!(target_endian = "big") {
            Order::Big
        } else {
            Order::Little
        }
    }

    fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        }
    }

    fn f64(self, bytes: [u8; 8]) -> f64 {
        match self {
            Order::Little => f64::from_le_bytes(bytes),
            Order::Big => f64::from_be_bytes(bytes),
        }
    }
}

/// Appends a record.
pub fn write(line: &Line, order: Order, out: &mut Vec<u8>) {
    let minutes = |us: u64| us / 60_000_000;
    let (sent, received) = (minutes(line.sent_us), minutes(line.received_us));
    // Hours and minutes of a day are small.
    let small = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let numbers = [
        line.flow,
        line.sequence,
        line.from.port().into(),
        line.to.port().into(),
        small(sent / 60),
        small(sent % 60),
        small(received / 60),
        small(received % 60),
        line.bytes,
    ];
    for number in numbers {
        out.extend(match order {
            Order::Little => number.to_le_bytes(),
            Order::Big => number.to_be_bytes(),
        });
    }
    for end in [line.from, line.to] {
        let after = out.len() + ADDRESS;
        // The longest address has 45 characters: there is always a zero.
        out.extend(end.ip().to_string().as_bytes());
        out.resize(after, 0);
    }
    for us in [line.sent_us, line.received_us] {
        let seconds = (us % 60_000_000) as f64 / 1e6;
        out.extend(match order {
            Order::Little => seconds.to_le_bytes(),
            Order::Big => seconds.to_be_bytes(),
        });
    }
}

/// Reads a record; `record` is its number, for the message.
///
/// # Errors
/// If a field is out of its range.
pub fn read(bytes: &[u8; RECORD], order: Order, record: u64) -> Result<Line, Error> {
    let fields = Fields {
        bytes,
        order,
        record,
    };
    Ok(Line {
        flow: fields.u32(0),
        sequence: fields.u32(4),
        from: SocketAddr::new(
            fields.address(36, "the sender's address")?,
            fields.port(8, "the sender's port")?,
        ),
        to: SocketAddr::new(
            fields.address(82, "the receiver's address")?,
            fields.port(12, "the receiver's port")?,
        ),
        sent_us: fields.time(16, 128, "the time of sending")?,
        received_us: fields.time(24, 136, "the time of receiving")?,
        bytes: fields.u32(32),
    })
}

/// Reads a whole log, record by record, in the order of its first record.
///
/// After an error there is nothing more.
pub fn read_all(bytes: &[u8]) -> impl Iterator<Item = Result<Line, Error>> + '_ {
    let order = bytes.first_chunk().map_or(Order::Little, Order::of);
    let mut has_failed = false;
    bytes
        .chunks(RECORD)
        .zip(1_u64..)
        .map_while(move |(chunk, record)| {
            if has_failed {
                return None;
            }
            let line = chunk
                .try_into()
                .map_err(|_| Error::Cut {
                    record,
                    bytes: chunk.len(),
                    whole: RECORD,
                })
                .and_then(|whole| read(whole, order, record));
            has_failed = line.is_err();
            Some(line)
        })
}

struct Fields<'a> {
    bytes: &'a [u8; RECORD],
    order: Order,
    record: u64,
}

impl Fields<'_> {
    fn take<const N: usize>(&self, at: usize) -> [u8; N] {
        std::array::from_fn(|byte| self.bytes[at + byte])
    }

    fn u32(&self, at: usize) -> u32 {
        self.order.u32(self.take(at))
    }

    fn wrong(&self, field: &'static str, found: String, wants: &'static str) -> Error {
        Error::Field {
            record: self.record,
            field,
            found,
            wants,
        }
    }

    fn port(&self, at: usize, field: &'static str) -> Result<u16, Error> {
        let port = self.u32(at);
        u16::try_from(port).map_err(|_| self.wrong(field, port.to_string(), "0 to 65535"))
    }

    fn address(&self, at: usize, field: &'static str) -> Result<IpAddr, Error> {
        let text = self.take::<ADDRESS>(at);
        let end = text.iter().position(|byte| *byte == 0).unwrap_or(ADDRESS);
        let text = String::from_utf8_lossy(&text[..end]);
        text.parse().map_err(|_| {
            self.wrong(
                field,
                text.escape_debug().to_string(),
                "an IP address in text",
            )
        })
    }

    fn time(&self, clock: usize, seconds: usize, field: &'static str) -> Result<u64, Error> {
        let (hour, minute) = (self.u32(clock), self.u32(clock + 4));
        let second = self.order.f64(self.take(seconds));
        let us = (second * 1e6).round();
        if hour >= 24 || minute >= 60 || !(0.0..60e6).contains(&us) {
            let found = format!("{hour}:{minute}:{second}");
            return Err(self.wrong(field, found, "a time of the day"));
        }
        // Below 60 million, as was just seen.
        Ok((u64::from(hour) * 60 + u64::from(minute)) * 60_000_000 + us as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The first record of a receiver's log of ITGRecv 2.8.1 on x86-64.
    fn captured() -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        let numbers = [1_u32, 1, 43358, 10001, 16, 44, 16, 44, 101];
        for (field, number) in bytes.chunks_exact_mut(4).zip(numbers) {
            field.copy_from_slice(&number.to_le_bytes());
        }
        bytes[..36].copy_from_slice(&[
            0x01, 0, 0, 0, 0x01, 0, 0, 0, 0x5e, 0xa9, 0, 0, 0x11, 0x27, 0, 0, 0x10, 0, 0, 0, 0x2c,
            0, 0, 0, 0x10, 0, 0, 0, 0x2c, 0, 0, 0, 0x65, 0, 0, 0,
        ]);
        bytes[36..45].copy_from_slice(b"127.0.0.1");
        bytes[82..91].copy_from_slice(b"127.0.0.1");
        bytes[128..136].copy_from_slice(&[0x85, 0xd0, 0x41, 0x97, 0x70, 0x64, 0x38, 0x40]);
        bytes[136..].copy_from_slice(&[0xa7, 0x3e, 0x90, 0xbc, 0x73, 0x64, 0x38, 0x40]);
        bytes
    }

    #[test]
    fn a_record_is_as_captured() {
        let bytes = captured();
        let line = read(&bytes, Order::of(&bytes), 1).expect("a record");
        let mut text = String::new();
        crate::itg::text_log::write(&line, &mut text);
        // What ITGDec prints for it, blanks apart.
        assert_eq!(
            text.split_whitespace().collect::<Vec<_>>().join(" "),
            "Flow>0001 Seq> 1 Src> 127.0.0.1/43358 Dest> 127.0.0.1/10001 txTime>16:44:24.392343 \
             rxTime>16:44:24.392391 Size> 101"
        );
        let mut out = Vec::new();
        write(&line, Order::Little, &mut out);
        assert_eq!(out, bytes);
    }

    #[test]
    fn a_log_that_is_cut_says_so() {
        let mut log = captured().repeat(2);
        log.truncate(200);
        let lines: Vec<_> = read_all(&log).collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].is_ok());
        assert_eq!(
            lines[1],
            Err(Error::Cut {
                record: 2,
                bytes: 56,
                whole: 144
            })
        );
    }

    prop_compose! {
        fn any_line()(
            flow: u32,
            sequence: u32,
            from: (std::net::IpAddr, u16),
            to: (std::net::IpAddr, u16),
            sent_us in 0..super::super::line::DAY_US,
            received_us in 0..super::super::line::DAY_US,
            bytes: u32,
        ) -> Line {
            Line { flow, sequence, from: from.into(), to: to.into(), sent_us, received_us, bytes }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(line in any_line(), is_big: bool) {
            let order = if is_big { Order::Big } else { Order::Little };
            let mut out = Vec::new();
            write(&line, order, &mut out);
            let bytes: [u8; RECORD] = out.try_into().expect("144 bytes");
            if line.from.port() != 0 && line.to.port() != 0 {
                prop_assert_eq!(Order::of(&bytes), order);
            }
            prop_assert_eq!(read(&bytes, order, 1), Ok(line));
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
            let _ = read_all(&bytes).count();
        }
    }
}
