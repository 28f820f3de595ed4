//! Serving ITGSend: channels of many senders at once, the flows that they open, and their end, whatever the sender does.
//!
//! A channel is a thread, and so is a port. D-ITG does not tell how many packets it sent: a flow is over when its sender has said so
//! and nothing has come for a while.

use super::command::Metadata;
use super::flows::{Flows, Known};
use super::log_file::BinaryLog;
use super::log_protocol;
use super::session::{self, Received};
use super::signalling::{LogName, Open};
use crate::receive::hub::Hub;
use crate::receive::port::{Manner, Port};
use crate::receive::reads::Reads;
use crate::receive::tcp;
use crate::record::{Flow, Protocol};
use crate::send::waiting::any;
use crate::signal::message::Count;
use crate::stream::Meter;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};
use trammel_io::clock::Waiter;
use trammel_io::local::Local;

/// Senders at once, and ports, at most.
const MOST_CHANNELS: usize = 1024;
const MOST_PORTS: usize = 1024;
/// The longest that a sender may take to open its first flow, and to read what is said to it.
const GREETING: Duration = Duration::from_secs(10);
/// What was sent may be on its way for so long after the sender has said that it is done; a flow that is quiet for the shorter
/// time is over.
const LATEST: Duration = Duration::from_secs(5);
const QUIET: Duration = Duration::from_millis(300);
/// The longest that a receiver that is to stop waits for the end of channels without flows.
const FAREWELL: Duration = Duration::from_secs(2);
/// So often is looked whether a flow is quiet.
const LOOK: Duration = Duration::from_millis(20);
const SLICE_NS: i64 = 50_000_000;
/// What a passive receiver says to a sender of UDP.
const PUNCH: &[u8] = b"hello\0";
/// Records that a log server gets at once, as ITGRecv's (`-q`).
const BATCH: u32 = 50;

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
fn near(to: SocketAddr, device: Option<&str>) -> Local<'_> {
    Local {
        device,
        ..Local::any(to.ip())
    }
}

/// Hears what a person should know, and of which sender.
pub type Say<'a> = &'a (dyn Fn(SocketAddr, &str) + Sync);

type Ports = BTreeMap<(Protocol, u16), (Port, Arc<Flows>)>;

#[derive(Debug)]
struct Shared {
    settings: Settings,
    /// Where packets come to.
    data: IpAddr,
    hub: Arc<Mutex<Hub>>,
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

    fn hub(&self) -> MutexGuard<'_, Hub> {
        self.hub.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The port `number` of a protocol, which is served from now on.
    fn port<'scope>(
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

/// A flow of a channel.
#[derive(Debug)]
struct Mine {
    number: u32,
    port: Port,
    flows: Arc<Flows>,
    /// The port of a passive sender that its packets are to be fetched at.
    back: Option<u16>,
    /// What its port had lost before.
    lost_before: u64,
    /// Since when its sender is done, since when nothing has come, and what had come then.
    ending: Option<(Instant, Instant, Count)>,
}

/// A channel with a sender.
struct Channel<'scope> {
    stream: TcpStream,
    peer: SocketAddr,
    shared: &'scope Shared,
    session: session::Receiver,
    punches: u32,
    /// By the sender's numbers.
    flows: BTreeMap<u32, Mine>,
    wished: Option<Arc<BinaryLog>>,
}

impl<'scope> Channel<'scope> {
    fn new(
        stream: TcpStream,
        peer: SocketAddr,
        (shared, session): (&'scope Shared, session::Receiver),
    ) -> Channel<'scope> {
        Channel {
            stream,
            peer,
            shared,
            session,
            punches: 0,
            flows: BTreeMap::new(),
            wished: None,
        }
    }

    /// Serves the sender to its end, however it comes.
    fn converse(
        mut self,
        (scope, stop): (&'scope Scope<'scope, '_>, &'scope AtomicBool),
        say: Say<'_>,
    ) {
        let done = self.serve((scope, stop), say);
        self.close_all();
        if let Some(why) = self.wished.as_ref().and_then(|log| log.fault()) {
            say(self.peer, &why);
        }
        if let (Err(why), false) = (done, stop.load(Ordering::Relaxed)) {
            say(self.peer, &format!("{why}; its flows are closed"));
        }
    }

    fn from(&self) -> IpAddr {
        self.peer.ip().to_canonical()
    }

    fn serve(
        &mut self,
        run: (&'scope Scope<'scope, '_>, &'scope AtomicBool),
        say: Say<'_>,
    ) -> Result<(), String> {
        let system = |why: io::Error| why.to_string();
        self.stream.set_nonblocking(false).map_err(system)?;
        self.stream.set_nodelay(true).map_err(system)?;
        self.stream.set_read_timeout(Some(LOOK)).map_err(system)?;
        self.stream
            .set_write_timeout(Some(GREETING))
            .map_err(system)?;
        let (came, mut has_begun, mut bytes) = (Instant::now(), false, [0; 4096]);
        let mut stopped = None;
        loop {
            if !has_begun && came.elapsed() > GREETING {
                return Err(format!("opened no flow in {} s", GREETING.as_secs()));
            }
            self.end_quiet_flows();
            let outgoing = self.session.take_outgoing();
            self.stream.write_all(&outgoing).map_err(system)?;
            if run.1.load(Ordering::Relaxed) {
                // A sender whose flows are all over is left to say goodbye.
                let since = *stopped.get_or_insert_with(Instant::now);
                if !has_begun || !self.flows.is_empty() || since.elapsed() > FAREWELL {
                    return Err("interrupted".to_owned());
                }
            }
            let count = match self.stream.read(&mut bytes) {
                Ok(0) => return Err("closed the channel before its flows had ended".to_owned()),
                Ok(count) => count,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {
                        continue;
                    }
                    _ => return Err(system(error)),
                },
            };
            for told in self
                .session
                .receive(&bytes[..count])
                .map_err(|why| why.to_string())?
            {
                match told {
                    Received::Log(name) => {
                        let log = self.wish(&name);
                        self.has_wished(log, say);
                    }
                    Received::LogAt {
                        server,
                        protocol,
                        name,
                    } => {
                        let log = self.wish_at((server, protocol), &name);
                        self.has_wished(log, say);
                    }
                    Received::Open(open) => {
                        has_begun = true;
                        let flow = open.flow;
                        match self.open(&open, run) {
                            // A passive sender hears no port: it is come to.
                            Ok(port) => self
                                .session
                                .opened(flow, if open.back.is_none() { port } else { 0 }),
                            Err(why) => {
                                say(self.peer, &format!("flow {flow} is refused: {why}"));
                                self.session.refuse(flow);
                            }
                        }
                    }
                    Received::Listening { flow } => self.fetch(flow, run, say),
                    Received::End { flow } => {
                        let hub = self.shared.hub();
                        if let Some(mine) = self.flows.get_mut(&flow) {
                            let count = hub.count(mine.number).unwrap_or_default();
                            let now = Instant::now();
                            mine.ending = mine.ending.or(Some((now, now, count)));
                        }
                    }
                    Received::Abort { flow } => {
                        say(self.peer, &format!("gave up flow {flow}"));
                        self.close(flow);
                    }
                    Received::Done => {
                        let outgoing = self.session.take_outgoing();
                        return self.stream.write_all(&outgoing).map_err(system);
                    }
                }
            }
        }
    }

    fn has_wished(&mut self, log: Result<Arc<BinaryLog>, String>, say: Say<'_>) {
        match log {
            Ok(log) => self.wished = Some(log),
            Err(why) => say(self.peer, &why),
        }
    }

    /// The folder of logs that senders wish for; without one nothing that they wish for is written.
    fn folder(&self, name: &LogName) -> Result<&'scope Path, String> {
        self.shared.settings.wished.as_deref().ok_or_else(|| {
            format!(
                "wishes for a log `{}`, which is not written: no folder is given for such logs",
                String::from_utf8_lossy(name.as_bytes()).escape_debug()
            )
        })
    }

    /// The log that a sender wishes for at a log server. Who hears no wishes goes to no host that a sender names either.
    fn wish_at(
        &self,
        (server, protocol): (IpAddr, Protocol),
        name: &LogName,
    ) -> Result<Arc<BinaryLog>, String> {
        self.folder(name)?;
        let server = SocketAddr::new(server, log_protocol::PORT);
        let log = BinaryLog::at_server(server, protocol, name, BATCH);
        log.map(Arc::new).map_err(|why| {
            format!("wishes for a log, but the log server {server} does not take it: {why}")
        })
    }

    /// The log that a sender wishes for, in the folder of such.
    fn wish(&self, name: &LogName) -> Result<Arc<BinaryLog>, String> {
        let path = self.folder(name)?.join(name.file_name()?);
        let log = BinaryLog::begin(&path);
        log.map(Arc::new).map_err(|why| {
            format!(
                "wishes for a log, but `{}` cannot be written: {why}",
                path.display()
            )
        })
    }

    /// Opens a flow; gives the port that it listens on.
    fn open(
        &mut self,
        open: &Open,
        run: (&'scope Scope<'scope, '_>, &'scope AtomicBool),
    ) -> Result<u16, String> {
        if open.serial.is_some() {
            return Err("no serial line is signalled on (`-rk`)".to_owned());
        }
        let (from, protocol) = (self.from(), open.protocol);
        if !matches!(protocol, Protocol::Udp | Protocol::Tcp | Protocol::Icmp) {
            return Err(format!(
                "no flows of D-ITG over {protocol:?} are taken; use UDP, TCP or ICMP"
            ));
        }
        let is_icmp = protocol == Protocol::Icmp;
        if is_icmp && open.meter == Meter::RoundTrip {
            return Err(
                "D-ITG sends nothing over ICMP whose round trip could be measured (`-m rttm`)"
                    .to_owned(),
            );
        }
        // ICMP has no ports: there is one of it, and the sender hears the number that it asked for.
        let number = if is_icmp { 0 } else { open.port };
        let (port, flows) = self.shared.port((protocol, number), run)?;
        let mut address = port.address().map_err(|why| why.to_string())?;
        if is_icmp {
            address.set_port(open.port);
        }
        if !flows.has_room(from, open.flow, open.metadata) {
            return Err(format!(
                "port {} has a flow of {from} already that its packets could not be told from; use another `-rp`",
                address.port()
            ));
        }
        let (peer, lost_before) = (self.peer, port.lost());
        let to = SocketAddr::new(open.address, address.port());
        let number = self.shared.hub().open(from, open.meter, |number| Flow {
            number,
            protocol,
            from: Some(SocketAddr::new(from, peer.port())),
            to: Some(to),
            name: match open.metadata {
                Metadata::None => format!("D-ITG flow {}, packets without numbers", open.flow),
                Metadata::Sequence => format!("D-ITG flow {}, packets without times", open.flow),
                Metadata::Full => format!("D-ITG flow {}", open.flow),
            },
        });
        let number = number.ok_or("all numbers of flows are taken")?;
        let logs = [self.shared.settings.log.clone(), self.wished.clone()];
        let known = Known {
            number,
            metadata: open.metadata,
            to,
            logs: logs.into_iter().flatten().collect(),
            came: 0,
            icmp_type: None,
        };
        flows.open(from, open.flow, known);
        let mine = Mine {
            number,
            port,
            flows,
            back: open.back,
            lost_before,
            ending: None,
        };
        self.flows.insert(open.flow, mine);
        Ok(address.port())
    }

    /// Comes to the port of a passive sender for the packets of a flow.
    fn fetch(
        &self,
        flow: u32,
        (scope, stop): (&'scope Scope<'scope, '_>, &'scope AtomicBool),
        say: Say<'_>,
    ) {
        let Some((mine, back)) = self
            .flows
            .get(&flow)
            .and_then(|mine| Some((mine, mine.back?)))
        else {
            return;
        };
        let to = SocketAddr::new(self.peer.ip(), back);
        if let Port::Udp(port) = &mine.port {
            for _ in 0..self.punches.max(1) {
                port.punch(PUNCH, to);
            }
            return;
        }
        let (hub, flows) = (self.shared.hub.clone(), mine.flows.clone());
        let device = self.shared.settings.device.as_deref();
        match near(to, device).connect(to, GREETING) {
            Ok(stream) => {
                scope.spawn(move || {
                    // Its end, whatever it was, shows as messages that did not come.
                    let _ = tcp::converse(stream, to, (&hub, flows.as_ref()), stop);
                });
            }
            Err(why) => say(
                self.peer,
                &format!("flow {flow} cannot be fetched at port {back}: {why}"),
            ),
        }
    }

    /// Closes flows whose senders are done and whose packets have come.
    fn end_quiet_flows(&mut self) {
        let hub = self.shared.hub();
        let mut over = Vec::new();
        for (flow, mine) in &mut self.flows {
            let Some((since, changed, last)) = &mut mine.ending else {
                continue;
            };
            let count = hub.count(mine.number).unwrap_or_default();
            if count != *last {
                (*last, *changed) = (count, Instant::now());
            } else if changed.elapsed() > QUIET || since.elapsed() > LATEST {
                over.push(*flow);
            }
        }
        drop(hub);
        for flow in over {
            self.close(flow);
            self.session.ended(flow);
        }
    }

    fn close(&mut self, flow: u32) {
        if let Some(mine) = self.flows.remove(&flow) {
            mine.flows.close(self.from(), flow);
            let lost = mine.port.lost() - mine.lost_before;
            let _ = self.shared.hub().close(mine.number, lost, None);
        }
    }

    fn close_all(&mut self) {
        while let Some((flow, _)) = self.flows.first_key_value() {
            self.close(*flow);
        }
    }
}
