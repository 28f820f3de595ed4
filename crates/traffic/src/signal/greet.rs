//! How a channel begins: who calls and who answers tell their versions, and prove to each other that they hold the same key.

use super::VERSION;
use super::channel::{Channel, Silence};
use super::key::{End, Key, nonce};
use super::message::Message;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The longest that either end may take to say who it is.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Why the other end is not talked to.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It refuses, and why.
    #[error("it refuses: {0}")]
    Refused(String),
    /// It cannot prove that it holds the key.
    #[error("it does not hold the key; start it with the same `--key FILE`, or leave `--key` out")]
    Stranger,
    /// Its protocol's version is another.
    #[error(
        "it speaks version {0} of the signalling, this program {VERSION}; use the same release on both ends"
    )]
    Version(u16),
    /// It answers with what was not asked.
    #[error("it answers with a message that was not asked for")]
    OutOfTurn,
    /// The channel.
    #[error("signalling: {0}")]
    Channel(#[from] Silence),
}

/// What `message` means where another was to come.
pub fn refusal(message: Message) -> Error {
    match message {
        Message::Refused(why) => Error::Refused(why),
        _ => Error::OutOfTurn,
    }
}

/// Greets as the end that asks for something: a sender, say. Where there is a `key`, the other end proves first.
pub fn ask(channel: &mut Channel, key: Option<&Key>, stop: &AtomicBool) -> Result<(), Error> {
    let mine = nonce().map_err(Silence::System)?;
    channel.say(&Message::Hello {
        version: VERSION,
        nonce: mine,
        proof: None,
    })?;
    let (version, theirs, proof) = match channel.hear(Some(PATIENCE), stop)? {
        Message::Hello {
            version,
            nonce,
            proof,
        } => (version, nonce, proof),
        other => return Err(refusal(other)),
    };
    if version != VERSION {
        return Err(Error::Version(version));
    }
    if let Some(key) = key {
        let is_proven = |proof| key.is_proven(End::Receiver, &mine, &theirs, &proof);
        if !proof.is_some_and(is_proven) {
            return Err(Error::Stranger);
        }
        let proof = key.proof(End::Sender, &mine, &theirs);
        channel.say(&Message::Proof(proof))?;
    }
    Ok(())
}

/// Answers the greeting as the end that serves: a receiver, say. Whether the other end may ask for anything.
pub fn answer(
    channel: &mut Channel,
    key: Option<&Key>,
    stop: &AtomicBool,
) -> Result<bool, Silence> {
    let Message::Hello {
        version,
        nonce: theirs,
        ..
    } = channel.hear(Some(PATIENCE), stop)?
    else {
        channel.say(&Message::Refused("say hello first".to_owned()))?;
        return Ok(false);
    };
    let mine = nonce()?;
    channel.say(&Message::Hello {
        version: VERSION,
        nonce: mine,
        proof: key.map(|key| key.proof(End::Receiver, &theirs, &mine)),
    })?;
    // The other end sees the version as well and says what to do.
    if version != VERSION {
        return Ok(false);
    }
    let Some(key) = key else {
        return Ok(true);
    };
    let is_proven = match channel.hear(Some(PATIENCE), stop)? {
        Message::Proof(proof) => key.is_proven(End::Sender, &theirs, &mine, &proof),
        // It found that this end's key is another, and says so.
        Message::Refused(why) => return Err(Silence::Refused(why)),
        _ => false,
    };
    if !is_proven {
        let why = "it serves only who holds its key; give `--key FILE`";
        channel.say(&Message::Refused(why.to_owned()))?;
    }
    Ok(is_proven)
}
