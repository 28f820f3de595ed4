//! What a context sees of the other threads.

use super::team::Dozing;
use crate::engine::handler::Handler;
use crate::engine::handlers::Owner;
use crate::engine::{Ctx, ElementId};
use std::sync::atomic::Ordering;

impl Ctx {
    /// The thread that runs an element.
    pub fn home(&self, element: ElementId) -> usize {
        self.threads.homes.get(element).copied().unwrap_or(0)
    }

    /// The thread of an element that is not this context's.
    pub(in crate::engine) fn elsewhere(&self, element: ElementId) -> Option<usize> {
        let place = self.threads.place.as_ref()?;
        let home = place.homes[element];
        (home != place.thread).then_some(home)
    }

    /// The context of an element's thread, where that is at rest.
    pub(in crate::engine) fn at_rest(&self, element: ElementId) -> Option<&Ctx> {
        let home = self.elsewhere(element)?;
        self.threads.others.get(home.checked_sub(1)?)
    }

    /// The same, to change it.
    pub(in crate::engine) fn at_rest_mut(&mut self, element: ElementId) -> Option<&mut Ctx> {
        let home = self.elsewhere(element)?;
        self.threads.others.get_mut(home.checked_sub(1)?)
    }

    /// The handlers of an element of another thread, as far as they are known.
    pub(in crate::engine) fn handlers_elsewhere(&self, element: ElementId) -> Option<Vec<Handler>> {
        self.elsewhere(element)?;
        if let Some(ctx) = self.at_rest(element) {
            return Some(ctx.handlers_of(Owner::Element(element)));
        }
        let known = self.threads.place.as_ref()?.team.handlers.get()?;
        known.get(element).cloned()
    }

    /// A thread is about to wait, for up to so long.
    pub(in crate::engine) fn doze(&self, timeout_ns: Option<u64>) -> Dozing {
        let Some(place) = self
            .threads
            .place
            .as_ref()
            .filter(|_| timeout_ns != Some(0))
        else {
            return Dozing::Alone;
        };
        let mailbox = &place.team.mailboxes[place.thread];
        mailbox.sleeps.store(true, Ordering::SeqCst);
        if mailbox.has_news.load(Ordering::SeqCst) {
            mailbox.sleeps.store(false, Ordering::SeqCst);
            return Dozing::News;
        }
        Dozing::Bell(mailbox.bell.descriptor())
    }

    /// It has waited; its bell is none of the descriptors that elements wait on.
    pub(in crate::engine) fn awake(&self, dozing: Dozing, ready: &mut Vec<i32>) {
        let (Dozing::Bell(bell), Some(place)) = (dozing, &self.threads.place) else {
            return;
        };
        let mailbox = &place.team.mailboxes[place.thread];
        mailbox.sleeps.store(false, Ordering::SeqCst);
        mailbox.bell.silence();
        ready.retain(|descriptor| *descriptor != bell);
    }

    /// Has a thread look at what is new for it.
    pub(in crate::engine) fn notice(&self, thread: usize) {
        if let Some(place) = &self.threads.place {
            place.team.notice(thread);
        }
    }

    /// Whether other threads run elements of this router.
    pub fn is_shared(&self) -> bool {
        self.threads.place.is_some()
    }
}
