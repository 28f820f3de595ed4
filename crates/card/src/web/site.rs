//! The site: the page, the state and the edits, without a socket.

use super::edit::{self, Edit};
use super::events::Events;
use super::gate::{LIMITS, check_edit};
use super::history::History;
use super::refusal::Refusal;
use super::response::{self, JSON};
use super::software;
use super::state::Stages;
use crate::dataplane::RegisterDataplane;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use trammel_control::Control;
use trammel_core::{Span, Time};
use trammel_local_http::gate::{Gate, Names, Use};
use trammel_local_http::request::{LONGEST_HEAD, Request};
use trammel_local_http::response::Response;
use trammel_netfpga::device::Design;
use trammel_netfpga::registers::Registers;

/// How long a state that was read is given to all who ask: a flood of questions costs one reading.
const FRESH: Span = Span::from_ms(100);
/// Files of the page: path, media type, text.
const FILES: [(&str, &str, &str); 11] = [
    (
        "/",
        "text/html; charset=utf-8",
        include_str!("page/index.html"),
    ),
    (
        "/style.css",
        "text/css; charset=utf-8",
        include_str!("page/style.css"),
    ),
    ("/page.js", SCRIPT, include_str!("page/page.js")),
    ("/chart.js", SCRIPT, include_str!("page/chart.js")),
    ("/dom.js", SCRIPT, include_str!("page/dom.js")),
    ("/diagram.js", SCRIPT, include_str!("page/diagram.js")),
    ("/tables.js", SCRIPT, include_str!("page/tables.js")),
    ("/occupancy.js", SCRIPT, include_str!("page/occupancy.js")),
    ("/events.js", SCRIPT, include_str!("page/events.js")),
    ("/topology.js", SCRIPT, include_str!("page/topology.js")),
    (
        "/icon.svg",
        "image/svg+xml; charset=utf-8",
        include_str!("page/icon.svg"),
    ),
];
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// What the site shows and edits.
#[derive(Debug)]
pub struct Card<'a, R> {
    /// The registers of the card.
    pub registers: &'a mut R,
    /// The interfaces that are its ports, from 0 on.
    pub ports: &'a [String],
    /// The control software, if it runs.
    pub control: Option<&'a mut Control>,
    /// Whether routes, neighbours and addresses of the kernel overwrite the tables.
    pub has_mirror: bool,
}

/// The page of a card, its state and its edits: bytes of requests in, bytes of answers out.
///
/// ```
/// use trammel_card::web::{Card, Site};
/// use trammel_core::Time;
/// use trammel_netfpga::{Device, design};
///
/// let mut registers = Device::new(design("reference-router")?);
/// let mut site = Site::new(registers.design(), ([127, 0, 0, 1], 8080).into(), "token");
/// let mut card = Card { registers: &mut registers, ports: &[], control: None, has_mirror: false };
/// let request = b"GET /api/state HTTP/1.1\r\nHost: localhost:8080\r\n\r\n";
/// let answer = site.answer(Time::ZERO, request, &mut card).expect("the request is whole");
/// assert!(answer.starts_with(b"HTTP/1.1 200 OK"));
/// # Ok::<(), trammel_netfpga::Error>(())
/// ```
#[derive(Debug)]
pub struct Site {
    design: &'static Design,
    stages: Stages,
    gate: Gate,
    token: String,
    history: History,
    events: Option<Events>,
    latest: Option<(Time, String)>,
    requests: u64,
    /// How many, by the reason's key.
    refused: BTreeMap<&'static str, u64>,
}

impl Site {
    /// Bytes of a request, at most: one that has as many is answered.
    pub const LONGEST_REQUEST: usize = LONGEST_HEAD + LIMITS.body;

    /// The site of a card with `design` that is offered at `address`; edits need `token`. A local
    /// address is asked for by local names only, any other by any IP address.
    pub fn new(design: &'static Design, address: SocketAddr, token: &str) -> Site {
        let stages = Stages::new(design);
        Site {
            design,
            events: Events::new(&stages.map),
            stages,
            gate: Gate::new(address, Names::Addresses),
            token: token.to_owned(),
            history: History::default(),
            latest: None,
            requests: 0,
            refused: Refusal::all().map(|why| (why.key(), 0)).collect(),
        }
    }

    /// The answer to the request at the beginning of `input`; none while it is not whole. After it
    /// the connection ends.
    pub fn answer<R: Registers>(
        &mut self,
        now: Time,
        input: &[u8],
        card: &mut Card<R>,
    ) -> Option<Vec<u8>> {
        let answered = match Request::parse(input, LIMITS) {
            Ok(None) => return None,
            Ok(Some(request)) => self.route(now, &request, card),
            Err(refusal) => Err((refusal.into(), None)),
        };
        self.requests += 1;
        let answer = answered.unwrap_or_else(|(refusal, what)| {
            *self.refused.entry(refusal.key()).or_default() += 1;
            response::refused(refusal, what.as_deref())
        });
        Some(answer.bytes(input))
    }

    /// Notes how full the queues are, while somebody looks.
    pub fn sample<R: Registers>(&mut self, now: Time, registers: &mut R) {
        if self.history.is_due(now) {
            self.history.add(now, self.stages.occupancy(registers));
        }
    }

    /// Notes the events in a frame that the design itself has sent.
    pub fn record(&mut self, frame: &[u8]) {
        if let Some(events) = &mut self.events {
            events.take(frame);
        }
    }

    fn route<R: Registers>(
        &mut self,
        now: Time,
        request: &Request,
        card: &mut Card<R>,
    ) -> Result<Response, (Refusal, Option<String>)> {
        let plain = |refusal| (refusal, None);
        let usage = if request.path.starts_with("/api/") {
            Use::Data
        } else {
            Use::Page
        };
        let checked = self.gate.check(request, usage);
        checked.map_err(|why| plain(why.into()))?;
        let file = FILES.iter().find(|(path, _, _)| *path == request.path);
        let edit = edit::kind(request.path);
        let answer = match (request.method, file, edit) {
            ("GET" | "HEAD", Some((_, media, text)), _) => response::ok(media, text),
            ("GET" | "HEAD", None, None) if request.path == "/api/state" => {
                response::ok(JSON, self.state(now, card))
            }
            ("POST", None, Some(read)) => {
                check_edit(request, &self.token).map_err(plain)?;
                let why = |what| (Refusal::Body, Some(what));
                let body: Value = serde_json::from_slice(request.body)
                    .map_err(|fault| why(format!("the body is no JSON: {fault}")))?;
                let edit: Edit = read(&body, &self.stages.map).map_err(why)?;
                edit.apply(&self.stages.map, card.registers);
                self.latest = None;
                response::ok(JSON, "{\"ok\":true}")
            }
            (_, None, None) if request.path != "/api/state" => return Err(plain(Refusal::Path)),
            _ => return Err(plain(Refusal::Method)),
        };
        Ok(answer)
    }

    /// The state, read anew if the last one is too old.
    fn state<R: Registers>(&mut self, now: Time, card: &mut Card<R>) -> &str {
        self.history.look(now);
        let is_fresh = |at: Time| now.saturating_since(at) < FRESH;
        let latest = self.latest.take().filter(|(at, _)| is_fresh(*at));
        let latest = latest.unwrap_or_else(|| (now, self.read(now, card)));
        &self.latest.insert(latest).1
    }

    fn read<R: Registers>(&mut self, now: Time, card: &mut Card<R>) -> String {
        let mut state = self
            .stages
            .read(now, self.design, card.ports, card.registers);
        let owner = match (&card.control, card.has_mirror) {
            (Some(_), _) => Value::from("control"),
            (None, true) => Value::from("mirror"),
            (None, false) => Value::Null,
        };
        state.insert("tables_follow".to_owned(), owner);
        let control = card.control.as_mut().map(|control| {
            software::read(control, now, &mut RegisterDataplane::new(card.registers))
        });
        state.insert("control".to_owned(), control.into());
        let events = self.events.as_ref();
        let events = events.map(|events| events.json(card.registers));
        state.insert("events".to_owned(), events.into());
        state.insert("occupancy".to_owned(), self.history.json());
        let web = json!({ "requests": self.requests, "refused": self.refused });
        state.insert("web".to_owned(), web);
        Value::Object(state).to_string()
    }
}

#[cfg(test)]
mod tests;
