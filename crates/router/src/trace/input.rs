//! A file that is read: decompressed where it is gzip's, with its place in it.

use super::system_text;
use crate::engine::{Ctx, Handler};
use std::io::{self, BufRead, BufReader, Cursor, Read};
use trammel_packet::capture::source::decompressed;

/// What is read at once, in bytes: few calls, and still within the second cache.
const BUFFER_BYTES: usize = 1 << 16;

/// A file that is read.
#[derive(Default)]
pub(crate) struct Input {
    path: String,
    data: Option<Vec<u8>>,
    from: Option<BufReader<Counted>>,
    size: Option<u64>,
    end: u64,
}

/// Counts the bytes that were read.
struct Counted {
    from: Box<dyn Read + Send>,
    count: u64,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        self.count += count as u64;
        Ok(count)
    }
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There is none.
    Missing(String),
    /// It holds nothing.
    Empty(String),
    /// Another reason.
    Other(String),
}

impl Refused {
    /// The text for people.
    pub(crate) fn text(self) -> String {
        match self {
            Refused::Missing(text) | Refused::Empty(text) | Refused::Other(text) => text,
        }
    }
}

impl Input {
    /// The file called `path`; `-` is standard input.
    pub(crate) fn file(path: &str) -> Input {
        Input {
            path: path.to_owned(),
            ..Input::default()
        }
    }

    /// What a configuration holds itself.
    pub(crate) fn data(data: &[u8]) -> Input {
        Input {
            path: "<data>".to_owned(),
            data: Some(data.to_vec()),
            ..Input::default()
        }
    }

    /// The name as messages have it.
    pub(crate) fn name(&self) -> &str {
        match self.path.as_str() {
            "-" | "" => "<stdin>",
            path => path,
        }
    }

    /// Opens it.
    pub(crate) fn open(&mut self, ctx: &mut Ctx) -> Result<(), Refused> {
        let opened = match &self.data {
            Some(data) => Ok(Box::new(Cursor::new(data.clone())) as Box<dyn Read + Send>),
            None => {
                self.size = ctx.file_bytes(&self.path);
                ctx.open_file(&self.path)
            }
        };
        let opened = opened.and_then(|from| match self.path.as_str() {
            "-" => Ok(from),
            _ => decompressed(from),
        });
        let say = |error: &io::Error| format!("{}: {}", self.name(), system_text(error));
        let from = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Refused::Missing(say(&error)),
            _ => Refused::Other(say(&error)),
        })?;
        let mut from = BufReader::with_capacity(BUFFER_BYTES, Counted { from, count: 0 });
        let is_empty = match from.fill_buf() {
            Ok(bytes) => bytes.is_empty(),
            Err(error) => return Err(Refused::Other(say(&error))),
        };
        if is_empty {
            return Err(Refused::Empty(format!("{}:0: empty file", self.name())));
        }
        self.from = Some(from);
        Ok(())
    }

    /// What is read from, until [`Input::close`].
    pub(crate) fn reader(&mut self) -> Option<&mut (impl BufRead + use<>)> {
        self.from.as_mut()
    }

    /// Takes what is read from.
    pub(crate) fn take(&mut self) -> Option<Box<dyn Read + Send>> {
        let from = self.from.take()?;
        Some(Box::new(from))
    }

    /// Ends the reading.
    pub(crate) fn close(&mut self) {
        self.end = self.place();
        self.from = None;
    }

    fn place(&self) -> u64 {
        match &self.from {
            Some(from) => from.get_ref().count - from.buffer().len() as u64,
            None => self.end,
        }
    }

    /// The handlers of elements that read files.
    pub(crate) fn handlers() -> Vec<Handler> {
        ["filename", "filesize", "filepos"]
            .map(|name| Handler::new(name, "r"))
            .into()
    }

    /// Answers one of these handlers.
    pub(crate) fn read(&self, name: &str) -> Result<String, String> {
        Ok(match name {
            "filename" => self.name().to_owned(),
            "filesize" => match self.size {
                Some(size) => size.to_string(),
                None => "-".to_owned(),
            },
            "filepos" => self.place().to_string(),
            _ => return Err(format!("no read handler '{name}'")),
        })
    }
}

impl std::fmt::Debug for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Input")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
