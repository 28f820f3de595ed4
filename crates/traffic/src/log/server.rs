//! A log server: takes the logs of many senders and receivers, block by block, and gives each to a
//! keeper of its own.
//!
//! A block is kept as soon as it is there and whole. So who disappears costs what it had not sent,
//! and a server that disappears what it had not been sent.

use super::{Ending, Entry, Reader, Session};
use crate::signal::channel::{Channel, ReceiveError};
use crate::signal::greet::{self, Opener, PATIENCE};
use crate::signal::key::Key;
use crate::signal::listener::Listener;
use crate::signal::message::Message;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;

/// Where logs are kept.
pub trait Store: Sync {
    /// Begins a log of `session` that `from` writes; refuses it with what is to be said.
    fn begin(&self, session: &Session, from: SocketAddr) -> Result<Box<dyn Write>, String>;
}

/// How a log ended.
#[derive(Debug)]
pub enum Ended {
    /// Its writer told that it is whole.
    Whole {
        /// Bytes of it.
        bytes: u64,
    },
    /// Its writer left or was silent before.
    Left {
        /// Bytes that are kept.
        bytes: u64,
        /// Why.
        why: ReceiveError,
    },
    /// It was refused, and why.
    Refused {
        /// Bytes that are kept.
        bytes: u64,
        /// Why.
        why: String,
    },
}

/// A log server.
#[derive(Debug)]
pub struct LogServer {
    listener: Listener,
    key: Option<Key>,
}

impl LogServer {
    /// A server that listens at `address` and serves who holds `key`, or everybody where there is
    /// none.
    pub fn open(address: SocketAddr, key: Option<Key>) -> io::Result<LogServer> {
        Ok(LogServer {
            listener: Listener::open(address)?,
            key,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Takes logs into `store` until `stop` is set; `ended` hears of each log's end.
    pub fn run(
        &self,
        store: &dyn Store,
        stop: &AtomicBool,
        ended: &(dyn Fn(SocketAddr, Ended) + Sync),
    ) -> io::Result<()> {
        std::thread::scope(|scope| {
            self.listener.serve(scope, stop, move |stream, from| {
                let key = self.key.as_ref();
                if let Some(end) = serve(stream, from, (key, store), stop) {
                    ended(from, end);
                }
            })
        })
    }
}

/// Serves a writer until it is gone. None where it wrote nothing, and could.
fn serve(
    stream: TcpStream,
    from: SocketAddr,
    (key, store): (Option<&Key>, &dyn Store),
    stop: &AtomicBool,
) -> Option<Ended> {
    let left = |bytes, why| Some(Ended::Left { bytes, why });
    let mut channel = match Channel::new(stream) {
        Ok(channel) => channel,
        Err(why) => return left(0, why.into()),
    };
    match greet::answer(&mut channel, key, Opener::Them, stop) {
        Ok(true) => {}
        Ok(false) | Err(ReceiveError::Gone | ReceiveError::Stopped) => return None,
        Err(why) => return left(0, why),
    }
    let (mut log, mut bytes) = (None, 0);
    loop {
        let taken = match channel.hear(None, stop) {
            Ok(Message::Block(block)) => {
                let taken = take(&mut log, &block, from, store);
                taken.map(|()| bytes += block.len() as u64)
            }
            Ok(Message::Over) => {
                drop(log);
                return match channel.say(&Message::Kept { bytes }) {
                    Ok(()) => Some(Ended::Whole { bytes }),
                    Err(why) => left(bytes, why),
                };
            }
            Ok(_) => Err(
                "this is a log server: `trammel recv` receives flows, `trammel send --daemon` \
                 takes orders"
                    .to_owned(),
            ),
            Err(ReceiveError::Gone) if log.is_none() => return None,
            Err(why) => return left(bytes, why),
        };
        if let Err(why) = taken {
            drop(log);
            let _ = channel.say(&Message::Refused(why.clone()));
            // Until it has heard that: what comes meanwhile would have the system break the
            // connection before.
            while channel
                .hear(Some(PATIENCE), stop)
                .is_ok_and(|said| said != Message::Over)
            {}
            return Some(Ended::Refused { bytes, why });
        }
    }
}

/// Keeps a block.
fn take(
    log: &mut Option<Box<dyn Write>>,
    block: &[u8],
    from: SocketAddr,
    store: &dyn Store,
) -> Result<(), String> {
    let mut reader = Reader::new(block);
    let first = reader.next();
    // To its end, so that a block that lies is told.
    reader.by_ref().for_each(drop);
    match reader.ending() {
        Some(Ending::Whole) => {}
        Some(ending) => return Err(format!("that is not a block of a log: {ending}")),
        None => return Err("that is no block of a log".to_owned()),
    }
    let into = match (log.as_mut(), first) {
        (Some(into), Some(_)) => into,
        (None, Some(Ok(Entry::Session(session)))) => log.insert(store.begin(&session, from)?),
        _ => return Err("a log begins with a session".to_owned()),
    };
    let written = into.write_all(block).and_then(|()| into.flush());
    written.map_err(|why| format!("the log server cannot write the log: {why}"))
}
