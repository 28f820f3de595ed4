//! A runner of `*.clicktest` files: reads them, runs their scripts, compares what came out.
//!
//! Every file is text of bytes: one character of a string here is one byte of the file, so that
//! patterns apply to whatever a router prints.

pub(crate) mod compare;
pub(crate) mod parse;
pub(crate) mod run;
mod tests;

use std::path::Path;

/// The text whose characters are the bytes of `bytes`.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}

/// The bytes whose text is `text`.
pub(crate) fn bytes_of(text: &str) -> Vec<u8> {
    text.chars()
        .map(|c| u8::try_from(c).expect("a text of bytes"))
        .collect()
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(text_of(&bytes)),
        Err(why) => Err(format!("{}: {why}", path.display())),
    }
}
