//! The control software: frames, commands and instants go in, frames and table entries come out.

use crate::cli::{self, Reply};
use crate::config::{Config, Error};
use crate::dataplane::Dataplane;
use crate::machine::Machine;
use crate::pwospf::Pwospf;
use crate::routing::Routing;
use std::collections::VecDeque;
use trammel_core::Time;

/// Replies that wait for [`Control::poll_reply`], at most; the oldest makes room.
const MOST_REPLIES: usize = 256;

/// The control software of a router.
///
/// After every call, frames to send are at [`Control::poll_transmit`], and the instant at which
/// [`Control::handle_timeout`] is to be called is at [`Control::next_timeout`]. Instants never go
/// back; one that is earlier than the last counts as the last.
#[derive(Debug, Clone)]
pub struct Control {
    machine: Machine,
    routing: Routing,
    has_begun: bool,
    replies: VecDeque<(u64, Reply)>,
}

impl Control {
    /// The software of a router that has not begun: its first timeout is due at once.
    ///
    /// # Errors
    ///
    /// All faults of the configuration.
    pub fn new(config: Config) -> Result<Control, Error> {
        config.check()?;
        Ok(Control {
            routing: Routing::new(&config).map_err(|fault| Error::of("pwospf", &fault))?,
            machine: Machine::new(config),
            has_begun: false,
            replies: VecDeque::new(),
        })
    }

    /// Takes a frame, without FCS, that the data plane gave to the software of `port`. Each has one
    /// fate, which is counted.
    pub fn receive(
        &mut self,
        now: Time,
        port: usize,
        frame: &[u8],
        dataplane: &mut impl Dataplane,
    ) {
        self.begin(now);
        if let Some(delivery) = self.machine.receive(now, port, frame) {
            self.routing.receive(self.machine.now(), &delivery);
        }
        self.finish(dataplane);
    }

    /// When [`Control::handle_timeout`] is to be called; never where there is nothing.
    pub fn next_timeout(&self) -> Option<Time> {
        if !self.has_begun {
            return Some(Time::ZERO);
        }
        let all = [self.machine.next_timeout(), self.routing.next_timeout()];
        all.into_iter().flatten().min()
    }

    /// Does what has fallen due by `now`. The first call gives the data plane all tables, and puts
    /// down ports that have no interface.
    pub fn handle_timeout(&mut self, now: Time, dataplane: &mut impl Dataplane) {
        self.begin(now);
        self.machine.advance(now);
        self.finish(dataplane);
    }

    /// The next frame to send, without FCS, with the port it leaves by. It is to leave as it is: no
    /// table of the data plane applies to it.
    pub fn poll_transmit(&mut self) -> Option<(usize, Vec<u8>)> {
        self.machine.poll_transmit()
    }

    /// Runs a line of the command line. Nothing after a `#` counts.
    pub fn command(&mut self, now: Time, line: &str, dataplane: &mut impl Dataplane) -> Reply {
        self.begin(now);
        self.machine.advance(now);
        let reply = cli::run(line, &mut self.machine, &mut self.routing, dataplane);
        self.finish(dataplane);
        reply
    }

    /// The reply to a command that had to wait, with the number from [`Reply::waits`].
    pub fn poll_reply(&mut self) -> Option<(u64, Reply)> {
        self.replies.pop_front()
    }

    /// Names and values of the software's counters. `received` is the sum of those that come next,
    /// up to `dropped_transport`: each received frame has one fate.
    pub fn counters(&self) -> Vec<(&'static str, u64)> {
        self.machine.counters().all()
    }

    /// The routing protocol, if the router runs one and has begun.
    pub fn pwospf(&self) -> Option<&Pwospf> {
        self.routing.pwospf()
    }

    fn begin(&mut self, now: Time) {
        self.has_begun = true;
        self.routing.start(now);
    }

    fn finish(&mut self, dataplane: &mut dyn Dataplane) {
        let now = self.machine.now();
        self.routing.exchange(now, &mut self.machine);
        self.machine.hand_over(dataplane);
        while let Some((number, destination, outcome)) = self.machine.poll_ping() {
            if self.replies.len() >= MOST_REPLIES {
                self.replies.pop_front();
            }
            let reply = cli::ping_reply(destination, outcome);
            self.replies.push_back((number, reply));
        }
    }
}
