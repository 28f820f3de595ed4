//! Where a capture is written to: as it is, or compressed.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};

/// Where a capture is written to.
pub struct Sink(Kind);

enum Kind {
    Plain(Box<dyn Write + Send>),
    Gz(GzEncoder<Box<dyn Write + Send>>),
}

impl Sink {
    /// As it is; buffer what you give.
    pub fn plain(to: impl Write + Send + 'static) -> Sink {
        Sink(Kind::Plain(Box::new(to)))
    }

    /// Compressed by gzip.
    pub fn gz(to: impl Write + Send + 'static) -> Sink {
        Sink(Kind::Gz(GzEncoder::new(
            Box::new(to),
            Compression::default(),
        )))
    }

    /// Writes what is still held back.
    pub fn finish(self) -> io::Result<()> {
        match self.0 {
            Kind::Plain(mut to) => to.flush(),
            Kind::Gz(encoder) => encoder.finish()?.flush(),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Kind::Plain(to) => to.write(data),
            Kind::Gz(encoder) => encoder.write(data),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Kind::Plain(to) => to.flush(),
            Kind::Gz(encoder) => encoder.flush(),
        }
    }
}

impl std::fmt::Debug for Sink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sink").finish_non_exhaustive()
    }
}
