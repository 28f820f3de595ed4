//! The client of a sender under orders: tells it which flows to send, and hears what came of them.

use super::orders::Came;
use crate::signal::channel::ReceiveError;
use crate::signal::greet::{self, PATIENCE, refusal};
use crate::signal::key::Key;
use crate::signal::message::Message;
use std::net::ToSocketAddrs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The longest text of what came of flows, in bytes: 10,000 flows have 3 MB of tables.
const MOST_TEXT_BYTES: usize = 64 << 20;
/// How long flows that are ended may take to say what came of them.
const ENDING: Duration = Duration::from_secs(30);

/// Why nothing came of an order.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nobody answers there.
    #[error("no sender waits for orders at {0}: {1}; start one there: `trammel send --daemon`")]
    Nobody(String, std::io::Error),
    /// One of the flows is refused: which, from 0, and why.
    #[error("the sender refuses the flow: {1}")]
    Flow(usize, String),
    /// The channel, or what was said on it.
    #[error("the sender: {0}")]
    Greeting(#[from] greet::Error),
    /// It tells too much.
    #[error("the sender reports more than {MOST_TEXT_BYTES} bytes")]
    Endless,
}

impl From<ReceiveError> for Error {
    fn from(silence: ReceiveError) -> Error {
        Error::Greeting(silence.into())
    }
}

/// Has the sender at the first of `address` that answers send the flows that `lines` tell, all at
/// once; `progress` hears how many packets it has sent. Once `stop` is set the flows end, and what
/// came of them is heard all the same.
pub fn order(
    (address, key): (impl ToSocketAddrs, Option<&Key>),
    lines: &[String],
    json: bool,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(u64),
) -> Result<Came, Error> {
    let mut channel = greet::reach(address, key, stop, Error::Nobody)?;
    for (place, line) in lines.iter().enumerate() {
        channel.say(&Message::Order(line.clone()))?;
        match channel.hear(Some(PATIENCE), stop)? {
            Message::Ordered => {}
            Message::Refused(why) => return Err(Error::Flow(place, why)),
            other => return Err(refusal(other).into()),
        }
    }
    channel.say(&Message::Start { json })?;
    let (never, mut is_over) = (AtomicBool::new(false), false);
    let mut text = String::new();
    loop {
        let (patience, stop) = if is_over {
            (ENDING, &never)
        } else {
            (PATIENCE, stop)
        };
        match channel.hear(Some(patience), stop) {
            Ok(Message::Progress { packets }) => progress(packets),
            Ok(Message::Part(part)) => {
                text += &part;
                if text.len() > MOST_TEXT_BYTES {
                    return Err(Error::Endless);
                }
            }
            Ok(Message::Done { code, note }) => return Ok(Came { text, code, note }),
            Ok(other) => return Err(refusal(other).into()),
            Err(ReceiveError::Stopped) => {
                is_over = true;
                channel.say(&Message::Over)?;
            }
            Err(why) => return Err(why.into()),
        }
    }
}
