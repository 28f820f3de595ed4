//! Answers: values, or a refusal with its reason.

use super::{HEADER_BYTES, INTERVAL_MS, MOST_ACCESSES, MOST_WATCHED, VERSION};
use super::{header, kind, read_header, words};

/// Bytes of the text of a refusal, at most.
const LONGEST_TEXT: usize = 512;

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is of another version.
    Version,
    /// It is of an unknown kind.
    Kind,
    /// It has too many items.
    Count,
    /// There are as many connections as there may be.
    Connections,
    /// A watch at an interval that is too short or too long.
    Interval,
}

impl Refusal {
    /// The number of its answer.
    fn kind(self) -> u8 {
        let code = match self {
            Refusal::Version => 1,
            Refusal::Kind => 2,
            Refusal::Count => 3,
            Refusal::Connections => 4,
            Refusal::Interval => 5,
        };
        kind::REFUSED | code
    }

    fn text(self) -> String {
        match self {
            Refusal::Version => format!("this card speaks version {VERSION}"),
            Refusal::Kind => "unknown request: there are read, write, dump, watch, access".into(),
            Refusal::Count => format!(
                "too many items: a request has at most {MOST_ACCESSES} accesses, or \
                 {MOST_WATCHED} registers to watch"
            ),
            Refusal::Connections => "too many connections: close another one first".into(),
            Refusal::Interval => {
                let (least, most) = (INTERVAL_MS.start(), INTERVAL_MS.end());
                format!("a watch has an interval of {least} to {most} ms")
            }
        }
    }

    /// The answer that tells it.
    pub(crate) fn bytes(self, tag: u32) -> Vec<u8> {
        let text = self.text();
        let mut bytes = header(self.kind(), text.len(), tag).to_vec();
        bytes.extend(text.into_bytes());
        bytes
    }
}

/// An answer of values: to a read or an access, or none to a write.
pub(crate) fn values(kind: u8, tag: u32, values: &[u32]) -> Vec<u8> {
    let mut bytes = header(kind, values.len(), tag).to_vec();
    bytes.extend(values.iter().flat_map(|value| value.to_be_bytes()));
    bytes
}

/// An answer of addresses with their values: to a dump or a watch.
pub(crate) fn pairs(kind: u8, tag: u32, pairs: &[(u32, u32)]) -> Vec<u8> {
    let mut bytes = header(kind, pairs.len(), tag).to_vec();
    for (address, value) in pairs {
        bytes.extend(address.to_be_bytes());
        bytes.extend(value.to_be_bytes());
    }
    bytes
}

/// An answer as the client has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Its items; addresses with values follow each other.
    Items { kind: u8, items: Vec<u32> },
    /// The text of a refusal.
    Refused(String),
}

impl Answer {
    /// The first answer in `bytes` with its tag and its length; none where it is not whole yet. The
    /// error says what is wrong with it.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<(Answer, u32, usize)>, &'static str> {
        if bytes.first().is_some_and(|version| *version != VERSION) {
            return Err("it speaks another version");
        }
        let Some((kind, count, tag)) = read_header(bytes) else {
            return Ok(None);
        };
        let length = match kind {
            kind::READ | kind::WRITE | kind::ACCESS => 4 * count,
            kind::DUMP | kind::WATCH => 8 * count,
            _ if kind & kind::REFUSED != 0 && count <= LONGEST_TEXT => count,
            _ => return Err("it sent an answer of no known kind"),
        };
        let Some(body) = bytes.get(HEADER_BYTES..HEADER_BYTES + length) else {
            return Ok(None);
        };
        let answer = if kind & kind::REFUSED == 0 {
            Answer::Items {
                kind,
                items: words(body).collect(),
            }
        } else {
            Answer::Refused(String::from_utf8_lossy(body).into_owned())
        };
        Ok(Some((answer, tag, HEADER_BYTES + length)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn refusals_arrive_with_their_text() {
        for refusal in [
            Refusal::Version,
            Refusal::Kind,
            Refusal::Count,
            Refusal::Connections,
            Refusal::Interval,
        ] {
            let bytes = refusal.bytes(3);
            let parsed = Answer::parse(&bytes);
            let told = Answer::Refused(refusal.text());
            assert_eq!(parsed, Ok(Some((told, 3, bytes.len()))));
        }
    }

    proptest! {
        #[test]
        fn values_arrive_whole(all in prop::collection::vec(any::<(u32, u32)>(), 0..40), tag: u32) {
            let bytes = pairs(kind::DUMP, tag, &all);
            let items = all.iter().flat_map(|(a, b)| [*a, *b]).collect();
            let told = Answer::Items { kind: kind::DUMP, items };
            for cut in 0..bytes.len() {
                prop_assert_eq!(Answer::parse(&bytes[..cut]), Ok(None));
            }
            prop_assert_eq!(Answer::parse(&bytes), Ok(Some((told, tag, bytes.len()))));
        }

        #[test]
        fn any_bytes_are_read_within_bounds(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(Some((_, _, length))) = Answer::parse(&bytes) {
                prop_assert!(length <= bytes.len());
            }
        }
    }
}
