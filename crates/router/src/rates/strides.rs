//! Stride scheduling of ports: each gets turns in proportion to its tickets.
//!
//! Waldspurger and Weihl 1995, *Stride Scheduling*: a turn moves a port's pass on by its stride,
//! which is inverse to its tickets, and the port with the least pass is next. (Tasks are scheduled
//! so too, but wait in a queue of those that run; ports are all there all the time.)

use crate::args::numbers::parse_int;
use crate::args::text::join_args;
use crate::args::{Kind, Need, Param, param};
use crate::diagnostic::{About, Diagnostics};
use crate::engine::Handler;
use crate::engine::setup::Setup;

/// Tickets times stride.
const STRIDE1: u32 = 1 << 16;
/// The most tickets of a port.
const MAX_TICKETS: i64 = 1 << 15;

/// The arguments: tickets, one number a port.
pub(crate) const PARAMS: &[Param] = &[param(
    "TICKETS",
    Need::Rest,
    Kind::Raw,
    "",
    "the share of each port",
)];

#[derive(Clone, Copy, Debug)]
struct Client {
    tickets: u32,
    pass: u32,
}

impl Client {
    fn stride(&mut self) {
        let stride = STRIDE1.checked_div(self.tickets).unwrap_or(0);
        self.pass = self.pass.wrapping_add(stride);
    }
}

/// Ports with their tickets and turns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strides {
    clients: Vec<Client>,
    /// Ports with tickets, the next first. Passes wrap: of two, the one that is less by less than
    /// half the range is first.
    order: Vec<usize>,
}

impl Strides {
    /// Reads one number of tickets for each of `count` ports, which are inputs or outputs as `kind`
    /// says.
    pub(crate) fn configure(
        &mut self,
        setup: &mut Setup,
        args: &[String],
        count: usize,
        kind: &str,
    ) -> Result<(), Diagnostics> {
        if args.len() != count {
            let text = format!("need {count} arguments, one per {kind} port");
            return Err(Diagnostics::of(text));
        }
        let mut faults = Diagnostics::new();
        let mut all = Vec::new();
        for (at, text) in args.iter().enumerate() {
            match parse_int(text, i64::from(i32::MIN), i64::from(i32::MAX)) {
                Err(_) => {
                    let text = format!("argument {at} should be number of tickets (integer)");
                    faults.error_about(About::Rest(at), text, None);
                }
                Ok(tickets) if tickets < 0 => {
                    let text = format!("argument {at} (number of tickets) must be >= 0");
                    faults.error_about(About::Rest(at), text, None);
                }
                Ok(tickets) => {
                    if tickets > MAX_TICKETS {
                        let text = format!("input {at} tickets reduced to {MAX_TICKETS}");
                        setup.warnings.push(text);
                    }
                    all.push(tickets.min(MAX_TICKETS) as u32);
                }
            }
        }
        if faults.has_errors() {
            return Err(faults);
        }
        if self.clients.is_empty() {
            self.clients = vec![
                Client {
                    tickets: 0,
                    pass: 0
                };
                count
            ];
            for (client, tickets) in self.clients.iter_mut().zip(&all) {
                client.tickets = *tickets;
                client.stride();
            }
        }
        self.order.clear();
        // The last first: of those with equal passes the first shall be first.
        for (port, tickets) in all.into_iter().enumerate().rev() {
            self.clients[port].tickets = tickets;
            self.insert(port);
        }
        Ok(())
    }

    /// Puts a port with tickets before those whose passes are no less.
    fn insert(&mut self, port: usize) {
        if self.clients[port].tickets == 0 {
            return;
        }
        let before = self.order.iter();
        let at = before
            .take_while(|other| self.is_before(**other, port))
            .count();
        self.order.insert(at, port);
    }

    fn is_before(&self, one: usize, other: usize) -> bool {
        let distance = self.clients[one]
            .pass
            .wrapping_sub(self.clients[other].pass);
        (distance as i32) < 0
    }

    /// Offers the turn to one port after the other, until one `takes` it. All that were offered it
    /// have had their turn.
    pub(crate) fn turn(&mut self, mut takes: impl FnMut(usize) -> bool) -> bool {
        let (mut offered, mut taken) = (0, false);
        while offered < self.order.len() && !taken {
            let port = self.order[offered];
            taken = takes(port);
            self.clients[port].stride();
            offered += 1;
        }
        // Insertion sort into the others, which are sorted: nothing is allocated.
        self.order.rotate_left(offered);
        let count = self.order.len();
        for from in count - offered..count {
            let mut at = from;
            while at > 0 && !self.is_before(self.order[at - 1], self.order[at]) {
                self.order.swap(at - 1, at);
                at -= 1;
            }
        }
        taken
    }

    /// The handlers of elements that use it.
    pub(crate) fn handlers(&self) -> Vec<Handler> {
        let ports =
            (0..self.clients.len()).map(|port| Handler::new(format!("tickets{port}"), "rw"));
        ports.chain([Handler::new("config", "rw")]).collect()
    }

    /// Reads such a handler.
    pub(crate) fn read(&self, name: &str) -> String {
        if let Some(client) = port_of(name).and_then(|port| self.clients.get(port)) {
            return client.tickets.to_string();
        }
        let all = self.clients.iter().map(|client| client.tickets.to_string());
        join_args(&all.collect::<Vec<_>>())
    }

    /// Writes such a handler.
    pub(crate) fn write(&mut self, name: &str, value: &str) -> Result<(), String> {
        let port = port_of(name).filter(|port| *port < self.clients.len());
        let Some(port) = port else {
            return Err(format!("no write handler '{name}'"));
        };
        let tickets = parse_int(value.trim(), i64::from(i32::MIN), i64::from(i32::MAX));
        let tickets = tickets.map_err(|_| "tickets value must be integer".to_owned())?;
        if tickets < 0 {
            return Err("number of tickets must be >= 0".to_owned());
        }
        let had = self.clients[port].tickets > 0;
        self.clients[port].tickets = tickets.min(MAX_TICKETS) as u32;
        if tickets == 0 {
            self.order.retain(|other| *other != port);
        } else if !had {
            let first = self.order.first().map(|first| self.clients[*first].pass);
            self.clients[port].pass = first.unwrap_or(0);
            if first.is_some() {
                self.clients[port].stride();
            }
            self.insert(port);
        }
        Ok(())
    }
}

fn port_of(name: &str) -> Option<usize> {
    name.strip_prefix("tickets")?.parse().ok()
}
