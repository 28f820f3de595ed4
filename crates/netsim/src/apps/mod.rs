//! Applications: what a user's two ends do over the network, and what the user gets of it. One file
//! each.
//!
//! An application has no sockets and no clock. It is told what was delivered to either end and that
//! a time has come, and says what is written, sent or waited for ([`Io`]). Both ends are one value,
//! but an end acts only on what has reached it: by bytes of a connection that came, or by a
//! datagram.

use crate::experience::Experience;
use std::fmt::Debug;
use trammel_core::entry::{About, Params};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

include!(concat!(env!("OUT_DIR"), "/apps.rs"));
trammel_core::family!("application");

/// What has not come after this long is lost to whoever listens, plays or looks.
pub const GIVE_UP: Span = Span::from_secs(2);
/// Bytes of payload of a datagram at most: what fits every path that carries IPv6 (RFC 8200 §5),
/// without its headers.
pub const MAX_PAYLOAD: u64 = 1200;

/// One of the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// The user's, which opens connections: the receiving host.
    User,
    /// The one that has what the user wants: the sending host.
    Server,
}

impl Party {
    /// The other end.
    pub fn other(self) -> Party {
        match self {
            Party::User => Party::Server,
            Party::Server => Party::User,
        }
    }
}

/// What an application is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A connection has delivered more in order.
    Delivered {
        /// Its number.
        conn: u32,
        /// To which end.
        to: Party,
        /// All bytes that it has delivered there since it was opened.
        bytes: u64,
    },
    /// A connection gave up.
    Failed {
        /// Its number.
        conn: u32,
    },
    /// A datagram has come.
    Datagram {
        /// To which end.
        to: Party,
        /// Its place among those of its sender, from 0.
        number: u32,
        /// When it was sent.
        sent: Time,
    },
    /// The time that was asked for has come.
    Timer,
}

/// What an application wants of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The user opens the connection of this number.
    Open(u32),
    /// An end writes to a connection.
    Write {
        /// Its number.
        conn: u32,
        /// Which end.
        from: Party,
        /// Bytes.
        bytes: u64,
    },
    /// The user closes a connection, and both ends forget its number.
    Close(u32),
    /// An end sends a datagram.
    Send {
        /// Which end.
        from: Party,
        /// Bytes of payload.
        bytes: u32,
    },
    /// Be told the time then, in place of any time asked for before.
    Wake(Time),
}

/// What an application acts with.
#[derive(Debug)]
pub struct Io<'a> {
    /// The time.
    pub now: Time,
    /// What begins from here on counts.
    pub since: Time,
    /// When the user leaves.
    pub stop: Time,
    /// The user's own random stream.
    pub rng: &'a mut Rng,
    /// What all users of the application have got so far.
    pub got: &'a mut Experience,
    /// What is wanted of the network, in this order.
    pub orders: &'a mut Vec<Order>,
}

impl Io<'_> {
    /// Opens connection `conn`.
    pub fn open(&mut self, conn: u32) {
        self.orders.push(Order::Open(conn));
    }

    /// Writes `bytes` at end `from` of connection `conn`.
    pub fn write(&mut self, conn: u32, from: Party, bytes: u64) {
        self.orders.push(Order::Write { conn, from, bytes });
    }

    /// Closes connection `conn`.
    pub fn close(&mut self, conn: u32) {
        self.orders.push(Order::Close(conn));
    }

    /// Sends a datagram from end `from`.
    pub fn send(&mut self, from: Party, bytes: u64) {
        let bytes = bytes.clamp(1, MAX_PAYLOAD) as u32;
        self.orders.push(Order::Send { from, bytes });
    }

    /// Asks for the time `at`, or now where that is over.
    pub fn wake(&mut self, at: Time) {
        self.orders.push(Order::Wake(at.max(self.now)));
    }

    /// Whether what begins now counts.
    pub fn counts(&self) -> bool {
        self.now >= self.since
    }

    /// Whether a datagram that was sent at `sent` counts: after the warm-up, and so early that its
    /// fate is known before the user leaves.
    pub fn counts_sent(&self, sent: Time) -> bool {
        let last = self.stop.saturating_sub(GIVE_UP);
        sent >= self.since && (sent < last || last <= self.since)
    }

    /// An exponential time of this mean.
    pub fn exponential(&mut self, mean: Span) -> Span {
        // In (0, 1], so that the logarithm is finite.
        let uniform = 1.0 - self.rng.unit();
        Span::from_secs_f64(-uniform.ln() * mean.as_secs_f64())
    }
}

/// Both ends of an application of one user.
pub trait App: Debug + Send {
    /// The user begins.
    fn start(&mut self, io: &mut Io<'_>);
    /// Something has happened.
    fn on(&mut self, event: Event, io: &mut Io<'_>);
    /// Adds to `got` what is only known at the end, as if the user left at `io.now`; changes
    /// nothing.
    fn end(&self, now: Time, since: Time, got: &mut Experience) {
        let _ = (now, since, got);
    }
}

/// What carries an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// TCP connections.
    Tcp,
    /// Datagrams.
    Datagrams,
}

/// One row of [`ALL`].
#[derive(Debug)]
pub struct Entry {
    /// Name, summary, references, parameters.
    pub about: About,
    /// What carries it.
    pub carrier: Carrier,
    /// Connections that a user has at once, at most.
    pub connections: fn(&Params) -> u64,
    /// Things that a user does in a second at most, about: messages, datagrams, requests.
    pub pace: fn(&Params) -> f64,
    /// Makes the application of one user, or says which combination of parameters is impossible.
    pub build: fn(&Params) -> Result<Box<dyn App>, String>,
}

/// An error where `value` of the parameter `name` is not within `low` and `high`.
pub(crate) fn within(
    name: &str,
    value: f64,
    (low, high): (f64, f64),
    unit: &str,
) -> Result<(), String> {
    if (low..=high).contains(&value) {
        Ok(())
    } else {
        Err(format!("`{name}` must be from {low} to {high} {unit}"))
    }
}
