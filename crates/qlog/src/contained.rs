//! Reads a file that is one JSON object, without holding it: events go by one at a time.
//!
//! What tells how to read times may come behind the events, so a first pass over a trace keeps of
//! each event what matters; the order of keys in JSON means nothing.

use crate::event::{Body, Event, Header};
use crate::read::{Clock, ReadError, event_of, is_delta_by, trace_header};
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;
use std::io::Read;

/// The most traces of a file: what each says of itself is held.
const MOST_TRACES: usize = 1 << 16;

/// What was read so far.
struct State<'a> {
    take: &'a mut dyn FnMut(usize, Event),
    version: String,
    title: String,
    /// Of the traces that have a list of events.
    headers: Vec<Header>,
    /// Whether something in the list of traces has none: what stands for a trace that failed.
    has_other: bool,
}

/// The fault of a file without traces.
pub(crate) fn no_trace() -> ReadError {
    ReadError::NotQlog("it has no trace".to_owned())
}

/// Reads the file and gives each event to `take`, with the place of its trace.
pub(crate) fn read(
    input: impl Read,
    take: &mut dyn FnMut(usize, Event),
) -> Result<Vec<Header>, ReadError> {
    let mut state = State {
        take,
        version: String::new(),
        title: String::new(),
        headers: Vec::new(),
        has_other: false,
    };
    let mut deserializer = serde_json::Deserializer::from_reader(input);
    let outcome = File(&mut state).deserialize(&mut deserializer);
    outcome.map_err(|why| ReadError::Record {
        number: 1,
        what: format!("is no JSON of a qlog: {why}"),
    })?;
    if state.version.is_empty() {
        return Err(ReadError::NotQlog("its object has no version".to_owned()));
    }
    if state.headers.is_empty() && state.has_other {
        let what = "a trace has no `events`";
        return Err(ReadError::NotQlog(what.to_owned()));
    }
    if state.headers.is_empty() {
        return Err(no_trace());
    }
    for header in &mut state.headers {
        header.version.clone_from(&state.version);
        if header.title.is_empty() {
            header.title.clone_from(&state.title);
        }
    }
    Ok(state.headers)
}

/// The file's object.
struct File<'a, 'b>(&'a mut State<'b>);

impl<'de> DeserializeSeed<'de> for File<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for File<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object of a qlog")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "qlog_version" | "file_schema" => {
                    let value: Value = map.next_value()?;
                    value
                        .as_str()
                        .unwrap_or_default()
                        .clone_into(&mut self.0.version);
                }
                "title" => {
                    let value: Value = map.next_value()?;
                    value
                        .as_str()
                        .unwrap_or_default()
                        .clone_into(&mut self.0.title);
                }
                "traces" => map.next_value_seed(Traces(self.0))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The list of traces.
struct Traces<'a, 'b>(&'a mut State<'b>);

impl<'de> DeserializeSeed<'de> for Traces<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Traces<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of traces")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
        while all.next_element_seed(Trace(self.0))?.is_some() {
            if self.0.headers.len() > MOST_TRACES {
                return Err(A::Error::custom(format!("more than {MOST_TRACES} traces")));
            }
        }
        Ok(())
    }
}

/// A trace.
struct Trace<'a, 'b>(&'a mut State<'b>);

impl<'de> DeserializeSeed<'de> for Trace<'_, '_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Trace<'_, '_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a trace")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut about = Map::new();
        let mut fields = Vec::new();
        // Events that came before what says how to read them.
        let mut early: Vec<Event> = Vec::new();
        let mut clock = Clock::default();
        let mut has_events = false;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "events" => {
                    has_events = true;
                    let known = ["common_fields", "configuration"];
                    let is_told = known.iter().any(|key| about.contains_key(*key));
                    let header = is_told.then(|| {
                        let mut header = trace_header(&Value::Object(about.clone()));
                        header.is_delta |= is_delta_by(&fields);
                        header
                    });
                    let unit = header.as_ref().map_or(1.0, |header| header.rtt_unit_ms);
                    let at = self.0.headers.len();
                    let take = &mut *self.0.take;
                    let mut each = |mut event: Event| match &header {
                        Some(header) => {
                            clock.set(&mut event, header);
                            take(at, event);
                        }
                        None => early.push(event),
                    };
                    map.next_value_seed(Events {
                        fields: &fields,
                        unit,
                        take: &mut each,
                    })?;
                }
                "event_fields" => {
                    let value: Value = map.next_value()?;
                    let names = value.as_array().into_iter().flatten();
                    let names = names.map(|one| one.as_str().unwrap_or_default().to_lowercase());
                    fields = names.collect();
                }
                _ => {
                    let value = map.next_value()?;
                    about.insert(key, value);
                }
            }
        }
        let mut header = trace_header(&Value::Object(about));
        header.is_delta |= is_delta_by(&fields);
        for mut event in early {
            scale_rtts(&mut event, header.rtt_unit_ms);
            clock.set(&mut event, &header);
            (self.0.take)(self.0.headers.len(), event);
        }
        if has_events {
            self.0.headers.push(header);
        } else {
            self.0.has_other = true;
        }
        Ok(())
    }
}

fn scale_rtts(event: &mut Event, unit_ms: f64) {
    if let Body::Metrics(metrics) = &mut event.body {
        for rtt in [
            &mut metrics.min_rtt,
            &mut metrics.smoothed_rtt,
            &mut metrics.latest_rtt,
            &mut metrics.rtt_variance,
        ] {
            *rtt = rtt.map(|value| value * unit_ms);
        }
    }
}

/// The list of events.
struct Events<'a> {
    fields: &'a [String],
    unit: f64,
    take: &'a mut dyn FnMut(Event),
}

impl<'de> DeserializeSeed<'de> for Events<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Events<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of events")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
        while let Some(value) = all.next_element::<Value>()? {
            if let Some(event) = event_of(&value, self.fields, self.unit) {
                (self.take)(event);
            }
        }
        Ok(())
    }
}
