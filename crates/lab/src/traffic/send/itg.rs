//! Sending D-ITG's flows to the receivers that their command lines name, in D-ITG's own signalling and packets.
//!
//! Flows with the same receiver share a channel; each has a thread. Their numbers are their places in the script, from 1.

use super::account::Account;
use super::{FlowOutcome, LOOK, Outcome, RETURNING, held, may_be_real_time, real_time_now};
use crate::engine::Lacks;
use crate::traffic::log_file::{self, LogFile, LogTo};
use anyhow::{Context, anyhow, bail};
use std::collections::BTreeMap;
use std::net::{
    IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, TcpStream, ToSocketAddrs, UdpSocket,
};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::Scope;
use std::time::{Duration, Instant};
use trammel_io::clock::monotonic_ns;
use trammel_io::socket;
use trammel_traffic::itg::command::{Application, Command, Host, Logs};
use trammel_traffic::itg::line::Line;
use trammel_traffic::itg::log_file::BinaryLog;
use trammel_traffic::itg::session::Sender;
use trammel_traffic::itg::signalling::{LogName, Open, SERIAL_NAME};
use trammel_traffic::itg::speak::{PATIENCE, SETTLING, Told, speak};
use trammel_traffic::itg::{carriers, flow};
use trammel_traffic::pace::Wait;
use trammel_traffic::record::{Flow, Instants, Protocol, Record};
use trammel_traffic::send::answers::Answers;
use trammel_traffic::send::{self, Carrier, Lane, Sent};
use trammel_traffic::stream::{Meter, Stream};

/// The longest that a connection may take to be made.
const CONNECTING: Duration = Duration::from_secs(10);
/// So long a receiver that said that it listens may be without a socket.
const OPENING: Duration = Duration::from_secs(2);

/// What is to be done besides the flows.
#[derive(Clone, Debug)]
pub struct Job {
    /// The seed of flows that have none (`-s`); each has its own by its number.
    pub seed: u64,
    /// How packets' times are waited for.
    pub wait: Wait,
    /// Whether the sender runs before all programs of usual priority.
    pub is_real_time: bool,
    /// Where our log goes.
    pub log: Option<LogTo>,
}

/// The streams of commands, each with a seed of its own.
pub fn streams(commands: &[Command], seed: u64) -> anyhow::Result<Vec<Stream>> {
    let each = commands.iter().zip(0..).map(|(command, at)| {
        let stream = flow::stream(command, seed.wrapping_add(at));
        let mut stream = stream.map_err(|why| anyhow!("flow {}: {why}", at + 1))?;
        stream.name = format!("flow {}", at + 1);
        Ok(stream)
    });
    each.collect()
}

/// A flow that is to be sent.
struct Planned<'a> {
    number: u32,
    command: &'a Command,
    stream: Stream,
    to: IpAddr,
    filler: Vec<u8>,
}

/// A channel that is to be opened, and the places of its flows.
struct Group {
    receiver: SocketAddr,
    connection: TcpStream,
    flows: Vec<usize>,
}

/// What all flows write to.
struct Books {
    account: Mutex<Account>,
    log: Option<BinaryLog>,
    /// By the places of flows: what was sent, and why a flow failed.
    sent: Mutex<BTreeMap<usize, Sent>>,
}

/// Sends the flows of `commands` at once; `logs` are for all of them.
pub fn run(
    commands: &[Command],
    logs: &Logs,
    job: &Job,
    stop: &AtomicBool,
) -> anyhow::Result<Outcome> {
    let planned = plan(commands, job.seed)?;
    let Some(first) = planned.first() else {
        bail!("there is no flow to send");
    };
    let meter = first.stream.meter;
    if job.log.is_some() && planned.iter().any(|one| one.stream.meter != meter) {
        bail!(
            "a log is of one-way flows or of round trips: send them by themselves, or leave `--log` out"
        );
    }
    if logs.sender_server.is_some() {
        bail!(
            "`-L` is not done: nothing is sent to a log server; write the log here with `-l FILE`"
        );
    }
    let wished = wished(logs)?;
    if job.is_real_time {
        may_be_real_time()?;
    }
    let groups = connect(&planned)?;
    // Not before somebody is there: logs without anything would be left.
    let instants = if planned
        .iter()
        .any(|one| one.stream.meter == Meter::RoundTrip)
    {
        Instants::SentReturned
    } else {
        Instants::DueSent
    };
    let account = Account::new(
        job.log.as_ref(),
        &log_file::session(instants, job.seed),
        stop,
    )?;
    let log = logs.sender.as_deref().map(|path| begin(Path::new(path)));
    let books = Books {
        account: Mutex::new(account),
        log: log.transpose()?,
        sent: Mutex::default(),
    };
    std::thread::scope(|scope| {
        for group in groups {
            let (books, planned, wished) = (&books, &planned, &wished);
            scope.spawn(move || converse(group, planned, wished, (job, stop), books));
        }
    });
    Ok(books.close(&planned))
}

/// Begins a log in D-ITG's form.
pub fn begin(path: &Path) -> anyhow::Result<BinaryLog> {
    BinaryLog::begin(path).map_err(|why| anyhow!("`{}` cannot be written: {why}", path.display()))
}

/// What the receiver is asked to log, and where.
struct Wished {
    name: Option<LogName>,
    server: Option<(IpAddr, Protocol)>,
}

fn wished(logs: &Logs) -> anyhow::Result<Wished> {
    let server = match &logs.receiver_server {
        Some(server) => Some((address(&server.host)?, server.protocol)),
        None => None,
    };
    let named = logs.receiver.as_deref();
    let named = named.or(server.is_some().then_some("ITGRecv.log"));
    let name = named.map(|name| {
        LogName::new(name.as_bytes())
            .with_context(|| format!("`-x {name}`: the name is too long; it may have 199 bytes"))
    });
    Ok(Wished {
        name: name.transpose()?,
        server,
    })
}

/// The address of a host.
fn address(host: &Host) -> anyhow::Result<IpAddr> {
    match host {
        Host::Address(address) => Ok(*address),
        Host::Name(name) => {
            let found = (name.as_str(), 0).to_socket_addrs();
            let found = found.map_err(|why| anyhow!("`{name}` is no host that is known: {why}"))?;
            let mut found = found.map(|address| address.ip());
            found
                .next()
                .with_context(|| format!("`{name}` has no address"))
        }
    }
}

fn plan(commands: &[Command], seed: u64) -> anyhow::Result<Vec<Planned<'_>>> {
    let mut planned = Vec::new();
    for ((number, command), stream) in (1..).zip(commands).zip(streams(commands, seed)?) {
        refuse_what_is_not_done(number, command)?;
        let content = command.content.as_deref().map(|path| {
            std::fs::read(path).map_err(|why| anyhow!("flow {number}: `-Fp {path}`: {why}"))
        });
        planned.push(Planned {
            number,
            command,
            to: address(&command.destination)?,
            filler: flow::filler(content.transpose()?.as_deref(), stream.seed),
            stream,
        });
    }
    Ok(planned)
}

/// What is understood, but has nothing here that does it.
fn refuse_what_is_not_done(number: u32, command: &Command) -> anyhow::Result<()> {
    let lacks = |what: &str, help: &str| Err(Lacks::error(&format!("flow {number}: {what}"), help));
    match command.protocol {
        Protocol::Udp | Protocol::Tcp => {}
        Protocol::Icmp => {
            return lacks(
                "`-T ICMP` is not sent to D-ITG's receivers",
                "use `-T UDP`, or `--native`, which sends it to `trammel recv`",
            );
        }
        other => {
            let name = format!("{other:?}").to_uppercase();
            let what = format!("`-T {name}` is not sent to D-ITG's receivers");
            return lacks(&what, "use `-T UDP` or `-T TCP`");
        }
    }
    if command.is_passive {
        return lacks("the passive mode (`-H`) is not done", "leave `-H` out");
    }
    if command.device.is_some() || command.signalling.device.is_some() {
        return lacks(
            "the choice of a network device (`-i`, `-Si`) is not done",
            "choose it by its address: `-sa`, `-Ssa`",
        );
    }
    if command.sender_serial.is_some() {
        return lacks("no serial line is signalled on (`-sk`)", "leave `-sk` out");
    }
    Ok(())
}

/// Opens the channels, one for each receiver.
fn connect(planned: &[Planned<'_>]) -> anyhow::Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for (at, flow) in planned.iter().enumerate() {
        let signalling = &flow.command.signalling;
        let host = signalling.to.as_ref().map_or(Ok(flow.to), address)?;
        let receiver = SocketAddr::new(host, signalling.port);
        if let Some(group) = groups.iter_mut().find(|group| group.receiver == receiver) {
            group.flows.push(at);
            continue;
        }
        let connection = dial(receiver, signalling.from.as_ref(), signalling.from_port).map_err(|why| {
            Lacks::error(
                &format!("no receiver of D-ITG answers at {receiver}: {why}"),
                "start one there: `ITGRecv`, or `trammel recv --itg`; send to `trammel recv` with `--native`",
            )
        })?;
        groups.push(Group {
            receiver,
            connection,
            flows: vec![at],
        });
    }
    Ok(groups)
}

/// A connection to `to`, from an address and a port of this host's where they are given.
fn dial(to: SocketAddr, from: Option<&Host>, port: Option<u16>) -> std::io::Result<TcpStream> {
    if from.is_none() && port.is_none() {
        return TcpStream::connect_timeout(&to, CONNECTING);
    }
    let from = from
        .map(address)
        .transpose()
        .map_err(std::io::Error::other)?;
    let port = port.unwrap_or(0);
    match (to, from.unwrap_or(Ipv4Addr::UNSPECIFIED.into())) {
        (SocketAddr::V4(to), IpAddr::V4(from)) => {
            socket::connect(to, Some(SocketAddrV4::new(from, port)))
        }
        _ => Err(std::io::Error::other(
            "connections from a given address or port are of IPv4 only; leave `-sa`, `-sp`, `-Ssa` and `-Ssp` out",
        )),
    }
}

/// What the receiver is told of a flow.
fn open(flow: &Planned<'_>) -> Open {
    let command = flow.command;
    Open {
        flow: flow.number,
        protocol: command.protocol,
        application: match command.application {
            None => 0,
            Some(Application::Telnet) => 1,
            Some(Application::Voip { .. }) => 2,
            Some(Application::Dns) => 3,
            Some(Application::CounterStrikeActive) => 5,
            Some(Application::CounterStrikeIdle) => 6,
            Some(Application::Quake3) => 7,
        },
        meter: command.meter,
        ds: command.ds.unwrap_or(0),
        metadata: command.metadata,
        serial: command.receiver_serial.as_deref().map(|line| {
            let mut name = [0; SERIAL_NAME];
            // The last byte closes the name.
            for (byte, own) in name[..SERIAL_NAME - 1].iter_mut().zip(line.bytes()) {
                *byte = own;
            }
            name
        }),
        port: command.port,
        address: flow.to,
    }
}

/// Opens the flows of a channel with its receiver and sends them, each on a thread.
fn converse(
    group: Group,
    planned: &[Planned<'_>],
    wished: &Wished,
    (job, stop): (&Job, &AtomicBool),
    books: &Books,
) {
    let opens = group.flows.iter().map(|at| open(&planned[*at]));
    let mut sender = Sender::new(opens, wished.name.clone());
    if let (Some((server, protocol)), Some(name)) = (wished.server, &wished.name) {
        sender = sender.with_log_server(server, protocol, name.clone());
    }
    let halt = AtomicBool::new(false);
    let (over, is_over) = mpsc::channel();
    let mut ended = Vec::new();
    let spoken = std::thread::scope(|scope| {
        let halt = &halt;
        let mut tell = |told| match told {
            Told::Start(number, port) => {
                let (at, over) = (number as usize - 1, over.clone());
                scope.spawn(move || {
                    let flow = &planned[at];
                    let sent = send_flow(flow, port, (job, halt), books, scope);
                    books.note(at, sent);
                    // A channel that broke hears no more.
                    let _ = over.send(number);
                });
            }
            Told::Refused(number) => {
                let why = "the receiver refuses it: its port is taken";
                books.fail(number as usize - 1, why);
            }
            Told::Ended(number) => ended.push(number as usize - 1),
        };
        let flags = (stop, halt);
        speak(
            group.connection,
            sender,
            &is_over,
            flags,
            PATIENCE,
            &mut tell,
        )
    });
    if let Err(why) = spoken {
        for at in group.flows.iter().filter(|at| !ended.contains(at)) {
            books.fail(*at, &why.to_string());
        }
    }
}

/// The way of a flow.
struct Way {
    carrier: Box<dyn Carrier>,
    answers: Option<Box<dyn Answers>>,
    from: Option<SocketAddr>,
}

fn way(flow: &Planned<'_>, to: SocketAddr, halt: &AtomicBool) -> std::io::Result<Way> {
    let (command, comes_back) = (flow.command, flow.stream.meter == Meter::RoundTrip);
    let filler = flow.filler.clone();
    if flow.stream.protocol == Protocol::Tcp {
        let until = Instant::now() + OPENING;
        let connection = loop {
            match dial(to, command.source.as_ref(), command.source_port) {
                Ok(connection) => break connection,
                Err(why) if Instant::now() > until || halt.load(Ordering::Relaxed) => {
                    return Err(why);
                }
                Err(_) => std::thread::sleep(LOOK),
            }
        };
        let answers = comes_back.then(|| carriers::TcpAnswers::new(&connection));
        return Ok(Way {
            from: connection.local_addr().ok(),
            answers: answers.transpose()?.map(|one| Box::new(one) as _),
            carrier: Box::new(carriers::Tcp::new(connection, command, filler)?),
        });
    }
    let any: IpAddr = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let source = command.source.as_ref().map(address).transpose();
    let source = source.map_err(std::io::Error::other)?.unwrap_or(any);
    let socket = UdpSocket::bind((source, command.source_port.unwrap_or(0)))?;
    socket.connect(to)?;
    let answers = comes_back.then(|| carriers::udp_answers(&socket));
    Ok(Way {
        from: socket.local_addr().ok(),
        answers: answers.transpose()?.map(|one| Box::new(one) as _),
        carrier: Box::new(carriers::udp(socket, command, &flow.stream, filler)?),
    })
}

/// Sends a flow to the port that its receiver gave, and takes what comes back.
fn send_flow<'scope>(
    flow: &'scope Planned<'_>,
    port: u16,
    (job, halt): (&'scope Job, &'scope AtomicBool),
    books: &'scope Books,
    scope: &'scope Scope<'scope, '_>,
) -> Sent {
    let to = SocketAddr::new(flow.to, port);
    let origin = monotonic_ns() + SETTLING.as_nanos() as i64;
    let way = match way(flow, to, halt) {
        Ok(way) => way,
        Err(why) => {
            return Sent {
                fault: Some(format!("{to} cannot be sent to: {why}")),
                ..Sent::nothing()
            };
        }
    };
    let comes_back = way.answers.is_some();
    if comes_back || held(&books.account).notes_departures() {
        held(&books.account).flow(Flow {
            number: flow.number,
            protocol: flow.stream.protocol,
            from: way.from,
            to: Some(to),
            name: flow.stream.name.clone(),
        });
    }
    let ends = (way.from.unwrap_or(to), to);
    let over = std::sync::Arc::new((AtomicBool::new(false), std::sync::atomic::AtomicU64::new(0)));
    if let Some(mut answers) = way.answers {
        let over = over.clone();
        scope.spawn(move || {
            // An error of it shows as answers that did not come.
            let _ = answers.collect(flow.number, &over.0, &mut |record| {
                over.1.fetch_add(1, Ordering::Relaxed);
                books.write(record, ends, true);
            });
        });
    }
    if job.is_real_time {
        real_time_now();
    }
    let mut lanes = [Lane::new(&flow.stream, flow.number, way.carrier, origin)];
    let is_noted = !comes_back && (books.log.is_some() || held(&books.account).notes_departures());
    let note = &mut |record: &Record| {
        if is_noted {
            books.write(record, ends, false);
        }
    };
    send::send(&mut lanes, job.wait, halt, note);
    let [lane] = lanes;
    let sent = lane.sent();
    let until = Instant::now() + if comes_back { RETURNING } else { SETTLING };
    while Instant::now() < until
        && !(comes_back && over.1.load(Ordering::Relaxed) >= sent.count.packets)
    {
        std::thread::sleep(LOOK);
    }
    over.0.store(true, Ordering::Relaxed);
    sent
}

impl Books {
    /// Takes a packet that was sent, or one that came back.
    fn write(&self, record: &Record, (from, to): (SocketAddr, SocketAddr), came_back: bool) {
        let mut account = held(&self.account);
        if came_back {
            account.came_back(record);
        } else if account.notes_departures() {
            account.departs(record);
        }
        drop(account);
        if let Some(log) = &self.log {
            // D-ITG's log of a sender has the time of sending twice where nothing comes back.
            let start_ns = if came_back {
                record.start_ns
            } else {
                record.end_ns
            };
            let own = Record {
                start_ns,
                ..*record
            };
            if let Some(line) = Line::new(&own, from, to) {
                log.line(&line);
            }
        }
    }

    fn note(&self, at: usize, sent: Sent) {
        let mut all = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(at, sent);
    }

    fn fail(&self, at: usize, why: &str) {
        let mut all = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let sent = all.entry(at).or_insert_with(Sent::nothing);
        sent.fault.get_or_insert_with(|| why.to_owned());
    }

    fn close(self, planned: &[Planned<'_>]) -> Outcome {
        let mut account = self
            .account
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut sent = self
            .sent
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut flows = Vec::new();
        for (at, flow) in planned.iter().enumerate() {
            let sent = sent.remove(&at).unwrap_or_else(Sent::nothing);
            if flow.stream.meter == Meter::RoundTrip {
                account.decoder.sent(flow.number, sent.count.packets);
            }
            flows.push(FlowOutcome {
                name: flow.stream.name.clone(),
                sent,
                received: Err("receivers of D-ITG do not tell".to_owned()),
            });
        }
        account.log(LogFile::finish);
        let log_fault = self.log.as_ref().and_then(|log| {
            log.flush();
            log.fault()
        });
        let comes_back = planned
            .iter()
            .any(|one| one.stream.meter == Meter::RoundTrip);
        Outcome {
            flows,
            log_fault: account.fault.or(log_fault),
            reports: comes_back
                .then(|| account.decoder.finish())
                .into_iter()
                .collect(),
        }
    }
}
