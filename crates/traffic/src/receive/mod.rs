//! Receiving streams: sessions of many senders at once, ports that packets come to, and what came of each flow.
//!
//! A session is a thread, and so is a port: what a sender does or fails to do ends its own flows and nothing else.

pub mod frames;
pub mod hub;
pub mod icmp;
pub mod port;
pub mod reads;
mod session;
pub mod tcp;
pub mod udp;
pub mod visit;

use crate::record::Protocol;
use crate::signal::channel::Silence;
use crate::signal::key::Key;
use crate::signal::listener::Listener;
use hub::Hub;
use port::{Manner, Port};
use reads::{Reads, Stamped};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

/// Ports, at most.
const MOST_PORTS: usize = 1024;

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
    address: SocketAddr,
    hub: Arc<Mutex<Hub>>,
    /// The interface of which AF_XDP takes datagrams.
    xdp: Option<String>,
    /// By the number that was asked for; 0 is the one that the system chose.
    ports: Mutex<BTreeMap<(Protocol, u16), Port>>,
    /// Connections that this end has made to ports of senders.
    connections: AtomicUsize,
}

impl Shared {
    fn new(settings: Settings, address: SocketAddr, hub: Hub) -> Shared {
        Shared {
            settings,
            address,
            hub: Arc::new(Mutex::new(hub)),
            xdp: None,
            ports: Mutex::default(),
            connections: AtomicUsize::new(0),
        }
    }

    fn hub(&self) -> MutexGuard<'_, Hub> {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The port `number` of a protocol, which is served from now on.
    fn port<'scope>(
        &'scope self,
        (protocol, number): (Protocol, u16),
        scope: &'scope Scope<'scope, '_>,
        stop: &'scope AtomicBool,
    ) -> Result<Port, String> {
        // ICMP has no ports: there is one of it.
        let number = if protocol == Protocol::Icmp {
            0
        } else {
            number
        };
        let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(port) = ports.get(&(protocol, number)) {
            return Ok(port.clone());
        }
        if ports.len() >= MOST_PORTS {
            return Err(format!(
                "{MOST_PORTS} ports are open already; use one of them"
            ));
        }
        let port = Port::open(
            protocol,
            (self.address.ip(), number).into(),
            Manner {
                xdp: self.xdp.as_deref(),
                ..Manner::default()
            },
        )?;
        ports.insert((protocol, number), port.clone());
        let (served, hub) = (port.clone(), self.hub.clone());
        scope.spawn(move || {
            let reads: Arc<dyn Reads> = Arc::new(Stamped);
            // An error of a socket that is ours and open is one of the machine's.
            if let Err(why) = served.serve(&hub, &reads, scope, stop) {
                let at = served.address().map_or(number, |address| address.port());
                let name = format!("port {at} of {protocol:?}");
                let mut hub = hub.lock().unwrap_or_else(PoisonError::into_inner);
                hub.port_failed(&name, &why);
                drop(hub);
                // Who asks for it again may have more luck.
                let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
                ports.remove(&(protocol, number));
            }
        });
        Ok(port)
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
            shared: Shared::new(settings, listener.address(), hub),
            listener,
        })
    }

    /// Has datagrams of UDP that come by `interface` go past the kernel's stack, to the first port that is opened.
    pub fn by_xdp(mut self, interface: &str) -> Receiver {
        self.shared.xdp = Some(interface.to_owned());
        self
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.shared.address
    }

    /// What it receives.
    pub fn hub(&self) -> MutexGuard<'_, Hub> {
        self.shared.hub()
    }

    /// Serves senders until `stop` is set; `ended` hears of sessions that ended otherwise than their sender said.
    pub fn run(
        &self,
        stop: &AtomicBool,
        ended: &(dyn Fn(SocketAddr, Silence) + Sync),
    ) -> io::Result<()> {
        let shared = &self.shared;
        std::thread::scope(|scope| {
            self.listener.serve(scope, stop, move |stream, from| {
                if let Err(silence) = session::serve(stream, shared, scope, stop) {
                    ended(from, silence);
                }
            })
        })
    }
}
