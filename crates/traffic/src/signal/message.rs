//! Messages of the signalling channel: their bytes, and what is wrong with those of others.

use super::key::{NONCE_BYTES, PROOF_BYTES};
use crate::record::{MOST_FLOWS, Protocol};
#[cfg(target_os = "linux")]
use crate::signal::link::said::Said;
use crate::stream::Meter;

/// The longest message, without its length; those of long texts and of blocks have limits of their
/// own.
pub(crate) const MOST_MESSAGE_BYTES: usize = 1024;
/// The longest text in one.
pub(crate) const MOST_TEXT_BYTES: usize = 255;
/// The longest of the texts that may be long: the words of a flow, a part of what came of flows.
pub const MOST_LONG_BYTES: usize = 4096;
/// The longest block of a log.
pub const MOST_BLOCK_BYTES: usize = 98_336;
/// Bytes of a token.
pub const TOKEN_BYTES: usize = 16;
/// Bytes of the length before each message.
const LENGTH_BYTES: usize = 4;

/// A flow that a sender wants to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// What carries it.
    pub protocol: Protocol,
    /// What is measured.
    pub meter: Meter,
    /// The receiver's port that its packets go to; 0 leaves the choice to the receiver.
    pub port: u16,
    /// The user's name for it.
    pub name: String,
}

/// What one end counted of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets, and bytes of their payloads.
    pub packets: u64,
    /// See `packets`.
    pub bytes: u64,
    /// Packets that this end itself lost: for want of room in its socket, or left out because they
    /// were late. The receiver's are those that its port lost while it had no other flow.
    pub lost: u64,
    /// Packets that the receiver's port lost while it had several flows, of this one or of others.
    pub unattributed: u64,
    /// A receiver's: further copies of packets, which count nowhere else.
    pub duplicates: u64,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// The first of each end.
    Hello {
        /// Its protocol's version.
        version: u16,
        /// Random bytes.
        nonce: [u8; NONCE_BYTES],
        /// There where the end holds a key: zeros, and no proof. In version 1 it was the
        /// receiver's, told to whoever had greeted.
        proof: Option<[u8; PROOF_BYTES]>,
    },
    /// An end's proof that it holds the key. Who opened the connection proves first.
    Proof([u8; PROOF_BYTES]),
    /// Opens a flow.
    Open(Wish),
    /// It is open.
    Opened {
        /// The number that its packets carry.
        number: u32,
        /// The port that they go to.
        port: u16,
    },
    /// The end does not do what it was asked, and why.
    Refused(String),
    /// Nothing more of a flow is sent.
    Close {
        /// Its number.
        number: u32,
        /// What was sent.
        sent: Count,
    },
    /// Nothing more of it is received.
    Closed {
        /// Its number.
        number: u32,
        /// What was received.
        received: Count,
    },
    /// Opens a flow to a receiver that nobody reaches from outside: it makes the way itself, to the
    /// sender's port.
    Fetch {
        /// The flow. Its port is the receiver's.
        wish: Wish,
        /// The sender's port.
        port: u16,
        /// What the receiver shows there, so that nobody else has the packets sent to him.
        token: [u8; TOKEN_BYTES],
    },
    /// A flow that another sender is to send: its words, as on a line of a script.
    Order(String),
    /// The order's words are understood.
    Ordered,
    /// The flows that were ordered are to be sent, and what comes of them told in tables of JSON or
    /// in words.
    Start {
        /// See above.
        json: bool,
    },
    /// They are being sent; said every second.
    Progress {
        /// Packets by now.
        packets: u64,
    },
    /// A part of what came of them.
    Part(String),
    /// There is no more to tell of them; what a command that had sent them itself would have ended
    /// with.
    Done {
        /// Its exit code.
        code: u8,
        /// What it had warned of, or why it had failed.
        note: String,
    },
    /// A block of a log, as it is in a file.
    Block(Vec<u8>),
    /// The first of a receiver that comes to a sender; what follows is as if the sender had come.
    Here,
    /// Enough: ends what was started, or tells that no block follows.
    Over,
    /// Of a test of the path.
    #[cfg(target_os = "linux")]
    Link(Said),
    /// So much of the log is kept.
    Kept {
        /// Bytes of blocks.
        bytes: u64,
    },
}

/// What is wrong with bytes that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// Its length.
    #[error("a message of {0} bytes, which is more than its kind may have")]
    TooLong(u32),
    /// Its kind.
    #[error("a message of an unknown kind, {0}")]
    Kind(u8),
    /// A field ends before its last byte, or bytes are left.
    #[error("a message of kind {0} has the wrong length")]
    Length(u8),
    /// A field's value.
    #[error("a message of kind {0} has a field out of its range")]
    Value(u8),
}

/// The kind of blocks.
const BLOCK: u8 = 15;

/// The longest message of a kind, or of any where the kind is not known yet; with its kind.
fn most_bytes(kind: Option<u8>) -> usize {
    match kind {
        None | Some(BLOCK) => 1 + MOST_BLOCK_BYTES,
        Some(9 | 13) => 1 + 2 + MOST_LONG_BYTES,
        Some(_) => MOST_MESSAGE_BYTES,
    }
}

const PROTOCOLS: [(u8, Protocol); 6] = [
    (1, Protocol::Udp),
    (2, Protocol::Tcp),
    (3, Protocol::Icmp),
    (4, Protocol::Sctp),
    (5, Protocol::Dccp),
    (6, Protocol::Ethernet),
];
const METERS: [(u8, Meter); 2] = [(1, Meter::OneWay), (2, Meter::RoundTrip)];

/// What has no row becomes 0, which the other end refuses.
fn number_of<T: PartialEq>(table: &[(u8, T)], value: &T) -> u8 {
    let row = table.iter().find(|(_, other)| other == value);
    row.map_or(0, |row| row.0)
}

impl Message {
    fn kind(&self) -> u8 {
        match self {
            Message::Hello { .. } => 1,
            Message::Proof(_) => 2,
            Message::Open(_) => 3,
            Message::Opened { .. } => 4,
            Message::Refused(_) => 5,
            Message::Close { .. } => 6,
            Message::Closed { .. } => 7,
            Message::Fetch { .. } => 8,
            Message::Order(_) => 9,
            Message::Ordered => 10,
            Message::Start { .. } => 11,
            Message::Progress { .. } => 12,
            Message::Part(_) => 13,
            Message::Done { .. } => 14,
            Message::Block(_) => BLOCK,
            Message::Over => 16,
            Message::Kept { .. } => 17,
            Message::Here => 18,
            #[cfg(target_os = "linux")]
            Message::Link(_) => 19,
        }
    }

    /// Appends its bytes. Texts that are too long are cut.
    pub fn write(&self, into: &mut Vec<u8>) {
        let start = into.len();
        into.extend_from_slice(&[0; LENGTH_BYTES]);
        into.push(self.kind());
        match self {
            Message::Hello {
                version,
                nonce,
                proof,
            } => {
                into.extend_from_slice(&version.to_be_bytes());
                into.extend_from_slice(nonce);
                into.extend_from_slice(proof.as_ref().map_or(&[], |proof| proof.as_slice()));
            }
            Message::Proof(proof) => into.extend_from_slice(proof),
            Message::Open(wish) => write_wish(wish, into),
            Message::Fetch { wish, port, token } => {
                into.extend_from_slice(&port.to_be_bytes());
                into.extend_from_slice(token);
                write_wish(wish, into);
            }
            Message::Order(text) | Message::Part(text) => {
                let text = cut(text, MOST_LONG_BYTES);
                into.extend_from_slice(&(text.len() as u16).to_be_bytes());
                into.extend_from_slice(text.as_bytes());
            }
            Message::Ordered | Message::Over | Message::Here => {}
            #[cfg(target_os = "linux")]
            Message::Link(said) => said.write(into),
            Message::Start { json } => into.push(u8::from(*json)),
            Message::Progress { packets: value } | Message::Kept { bytes: value } => {
                into.extend_from_slice(&value.to_be_bytes());
            }
            Message::Done { code, note } => {
                into.push(*code);
                write_text(note, into);
            }
            Message::Block(bytes) => into.extend_from_slice(bytes),
            Message::Opened { number, port } => {
                into.extend_from_slice(&number.to_be_bytes());
                into.extend_from_slice(&port.to_be_bytes());
            }
            Message::Refused(why) => write_text(why, into),
            Message::Close {
                number,
                sent: count,
            }
            | Message::Closed {
                number,
                received: count,
            } => {
                into.extend_from_slice(&number.to_be_bytes());
                let Count {
                    packets,
                    bytes,
                    lost,
                    unattributed,
                    duplicates,
                } = count;
                for value in [packets, bytes, lost, unattributed, duplicates] {
                    into.extend_from_slice(&value.to_be_bytes());
                }
            }
        }
        let length = (into.len() - start - LENGTH_BYTES) as u32;
        into[start..start + LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
    }

    /// The first message of `bytes` and how many of them it took; none where its end has not come
    /// yet.
    pub fn read(bytes: &[u8]) -> Result<Option<(Message, usize)>, Wrong> {
        let Some(length) = bytes
            .first_chunk()
            .map(|length| u32::from_be_bytes(*length))
        else {
            return Ok(None);
        };
        if length as usize > most_bytes(bytes.get(LENGTH_BYTES).copied()) {
            return Err(Wrong::TooLong(length));
        }
        let end = LENGTH_BYTES + length as usize;
        let Some(body) = bytes.get(LENGTH_BYTES..end) else {
            return Ok(None);
        };
        let (&kind, fields) = body.split_first().ok_or(Wrong::Length(0))?;
        let mut fields = Fields { kind, left: fields };
        let message = fields.message()?;
        if !fields.left.is_empty() {
            return Err(Wrong::Length(kind));
        }
        Ok(Some((message, end)))
    }
}

fn write_wish(wish: &Wish, into: &mut Vec<u8>) {
    into.push(number_of(&PROTOCOLS, &wish.protocol));
    into.push(number_of(&METERS, &wish.meter));
    into.extend_from_slice(&wish.port.to_be_bytes());
    write_text(&wish.name, into);
}

fn write_text(text: &str, into: &mut Vec<u8>) {
    let text = cut(text, MOST_TEXT_BYTES);
    into.push(text.len() as u8);
    into.extend_from_slice(text.as_bytes());
}

/// The beginning of `text`, of so many bytes at most.
pub fn cut(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The fields of a message that are still to be read.
struct Fields<'a> {
    kind: u8,
    left: &'a [u8],
}

impl Fields<'_> {
    fn message(&mut self) -> Result<Message, Wrong> {
        Ok(match self.kind {
            1 => Message::Hello {
                version: u16::from_be_bytes(self.bytes()?),
                nonce: self.bytes()?,
                proof: if self.left.is_empty() {
                    None
                } else {
                    Some(self.bytes()?)
                },
            },
            2 => Message::Proof(self.bytes()?),
            3 => Message::Open(self.wish()?),
            4 => Message::Opened {
                number: self.number()?,
                port: u16::from_be_bytes(self.bytes()?),
            },
            5 => Message::Refused(self.text()?),
            6 => Message::Close {
                number: self.number()?,
                sent: self.count()?,
            },
            7 => Message::Closed {
                number: self.number()?,
                received: self.count()?,
            },
            8 => Message::Fetch {
                port: u16::from_be_bytes(self.bytes()?),
                token: self.bytes()?,
                wish: self.wish()?,
            },
            9 => Message::Order(self.long_text()?),
            10 => Message::Ordered,
            11 => Message::Start {
                json: self.one_of(&[(0, false), (1, true)])?,
            },
            12 => Message::Progress {
                packets: u64::from_be_bytes(self.bytes()?),
            },
            13 => Message::Part(self.long_text()?),
            14 => Message::Done {
                code: u8::from_be_bytes(self.bytes()?),
                note: self.text()?,
            },
            BLOCK => Message::Block(std::mem::take(&mut self.left).to_vec()),
            16 => Message::Over,
            17 => Message::Kept {
                bytes: u64::from_be_bytes(self.bytes()?),
            },
            18 => Message::Here,
            #[cfg(target_os = "linux")]
            19 => {
                let said = Said::read(std::mem::take(&mut self.left));
                Message::Link(said.ok_or(Wrong::Value(19))?)
            }
            other => return Err(Wrong::Kind(other)),
        })
    }

    fn wish(&mut self) -> Result<Wish, Wrong> {
        Ok(Wish {
            protocol: self.one_of(&PROTOCOLS)?,
            meter: self.one_of(&METERS)?,
            port: u16::from_be_bytes(self.bytes()?),
            name: self.text()?,
        })
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Wrong> {
        let (first, left) = self
            .left
            .split_first_chunk()
            .ok_or(Wrong::Length(self.kind))?;
        self.left = left;
        Ok(*first)
    }

    fn one_of<T: Copy>(&mut self, table: &[(u8, T)]) -> Result<T, Wrong> {
        let [number] = self.bytes()?;
        let row = table.iter().find(|(other, _)| *other == number);
        row.map(|(_, value)| *value).ok_or(Wrong::Value(self.kind))
    }

    fn number(&mut self) -> Result<u32, Wrong> {
        let number = u32::from_be_bytes(self.bytes()?);
        (number < MOST_FLOWS)
            .then_some(number)
            .ok_or(Wrong::Value(self.kind))
    }

    fn count(&mut self) -> Result<Count, Wrong> {
        Ok(Count {
            packets: u64::from_be_bytes(self.bytes()?),
            bytes: u64::from_be_bytes(self.bytes()?),
            lost: u64::from_be_bytes(self.bytes()?),
            unattributed: u64::from_be_bytes(self.bytes()?),
            duplicates: u64::from_be_bytes(self.bytes()?),
        })
    }

    /// A text, without what a terminal would take for orders.
    fn text(&mut self) -> Result<String, Wrong> {
        let [length] = self.bytes()?;
        self.characters(length.into(), &[])
    }

    /// A text of several lines, the same way.
    fn long_text(&mut self) -> Result<String, Wrong> {
        let length = u16::from_be_bytes(self.bytes()?);
        self.characters(length.into(), &['\n', '\t'])
    }

    fn characters(&mut self, length: usize, but: &[char]) -> Result<String, Wrong> {
        let (text, left) = self
            .left
            .split_at_checked(length)
            .ok_or(Wrong::Length(self.kind))?;
        self.left = left;
        let text = str::from_utf8(text).map_err(|_| Wrong::Value(self.kind))?;
        let is_order = |one: char| one.is_control() && !but.contains(&one);
        if text.chars().any(is_order) || length > MOST_LONG_BYTES {
            return Err(Wrong::Value(self.kind));
        }
        Ok(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count() -> impl Strategy<Value = Count> {
        any::<[u64; 5]>().prop_map(|[packets, bytes, lost, unattributed, duplicates]| Count {
            packets,
            bytes,
            lost,
            unattributed,
            duplicates,
        })
    }

    fn message() -> impl Strategy<Value = Message> {
        let number = 0..MOST_FLOWS;
        let wish = (0..6_usize, 0..2_usize, any::<u16>(), "[a-zäß ]{0,40}");
        let wish = wish.prop_map(|(protocol, meter, port, name)| Wish {
            protocol: PROTOCOLS[protocol].1,
            meter: METERS[meter].1,
            port,
            name,
        });
        prop_oneof![
            (wish.clone(), any::<u16>(), any::<[u8; TOKEN_BYTES]>())
                .prop_map(|(wish, port, token)| Message::Fetch { wish, port, token }),
            "[ -~ä\n]{0,600}".prop_map(Message::Order),
            Just(Message::Ordered),
            any::<bool>().prop_map(|json| Message::Start { json }),
            any::<u64>().prop_map(|packets| Message::Progress { packets }),
            "[ -~ä\n]{0,600}".prop_map(Message::Part),
            (any::<u8>(), "[a-z ]{0,20}").prop_map(|(code, note)| Message::Done { code, note }),
            any::<Vec<u8>>().prop_map(Message::Block),
            Just(Message::Over),
            Just(Message::Here),
            any::<u64>().prop_map(|bytes| Message::Kept { bytes }),
            (
                any::<u16>(),
                any::<[u8; NONCE_BYTES]>(),
                prop::option::of(any::<[u8; PROOF_BYTES]>())
            )
                .prop_map(|(version, nonce, proof)| Message::Hello {
                    version,
                    nonce,
                    proof
                }),
            any::<[u8; PROOF_BYTES]>().prop_map(Message::Proof),
            wish.prop_map(Message::Open),
            (number.clone(), any::<u16>())
                .prop_map(|(number, port)| Message::Opened { number, port }),
            "[a-z ]{0,255}".prop_map(Message::Refused),
            (number.clone(), count()).prop_map(|(number, sent)| Message::Close { number, sent }),
            (number, count()).prop_map(|(number, received)| Message::Closed { number, received }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_however_it_is_cut(message in message(), more: Vec<u8>) {
            let mut bytes = Vec::new();
            message.write(&mut bytes);
            for end in 0..bytes.len() {
                prop_assert_eq!(Message::read(&bytes[..end]), Ok(None));
            }
            let length = bytes.len();
            bytes.extend(more);
            prop_assert_eq!(Message::read(&bytes), Ok(Some((message, length))));
        }

        #[test]
        fn whatever_comes_is_read_or_refused(
            bytes: Vec<u8>, kind in 0..20_u8, length in 0..70_u32
        ) {
            let _ = Message::read(&bytes);
            let mut likely = length.to_be_bytes().to_vec();
            likely.push(kind);
            likely.extend(bytes);
            if let Ok(Some((message, taken))) = Message::read(&likely) {
                let mut again = Vec::new();
                message.write(&mut again);
                prop_assert_eq!(&again, &likely[..taken]);
            }
        }
    }

    #[test]
    fn its_bytes_are_the_same_on_every_machine() {
        let wish = Message::Open(Wish {
            protocol: Protocol::Udp,
            meter: Meter::RoundTrip,
            port: 8999,
            name: "voice".to_owned(),
        });
        let mut bytes = Vec::new();
        wish.write(&mut bytes);
        assert_eq!(bytes, b"\x00\x00\x00\x0b\x03\x01\x02\x23\x27\x05voice");
        let closed = Message::Closed {
            number: 0x01_0203,
            received: Count {
                packets: 4,
                bytes: 0x0506,
                lost: 7,
                unattributed: 8,
                duplicates: 9,
            },
        };
        bytes.clear();
        closed.write(&mut bytes);
        let expected = b"\0\0\0\x2d\x07\x00\x01\x02\x03\0\0\0\0\0\0\0\x04\
            \0\0\0\0\0\0\x05\x06\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\x09";
        assert_eq!(bytes, expected);
        let fetch = Message::Fetch {
            wish: Wish {
                protocol: Protocol::Tcp,
                meter: Meter::OneWay,
                port: 1,
                name: "n".to_owned(),
            },
            port: 0x0203,
            token: *b"sixteen bytes it",
        };
        bytes.clear();
        fetch.write(&mut bytes);
        assert_eq!(
            bytes,
            b"\0\0\0\x19\x08\x02\x03sixteen bytes it\x02\x01\0\x01\x01n"
        );
        for (message, expected) in [
            (
                Message::Order("-n 1".to_owned()),
                &b"\0\0\0\x07\x09\0\x04-n 1"[..],
            ),
            (Message::Ordered, b"\0\0\0\x01\x0a"),
            (Message::Start { json: true }, b"\0\0\0\x02\x0b\x01"),
            (
                Message::Progress { packets: 258 },
                b"\0\0\0\x09\x0c\0\0\0\0\0\0\x01\x02",
            ),
            (Message::Part("a\n".to_owned()), b"\0\0\0\x05\x0d\0\x02a\n"),
            (
                Message::Done {
                    code: 1,
                    note: "x".to_owned(),
                },
                b"\0\0\0\x04\x0e\x01\x01x",
            ),
            (Message::Block(vec![7, 8]), b"\0\0\0\x03\x0f\x07\x08"),
            (Message::Over, b"\0\0\0\x01\x10"),
            (Message::Here, b"\0\0\0\x01\x12"),
            (
                Message::Kept { bytes: 3 },
                b"\0\0\0\x09\x11\0\0\0\0\0\0\0\x03",
            ),
        ] {
            bytes.clear();
            message.write(&mut bytes);
            assert_eq!(bytes, expected, "{message:?}");
        }
    }

    #[test]
    fn what_lies_is_told() {
        assert_eq!(Message::read(&[255; 8]), Err(Wrong::TooLong(u32::MAX)));
        assert_eq!(Message::read(&[0, 0, 0, 0]), Err(Wrong::Length(0)));
        assert_eq!(Message::read(&[0, 0, 0, 1, 99]), Err(Wrong::Kind(99)));
        assert_eq!(Message::read(&[0, 0, 0, 2, 2, 0]), Err(Wrong::Length(2)));
        assert_eq!(
            Message::read(b"\0\0\0\x03\x05\x01\x1b"),
            Err(Wrong::Value(5))
        );
        let open = b"\0\0\0\x06\x03\x07\x01\0\0\0";
        assert_eq!(Message::read(open), Err(Wrong::Value(3)));
        // Each kind has its limit, which is known before anything is waited for.
        assert_eq!(
            Message::read(b"\0\0\x04\x01\x03"),
            Err(Wrong::TooLong(1025))
        );
        assert_eq!(
            Message::read(b"\0\0\x10\x04\x09"),
            Err(Wrong::TooLong(4100))
        );
        assert_eq!(Message::read(b"\0\x01\x80\x21\x0f"), Ok(None));
        assert_eq!(
            Message::read(b"\0\x01\x80\x22\x0f"),
            Err(Wrong::TooLong(0x1_8022))
        );
        assert_eq!(
            Message::read(b"\0\0\0\x04\x0d\0\x01\x1b"),
            Err(Wrong::Value(13))
        );
        assert_eq!(Message::read(b"\0\0\0\x02\x0b\x02"), Err(Wrong::Value(11)));
        let long = Message::Order("ä".repeat(3000));
        let mut bytes = Vec::new();
        long.write(&mut bytes);
        assert_eq!(bytes.len(), LENGTH_BYTES + 1 + 2 + MOST_LONG_BYTES);
        assert!(matches!(
            Message::read(&bytes),
            Ok(Some((Message::Order(_), _)))
        ));
    }
}
