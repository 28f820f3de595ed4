//! Talking to an ITGRecv: the channel, while packets of its flows are being sent.
//!
//! ITGRecv says that a flow may start before its socket is there, and when a flow ends it leaves unread what waits: so packets are
//! to begin [`SETTLING`] after the one and to be over as long before the other.

use super::session::{Sender, Sent};
use super::signalling;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The longest that a receiver may take to answer; it ends flows one after the other, a second each.
const PATIENCE: Duration = Duration::from_secs(15);
/// So often is looked whether a flow is over.
const LOOK: Duration = Duration::from_millis(10);
/// How long a receiver may take to be there after it said so.
pub const SETTLING: Duration = Duration::from_millis(100);

/// Why a channel ended before its flows.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The receiver is gone.
    #[error("the receiver closed the channel; ITGRecv does so when it cannot have a flow")]
    Gone,
    /// It does not answer.
    #[error("the receiver has not answered for {} s", PATIENCE.as_secs())]
    Late,
    /// It says what is no message that may come now.
    #[error("the receiver is no ITGRecv of D-ITG 2.8.1: {0}")]
    Wrong(#[from] signalling::Error),
    /// The system.
    #[error("{0}")]
    System(io::Error),
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        match error.kind() {
            ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
                Error::Gone
            }
            _ => Error::System(error),
        }
    }
}

/// What the channel tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// Packets of this flow may go to this port, [`SETTLING`] from now; when they have, its number is to be given to `over`.
    Start(u32, u16),
    /// The receiver refuses this flow.
    Refused(u32),
    /// It has closed this flow.
    Ended(u32),
}

/// Speaks for `sender` until all flows have ended. `over` hears of flows whose packets are sent; where the channel breaks or
/// `stop` is set, `halt` is, which their senders should heed.
///
/// # Errors
/// If the channel breaks.
pub fn speak(
    mut stream: TcpStream,
    mut sender: Sender,
    over: &mpsc::Receiver<u32>,
    (stop, halt): (&AtomicBool, &AtomicBool),
    tell: &mut dyn FnMut(Told),
) -> Result<(), Error> {
    let done = converse(&mut stream, &mut sender, over, (stop, halt), tell);
    if done.is_err() {
        halt.store(true, Ordering::Relaxed);
    }
    done
}

fn converse(
    stream: &mut TcpStream,
    sender: &mut Sender,
    over: &mpsc::Receiver<u32>,
    (stop, halt): (&AtomicBool, &AtomicBool),
    tell: &mut dyn FnMut(Told),
) -> Result<(), Error> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LOOK))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (mut heard, mut bytes, mut sending) = (Instant::now(), [0; 4096], BTreeSet::new());
    loop {
        if stop.load(Ordering::Relaxed) {
            halt.store(true, Ordering::Relaxed);
        }
        while let Ok(flow) = over.try_recv() {
            sending.remove(&flow);
            sender.finish(flow);
            heard = Instant::now();
        }
        let outgoing = sender.take_outgoing();
        stream.write_all(&outgoing)?;
        // While packets are sent the receiver has nothing to say.
        if sending.is_empty() && heard.elapsed() > PATIENCE {
            return Err(Error::Late);
        }
        let count = match stream.read(&mut bytes) {
            Ok(0) => return Err(Error::Gone),
            Ok(count) => count,
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => continue,
                _ => return Err(error.into()),
            },
        };
        heard = Instant::now();
        for told in sender.receive(&bytes[..count])? {
            match told {
                Sent::Start { flow, port } => {
                    sending.insert(flow);
                    tell(Told::Start(flow, port));
                }
                Sent::Refused { flow } => tell(Told::Refused(flow)),
                Sent::Ended { flow } => tell(Told::Ended(flow)),
                Sent::Done => return Ok(()),
            }
        }
    }
}
