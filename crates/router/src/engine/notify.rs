//! Notifiers: whether a queue has packets or room, told to the tasks that wait for it.
//!
//! A notifier is one bit. Who pulls asks its graph for the signal of everything upstream: the bits
//! of all notifiers found, any of which being on means that a pull may give a packet. Where a way
//! upstream ends without a notifier the signal is always on.

use super::task::TaskId;
use std::collections::BTreeMap;

/// A notifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NotifierId(pub(crate) u32);

/// What a notifier tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// On while there is something to pull.
    Empty,
    /// On while there is room to push.
    Full,
}

/// What an element answers to a search for notifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Provided {
    /// It has none: the search goes through it where packets do.
    None,
    /// This one, and the search ends here.
    Stop(NotifierId),
    /// This one, and the search goes on beyond it: the signal is of either.
    Continue(NotifierId),
    /// This one, which alone is the signal; those beyond it wake the asker's task as well.
    ContinueWake(NotifierId),
}

/// Who is told when a notifier comes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listener {
    /// This task is scheduled.
    Task(TaskId),
    /// This notifier comes on too; its own listeners are not woken, for those that found it by
    /// [`Provided::ContinueWake`] listen to the first one themselves.
    Notifier(NotifierId),
}

/// The bits of several notifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// In the order of their numbers.
    ids: Vec<NotifierId>,
    /// Whether it is on whatever the bits are.
    always: bool,
}

impl Signal {
    /// A signal that is always on.
    pub fn busy() -> Signal {
        Signal {
            ids: Vec::new(),
            always: true,
        }
    }

    /// A signal that is never on.
    pub fn idle() -> Signal {
        Signal {
            ids: Vec::new(),
            always: false,
        }
    }

    /// Adds a notifier.
    pub fn add(&mut self, id: NotifierId) {
        if let Err(place) = self.ids.binary_search(&id) {
            self.ids.insert(place, id);
        }
    }

    /// Makes it always on.
    pub fn set_busy(&mut self) {
        self.always = true;
    }

    /// Adds what `other` has.
    pub fn join(&mut self, other: &Signal) {
        self.always |= other.always;
        for id in &other.ids {
            self.add(*id);
        }
    }

    /// Whether it is on whatever happens.
    pub fn is_busy(&self) -> bool {
        self.always
    }

    /// Its notifiers.
    pub fn notifiers(&self) -> &[NotifierId] {
        &self.ids
    }
}

/// All notifiers.
#[derive(Debug, Default)]
pub struct Notifiers {
    on: Vec<bool>,
    /// What each tells, and its number among those that tell the same.
    kinds: Vec<(String, usize)>,
    listeners: Vec<Vec<Listener>>,
    /// How many there are of each kind.
    counts: BTreeMap<String, usize>,
}

impl Notifiers {
    /// A new notifier, on; `kind` is what it tells: `empty`, `full`.
    pub fn add(&mut self, kind: &str) -> NotifierId {
        let count = self.counts.entry(kind.to_owned()).or_default();
        self.kinds.push((kind.to_owned(), *count));
        *count += 1;
        self.on.push(true);
        self.listeners.push(Vec::new());
        NotifierId(self.on.len() as u32 - 1)
    }

    /// Has `listener` told when it comes on.
    pub fn listen(&mut self, id: NotifierId, listener: Listener) {
        let listeners = &mut self.listeners[id.0 as usize];
        if !listeners.contains(&listener) {
            listeners.push(listener);
        }
    }

    /// Whether it is on.
    #[inline]
    pub fn is_on(&self, id: NotifierId) -> bool {
        self.on[id.0 as usize]
    }

    /// Whether the signal is on.
    #[inline]
    pub fn is_active(&self, signal: &Signal) -> bool {
        signal.always || signal.ids.iter().any(|id| self.is_on(*id))
    }

    /// Turns it on or off without telling anyone; says whether that changed it.
    #[inline]
    pub fn set(&mut self, id: NotifierId, on: bool) -> bool {
        std::mem::replace(&mut self.on[id.0 as usize], on) != on
    }

    /// Who is told by it.
    pub fn listeners(&self, id: NotifierId) -> &[Listener] {
        &self.listeners[id.0 as usize]
    }

    /// A signal for people, as Click prints it: of each word of 32 notifiers its name, the bits
    /// that belong to the signal and those that are on, in hexadecimal, and an asterisk where one
    /// is.
    pub fn unparse(&self, signal: &Signal) -> String {
        if signal.always {
            return "busy*".to_owned();
        }
        let mut words: BTreeMap<(&str, usize), (u32, u32)> = BTreeMap::new();
        for id in &signal.ids {
            let (kind, number) = &self.kinds[id.0 as usize];
            let (mask, on) = words.entry((kind, number / 32)).or_default();
            *mask |= 1 << (number % 32);
            *on |= u32::from(self.is_on(*id)) << (number % 32);
        }
        if words.is_empty() {
            return "idle".to_owned();
        }
        let words = words.iter().map(|((kind, word), (mask, on))| {
            let active = if *on == 0 { "" } else { "*" };
            format!("{kind}.{word}/{mask:x}:{on:x}{active}")
        });
        words.collect::<Vec<_>>().join("+")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_prints_its_words() {
        let mut all = Notifiers::default();
        let ids: Vec<NotifierId> = (0..34).map(|_| all.add("empty")).collect();
        let full = all.add("full");
        let mut signal = Signal::idle();
        assert_eq!(all.unparse(&signal), "idle");
        signal.add(ids[1]);
        signal.add(ids[33]);
        all.set(ids[33], false);
        assert_eq!(all.unparse(&signal), "empty.0/2:2*+empty.1/2:0");
        let mut signal = Signal::idle();
        signal.add(full);
        assert_eq!(all.unparse(&signal), "full.0/1:1*");
        assert_eq!(all.unparse(&Signal::busy()), "busy*");
    }
}
