//! Lets external programs read and write handlers, by a TCP or UNIX socket.
//!
//! # What it does
//! Speaks Click's ControlSocket protocol, version 1.3. It listens on this machine's own address only, unless
//! `LOCALHOST` is false; the socket of a file is for its owner alone. A port `7777+` is the first free one from 7777 on; the handler `port` tells which.
//! Connections outlive the replacement of the configuration.
//!
//! Every user of the machine can connect to a TCP port. With `KEY` a connection must prove first that it holds the key:
//! `AUTH` is answered with a nonce, and `AUTH PROOF` proves, where the proof is the HMAC-SHA-256 of the nonce's text under the
//! key, in hexadecimal. A request of a browser ends the connection. Files that a request names, as `write_file` does, lie
//! in the folder that the command line gives with `--control-folder`; without it they are refused.
//!
//! # Example
//! ```click
//! // `echo read c.count | nc 127.0.0.1 7777` asks, and nothing may be written.
//! FromDevice(eth0) -> c :: Counter -> Discard; ControlSocket(TCP, 7777, READONLY true)
//! ```

use crate::args::kinds::INT;
use crate::args::names::TCP;
use crate::args::{Args, Kind, flag, keyword, mandatory};
use crate::control::protocol::Call;
use crate::control::protocol::{Request, Session};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::element::cast;
use crate::engine::handlers::{HandlerRef, NotFound};
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use crate::host::{Key, Socket, SocketRequest, reason};
use std::io::ErrorKind;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ControlSocket",
    "lets external programs read and write handlers",
    || Box::<ControlSocket>::default(),
)
.ports("0/0", "a/a")
.params(&[
    mandatory("TYPE", Kind::Text, "`TCP`, `UNIX` or `SOCKET`"),
    mandatory(
        "PORT",
        Kind::Text,
        "the port, `N+` for the first free one from N on; the file; the descriptor",
    ),
    flag("READONLY", "false", "whether nothing may be written"),
    keyword(
        "PROXY",
        Kind::Text,
        "",
        "an element that is asked in place of those named",
    ),
    flag("VERBOSE", "false", "whether it tells of connections"),
    keyword(
        "RETRIES",
        INT,
        "0",
        "how often it tries again, each second, where it cannot listen",
    ),
    flag("RETRY_WARNINGS", "true", "whether it tells of each try"),
    flag(
        "LOCALHOST",
        "true",
        "whether it listens on this machine's own address only",
    ),
    keyword(
        "KEY",
        Kind::Filename,
        "",
        "a file with the key that a connection must prove to hold",
    ),
]);

/// The most connections at a time; more are closed at once.
const MOST_CONNECTIONS: usize = 64;
/// Replies that wait to be fetched; nothing more is read from who leaves more than that.
const MOST_OUTPUT: usize = 1 << 22;
/// Ports that are tried after the first.
const PORTS_TRIED: u16 = 11;
/// The timer that tries again to listen, and the one that goes on with what came before a replacement.
const RETRY: u32 = 0;
const GO_ON: u32 = 1;
/// The timer after which connections are accepted again.
const REST: u32 = 2;
/// How long nothing is accepted where the system has no more descriptors.
const RESTING: Timestamp = Timestamp(100_000_000);
/// Who has been silent for so long makes room for another where there is none.
const SILENCE: Timestamp = Timestamp(1_000_000_000);

#[derive(Debug)]
struct Connection {
    socket: Box<dyn Socket>,
    session: Session,
    /// The other end will send no more.
    is_ended: bool,
    writes: bool,
    /// When it last sent something.
    heard: Timestamp,
}

#[derive(Debug, Default)]
struct ControlSocket {
    kind: String,
    place: String,
    read_only: bool,
    proxy: String,
    verbose: bool,
    retries: i64,
    warns: bool,
    local: bool,
    key_file: String,
    key: Option<Box<dyn Key>>,
    listener: Option<Box<dyn Socket>>,
    connections: Vec<Connection>,
    timer: Option<TimerId>,
    go_on: Option<TimerId>,
    rest: Option<TimerId>,
}

impl ControlSocket {
    fn open(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let mut request = SocketRequest {
            kind: self.kind.to_ascii_lowercase(),
            local: self.place.clone(),
            remote: String::new(),
            listen: true,
            options: vec![("MODE".to_owned(), "0600".to_owned())],
        };
        if self.kind == "SOCKET" {
            (request.kind, request.listen) = ("descriptor".to_owned(), false);
            let socket = ctx.host().socket(&request).map_err(|e| reason(&e))?;
            self.connect(ctx, socket);
            return Ok(());
        }
        let (first, tries) = match self.place.strip_suffix('+') {
            Some(first) => (first, PORTS_TRIED),
            None => (self.place.as_str(), 1),
        };
        let first = first.to_owned();
        let mut failed = String::new();
        for offset in 0..tries {
            if self.kind == "TCP" {
                let port = first.parse::<u16>().unwrap_or(0).saturating_add(offset);
                let address = if self.local { "127.0.0.1" } else { "0.0.0.0" };
                request.local = format!("{address}:{port}");
            }
            match ctx.open_socket(&request) {
                Ok(socket) => {
                    ctx.watch(socket.descriptor(), false);
                    self.listener = Some(socket);
                    return Ok(());
                }
                Err(e) => {
                    failed = format!("bind: {}", reason(&e));
                    if e.kind() != ErrorKind::AddrInUse {
                        break;
                    }
                }
            }
        }
        Err(failed)
    }

    fn connect(&mut self, ctx: &mut Ctx, socket: Box<dyn Socket>) {
        let now = ctx.now();
        if self.connections.len() >= MOST_CONNECTIONS && !self.make_room(ctx, now) {
            return;
        }
        if self.verbose {
            Self::tell(ctx, &format!("opened connection {}", socket.descriptor()));
        }
        ctx.watch(socket.descriptor(), false);
        self.connections.push(Connection {
            socket,
            session: Session::new(),
            is_ended: false,
            writes: false,
            heard: now,
        });
        self.serve(ctx, self.connections.len() - 1);
    }

    /// Closes the connection that has been silent for longest; whether there is one that has been for long.
    fn make_room(&mut self, ctx: &mut Ctx, now: Timestamp) -> bool {
        let all = self.connections.iter().enumerate();
        let Some((at, longest)) = all.min_by_key(|(_, one)| one.heard) else {
            return false;
        };
        if now - longest.heard < SILENCE {
            return false;
        }
        let one = self.connections.remove(at);
        ctx.unwatch(one.socket.descriptor(), false);
        ctx.unwatch(one.socket.descriptor(), true);
        true
    }

    fn tell(ctx: &mut Ctx, text: &str) {
        let text = format!("{}: {text}\n", ctx.declaration(ctx.me()));
        ctx.host().say(&text);
    }

    /// Reads, answers and writes what can be.
    fn serve(&mut self, ctx: &mut Ctx, at: usize) {
        let mut bytes = [0; 4096];
        while !ctx.is_replaced() {
            let one = &mut self.connections[at];
            if one.session.output.len() > MOST_OUTPUT || one.is_ended || one.session.closing {
                break;
            }
            match one.socket.read(&mut bytes) {
                Ok(0) => one.is_ended = true,
                Ok(count) => {
                    one.session.take(&bytes[..count]);
                    one.heard = ctx.now();
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(_) => (one.is_ended, one.session.closing) = (true, true),
            }
            self.answer(ctx, at);
        }
        self.answer(ctx, at);
        let one = &mut self.connections[at];
        let mut is_broken = false;
        while !one.session.output.is_empty() && !is_broken {
            match one.socket.write(&one.session.output) {
                Ok(count @ 1..) => drop(one.session.output.drain(..count)),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                _ => is_broken = true,
            }
        }
        let (descriptor, waits) = (one.socket.descriptor(), !one.session.output.is_empty());
        if waits != one.writes {
            one.writes = waits;
            if waits {
                ctx.watch(descriptor, true);
            } else {
                ctx.unwatch(descriptor, true);
            }
        }
        let is_over = !waits && (one.is_ended || one.session.closing) && !ctx.is_replaced();
        if is_over || is_broken {
            ctx.unwatch(descriptor, false);
            ctx.unwatch(descriptor, true);
            self.connections.remove(at);
            if self.verbose {
                Self::tell(ctx, &format!("closed connection {descriptor}"));
            }
        } else if one.is_ended {
            // The end of the input is always ready; only the output is waited for.
            ctx.unwatch(descriptor, false);
        }
    }

    /// Answers what has come, up to what replaces the configuration: the rest is for the next one.
    fn answer(&mut self, ctx: &mut Ctx, at: usize) {
        while !ctx.is_replaced() {
            let one = &mut self.connections[at];
            let mut session = std::mem::take(&mut one.session);
            let request = session.next(one.is_ended);
            let is_last = request.is_none();
            if let Some(request) = request {
                self.reply(ctx, request, &mut session);
            }
            self.connections[at].session = session;
            if is_last {
                break;
            }
        }
    }

    fn reply(&mut self, ctx: &mut Ctx, request: Request, session: &mut Session) {
        if self.key.is_some() && !session.is_proven && !matches!(request, Request::Auth(_)) {
            session.say(
                530,
                "Permission denied: prove the key with AUTH first",
                false,
            );
            return;
        }
        match request {
            Request::Auth(proof) => self.authenticate(proof, session),
            Request::Read(name, parameter) => {
                let Some(of) = self.find(ctx, &name, session) else {
                    return;
                };
                if !of.handler.read {
                    session.say(530, &format!("Handler '{name}' write-only"), false);
                    return;
                }
                let result = if parameter.is_empty() || of.handler.read_param {
                    ctx.within_reach(self, |ctx| ctx.read_handler(&of, &parameter))
                } else {
                    Err(format!("read handler '{name}' does not take parameters"))
                };
                let remarks = ctx.take_remarks().join("\n");
                match result {
                    Ok(data) if remarks.is_empty() => {
                        session.say(200, &format!("Read handler '{name}' OK"), false);
                        session.give(data.as_bytes());
                    }
                    result => {
                        let text = format!("{remarks}\n{}", result.err().unwrap_or_default());
                        let lines = said(&text);
                        session.say_all(590, &format!("Read handler '{name}' error"), &lines);
                    }
                }
            }
            Request::Write(name, value) => {
                let Some(of) = self.find(ctx, &name, session) else {
                    return;
                };
                if !of.handler.write {
                    session.say(530, &format!("Handler '{name}' read-only"), false);
                    return;
                }
                if self.read_only {
                    session.say(530, &format!("Permission denied for '{name}'"), false);
                    return;
                }
                let result = ctx.within_reach(self, |ctx| ctx.write_handler(&of, &value));
                let remarks = ctx.take_remarks().join("\n");
                if result.is_ok() && remarks.is_empty() {
                    session.say(200, &format!("Write handler '{name}' OK"), false);
                } else {
                    let text = format!("{remarks}\n{}", result.err().unwrap_or_default());
                    let lines = said(&text);
                    session.say_all(520, &format!("Write handler '{name}' error"), &lines);
                }
            }
            Request::Check(name, to_write) => {
                let Some(of) = self.find(ctx, &name, session) else {
                    return;
                };
                let (kind, able) = if to_write {
                    ("Write", of.handler.write)
                } else {
                    ("Read", of.handler.read)
                };
                if of.handler.private || !able {
                    let able = if to_write { "writable" } else { "readable" };
                    session.say(511, &format!("Handler '{name}' not {able}"), false);
                } else if to_write && self.read_only {
                    session.say(530, &format!("Permission denied for '{name}'"), false);
                } else {
                    session.say(200, &format!("{kind} handler '{name}' OK"), false);
                }
            }
            Request::Llrpc(name, data) => self.call_by_number(ctx, &name, &data, session),
        }
    }

    /// Gives a nonce, or looks at the proof that was made of it.
    fn authenticate(&mut self, proof: Option<String>, session: &mut Session) {
        let Some(key) = &self.key else {
            session.say(200, "No key is needed", false);
            return;
        };
        match (proof, session.nonce.take()) {
            (None, _) => match key.nonce() {
                Ok(nonce) => {
                    session.say(200, &nonce, false);
                    session.nonce = Some(nonce);
                }
                Err(why) => session.say(590, &format!("no nonce: {}", reason(&why)), false),
            },
            (Some(proof), Some(nonce)) if key.is_proven(&nonce, &proof) => {
                session.is_proven = true;
                session.say(200, "Key proven", false);
            }
            _ => {
                session.say(530, "Permission denied: this proves no key", false);
                session.closing = true;
            }
        }
    }

    /// Does `element#hexadecimal`, where the element takes such calls.
    fn call_by_number(&mut self, ctx: &mut Ctx, name: &str, data: &[u8], session: &mut Session) {
        let number = name.split_once('#');
        let number =
            number.and_then(|(element, n)| Some((element, u32::from_str_radix(n, 16).ok()?)));
        let Some((element, number)) = number else {
            session.say(500, &format!("Bad LLRPC syntax '{name}'"), false);
            return;
        };
        let Some(element_id) = ctx.find(element, None) else {
            session.say(510, &format!("No element named '{element}'"), false);
            return;
        };
        let call = Call::of(number);
        if !call.is_flat || (self.read_only && call.takes_bytes > 0) {
            session.say(501, &format!("Cannot call LLRPC '{name}' remotely"), false);
            return;
        }
        if data.len() != call.takes_bytes {
            let text = format!("LLRPC '{name}' takes {} bytes", call.takes_bytes);
            session.say(500, &text, false);
            return;
        }
        match ctx.with(element_id, |one, ctx| one.call_by_number(ctx, number, data)) {
            Some(Ok(answer)) => {
                session.say(200, &format!("LLRPC '{name}' OK"), false);
                session.give(&answer);
            }
            Some(Err(why)) => session.say(522, &format!("LLRPC '{name}' error: {why}"), false),
            None => session.say(
                522,
                &format!("LLRPC '{name}' error: element is busy"),
                false,
            ),
        }
    }

    fn find(&mut self, ctx: &mut Ctx, name: &str, session: &mut Session) -> Option<HandlerRef> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let full = match name.split_once('.') {
            _ if !self.proxy.is_empty() => format!("{}.{name}", self.proxy),
            Some((number, _)) if is_number(number) => format!("#{name}"),
            _ => name.to_owned(),
        };
        match ctx.within_reach(self, |ctx| ctx.find_handler(&full, None)) {
            // A private one is as if it were not.
            Ok(of) if !of.handler.private => Some(HandlerRef {
                is_outside: true,
                ..of
            }),
            Err(NotFound::Element(element)) => {
                session.say(510, &format!("No element named '{element}'"), false);
                None
            }
            Ok(_) | Err(NotFound::Handler(_)) => {
                session.say(511, &format!("No handler named '{name}'"), false);
                None
            }
        }
    }
}

fn said(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.is_empty()).collect()
}

impl Element for ControlSocket {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.kind = args.text("TYPE").to_ascii_uppercase();
        let place = args.text("PORT");
        self.place = match self.kind.as_str() {
            "TCP" => {
                let number = crate::args::names::parse_port(place, TCP, &setup.names());
                let from = place.strip_suffix('+').and_then(|p| p.parse::<u16>().ok());
                match (number, from) {
                    (Ok(port), _) => port.to_string(),
                    (_, Some(port @ 1..)) => format!("{port}+"),
                    _ => return Err(Diagnostics::of("PORT requires TCP port")),
                }
            }
            // The system's addresses of files have so many bytes.
            "UNIX" if place.len() >= 108 => return Err(Diagnostics::of("filename too long")),
            "UNIX" => place.to_owned(),
            "SOCKET" if place.parse::<i32>().is_ok() => place.to_owned(),
            "SOCKET" => return Err(Diagnostics::of("FD: invalid number")),
            _ => {
                let text = format!("unknown socket type '{}'", self.kind);
                return Err(Diagnostics::of(text));
            }
        };
        self.read_only = args.bool("READONLY");
        args.text("PROXY").clone_into(&mut self.proxy);
        self.verbose = args.bool("VERBOSE");
        self.retries = args.int("RETRIES");
        self.warns = args.bool("RETRY_WARNINGS");
        self.local = args.bool("LOCALHOST");
        args.text("KEY").clone_into(&mut self.key_file);
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.timer = Some(ctx.new_timer(RETRY));
        self.go_on = Some(ctx.new_timer(GO_ON));
        self.rest = Some(ctx.new_timer(REST));
        if !self.key_file.is_empty() {
            let key = ctx.host().key(&self.key_file);
            self.key = Some(key.map_err(|why| format!("KEY: {}", reason(&why)))?);
        }
        // What the element before it listens on comes with its state.
        if ctx.has_predecessor() {
            return Ok(());
        }
        match self.open(ctx) {
            Err(text) if self.retries > 0 => {
                if self.warns {
                    Self::tell(ctx, &text);
                }
                let timer = self.timer.expect("it was made above");
                ctx.set_timer_after(timer, Timestamp::from_secs(1));
                Ok(())
            }
            result => result,
        }
    }

    fn run_timer(&mut self, ctx: &mut Ctx, token: u32) {
        if token == GO_ON {
            for at in (0..self.connections.len()).rev() {
                self.serve(ctx, at);
            }
            return;
        }
        if token == REST {
            if let Some(listener) = &self.listener {
                ctx.watch(listener.descriptor(), false);
            }
            return;
        }
        self.retries -= 1;
        let Err(text) = self.open(ctx) else {
            return;
        };
        if self.warns || self.retries <= 0 {
            Self::tell(ctx, &text);
        }
        match self.timer {
            Some(timer) if self.retries > 0 => ctx.set_timer_after(timer, Timestamp::from_secs(1)),
            _ => ctx.stop(),
        }
    }

    fn ready(&mut self, ctx: &mut Ctx, descriptor: i32) {
        let listener = self.listener.as_ref().map(|socket| socket.descriptor());
        if listener == Some(descriptor) {
            while let Some(listener) = &mut self.listener {
                match listener.accept() {
                    Ok(Some(socket)) => self.connect(ctx, socket),
                    Ok(None) => return,
                    // Out of descriptors, say: who waits makes the listener ready again and again.
                    Err(_) => {
                        ctx.unwatch(descriptor, false);
                        if let Some(timer) = self.rest {
                            ctx.set_timer_after(timer, RESTING);
                        }
                        return;
                    }
                }
            }
        }
        let mut all = self.connections.iter();
        if let Some(at) = all.position(|one| one.socket.descriptor() == descriptor) {
            self.serve(ctx, at);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("port", "r")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        let address = self.listener.as_ref().map(|socket| socket.address());
        let place = match (address, self.kind.as_str()) {
            (Some(address), "TCP") => address.rsplit(':').next().map(str::to_owned),
            _ => None,
        };
        Ok(place.unwrap_or_else(|| self.place.clone()))
    }

    fn take_state(&mut self, ctx: &mut Ctx, old: &mut dyn Element) {
        let Some(old) = cast::<ControlSocket>(old) else {
            return;
        };
        if (&old.kind, &old.place, old.local) == (&self.kind, &self.place, self.local) {
            self.listener = old.listener.take();
        } else {
            old.listener = None;
        }
        self.connections = std::mem::take(&mut old.connections);
        match &self.listener {
            Some(listener) => ctx.watch(listener.descriptor(), false),
            None => {
                if let Err(text) = self.open(ctx) {
                    Self::tell(ctx, &text);
                }
            }
        }
        for one in &self.connections {
            ctx.watch(one.socket.descriptor(), false);
            if one.writes {
                ctx.watch(one.socket.descriptor(), true);
            }
        }
        // What came with or after the request that replaced the configuration.
        if let Some(timer) = self.go_on {
            let now = ctx.now();
            ctx.set_timer(timer, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{Run, errors, load_with, loaded};
    use crate::memory::{LISTENER, MemoryHost, Wire};

    /// What the router answers to `text` on connection 0, which is made where it is not.
    fn ask(run: &mut Run, text: &str) -> String {
        let id = run.ctx.find("cs", None).expect("it exists");
        {
            let mut memory = run.host.memory();
            if memory.wires.is_empty() {
                memory.wires.push(Wire::default());
            }
            memory.wires[0].to_router.extend(text.bytes());
            memory.wires[0].from_router.clear();
        }
        for descriptor in [LISTENER, LISTENER + 1] {
            run.ctx.with(id, |one, ctx| one.ready(ctx, descriptor));
        }
        let memory = run.host.memory();
        String::from_utf8_lossy(&memory.wires[0].from_router).into_owned()
    }

    const GRAPH: &str =
        "Idle -> s :: Switch(0) -> Idle; s [1] -> Idle; p :: Script(TYPE PASSIVE); ";

    #[test]
    fn handlers_are_read_written_and_checked() {
        let mut run = loaded(&format!("{GRAPH} cs :: ControlSocket(tcp, 7777)"));
        assert_eq!(
            ask(
                &mut run,
                "read s.switch\r\nwrite s.switch 1\r\nREAD s.switch\r\n"
            ),
            "Click::ControlSocket/1.3\r\n200 Read handler 's.switch' OK\r\nDATA 1\r\n0\
             200 Write handler 's.switch' OK\r\n200 Read handler 's.switch' OK\r\nDATA 1\r\n1"
        );
        for (request, reply) in [
            ("read x.y", "510 No element named 'x'"),
            ("read s.y", "511 No handler named 's.y'"),
            ("write s.name q", "530 Handler 's.name' read-only"),
            ("read stop", "530 Handler 'stop' write-only"),
            (
                "readdata s.switch 1\nx",
                "590-Read handler 's.switch' error:\r\n590 read handler 's.switch' does not take parameters",
            ),
            ("read p.cat /etc/passwd", "511 No handler named 'p.cat'"),
            ("checkread s.switch", "200 Read handler 's.switch' OK"),
            ("checkwrite s.name", "511 Handler 's.name' not writable"),
            (
                "llrpc s#4004C005",
                "200 LLRPC 's#4004C005' OK\r\nDATA 4\r\n\u{1}\0\0\0",
            ),
            (
                "read 2.class",
                "200 Read handler '2.class' OK\r\nDATA 6\r\nSwitch",
            ),
            (
                "read cs.port",
                "200 Read handler 'cs.port' OK\r\nDATA 4\r\n7777",
            ),
            (
                "write s.switch a",
                "520-Write handler 's.switch' error:\r\n520 Switch output must be integer",
            ),
        ] {
            let got = ask(&mut run, &format!("{request}\n"));
            assert_eq!(got.trim_end(), reply);
        }
    }

    #[test]
    fn nothing_is_written_where_only_reading_is_allowed() {
        let mut run = loaded(&format!(
            "{GRAPH} cs :: ControlSocket(tcp, 7777, READONLY true)"
        ));
        let got = ask(&mut run, "write s.switch 1\ncheckwrite s.switch\n");
        assert_eq!(
            got.matches("530 Permission denied for 's.switch'").count(),
            2,
            "{got}"
        );
        assert_eq!(run.read("s.switch"), "0");
    }

    #[test]
    fn a_web_page_commands_nothing() {
        let mut run = loaded(&format!("{GRAPH} cs :: ControlSocket(tcp, 7777)"));
        let page = "POST / HTTP/1.1\r\nHost: localhost:7777\r\nContent-Type: text/plain\r\n\r\n\
                    write s.switch 1\r\nwrite stop\r\n";
        let got = ask(&mut run, page);
        assert_eq!(
            got,
            "Click::ControlSocket/1.3\r\n400 this is no web server\r\n"
        );
        assert_eq!(run.read("s.switch"), "0");
        assert_eq!(ask(&mut run, "read s.switch\n"), "", "it is closed");
    }

    #[test]
    fn silent_connections_keep_nobody_out() {
        let mut run = loaded(&format!("{GRAPH} cs :: ControlSocket(tcp, 7777)"));
        let id = run.ctx.find("cs", None).expect("it exists");
        let wires = super::MOST_CONNECTIONS + 1;
        run.host
            .memory()
            .wires
            .extend((1..wires).map(|_| Wire::default()));
        run.ctx.with(id, |one, ctx| one.ready(ctx, LISTENER));
        run.run(2.0);
        run.host.memory().wires.push(Wire::default());
        run.ctx.with(id, |one, ctx| one.ready(ctx, LISTENER));
        let last = LISTENER + wires as i32;
        run.host.memory().wires[wires - 1]
            .to_router
            .extend(b"read s.switch\n");
        run.ctx.with(id, |one, ctx| one.ready(ctx, last));
        let got =
            String::from_utf8_lossy(&run.host.memory().wires[wires - 1].from_router).into_owned();
        assert!(got.ends_with("DATA 1\r\n0"), "{got}");
    }

    #[test]
    fn with_a_key_nothing_is_done_before_it_is_proven() {
        let host = MemoryHost::new();
        host.memory()
            .files
            .insert("/key".to_owned(), b"sesame".to_vec());
        let config = format!("{GRAPH} cs :: ControlSocket(tcp, 7777, KEY /key)");
        let mut run = load_with(&host, &config).unwrap_or_else(|e| panic!("{e}"));
        let denied = "530 Permission denied: prove the key with AUTH first\r\n";
        assert!(ask(&mut run, "write s.switch 1\n").ends_with(denied));
        assert_eq!(ask(&mut run, "read s.switch\n"), denied);
        assert_eq!(ask(&mut run, "auth\n"), "200 once\r\n");
        assert_eq!(ask(&mut run, "auth once+sesame\n"), "200 Key proven\r\n");
        assert!(ask(&mut run, "write s.switch 1\n").starts_with("200"));
        assert_eq!(run.read("s.switch"), "1");
        let mut run =
            load_with(&host, &config.replace("7777", "7778")).unwrap_or_else(|e| panic!("{e}"));
        host.memory().wires.clear();
        host.memory().accepted = 0;
        ask(&mut run, "auth\n");
        assert!(ask(&mut run, "auth once+guess\nwrite s.switch 1\n").starts_with("530"));
        assert_eq!(run.read("s.switch"), "0");
    }

    #[test]
    fn a_port_with_a_plus_is_the_first_free_one_and_the_address_is_local() {
        let host = MemoryHost::new();
        host.memory().listening.push("127.0.0.1:7777".into());
        let mut run =
            load_with(&host, "cs :: ControlSocket(tcp, 7777+)").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(run.read("cs.port"), "7778");
        assert!(load_with(&host, "ControlSocket(tcp, 7777)").is_err());
        assert!(errors("ControlSocket(tcp, x)").contains("PORT requires TCP port"));
        assert!(errors("ControlSocket(foo, 1)").contains("unknown socket type 'FOO'"));
    }

    #[test]
    fn a_connection_goes_on_in_the_next_configuration() {
        let mut run = loaded(&format!("{GRAPH} cs :: ControlSocket(tcp, 7777)"));
        run.ctx.allow_reconfiguration();
        let next = "Idle -> s :: Switch(1) -> Idle; s [1] -> Idle; cs :: ControlSocket(tcp, 7777)";
        let got = ask(
            &mut run,
            &format!("write hotconfig {next}\nread s.switch\n"),
        );
        assert!(
            got.ends_with("200 Write handler 'hotconfig' OK\r\n"),
            "{got}"
        );
        assert_eq!(run.run(0.1), crate::engine::driver::Progress::Replaced);
        run.ctx.change_over();
        run.run(0.1);
        let got = String::from_utf8_lossy(&run.host.memory().wires[0].from_router).into_owned();
        assert!(got.ends_with("DATA 1\r\n1"), "{got}");
        assert_eq!(run.host.memory().listening.len(), 1);
        let got = ask(&mut run, "write hotconfig Print\n");
        assert!(
            got.starts_with("520-Write handler 'hotconfig' error:\r\n520-config:1: 'Print@1"),
            "{got}"
        );
        assert!(
            got.ends_with("520 Router could not be initialized!\r\n"),
            "{got}"
        );
    }
}
