//! A receiver's session with a sender: one connection, the flows that are opened on it, and their end, whatever the sender does.

use super::Shared;
use super::port::Port;
use crate::record::Flow;
use crate::signal::VERSION;
use crate::signal::channel::{Channel, Silence};
use crate::signal::key::{End, nonce};
use crate::signal::message::{Count, Message, Wish};
use std::collections::BTreeMap;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::{Duration, Instant};
use trammel_io::clock::wall_ns;

/// The longest that a sender may take to say who it is.
const GREETING: Duration = Duration::from_secs(10);
/// What is sent may be on its way for so long after the sender has said that it is done; a flow that is quiet for the shorter
/// time is over.
const LATEST: Duration = Duration::from_secs(5);
const QUIET_NS: i64 = 300_000_000;
/// A sender that says nothing for longer has not been closing flows.
const PAUSE_NS: i64 = 100_000_000;
const LOOK: Duration = Duration::from_millis(2);
/// Flows of one session at most.
const MOST_FLOWS: usize = 1 << 16;

/// A flow of a session.
struct Mine {
    port: Port,
    /// What its port had lost before.
    lost_before: u64,
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
    if !greet(&mut channel, shared, stop)? {
        return Ok(());
    }
    let mut flows = BTreeMap::new();
    let mut closing_ns = 0;
    let ended = loop {
        let listening_ns = wall_ns();
        let message = match channel.hear(None, stop) {
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
                    let port = mine.port.address().map_or(0, |address| address.port());
                    flows.insert(number, mine);
                    Message::Opened { number, port }
                }
                Err(why) => Message::Refused(why),
            },
            Message::Close { number, sent } => match flows.remove(&number) {
                Some(mine) => {
                    wait_for((number, sent), closing_ns, shared, stop);
                    let received = close(number, &mine, Some(sent), shared);
                    Message::Closed { number, received }
                }
                None => Message::Refused(format!("flow {number} is not open on this connection")),
            },
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

/// Whether the sender may open flows.
fn greet(channel: &mut Channel, shared: &Shared, stop: &AtomicBool) -> Result<bool, Silence> {
    let Message::Hello {
        version,
        nonce: theirs,
        ..
    } = channel.hear(Some(GREETING), stop)?
    else {
        channel.say(&Message::Refused("say hello first".to_owned()))?;
        return Ok(false);
    };
    let mine = nonce()?;
    let key = shared.settings.key.as_ref();
    channel.say(&Message::Hello {
        version: VERSION,
        nonce: mine,
        proof: key.map(|key| key.proof(End::Receiver, &theirs, &mine)),
    })?;
    // The sender sees the version as well and says what to do.
    if version != VERSION {
        return Ok(false);
    }
    let Some(key) = key else {
        return Ok(true);
    };
    let is_proven = match channel.hear(Some(GREETING), stop)? {
        Message::Proof(proof) => key.is_proven(End::Sender, &theirs, &mine, &proof),
        _ => false,
    };
    if !is_proven {
        let why = "it serves only who holds its key; give `--key FILE`";
        channel.say(&Message::Refused(why.to_owned()))?;
    }
    Ok(is_proven)
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
        let ip = if any { here.ip().to_canonical() } else { port.ip() };
        SocketAddr::new(ip, port.port())
    });
    let (from, name, protocol) = (peer, wish.name, wish.protocol);
    let number = shared
        .hub()
        .open(peer.ip().to_canonical(), wish.meter, |number| Flow {
            number,
            protocol,
            from: Some(from),
            to,
            name,
        });
    let number = number.ok_or("all numbers of flows are taken")?;
    let lost_before = port.lost();
    Ok((number, Mine { port, lost_before }))
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
    let lost = mine.port.lost() - mine.lost_before;
    let count = shared.hub().close(number, lost, sent);
    count.unwrap_or_default()
}
