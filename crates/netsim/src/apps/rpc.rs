//! Remote procedure calls: requests and responses over a connection that stays, and how long the
//! slowest of them take.
//!
//! # What it does
//! Each user has one connection. With `arrival = "poisson"` calls come at `rate` calls a second,
//! whatever became of those before (an open loop): they go out at once and are answered in their
//! order. At most 1000 calls of a user are open; further ones are not sent and count as unfinished.
//! With `arrival = "closed"` a user waits for the answer, thinks for an exponential time of mean
//! `think`, and calls again. `time` is from the call to the last byte of its response; servers
//! compute for no time.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "100 Mbit/s"
//! rtt = "10 ms"
//! [[app]]
//! kind = "rpc"
//! users = 20
//! rate = 10
//! ```
//!
//! # Parameters
//! `arrival`, `rate`, `think`, `request`, `response`, `sizes`: whether sizes are constant or
//! exponential. All defaults are *assumed*.
//!
//! # References
//! Schroeder, Wierman and Harchol-Balter, "Open Versus Closed: A Cautionary Tale", NSDI 2006; Dean
//! and Barroso, "The Tail at Scale", Communications of the ACM 56(2), 2013.

use super::shared::exchange::Exchange;
use super::{App, Carrier, Entry, Event, Io, within};
use std::collections::VecDeque;
use trammel_core::entry::{About, Kind, Param};
use trammel_core::time::{Span, Time};

/// Calls of a user that are open at most.
const MOST_OPEN: usize = 1000;
const CONN: u32 = 0;

/// Remote procedure calls in the table of applications.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "rpc",
        aliases: &["requests"],
        summary: "remote procedure calls: latency and its tail",
        references: &[
            "Schroeder, Wierman, Harchol-Balter, Open Versus Closed, NSDI 2006",
            "Dean, Barroso, The Tail at Scale, CACM 56(2), 2013",
        ],
        params: &[
            Param {
                name: "arrival",
                kind: Kind::Choice(&["poisson", "closed"]),
                default: "poisson",
                unit: "",
                help: "whether calls come by themselves or wait for the answer before",
            },
            Param {
                name: "rate",
                kind: Kind::Float(1e-6, 1e6),
                default: "10",
                unit: "1/s",
                help: "poisson: calls a second of each user",
            },
            Param {
                name: "think",
                kind: Kind::Time,
                default: "100 ms",
                unit: "s",
                help: "closed: mean time from an answer to the next call",
            },
            Param {
                name: "request",
                kind: Kind::Bytes,
                default: "500 B",
                unit: "bytes",
                help: "mean size of a request",
            },
            Param {
                name: "response",
                kind: Kind::Bytes,
                default: "4 kB",
                unit: "bytes",
                help: "mean size of a response",
            },
            Param {
                name: "sizes",
                kind: Kind::Choice(&["constant", "exponential"]),
                default: "constant",
                unit: "",
                help: "how sizes are distributed",
            },
        ],
    },
    carrier: Carrier::Tcp,
    connections: |_| 1,
    pace: |params| match params.text("arrival") {
        "poisson" => 2.0 * params.float("rate"),
        // A call takes a tenth of a millisecond at least.
        _ => 2.0 / (params.time("think").as_secs_f64() + 1e-4),
    },
    build: |params| {
        let bytes = |name: &str| {
            let bytes = params.bytes(name) as f64;
            within(name, bytes, (1.0, 1e9), "bytes").map(|()| bytes)
        };
        Ok(Box::new(Rpc {
            every: (params.text("arrival") == "poisson")
                .then(|| Span::from_secs_f64(1.0 / params.float("rate"))),
            think: params.time("think"),
            bytes: [bytes("request")?, bytes("response")?],
            is_constant: params.text("sizes") == "constant",
            exchange: Exchange::default(),
            called: VecDeque::new(),
        }))
    },
};

#[derive(Debug)]
struct Rpc {
    /// Mean time between calls of an open loop.
    every: Option<Span>,
    think: Span,
    bytes: [f64; 2],
    is_constant: bool,
    exchange: Exchange,
    /// When the open calls were made.
    called: VecDeque<Time>,
}

impl Rpc {
    fn call(&mut self, io: &mut Io<'_>) {
        io.got.begun += u64::from(io.counts());
        if self.exchange.open() >= MOST_OPEN {
            return;
        }
        let is_constant = self.is_constant;
        let sizes = self.bytes.map(|mean| {
            let factor = if is_constant {
                1.0
            } else {
                -(1.0 - io.rng.unit()).ln()
            };
            (mean * factor).round().max(1.0) as u64
        });
        self.called.push_back(io.now);
        self.exchange.ask(CONN, sizes, io);
    }

    /// Waits for the next call.
    fn wait(mean: Span, io: &mut Io<'_>) {
        let at = io.now.saturating_add(io.exponential(mean));
        if at < io.stop {
            io.wake(at);
        }
    }
}

impl App for Rpc {
    fn start(&mut self, io: &mut Io<'_>) {
        io.open(CONN);
        Rpc::wait(self.every.unwrap_or(self.think), io);
    }

    fn on(&mut self, event: Event, io: &mut Io<'_>) {
        match event {
            Event::Delivered { conn, to, bytes } => {
                for _ in 0..self.exchange.on(conn, to, bytes, io) {
                    let Some(called) = self.called.pop_front() else {
                        return;
                    };
                    if called >= io.since {
                        io.got.done += 1;
                        io.got.time(io.now.saturating_since(called));
                    }
                    if self.every.is_none() {
                        Rpc::wait(self.think, io);
                    }
                }
            }
            Event::Timer => {
                self.call(io);
                if let Some(every) = self.every {
                    Rpc::wait(every, io);
                }
            }
            Event::Failed { .. } => {
                // What was open is lost, and the client connects anew.
                self.exchange = Exchange::default();
                self.called.clear();
                io.open(CONN);
                if self.every.is_none() {
                    Rpc::wait(self.think, io);
                }
            }
            Event::Datagram { .. } => {}
        }
    }
}
