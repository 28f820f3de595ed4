//! A channel with a receiver of D-ITG: how it is opened, what is asked of the receiver, and its
//! flows as it has them begin and end.

use super::back::{Back, waiting_address};
use super::books::Books;
use super::flow::send_flow;
use super::job::ItgJob;
use super::near::{CONNECTING, near};
use super::plan::{Planned, address, addresses};
use crate::send::LOOK;
use anyhow::{Context, bail};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use trammel_ground::Unsupported;
use trammel_io::accept;
use trammel_io::local::Local;
use trammel_io::reach::{self, at_port};
use trammel_traffic::itg::command::{Application, Command, Logs};
use trammel_traffic::itg::session::Sender;
use trammel_traffic::itg::signalling::{LogName, Open, PORT, SERIAL_NAME};
use trammel_traffic::itg::speak::{PATIENCE, Told, speak};
use trammel_traffic::record::Protocol;

/// A channel that is to be opened, and the places of its flows.
pub(super) struct Group {
    /// The addresses that it was looked for at.
    asked: Vec<SocketAddr>,
    connection: TcpStream,
    /// Where packets go, without a port: the address that answered, where that is the flows' own
    /// host.
    to: Option<SocketAddr>,
    flows: Vec<usize>,
    /// In the passive mode the ports that the receiver comes to, by the places of flows.
    backs: BTreeMap<usize, Back>,
}

/// What the receiver is asked to log, and where.
pub(super) struct Wished {
    name: Option<LogName>,
    server: Option<(IpAddr, Protocol)>,
}

pub(super) fn wished(logs: &Logs) -> anyhow::Result<Wished> {
    let server = match &logs.receiver_server {
        Some(server) => Some((address(&server.host)?.ip(), server.protocol)),
        None => None,
    };
    let named = logs.receiver.as_deref();
    let named = named.or(server.is_some().then_some("ITGRecv.log"));
    let name = named.map(|name| log_name("-x", name));
    Ok(Wished {
        name: name.transpose()?,
        server,
    })
}

/// The name of a log as others are told it, which `option` gives.
pub(super) fn log_name(option: &str, name: &str) -> anyhow::Result<LogName> {
    LogName::new(name.as_bytes())
        .with_context(|| format!("`{option} {name}`: the name is too long; it may have 199 bytes"))
}

/// Opens the channels, one for each receiver.
pub(super) fn connect(
    planned: &[Planned<'_>],
    stop: &AtomicBool,
    say: &dyn Fn(&str),
) -> anyhow::Result<Vec<Group>> {
    if planned.iter().any(|flow| flow.command.is_passive) {
        return await_receiver(planned, stop, say).map(|group| vec![group]);
    }
    let mut groups: Vec<Group> = Vec::new();
    for (at, flow) in planned.iter().enumerate() {
        let signalling = &flow.command.signalling;
        let asked = match &signalling.to {
            Some(host) => addresses(host, signalling.port)?,
            None => {
                let own = flow.to.iter();
                own.map(|to| at_port(*to, signalling.port)).collect()
            }
        };
        if let Some(group) = groups.iter_mut().find(|group| group.asked == asked) {
            group.flows.push(at);
            continue;
        }
        let from = (signalling.from.as_ref(), signalling.from_port);
        let device = signalling.device.as_deref();
        let begin = |receiver: SocketAddr| near(receiver.ip(), from, device)?.begin(receiver);
        let connection = reach::connect_by(&asked, CONNECTING, &begin).map_err(|why| {
            Unsupported::error(
                &format!(
                    "no receiver of D-ITG answers at {}: {why}",
                    reach::named(&asked)
                ),
                "start one there: `ITGRecv`, or `trammel recv --itg`; send to `trammel recv` with \
                 `--native`",
            )
        })?;
        let answered = at_port(connection.peer_addr()?, 0);
        groups.push(Group {
            to: flow.to.contains(&answered).then_some(answered),
            asked,
            connection,
            flows: vec![at],
            backs: BTreeMap::new(),
        });
    }
    Ok(groups)
}

/// Where a passive flow waits for its receiver. As the original: it is the source port that a
/// passive sender waits on.
pub fn awaited_at(command: &Command) -> anyhow::Result<SocketAddr> {
    let signalling = &command.signalling;
    let own = signalling.from.as_ref().map(address).transpose()?;
    let own = match own {
        Some(own) => own,
        None => (waiting_address(address(&command.destination)?.ip()), 0).into(),
    };
    Ok(at_port(own, signalling.from_port.unwrap_or(PORT)))
}

/// Waits for the receiver that comes to a passive sender, for as long as it takes.
fn await_receiver(
    planned: &[Planned<'_>],
    stop: &AtomicBool,
    say: &dyn Fn(&str),
) -> anyhow::Result<Group> {
    let first = &planned[0];
    let is_alike = |flow: &Planned<'_>| {
        flow.command.is_passive
            && flow.to == first.to
            && flow.command.signalling == first.command.signalling
    };
    if !planned.iter().all(is_alike) {
        bail!(
            "a passive sender (`-H`) accepts one receiver: write `-H`, the same `-a` and the same \
             `-S…` for all flows, or send them by themselves"
        );
    }
    let backs = planned.iter().enumerate();
    let backs = backs.map(|(at, flow)| Ok((at, Back::open(flow)?)));
    let backs: BTreeMap<usize, Back> = backs.collect::<anyhow::Result<_>>()?;
    let signalling = &first.command.signalling;
    let at = awaited_at(first.command)?;
    let here = Local {
        address: at,
        device: signalling.device.as_deref(),
    };
    let listener = here.listen().map_err(|why| {
        let what = format!("{at} cannot be waited on: {why}");
        Unsupported::error(&what, "give another `-Ssp`")
    })?;
    listener.set_nonblocking(true)?;
    say(&format!(
        "waiting for a receiver on {}",
        listener.local_addr()?
    ));
    while !stop.load(Ordering::Relaxed) {
        if let Some((connection, _)) = accept::tcp(&listener)?.or_rest() {
            connection.set_nonblocking(false)?;
            return Ok(Group {
                asked: Vec::new(),
                to: None,
                connection,
                flows: (0..planned.len()).collect(),
                backs,
            });
        }
        std::thread::sleep(LOOK);
    }
    bail!("interrupted before a receiver connected")
}

/// What the receiver is told of a flow.
fn open(flow: &Planned<'_>, to: SocketAddr, back: Option<u16>) -> Open {
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
        address: to.ip(),
        back,
    }
}

/// Opens the flows of a channel with its receiver and sends them, each on a thread.
pub(super) fn converse(
    group: Group,
    planned: &[Planned<'_>],
    wished: &Wished,
    (job, stop): (&ItgJob, &AtomicBool),
    books: &Books,
) {
    let (backs, answered) = (&group.backs, group.to);
    let to_of = |at: usize| answered.unwrap_or(planned[at].to[0]);
    // A socket that is ours and bound has a port; 0 would be refused.
    let port_of = |at: &usize| Some(backs.get(at)?.port().unwrap_or(0));
    let opens = group.flows.iter();
    let opens = opens.map(|at| open(&planned[*at], to_of(*at), port_of(at)));
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
                let (at, over) = ((number - job.first) as usize, over.clone());
                scope.spawn(move || {
                    let flow = &planned[at];
                    let to = (at_port(to_of(at), port), backs.get(&at));
                    let sent = send_flow(flow, to, (job, halt), books, scope);
                    books.note(at, sent);
                    // A channel that broke hears no more.
                    let _ = over.send(number);
                });
            }
            Told::Refused(number) => {
                let why = "the receiver refuses it: its port is in use";
                books.fail((number - job.first) as usize, why);
            }
            Told::Ended(number) => ended.push((number - job.first) as usize),
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
