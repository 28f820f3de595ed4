//! Requests: what a client asks of the registers.

use super::answer::Refusal;
use super::{HEADER_BYTES, INTERVAL_MS, MOST_ACCESSES, MOST_WATCHED, VERSION};
use super::{header, kind, read_header, words};

/// In the address of an access: it writes.
pub(crate) const WRITE_BIT: u32 = 1 << 31;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Read the registers at these addresses.
    Read(Vec<u32>),
    /// Write each address with its value.
    Write(Vec<(u32, u32)>),
    /// Read every register of the design.
    Dump,
    /// Tell the values at these addresses now, and later those that changed; none ends it.
    Watch {
        /// Between two answers, in milliseconds.
        interval_ms: u32,
        /// What to watch.
        addresses: Vec<u32>,
    },
    /// Read, or write where [`WRITE_BIT`] is set, each address in turn.
    Access(Vec<(u32, u32)>),
}

/// A request, its tag and its length; or the tag of one that is refused, and why.
type Parsed = Result<Option<(Request, u32, usize)>, (u32, Refusal)>;

impl Request {
    /// Its bytes, with the number that its answer will have.
    pub(crate) fn bytes(&self, tag: u32) -> Vec<u8> {
        let (kind, count, items) = match self {
            Request::Read(addresses) => (kind::READ, addresses.len(), addresses.clone()),
            Request::Write(writes) => (kind::WRITE, writes.len(), flat(writes)),
            Request::Dump => (kind::DUMP, 0, Vec::new()),
            Request::Watch {
                interval_ms,
                addresses,
            } => {
                let items = std::iter::once(*interval_ms).chain(addresses.iter().copied());
                (kind::WATCH, addresses.len() + 1, items.collect())
            }
            Request::Access(accesses) => (kind::ACCESS, accesses.len(), flat(accesses)),
        };
        let mut bytes = header(kind, count, tag).to_vec();
        bytes.extend(items.iter().flat_map(|item| item.to_be_bytes()));
        bytes
    }

    /// The first request in `bytes` with its tag and its length; none where it is not whole yet.
    /// The error is for its tag; what follows cannot be read.
    pub(crate) fn parse(bytes: &[u8]) -> Parsed {
        match bytes.first() {
            None | Some(&VERSION) => {}
            Some(_) => return Err((0, Refusal::Version)),
        }
        let Some((kind, count, tag)) = read_header(bytes) else {
            return Ok(None);
        };
        let (item_bytes, most) = match kind {
            kind::READ => (4, MOST_ACCESSES),
            kind::WRITE | kind::ACCESS => (8, MOST_ACCESSES),
            kind::DUMP => (0, 0),
            kind::WATCH => (4, MOST_WATCHED + 1),
            _ => return Err((tag, Refusal::Kind)),
        };
        if count > most {
            return Err((tag, Refusal::Count));
        }
        let length = HEADER_BYTES + item_bytes * count;
        let Some(body) = bytes.get(HEADER_BYTES..length) else {
            return Ok(None);
        };
        let request = match kind {
            kind::READ => Request::Read(words(body).collect()),
            kind::WRITE => Request::Write(in_pairs(body)),
            kind::DUMP => Request::Dump,
            kind::ACCESS => Request::Access(in_pairs(body)),
            _ => {
                let mut items = words(body);
                Request::Watch {
                    interval_ms: items.next().unwrap_or(0),
                    addresses: items.collect(),
                }
            }
        };
        Ok(Some((request, tag, length)))
    }

    /// Why it is refused although it can be read.
    pub(crate) fn fault(&self) -> Option<Refusal> {
        match self {
            Request::Watch {
                interval_ms,
                addresses,
            } if !addresses.is_empty() && !INTERVAL_MS.contains(interval_ms) => {
                Some(Refusal::Interval)
            }
            _ => None,
        }
    }
}

fn flat(pairs: &[(u32, u32)]) -> Vec<u32> {
    pairs.iter().flat_map(|(a, b)| [*a, *b]).collect()
}

fn in_pairs(body: &[u8]) -> Vec<(u32, u32)> {
    let (pairs, _) = body.as_chunks::<8>();
    let pair = |pair: &[u8; 8]| {
        let both = u64::from_be_bytes(*pair);
        ((both >> 32) as u32, both as u32)
    };
    pairs.iter().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn requests() -> impl Strategy<Value = Request> {
        let pairs = || prop::collection::vec(any::<(u32, u32)>(), 0..40);
        prop_oneof![
            prop::collection::vec(any::<u32>(), 0..40).prop_map(Request::Read),
            pairs().prop_map(Request::Write),
            Just(Request::Dump),
            (any::<u32>(), prop::collection::vec(any::<u32>(), 0..40)).prop_map(
                |(interval_ms, addresses)| Request::Watch {
                    interval_ms,
                    addresses
                }
            ),
            pairs().prop_map(Request::Access),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_whole_or_not_at_all(
            request in requests(), tag: u32, more in prop::collection::vec(any::<u8>(), 0..9)
        ) {
            let mut bytes = request.bytes(tag);
            let length = bytes.len();
            for cut in 0..length {
                prop_assert_eq!(Request::parse(&bytes[..cut]), Ok(None));
            }
            bytes.extend(more);
            prop_assert_eq!(Request::parse(&bytes), Ok(Some((request, tag, length))));
        }

        #[test]
        fn any_bytes_are_read_within_bounds(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            match Request::parse(&bytes) {
                Ok(Some((_, _, length))) => prop_assert!(length <= bytes.len()),
                Ok(None) => prop_assert!(bytes.first().is_none_or(|first| *first == VERSION)),
                Err((_, refusal)) => prop_assert!(refusal != Refusal::Interval),
            }
        }
    }

    #[test]
    fn each_refusal_has_its_reason() {
        assert_eq!(Request::parse(&[2]), Err((0, Refusal::Version)));
        let header = |kind, count| super::header(kind, count, 7);
        assert_eq!(Request::parse(&header(9, 0)), Err((7, Refusal::Kind)));
        for (kind, most) in [
            (kind::READ, MOST_ACCESSES),
            (kind::WRITE, MOST_ACCESSES),
            (kind::ACCESS, MOST_ACCESSES),
            (kind::DUMP, 0),
            (kind::WATCH, MOST_WATCHED + 1),
        ] {
            let parsed = Request::parse(&header(kind, most + 1));
            assert_eq!(parsed, Err((7, Refusal::Count)), "{kind}");
        }
        let watch = |interval_ms, addresses| Request::Watch {
            interval_ms,
            addresses,
        };
        assert_eq!(watch(0, vec![]).fault(), None);
        assert_eq!(watch(9, vec![0]).fault(), Some(Refusal::Interval));
        assert_eq!(watch(10, vec![0]).fault(), None);
    }
}
