//! What a simulated port is like, and what is wrong with such a description.

use crate::engine::core_clock::Cost;
use std::sync::Arc;
use trammel_core::time::Span;
use trammel_core::units::Rate;

/// How the router learns that frames have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// It asks.
    Polled,
    /// It is told, so long after the first frame came: the moderation of interrupts and the way to
    /// the program.
    Interrupt(Span),
}

/// What a port is like.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The name that configurations call it by.
    pub name: String,
    /// The link's rate, both ways.
    pub rate: Rate,
    /// Frames that wait to be received, at most; at least 1.
    pub receive_ring: usize,
    /// Frames that wait to be sent, at most; at least 1.
    pub transmit_ring: usize,
    /// Frames that the driver gives at a time, at most; at least 1.
    pub batch: usize,
    /// How the router learns of frames.
    pub notice: Notice,
    /// The rate of the bus between port and memory, each way; none where it does not count.
    pub bus: Option<Rate>,
    /// What receiving costs: `call` each batch, `empty` each poll in vain.
    pub receive: Cost,
    /// What sending costs: `call` each time that frames are given to it, `empty` where it took
    /// none.
    pub transmit: Cost,
    /// What it costs to have what was gathered sent: `call` each time, and each frame and byte of
    /// it.
    pub flush: Cost,
    /// How many times that each flush takes: drawn among these, each as likely as the others; once
    /// where there is none.
    pub flush_spread: Arc<[f64]>,
    /// Whether frames wait for that, rather than going at once.
    pub gathers: bool,
}

impl Settings {
    /// A polled port with rings of 512 frames, whose driver costs nothing.
    pub fn ideal(name: &str, rate: Rate) -> Settings {
        Settings {
            name: name.to_owned(),
            rate,
            receive_ring: 512,
            transmit_ring: 512,
            batch: usize::MAX,
            notice: Notice::Polled,
            bus: None,
            receive: Cost::NONE,
            transmit: Cost::NONE,
            flush: Cost::NONE,
            flush_spread: Arc::new([]),
            gathers: false,
        }
    }

    /// What is wrong with it.
    pub fn fault(&self) -> Option<String> {
        let fault = if self.rate.as_bps() == 0 || self.bus.is_some_and(|bus| bus.as_bps() == 0) {
            Some("a rate of 0 carries nothing; give one above 0".to_owned())
        } else if self.receive_ring == 0 || self.transmit_ring == 0 {
            Some("a ring of 0 frames holds nothing; give one of 1 at least".to_owned())
        } else if self.batch == 0 {
            Some("batches of 0 frames bring nothing; give 1 at least".to_owned())
        } else {
            (self.receive.fault())
                .or_else(|| self.transmit.fault())
                .or_else(|| self.flush.fault())
                .or_else(|| {
                    let wrong =
                        (self.flush_spread.iter()).find(|times| !(0.0..=1e6).contains(*times))?;
                    Some(format!(
                        "a flush that takes {wrong} times its cost; it must be from 0 to 1e6"
                    ))
                })
        };
        fault.map(|fault| format!("port `{}`: {fault}", self.name))
    }
}
