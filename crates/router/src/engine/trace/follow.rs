//! Marks packets to be followed and tells each step of theirs.

use super::{Event, Step, Tell, Trace};
use crate::engine::{Ctx, ElementId};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::pool::Handle;

impl Ctx {
    /// Follows the next `count` packets from where they are first seen to where they end.
    pub fn trace(&mut self, count: u16, tell: Tell) {
        self.watch.traced = Some(Trace {
            left: count,
            next: 1,
            tell,
        });
        self.watch.observed = true;
    }

    /// Tells of every followed packet of `packets`, and begins to follow new ones.
    #[cold]
    pub(in crate::engine) fn trace_step(
        &mut self,
        packets: &Packets,
        from: usize,
        element: ElementId,
        step: Step,
    ) {
        if self.watch.traced.is_none() {
            return;
        }
        let at = self.now();
        let Some(trace) = &mut self.watch.traced else {
            return;
        };
        for handle in packets.iter().skip(from) {
            let packet = &mut self.path.pool[handle];
            if packet.trace() == 0 && trace.left > 0 {
                packet.set_trace(trace.next);
                trace.left -= 1;
                trace.next += 1;
            }
            if packet.trace() != 0 {
                (trace.tell)(Event {
                    trace: packet.trace(),
                    element,
                    step,
                    at,
                    data: packet.data(),
                });
            }
        }
    }

    /// Tells that a followed packet ended at this element.
    #[cold]
    pub(in crate::engine) fn trace_end(&mut self, handle: &Handle, reason: Reason) {
        let (at, element) = (self.now(), self.me);
        let packet = &self.path.pool[handle];
        if let Some(trace) = self.watch.traced.as_mut().filter(|_| packet.trace() != 0) {
            (trace.tell)(Event {
                trace: packet.trace(),
                element,
                step: Step::Ended(reason),
                at,
                data: packet.data(),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::testing::loaded;
    use std::sync::{Arc, Mutex};

    #[test]
    fn the_first_packets_are_followed_to_their_end_and_no_others() {
        let mut run =
            loaded("s :: InfiniteSource(LIMIT 5, STOP true) -> n :: Null -> d :: Discard;");
        let told = Arc::new(Mutex::new(Vec::new()));
        let to = Arc::clone(&told);
        run.ctx.trace(
            2,
            Box::new(move |event| {
                let mut told = to.lock().expect("one thread");
                told.push((event.trace, event.element, event.step));
            }),
        );
        run.run(1.0);
        let ends = Step::Ended(Reason::Discarded);
        let packet = |n| {
            [
                (n, 1, Step::Pushed(0)),
                (n, 2, Step::Pushed(0)),
                (n, 2, ends),
            ]
        };
        let expected: Vec<_> = [packet(1), packet(2)].concat();
        assert_eq!(*told.lock().expect("one thread"), expected);
    }
}
