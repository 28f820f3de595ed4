//! A receiver's session with a sender: one connection, the flows that are opened on it, and their end, whatever the sender does.

use super::Shared;
use super::port::Port;
use super::reads::Stamped;
use super::tcp;
use crate::record::{Flow, Protocol};
use crate::signal::channel::{Channel, Silence};
use crate::signal::greet;
use crate::signal::message::{Count, Message, TOKEN_BYTES, Wish};
use crate::signal::punch::{PUNCH_BYTES, punch};
use std::collections::BTreeMap;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::{Duration, Instant};
use trammel_io::clock::wall_ns;

/// What is sent may be on its way for so long after the sender has said that it is done; a flow that is quiet for the shorter
/// time is over.
const LATEST: Duration = Duration::from_secs(5);
const QUIET_NS: i64 = 300_000_000;
/// A sender that says nothing for longer has not been closing flows.
const PAUSE_NS: i64 = 100_000_000;
const LOOK: Duration = Duration::from_millis(2);
/// Flows of one session at most.
const MOST_FLOWS: usize = 1 << 16;

/// How often the way of a flow is shown to its sender until packets come, and then, so that translators keep it.
const PUNCHING: Duration = Duration::from_millis(50);
const KEEPING: Duration = Duration::from_secs(10);
/// Connections that a receiver makes, at most, and how long each may take.
const MOST_CONNECTIONS: usize = 4096;
const CONNECTING: Duration = Duration::from_secs(5);

/// A flow of a session.
struct Mine {
    /// The port that its packets come to; none where they come on a connection that this end made.
    port: Option<Port>,
    /// What its port had lost before.
    lost_before: u64,
    /// Where its way is shown, with what, and when it was last.
    punched: Option<(SocketAddr, [u8; PUNCH_BYTES], Option<Instant>)>,
}

impl Mine {
    /// Shows the way to the sender if it is time to.
    fn punch(&mut self, number: u32, shared: &Shared) {
        let (Some(Port::Udp(port)), Some((to, bytes, last))) = (&self.port, &mut self.punched)
        else {
            return;
        };
        let has_come = shared
            .hub()
            .count(number)
            .is_some_and(|count| count.packets > 0);
        let pause = if has_come { KEEPING } else { PUNCHING };
        if last.is_none_or(|last| last.elapsed() >= pause) {
            port.punch(bytes, *to);
            *last = Some(Instant::now());
        }
    }
}

/// Serves a sender until it is gone; says why it ended, where that is not the usual way.
pub(super) fn serve<'scope>(
    stream: TcpStream,
    shared: &'scope Shared,
    scope: &'scope Scope<'scope, '_>,
    stop: &'scope AtomicBool,
) -> Result<(), Silence> {
    match converse(stream, shared, scope, stop) {
        Err(Silence::Gone | Silence::Stopped) => Ok(()),
        other => other,
    }
}

fn converse<'scope>(
    stream: TcpStream,
    shared: &'scope Shared,
    scope: &'scope Scope<'scope, '_>,
    stop: &'scope AtomicBool,
) -> Result<(), Silence> {
    let ends = (stream.peer_addr()?, stream.local_addr()?);
    let mut channel = Channel::new(stream)?;
    if !greet::answer(&mut channel, shared.settings.key.as_ref(), stop)? {
        return Ok(());
    }
    let mut flows: BTreeMap<u32, Mine> = BTreeMap::new();
    let mut closing_ns = 0;
    let ended = loop {
        let listening_ns = wall_ns();
        let message = match hear(&mut channel, &mut flows, shared, stop) {
            Ok(message) => message,
            Err(silence) => break Err(silence),
        };
        // Flows that are closed one right after the other have been quiet together: a thousand need not be waited for in turn.
        let heard_ns = wall_ns();
        if heard_ns - listening_ns > PAUSE_NS {
            closing_ns = heard_ns;
        }
        let answer = match message {
            Message::Open(wish) => match open(wish, ends, (shared, flows.len()), scope, stop) {
                Ok((number, mine)) => {
                    let port = mine.port.as_ref().and_then(|port| port.address().ok());
                    let port = port.map_or(0, |address| address.port());
                    flows.insert(number, mine);
                    Message::Opened { number, port }
                }
                Err(why) => Message::Refused(why),
            },
            Message::Fetch { wish, port, token } => {
                let to = SocketAddr::from((ends.0.ip(), port));
                match fetch(
                    (wish, token),
                    (to, ends.1),
                    (shared, flows.len()),
                    scope,
                    stop,
                ) {
                    Ok((number, mine)) => {
                        flows.insert(number, mine);
                        Message::Opened { number, port: 0 }
                    }
                    Err(why) => Message::Refused(why),
                }
            }
            Message::Close { number, sent } => match flows.remove(&number) {
                Some(mine) => {
                    wait_for((number, sent), closing_ns, shared, stop);
                    let received = close(number, &mine, Some(sent), shared);
                    Message::Closed { number, received }
                }
                None => Message::Refused(format!("flow {number} is not open on this connection")),
            },
            // It was asked for nothing else than to go on.
            Message::Refused(why) => break Err(Silence::Refused(why)),
            _ => Message::Refused("that was not to be said now".to_owned()),
        };
        if let Err(silence) = channel.say(&answer) {
            break Err(silence);
        }
    };
    for (number, mine) in &flows {
        close(*number, mine, None, shared);
    }
    ended
}

/// The next message. Meanwhile the ways of flows are shown to the sender.
fn hear(
    channel: &mut Channel,
    flows: &mut BTreeMap<u32, Mine>,
    shared: &Shared,
    stop: &AtomicBool,
) -> Result<Message, Silence> {
    loop {
        let mut are_punched = false;
        for (number, mine) in flows.iter_mut() {
            mine.punch(*number, shared);
            are_punched |= mine.punched.is_some();
        }
        match channel.hear(are_punched.then_some(PUNCHING), stop) {
            Err(Silence::Late(_)) => {}
            other => return other,
        }
    }
}

/// Opens a flow whose way this end makes to `to`.
fn fetch<'scope>(
    (wish, token): (Wish, [u8; TOKEN_BYTES]),
    (to, here): (SocketAddr, SocketAddr),
    (shared, open): (&'scope Shared, usize),
    scope: &'scope Scope<'scope, '_>,
    stop: &'scope AtomicBool,
) -> Result<(u32, Mine), String> {
    let shown = punch(&token);
    match wish.protocol {
        Protocol::Udp => {
            let (number, mine) = self::open(wish, (to, here), (shared, open), scope, stop)?;
            let punched = Some((to, shown, None));
            Ok((number, Mine { punched, ..mine }))
        }
        Protocol::Tcp => {
            let made = &shared.connections;
            if made.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
                made.fetch_sub(1, Ordering::Relaxed);
                return Err(format!(
                    "{MOST_CONNECTIONS} connections are made here already"
                ));
            }
            let number = number(wish, to, None, shared).inspect_err(|_| {
                made.fetch_sub(1, Ordering::Relaxed);
            })?;
            scope.spawn(move || {
                // Its end, whatever it was, shows as messages that did not come.
                let _ = TcpStream::connect_timeout(&to, CONNECTING).and_then(|mut stream| {
                    stream.write_all(&shown)?;
                    tcp::converse(stream, to, (&shared.hub, &Stamped), stop)
                });
                made.fetch_sub(1, Ordering::Relaxed);
            });
            Ok((
                number,
                Mine {
                    port: None,
                    lost_before: 0,
                    punched: None,
                },
            ))
        }
        other => Err(format!(
            "a receiver that came takes no flows of {other:?}; send by UDP or TCP"
        )),
    }
}

fn open<'scope>(
    wish: Wish,
    (peer, here): (SocketAddr, SocketAddr),
    (shared, open): (&'scope Shared, usize),
    scope: &'scope Scope<'scope, '_>,
    stop: &'scope AtomicBool,
) -> Result<(u32, Mine), String> {
    if open >= MOST_FLOWS {
        return Err(format!(
            "{MOST_FLOWS} flows are open on this connection already"
        ));
    }
    let port = shared.port((wish.protocol, wish.port), scope, stop)?;
    // Where packets come to is the address that the sender called, also where all addresses are listened on.
    let to = port.address().ok().map(|port| {
        let any = port.ip().is_unspecified();
        let ip = if any {
            here.ip().to_canonical()
        } else {
            port.ip()
        };
        SocketAddr::new(ip, port.port())
    });
    let number = number(wish, peer, to, shared)?;
    let lost_before = port.lost();
    Ok((
        number,
        Mine {
            port: Some(port),
            lost_before,
            punched: None,
        },
    ))
}

/// The number of a flow that is opened.
fn number(
    wish: Wish,
    from: SocketAddr,
    to: Option<SocketAddr>,
    shared: &Shared,
) -> Result<u32, String> {
    let (name, protocol) = (wish.name, wish.protocol);
    let opened = shared
        .hub()
        .open(from.ip().to_canonical(), wish.meter, |number| Flow {
            number,
            protocol,
            from: Some(from),
            to,
            name,
        });
    opened.ok_or_else(|| "all numbers of flows are taken".to_owned())
}

/// Waits until what was sent has come, or nothing has for a while since `closing_ns`.
fn wait_for((number, sent): (u32, Count), closing_ns: i64, shared: &Shared, stop: &AtomicBool) {
    let started = Instant::now();
    while started.elapsed() < LATEST && !stop.load(Ordering::Relaxed) {
        let hub = shared.hub();
        let is_whole = hub
            .count(number)
            .is_none_or(|count| count.packets >= sent.packets);
        let last_ns = hub.last_ns(number).unwrap_or(0).max(closing_ns);
        let is_quiet = wall_ns() - last_ns > QUIET_NS;
        drop(hub);
        if is_whole || is_quiet {
            return;
        }
        std::thread::sleep(LOOK);
    }
}

fn close(number: u32, mine: &Mine, sent: Option<Count>, shared: &Shared) -> Count {
    let lost = mine.port.as_ref().map_or(0, Port::lost) - mine.lost_before;
    let count = shared.hub().close(number, lost, sent);
    count.unwrap_or_default()
}
