//! Lets external programs read and write handlers, by a TCP or UNIX socket.
//!
//! # What it does
//! Speaks Click's ControlSocket protocol, version 1.3. It listens on this machine's own address
//! only, unless `LOCALHOST` is false; the socket of a file is for its owner alone. A port `7777+`
//! is the first free one from 7777 on; the handler `port` tells which. Connections outlive the
//! replacement of the configuration.
//!
//! Every user of the machine can connect to a TCP port. With `KEY` a connection must prove first
//! that it holds the key: `AUTH` is answered with a nonce, and `AUTH PROOF` proves, where the proof
//! is the HMAC-SHA-256 of the nonce's text under the key, in hexadecimal. A request of a browser
//! ends the connection. Files that a request names, as `write_file` does, lie in the folder that
//! the command line gives with `--control-folder`; without it they are refused.
//!
//! # Example
//! ```click
//! // `echo read c.count | nc 127.0.0.1 7777` asks, and nothing may be written.
//! FromDevice(eth0) -> c :: Counter -> Discard; ControlSocket(TCP, 7777, READONLY true)
//! ```

mod connection;
mod listen;
mod replies;
#[cfg(test)]
mod tests;

use crate::args::kinds::INT;
use crate::args::{Args, Kind, flag, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::element::cast;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use crate::host::{Key, Socket, reason};
use connection::{Connection, make_room};
use listen::{Opened, Place};
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

/// The timer that tries again to listen, and the one that goes on with what came before a
/// replacement.
const RETRY: u32 = 0;
const GO_ON: u32 = 1;
/// The timer after which connections are accepted again.
const REST: u32 = 2;
/// How long nothing is accepted where the system has no more descriptors.
const RESTING: Timestamp = Timestamp(100_000_000);

#[derive(Debug, Default)]
struct ControlSocket {
    place: Place,
    read_only: bool,
    proxy: String,
    verbose: bool,
    retries: i64,
    warns: bool,
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
        match self.place.open(ctx)? {
            Opened::Listener(socket) => {
                ctx.watch(socket.descriptor(), false);
                self.listener = Some(socket);
            }
            Opened::Connection(socket) => self.connect(ctx, socket),
        }
        Ok(())
    }

    fn connect(&mut self, ctx: &mut Ctx, socket: Box<dyn Socket>) {
        let now = ctx.now();
        let is_full = self.connections.len() >= connection::MOST;
        if is_full && !make_room(ctx, &mut self.connections, now) {
            return;
        }
        if self.verbose {
            Self::tell(ctx, &format!("opened connection {}", socket.descriptor()));
        }
        let one = Connection::new(ctx, socket, now);
        self.connections.push(one);
        self.serve(ctx, self.connections.len() - 1);
    }

    fn tell(ctx: &mut Ctx, text: &str) {
        let text = format!("{}: {text}\n", ctx.declaration(ctx.me()));
        ctx.host().say(&text);
    }

    /// Reads, answers and writes what can be.
    fn serve(&mut self, ctx: &mut Ctx, at: usize) {
        while !ctx.is_replaced()
            && self.connections[at].is_read()
            && self.connections[at].receive(ctx)
        {
            self.answer(ctx, at);
        }
        self.answer(ctx, at);
        let one = &mut self.connections[at];
        let is_broken = one.send(ctx);
        let descriptor = one.descriptor();
        if is_broken || (one.is_over() && !ctx.is_replaced()) {
            self.connections.remove(at).unwatch(ctx);
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
}

impl Element for ControlSocket {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.place = Place::parse(
            args.text("TYPE"),
            args.text("PORT"),
            args.bool("LOCALHOST"),
            &setup.names(),
        )?;
        self.read_only = args.bool("READONLY");
        args.text("PROXY").clone_into(&mut self.proxy);
        self.verbose = args.bool("VERBOSE");
        self.retries = args.int("RETRIES");
        self.warns = args.bool("RETRY_WARNINGS");
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
        if let Some(at) = all.position(|one| one.descriptor() == descriptor) {
            self.serve(ctx, at);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("port", "r")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        let listener = self.listener.as_deref();
        let port = listener.and_then(|listener| self.place.port_of(listener));
        Ok(port.unwrap_or_else(|| self.place.to_string()))
    }

    fn take_state(&mut self, ctx: &mut Ctx, old: &mut dyn Element) {
        let Some(old) = cast::<ControlSocket>(old) else {
            return;
        };
        if old.place == self.place {
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
            one.watch(ctx);
        }
        // What came with or after the request that replaced the configuration.
        if let Some(timer) = self.go_on {
            let now = ctx.now();
            ctx.set_timer(timer, now);
        }
    }
}
