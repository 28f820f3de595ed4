//! Serving ITGSend: channels of many senders at once, the flows that they open, and their end,
//! whatever the sender does.
//!
//! A channel (`serve_channel`) is a thread, and so is a port.

use super::flows::Flows;
use super::log_file::BinaryLog;
use super::serve_channel::Channel;
use super::session;
use super::signalling::{Message, Side};
use crate::log::quota::Quota;
use crate::receive::hub::Hub;
use crate::receive::port::{Manner, Port};
use crate::receive::ports::{Held, Ports};
use crate::record::Protocol;
use crate::send::waiting::any;
use crate::signal::listener::Listener;
use crate::signal::pending::{Door, Verdict};
use crate::signal::places::Places;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Duration;
use trammel_io::local::Local;
use trammel_io::reach;

/// The longest that a sender may take to open its first flow, and to read what is said to it.
pub(super) const GREETING: Duration = Duration::from_secs(10);

/// How to serve.
#[derive(Debug, Default)]
pub struct Settings {
    /// A log of everything.
    pub log: Option<Arc<BinaryLog>>,
    /// The folder of logs that senders wish for; without one they get none.
    pub wished: Option<PathBuf>,
    /// How many bytes they may take.
    pub quota: Quota,
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

/// What the channels of a receiver have in common.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: Settings,
    /// Where packets come to.
    data: IpAddr,
    pub(super) hub: Arc<Mutex<Hub>>,
    ports: Arc<Ports<Flows>>,
}

/// A receiver that ITGSend can talk to.
#[derive(Debug)]
pub struct Receiver {
    listener: Listener,
    shared: Shared,
}

impl Receiver {
    /// Listens for signalling at `signalling`, and for packets at the address `data`; what comes
    /// goes to `hub`.
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
        let listener = Listener::with(local.listen()?, Arc::default())?;
        Ok(Receiver {
            shared: Shared::new(data, settings, hub, listener.places().clone()),
            listener,
        })
    }

    /// Where it listens for signalling.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
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
        let shared = &self.shared;
        std::thread::scope(|scope| {
            let serve = move |stream, peer| {
                let session = session::Receiver::new();
                let channel = Channel::new(stream, peer, (shared, session));
                channel.converse((scope, stop), say);
            };
            self.listener
                .serve_others((scope, stop), &Greeting, serve, say)
        })
    }
}

/// What ITGSend begins with: a whole message, or bytes that are none.
struct Greeting;

impl Door for Greeting {
    fn judge(&self, first: &[u8], _: SocketAddr) -> Verdict {
        match Message::decode(first, Side::Sender) {
            Ok(None) => Verdict::Wait,
            _ => Verdict::Serve,
        }
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
        senders: &[SocketAddr],
        punches: u32,
        settings: Settings,
        hub: Hub,
    ) -> io::Result<Visitor> {
        let device = settings.signalling_device.as_deref();
        let begin = |sender| near(sender, device).begin(sender);
        let stream = reach::connect_by(senders, GREETING, &begin)?;
        let sender = stream.peer_addr()?;
        Ok(Visitor {
            stream,
            sender,
            punches,
            shared: Shared::new(any(sender.ip()), settings, hub, Arc::default()),
        })
    }

    /// What it receives.
    pub fn hub(&self) -> MutexGuard<'_, Hub> {
        self.shared.hub()
    }

    /// Takes the flows of the sender until they are over or `stop` is set, and sets it; `say` hears
    /// what is amiss.
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
    fn new(data: IpAddr, settings: Settings, hub: Hub, places: Arc<Places>) -> Shared {
        let hub = Arc::new(Mutex::new(hub));
        Shared {
            settings,
            data,
            ports: Ports::new(hub.clone(), places),
            hub,
        }
    }

    pub(super) fn hub(&self) -> MutexGuard<'_, Hub> {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The port `number` of a protocol for a flow of `peer`.
    pub(super) fn port<'scope>(
        &'scope self,
        (protocol, number): (Protocol, u16),
        peer: SocketAddr,
        run: (&'scope Scope<'scope, '_>, &'scope AtomicBool),
    ) -> Result<Held<Flows>, String> {
        let manner = Manner {
            device: self.settings.device.as_deref(),
            // The channel does not tell of which type a flow's messages are.
            has_all_types: true,
            ..Manner::default()
        };
        let open = || Port::open(protocol, (self.data, number).into(), manner);
        let key = (protocol, number);
        self.ports
            .hold(key, peer, open, || Flows::new(protocol), run)
    }

    /// The places of the threads that serve senders.
    pub(super) fn places(&self) -> &Arc<Places> {
        self.ports.places()
    }
}
