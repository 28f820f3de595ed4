//! Routes, and the stretches of them that a packet crosses at once.
//!
//! When a packet arrives at the far end of a link is often known as it comes to the near one
//! (`Link::is_foreseen`). If the next link gets all of its packets from there, they come to it in the
//! order in which they came to the first, so that link can be crossed in the same breath, ahead of time. A
//! *stretch* is a link with all such links behind it: it costs one event, at its end, however long it is.
//! Access links behind a bottleneck are the case that counts. Nothing else changes: the links that run
//! ahead show what they hold and have counted as if packets came one by one (`link::ahead`).

use super::Network;

/// Links of the longest route.
const MAX_HOPS: usize = 8;

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

    fn links(&self) -> &[u16] {
        &self.links[..usize::from(self.hops)]
    }

    fn find_stretches(&mut self, is_ahead: &[bool]) {
        for hop in (1..self.hops).rev() {
            if is_ahead[self.link(hop)] {
                self.ends[usize::from(hop) - 1] = self.ends[usize::from(hop)];
            }
        }
    }
}

/// Who gives a link its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feeder {
    Nobody,
    Link(u16),
    /// A host, or several links.
    Others,
}

impl Network {
    /// Finds the links that run ahead, and the stretches of all routes.
    pub(super) fn find_stretches(&mut self) {
        let mut feeders = vec![Feeder::Nobody; self.links.len()];
        let pairs = self.flow_routes.iter().chain(&self.workload_routes);
        for route in pairs.flatten().chain(&self.stream_routes) {
            let mut from = Feeder::Others;
            for link in route.links() {
                let feeder = &mut feeders[usize::from(*link)];
                *feeder = match *feeder {
                    Feeder::Nobody => from,
                    same if same == from => from,
                    _ => Feeder::Others,
                };
                from = Feeder::Link(*link);
            }
        }
        let is_captured = |link: usize| self.captures.iter().any(|capture| capture.has(link));
        for (link, feeder) in feeders.iter().enumerate() {
            // What leaves a captured link is recorded one by one.
            if let Feeder::Link(feeder) = *feeder
                && self.links[usize::from(feeder)].is_foreseen()
                && !is_captured(usize::from(feeder))
                && self.links[link].is_foreseen()
            {
                self.ahead.push((usize::from(feeder), link));
            }
        }
        let mut is_ahead = vec![false; self.links.len()];
        for (_, link) in &self.ahead {
            is_ahead[*link] = true;
            self.links[*link].run_ahead();
        }
        let pairs = self.flow_routes.iter_mut().chain(&mut self.workload_routes);
        for route in pairs.flatten().chain(&mut self.stream_routes) {
            route.find_stretches(&is_ahead);
        }
    }

    /// Makes all links show the present.
    pub(super) fn settle(&mut self) {
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
