//! What a file is, by its content.

use crate::format::Format;
use crate::{csit, flent, flow_monitor, iperf3, mahimahi, trending, trex};
use serde_json::Value;

/// What the beginning of a file tells.
pub(crate) enum Guess {
    Known(Format),
    /// JSON, whose keys will tell.
    Json,
    Nothing,
}

/// The magic numbers of pcap in both orders of bytes, and of pcapng.
const CAPTURES: [[u8; 4]; 7] = [
    [0xA1, 0xB2, 0xC3, 0xD4],
    [0xD4, 0xC3, 0xB2, 0xA1],
    [0xA1, 0xB2, 0x3C, 0x4D],
    [0x4D, 0x3C, 0xB2, 0xA1],
    [0xA1, 0xB2, 0xCD, 0x34],
    [0x34, 0xCD, 0xB2, 0xA1],
    [0x0A, 0x0D, 0x0D, 0x0A],
];

/// What begins a record of JSON-SEQ (RFC 7464).
const RECORD: u8 = 0x1E;

/// The format of a file that begins with `front`.
pub(crate) fn by_front(front: &[u8]) -> Guess {
    if CAPTURES.iter().any(|magic| front.starts_with(magic)) {
        return Guess::Known(Format::Capture);
    }
    let text = String::from_utf8_lossy(front);
    let known = match front.trim_ascii_start().first() {
        Some(&RECORD) => Some(Format::Qlog),
        Some(b'{') if is_qlog(&text) => Some(Format::Qlog),
        Some(b'{' | b'[') => return Guess::Json,
        Some(b'<') if flow_monitor::is(&text) => Some(Format::FlowMonitor),
        _ if trending::is(&text) => Some(Format::Csit),
        _ if mahimahi::is_log(&text) => Some(Format::MahimahiLog),
        _ if mahimahi::is_trace(&text) => Some(Format::MahimahiTrace),
        _ => None,
    };
    known.map_or(Guess::Nothing, Guess::Known)
}

/// Whether JSON is a qlog, whose first keys say so.
fn is_qlog(text: &str) -> bool {
    let mut front: &str = text;
    if let Some((at, _)) = text.char_indices().nth(4096) {
        front = &text[..at];
    }
    front.contains("\"qlog_version\"") || front.contains("\"file_schema\"")
}

/// The format of a file whose first document is `document`.
pub(crate) fn by_document(document: &Value) -> Option<Format> {
    type Is = fn(&Value) -> bool;
    let formats: [(Is, Format); 4] = [
        (iperf3::is, Format::Iperf3),
        (flent::is, Format::Flent),
        (csit::is, Format::Csit),
        (trex::is, Format::Trex),
    ];
    let found = formats.iter().find(|(is, _)| is(document));
    found.map(|(_, format)| *format)
}

/// What a file begins with, for a message.
pub(crate) fn beginning(front: &[u8]) -> String {
    let first = &front[..front.len().min(16)];
    format!("it begins with `{}`", first.escape_ascii())
}

/// The keys of a document, for a message.
pub(crate) fn keys(document: &Value) -> String {
    let object = document.as_object();
    let keys = object.into_iter().flatten().take(6);
    let keys: Vec<String> = keys
        .map(|(key, _)| {
            format!(
                "`{}`",
                key.chars().take(32).collect::<String>().escape_debug()
            )
        })
        .collect();
    if keys.is_empty() {
        return "JSON without keys".to_owned();
    }
    format!("JSON with the keys {}", keys.join(", "))
}
