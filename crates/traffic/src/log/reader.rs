//! Reads a log up to its last whole block, whatever comes after it.

use super::Entry;
use super::block::{
    self, BASES_BYTES, Bases, HEAD_BYTES, Head, Kind, MOST_BODY_BYTES, NoHead, RECORD_BYTES,
};
use std::fmt;
use std::io::{self, Read};

/// How a log ended. Places are in bytes from where its reading began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// After a whole block.
    Whole,
    /// Within the block that begins at `at`: its writer was stopped, or is still writing.
    Cut {
        /// Where the block begins.
        at: u64,
    },
    /// At a block whose bytes are not as they were written.
    Checksum {
        /// Where the block begins.
        at: u64,
    },
    /// At bytes that are no block.
    Foreign {
        /// Where they begin.
        at: u64,
    },
    /// At a block of a version that this program does not know.
    Version {
        /// Where the block begins.
        at: u64,
        /// Its version.
        version: u8,
    },
    /// At a block that says what no writer writes, though its checksum may be right.
    Malformed {
        /// Where the block begins.
        at: u64,
    },
}

impl fmt::Display for Ending {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Whole => write!(to, "the log is whole"),
            Ending::Cut { at } => write!(to, "the log is cut within its block at byte {at}"),
            Ending::Checksum { at } => {
                write!(
                    to,
                    "the log's block at byte {at} is damaged: its checksum is wrong"
                )
            }
            Ending::Foreign { at } => {
                write!(to, "there is no block of a log at byte {at}")
            }
            Ending::Version { at, version } => write!(
                to,
                "the log's block at byte {at} is of version {version}; this program reads version \
                 {}",
                block::VERSION
            ),
            Ending::Malformed { at } => {
                write!(to, "the log's block at byte {at} has fields out of range")
            }
        }
    }
}

/// The entries of a log, in the order they were written. At most one block is in memory: 98 336
/// bytes.
///
/// It ends at the last whole block and then tells by [`ending`](Reader::ending) why. An error of
/// the file is given once and ends it too.
#[derive(Debug)]
pub struct Reader<R: Read> {
    from: R,
    pub(super) body: Vec<u8>,
    /// Of the records in `body`, where the next one begins.
    next: usize,
    bases: Option<Bases>,
    /// Up to where all blocks are whole.
    good_bytes: u64,
    /// `None` while it goes on.
    ending: Option<Ending>,
    failed: bool,
}

impl<R: Read> Reader<R> {
    /// Reads from the place where `from` stands, which need not be buffered.
    pub fn new(from: R) -> Reader<R> {
        Reader {
            from,
            body: Vec::new(),
            next: 0,
            bases: None,
            good_bytes: 0,
            ending: None,
            failed: false,
        }
    }

    /// How the log ended; `None` before its end was reached, and where reading itself failed.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// How many bytes from the beginning are whole blocks, as far as it was read.
    pub fn good_bytes(&self) -> u64 {
        self.good_bytes
    }

    fn record(&mut self) -> Option<Entry> {
        let bytes = self.body.get(self.next..)?.first_chunk::<RECORD_BYTES>()?;
        self.next += RECORD_BYTES;
        self.bases?.decode(bytes).map(Entry::Record)
    }

    /// Reads a block; a session or flow is given, of records the first.
    fn block(&mut self) -> io::Result<Result<Entry, Ending>> {
        let at = self.good_bytes;
        let mut head_bytes = [0; HEAD_BYTES];
        match fill(&mut self.from, &mut head_bytes)? {
            HEAD_BYTES => {}
            0 => return Ok(Err(Ending::Whole)),
            got => {
                // The rest of a head may be missing, but what is there has to be one's beginning.
                let begins = block::MAGIC
                    .iter()
                    .zip(&head_bytes[..got])
                    .all(|(a, b)| a == b);
                return Ok(Err(if begins {
                    Ending::Cut { at }
                } else {
                    Ending::Foreign { at }
                }));
            }
        }
        let head = match Head::parse(&head_bytes) {
            Ok(head) => head,
            Err(NoHead::Foreign) => return Ok(Err(Ending::Foreign { at })),
            Err(NoHead::Version(version)) => return Ok(Err(Ending::Version { at, version })),
            Err(NoHead::Malformed) => return Ok(Err(Ending::Malformed { at })),
        };
        debug_assert!(head.body_bytes <= MOST_BODY_BYTES);
        self.body.resize(head.body_bytes, 0);
        if fill(&mut self.from, &mut self.body)? < head.body_bytes {
            return Ok(Err(Ending::Cut { at }));
        }
        if !head.is_whole(&head_bytes, &self.body) {
            return Ok(Err(Ending::Checksum { at }));
        }
        let entry = match head.kind {
            Kind::Session => block::session(&self.body),
            Kind::Flow => block::flow(&self.body),
            Kind::Sent => block::sent(&self.body),
            Kind::Records => self.records(),
        };
        Ok(match entry {
            Some(entry) => {
                self.good_bytes += (HEAD_BYTES + head.body_bytes) as u64;
                Ok(entry)
            }
            None => Err(Ending::Malformed { at }),
        })
    }

    /// Makes ready the records of the body and gives the first; none unless all are good.
    fn records(&mut self) -> Option<Entry> {
        let bases = Bases::read(&self.body)?;
        let (records, _) = self.body[BASES_BYTES..].as_chunks::<RECORD_BYTES>();
        if !records.iter().all(block::has_no_flags) {
            return None;
        }
        (self.bases, self.next) = (Some(bases), BASES_BYTES);
        self.record()
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<io::Result<Entry>> {
        if self.ending.is_some() || self.failed {
            return None;
        }
        if self.bases.is_some() {
            if let Some(entry) = self.record() {
                return Some(Ok(entry));
            }
            self.bases = None;
        }
        match self.block() {
            Ok(Ok(entry)) => Some(Ok(entry)),
            Ok(Err(ending)) => {
                self.ending = Some(ending);
                None
            }
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }
}

/// Fills `bytes` as far as the file goes and says how far.
fn fill(from: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match from.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(got) => filled += got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// What a log is worth: see [`survey`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The length of its whole blocks, from its beginning: appending is safe at exactly this
    /// length.
    pub good_bytes: u64,
    /// How it ends.
    pub ending: Ending,
    /// How many packets its whole blocks hold.
    pub records: u64,
}

/// Reads a log through, to learn where it can be appended to.
///
/// With [`Ending::Whole`] that is at its end. With [`Ending::Cut`] nothing but a part of the last
/// block is behind `good_bytes`. With any other ending, more may be behind it: say so before
/// cutting it off.
pub fn survey(log: impl Read) -> io::Result<Survey> {
    let mut reader = Reader::new(log);
    let mut records = 0;
    for entry in &mut reader {
        records += u64::from(matches!(entry?, Entry::Record(_)));
    }
    Ok(Survey {
        good_bytes: reader.good_bytes,
        ending: reader
            .ending
            .expect("a reader without errors tells its ending"),
        records,
    })
}
