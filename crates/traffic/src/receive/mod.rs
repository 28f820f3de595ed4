//! Receiving streams: sessions of many senders at once, ports that packets come to, and what came
//! of each flow.
//!
//! A session is a thread, and so is a port that has flows: what a sender does or fails to do ends
//! its own flows and nothing else.

pub mod frames;
pub mod hub;
pub mod icmp;
pub mod port;
pub(crate) mod ports;
pub mod reads;
mod seen;
pub(crate) mod session;
pub mod tcp;
pub mod udp;
pub mod visit;

use crate::link::serve::Tests;
use crate::record::Protocol;
use crate::signal::channel::ReceiveError;
use crate::signal::greet::Opener;
use crate::signal::key::Key;
use crate::signal::listener::Listener;
use crate::signal::places::Places;
use hub::Hub;
use port::{Manner, Port};
use ports::{Held, Ports};
use reads::Stamped;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::Scope;
use trammel_io::reach::at_port;

/// How to receive.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The key that senders have to hold; none serves everybody.
    pub key: Option<Key>,
}

/// What sessions share.
#[derive(Debug)]
struct Shared {
    settings: Settings,
    /// Where signalling is listened for: ports of packets are at the same address.
    address: RwLock<SocketAddr>,
    hub: Arc<Mutex<Hub>>,
    /// The interface of which AF_XDP takes datagrams.
    xdp: Option<String>,
    ports: Arc<Ports<Stamped>>,
    /// Tests of the path that are served.
    tests: Tests,
}

impl Shared {
    fn new(settings: Settings, address: SocketAddr, hub: Hub, places: Arc<Places>) -> Shared {
        let hub = Arc::new(Mutex::new(hub));
        Shared {
            settings,
            address: RwLock::new(address),
            ports: Ports::new(hub.clone(), places),
            hub,
            xdp: None,
            tests: Tests::default(),
        }
    }

    fn address(&self) -> SocketAddr {
        *self.address.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has ports of packets be opened at `address` from now on.
    fn set_address(&self, address: SocketAddr) {
        *self.address.write().unwrap_or_else(PoisonError::into_inner) = address;
    }

    fn hub(&self) -> MutexGuard<'_, Hub> {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The port `number` of a protocol for a flow of `peer`.
    fn port<'scope>(
        &'scope self,
        (protocol, number): (Protocol, u16),
        peer: SocketAddr,
        run: (&'scope Scope<'scope, '_>, &'scope AtomicBool),
    ) -> Result<Held<Stamped>, String> {
        // ICMP has no ports: there is one of it.
        let number = if protocol == Protocol::Icmp {
            0
        } else {
            number
        };
        let open = || {
            let manner = Manner {
                xdp: self.xdp.as_deref(),
                ..Manner::default()
            };
            Port::open(protocol, at_port(self.address(), number), manner)
        };
        let key = (protocol, number);
        self.ports.hold(key, peer, open, || Stamped, run)
    }
}

/// A receiver.
#[derive(Debug)]
pub struct Receiver {
    listener: Listener,
    shared: Shared,
}

impl Receiver {
    /// A receiver that listens for signalling at `address`, and gives what it receives to `hub`.
    pub fn open(address: SocketAddr, settings: Settings, hub: Hub) -> io::Result<Receiver> {
        let listener = Listener::open(address)?;
        Ok(Receiver {
            shared: Shared::new(settings, listener.address(), hub, listener.places().clone()),
            listener,
        })
    }

    /// Has datagrams of UDP that come by `interface` go past the kernel's stack, to the first port
    /// that is opened.
    pub fn by_xdp(mut self, interface: &str) -> Receiver {
        self.shared.xdp = Some(interface.to_owned());
        self
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.shared.address()
    }

    /// What it receives.
    pub fn hub(&self) -> MutexGuard<'_, Hub> {
        self.shared.hub()
    }

    /// Serves senders until `stop` is set; `ended` hears of sessions that ended otherwise than
    /// their sender said.
    pub fn run(
        &self,
        stop: &AtomicBool,
        ended: &(dyn Fn(SocketAddr, ReceiveError) + Sync),
    ) -> io::Result<()> {
        let shared = &self.shared;
        std::thread::scope(|scope| {
            self.listener.serve(scope, stop, move |stream, from| {
                if let Err(silence) = session::serve(stream, shared, Opener::Them, (scope, stop)) {
                    ended(from, silence);
                }
            })
        })
    }
}
