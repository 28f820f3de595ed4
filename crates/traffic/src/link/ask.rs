//! The end that asks for a test.

use super::carriers::{Carrier, Stream};
use super::counts::Counts;
use super::talk::{Ended, Moment, talk};
use crate::record::Protocol;
use crate::send::session::{Error, Session};
use crate::signal::channel::{Channel, ReceiveError};
use crate::signal::greet;
use crate::signal::key::Key;
use crate::signal::link::said::Said;
use crate::signal::link::{Direction, Wish};
use crate::signal::message::{Message, TOKEN_BYTES};
use crate::signal::punch::punch;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use trammel_io::reach::{at_port, connect};
use trammel_io::tcp;

/// The longest that the receiver may take to answer, and for the way of a stream to be made.
const PATIENCE: Duration = Duration::from_secs(10);
/// So often the way of a stream of UDP is shown.
const PUNCHING: Duration = Duration::from_millis(50);

/// Why there is no test.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The session.
    #[error("{0}")]
    Session(#[from] Error),
    /// A stream.
    #[error("stream {0} to {1} cannot be opened: {2}")]
    Stream(u16, SocketAddr, io::Error),
    /// Its sender's congestion control.
    #[error("{0}")]
    Congestion(trammel_io::error::Error),
}

impl From<ReceiveError> for Fault {
    fn from(silence: ReceiveError) -> Fault {
        Fault::Session(silence.into())
    }
}

/// A test whose streams are open.
#[derive(Debug)]
pub struct Test {
    session: Session,
    streams: Vec<Stream>,
    wish: Wish,
    /// This end of the channel, and the receiver's.
    pub ends: (SocketAddr, SocketAddr),
}

/// A stream, as far as it is known before anything is sent.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// Whether this end sends.
    pub is_out: bool,
    /// This end's address.
    pub here: Option<SocketAddr>,
    /// The receiver's.
    pub there: Option<SocketAddr>,
}

impl Test {
    /// Asks the receiver at the first of `addresses` that answers.
    pub fn open(
        addresses: &[SocketAddr],
        key: Option<&Key>,
        wish: &Wish,
        stop: &AtomicBool,
    ) -> Result<Test, Fault> {
        if let Some(wrong) = wish.wrong() {
            return Err(Error::Refused(wrong).into());
        }
        let mut session = Session::open(addresses, key, stop)?;
        let (there, here) = session.addresses().map_err(ReceiveError::System)?;
        let channel = session.channel();
        channel.say(&Message::Link(Said::Wish(wish.clone())))?;
        let (token, ports) = match channel.hear(Some(PATIENCE), stop)? {
            Message::Link(Said::Ready { token, ports }) => (token, ports),
            other => return Err(Error::from(greet::refusal(other)).into()),
        };
        let mut streams = Vec::new();
        for (number, is_out) in (0..).zip(wish.ways()) {
            let carrier = match wish.protocol {
                Protocol::Udp => {
                    let port = ports.get(usize::from(number));
                    let port = port.ok_or(Error::OutOfTurn)?;
                    let to = at_port(there, *port);
                    let socket = udp(to).map_err(|why| Fault::Stream(number, to, why))?;
                    Carrier::Udp(socket)
                }
                _ => attached(there, (token, number), wish, stop)?,
            };
            streams.push(Stream {
                number,
                is_out,
                carrier,
                counts: Counts::default(),
            });
        }
        for stream in &streams {
            let marked = stream.mark(wish);
            marked.map_err(|why| Fault::Stream(stream.number, there, why))?;
        }
        until_attached(channel, &streams, &token, stop)?;
        Ok(Test {
            session,
            streams,
            wish: wish.clone(),
            ends: (here, there),
        })
    }

    /// The streams.
    pub fn ways(&self) -> Vec<Way> {
        let ways = self.streams.iter().map(|stream| {
            let (here, there) = stream.ends();
            Way {
                is_out: stream.is_out,
                here,
                there,
            }
        });
        ways.collect()
    }

    /// The congestion control of this end, of TCP.
    pub fn congestion(&self) -> Option<String> {
        match &self.streams.first()?.carrier {
            Carrier::Tcp(socket) => tcp::congestion(socket).ok(),
            Carrier::Udp(_) => None,
        }
    }

    /// Runs it. `each` hears of every interval; ends early where `stop` is set.
    pub fn run(mut self, stop: &AtomicBool, each: &mut dyn FnMut(&Moment)) -> Result<Ended, Fault> {
        let channel = self.session.channel();
        channel.say(&Message::Link(Said::Go))?;
        if self.wish.direction != Direction::Reverse {
            return Ok(talk(channel, &self.streams, &self.wish, stop, each));
        }
        // Who only receives counts from when the other end has begun: what it sends comes right
        // behind that word.
        match channel.hear(Some(PATIENCE), stop)? {
            Message::Link(Said::Going { congestion }) => {
                let ended = talk(channel, &self.streams, &self.wish, stop, each);
                Ok(Ended {
                    congestion,
                    ..ended
                })
            }
            other => Err(Error::from(greet::refusal(other)).into()),
        }
    }
}

fn udp(to: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((crate::send::waiting::any(to.ip()), 0))?;
    socket.connect(to)?;
    Ok(socket)
}

/// A connection that carries stream `number`.
fn attached(
    there: SocketAddr,
    (token, number): ([u8; TOKEN_BYTES], u16),
    wish: &Wish,
    stop: &AtomicBool,
) -> Result<Carrier, Fault> {
    let failed = |why| Fault::Stream(number, there, why);
    let stream = connect(&[there], PATIENCE).map_err(failed)?;
    if !wish.congestion.is_empty() {
        tcp::set_congestion(&stream, &wish.congestion).map_err(Fault::Congestion)?;
    }
    let mut channel = Channel::new(stream).map_err(failed)?;
    let stream = number;
    channel.say(&Message::Link(Said::Attach { token, stream }))?;
    match channel.hear(Some(PATIENCE), stop)? {
        Message::Link(Said::Attached) => {}
        other => return Err(Error::from(greet::refusal(other)).into()),
    }
    let stream = channel.into_stream().ok_or(Error::OutOfTurn)?;
    Ok(Carrier::Tcp(stream))
}

/// Shows the ways of UDP until the receiver has all streams.
fn until_attached(
    channel: &mut Channel,
    streams: &[Stream],
    token: &[u8; TOKEN_BYTES],
    stop: &AtomicBool,
) -> Result<(), Fault> {
    let begun = Instant::now();
    loop {
        for stream in streams {
            if let Carrier::Udp(socket) = &stream.carrier {
                // One that is lost is followed by others.
                let _ = socket.send(&punch(token));
            }
        }
        match channel.hear(Some(PUNCHING), stop) {
            Ok(Message::Link(Said::Attached)) => return Ok(()),
            Ok(other) => return Err(Error::from(greet::refusal(other)).into()),
            Err(ReceiveError::Late(_)) if begun.elapsed() < PATIENCE => {}
            Err(silence) => return Err(silence.into()),
        }
    }
}
