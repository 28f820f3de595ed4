//! Searching the graph: what lies upstream or downstream of a port, as packets go.

use super::notify::{Kind, Listener, NotifierId, Provided, Signal};
use super::task::TaskId;
use super::{Ctx, Element, ElementId};
use crate::graph::flow::FlowCode;
use crate::graph::processing::Mode;
use crate::lang::Port;
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
        let near = Port { element, port };
        let far = |port: Port| (port.element, port.port);
        match way {
            Way::Upstream => self.config.index.wiring.before(near).map(far).collect(),
            Way::Downstream => self.config.index.wiring.after(near).map(far).collect(),
        }
    }

    /// The ports on the other side of `element` that packets of its `port` pass by.
    fn through(&self, way: Way, element: ElementId, port: usize) -> Vec<usize> {
        let node = &self.config.nodes[element];
        let flow = FlowCode::parse(node.entry.flow);
        let (inputs, outputs) = (node.modes.inputs.len(), node.modes.outputs.len());
        if flow.is_by_number() {
            let there = port < inputs && port < outputs;
            return there.then_some(port).into_iter().collect();
        }
        match way {
            Way::Upstream => (0..inputs).filter(|i| flow.passes(*i, port)).collect(),
            Way::Downstream => (0..outputs).filter(|o| flow.passes(port, *o)).collect(),
        }
    }

    /// Visits what lies beyond a port of this element; `visit` gets each element with the port
    /// reached and says whether the search goes on beyond it.
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
    pub fn nearest<T: Element>(&mut self, way: Way, port: usize) -> Vec<ElementId> {
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

    /// The elements found first on each way beyond a port that store packets.
    pub fn nearest_storages(&mut self, way: Way, port: usize) -> Vec<ElementId> {
        let mut found = Vec::new();
        self.search(way, port, |ctx, element, _| {
            if ctx.stored(element).is_none() {
                return true;
            }
            if !found.contains(&element) {
                found.push(element);
            }
            false
        });
        found
    }

    /// The signal of everything upstream of `input` that says whether a pull may give a packet;
    /// `task` is woken when it comes on.
    pub fn upstream_signal(&mut self, input: usize, task: Option<TaskId>) -> Signal {
        let listener = task.map(Listener::Task);
        self.signal(Way::Upstream, Kind::Empty, input, listener)
    }

    /// The signal of everything downstream of `output` that says whether a push finds room.
    pub fn downstream_signal(&mut self, output: usize, task: Option<TaskId>) -> Signal {
        let listener = task.map(Listener::Task);
        self.signal(Way::Downstream, Kind::Full, output, listener)
    }

    /// The signal of everything upstream of `input`, which turns this element's own notifier on
    /// when it comes on.
    pub fn relayed_signal(&mut self, input: usize, notifier: NotifierId) -> Signal {
        let listener = Some(Listener::Notifier(notifier));
        self.signal(Way::Upstream, Kind::Empty, input, listener)
    }

    /// A signal is that of the first pass, which stops where an element answers for all beyond it;
    /// a second pass goes on there, so that the listener is woken by those beyond too. Nobody
    /// listens to a signal that is always on.
    fn signal(&mut self, way: Way, kind: Kind, port: usize, listener: Option<Listener>) -> Signal {
        let (signal, goes_on) = self.gather(way, kind, port, false);
        let Some(listener) = listener.filter(|_| !signal.is_busy()) else {
            return signal;
        };
        let beyond = goes_on.then(|| self.gather(way, kind, port, true).0);
        for id in beyond.as_ref().unwrap_or(&signal).notifiers() {
            self.schedule.notifiers.listen(*id, listener);
        }
        signal
    }

    /// The notifiers that a search meets, and whether there are more behind a
    /// [`Provided::ContinueWake`].
    fn gather(&self, way: Way, kind: Kind, port: usize, all: bool) -> (Signal, bool) {
        let (mut signal, mut goes_on) = (Signal::idle(), false);
        let mut seen = BTreeSet::new();
        let mut queue: VecDeque<_> = self.beyond(way, self.me, port).into();
        while let Some((element, port)) = queue.pop_front() {
            if !seen.insert((element, port)) {
                continue;
            }
            let provided = match &self.slots[element] {
                Some(one) => one.notifier(kind, port),
                None => Provided::None,
            };
            let (id, further) = match provided {
                Provided::None => (None, true),
                Provided::Stop(id) => (Some(id), false),
                Provided::Continue(id) => (Some(id), true),
                Provided::ContinueWake(id) => {
                    goes_on = true;
                    (Some(id), all)
                }
            };
            if let Some(id) = id {
                signal.add(id);
            }
            if !further {
                continue;
            }
            let mode = &self.config.nodes[element].modes;
            let others = self.through(way, element, port);
            // Where the way ends without a notifier, packets may come at any time; an element with
            // no port at all on that side, such as a scheduler of nothing, makes none.
            if others.is_empty() && id.is_none() && !self.is_barren(way, element) {
                signal.set_busy();
            }
            for other in others {
                let carries = match way {
                    Way::Upstream => mode.inputs[other] == Mode::Pull,
                    Way::Downstream => mode.outputs[other] == Mode::Push,
                };
                if carries {
                    queue.extend(self.beyond(way, element, other));
                } else {
                    signal.set_busy();
                }
            }
        }
        (signal, goes_on)
    }

    /// Whether `element` could have inputs, but has none: it only passes packets on.
    fn is_barren(&self, way: Way, element: ElementId) -> bool {
        let node = &self.config.nodes[element];
        way == Way::Upstream
            && node.modes.inputs.is_empty()
            && node.entry.processing.starts_with('l')
            && !node.entry.ports.starts_with('0')
    }
}
