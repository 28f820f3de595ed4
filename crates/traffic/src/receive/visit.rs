//! A receiver that comes to its sender, since nobody reaches it from outside: behind a translator of addresses.

use super::hub::Hub;
use super::{Settings, Shared, session};
use crate::send::waiting::any;
use crate::signal::channel::Silence;
use crate::signal::greet::Opener;
use crate::signal::message::Message;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

/// The longest that a connection may take to be made; one is tried again after the shorter time.
const CONNECTING: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(200);

/// The receiver.
#[derive(Debug)]
pub struct Visitor {
    shared: Shared,
    sender: SocketAddr,
}

impl Visitor {
    /// A receiver that comes to `sender`, and gives what it receives to `hub`.
    pub fn new(sender: SocketAddr, settings: Settings, hub: Hub) -> Visitor {
        let own = SocketAddr::from((any(sender.ip()), 0));
        Visitor {
            shared: Shared::new(settings, own, hub, Arc::default()),
            sender,
        }
    }

    /// What it receives.
    pub fn hub(&self) -> MutexGuard<'_, Hub> {
        self.shared.hub()
    }

    /// Comes to the sender whenever it waits there, until `stop` is set or the sender refuses, with why; `ended` hears of
    /// sessions that ended otherwise than the sender said.
    pub fn run(
        &self,
        stop: &AtomicBool,
        ended: &(dyn Fn(SocketAddr, Silence) + Sync),
    ) -> Result<(), String> {
        std::thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                let mut here = Vec::new();
                Message::Here.write(&mut here);
                // Nobody waits there yet, or no more.
                let came = TcpStream::connect_timeout(&self.sender, CONNECTING)
                    .and_then(|mut stream| stream.write_all(&here).map(|()| stream));
                match came
                    .map(|stream| session::serve(stream, &self.shared, Opener::Us, (scope, stop)))
                {
                    Ok(Err(Silence::Refused(why))) => return Err(why),
                    Ok(Err(silence)) => ended(self.sender, silence),
                    Ok(Ok(())) | Err(_) => {}
                }
                std::thread::sleep(AGAIN);
            }
            Ok(())
        })
    }
}
