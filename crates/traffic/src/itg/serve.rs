//! Serving ITGSend: channels of many senders at once, the flows that they open, and their end, whatever the sender does.
//!
//! A channel (`serve_channel`) is a thread, and so is a port.

use super::flows::Flows;
use super::log_file::BinaryLog;
use super::serve_channel::Channel;
use super::session;
use crate::receive::hub::Hub;
use crate::receive::port::{Manner, Port};
use crate::receive::reads::Reads;
use crate::record::Protocol;
use crate::send::waiting::any;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Duration;
use trammel_io::clock::Waiter;
use trammel_io::local::Local;

/// Senders at once, and ports, at most.
const MOST_CHANNELS: usize = 1024;
const MOST_PORTS: usize = 1024;
/// The longest that a sender may take to open its first flow, and to read what is said to it.
pub(super) const GREETING: Duration = Duration::from_secs(10);
const SLICE_NS: i64 = 50_000_000;

/// How to serve.
#[derive(Debug, Default)]
pub struct Settings {
    /// A log of everything.
    pub log: Option<Arc<BinaryLog>>,
    /// The folder of logs that senders wish for; without one they get none.
    pub wished: Option<PathBuf>,
    /// The only interface that packets are taken from (`-i`), and that signalling is (`-Si`).
    pub device: Option<String>,
    /// See above.
    pub signalling_device: Option<String>,
}

/// This host's end of a connection to `to`, by interface `device`.
pub(super) fn near(to: SocketAddr, device: Option<&str>) -> Local<'_> {
    Local {
        device,
        ..Local::any(to.ip())
    }
}

/// Hears what a person should know, and of which sender.
pub type Say<'a> = &'a (dyn Fn(SocketAddr, &str) + Sync);

type Ports = BTreeMap<(Protocol, u16), (Port, Arc<Flows>)>;

/// What the channels of a receiver have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: Settings,
    /// Where packets come to.
    data: IpAddr,
    pub(super) hub: Arc<Mutex<Hub>>,
    ports: Mutex<Ports>,
    channels: AtomicUsize,
}

/// A receiver that ITGSend can talk to.
#[derive(Debug)]
pub struct Receiver {
    listener: TcpListener,
    shared: Shared,
}

impl Receiver {
    /// Listens for signalling at `signalling`, and for packets at the address `data`; what comes goes to `hub`.
    ///
    /// # Errors
    /// If the port cannot be had.
    pub fn open(
        signalling: SocketAddr,
        data: IpAddr,
        settings: Settings,
        hub: Hub,
    ) -> io::Result<Receiver> {
        let local = Local {
            address: signalling,
            device: settings.signalling_device.as_deref(),
        };
        let listener = local.listen()?;
        listener.set_nonblocking(true)?;
        Ok(Receiver {
            listener,
            shared: Shared::new(data, settings, hub),
        })
    }

    /// Where it listens for signalling.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// What it receives.
    pub fn hub(&self) -> MutexGuard<'_, Hub> {
        self.shared.hub()
    }

    /// Serves senders until `stop` is set; `say` hears what is amiss with one.
    ///
    /// # Errors
    /// If no more senders can be accepted.
    pub fn run(&self, stop: &AtomicBool, say: Say<'_>) -> io::Result<()> {
        let mut waiter = Waiter::new();
        waiter.set(&[self.listener.as_raw_fd()]);
        let shared = &self.shared;
        std::thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                // Who hung up before being served, or too many open files: others may still be served.
                let Ok((stream, peer)) = self.listener.accept() else {
                    waiter.wait(Some(SLICE_NS))?;
                    continue;
                };
                if shared.channels.fetch_add(1, Ordering::Relaxed) >= MOST_CHANNELS {
                    shared.channels.fetch_sub(1, Ordering::Relaxed);
                    say(
                        peer,
                        &format!("turned away: {MOST_CHANNELS} senders are here already"),
                    );
                    continue;
                }
                scope.spawn(move || {
                    let session = session::Receiver::new();
                    let channel = Channel::new(stream, peer, (shared, session));
                    channel.converse((scope, stop), say);
                    shared.channels.fetch_sub(1, Ordering::Relaxed);
                });
            }
            Ok(())
        })
    }
}

/// A receiver that comes to its sender (`-H`), for signalling and for packets.
#[derive(Debug)]
pub struct Visitor {
    stream: TcpStream,
    sender: SocketAddr,
    /// Datagrams that tell a sender of UDP where its receiver is.
    punches: u32,
    shared: Shared,
}

impl Visitor {
    /// Comes to the sender that waits at `sender`; what it sends goes to `hub`.
    ///
    /// # Errors
    /// If nobody waits there.
    pub fn come(
        sender: SocketAddr,
        punches: u32,
        settings: Settings,
        hub: Hub,
    ) -> io::Result<Visitor> {
        let device = settings.signalling_device.as_deref();
        Ok(Visitor {
            stream: near(sender, device).connect(sender, GREETING)?,
            sender,
            punches,
            shared: Shared::new(any(sender.ip()), settings, hub),
        })
    }

    /// What it receives.
    pub fn hub(&self) -> MutexGuard<'_, Hub> {
        self.shared.hub()
    }

    /// Takes the flows of the sender until they are over or `stop` is set, and sets it; `say` hears what is amiss.
    ///
    /// # Errors
    /// If the system has no room for the channel.
    pub fn run(&self, stop: &AtomicBool, say: Say<'_>) -> io::Result<()> {
        let stream = self.stream.try_clone()?;
        let shared = &self.shared;
        std::thread::scope(|scope| {
            let session = (shared, session::Receiver::passive());
            let mut channel = Channel::new(stream, self.sender, session);
            channel.punches = self.punches;
            channel.converse((scope, stop), say);
            // Its ports are of no more use.
            stop.store(true, Ordering::Relaxed);
        });
        Ok(())
    }
}

impl Shared {
    fn new(data: IpAddr, settings: Settings, hub: Hub) -> Shared {
        Shared {
            settings,
            data,
            hub: Arc::new(Mutex::new(hub)),
            ports: Mutex::default(),
            channels: AtomicUsize::new(0),
        }
    }

    pub(super) fn hub(&self) -> MutexGuard<'_, Hub> {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The port `number` of a protocol, which is served from now on.
    pub(super) fn port<'scope>(
        &'scope self,
        (protocol, number): (Protocol, u16),
        (scope, stop): (&'scope Scope<'scope, '_>, &'scope AtomicBool),
    ) -> Result<(Port, Arc<Flows>), String> {
        let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = ports.get(&(protocol, number)) {
            return Ok(found.clone());
        }
        if ports.len() >= MOST_PORTS {
            return Err(format!("{MOST_PORTS} ports are open already"));
        }
        let manner = Manner {
            device: self.settings.device.as_deref(),
            // The channel does not tell of which type a flow's messages are.
            has_all_types: true,
            ..Manner::default()
        };
        let port = Port::open(protocol, (self.data, number).into(), manner)?;
        let flows = Arc::new(Flows::new(protocol));
        ports.insert((protocol, number), (port.clone(), flows.clone()));
        let (served, hub) = (port.clone(), self.hub.clone());
        let reads: Arc<dyn Reads> = flows.clone();
        scope.spawn(move || {
            // An error of a socket that is ours and open is one of the machine's.
            if let Err(why) = served.serve(&hub, &reads, scope, stop) {
                let mut hub = hub.lock().unwrap_or_else(PoisonError::into_inner);
                hub.port_failed(&format!("port {number} of {protocol:?}"), &why);
                drop(hub);
                // Who asks for it again may have more luck.
                let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
                ports.remove(&(protocol, number));
            }
        });
        Ok((port, flows))
    }
}
