//! An interface in operation: its state, its neighbours and its next HELLO.

use super::config::InterfaceConfig;
use super::neighbours::Neighbours;
use core::net::Ipv4Addr;
use trammel_core::Time;

#[derive(Debug, Clone)]
pub(super) struct Interface {
    pub(super) config: InterfaceConfig,
    pub(super) up: bool,
    pub(super) neighbours: Neighbours,
    /// When the next HELLO is due; never where the interface is down.
    pub(super) hello_due: Time,
    pub(super) hello_sent: Option<Time>,
}

impl Interface {
    pub(super) fn new(config: InterfaceConfig, now: Time) -> Interface {
        Interface {
            config,
            up: config.up,
            neighbours: Neighbours::NONE,
            hello_due: if config.up { now } else { Time::MAX },
            hello_sent: None,
        }
    }

    /// Whether `source` can be another host of the subnet.
    pub(super) fn can_hear(&self, source: Ipv4Addr) -> bool {
        source & self.config.mask == self.config.network() && source != self.config.address
    }

    /// The next instant at which the interface has work.
    pub(super) fn next_timeout(&self) -> Time {
        self.hello_due.min(self.neighbours.next_check())
    }
}
