//! This machine's names: its interfaces, and its tables of services and protocols.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use trammel_router::host::MachineNames;
#[cfg(target_os = "linux")]
use {
    std::net::Ipv4Addr,
    std::sync::OnceLock,
    trammel_io::interfaces::{self, Interface},
    trammel_router::host::InterfaceAddresses,
};

/// The longest table that is read: that of all registered services is shorter.
const LONGEST: u64 = 4 << 20;

/// This machine, its interfaces read once; only those of Linux are known.
#[derive(Debug, Default)]
struct Here {
    #[cfg(target_os = "linux")]
    interfaces: OnceLock<Vec<Interface>>,
}

/// The names of this machine as it is now.
pub fn here() -> Arc<dyn MachineNames> {
    Arc::new(Here::default())
}

#[cfg(target_os = "linux")]
impl Here {
    fn find(&self, name: &str) -> Option<&Interface> {
        let read = || interfaces::interfaces().unwrap_or_default();
        let all = self.interfaces.get_or_init(read);
        all.iter().find(|one| one.link.name == name)
    }
}

impl MachineNames for Here {
    #[cfg(target_os = "linux")]
    fn interface(&self, name: &str) -> Option<InterfaceAddresses> {
        self.find(name).map(|one| InterfaceAddresses {
            ether: one.link.mac,
            addresses: one.addresses.clone(),
        })
    }

    #[cfg(target_os = "linux")]
    fn gateway(&self, name: &str) -> Option<Ipv4Addr> {
        let index = self.find(name)?.link.index;
        interfaces::default_router(index).ok().flatten()
    }

    fn services(&self) -> Option<String> {
        table("/etc/services")
    }

    fn protocols(&self) -> Option<String> {
        table("/etc/protocols")
    }
}

/// A table of the system, where it has one.
fn table(path: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
