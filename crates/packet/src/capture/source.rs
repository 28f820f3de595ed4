//! Bytes of a capture file in records, decompressed, with their place in the file.

use super::frame::{Error, RECORD_BYTES_MAX};
use flate2::read::MultiGzDecoder;
use std::io::{self, Read};

/// What gzip's files begin with (RFC 1952, §2.3.1).
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// What `from` gives, decompressed where it begins as gzip's files do.
pub fn decompressed(mut from: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut front = Vec::new();
    from.by_ref()
        .take(GZIP.len() as u64)
        .read_to_end(&mut front)?;
    let is_gzip = front == GZIP;
    let whole = io::Cursor::new(front).chain(from);
    Ok(if is_gzip {
        Box::new(MultiGzDecoder::new(whole))
    } else {
        Box::new(whole)
    })
}

pub(super) struct Source {
    from: Box<dyn Read + Send>,
    /// The last record.
    buffer: Vec<u8>,
    /// Bytes read so far.
    offset: u64,
    /// Where the current record or block began.
    start: u64,
}

impl Source {
    pub(super) fn new(from: Box<dyn Read + Send>) -> Result<Source, Error> {
        let from = decompressed(from).map_err(|error| Error::Io { offset: 0, error })?;
        Ok(Source {
            from,
            buffer: Vec::new(),
            offset: 0,
            start: 0,
        })
    }

    /// Reads up to `len` bytes after what `buffer` holds.
    fn fill(&mut self, len: u32) -> Result<bool, Error> {
        let before = self.buffer.len();
        let mut limited = self.from.by_ref().take(u64::from(len));
        let result = limited.read_to_end(&mut self.buffer);
        let got = self.buffer.len() - before;
        self.offset += got as u64;
        result.map_err(|error| Error::Io {
            offset: self.offset,
            error,
        })?;
        Ok(got == len as usize)
    }

    /// Begins a record and reads its first `len` bytes; nothing at the end of the file.
    pub(super) fn record(&mut self, len: u32) -> Result<Option<&[u8]>, Error> {
        self.start = self.offset;
        self.buffer.clear();
        if self.fill(len)? {
            return Ok(Some(&self.buffer));
        }
        if self.buffer.is_empty() {
            return Ok(None);
        }
        Err(self.cut_short())
    }

    /// Reads `len` more bytes of the record, which follow those that were read before.
    pub(super) fn more(&mut self, len: u32) -> Result<(), Error> {
        if len > RECORD_BYTES_MAX {
            let what = format!("a record of {len} bytes is longer than {RECORD_BYTES_MAX}");
            return Err(self.malformed(&what));
        }
        if self.fill(len)? {
            Ok(())
        } else {
            Err(self.cut_short())
        }
    }

    /// All bytes of the record that were read.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// An error about the current record.
    pub(super) fn malformed(&self, what: &str) -> Error {
        Error::Malformed {
            offset: self.start,
            what: what.to_owned(),
        }
    }

    fn cut_short(&self) -> Error {
        let what = format!("the file ends at byte {} within this record", self.offset);
        self.malformed(&what)
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source")
            .field("offset", &self.offset)
            .finish_non_exhaustive()
    }
}
