//! Interfaces whose frames the kernel's own stack sees beside the card.
//!
//! By a packet socket the kernel gets every frame too, and answers requests of ARP for any address
//! of this machine, whatever interface has it: its own interface would be taken for the card's
//! port. While the card runs, ARP is off on ports that have no address of their own.

use crate::error::Error;
use trammel_io::interfaces::interfaces;
use trammel_io::netlink::Socket;

/// The interfaces, whose ARP comes back when this is dropped.
#[derive(Debug)]
pub(super) struct Shared {
    kernel: Socket,
    silenced: Vec<String>,
    remarks: Vec<String>,
}

impl Shared {
    /// None yet.
    pub(super) fn new() -> Result<Shared, Error> {
        Ok(Shared {
            kernel: Socket::open(&[]).map_err(Error::of("configure the ports"))?,
            silenced: Vec::new(),
            remarks: Vec::new(),
        })
    }

    /// Adds the interface `name`.
    pub(super) fn add(&mut self, name: &str) -> Result<(), Error> {
        let all = interfaces().map_err(Error::of("read the addresses of the ports"))?;
        let own = all.into_iter().find(|one| one.link.name == name);
        let addresses = own.map(|own| own.addresses).unwrap_or_default();
        if let Some((address, _)) = addresses.iter().find(|(address, _)| address.is_ipv4()) {
            self.remarks.push(format!(
                "`{name}` has the address {address}: the kernel answers on it beside the card; \
                 `ip address flush dev {name}`"
            ));
            return Ok(());
        }
        match self.kernel.set_arp(name, false) {
            Ok(true) => self.silenced.push(name.to_owned()),
            Ok(false) => {}
            Err(why) => self.remarks.push(format!(
                "`{name}`: the kernel answers requests of ARP on it beside the card ({why})"
            )),
        }
        Ok(())
    }

    /// What the user should know.
    pub(super) fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        for name in &self.silenced {
            // An interface that is gone needs none.
            let _ = self.kernel.set_arp(name, true);
        }
    }
}
