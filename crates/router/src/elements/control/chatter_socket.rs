//! Sends the router's messages to external programs, by a TCP or UNIX socket.
//!
//! # What it does
//! Whoever connects gets the line `Click::ChatterSocket/1.0` and from then on all that elements
//! say, such as `Print`. It listens on this machine's own address only, unless `LOCALHOST` is
//! false, and reads nothing. A client that falls 500,000 bytes behind is cut off. What elements on
//! other threads than its own say is not heard.
//!
//! # Handlers
//! - `clients`: connections that hear
//!
//! # Example
//! ```click
//! // `nc 127.0.0.1 7778` shows what is printed.
//! ChatterSocket(TCP, 7778); FromDevice(eth0) -> Print(in) -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use crate::host::{Socket, SocketRequest, reason};
use std::collections::VecDeque;
use std::io::ErrorKind;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ChatterSocket",
    "sends messages to external programs",
    || Box::<ChatterSocket>::default(),
)
.ports("0/0", "a/a")
.params(&[
    param("TYPE", Need::Mandatory, Kind::Text, "", "`TCP` or `UNIX`"),
    param(
        "PORT",
        Need::Mandatory,
        Kind::Text,
        "",
        "the port, or the file",
    ),
    param(
        "CHANNEL",
        Need::Keyword,
        Kind::Word,
        "",
        "has no effect: there is one channel",
    ),
    param(
        "QUIET_CHANNEL",
        Need::Keyword,
        Kind::Bool,
        "true",
        "has no effect",
    ),
    param(
        "GREETING",
        Need::Keyword,
        Kind::Bool,
        "true",
        "whether the first line is sent",
    ),
    param(
        "RETRIES",
        Need::Keyword,
        INT,
        "0",
        "how often it tries again, each second, where it cannot listen",
    ),
    param(
        "RETRY_WARNINGS",
        Need::Keyword,
        Kind::Bool,
        "true",
        "whether it tells of each try",
    ),
    param(
        "LOCALHOST",
        Need::Keyword,
        Kind::Bool,
        "true",
        "whether it listens on this machine's own address only",
    ),
]);

/// The first line.
const GREETING: &[u8] = b"Click::ChatterSocket/1.0\r\n";
/// The most clients at a time; more are closed at once.
const MOST_CLIENTS: usize = 32;
/// How far a client may fall behind.
const MOST_BEHIND: usize = 500_000;
/// How often it looks whether something was said, while somebody listens.
const PERIOD: Timestamp = Timestamp(20_000_000);
/// The timer that tries again to listen, and the one that gives on what was said.
const RETRY: u32 = 0;
const GIVE_ON: u32 = 1;

#[derive(Debug)]
struct Client {
    socket: Box<dyn Socket>,
    waiting: VecDeque<u8>,
}

impl Client {
    /// Writes what goes now; whether the client is still there.
    fn write(&mut self) -> bool {
        while !self.waiting.is_empty() {
            match self.socket.write(self.waiting.make_contiguous()) {
                Ok(0) => return false,
                Ok(count) => drop(self.waiting.drain(..count)),
                Err(why) if why.kind() == ErrorKind::Interrupted => {}
                Err(why) if why.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return false,
            }
        }
        self.waiting.len() <= MOST_BEHIND
    }
}

#[derive(Debug, Default)]
struct ChatterSocket {
    kind: String,
    place: String,
    greets: bool,
    local: bool,
    warns: bool,
    retries: i64,
    listener: Option<Box<dyn Socket>>,
    clients: Vec<Client>,
    retry: Option<TimerId>,
    give_on: Option<TimerId>,
}

impl ChatterSocket {
    fn open(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let address = if self.local { "127.0.0.1" } else { "0.0.0.0" };
        let local = match self.kind.as_str() {
            "tcp" => format!("{address}:{}", self.place),
            _ => self.place.clone(),
        };
        let request = SocketRequest {
            kind: self.kind.clone(),
            local,
            remote: String::new(),
            listen: true,
            options: Vec::new(),
        };
        let socket = ctx.open_socket(&request);
        let socket = socket.map_err(|why| format!("bind: {}", reason(&why)))?;
        ctx.watch(socket.descriptor(), false);
        self.listener = Some(socket);
        Ok(())
    }

    /// Gives what was said to all clients, and cuts off those that are gone or too far behind.
    fn give(&mut self, ctx: &mut Ctx) {
        let said = ctx.host().take_overheard();
        for client in &mut self.clients {
            client.waiting.extend(said.as_bytes());
        }
        self.clients.retain_mut(Client::write);
        if self.clients.is_empty() {
            ctx.host().overhear(false);
        } else if let Some(timer) = self.give_on {
            ctx.set_timer_after(timer, PERIOD);
        }
    }
}

impl Element for ChatterSocket {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.kind = args.text("TYPE").to_ascii_lowercase();
        self.place = args.text("PORT").to_owned();
        match self.kind.as_str() {
            "tcp" if self.place.parse::<u16>().is_err() => {
                return Err(Diagnostics::of("PORT: expected a TCP port"));
            }
            "tcp" | "unix" => {}
            _ => return Err(Diagnostics::of("unknown socket type: expected TCP or UNIX")),
        }
        self.greets = args.bool("GREETING");
        self.local = args.bool("LOCALHOST");
        self.retries = args.int("RETRIES");
        self.warns = args.bool("RETRY_WARNINGS");
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        self.retry = Some(ctx.new_timer(RETRY));
        self.give_on = Some(ctx.new_timer(GIVE_ON));
        match self.open(ctx) {
            Err(why) if self.retries <= 0 => Err(why),
            Err(_) => {
                self.run_timer(ctx, RETRY);
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn ready(&mut self, ctx: &mut Ctx, _: i32) {
        let Some(listener) = &mut self.listener else {
            return;
        };
        while let Ok(Some(socket)) = listener.accept() {
            if self.clients.len() >= MOST_CLIENTS {
                continue;
            }
            let mut client = Client {
                socket,
                waiting: VecDeque::new(),
            };
            if self.greets {
                client.waiting.extend(GREETING);
            }
            if self.clients.is_empty() {
                ctx.host().overhear(true);
            }
            self.clients.push(client);
        }
        self.give(ctx);
    }

    fn run_timer(&mut self, ctx: &mut Ctx, token: u32) {
        if token == GIVE_ON {
            self.give(ctx);
            return;
        }
        if self.listener.is_some() {
            return;
        }
        if let Err(why) = self.open(ctx) {
            self.retries -= 1;
            if self.retries < 0 {
                let text = format!("{}: {why}\n", ctx.declaration(ctx.me()));
                ctx.host().say(&text);
                ctx.stop();
                return;
            }
            if self.warns {
                let text = format!("{}: {why}; trying again\n", ctx.declaration(ctx.me()));
                ctx.host().say(&text);
            }
            if let Some(timer) = self.retry {
                ctx.set_timer_after(timer, Timestamp::from_secs(1));
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("port", "r"), Handler::new("clients", "r")]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        if name == "clients" {
            return Ok(self.clients.len().to_string());
        }
        let address = self.listener.as_ref().map(|socket| socket.address());
        let address = address.unwrap_or_default();
        Ok(match address.rsplit_once(':') {
            Some((_, port)) if self.kind == "tcp" => port.to_owned(),
            _ => address,
        })
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        self.give(ctx);
        ctx.host().overhear(false);
        self.clients.clear();
        if let Some(listener) = self.listener.take() {
            ctx.unwatch(listener.descriptor(), false);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, load_with};
    use crate::memory::{LISTENER, MemoryHost, Wire};

    #[test]
    fn a_client_hears_what_is_said_after_it_came() {
        let host = MemoryHost::new();
        let text = "x :: ChatterSocket(TCP, 7778); \
                    TimedSource(1, abcd) -> Print(hello) -> Discard";
        let mut run = load_with(&host, text).expect("it is right");
        run.run(1.5);
        host.memory().wires.push(Wire::default());
        let x = run.ctx.find("x", None).expect("it is declared");
        run.ctx.with(x, |one, ctx| one.ready(ctx, LISTENER));
        run.run(1.0);
        let got = String::from_utf8(host.memory().wires[0].from_router.clone()).expect("a text");
        assert!(
            got.starts_with("Click::ChatterSocket/1.0\r\nhello:"),
            "{got}"
        );
        assert_eq!(got.matches("hello").count(), 1);
        assert_eq!(run.read("x.clients"), "1");
        run.ctx.cleanup();
    }

    #[test]
    fn wrong_arguments_are_told() {
        assert!(errors("ChatterSocket(TCP, x)").contains("expected a TCP port"));
        assert!(errors("ChatterSocket(UDP, 7)").contains("unknown socket type"));
    }
}
