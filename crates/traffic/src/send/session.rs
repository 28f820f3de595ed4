//! A sender's session with a receiver: who it is, which flows it opens, and what came of them.

use super::way;
use crate::signal::VERSION;
use crate::signal::channel::{Channel, ReceiveError};
use crate::signal::greet;
use crate::signal::key::Key;
use crate::signal::message::{Count, Message, TOKEN_BYTES, Wish};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The longest that a receiver may take to answer, or to tell that what is still on its way is
/// coming.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a session or a flow cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nobody answers there.
    #[error("no receiver answers at {0}: {1}; start one there: `trammel recv`")]
    Nobody(String, io::Error),
    /// The receiver refuses, and why.
    #[error("the receiver refuses: {0}")]
    Refused(String),
    /// It cannot prove that it holds the key.
    #[error(
        "the receiver could not prove that it holds the key; start it with the same `--key FILE`, \
         or send without one"
    )]
    Stranger,
    /// Its protocol's version is another.
    #[error(
        "the receiver speaks version {0} of the signalling, this sender {VERSION}; use the same \
         release on both ends"
    )]
    Version(u16),
    /// It answers with what was not asked.
    #[error("the receiver answers with an unexpected message")]
    OutOfTurn,
    /// The receiver was to make the way of a flow, and has not.
    #[error(
        "the receiver did not connect to the flow's port within {} s; does a firewall block it?",
        .0.as_secs()
    )]
    NotComing(Duration),
    /// The way that it made cannot be gone.
    #[error("{0}")]
    Way(way::Error),
    /// The channel.
    #[error("signalling: {0}")]
    Channel(#[from] ReceiveError),
}

impl From<greet::Error> for Error {
    fn from(error: greet::Error) -> Error {
        match error {
            greet::Error::Refused(why) => Error::Refused(why),
            greet::Error::Stranger => Error::Stranger,
            greet::Error::Version(version) => Error::Version(version),
            greet::Error::OutOfTurn => Error::OutOfTurn,
            greet::Error::Channel(silence) => Error::Channel(silence),
        }
    }
}

/// A session.
#[derive(Debug)]
pub struct Session {
    channel: Channel,
}

impl Session {
    /// Opens a session with the receiver at the first of `addresses` that answers; where there is a
    /// `key`, both ends prove that they hold it.
    pub fn open(
        addresses: impl ToSocketAddrs,
        key: Option<&Key>,
        stop: &AtomicBool,
    ) -> Result<Session, Error> {
        let channel = greet::reach(addresses, key, stop, Error::Nobody)?;
        Ok(Session::of(channel))
    }

    /// The session on a channel whose ends have greeted.
    pub(super) fn of(channel: Channel) -> Session {
        Session { channel }
    }

    /// The channel, for a conversation of another kind.
    pub(crate) fn channel(&mut self) -> &mut Channel {
        &mut self.channel
    }

    fn hear(&mut self, stop: &AtomicBool) -> Result<Message, Error> {
        Ok(self.channel.hear(Some(PATIENCE), stop)?)
    }

    /// Opens a flow: the number that its packets carry, and the receiver's port.
    pub fn open_flow(&mut self, wish: Wish, stop: &AtomicBool) -> Result<(u32, u16), Error> {
        self.channel.say(&Message::Open(wish))?;
        match self.hear(stop)? {
            Message::Opened { number, port } => Ok((number, port)),
            other => Err(refusal(other)),
        }
    }

    /// Opens a flow whose way the receiver makes, to this end's `port`, where it shows `token`;
    /// gives its number.
    pub(crate) fn fetch_flow(
        &mut self,
        wish: Wish,
        port: u16,
        token: [u8; TOKEN_BYTES],
        stop: &AtomicBool,
    ) -> Result<u32, Error> {
        self.channel.say(&Message::Fetch { wish, port, token })?;
        match self.hear(stop)? {
            Message::Opened { number, .. } => Ok(number),
            other => Err(refusal(other)),
        }
    }

    /// Closes a flow of which `sent` was sent; gives what was received. Does so even when
    /// everything is to stop.
    pub fn close_flow(&mut self, number: u32, sent: Count) -> Result<Count, Error> {
        self.channel.say(&Message::Close { number, sent })?;
        loop {
            match self.hear(&AtomicBool::new(false))? {
                // What is on its way yet takes its time: the receiver tells that it is coming.
                Message::Progress { .. } => {}
                Message::Closed {
                    number: closed,
                    received,
                } if closed == number => return Ok(received),
                other => return Err(refusal(other)),
            }
        }
    }

    /// The receiver's address and this end's.
    pub fn addresses(&self) -> io::Result<(SocketAddr, SocketAddr)> {
        let stream = self.channel.stream();
        Ok((stream.peer_addr()?, stream.local_addr()?))
    }
}

fn refusal(message: Message) -> Error {
    greet::refusal(message).into()
}
