//! A log that a log server keeps: each block is a message to it.
//!
//! A thread of its own talks to the server, so that whoever logs never waits for it: what has not
//! been taken in time, and all that comes after it, is not in the log, and that is said.

use crate::signal::channel::{Channel, ReceiveError};
use crate::signal::greet::{self, Error, Opener, PATIENCE, refusal};
use crate::signal::key::Key;
use crate::signal::message::Message;
use std::io::{self, Write};
use std::net::ToSocketAddrs;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use trammel_io::reach;

/// Blocks that wait for the server, at most: 25 MB, a second of a million packets.
const MOST_WAITING: usize = 256;

/// What the server began to say is heard to its end in so long.
const SAYING: Duration = Duration::from_secs(1);

/// The way to a log server; give it to a [`Writer`](super::Writer).
#[derive(Debug)]
pub struct Remote {
    /// None once it is over.
    blocks: Option<SyncSender<Vec<u8>>>,
    talks: Option<JoinHandle<Result<(), Error>>>,
}

impl Remote {
    /// Opens a log at the server at the first of `address` that answers.
    pub fn open(
        address: impl ToSocketAddrs,
        key: Option<&Key>,
        stop: &AtomicBool,
    ) -> Result<Remote, Error> {
        let addresses = address.to_socket_addrs().map_err(ReceiveError::System)?;
        let addresses: Vec<_> = addresses.collect();
        let stream = reach::connect(&addresses, PATIENCE).map_err(ReceiveError::System)?;
        let mut channel = Channel::new(stream).map_err(ReceiveError::System)?;
        greet::ask(&mut channel, key, Opener::Us, stop)?;
        let (blocks, come) = sync_channel(MOST_WAITING);
        let talks = std::thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || talk(&mut channel, &come))
            .map_err(ReceiveError::System)?;
        Ok(Remote {
            blocks: Some(blocks),
            talks: Some(talks),
        })
    }

    /// Ends the log: waits until the server has told that it keeps all of it.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.blocks = None;
        let Some(talks) = self.talks.take() else {
            return Ok(());
        };
        talks.join().unwrap_or(Err(Error::OutOfTurn))
    }
}

impl Write for Remote {
    /// Takes a block, whole or not at all.
    fn write(&mut self, block: &[u8]) -> io::Result<usize> {
        let Some(blocks) = &self.blocks else {
            return Err(io::Error::other("the log server's log is closed"));
        };
        match blocks.try_send(block.to_vec()) {
            Ok(()) => Ok(block.len()),
            Err(TrySendError::Full(_)) => Err(io::Error::other("the log server is too slow")),
            Err(TrySendError::Disconnected(_)) => {
                let why = self.finish().err();
                let why = why.map_or_else(|| "it hung up".to_owned(), |why| why.to_string());
                Err(io::Error::other(format!(
                    "the log server accepts no more: {why}"
                )))
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Has the server take all blocks that come; then hears what it kept.
fn talk(channel: &mut Channel, come: &Receiver<Vec<u8>>) -> Result<(), Error> {
    let on = AtomicBool::new(false);
    let mut bytes = 0;
    for block in come {
        bytes += block.len() as u64;
        if channel.has_word()? {
            return Err(refusal(channel.hear(Some(SAYING), &on)?));
        }
        channel.say(&Message::Block(block))?;
    }
    channel.say(&Message::Over)?;
    match channel.hear(Some(PATIENCE), &on)? {
        Message::Kept { bytes: kept } if kept == bytes => Ok(()),
        Message::Kept { bytes: kept } => Err(Error::Refused(format!(
            "it kept {kept} of {bytes} bytes of the log"
        ))),
        other => Err(refusal(other)),
    }
}
