//! The end that serves a test: one at a time, since two would measure each other.

use super::carriers::{Carrier, Stream};
use super::counts::Counts;
use super::talk::{Ended, talk};
use crate::record::Protocol;
use crate::signal::channel::{Channel, ReceiveError};
use crate::signal::key::nonce;
use crate::signal::link::said::Said;
use crate::signal::link::{Direction, Wish};
use crate::signal::message::{Message, TOKEN_BYTES};
use crate::signal::punch::punch;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use trammel_io::reach::at_port;
use trammel_io::tcp;

/// The longest that all streams may take to be made.
const ATTACHING: Duration = Duration::from_secs(10);
/// So often is looked whether they are.
const LOOK: Duration = Duration::from_millis(10);

/// A test whose connections are waited for.
#[derive(Debug)]
struct Pending {
    token: [u8; TOKEN_BYTES],
    peer: IpAddr,
    connections: Vec<Option<TcpStream>>,
}

/// The tests that a receiver serves: one at a time.
#[derive(Debug, Default)]
pub(crate) struct Tests {
    is_busy: AtomicBool,
    pending: Mutex<Option<Pending>>,
}

/// Has another test be served once this one is over, however that comes.
struct Busy<'a>(&'a Tests);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        *self.0.pending() = None;
        self.0.is_busy.store(false, Ordering::SeqCst);
    }
}

impl Tests {
    fn pending(&self) -> MutexGuard<'_, Option<Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `message`, the first of a connection from `peer`, says that it is to carry a stream;
    /// then it does, or is told why not.
    pub(crate) fn attach(
        &self,
        mut channel: Channel,
        (token, number): ([u8; TOKEN_BYTES], u16),
        peer: IpAddr,
    ) -> Result<(), ReceiveError> {
        let place = usize::from(number);
        let is_wanted = |pending: &Pending| {
            pending.token == token
                && pending.peer == peer.to_canonical()
                && pending.connections.get(place).is_some_and(Option::is_none)
        };
        if !self.pending().as_ref().is_some_and(is_wanted) {
            let why = "no test waits for this connection".to_owned();
            return channel.say(&Message::Refused(why));
        }
        channel.say(&Message::Link(Said::Attached))?;
        if let (Some(pending), Some(stream)) = (self.pending().as_mut(), channel.into_stream())
            && is_wanted(pending)
        {
            pending.connections[place] = Some(stream);
        }
        Ok(())
    }

    fn attached(&self) -> Option<Vec<TcpStream>> {
        let mut pending = self.pending();
        let connections = &mut pending.as_mut()?.connections;
        if connections.iter().any(Option::is_none) {
            return None;
        }
        connections.iter_mut().map(Option::take).collect()
    }
}

/// What was served, or why it was not.
pub(crate) enum Served {
    /// In words.
    Test(String),
    /// To whoever asked.
    Refused(String),
}

/// Serves the test that `wish` asks for, on a channel whose ends are `there` and `here`; ports of
/// UDP are opened at `listens`.
pub(crate) fn serve(
    channel: &mut Channel,
    wish: &Wish,
    (there, listens): (SocketAddr, SocketAddr),
    tests: &Tests,
    stop: &AtomicBool,
) -> Result<Served, ReceiveError> {
    if let Some(wrong) = wish.wrong() {
        return Ok(Served::Refused(wrong));
    }
    if tests.is_busy.swap(true, Ordering::SeqCst) {
        let why =
            "another test is running, and two would disturb each other; try again when it is over";
        return Ok(Served::Refused(why.to_owned()));
    }
    let busy = Busy(tests);
    let token = nonce()?;
    let ways = wish.ways();
    let mut sockets = Vec::new();
    if wish.protocol == Protocol::Udp {
        for _ in &ways {
            match UdpSocket::bind(at_port(listens, 0)) {
                Ok(socket) => sockets.push(socket),
                Err(why) => return Ok(Served::Refused(format!("no port of UDP: {why}"))),
            }
        }
    } else {
        *tests.pending() = Some(Pending {
            token,
            peer: there.ip().to_canonical(),
            connections: ways.iter().map(|_| None).collect(),
        });
    }
    let ports: io::Result<Vec<u16>> = sockets
        .iter()
        .map(|socket| Ok(socket.local_addr()?.port()))
        .collect();
    let ports = ports?;
    channel.say(&Message::Link(Said::Ready { token, ports }))?;
    let carriers = match wish.protocol {
        Protocol::Udp => punched(sockets, &token, there, stop),
        _ => connected(tests, stop),
    };
    let carriers = match carriers {
        Ok(carriers) => carriers,
        Err(why) => return Ok(Served::Refused(why)),
    };
    let mut streams = Vec::new();
    for ((number, is_out), carrier) in (0..)
        .zip(ways.iter().map(|is_theirs| !is_theirs))
        .zip(carriers)
    {
        if let Carrier::Tcp(socket) = &carrier
            && is_out
            && !wish.congestion.is_empty()
            && let Err(why) = tcp::set_congestion(socket, &wish.congestion)
        {
            return Ok(Served::Refused(why.to_string()));
        }
        let stream = Stream {
            number,
            is_out,
            carrier,
            counts: Counts::default(),
        };
        if let Err(why) = stream.mark(wish) {
            return Ok(Served::Refused(why.to_string()));
        }
        streams.push(stream);
    }
    channel.say(&Message::Link(Said::Attached))?;
    if channel.hear(Some(ATTACHING), stop)? != Message::Link(Said::Go) {
        return Ok(Served::Refused("that was not to be said now".to_owned()));
    }
    let congestion = streams.iter().find_map(|one| match &one.carrier {
        Carrier::Tcp(socket) => tcp::congestion(socket).ok(),
        Carrier::Udp(_) => None,
    });
    channel.say(&Message::Link(Said::Going {
        congestion: congestion.unwrap_or_default(),
    }))?;
    let ended = talk(channel, &streams, wish, stop, &mut |_| {});
    drop(busy);
    Ok(Served::Test(words(wish, &streams, &ended)))
}

/// Connections for all streams.
fn connected(tests: &Tests, stop: &AtomicBool) -> Result<Vec<Carrier>, String> {
    let begun = Instant::now();
    loop {
        if let Some(connections) = tests.attached() {
            return Ok(connections.into_iter().map(Carrier::Tcp).collect());
        }
        if begun.elapsed() > ATTACHING || stop.load(Ordering::Relaxed) {
            return Err("not all connections were opened".to_owned());
        }
        std::thread::sleep(LOOK);
    }
}

/// Sockets that know where the other end of each stream is: where it has shown the token from.
fn punched(
    sockets: Vec<UdpSocket>,
    token: &[u8; TOKEN_BYTES],
    there: SocketAddr,
    stop: &AtomicBool,
) -> Result<Vec<Carrier>, String> {
    let (begun, shown) = (Instant::now(), punch(token));
    let failed = |why: io::Error| format!("a port of UDP: {why}");
    let mut carriers = Vec::new();
    for socket in sockets {
        socket.set_read_timeout(Some(LOOK)).map_err(failed)?;
        let mut bytes = [0; 64];
        loop {
            match socket.recv_from(&mut bytes) {
                Ok((count, from))
                    if bytes[..count] == shown
                        && from.ip().to_canonical() == there.ip().to_canonical() =>
                {
                    socket.connect(from).map_err(failed)?;
                    break;
                }
                Ok(_) => {}
                Err(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(why) => return Err(failed(why)),
            }
            if begun.elapsed() > ATTACHING || stop.load(Ordering::Relaxed) {
                return Err(
                    "no datagrams arrived at the test's UDP ports; does a firewall block them?"
                        .to_owned(),
                );
            }
        }
        carriers.push(Carrier::Udp(socket));
    }
    Ok(carriers)
}

/// What was served, for a person at this end.
fn words(wish: &Wish, streams: &[Stream], ended: &Ended) -> String {
    // With what was left out: it was served as well.
    let secs = ended.after.as_secs_f64();
    let rate = |is_out: bool| {
        let bytes: u64 = (streams.iter().zip(&ended.own))
            .filter(|(stream, _)| stream.is_out == is_out)
            .map(|(_, told)| told.bytes)
            .sum();
        bytes as f64 * 8.0 / secs.max(1e-9) / 1e6
    };
    let what = match wish.direction {
        Direction::Forward => format!("{:.1} Mbit/s came", rate(false)),
        Direction::Reverse => format!("{:.1} Mbit/s were sent", rate(true)),
        Direction::Both => format!(
            "{:.1} Mbit/s came and {:.1} Mbit/s were sent",
            rate(false),
            rate(true)
        ),
    };
    let by = if wish.protocol == Protocol::Udp {
        "UDP"
    } else {
        "TCP"
    };
    let fault = ended.fault.as_ref();
    let early = fault.map_or(String::new(), |why| format!("; it ended early: {why}"));
    format!("a test of {secs:.1} s by {by}: {what}{early}")
}
