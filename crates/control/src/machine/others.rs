//! Addresses of nobody here whose packets are for the software all the same.

use super::{ALL_ROUTERS, Machine};
use core::net::Ipv4Addr;

/// Addresses that may be added to the router's own: the places of the reference router's filter.
const MOST_OTHERS: usize = 32;

impl Machine {
    /// Has packets to `address` given to the software.
    pub(crate) fn add_own(&mut self, address: Ipv4Addr) -> Result<(), String> {
        if self.owns(address) || address == ALL_ROUTERS || self.others.contains(&address) {
            return Err(format!("packets to {address} are for the software already"));
        }
        if self.others.len() >= MOST_OTHERS {
            return Err(format!(
                "{MOST_OTHERS} addresses were added, which is the most: delete one"
            ));
        }
        self.others.insert(address);
        self.stale = true;
        Ok(())
    }

    /// Takes back what [`Self::add_own`] did; false where it was not added.
    pub(crate) fn remove_own(&mut self, address: Ipv4Addr) -> bool {
        self.stale = true;
        self.others.remove(&address)
    }
}
