#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod capture;
mod csit;
mod document;
mod error;
mod flent;
mod flow_monitor;
mod format;
mod imported;
mod iperf3;
mod mahimahi;
mod origin;
mod qlog;
mod recognise;
mod rows;
mod testers;
mod trending;
mod trex;

pub use error::ImportError;
pub use format::Format;
pub use imported::{Imported, Run, Trace};

use document::Front;
use recognise::Guess;
use serde_json::Value;
use std::io::Read;

/// The format of a file that begins with `front`, decompressed, where that tells it: of JSON only
/// qlog is told by its beginning.
pub fn format_of(front: &[u8]) -> Option<Format> {
    match recognise::by_front(front) {
        Guess::Known(format) => Some(format),
        Guess::Json | Guess::Nothing => None,
    }
}

/// Reads the file `input`, which is of `format`, or of the one that its content tells. What gzip
/// has compressed is decompressed.
///
/// # Errors
/// Where it is of no known format, is damaged before the first result, or has none.
pub fn read(input: Box<dyn Read + Send>, format: Option<Format>) -> Result<Imported, ImportError> {
    let front = Front::of(input)?;
    if front.bytes.is_empty() {
        return Err(ImportError::Empty);
    }
    let guess = match format {
        Some(format) => Guess::Known(format),
        None => recognise::by_front(&front.bytes),
    };
    let whole = |front: Front| document::text(front.whole());
    match guess {
        Guess::Known(Format::Capture) => capture::read(front.whole()),
        Guess::Known(Format::Qlog) => qlog::read(front.whole()),
        Guess::Known(Format::FlowMonitor) => flow_monitor::read(&whole(front)?),
        Guess::Known(Format::MahimahiTrace) => mahimahi::trace(&whole(front)?),
        Guess::Known(Format::MahimahiLog) => mahimahi::log(&whole(front)?),
        Guess::Known(told) => json(front, Some(told)),
        Guess::Json => json(front, None),
        Guess::Nothing => Err(ImportError::Unknown(recognise::beginning(&front.bytes))),
    }
}

/// Reads a file of JSON documents, or of one list of them; of CSIT also its tables.
fn json(front: Front, format: Option<Format>) -> Result<Imported, ImportError> {
    let mut notes = Vec::new();
    let text = document::text(front.whole())?;
    if format == Some(Format::Csit) && trending::is(&text) {
        return trending::read(&text);
    }
    let mut documents = document::json(&text, &mut notes)?;
    if let [Value::Array(_)] = documents[..]
        && let Some(Value::Array(list)) = documents.pop()
    {
        documents = list;
    }
    let first = documents.first().ok_or(ImportError::Empty)?;
    match format.or_else(|| recognise::by_document(first)) {
        Some(Format::Iperf3) => iperf3::read(documents, notes),
        Some(Format::Flent) => flent::read(&documents, notes),
        Some(Format::Trex) => trex::read(&documents, notes),
        Some(Format::Csit) => csit::read(&documents, notes),
        _ => Err(ImportError::Unknown(recognise::keys(first))),
    }
}
