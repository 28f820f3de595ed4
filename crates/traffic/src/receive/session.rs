//! A receiver's session with a sender: one connection, the flows that are opened on it, and their
//! end, whatever the sender does.

use super::Shared;
use super::hub::Connections;
use super::port::Port;
use super::ports::{Held, Losses};
use super::reads::Stamped;
use super::tcp;
use crate::link::serve::{self as link, Served};
use crate::record::{LoggedFlow, Protocol};
use crate::signal::channel::{Channel, ReceiveError};
use crate::signal::greet::{self, Opener};
use crate::signal::link::said::Said;
use crate::signal::message::{Count, Message, TOKEN_BYTES, Wish};
use crate::signal::punch::{PUNCH_BYTES, punch};
use std::collections::BTreeMap;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::{Duration, Instant};
use trammel_io::clock::wall_ns;
use trammel_io::reach::{at_port, connect};

/// A flow of datagrams whose sender is done is over when it is quiet for so long, or after the
/// longer time.
const QUIET_NS: i64 = 300_000_000;
const LATEST: Duration = Duration::from_secs(60);
/// As long as datagrams wait in its port's socket it is so after this time only.
const BUSY_NS: i64 = 5_000_000_000;
/// A connection is read to its end, however long that takes, unless nothing of it comes for so
/// long; what was retransmitted four times after a second, two, four and eight comes earlier.
pub(crate) const NO_PROGRESS: Duration = Duration::from_secs(20);
/// How long the first connection of a flow may be on its way.
pub(crate) const COMING: Duration = Duration::from_secs(5);
/// A sender that says nothing for longer has not been closing flows.
const PAUSE_NS: i64 = 100_000_000;
const LOOK: Duration = Duration::from_millis(2);
/// So often a sender hears that what it sent is still coming.
const TELLING: Duration = Duration::from_secs(1);
/// How long a sender without flows may be silent.
const IDLE: Duration = Duration::from_secs(300);
/// Flows of one session at most.
const MOST_FLOWS: usize = 1 << 16;

/// How often the way of a flow is shown to its sender until packets come, and then, so that
/// translators keep it.
const PUNCHING: Duration = Duration::from_millis(50);
const KEEPING: Duration = Duration::from_secs(10);
/// How long a connection that a receiver makes may take.
const CONNECTING: Duration = Duration::from_secs(5);

/// A flow of a session.
struct Mine {
    protocol: Protocol,
    /// The port that its packets come to; none where they come on a connection that this end made.
    port: Option<Held<Stamped>>,
    /// Where its way is shown, with what, and when it was last.
    punched: Option<(SocketAddr, [u8; PUNCH_BYTES], Option<Instant>)>,
}

impl Mine {
    /// Whether packets have come that were not taken yet.
    fn has_waiting(&self) -> bool {
        self.port
            .as_ref()
            .is_some_and(|held| held.port().has_waiting())
    }

    /// Shows the way to the sender if it is time to.
    fn punch(&mut self, number: u32, shared: &Shared) {
        let (Some(held), Some((to, bytes, last))) = (&self.port, &mut self.punched) else {
            return;
        };
        let Port::Udp(port) = held.port() else {
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
    opener: Opener,
    run: (&'scope Scope<'scope, '_>, &'scope AtomicBool),
) -> Result<(), ReceiveError> {
    match converse(stream, shared, opener, run) {
        Err(ReceiveError::Gone | ReceiveError::Stopped) => Ok(()),
        other => other,
    }
}

fn converse<'scope>(
    stream: TcpStream,
    shared: &'scope Shared,
    opener: Opener,
    (scope, stop): (&'scope Scope<'scope, '_>, &'scope AtomicBool),
) -> Result<(), ReceiveError> {
    let ends = (stream.peer_addr()?, stream.local_addr()?);
    let mut channel = Channel::new(stream)?;
    match channel.hear(Some(greet::PATIENCE), stop)? {
        Message::Link(Said::Attach { token, stream }) => {
            return shared.tests.attach(channel, (token, stream), ends.0.ip());
        }
        first => channel.put_back(first),
    }
    if !greet::answer(&mut channel, shared.settings.key.as_ref(), opener, stop)? {
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
        // Flows that are closed one right after the other have been quiet together: a thousand need
        // not be waited for in turn.
        let heard_ns = wall_ns();
        if heard_ns - listening_ns > PAUSE_NS {
            closing_ns = heard_ns;
        }
        let answer = match message {
            Message::Open(wish) => match open(wish, ends, (shared, flows.len()), scope, stop) {
                Ok((number, mine)) => {
                    let port = mine.port.as_ref();
                    let port = port.and_then(|held| held.port().address().ok());
                    let port = port.map_or(0, |address| address.port());
                    flows.insert(number, mine);
                    Message::Opened { number, port }
                }
                Err(why) => Message::Refused(why),
            },
            Message::Fetch { wish, port, token } => {
                let to = at_port(ends.0, port);
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
                    let waited = wait_for(
                        (number, &mine, sent),
                        closing_ns,
                        &mut channel,
                        shared,
                        stop,
                    );
                    let received = close(number, &mine, Some(sent), shared);
                    if let Err(silence) = waited {
                        break Err(silence);
                    }
                    Message::Closed { number, received }
                }
                None => Message::Refused(format!("flow {number} is not open on this connection")),
            },
            Message::Link(Said::Wish(wish)) => {
                let places = (ends.0, at(shared, ends.1));
                match link::serve(&mut channel, &wish, places, &shared.tests, stop) {
                    Ok(Served::Test(what)) => {
                        shared.hub().tested(ends.0, &what);
                        continue;
                    }
                    Ok(Served::Refused(why)) => Message::Refused(why),
                    Err(silence) => break Err(silence),
                }
            }
            // It was asked for nothing else than to go on.
            Message::Refused(why) => break Err(ReceiveError::Refused(why)),
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
) -> Result<Message, ReceiveError> {
    let since = Instant::now();
    loop {
        let mut are_punched = false;
        for (number, mine) in flows.iter_mut() {
            mine.punch(*number, shared);
            are_punched |= mine.punched.is_some();
        }
        let patience = if are_punched {
            Some(PUNCHING)
        } else {
            flows.is_empty().then_some(IDLE)
        };
        match channel.hear(patience, stop) {
            Err(ReceiveError::Late(_)) if !flows.is_empty() || since.elapsed() < IDLE => {}
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
            let place = shared.ports.places().take(to)?;
            let number = number(wish, to, None, shared)?;
            let fetch = move |()| {
                // Its end, whatever it was, shows as messages that did not come.
                let _ = connect(&[to], CONNECTING).and_then(|mut stream| {
                    stream.write_all(&shown)?;
                    tcp::converse(stream, to, (&shared.hub, &Stamped), stop)
                });
            };
            if let Err(((), why)) = place.spawn(scope, (), fetch) {
                let _ = shared.hub().close(number, (0, 0), None);
                return Err(format!(
                    "the system cannot create a thread for a connection: {why}"
                ));
            }
            Ok((
                number,
                Mine {
                    protocol: Protocol::Tcp,
                    port: None,
                    punched: None,
                },
            ))
        }
        other => Err(format!(
            "a connecting receiver does not support {other:?}; send by UDP or TCP"
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
    let protocol = wish.protocol;
    let held = shared.port((protocol, wish.port), peer, (scope, stop))?;
    // Where packets come to is the address that the sender called, also where all addresses are
    // listened on.
    let to = held.port().address().ok().map(|port| {
        let any = port.ip().is_unspecified();
        let ip = if any {
            here.ip().to_canonical()
        } else {
            port.ip()
        };
        SocketAddr::new(ip, port.port())
    });
    let number = number(wish, peer, to, shared)?;
    held.begin(number);
    Ok((
        number,
        Mine {
            protocol,
            port: Some(held),
            punched: None,
        },
    ))
}

/// Where ports for a sender are opened: at the address that is listened on, and of all of them at
/// the one that it called.
fn at(shared: &Shared, here: SocketAddr) -> SocketAddr {
    let address = shared.address();
    if address.ip().is_unspecified() {
        here
    } else {
        address
    }
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
        .open(from.ip().to_canonical(), wish.meter, |number| LoggedFlow {
            number,
            protocol,
            from: Some(from),
            to,
            name,
        });
    opened.ok_or_else(|| "all flow numbers are in use".to_owned())
}

/// Waits until what was sent has come, a connection that it comes on was read to its end, or
/// nothing has come for a while since `closing_ns`. The sender hears meanwhile that it is still
/// coming.
fn wait_for(
    (number, mine, sent): (u32, &Mine, Count),
    closing_ns: i64,
    channel: &mut Channel,
    shared: &Shared,
    stop: &AtomicBool,
) -> Result<(), ReceiveError> {
    let (started, mut told) = (Instant::now(), Instant::now());
    while !stop.load(Ordering::Relaxed) {
        let Some(progress) = shared.hub().progress(number) else {
            return Ok(());
        };
        let packets = progress.count.packets;
        let quiet_ns = wall_ns() - progress.last_ns.max(closing_ns);
        let is_over = match (mine.protocol, progress.connections) {
            (Protocol::Tcp, Connections::None) => started.elapsed() > COMING,
            (Protocol::Tcp, Connections::Open) => quiet_ns > NO_PROGRESS.as_nanos() as i64,
            (Protocol::Tcp, Connections::Ended) => true,
            _ if started.elapsed() > LATEST => true,
            // On a busy machine what has come is not taken at once.
            _ => quiet_ns > QUIET_NS && (quiet_ns > BUSY_NS || !mine.has_waiting()),
        };
        if is_over || packets >= sent.packets {
            return Ok(());
        }
        if told.elapsed() > TELLING {
            channel.say(&Message::Progress { packets })?;
            told = Instant::now();
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

fn close(number: u32, mine: &Mine, sent: Option<Count>, shared: &Shared) -> Count {
    let losses = mine.port.as_ref().map(|held| held.end(number));
    let Losses {
        own,
        shared: others,
    } = losses.unwrap_or_default();
    let count = shared.hub().close(number, (own, others), sent);
    count.unwrap_or_default()
}
