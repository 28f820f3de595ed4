//! Files as bytes and as texts, decompressed, within bounds.

use crate::error::ImportError;
use serde_json::Value;
use std::io::{self, Cursor, Read};
use trammel_packet::capture::source::decompressed;

/// The most bytes of a document that are read, decompressed.
pub(crate) const MOST_BYTES: u64 = 128 << 20;
/// Bytes that tell what a file is.
const FRONT_BYTES: u64 = 64 << 10;

/// The beginning of a file, and the rest of it.
pub(crate) struct Front {
    pub(crate) bytes: Vec<u8>,
    rest: Box<dyn Read + Send>,
}

/// A fault that was met while the beginning was read, at its place: once, then nothing.
struct Fault(Option<io::Error>);

impl Read for Fault {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// What says that a text is in UTF-8: Windows' programs write it, and it is no part of the text.
const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Whether a file that begins so is a text in UTF-16, with a byte order mark or without.
fn is_utf_16(front: &[u8]) -> bool {
    let marks: [&[u8]; 8] = [
        b"\xFF\xFE",
        b"\xFE\xFF",
        b"{\0",
        b"\0{",
        b"[\0",
        b"\0[",
        b"<\0",
        b"\0<",
    ];
    marks.iter().any(|mark| front.starts_with(mark))
}

impl Front {
    /// The beginning of `input`, decompressed where it is compressed by gzip.
    pub(crate) fn of(input: Box<dyn Read + Send>) -> Result<Front, ImportError> {
        let fault = |why| ImportError::Io { at: 0, why };
        let mut rest = decompressed(input).map_err(fault)?;
        let mut bytes = Vec::new();
        let read = rest.by_ref().take(FRONT_BYTES).read_to_end(&mut bytes);
        // What came before the fault tells more than the fault does.
        if let Err(why) = read {
            if bytes.is_empty() {
                return Err(fault(why));
            }
            rest = Box::new(Fault(Some(why)));
        }
        if is_utf_16(&bytes) {
            return Err(ImportError::damaged(
                "at byte 0",
                "it is a text in UTF-16",
                "save it in UTF-8, or let the program write the file itself (`--logfile`, `-o`) in \
                 place of PowerShell's `>`",
            ));
        }
        if bytes.starts_with(&BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Front { bytes, rest })
    }

    /// The file from its beginning.
    pub(crate) fn whole(self) -> Box<dyn Read + Send> {
        Box::new(Cursor::new(self.bytes).chain(self.rest))
    }
}

/// The most values of a JSON document, and the most elements of one in XML.
pub(crate) const MOST_VALUES: u64 = 4_000_000;

/// The whole of `input`, which is text.
pub(crate) fn text(mut input: Box<dyn Read + Send>) -> Result<String, ImportError> {
    let mut bytes = Vec::new();
    let limited = input.by_ref().take(MOST_BYTES + 1);
    let mut limited = limited;
    limited
        .read_to_end(&mut bytes)
        .map_err(|why| ImportError::Io {
            at: bytes.len() as u64,
            why,
        })?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(ImportError::TooLarge {
            most: MOST_BYTES,
            what: "bytes",
        });
    }
    String::from_utf8(bytes).map_err(|why| {
        ImportError::damaged(
            format!("at byte {}", why.utf8_error().valid_up_to()),
            "it is no text in UTF-8",
            "give the file as the program wrote it",
        )
    })
}

/// The JSON documents of `text`, one after the other. One that is cut off at the end is an error
/// unless others are before it.
pub(crate) fn json(text: &str, notes: &mut Vec<String>) -> Result<Vec<Value>, ImportError> {
    // Each value has one of these before it: what a document would take is known before it is read.
    let values = text.bytes().filter(|byte| b",[{".contains(byte)).count() as u64;
    if values > MOST_VALUES {
        return Err(ImportError::TooLarge {
            most: MOST_VALUES,
            what: "values",
        });
    }
    let mut documents = Vec::new();
    for document in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        match document {
            Ok(document) => documents.push(document),
            Err(why) if why.is_eof() && !documents.is_empty() => {
                notes.push(format!(
                    "The file is cut off at line {}; what is whole before counts.",
                    why.line()
                ));
            }
            Err(why) => {
                return Err(ImportError::damaged(
                    format!("line {}", why.line()),
                    format!("it is no JSON: {why}"),
                    "give the file as the program wrote it",
                ));
            }
        }
    }
    Ok(documents)
}

/// The number at `path` of `value`, such as `/sender/bytes`; nothing where there is none, or none
/// that is finite.
pub(crate) fn number(value: &Value, path: &str) -> Option<f64> {
    value
        .pointer(path)?
        .as_f64()
        .filter(|number| number.is_finite())
}

/// The same where it must not be negative.
pub(crate) fn amount(value: &Value, path: &str) -> Option<f64> {
    number(value, path).filter(|number| *number >= 0.0)
}

/// A whole number that is not negative.
pub(crate) fn count(value: &Value, path: &str) -> Option<u64> {
    let number = amount(value, path)?;
    (number < 1e18).then_some(number as u64)
}

/// The text at `path`.
pub(crate) fn word<'a>(value: &'a Value, path: &str) -> Option<&'a str> {
    value
        .pointer(path)?
        .as_str()
        .filter(|text| !text.is_empty())
}

/// The list at `path`; empty where there is none.
pub(crate) fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    let list = value.pointer(path).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}
