//! The ports that flows have open: each is served from its first flow to its last, by a thread of
//! its own.

use super::hub::Hub;
use super::port::Port;
use super::reads::Reads;
use crate::record::Protocol;
use crate::signal::places::Places;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

/// Ports with flows, at most, and those of them that the flows of one peer opened.
const MOST: usize = 1024;
const MOST_OF_PEER: usize = 768;

/// By the number that was asked for; 0 is the one that the system chose.
type Key = (Protocol, u16);

/// All that are open. What comes to one is read by an `R` and given to a hub.
#[derive(Debug)]
pub(crate) struct Ports<R> {
    hub: Arc<Mutex<Hub>>,
    places: Arc<Places>,
    open: Mutex<BTreeMap<Key, Entry<R>>>,
}

#[derive(Debug)]
struct Entry<R> {
    port: Port,
    reads: Arc<R>,
    /// Who opened it.
    peer: SocketAddr,
    users: usize,
    ledger: Ledger,
    /// Nobody uses it any more; also tells this entry from a later one of the same number.
    over: Arc<AtomicBool>,
}

/// What a port lost, and while which flows were open.
#[derive(Debug, Default)]
struct Ledger {
    /// What it had lost when this was looked at last.
    seen: u64,
    /// What it lost while it had several flows.
    shared: u64,
    /// Of each flow what the port lost while it had no other, and `shared` when it was opened.
    flows: BTreeMap<u32, (u64, u64)>,
}

/// Packets that a port had no room for while a flow was open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Losses {
    /// Of this flow: the port had no other.
    pub own: u64,
    /// Of this flow or of others that were open at the same time: nobody can tell.
    pub shared: u64,
}

impl Ledger {
    fn settle(&mut self, lost: u64) {
        let more = lost.saturating_sub(self.seen);
        self.seen = lost;
        let is_one = self.flows.len() == 1;
        match self.flows.first_entry() {
            Some(mut one) if is_one => one.get_mut().0 += more,
            Some(_) => self.shared += more,
            None => {}
        }
    }

    fn begin(&mut self, flow: u32, lost: u64) {
        self.settle(lost);
        self.flows.insert(flow, (0, self.shared));
    }

    fn end(&mut self, flow: u32, lost: u64) -> Losses {
        self.settle(lost);
        let (own, before) = self.flows.remove(&flow).unwrap_or((0, self.shared));
        Losses {
            own,
            shared: self.shared - before,
        }
    }
}

/// The use of a port by a flow, until it is dropped.
#[derive(Debug)]
pub(crate) struct Held<R> {
    ports: Arc<Ports<R>>,
    key: Key,
    /// None once it is dropped.
    port: Option<Port>,
    reads: Arc<R>,
    over: Arc<AtomicBool>,
}

impl<R: Reads + 'static> Ports<R> {
    /// None yet.
    pub(crate) fn new(hub: Arc<Mutex<Hub>>, places: Arc<Places>) -> Arc<Ports<R>> {
        Arc::new(Ports {
            hub,
            places,
            open: Mutex::default(),
        })
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<Key, Entry<R>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The places of the threads of ports.
    pub(crate) fn places(&self) -> &Arc<Places> {
        &self.places
    }

    /// The port `key` for a flow of `peer`. Where it is not open, `open` opens it, `reads` tells
    /// how packets are read there, and it is served from now on.
    pub(crate) fn hold<'scope>(
        self: &Arc<Self>,
        key: Key,
        peer: SocketAddr,
        open: impl FnOnce() -> Result<Port, String>,
        reads: impl FnOnce() -> R,
        (scope, stop): (&'scope Scope<'scope, '_>, &'scope AtomicBool),
    ) -> Result<Held<R>, String> {
        let mut all = self.open();
        if let Some(entry) = all.get_mut(&key) {
            entry.users += 1;
            entry.over.store(false, Ordering::Relaxed);
            return Ok(self.held(key, entry));
        }
        let used = all.values().filter(|entry| entry.users > 0);
        let its = used.clone().filter(|one| one.peer.ip() == peer.ip());
        if used.count() >= MOST {
            return Err(format!("{MOST} ports are open already; use one of them"));
        }
        if its.count() >= MOST_OF_PEER {
            return Err(format!(
                "{MOST_OF_PEER} ports are open for {} already; use one of them",
                peer.ip()
            ));
        }
        let place = self.places.take(peer)?;
        let port = open()?;
        let entry = Entry {
            port: port.clone(),
            reads: Arc::new(reads()),
            peer,
            users: 1,
            ledger: Ledger {
                seen: port.lost(),
                ..Ledger::default()
            },
            over: Arc::default(),
        };
        let held = self.held(key, &entry);
        let (ports, over) = (self.clone(), entry.over.clone());
        let reads: Arc<dyn Reads> = entry.reads.clone();
        let spawned = place.spawn(scope, port, move |port| {
            ports.serve(key, port, &reads, &over, (scope, stop));
        });
        match spawned {
            Ok(()) => {
                all.insert(key, entry);
                Ok(held)
            }
            Err((_, why)) => {
                // Its end looks at all that are open.
                drop(all);
                Err(format!(
                    "the system cannot create a thread for a port: {why}"
                ))
            }
        }
    }

    fn held(self: &Arc<Self>, key: Key, entry: &Entry<R>) -> Held<R> {
        Held {
            ports: self.clone(),
            key,
            port: Some(entry.port.clone()),
            reads: entry.reads.clone(),
            over: entry.over.clone(),
        }
    }

    /// Serves a port until its last flow is over or `stop` is set.
    fn serve<'scope>(
        &self,
        key: Key,
        port: Port,
        reads: &Arc<dyn Reads>,
        over: &AtomicBool,
        (scope, stop): (&'scope Scope<'scope, '_>, &'scope AtomicBool),
    ) {
        let is_over = || stop.load(Ordering::Relaxed) || over.load(Ordering::Relaxed);
        loop {
            let ran = port.serve((&self.hub, reads, &self.places), (scope, stop), &is_over);
            let mut open = self.open();
            let is_used = open.get(&key).is_some_and(|entry| entry.users > 0);
            if is_used && ran.is_ok() && !stop.load(Ordering::Relaxed) {
                continue;
            }
            // Who asks for the number again may have more luck, and finds it free: the socket goes
            // while nobody can ask.
            open.remove(&key);
            // An error of a socket that is ours and open is one of the machine's.
            if let Err(why) = ran {
                let at = port.address().map_or(key.1, |address| address.port());
                let mut hub = self.hub.lock().unwrap_or_else(PoisonError::into_inner);
                hub.port_failed(&format!("port {at} of {:?}", key.0), &why);
            }
            drop(port);
            return;
        }
    }
}

impl<R> Held<R> {
    /// The port.
    pub(crate) fn port(&self) -> &Port {
        self.port
            .as_ref()
            .expect("it is there until this is dropped")
    }

    /// How packets are read there.
    pub(crate) fn reads(&self) -> &Arc<R> {
        &self.reads
    }

    /// What the port loses from now on may be of `flow`.
    pub(crate) fn begin(&self, flow: u32) {
        self.ledger(|ledger, lost| ledger.begin(flow, lost));
    }

    /// What the port lost since `flow` began.
    pub(crate) fn end(&self, flow: u32) -> Losses {
        self.ledger(|ledger, lost| ledger.end(flow, lost))
            .unwrap_or_default()
    }

    fn ledger<T>(&self, work: impl FnOnce(&mut Ledger, u64) -> T) -> Option<T> {
        self.entry(|entry| {
            let lost = entry.port.lost();
            work(&mut entry.ledger, lost)
        })
    }

    /// Of a port that failed there is none.
    fn entry<T>(&self, work: impl FnOnce(&mut Entry<R>) -> T) -> Option<T> {
        let open = &self.ports.open;
        let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = open.get_mut(&self.key)?;
        Arc::ptr_eq(&entry.over, &self.over).then(|| work(entry))
    }
}

impl<R> Drop for Held<R> {
    fn drop(&mut self) {
        // The socket is to go with who serves it.
        self.port = None;
        self.entry(|entry| {
            entry.users -= 1;
            if entry.users == 0 {
                entry.over.store(true, Ordering::Relaxed);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_of_the_only_flow_or_of_nobody_in_particular() {
        let mut ledger = Ledger::default();
        ledger.begin(1, 0);
        // While it had the port to itself.
        ledger.begin(2, 5);
        // While both had it.
        assert_eq!(ledger.end(1, 8), Losses { own: 5, shared: 3 });
        ledger.begin(3, 9);
        assert_eq!(ledger.end(2, 11), Losses { own: 1, shared: 5 });
        assert_eq!(ledger.end(3, 11), Losses { own: 0, shared: 2 });
        // Between two flows: of none of them.
        ledger.begin(4, 100);
        assert_eq!(ledger.end(4, 101), Losses { own: 1, shared: 0 });
        assert_eq!(ledger.end(9, 102), Losses::default());
    }
}
