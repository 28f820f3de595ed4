//! A file that is written: in large pieces, and standard output in the order of what others print
//! there.

use super::system_text;
use crate::engine::Ctx;
use std::io::Write;

/// What is kept before it is written, in bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// A file that is written.
#[derive(Default)]
pub(crate) struct Output {
    path: String,
    to: Option<Box<dyn Write + Send>>,
    /// What is to be written; append to it, then call [`Output::written`].
    pub buffer: Vec<u8>,
}

impl Output {
    /// The file called `path`; `-` is standard output.
    pub(crate) fn new(path: &str) -> Output {
        Output {
            path: path.to_owned(),
            ..Output::default()
        }
    }

    /// Makes the file, empty.
    pub(crate) fn open(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        if self.path != "-" {
            let made = ctx.create_file(&self.path, false);
            let made = made.map_err(|e| format!("{}: {}", self.path, system_text(&e)))?;
            self.to = Some(made);
        }
        Ok(())
    }

    /// Writes the buffer where it is large enough, or where others write as well.
    #[inline]
    pub(crate) fn written(&mut self, ctx: &mut Ctx) {
        if self.to.is_none() || self.buffer.len() >= BUFFER_BYTES {
            self.flush(ctx);
        }
    }

    /// Writes the buffer.
    pub(crate) fn flush(&mut self, ctx: &mut Ctx) {
        match &mut self.to {
            _ if self.buffer.is_empty() => {}
            Some(to) => {
                // The host tells of a write that fails; the packets go on.
                _ = to.write_all(&self.buffer).and_then(|()| to.flush());
            }
            None if self.path == "-" => ctx.host().print_bytes(&self.buffer),
            None => {}
        }
        self.buffer.clear();
    }

    /// Writes the rest and closes the file.
    pub(crate) fn close(&mut self, ctx: &mut Ctx) {
        self.flush(ctx);
        self.to = None;
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
