//! Reads the files of all stacks, one event at a time.
//!
//! A file begins with a record separator (JSON-SEQ), or with a JSON object: the whole file where it
//! has `traces`, else the header of lines of JSON (NDJSON).

use crate::contained;
use crate::event::{Body, Event, FIELDS, Header, Metrics, Packet, is_rtt};
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read};

/// The largest record that is read, bytes.
pub const MOST_BYTES: usize = 16 << 20;

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It cannot be read at all.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// It is no qlog.
    #[error("is no qlog: {0}; a qlog begins with `qlog_version` or `file_schema`, and has a trace")]
    NotQlog(String),
    /// A record is wrong.
    #[error("record {number}: {what}")]
    Record {
        /// Which one, the header being number 1.
        number: u64,
        /// What is wrong.
        what: String,
    },
}

/// Reads a file and gives each event of its first trace that has any to `take`. Times are
/// milliseconds from the file's own origin. Returns the header of that trace; where none has an
/// event, that of the first.
///
/// # Errors
/// Where the file is none of the formats, or is cut off within a record.
pub fn read(input: impl Read, take: &mut dyn FnMut(Event)) -> Result<Header, ReadError> {
    let mut first = None;
    let headers = read_traces(input, &mut |trace, event| {
        if *first.get_or_insert(trace) == trace {
            take(event);
        }
    })?;
    let header = headers.into_iter().nth(first.unwrap_or(0));
    header.ok_or_else(contained::no_trace)
}

/// Reads a file and gives each event to `take`, with the place of its trace in the file, from 0 on.
/// Returns the headers of all traces. Times are as those of [`read`]; only a file that is one JSON
/// object can have several traces.
///
/// # Errors
/// As [`read`] has.
pub fn read_traces(
    input: impl Read,
    take: &mut dyn FnMut(usize, Event),
) -> Result<Vec<Header>, ReadError> {
    let mut input = BufReader::new(input);
    skip_space(&mut input)?;
    match input.fill_buf()?.first() {
        Some(0x1e) => {
            sequence(&mut input, 0x1e, &mut |event| take(0, event)).map(|header| vec![header])
        }
        Some(b'{') => object(&mut input, take),
        Some(_) => Err(ReadError::NotQlog(
            "it begins with neither `{` nor a record separator".to_owned(),
        )),
        None => Err(ReadError::NotQlog("it is empty".to_owned())),
    }
}

fn skip_space(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let space = buffer
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
        let (is_over, is_all) = (buffer.is_empty(), space == buffer.len());
        input.consume(space);
        if is_over || !is_all {
            return Ok(());
        }
    }
}

/// A file that begins with an object.
fn object(
    input: &mut impl BufRead,
    take: &mut dyn FnMut(usize, Event),
) -> Result<Vec<Header>, ReadError> {
    // The header of lines is a line; a whole file in one line has its traces in it.
    let first = record(input, b'\n', 1)?.unwrap_or_default();
    let whole: Result<Value, _> = serde_json::from_slice(&first);
    match whole {
        Ok(value) if value.get("traces").is_none() => {
            let header = header_of(&value)?;
            let header = events(input, b'\n', header, &mut |event| take(0, event))?;
            Ok(vec![header])
        }
        // A line that is no whole object belongs to one over several.
        _ => contained::read(first.chain(input), take),
    }
}

fn sequence(
    input: &mut impl BufRead,
    separator: u8,
    take: &mut dyn FnMut(Event),
) -> Result<Header, ReadError> {
    let first = loop {
        match record(input, separator, 1)? {
            None => return Err(ReadError::NotQlog("it has no record".to_owned())),
            Some(text) if text.iter().all(u8::is_ascii_whitespace) => {}
            Some(text) => break text,
        }
    };
    let value = serde_json::from_slice(&first).map_err(|why| wrong(1, &why))?;
    let header = header_of(&value)?;
    events(input, separator, header, take)
}

fn events(
    input: &mut impl BufRead,
    separator: u8,
    header: Header,
    take: &mut dyn FnMut(Event),
) -> Result<Header, ReadError> {
    let mut clock = Clock::default();
    let mut number = 1;
    while let Some(text) = record(input, separator, number + 1)? {
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        number += 1;
        let value: Value = match serde_json::from_slice(&text) {
            Ok(value) => value,
            // A process that was killed leaves its last record unfinished.
            Err(why) if why.is_eof() && is_at_end(input)? => break,
            Err(why) => return Err(wrong(number, &why)),
        };
        if let Some(mut event) = event_of(&value, &[], header.rtt_unit_ms) {
            clock.set(&mut event, &header);
            take(event);
        }
    }
    Ok(header)
}

fn is_at_end(input: &mut impl BufRead) -> io::Result<bool> {
    Ok(input.fill_buf()?.is_empty())
}

fn wrong(number: u64, why: &serde_json::Error) -> ReadError {
    ReadError::Record {
        number,
        what: format!("is no JSON: {why}"),
    }
}

/// The bytes up to the next separator, which is left out; nothing at the end.
fn record(
    input: &mut impl BufRead,
    separator: u8,
    number: u64,
) -> Result<Option<Vec<u8>>, ReadError> {
    let mut text = Vec::new();
    let most = MOST_BYTES as u64 + 1;
    let read = input.by_ref().take(most).read_until(separator, &mut text)?;
    if read == 0 {
        return Ok(None);
    }
    if text.last() == Some(&separator) {
        text.pop();
    } else if read > MOST_BYTES {
        return Err(ReadError::Record {
            number,
            what: format!("has more than {MOST_BYTES} bytes, the most that is read"),
        });
    }
    Ok(Some(text))
}

/// Turns times of a file into milliseconds.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    before: f64,
}

impl Clock {
    pub(crate) fn set(&mut self, event: &mut Event, header: &Header) {
        event.time_ms *= header.unit_ms;
        if header.is_delta {
            event.time_ms += self.before;
        }
        self.before = event.time_ms;
    }
}

/// The header of a file, or of a trace in it.
pub(crate) fn header_of(value: &Value) -> Result<Header, ReadError> {
    let text = |value: &Value, key: &str| {
        value
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let mut version = text(value, "qlog_version");
    if version.is_empty() {
        version = text(value, "file_schema");
    }
    if version.is_empty() {
        return Err(ReadError::NotQlog(
            "its first object has no version".to_owned(),
        ));
    }
    let nothing = Value::Null;
    let trace = value.get("trace").unwrap_or(&nothing);
    let mut header = trace_header(trace);
    header.version = version;
    if header.title.is_empty() {
        header.title = text(value, "title");
    }
    Ok(header)
}

/// What a trace says of its times and of itself.
pub(crate) fn trace_header(trace: &Value) -> Header {
    let at = |path: &str| trace.pointer(path).and_then(Value::as_str);
    let unit = at("/configuration/time_units").or_else(|| at("/common_fields/time_units"));
    let unit_ms = match unit {
        Some("us") => 1e-3,
        Some("s") => 1e3,
        _ => 1.0,
    };
    let format = at("/common_fields/time_format").unwrap_or_default();
    Header {
        version: String::new(),
        title: at("/title").unwrap_or_default().to_owned(),
        vantage_point: at("/vantage_point/type").unwrap_or_default().to_owned(),
        by: at("/vantage_point/name").unwrap_or_default().to_owned(),
        unit_ms,
        // Later drafts say milliseconds whatever the unit of times is.
        rtt_unit_ms: unit_ms,
        is_delta: matches!(format, "delta" | "relative_to_previous_event"),
    }
}

/// The column with the times of events that are lists, of those that old drafts have.
fn time_column(fields: &[String]) -> Option<&str> {
    const TIMES: [&str; 4] = ["relative_time", "time", "delta_time", "reference_time"];
    let mut names = fields.iter().map(String::as_str);
    names.find(|name| TIMES.contains(name))
}

/// Whether the times of events that are lists count from the event before (draft-01).
pub(crate) fn is_delta_by(fields: &[String]) -> bool {
    time_column(fields) == Some("delta_time")
}

/// The event of `value`, which is an object, or by old drafts a list of the columns `fields`.
pub(crate) fn event_of(value: &Value, fields: &[String], rtt_unit_ms: f64) -> Option<Event> {
    let column = |names: &[&str]| {
        let at = fields
            .iter()
            .position(|field| names.contains(&field.as_str()))?;
        value.get(at)
    };
    let (time, name, data) = if value.is_array() {
        let time = column(&[time_column(fields)?])?;
        let name = column(&["event", "event_type", "type", "name"])?;
        (time, name, column(&["data"]))
    } else {
        let name = value.get("name").or_else(|| value.get("type"))?;
        (value.get("time")?, name, value.get("data"))
    };
    let time_ms = number(time)?;
    let nothing = Value::Null;
    let data = data.unwrap_or(&nothing);
    let name = name.as_str()?;
    let short = name.rsplit(':').next().unwrap_or(name);
    let body = match short.strip_prefix("recovery_").unwrap_or(short) {
        "metrics_updated" | "metric_update" => Body::Metrics(metrics_of(data, rtt_unit_ms)),
        "congestion_state_updated" => {
            let text = |key: &str| data.get(key).and_then(Value::as_str).map(str::to_owned);
            Body::State {
                old: text("old"),
                new: text("new")?,
            }
        }
        "packet_sent" => Body::Sent(packet_of(data)),
        "packet_received" => Body::Received(packet_of(data)),
        "packet_lost" => Body::Lost(packet_of(data)),
        _ => Body::Other(name.to_owned()),
    };
    Some(Event { time_ms, body })
}

/// A number, also one that stands as a text.
fn number(value: &Value) -> Option<f64> {
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
    number.filter(|number| number.is_finite())
}

fn metrics_of(data: &Value, rtt_unit_ms: f64) -> Metrics {
    let mut metrics = Metrics::default();
    for (name, field) in FIELDS {
        if let Some(value) = data.get(name).and_then(number) {
            let scale = if is_rtt(name) { rtt_unit_ms } else { 1.0 };
            *field(&mut metrics) = Some(value * scale);
        }
    }
    metrics
}

fn packet_of(data: &Value) -> Packet {
    let whole = |value: Option<&Value>| value.and_then(number).map(|number| number as u64);
    let length = data.pointer("/raw/length");
    let length = length.or_else(|| data.pointer("/header/packet_size"));
    let mut packet = Packet {
        number: whole(
            data.pointer("/header/packet_number")
                .or_else(|| data.get("packet_number")),
        ),
        length: whole(length.or_else(|| data.get("packet_size"))),
        acked: Vec::new(),
    };
    let frames = data.get("frames").and_then(Value::as_array);
    let ranges = frames.into_iter().flatten().filter_map(|frame| {
        let is_ack = frame.get("frame_type").and_then(Value::as_str) == Some("ack");
        frame.get("acked_ranges").filter(|_| is_ack)?.as_array()
    });
    for range in ranges.flatten() {
        let from = whole(range.get(0));
        let to = whole(range.get(1)).or(from);
        packet.acked.extend(from.zip(to));
    }
    packet
}
