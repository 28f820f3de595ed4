//! Talking to an ITGRecv: the channel, while packets of its flows are being sent.
//!
//! ITGRecv says that a flow may start before its socket is there, and when a flow ends it leaves
//! unread what waits: so packets are to begin [`SETTLING`] after the one and to be over as long
//! before the other.

use super::session::{Sender, Sent};
use super::signalling;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The longest that a receiver should be waited for; ITGRecv ends flows one after the other, a
/// second each.
pub const PATIENCE: Duration = Duration::from_secs(15);
/// So often is looked whether a flow is over.
const LOOK: Duration = Duration::from_millis(10);
/// How long a receiver may take to be there after it said so.
pub const SETTLING: Duration = Duration::from_millis(100);

/// Why a channel ended before its flows.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The receiver is gone.
    #[error("the receiver closed the channel; ITGRecv does so when it cannot accept a flow")]
    Gone,
    /// It does not answer.
    #[error("the receiver has not answered for {} s", .0.as_secs_f64())]
    Late(Duration),
    /// It says what is no message that may come now.
    #[error("the receiver is not ITGRecv of D-ITG 2.8.1: {0}")]
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
    /// Packets of this flow may go to this port, [`SETTLING`] from now; when they have, its number
    /// is to be given to `over`.
    Start(u32, u16),
    /// The receiver refuses this flow.
    Refused(u32),
    /// It has closed this flow.
    Ended(u32),
}

/// Speaks for `sender` until all flows have ended, or the receiver has not answered for `patience`.
/// `over` hears of flows whose packets are sent; where the channel breaks or `stop` is set, `halt`
/// is, which their senders should heed.
///
/// # Errors
/// If the channel breaks.
pub fn speak(
    mut stream: TcpStream,
    mut sender: Sender,
    over: &mpsc::Receiver<u32>,
    (stop, halt): (&AtomicBool, &AtomicBool),
    patience: Duration,
    tell: &mut dyn FnMut(Told),
) -> Result<(), Error> {
    let done = converse(&mut stream, &mut sender, over, (stop, halt), patience, tell);
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
    patience: Duration,
    tell: &mut dyn FnMut(Told),
) -> Result<(), Error> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(LOOK))?;
    stream.set_write_timeout(Some(patience))?;
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
        if sending.is_empty() && heard.elapsed() > patience {
            return Err(Error::Late(patience));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::itg::command::Metadata;
    use crate::itg::signalling::Open;
    use crate::record::Protocol;
    use crate::stream::Meter;
    use std::net::TcpListener;

    /// Speaks with a receiver that answers `hello` with `answer` and is silent then, for half a
    /// second at most.
    fn spoken(answer: &'static [u8], is_sending: bool) -> (Result<(), Error>, Vec<Told>, bool) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener
            .local_addr()
            .expect("a bound socket has an address");
        let open = Open {
            flow: 1,
            protocol: Protocol::Udp,
            application: 0,
            meter: Meter::OneWay,
            ds: 0,
            metadata: Metadata::Full,
            serial: None,
            back: None,
            port: 9,
            address: address.ip(),
        };
        let (over, is_over) = mpsc::channel();
        let (stop, halt, mut told) = (AtomicBool::new(false), AtomicBool::new(false), Vec::new());
        let stream = TcpStream::connect(address).expect("the other end listens");
        let (mut receiver, _) = listener.accept().expect("a client connects");
        receiver.write_all(answer).expect("it is there");
        let mut tell = |one| {
            told.push(one);
            if !is_sending {
                over.send(1).expect("it listens");
            }
        };
        let sender = Sender::new([open], None);
        let patience = Duration::from_millis(200);
        let done = speak(
            stream,
            sender,
            &is_over,
            (&stop, &halt),
            patience,
            &mut tell,
        );
        (done, told, halt.into_inner())
    }

    #[test]
    fn a_receiver_that_stalls_is_not_waited_for() {
        for answer in [&b""[..], b"\x02", b"\x02\x05\0\0\0\x01\0\x09"] {
            let (done, told, is_halted) = spoken(answer, false);
            assert!(matches!(done, Err(Error::Late(_))), "{done:?}");
            assert_eq!(told.len(), usize::from(answer.len() > 1));
            assert!(is_halted);
        }
    }

    #[test]
    fn a_whole_conversation_is_over_when_the_receiver_says_so() {
        let answer = b"\x02\x05\0\0\0\x01\0\x09\x06\0\0\0\x01\x07";
        let (done, told, _) = spoken(answer, false);
        assert!(done.is_ok(), "{done:?}");
        assert_eq!(told, [Told::Start(1, 9), Told::Ended(1)]);
    }
}
