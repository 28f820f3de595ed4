//! A channel with a receiver of D-ITG: how it is opened, what is asked of the receiver, and its flows as it has them begin and end.

use super::Job;
use super::books::Books;
use super::flow::send_flow;
use super::plan::{Planned, address};
use super::way::{CONNECTING, near};
use crate::engine::Lacks;
use anyhow::Context;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use trammel_traffic::itg::command::{Application, Logs};
use trammel_traffic::itg::session::Sender;
use trammel_traffic::itg::signalling::{LogName, Open, SERIAL_NAME};
use trammel_traffic::itg::speak::{PATIENCE, Told, speak};
use trammel_traffic::record::Protocol;

/// A channel that is to be opened, and the places of its flows.
pub(super) struct Group {
    receiver: SocketAddr,
    connection: TcpStream,
    flows: Vec<usize>,
}

/// What the receiver is asked to log, and where.
pub(super) struct Wished {
    name: Option<LogName>,
    server: Option<(IpAddr, Protocol)>,
}

pub(super) fn wished(logs: &Logs) -> anyhow::Result<Wished> {
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

/// Opens the channels, one for each receiver.
pub(super) fn connect(planned: &[Planned<'_>]) -> anyhow::Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for (at, flow) in planned.iter().enumerate() {
        let signalling = &flow.command.signalling;
        let host = signalling.to.as_ref().map_or(Ok(flow.to), address)?;
        let receiver = SocketAddr::new(host, signalling.port);
        if let Some(group) = groups.iter_mut().find(|group| group.receiver == receiver) {
            group.flows.push(at);
            continue;
        }
        let from = (signalling.from.as_ref(), signalling.from_port);
        let near = near(host, from, signalling.device.as_deref());
        let connection = near.and_then(|near| near.connect(receiver, CONNECTING)).map_err(|why| {
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
pub(super) fn converse(
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
