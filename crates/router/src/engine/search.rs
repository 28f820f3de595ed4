//! Searching the graph: what lies upstream or downstream of a port, as packets go.

use super::notify::{Kind, NotifierId, Provided, Signal};
use super::task::TaskId;
use super::{Ctx, ElementId};
use crate::graph::flow::Flow;
use crate::graph::processing::Mode;
use std::collections::{BTreeSet, VecDeque};

/// Which way to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Against the packets, from an input.
    Upstream,
    /// With the packets, from an output.
    Downstream,
}

impl Ctx {
    /// The elements at the other ends of a port: element and port. More than one where several
    /// connections meet.
    fn beyond(&self, way: Way, element: ElementId, port: usize) -> Vec<(ElementId, usize)> {
        let ends = self.flat.connections.iter().filter_map(|c| {
            let (near, far) = match way {
                Way::Upstream => (c.to, c.from),
                Way::Downstream => (c.from, c.to),
            };
            (near.element == element && near.port == port).then_some((far.element, far.port))
        });
        ends.collect()
    }

    /// The ports on the other side of `element` that packets of its `port` pass by.
    fn through(&self, way: Way, element: ElementId, port: usize) -> Vec<usize> {
        let node = &self.nodes[element];
        let flow = Flow::parse(node.entry.flow);
        match way {
            Way::Upstream => (0..node.modes.inputs.len())
                .filter(|i| flow.passes(*i, port))
                .collect(),
            Way::Downstream => (0..node.modes.outputs.len())
                .filter(|o| flow.passes(port, *o))
                .collect(),
        }
    }

    /// Visits what lies beyond a port of this element; `visit` gets each element with the port reached
    /// and says whether the search goes on beyond it.
    pub fn search(
        &mut self,
        way: Way,
        port: usize,
        mut visit: impl FnMut(&mut Ctx, ElementId, usize) -> bool,
    ) {
        let mut seen = BTreeSet::new();
        let mut queue: VecDeque<_> = self.beyond(way, self.me, port).into();
        while let Some((element, port)) = queue.pop_front() {
            if !seen.insert((element, port)) || !visit(self, element, port) {
                continue;
            }
            for other in self.through(way, element, port) {
                queue.extend(self.beyond(way, element, other));
            }
        }
    }

    /// The elements of class `T` found first on each way beyond a port.
    pub fn nearest<T: crate::element::Element>(&mut self, way: Way, port: usize) -> Vec<ElementId> {
        let mut found = Vec::new();
        self.search(way, port, |ctx, element, _| {
            if ctx.get::<T>(element).is_none() {
                return true;
            }
            if !found.contains(&element) {
                found.push(element);
            }
            false
        });
        found
    }

    /// The signal of everything upstream of `input` that says whether a pull may give a packet; `task` is
    /// woken when it comes on.
    pub fn upstream_signal(&mut self, input: usize, task: Option<TaskId>) -> Signal {
        self.signal(Way::Upstream, Kind::Empty, input, task)
    }

    /// The signal of everything downstream of `output` that says whether a push finds room.
    pub fn downstream_signal(&mut self, output: usize, task: Option<TaskId>) -> Signal {
        self.signal(Way::Downstream, Kind::Full, output, task)
    }

    fn signal(&mut self, way: Way, kind: Kind, port: usize, task: Option<TaskId>) -> Signal {
        let mut signal = Signal::idle();
        let mut wakers: Vec<NotifierId> = Vec::new();
        let mut seen = BTreeSet::new();
        let first = self.beyond(way, self.me, port);
        let mut queue: VecDeque<_> = first.into_iter().map(|(e, p)| (e, p, true)).collect();
        while let Some((element, port, wakes)) = queue.pop_front() {
            if !seen.insert((element, port)) {
                continue;
            }
            let provided = match &self.slots[element] {
                Some(one) => one.notifier(kind, port),
                None => Provided::None,
            };
            let (id, on) = match provided {
                Provided::None => (None, Some(wakes)),
                Provided::Stop(id) => (Some(id), None),
                Provided::Continue(id) => (Some(id), Some(wakes)),
                Provided::ContinueWake(id) => (Some(id), Some(false)),
            };
            if let Some(id) = id {
                signal.add(id);
                if wakes {
                    wakers.push(id);
                }
            }
            let Some(wakes) = on else {
                continue;
            };
            let mode = &self.nodes[element].modes;
            let others = self.through(way, element, port);
            let carries = |other: &usize| match way {
                Way::Upstream => mode.inputs[*other] == Mode::Pull,
                Way::Downstream => mode.outputs[*other] == Mode::Push,
            };
            let others: Vec<usize> = others.into_iter().filter(carries).collect();
            // Where the way ends without a notifier, packets may come at any time.
            if others.is_empty() && id.is_none() {
                signal.set_busy();
            }
            for other in others {
                let further = self.beyond(way, element, other);
                queue.extend(further.into_iter().map(|(e, p)| (e, p, wakes)));
            }
        }
        if let Some(task) = task {
            for id in wakers {
                self.notifiers.listen(id, task);
            }
        }
        signal
    }
}
