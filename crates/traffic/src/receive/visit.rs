//! A receiver that comes to its sender, since nobody reaches it from outside: behind a translator
//! of addresses.

use super::hub::Hub;
use super::{Settings, Shared, session};
use crate::send::waiting::any;
use crate::signal::channel::ReceiveError;
use crate::signal::greet::Opener;
use crate::signal::message::Message;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;
use trammel_io::reach::connect;

/// The longest that a connection may take to be made; one is tried again after the shorter time.
const CONNECTING: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(200);

/// The receiver.
#[derive(Debug)]
pub struct Visitor {
    shared: Shared,
    senders: Vec<SocketAddr>,
    is_once: bool,
}

impl Visitor {
    /// A receiver that comes to the sender at the first of `senders` that answers, and gives what
    /// it receives to `hub`.
    pub fn new(senders: Vec<SocketAddr>, settings: Settings, hub: Hub) -> Visitor {
        let own = SocketAddr::from((any(Ipv4Addr::UNSPECIFIED.into()), 0));
        Visitor {
            shared: Shared::new(settings, own, hub, Arc::default()),
            senders,
            is_once: false,
        }
    }

    /// Ends with the first session in which the sender opened a flow.
    #[must_use]
    pub fn once(mut self) -> Visitor {
        self.is_once = true;
        self
    }

    /// What it receives.
    pub fn hub(&self) -> MutexGuard<'_, Hub> {
        self.shared.hub()
    }

    /// Comes to the sender whenever it waits there, until `stop` is set or the sender refuses, with
    /// why; `ended` hears of sessions that ended otherwise than the sender said.
    pub fn run(
        &self,
        stop: &AtomicBool,
        ended: &(dyn Fn(SocketAddr, ReceiveError) + Sync),
    ) -> Result<(), String> {
        std::thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                let mut here = Vec::new();
                Message::Here.write(&mut here);
                // Nobody waits there yet, or no more.
                let came = connect(&self.senders, CONNECTING)
                    .and_then(|mut stream| stream.write_all(&here).map(|()| stream));
                let sender = came.as_ref().ok().and_then(|one| one.peer_addr().ok());
                if let Some(sender) = sender {
                    self.shared.set_address((any(sender.ip()), 0).into());
                }
                match came
                    .map(|stream| session::serve(stream, &self.shared, Opener::Us, (scope, stop)))
                {
                    Ok(Err(ReceiveError::Refused(why))) => return Err(why),
                    Ok(Err(silence)) => ended(sender.unwrap_or(self.senders[0]), silence),
                    Ok(Ok(())) | Err(_) => {}
                }
                if self.is_once && self.hub().has_opened() {
                    return Ok(());
                }
                std::thread::sleep(AGAIN);
            }
            Ok(())
        })
    }
}
