//! A game on a server: commands there and updates back at each tick, and how late what the player
//! sees is.
//!
//! # What it does
//! The player's computer sends a command each tick, and the server an update each tick of its own,
//! which shows the effect of all commands that it has. Nothing is sent twice. `delay` is an
//! update's way from the server to the player, `time` from a command to the first update that shows
//! its effect: the ping that a player feels, with up to a tick at the server. `loss` is the part of
//! the updates that do not come within two seconds, `overdue` of those that do not come within
//! `deadline` of their sending.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! rtt = "30 ms"
//! [[app]]
//! kind = "game"
//! ```
//!
//! # Parameters
//! `tick`: 64 a second, as servers of Valve's engine have (*observed*); `command`, `update`: bytes
//! of payload (*assumed*; Färber measured means of 82 and 127 bytes). `deadline`: beyond 100 ms
//! players of shooters hit clearly less (*published*, Claypool and Claypool).
//!
//! # References
//! Färber, "Network game traffic modelling", NetGames 2002; Claypool and Claypool, "Latency and
//! player actions in online games", Communications of the ACM 49(11), 2006.

use super::{App, Carrier, Entry, Event, GIVE_UP, Io, MAX_PAYLOAD, Party, within};
use std::collections::VecDeque;
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::time::{Span, Time};

/// A game in the table of applications.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "game",
        aliases: &[],
        summary: "a game on a server: delay of its updates, reaction time, late updates",
        references: &[
            "Färber, Network game traffic modelling, NetGames 2002",
            "Claypool, Claypool, Latency and player actions, CACM 49(11), 2006",
        ],
        params: &[
            Param {
                name: "tick",
                kind: Kind::Time,
                default: "15.625 ms",
                unit: "s",
                help: "from one command, and from one update, to the next",
            },
            Param {
                name: "command",
                kind: Kind::Bytes,
                default: "80 B",
                unit: "bytes",
                help: "payload of a command",
            },
            Param {
                name: "update",
                kind: Kind::Bytes,
                default: "200 B",
                unit: "bytes",
                help: "payload of an update",
            },
            Param {
                name: "deadline",
                kind: Kind::Time,
                default: "100 ms",
                unit: "s",
                help: "an update that takes longer is late",
            },
        ],
    },
    carrier: Carrier::Datagrams,
    connections: |_| 0,
    pace: |params| 2.0 / params.time("tick").as_secs_f64().max(1e-3),
    build: |params| Ok(Box::new(Game::new(params)?)),
};

/// A payload in bytes that fits a datagram.
pub(crate) fn payload(params: &Params, name: &str) -> Result<u64, String> {
    let bytes = params.bytes(name);
    within(name, bytes as f64, (1.0, MAX_PAYLOAD as f64), "bytes").map(|()| bytes)
}

#[derive(Debug)]
struct Game {
    tick: Span,
    command: u64,
    update: u64,
    deadline: Span,
    /// When the next command and the next update are sent.
    next: [Time; 2],
    /// When the first command was sent; the others follow by ticks.
    first: Time,
    /// Commands that the server has: all below this number that came.
    seen: u64,
    /// Of each update that may still be under way, from this number on: `seen` when it was sent.
    shows: VecDeque<u64>,
    oldest: u32,
    /// Commands whose effect the player has seen, or will not see any more.
    shown: u64,
}

impl Game {
    fn new(params: &Params) -> Result<Game, String> {
        let (tick, deadline) = (params.time("tick"), params.time("deadline"));
        within("tick", tick.as_secs_f64(), (0.001, 10.0), "s")?;
        within(
            "deadline",
            deadline.as_secs_f64(),
            (0.0, GIVE_UP.as_secs_f64()),
            "s",
        )?;
        Ok(Game {
            tick,
            command: payload(params, "command")?,
            update: payload(params, "update")?,
            deadline,
            next: [Time::MAX; 2],
            first: Time::ZERO,
            seen: 0,
            shows: VecDeque::new(),
            oldest: 0,
            shown: 0,
        })
    }

    fn command_sent(&self, number: u64) -> Time {
        self.first + self.tick * number
    }

    fn send(&mut self, io: &mut Io<'_>) {
        if io.now >= io.stop {
            return;
        }
        if self.next[0] <= io.now {
            io.send(Party::User, self.command);
            self.next[0] += self.tick;
        }
        if self.next[1] <= io.now {
            io.send(Party::Server, self.update);
            if io.counts_sent(io.now) {
                io.got.sent += 1;
                // Until it comes in time it has not.
                io.got.lost += 1;
                io.got.overdue += 1;
            }
            self.shows.push_back(self.seen);
            if self.tick * self.shows.len() as u64 > GIVE_UP {
                self.shows.pop_front();
                self.oldest += 1;
            }
            self.next[1] += self.tick;
        }
        io.wake(self.next[0].min(self.next[1]));
    }

    /// Update `number` has come to the player.
    fn show(&mut self, number: u32, sent: Time, io: &mut Io<'_>) {
        let delay = io.now.saturating_since(sent);
        if delay > GIVE_UP {
            return;
        }
        if io.counts_sent(sent) {
            io.got.lost -= 1;
            io.got.overdue -= u64::from(delay <= self.deadline);
            io.got.delay(delay);
        }
        let at = number.checked_sub(self.oldest).map(|at| at as usize);
        let Some(seen) = at.and_then(|at| self.shows.get(at)).copied() else {
            return;
        };
        // The newest command alone: those before it were shown no later, or were lost.
        if seen > self.shown {
            self.shown = seen;
            let sent = self.command_sent(seen - 1);
            if sent >= io.since {
                io.got.time(io.now.saturating_since(sent));
            }
        }
    }
}

impl App for Game {
    fn start(&mut self, io: &mut Io<'_>) {
        // The server's ticks do not wait for the player.
        let phase = Span::from_ps(io.rng.below(self.tick.as_ps().max(1)));
        self.first = io.now;
        self.next = [io.now, io.now + phase];
        self.send(io);
    }

    fn on(&mut self, event: Event, io: &mut Io<'_>) {
        match event {
            Event::Timer => self.send(io),
            Event::Datagram {
                to: Party::Server,
                number,
                ..
            } => {
                self.seen = self.seen.max(u64::from(number) + 1);
            }
            Event::Datagram {
                to: Party::User,
                number,
                sent,
            } => self.show(number, sent, io),
            Event::Delivered { .. } | Event::Failed { .. } => {}
        }
    }
}
