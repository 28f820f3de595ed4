//! A channel with ITGSend: the flows that a sender opens, and their end, whatever the sender does.
//!
//! D-ITG does not tell how many packets it sent: a flow is over when its sender has said so and
//! nothing has come for a while.

use super::command::Metadata;
use super::flows::{Flows, Known};
use super::log_file::BinaryLog;
use super::log_protocol;
use super::serve::{GREETING, Say, Shared, near};
use super::session::{self, Received};
use super::signalling::{LogName, Open};
use crate::receive::hub::Connections;
use crate::receive::port::Port;
use crate::receive::ports::{Held, Losses};
use crate::receive::session::{COMING, NO_PROGRESS};
use crate::receive::tcp;
use crate::record::{LoggedFlow, Protocol};
use crate::signal::message::Count;
use crate::stream::Meter;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::{Duration, Instant};
use trammel_io::reach;

/// What was sent as datagrams may be on its way for so long after the sender has said that it is
/// done; a flow that is quiet for the shorter time is over.
const LATEST: Duration = Duration::from_secs(60);
const QUIET: Duration = Duration::from_millis(300);
/// The longest that a receiver that is to stop waits for the end of channels without flows.
const FAREWELL: Duration = Duration::from_secs(2);
/// So often is looked whether a flow is quiet.
const LOOK: Duration = Duration::from_millis(20);
/// What a passive receiver says to a sender of UDP.
const PUNCH: &[u8] = b"hello\0";
/// Records that a log server gets at once, as ITGRecv's (`-q`).
const BATCH: u32 = 50;

/// A flow of a channel.
#[derive(Debug)]
struct Mine {
    number: u32,
    protocol: Protocol,
    port: Held<Flows>,
    /// The port of a passive sender that its packets are to be fetched at.
    back: Option<u16>,
    /// Since when its sender is done, since when nothing has come, and what had come then, and when
    /// the last of it had.
    ending: Option<(Instant, Instant, (Count, i64))>,
}

/// A channel with a sender.
pub(super) struct Channel<'scope> {
    stream: TcpStream,
    peer: SocketAddr,
    shared: &'scope Shared,
    session: session::Receiver,
    pub(super) punches: u32,
    /// By the sender's numbers.
    flows: BTreeMap<u32, Mine>,
    wished: Option<Arc<BinaryLog>>,
}

impl<'scope> Channel<'scope> {
    pub(super) fn new(
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
    pub(super) fn converse(
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
                        if let Some(mine) = self.flows.get_mut(&flow)
                            && let Some(progress) = hub.progress(mine.number)
                        {
                            let (now, came) = (Instant::now(), (progress.count, progress.last_ns));
                            mine.ending = mine.ending.or(Some((now, now, came)));
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
                "requests a log `{}`, which is not written: no folder is given for such logs",
                String::from_utf8_lossy(name.as_bytes()).escape_debug()
            )
        })
    }

    /// The log that a sender wishes for at a log server. Who hears no wishes goes to no host that a
    /// sender names either.
    fn wish_at(
        &self,
        (server, protocol): (IpAddr, Protocol),
        name: &LogName,
    ) -> Result<Arc<BinaryLog>, String> {
        self.folder(name)?;
        let server = SocketAddr::new(server, log_protocol::PORT);
        let log = BinaryLog::at_server(&[server], protocol, name, BATCH);
        log.map(Arc::new).map_err(|why| {
            format!("requests a log, but the log server {server} does not accept it: {why}")
        })
    }

    /// The log that a sender wishes for, in the folder of such.
    fn wish(&self, name: &LogName) -> Result<Arc<BinaryLog>, String> {
        let (folder, file) = (self.folder(name)?, name.file_name()?);
        let log = BinaryLog::begin_new(folder, &file, &self.shared.settings.quota);
        log.map(Arc::new).map_err(|why| {
            format!(
                "requests a log, but `{}` cannot be written: {why}",
                folder.join(file).display()
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
            return Err("serial lines are not supported (`-rk`)".to_owned());
        }
        let (from, protocol) = (self.from(), open.protocol);
        if !matches!(protocol, Protocol::Udp | Protocol::Tcp | Protocol::Icmp) {
            return Err(format!(
                "D-ITG flows over {protocol:?} are not supported; use UDP, TCP or ICMP"
            ));
        }
        let is_icmp = protocol == Protocol::Icmp;
        if is_icmp && open.meter == Meter::RoundTrip {
            return Err("D-ITG has no round trips over ICMP (`-m rttm`)".to_owned());
        }
        // ICMP has no ports: there is one of it, and the sender hears the number that it asked for.
        let number = if is_icmp { 0 } else { open.port };
        let port = self.shared.port((protocol, number), self.peer, run)?;
        let mut address = port.port().address().map_err(|why| why.to_string())?;
        if is_icmp {
            address.set_port(open.port);
        }
        if !port.reads().has_room(from, open.flow, open.metadata) {
            return Err(format!(
                "port {} already has a flow from {from}, whose packets would be indistinguishable; \
                 use another `-rp`",
                address.port()
            ));
        }
        let peer = self.peer;
        let to = SocketAddr::new(open.address, address.port());
        let number = self
            .shared
            .hub()
            .open(from, open.meter, |number| LoggedFlow {
                number,
                protocol,
                from: Some(SocketAddr::new(from, peer.port())),
                to: Some(to),
                name: match open.metadata {
                    Metadata::None => format!("D-ITG flow {}, packets without numbers", open.flow),
                    Metadata::Sequence => {
                        format!("D-ITG flow {}, packets without times", open.flow)
                    }
                    Metadata::Full => format!("D-ITG flow {}", open.flow),
                },
            });
        let number = number.ok_or("all flow numbers are in use")?;
        let logs = [self.shared.settings.log.clone(), self.wished.clone()];
        let known = Known {
            number,
            metadata: open.metadata,
            to,
            logs: logs.into_iter().flatten().collect(),
            came: 0,
            icmp_type: None,
        };
        port.reads().open(from, open.flow, known);
        port.begin(number);
        let mine = Mine {
            number,
            protocol,
            port,
            back: open.back,
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
        let to = reach::at_port(self.peer, back);
        if let Port::Udp(port) = mine.port.port() {
            for _ in 0..self.punches.max(1) {
                port.punch(PUNCH, to);
            }
            return;
        }
        let (hub, flows) = (self.shared.hub.clone(), mine.port.reads().clone());
        let device = self.shared.settings.device.as_deref();
        let fetched = self.shared.places().take(to).and_then(|place| {
            let stream = near(to, device).connect(to, GREETING);
            let stream = stream.map_err(|why| why.to_string())?;
            let spawned = place.spawn(scope, stream, move |stream| {
                // Its end, whatever it was, shows as messages that did not come.
                let _ = tcp::converse(stream, to, (&hub, flows.as_ref()), stop);
            });
            spawned.map_err(|(_, why)| why.to_string())
        });
        if let Err(why) = fetched {
            say(
                self.peer,
                &format!("flow {flow} cannot be fetched at port {back}: {why}"),
            );
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
            let Some(progress) = hub.progress(mine.number) else {
                over.push(*flow);
                continue;
            };
            let came = (progress.count, progress.last_ns);
            if came != *last {
                (*last, *changed) = (came, Instant::now());
            }
            let quiet = changed.elapsed();
            let is_over = match (mine.protocol, progress.connections) {
                (Protocol::Tcp, Connections::None) => quiet > COMING,
                (Protocol::Tcp, Connections::Open) => quiet > NO_PROGRESS,
                // A last connection that ended is the end of the flow.
                (Protocol::Tcp, Connections::Ended) => true,
                _ => quiet > QUIET || since.elapsed() > LATEST,
            };
            if is_over {
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
            mine.port.reads().close(self.from(), flow);
            let Losses { own, shared } = mine.port.end(mine.number);
            let _ = self.shared.hub().close(mine.number, (own, shared), None);
        }
    }

    fn close_all(&mut self) {
        while let Some((flow, _)) = self.flows.first_key_value() {
            self.close(*flow);
        }
    }
}
