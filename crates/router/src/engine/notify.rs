//! Notifiers: whether a queue has packets or room, told to the tasks that wait for it.
//!
//! A notifier is one bit. Who pulls asks its graph for the signal of everything upstream: the bits of all
//! notifiers found, any of which being on means that a pull may give a packet. Where a way upstream ends
//! without a notifier the signal is always on.

use super::task::TaskId;

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
    /// This one, and the search goes on beyond it: both must be on... the signal is of either.
    Continue(NotifierId),
    /// As [`Provided::Continue`], and those beyond wake this element's own tasks rather than the asker's.
    ContinueWake(NotifierId),
}

/// The bits of several notifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
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
        if !self.ids.contains(&id) {
            self.ids.push(id);
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
    names: Vec<String>,
    listeners: Vec<Vec<TaskId>>,
}

impl Notifiers {
    /// A new notifier, on; `name` is for the handler `notifier`.
    pub fn add(&mut self, name: String) -> NotifierId {
        self.on.push(true);
        self.names.push(name);
        self.listeners.push(Vec::new());
        NotifierId(self.on.len() as u32 - 1)
    }

    /// Has `task` woken when it comes on.
    pub fn listen(&mut self, id: NotifierId, task: TaskId) {
        let listeners = &mut self.listeners[id.0 as usize];
        if !listeners.contains(&task) {
            listeners.push(task);
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

    /// Turns it on or off without waking anyone; says whether that changed it.
    #[inline]
    pub fn set(&mut self, id: NotifierId, on: bool) -> bool {
        std::mem::replace(&mut self.on[id.0 as usize], on) != on
    }

    /// Who is woken by it.
    pub fn listeners(&self, id: NotifierId) -> &[TaskId] {
        &self.listeners[id.0 as usize]
    }

    /// Its name.
    pub fn name(&self, id: NotifierId) -> &str {
        &self.names[id.0 as usize]
    }
}
