//! A sender under orders: it sends the flows that clients tell it to, within limits, and tells them
//! what came of these.
//!
//! A client is a connection: where it is gone, what it ordered ends. What the words of a flow mean
//! is for the [`Worker`] to know.

use crate::signal::channel::{Channel, ReceiveError};
use crate::signal::greet::{self, Opener, PATIENCE};
use crate::signal::key::Key;
use crate::signal::listener::Listener;
use crate::signal::message::{MOST_LONG_BYTES, Message, cut};
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// So often is looked what the client says, and after so many looks it is told how far its flows
/// are.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS: u32 = 20;

/// What came of flows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Came {
    /// What a command that had sent them itself would have printed.
    pub text: String,
    /// Its exit code.
    pub code: u8,
    /// What it would have warned of, or why it failed; empty where nothing.
    pub note: String,
}

/// Does what is ordered.
pub trait Worker: Sync {
    /// A flow that is understood.
    type Flow: Send;

    /// The flow that `words` tell, which is the order's flow `place` from 0; or what is wrong with
    /// them.
    fn understand(&self, words: &str, place: usize) -> Result<Self::Flow, String>;

    /// Sends flows until they end or `stop` is set; counts packets into `sent`.
    fn work(&self, flows: Vec<Self::Flow>, json: bool, stop: &AtomicBool, sent: &AtomicU64)
    -> Came;
}

/// What clients may have done.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Flows at once, of all clients together.
    pub flows: usize,
    /// Longest duration of an order's flows.
    pub time: Duration,
}

/// The sender.
#[derive(Debug)]
pub struct Daemon {
    listener: Listener,
    key: Option<Key>,
    limits: Limits,
    /// Flows that are ordered and not over.
    flows: AtomicUsize,
}

impl Daemon {
    /// A sender that waits for orders at `address`, of who holds `key`, or of everybody where there
    /// is none.
    pub fn open(address: SocketAddr, key: Option<Key>, limits: Limits) -> io::Result<Daemon> {
        Ok(Daemon {
            listener: Listener::open(address)?,
            key,
            limits,
            flows: AtomicUsize::new(0),
        })
    }

    /// Where it waits.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Has `worker` do what clients order until `stop` is set; `told` hears what is ordered and how
    /// it ended.
    pub fn run<W: Worker>(
        &self,
        worker: &W,
        stop: &AtomicBool,
        told: &(dyn Fn(SocketAddr, String) + Sync),
    ) -> io::Result<()> {
        std::thread::scope(|scope| {
            self.listener.serve(scope, stop, move |stream, from| {
                let mut mine = Mine {
                    daemon: self,
                    flows: Vec::new(),
                };
                let tell = |what: String| told(from, what);
                match mine.serve(stream, worker, stop, &tell) {
                    Ok(()) | Err(ReceiveError::Gone | ReceiveError::Stopped) => {}
                    Err(why) => told(from, why.to_string()),
                }
            })
        })
    }
}

/// What a client has ordered.
struct Mine<'a, W: Worker> {
    daemon: &'a Daemon,
    flows: Vec<W::Flow>,
}

impl<W: Worker> Mine<'_, W> {
    fn serve(
        &mut self,
        stream: TcpStream,
        worker: &W,
        stop: &AtomicBool,
        tell: &dyn Fn(String),
    ) -> Result<(), ReceiveError> {
        let mut channel = Channel::new(stream)?;
        if !greet::answer(&mut channel, self.daemon.key.as_ref(), Opener::Them, stop)? {
            return Ok(());
        }
        loop {
            let answer = match channel.hear(Some(PATIENCE), stop)? {
                Message::Order(words) => match self.order(&words, worker) {
                    Ok(()) => Message::Ordered,
                    Err(why) => Message::Refused(why),
                },
                Message::Start { json } if !self.flows.is_empty() => {
                    let count = self.flows.len();
                    tell(format!("{count} flows are sent"));
                    let flows = std::mem::take(&mut self.flows);
                    let done = work(&mut channel, self.daemon.limits.time, stop, |stop, sent| {
                        worker.work(flows, json, stop, sent)
                    });
                    self.daemon.flows.fetch_sub(count, Ordering::Relaxed);
                    let said = match &done {
                        Ok(end) => end.clone(),
                        Err(why) => format!("the client is lost, its flows are stopped: {why}"),
                    };
                    tell(said);
                    return done.map(drop);
                }
                _ => Message::Refused(
                    "this sender waits for orders: `trammel send HOST --from` gives them"
                        .to_owned(),
                ),
            };
            channel.say(&answer)?;
        }
    }

    fn order(&mut self, words: &str, worker: &W) -> Result<(), String> {
        let (most, all) = (self.daemon.limits.flows, &self.daemon.flows);
        if all.fetch_add(1, Ordering::Relaxed) >= most {
            all.fetch_sub(1, Ordering::Relaxed);
            return Err(format!("it sends at most {most} flows at a time"));
        }
        let understood = worker.understand(words, self.flows.len());
        match understood {
            Ok(flow) => self.flows.push(flow),
            Err(why) => {
                all.fetch_sub(1, Ordering::Relaxed);
                return Err(why);
            }
        }
        Ok(())
    }
}

impl<W: Worker> Drop for Mine<'_, W> {
    /// What was ordered and not begun makes room.
    fn drop(&mut self) {
        let left = self.flows.len();
        self.daemon.flows.fetch_sub(left, Ordering::Relaxed);
    }
}

/// Does the work while the client is there and wants it, and tells it what came of it. Gives how it
/// ended, in words.
fn work(
    channel: &mut Channel,
    most: Duration,
    stop: &AtomicBool,
    work: impl FnOnce(&AtomicBool, &AtomicU64) -> Came + Send,
) -> Result<String, ReceiveError> {
    let (over, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    let (came, mut end, client) = std::thread::scope(|scope| {
        let running = std::thread::Builder::new().spawn_scoped(scope, || work(&over, &sent));
        let running = match running {
            Ok(running) => running,
            Err(why) => {
                let came = Came {
                    text: String::new(),
                    code: 3,
                    note: format!("the system cannot create a sending thread: {why}"),
                };
                return (came, None, Ok(()));
            }
        };
        let (started, mut looks) = (Instant::now(), 0);
        let (mut end, mut client) = (None, Ok(()));
        while !running.is_finished() {
            if started.elapsed() > most {
                end = end.or(Some("its longest sending time was over"));
            } else if stop.load(Ordering::Relaxed) {
                end = end.or(Some("the sender was interrupted"));
            }
            over.fetch_or(end.is_some(), Ordering::Relaxed);
            if end.is_some() {
                std::thread::sleep(LOOK);
            } else {
                match channel.hear(Some(LOOK), stop) {
                    Err(ReceiveError::Late(_) | ReceiveError::Stopped) => {}
                    Ok(Message::Over) => end = Some("the client ended it"),
                    Ok(_) => {
                        end = Some("the client sent an unexpected message");
                    }
                    Err(why) => {
                        (end, client) = (Some("the client is gone"), Err(why));
                    }
                }
            }
            looks += 1;
            if client.is_ok() && looks % LOOKS == 0 {
                let packets = sent.load(Ordering::Relaxed);
                client = channel.say(&Message::Progress { packets });
                if client.is_err() {
                    end = Some("the client is gone");
                }
            }
        }
        let came = running.join().unwrap_or_else(|_| Came {
            text: String::new(),
            code: 2,
            note: "the sender failed".to_owned(),
        });
        (came, end, client)
    });
    client?;
    let mut left = came.text.as_str();
    while !left.is_empty() {
        let (part, rest) = left.split_at(cut(left, MOST_LONG_BYTES).len());
        channel.say(&Message::Part(part.to_owned()))?;
        left = rest;
    }
    let code = came.code;
    let mut notes = came.note;
    if let Some(why) = end.take() {
        notes = format!("{why}{}{notes}", if notes.is_empty() { "" } else { "; " });
    }
    let note: String = notes
        .chars()
        .map(|one| if one.is_control() { ' ' } else { one })
        .collect();
    channel.say(&Message::Done {
        code,
        note: note.clone(),
    })?;
    let packets = sent.load(Ordering::Relaxed);
    Ok(match note.as_str() {
        "" => format!("{packets} packets are sent"),
        _ => format!("{packets} packets are sent: {note}"),
    })
}
