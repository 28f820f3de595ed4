//! A Click-like router whose routes, neighbours and own addresses the control software writes, in
//! simulated time.
//!
//! ```
//! use trammel_control::{Config, config::cpuhw};
//! use trammel_core::Time;
//! use trammel_workbench::controlled::ControlledRouter;
//!
//! let interfaces = "eth0 10.0.0.1 255.255.255.0 2:0:0:0:0:1\n\
//!                   eth1 10.0.1.1 255.255.255.0 2:0:0:0:0:2\n";
//! let config = Config::new(cpuhw::read("cpuhw", interfaces)?, Vec::new());
//! let mut router = ControlledRouter::new(config)?;
//! router.advance(Time::ZERO);
//! assert!(router.command("ip route add 20.0.0.0 10.0.1.2 255.0.0.0 eth1").is_ok());
//! let table = router.command("show hw rtable").to_string();
//! assert!(table.contains("20.0.0.0  255.0.0.0      10.0.1.2  eth1"), "{table}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod configuration;
mod tables;
#[cfg(test)]
mod tests;

pub use configuration::configuration;
pub use tables::RouterTables;

use std::collections::VecDeque;
use trammel_control::dataplane::Mac;
use trammel_control::{Config, Control, Reply};
use trammel_core::Span;
use trammel_core::time::Time;
use trammel_core::units::Rate;
use trammel_router::BuiltIn;
use trammel_router::engine::core_clock::Cost;
use trammel_router::lang;
use trammel_router::simulate::costs::Costs;
use trammel_router::simulate::port::{Notice, Port, Settings};
use trammel_router::simulate::{Machine, Refusal, Simulation};

/// The rate of its ports.
const RATE: Rate = Rate::from_bps(1_000_000_000);
/// How long after a frame came the router is told: what a polled port costs is not looked at here.
const NOTICE: Span = Span::from_us(1);

/// Why there is no such router.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The control software's configuration has faults.
    #[error(transparent)]
    Control(#[from] trammel_control::config::Error),
    /// The router's configuration has.
    #[error(transparent)]
    Router(#[from] Refusal),
}

/// A router with its control software. Its elements cost no time; its ports have 1 Gbit/s.
#[derive(Debug)]
pub struct ControlledRouter {
    simulation: Simulation,
    control: Control,
    macs: Vec<Mac>,
    now: Time,
    /// Frames that leave, by port, each with the instant at which its last bit is out.
    sent: VecDeque<(usize, Time, Vec<u8>)>,
}

impl ControlledRouter {
    /// A router with the interfaces of `config`, whose software has not begun.
    ///
    /// # Errors
    /// All faults of the configuration.
    pub fn new(config: Config) -> Result<ControlledRouter, Error> {
        let text = configuration(&config.interfaces);
        let macs: Vec<Mac> = config.interfaces.iter().map(|one| one.mac).collect();
        let control = Control::new(config)?;
        let names = (0..macs.len()).flat_map(|port| [format!("eth{port}"), format!("cpu{port}")]);
        let port = |name: String| Settings {
            notice: Notice::Interrupt(NOTICE),
            ..Settings::ideal(&name, RATE)
        };
        let machine = Machine {
            hz: 1e9,
            costs: Costs {
                // A core that asks for free never sleeps.
                others: Cost {
                    empty: 100.0,
                    ..Cost::NONE
                },
                ..Costs::default()
            },
            look_cycles: 0.0,
            ports: names.map(port).collect(),
            files: None,
        };
        let language = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        let simulation = Simulation::load(&text, "controlled", &language, machine, 1)?;
        for port in simulation.ports() {
            port.open();
        }
        Ok(ControlledRouter {
            simulation,
            control,
            macs,
            now: Time::ZERO,
            sent: VecDeque::new(),
        })
    }

    /// When it does something next; never where nothing is left to do.
    pub fn next_at(&mut self) -> Option<Time> {
        let all = [self.simulation.next_at(), self.control.next_timeout()];
        all.into_iter().flatten().min().map(|at| at.max(self.now))
    }

    /// Lets everything happen up to `until`.
    pub fn advance(&mut self, until: Time) {
        loop {
            let at = self.next_at().filter(|at| *at <= until);
            let Some(at) = at else {
                self.simulation.run_until(until);
                self.now = self.now.max(until);
                self.collect();
                return;
            };
            self.now = at;
            if self.control.next_timeout().is_some_and(|due| due <= at) {
                let mut tables = RouterTables::new(self.simulation.router(), &self.macs);
                self.control.handle_timeout(at, &mut tables);
            }
            self.simulation.run_until(at);
            self.collect();
        }
    }

    /// A frame without FCS whose last bit comes in by `port` at `at`.
    pub fn give(&mut self, port: usize, at: Time, frame: Vec<u8>) {
        if let Some(port) = self.simulation.port(&format!("eth{port}")) {
            port.give(at.max(self.now), frame);
        }
    }

    /// The next frame that leaves: its port, when its last bit is out, its bytes.
    pub fn take(&mut self) -> Option<(usize, Time, Vec<u8>)> {
        self.sent.pop_front()
    }

    /// Gives the control software a line.
    pub fn command(&mut self, line: &str) -> Reply {
        let mut tables = RouterTables::new(self.simulation.router(), &self.macs);
        let reply = self.control.command(self.now, line, &mut tables);
        self.collect();
        reply
    }

    /// Passes frames between router and software, and keeps those that leave.
    fn collect(&mut self) {
        for port in 0..self.macs.len() {
            let left = |name: &str| {
                let port = self.simulation.port(&format!("{name}{port}"));
                port.map(Port::departures).unwrap_or_default()
            };
            let (out, cpu) = (left("eth"), left("cpu"));
            self.sent
                .extend(out.into_iter().map(|one| (port, one.at, one.frame)));
            for one in cpu {
                let mut tables = RouterTables::new(self.simulation.router(), &self.macs);
                let at = self.now.max(one.at);
                self.control.receive(at, port, &one.frame, &mut tables);
            }
        }
        while let Some((port, frame)) = self.control.poll_transmit() {
            if let Some(port) = self.simulation.port(&format!("cpu{port}")) {
                port.give(self.now, frame);
            }
        }
    }
}
