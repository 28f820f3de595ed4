//! A namespace whose kernel is on one end of a TAP, and a host of ours on the other.
//!
//! The kernel has 10.0.0.1, the host 10.0.0.2; they find each other by ARP. Nothing leaves the
//! namespace.
#![allow(dead_code)] // Each program uses its part.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use trammel_core::time::Time;
use trammel_io::clock::{self, Waiter};
use trammel_io::error::Result;
use trammel_io::netns::Namespace;
use trammel_io::tap::{Options, Tap};
use trammel_peer::drive::{Clock, Driver};
use trammel_peer::faults::{Faults, Rates};
use trammel_peer::host::Host;

/// The kernel's address.
pub(crate) const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// The host's address.
pub(crate) const OURS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const OUR_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// The kernel's monotonic clock, from when this was made.
#[derive(Debug)]
pub(crate) struct WallClock {
    start_ns: i64,
    waiter: Waiter,
    waits_on: Option<i32>,
}

impl WallClock {
    pub(crate) fn start() -> WallClock {
        clock::wake_on_time();
        WallClock {
            start_ns: clock::monotonic_ns(),
            waiter: Waiter::new(),
            waits_on: None,
        }
    }
}

impl Clock for WallClock {
    fn now(&mut self) -> Time {
        Time::from_ns((clock::monotonic_ns() - self.start_ns) as u64)
    }

    fn wait(&mut self, descriptor: Option<i32>, until: Time) -> io::Result<()> {
        if descriptor != self.waits_on {
            self.waiter.set(descriptor.as_slice());
            self.waits_on = descriptor;
        }
        let left = until.saturating_since(self.now());
        self.waiter.wait(Some(left.as_ns() as i64)).map(drop)
    }
}

/// Both ends of a wire.
pub(crate) struct Wire {
    /// Where the kernel's sockets are made; behind an `Arc` for threads that make them.
    pub(crate) kernel: Arc<Namespace>,
    /// The host and its device.
    pub(crate) driver: Driver<Tap, WallClock>,
}

/// A wire whose faults are drawn from `seed`, at these rates on the way in and on the way out.
pub(crate) fn wire(seed: u64, rates: [Rates; 2]) -> Result<Wire> {
    let kernel = Namespace::new()?;
    let tap = kernel.run(|| Tap::open("t%d", &Options::default()))?;
    kernel.set_up("t0", true)?;
    kernel.add_address("t0", &format!("{KERNEL}/24"))?;
    let [inward, outward] = rates;
    let faults = [
        Faults::new(seed, "in", &inward),
        Faults::new(seed, "out", &outward),
    ];
    let host = Host::new(OUR_MAC, OURS, seed);
    Ok(Wire {
        kernel: Arc::new(kernel),
        driver: Driver::new(host, tap, WallClock::start(), faults),
    })
}
