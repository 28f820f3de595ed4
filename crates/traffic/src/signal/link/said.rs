//! What ends say to each other for a test, as bytes: fields of fixed width, big-endian.

use super::told::{Told, WORDS};
use super::{Direction, MOST_NAME_BYTES, MOST_STREAMS, Wish, nanos};
use crate::record::Protocol;
use crate::signal::message::TOKEN_BYTES;
use std::time::Duration;

/// When something is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An interval is over.
    Interval,
    /// The last one is: nothing more is sent.
    End,
    /// Nothing more is received either.
    Last,
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A test is asked for.
    Wish(Wish),
    /// It can begin: what connections show, and the ports of UDP, one for each stream.
    Ready {
        /// See above.
        token: [u8; TOKEN_BYTES],
        /// See above.
        ports: Vec<u16>,
    },
    /// The first on a connection that is to carry a stream.
    Attach {
        /// What was said of it.
        token: [u8; TOKEN_BYTES],
        /// The stream's number.
        stream: u16,
    },
    /// It does; or, on the channel, all do.
    Attached,
    /// Begin.
    Go,
    /// It has begun.
    Going {
        /// The congestion control of this end; empty with UDP.
        congestion: String,
    },
    /// What this end has counted of a stream.
    Told {
        /// When.
        part: Part,
        /// The interval's number, from 0.
        number: u32,
        /// The stream's.
        stream: u16,
        /// From the start on, in nanoseconds.
        at_ns: u64,
        /// What.
        told: Told,
    },
}

const PARTS: [Part; 3] = [Part::Interval, Part::End, Part::Last];
const DIRECTIONS: [Direction; 3] = [Direction::Forward, Direction::Reverse, Direction::Both];

fn place<T: PartialEq>(all: &[T], one: &T) -> u8 {
    let at = all.iter().position(|other| other == one);
    at.map_or(u8::MAX, |at| at as u8)
}

impl Said {
    /// Appends its bytes.
    pub fn write(&self, into: &mut Vec<u8>) {
        match self {
            Said::Wish(wish) => {
                into.push(0);
                into.push(u8::from(wish.protocol == Protocol::Udp));
                into.push(place(&DIRECTIONS, &wish.direction));
                into.extend_from_slice(&wish.streams.to_be_bytes());
                let times = [wish.duration, wish.interval, wish.omit].map(nanos);
                for value in times.into_iter().chain([wish.rate_bps, wish.bytes]) {
                    into.extend_from_slice(&value.to_be_bytes());
                }
                into.push(wish.tos);
                into.extend_from_slice(&wish.datagram_bytes.to_be_bytes());
                into.extend_from_slice(name(&wish.congestion));
            }
            Said::Ready { token, ports } => {
                into.push(1);
                into.extend_from_slice(token);
                for port in ports {
                    into.extend_from_slice(&port.to_be_bytes());
                }
            }
            Said::Attach { token, stream } => {
                into.push(2);
                into.extend_from_slice(token);
                into.extend_from_slice(&stream.to_be_bytes());
            }
            Said::Attached => into.push(3),
            Said::Go => into.push(4),
            Said::Going { congestion } => {
                into.push(5);
                into.extend_from_slice(name(congestion));
            }
            Said::Told {
                part,
                number,
                stream,
                at_ns,
                told,
            } => {
                into.push(6);
                into.push(place(&PARTS, part));
                into.extend_from_slice(&number.to_be_bytes());
                into.extend_from_slice(&stream.to_be_bytes());
                into.extend_from_slice(&at_ns.to_be_bytes());
                for word in told.words() {
                    into.extend_from_slice(&word.to_be_bytes());
                }
            }
        }
    }

    /// What `bytes` say; none where it is nothing.
    pub fn read(bytes: &[u8]) -> Option<Said> {
        let (kind, rest) = bytes.split_first()?;
        let mut left = rest;
        let said = match kind {
            0 => Said::Wish(Wish {
                protocol: match take::<1>(&mut left)? {
                    [0] => Protocol::Tcp,
                    [1] => Protocol::Udp,
                    _ => return None,
                },
                direction: one_of(&DIRECTIONS, &mut left)?,
                streams: u16::from_be_bytes(take(&mut left)?),
                duration: Duration::from_nanos(u64::from_be_bytes(take(&mut left)?)),
                interval: Duration::from_nanos(u64::from_be_bytes(take(&mut left)?)),
                omit: Duration::from_nanos(u64::from_be_bytes(take(&mut left)?)),
                rate_bps: u64::from_be_bytes(take(&mut left)?),
                bytes: u64::from_be_bytes(take(&mut left)?),
                tos: take::<1>(&mut left)?[0],
                datagram_bytes: u32::from_be_bytes(take(&mut left)?),
                congestion: name_of(&mut left)?,
            }),
            1 => {
                let token = take(&mut left)?;
                let mut ports = Vec::new();
                while !left.is_empty() {
                    ports.push(u16::from_be_bytes(take(&mut left)?));
                }
                if ports.len() > 2 * usize::from(MOST_STREAMS) {
                    return None;
                }
                Said::Ready { token, ports }
            }
            2 => Said::Attach {
                token: take(&mut left)?,
                stream: u16::from_be_bytes(take(&mut left)?),
            },
            3 => Said::Attached,
            4 => Said::Go,
            5 => Said::Going {
                congestion: name_of(&mut left)?,
            },
            6 => Said::Told {
                part: one_of(&PARTS, &mut left)?,
                number: u32::from_be_bytes(take(&mut left)?),
                stream: u16::from_be_bytes(take(&mut left)?),
                at_ns: u64::from_be_bytes(take(&mut left)?),
                told: {
                    let mut words = [0; WORDS];
                    for word in &mut words {
                        *word = u64::from_be_bytes(take(&mut left)?);
                    }
                    Told::of_words(words)
                },
            },
            _ => return None,
        };
        left.is_empty().then_some(said)
    }
}

fn name(text: &str) -> &[u8] {
    &text.as_bytes()[..text.len().min(MOST_NAME_BYTES)]
}

/// The rest, as a name of the kernel's.
fn name_of(left: &mut &[u8]) -> Option<String> {
    let bytes = std::mem::take(left);
    let is_name = bytes.len() <= MOST_NAME_BYTES && bytes.iter().all(u8::is_ascii_graphic);
    is_name.then(|| String::from_utf8_lossy(bytes).into_owned())
}

fn take<const N: usize>(left: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = left.split_first_chunk()?;
    *left = rest;
    Some(*first)
}

fn one_of<T: Copy>(all: &[T], left: &mut &[u8]) -> Option<T> {
    let [at] = take(left)?;
    all.get(usize::from(at)).copied()
}

#[cfg(test)]
mod tests {
    use super::super::tests::wish;
    use super::*;
    use proptest::prelude::*;

    fn bytes(said: &Said) -> Vec<u8> {
        let mut bytes = Vec::new();
        said.write(&mut bytes);
        bytes
    }

    #[test]
    fn what_is_written_is_read() {
        let token = *b"sixteen bytes it";
        let told = Told {
            bytes: 5,
            delay_min_ns: -7,
            broken: 1,
            ..Told::default()
        };
        for said in [
            Said::Wish(Wish {
                congestion: "bbr".to_owned(),
                omit: Duration::from_secs(2),
                bytes: 1 << 40,
                tos: 0x20,
                ..wish()
            }),
            Said::Ready {
                token,
                ports: vec![1, 65_535],
            },
            Said::Attach { token, stream: 258 },
            Said::Attached,
            Said::Go,
            Said::Going {
                congestion: "cubic".to_owned(),
            },
            Said::Told {
                part: Part::Last,
                number: 3,
                stream: 255,
                at_ns: 1 << 40,
                told,
            },
        ] {
            let written = bytes(&said);
            assert_eq!(Said::read(&written), Some(said.clone()));
            assert!(written.len() < crate::signal::message::MOST_MESSAGE_BYTES);
            let more = [&written[..], &[1]].concat();
            assert_ne!(Said::read(&more), Some(said));
        }
        let going = Said::Going {
            congestion: "ab".to_owned(),
        };
        assert_eq!(bytes(&going), b"\x05ab");
        let attach = Said::Attach { token, stream: 258 };
        assert_eq!(bytes(&attach), b"\x02sixteen bytes it\x01\x02");
        assert_eq!(Said::read(b"\x05a b"), None);
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_or_refused(kind in 0..8_u8, rest: Vec<u8>) {
            let mut came = vec![kind];
            came.extend(rest);
            if let Some(said) = Said::read(&came) {
                prop_assert_eq!(bytes(&said), came);
            }
        }
    }
}
