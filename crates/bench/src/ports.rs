//! What tests of switches ask: flows between several ports at once, and addresses to be learned.
//!
//! ```text
//! learning:  learning port ── N frames, each from another address ──> switch ──> test port
//! asking:    learning port <── N frames, each to another address ──── switch <── test port
//!                                                                       └─────> monitoring port: what was flooded
//! ```
//! RFC 2889 §5.5, §5.7, §5.8.

use crate::testbed::{Directions, Traffic};
use crate::trial::Load;
use trammel_core::time::Span;

/// What one port sends to another.
#[derive(Clone, Debug, PartialEq)]
pub struct PortFlow {
    /// The port into which frames are sent, from 0.
    pub from: u32,
    /// The port out of which they should come.
    pub to: u32,
    /// What they are; its directions mean nothing here.
    pub traffic: Traffic,
    /// How fast and how long. All flows of a trial begin at once.
    pub load: Load,
}

impl PortFlow {
    /// `load` of `traffic` from one port to another.
    pub fn new(from: u32, to: u32, traffic: &Traffic, load: Load) -> PortFlow {
        PortFlow {
            from,
            to,
            traffic: Traffic {
                directions: Directions::OneWay,
                ..traffic.clone()
            },
            load,
        }
    }
}

/// Addresses to be learned, and asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learning {
    /// How many; at least 1.
    pub addresses: u64,
    /// Learning frames a second, one for each address; above 0.
    pub learning_fps: f64,
    /// Test frames a second, one to each address; above 0.
    pub test_fps: f64,
    /// For how long the device keeps an address of which it hears nothing.
    pub age: Span,
}

impl Learning {
    /// How long learning and asking take, without the wait for the age before.
    pub fn duration(&self) -> Span {
        let addresses = self.addresses as f64;
        Span::from_secs_f64(addresses / self.learning_fps + addresses / self.test_fps)
    }
}

/// What became of the test frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// Frames that the test port sent, one to each address.
    pub offered: u64,
    /// Frames of these that came out of the learning port.
    pub forwarded: u64,
    /// Frames that came out of the test port, out of which none should.
    pub flooded_test: u64,
    /// Frames that came out of the learning port and have addresses of another one.
    pub flooded_learning: u64,
    /// Frames that came out of the monitoring port.
    pub flooded_monitor: u64,
}

impl Learned {
    /// Whether the device knew all addresses.
    //= rfc2889 §5.7.3
    //# IF (MPort receive frame != 0) OR (LPort receive frames < TPort transmit) THEN BEGIN {Address
    //# Table of DUT/SUT was full}
    pub fn is_all(&self) -> bool {
        self.flooded_monitor == 0 && self.forwarded >= self.offered
    }
}
