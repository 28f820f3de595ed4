//! How many connections and threads those who come to this process may hold, in all and each: one
//! count for all its listeners.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope};

/// Threads for others at once, at most: connections that are served, and ports of packets.
pub const MOST: usize = 4096;
/// Those of one peer, so that no one peer keeps all others away.
pub(crate) const MOST_OF_PEER: usize = 3072;

/// The places that there are.
#[derive(Debug)]
pub struct Places {
    most: usize,
    most_of_peer: usize,
    /// Of a thread's stack, where it is not the system's default.
    stack_bytes: Option<usize>,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    of: BTreeMap<IpAddr, usize>,
}

/// One that is taken, until it is dropped.
#[derive(Debug)]
pub struct Place {
    places: Arc<Places>,
    peer: IpAddr,
}

impl Default for Places {
    fn default() -> Places {
        Places::new(MOST, MOST_OF_PEER)
    }
}

impl Places {
    /// So many, of which one peer may have so many.
    pub fn new(most: usize, most_of_peer: usize) -> Places {
        Places {
            most,
            most_of_peer,
            stack_bytes: None,
            taken: Mutex::default(),
        }
    }

    /// Threads with stacks of so many bytes.
    #[cfg(test)]
    fn with_stacks(self, bytes: usize) -> Places {
        let stack_bytes = Some(bytes);
        Places {
            stack_bytes,
            ..self
        }
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many are taken.
    pub fn count(&self) -> usize {
        self.taken().all
    }

    /// A place for `peer`.
    ///
    /// # Errors
    /// If all are taken, or all that one peer may have; in words for the peer.
    pub fn take(self: &Arc<Places>, peer: SocketAddr) -> Result<Place, String> {
        let peer = peer.ip().to_canonical();
        let mut taken = self.taken();
        if taken.all >= self.most {
            return Err(format!("{} are served already", self.most));
        }
        let of_peer = taken.of.entry(peer).or_default();
        if *of_peer >= self.most_of_peer {
            return Err(format!(
                "{} of {peer} are in use already",
                self.most_of_peer
            ));
        }
        *of_peer += 1;
        taken.all += 1;
        Ok(Place {
            places: self.clone(),
            peer,
        })
    }
}

impl Place {
    /// Does `work` with `held` on a thread of its own, which holds this place until it is over.
    ///
    /// # Errors
    /// If the system makes no thread, with what was to be held: the place is free again.
    pub fn spawn<'scope, T: Send + 'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        held: T,
        work: impl FnOnce(T) + Send + 'scope,
    ) -> Result<(), (T, io::Error)> {
        let mut builder = Builder::new();
        if let Some(bytes) = self.places.stack_bytes {
            builder = builder.stack_size(bytes);
        }
        // What a thread that is not made was to own is dropped with it; so it takes this from where
        // it can be taken back.
        let slot = Arc::new(Mutex::new(Some(held)));
        let taken = slot.clone();
        let made = builder.spawn_scoped(scope, move || {
            let held = taken.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(held) = held {
                work(held);
            }
            drop(self);
        });
        let Err(why) = made else {
            return Ok(());
        };
        let held = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        Err((held.expect("the thread that takes it was not made"), why))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.all -= 1;
        if let Some(of_peer) = taken.of.get_mut(&self.peer) {
            *of_peer -= 1;
            if *of_peer == 0 {
                taken.of.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(last: u8) -> SocketAddr {
        ([192, 0, 2, last], 1).into()
    }

    #[test]
    fn no_peer_has_more_than_its_share_and_all_no_more_than_there_are() {
        let places = Arc::new(Places::new(3, 2));
        let first = places.take(peer(1)).expect("there is room");
        let second = places.take(peer(1)).expect("there is room");
        let why = places.take(peer(1)).expect_err("its share is taken");
        assert!(why.contains("2 of 192.0.2.1"), "{why}");
        let third = places.take(peer(2)).expect("there is room");
        let why = places.take(peer(3)).expect_err("all are taken");
        assert!(why.starts_with("3 are served"), "{why}");
        drop((first, second));
        assert_eq!(places.count(), 1);
        places.take(peer(1)).expect("there is room again");
        drop(third);
        assert_eq!(places.count(), 0);
        assert!(places.taken().of.is_empty(), "nothing of them stays");
    }

    #[test]
    fn where_no_thread_can_be_made_what_it_was_to_hold_comes_back() {
        // No address space holds such a stack.
        let places = Arc::new(Places::default().with_stacks(1 << 60));
        std::thread::scope(|scope| {
            let place = places.take(peer(1)).expect("there is room");
            let refused = place.spawn(scope, 7, |_| panic!("there is no thread"));
            let (held, _) = refused.expect_err("no thread can be made");
            assert_eq!((held, places.count()), (7, 0));
        });
        let places = Arc::new(Places::default());
        std::thread::scope(|scope| {
            let place = places.take(peer(1)).expect("there is room");
            let done = place.spawn(scope, 7, |held| assert_eq!(held, 7));
            done.expect("a thread");
        });
        assert_eq!(places.count(), 0);
    }
}
