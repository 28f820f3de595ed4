//! Routes, and the stretches of them that a packet crosses at once.
//!
//! When a packet arrives at the far end of a link is often known as it comes to the near one
//! (`Link::is_foreseen`). If the next link gets all of its packets from there, they come to it in the
//! order in which they came to the first, so that link can be crossed in the same breath, ahead of time. A
//! *stretch* is a link with all such links behind it: it costs one event, at its end, however long it is.
//! Access links behind a bottleneck are the case that counts. Nothing else changes: the links that run
//! ahead show what they hold and have counted as if packets came one by one (`link::ahead`).

use super::gather::{Gather, Timer, catch_up};
use super::reader::Sink;
use super::{MAX_HOPS, Network};
use crate::packet::{Course, Packet};
use std::collections::BTreeSet;
use trammel_core::time::Time;

/// A route as the loop reads it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Route {
    links: [u16; MAX_HOPS],
    /// For each hop, the last of the stretch that begins with it.
    ends: [u8; MAX_HOPS],
    pub(super) hops: u8,
}

impl Route {
    pub(super) fn new(links: &[usize]) -> Route {
        assert!(
            links.len() <= MAX_HOPS,
            "a route has at most {MAX_HOPS} links"
        );
        let mut route = Route {
            hops: links.len() as u8,
            ..Route::default()
        };
        for (hop, link) in links.iter().enumerate() {
            assert!(
                hop == 0 || links[hop - 1] != *link,
                "a route leads from link to link"
            );
            route.links[hop] = *link as u16;
            route.ends[hop] = hop as u8;
        }
        route
    }

    /// The link of a hop.
    #[inline]
    pub(super) fn link(&self, hop: u8) -> usize {
        usize::from(self.links[usize::from(hop) % MAX_HOPS])
    }

    /// The last hop of the stretch that begins with `hop`.
    #[inline]
    pub(super) fn end(&self, hop: u8) -> u8 {
        self.ends[usize::from(hop) % MAX_HOPS]
    }

    fn find_stretches(&mut self, is_ahead: &[bool]) {
        for hop in (1..self.hops).rev() {
            if is_ahead[self.link(hop)] {
                self.ends[usize::from(hop) - 1] = self.ends[usize::from(hop)];
            }
        }
    }
}

/// The routes of everything that sends.
#[derive(Debug, Default)]
pub(super) struct Routes {
    /// Forward and backward, of each flow and of each workload.
    pub(super) flows: Vec<[Route; 2]>,
    pub(super) workloads: Vec<[Route; 2]>,
    pub(super) streams: Vec<Route>,
}

/// Where a packet goes next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// To the link at a hop of its route.
    Hop(u8),
    Host {
        flow: usize,
        end: usize,
    },
    Sink(usize),
}

impl Routes {
    fn all(&mut self) -> impl Iterator<Item = &mut Route> {
        let pairs = self.flows.iter_mut().chain(&mut self.workloads);
        pairs.flatten().chain(&mut self.streams)
    }

    /// The link that a packet is on or enters.
    pub(super) fn link_of(&self, packet: &Packet) -> usize {
        let index = packet.flow as usize;
        let route = match packet.course {
            Course::Forward => &self.flows[index][0],
            Course::Backward => &self.flows[index][1],
            Course::Datagram => &self.streams[index],
        };
        route.link(packet.hop)
    }

    /// The route of a packet, and where on it it goes that has crossed one more link.
    #[inline]
    pub(super) fn target(&self, packet: &Packet) -> (&Route, Target) {
        let index = packet.flow as usize;
        let (route, end) = match packet.course {
            Course::Forward => (&self.flows[index][0], 1),
            Course::Backward => (&self.flows[index][1], 0),
            Course::Datagram => (&self.streams[index], 2),
        };
        let hop = packet.hop + 1;
        let target = if hop < route.hops {
            Target::Hop(hop)
        } else if end < 2 {
            Target::Host { flow: index, end }
        } else {
            Target::Sink(index)
        };
        (route, target)
    }
}

/// What surrounds a link on all routes.
#[derive(Clone, Debug, Default)]
struct Around {
    /// Links that feed it, and whether hosts do.
    before: BTreeSet<usize>,
    is_first: bool,
    /// Links that it feeds, and whether packets reach their host at its end.
    behind: BTreeSet<usize>,
    is_last: bool,
}

impl Network {
    /// Finds the links that run ahead or gather, and the stretches of all routes.
    pub(super) fn find_stretches(&mut self) {
        let mut around = vec![Around::default(); self.links.len()];
        for route in self.routes.all() {
            for hop in 0..route.hops {
                let here = &mut around[route.link(hop)];
                here.is_first |= hop == 0;
                here.is_last |= hop + 1 == route.hops;
                if hop > 0 {
                    here.before.insert(route.link(hop - 1));
                    around[route.link(hop - 1)].behind.insert(route.link(hop));
                }
            }
        }
        // What leaves a captured link is recorded one by one.
        let is_captured = |link: usize| self.captures.iter().any(|capture| capture.has(link));
        // So is each packet that may wake a reader.
        let is_watched = self.sinks.iter().any(Sink::watches_links);
        let is_open =
            |link: &usize| self.links[*link].is_foreseen() && !is_captured(*link) && !is_watched;
        let is_access = |link: &usize| {
            let Around {
                before,
                behind,
                is_last,
                ..
            } = &around[*link];
            let is_delayed = self.links[*link].delay() > Time::ZERO;
            is_delayed && before.is_empty() && behind.len() == 1 && !is_last && is_open(link)
        };
        let (mut ahead, mut gathers) = (Vec::new(), Vec::new());
        for (
            link,
            Around {
                before, is_first, ..
            },
        ) in around.iter().enumerate()
        {
            if *is_first || !self.links[link].is_foreseen() {
                continue;
            }
            if before.len() == 1 && before.iter().all(is_open) {
                ahead.extend(before.iter().map(|feeder| (*feeder, link)));
            }
            let delay = self.links[link].delay();
            if before.len() > 1 && before.iter().all(is_access) && delay > Time::ZERO {
                gathers.push(Gather::new(link, delay, before.iter().copied().collect()));
            }
        }
        let mut is_ahead = vec![false; self.links.len()];
        for (_, link) in &ahead {
            is_ahead[*link] = true;
            self.links[*link].run_ahead();
        }
        self.timers = vec![Timer::Own; self.links.len()];
        for (number, gather) in gathers.iter().enumerate() {
            self.timers[gather.link] = Timer::Gathering(number as u32);
            for (place, feeder) in gather.feeders().iter().enumerate() {
                self.timers[*feeder] = Timer::Gathered(number as u32, place as u32);
            }
        }
        (self.ahead, self.gathers) = (ahead, gathers);
        for route in self.routes.all() {
            route.find_stretches(&is_ahead);
        }
    }

    /// Makes all links show the present.
    pub(super) fn settle(&mut self) {
        for gather in &mut self.gathers {
            catch_up(
                &mut self.links,
                &mut self.slots,
                gather,
                &self.routes,
                self.now,
            );
        }
        for (feeder, _) in &self.ahead {
            self.links[*feeder].forget_passing();
        }
        for (feeder, link) in &self.ahead {
            self.links[*link].settle(self.now);
            let (passed, passing) = self.links[*link].landed();
            self.links[*feeder].note_passed(passed, passing);
        }
    }
}
