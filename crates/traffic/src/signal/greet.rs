//! How a channel begins: both ends tell their versions, and prove to each other that they hold the
//! same key.
//!
//! Who opened the connection proves first. So an end that listens gives nobody a code made with its
//! key, of which weak keys could be guessed at leisure, who does not hold it already.

use super::VERSION;
use super::channel::{Channel, ReceiveError};
use super::key::{End, Key, NONCE_BYTES, PROOF_BYTES, nonce};
use super::message::Message;
use std::io;
use std::net::ToSocketAddrs;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use trammel_io::reach;

/// The longest that either end may take to say who it is, all in all.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// What tells in a greeting that its end holds a key.
const HOLDS_KEY: [u8; PROOF_BYTES] = [0; PROOF_BYTES];
/// Why an end that holds a key serves no stranger.
const WANTS_KEY: &str = "it requires its key; give `--key FILE`";

/// Which end opened the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    /// This one.
    Us,
    /// The other.
    Them,
}

/// Why the other end is not talked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It refuses, and why.
    #[error("it refuses: {0}")]
    Refused(String),
    /// It cannot prove that it holds the key.
    #[error(
        "the peer could not prove that it holds the key; start it with the same `--key FILE`, or \
         leave `--key` out"
    )]
    Stranger,
    /// Its protocol's version is another.
    #[error(
        "it speaks version {0} of the signalling, this program {VERSION}; use the same release on \
         both ends"
    )]
    Version(u16),
    /// It answers with what was not asked.
    #[error("it answers with an unexpected message")]
    OutOfTurn,
    /// The channel.
    #[error("signalling: {0}")]
    Channel(#[from] ReceiveError),
}

/// What `message` means where another was to come.
pub fn refusal(message: Message) -> Error {
    match message {
        Message::Refused(why) => Error::Refused(why),
        _ => Error::OutOfTurn,
    }
}

/// A channel to the first of `address` that answers, whose ends have greeted; `nobody` makes an
/// error of why none answers.
pub fn reach<E: From<ReceiveError> + From<Error>>(
    address: impl ToSocketAddrs,
    key: Option<&Key>,
    stop: &AtomicBool,
    nobody: fn(String, io::Error) -> E,
) -> Result<Channel, E> {
    let addresses = address.to_socket_addrs().map_err(ReceiveError::System)?;
    let addresses: Vec<_> = addresses.collect();
    let stream = reach::connect(&addresses, PATIENCE);
    let stream = stream.map_err(|why| nobody(reach::named(&addresses), why))?;
    let mut channel = Channel::new(stream).map_err(ReceiveError::System)?;
    ask(&mut channel, key, Opener::Us, stop)?;
    Ok(channel)
}

/// The nonces of a channel's ends.
struct Nonces {
    asks: [u8; NONCE_BYTES],
    answers: [u8; NONCE_BYTES],
}

/// What is left of the time for a greeting.
fn left(since: Instant) -> Duration {
    PATIENCE.saturating_sub(since.elapsed())
}

/// Proves as `own` to the other end that it holds `key`, and has it prove the same. Whether it
/// could.
fn prove(
    channel: &mut Channel,
    (key, own): (&Key, End),
    nonces: &Nonces,
    opener: Opener,
    (since, stop): (Instant, &AtomicBool),
) -> Result<bool, ReceiveError> {
    let other = match own {
        End::Sender => End::Receiver,
        End::Receiver => End::Sender,
    };
    let proof = Message::Proof(key.proof(own, &nonces.asks, &nonces.answers));
    if opener == Opener::Us {
        channel.say(&proof)?;
    }
    let theirs = match channel.hear(Some(left(since)), stop)? {
        Message::Proof(theirs) => theirs,
        // It found that this end's key is another, and says so.
        Message::Refused(why) => return Err(ReceiveError::Refused(why)),
        _ => return Ok(false),
    };
    let is_proven = key.is_proven(other, &nonces.asks, &nonces.answers, &theirs);
    if is_proven && opener == Opener::Them {
        channel.say(&proof)?;
    }
    Ok(is_proven)
}

/// Greets as the end that asks for something: a sender, say. Where there is a `key`, the other end
/// has to hold it.
pub fn ask(
    channel: &mut Channel,
    key: Option<&Key>,
    opener: Opener,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let since = Instant::now();
    let asks = nonce().map_err(ReceiveError::System)?;
    channel.say(&Message::Hello {
        version: VERSION,
        nonce: asks,
        proof: key.map(|_| HOLDS_KEY),
    })?;
    let (version, answers, holds_key) = match channel.hear(Some(left(since)), stop)? {
        Message::Hello {
            version,
            nonce,
            proof,
        } => (version, nonce, proof.is_some()),
        other => return Err(refusal(other)),
    };
    if version != VERSION {
        return Err(Error::Version(version));
    }
    let Some(key) = key else {
        if holds_key {
            return Err(Error::Refused(WANTS_KEY.to_owned()));
        }
        return Ok(());
    };
    if !holds_key {
        return Err(Error::Stranger);
    }
    let nonces = Nonces { asks, answers };
    let proven = prove(channel, (key, End::Sender), &nonces, opener, (since, stop));
    match proven {
        Ok(true) => Ok(()),
        Ok(false) | Err(ReceiveError::Gone | ReceiveError::Refused(_)) => Err(Error::Stranger),
        Err(why) => Err(why.into()),
    }
}

/// Answers the greeting as the end that serves: a receiver, say. Whether the other end may ask for
/// anything.
pub fn answer(
    channel: &mut Channel,
    key: Option<&Key>,
    opener: Opener,
    stop: &AtomicBool,
) -> Result<bool, ReceiveError> {
    let since = Instant::now();
    let Message::Hello {
        version,
        nonce: asks,
        proof,
    } = channel.hear(Some(left(since)), stop)?
    else {
        channel.say(&Message::Refused("say hello first".to_owned()))?;
        return Ok(false);
    };
    let answers = nonce()?;
    channel.say(&Message::Hello {
        version: VERSION,
        nonce: answers,
        proof: key.map(|_| HOLDS_KEY),
    })?;
    // The other end sees as well whether versions differ or it holds no key, and says what to do.
    if version != VERSION {
        return Ok(false);
    }
    let Some(key) = key else {
        return Ok(true);
    };
    if proof.is_none() {
        // It may say so: until then the connection is not broken off.
        return match channel.hear(Some(left(since)), stop)? {
            Message::Refused(why) => Err(ReceiveError::Refused(why)),
            _ => {
                channel.say(&Message::Refused(WANTS_KEY.to_owned()))?;
                Ok(false)
            }
        };
    }
    let nonces = Nonces { asks, answers };
    let is_proven = prove(
        channel,
        (key, End::Receiver),
        &nonces,
        opener,
        (since, stop),
    )?;
    if !is_proven {
        channel.say(&Message::Refused(WANTS_KEY.to_owned()))?;
    }
    Ok(is_proven)
}
