//! Lookahead: chains of links that a packet crosses at once.
//!
//! The arrival of a packet at the far end of a link is often known as it reaches the near end
//! (`Link::is_foreseen`). If the next link gets all of its packets from there, they reach it in the
//! order in which they reached the first, so that link can be crossed in the same step, ahead of
//! time. A *chain* is a link with all such links behind it: it costs one event, at its end, however
//! long it is. Access links behind a bottleneck are the case that counts. Results stay the same:
//! the links that run ahead show what they hold and have counted as if packets came one by one
//! (`link::ahead`).

use super::Network;
use super::parts::gather::{Gather, Timer, catch_up};
use super::parts::lookahead::Lookahead;
use super::parts::reading::ReadingApp;
use crate::ids::{LinkId, Table};
use std::collections::BTreeSet;
use trammel_core::time::Span;

/// What surrounds a link on all routes.
#[derive(Clone, Debug, Default)]
struct Around {
    /// Links that feed it, and whether hosts do.
    before: BTreeSet<LinkId>,
    is_first: bool,
    /// Links that it feeds, and whether packets reach their host at its end.
    behind: BTreeSet<LinkId>,
    is_last: bool,
}

impl Network {
    /// Finds the links that run ahead or gather, and the chains of all routes.
    pub(super) fn find_chains(&mut self) {
        let mut around = Table::of(vec![Around::default(); self.links.len()]);
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
        let is_captured = |link: LinkId| {
            self.observers
                .captures
                .iter()
                .any(|capture| capture.has(link))
        };
        // So is each packet that may wake a reader.
        let is_watched = self.traffic.readers.iter().any(ReadingApp::watches_links);
        let is_open =
            |link: &LinkId| self.links[*link].is_foreseen() && !is_captured(*link) && !is_watched;
        let is_access = |link: &LinkId| {
            let Around {
                before,
                behind,
                is_last,
                ..
            } = &around[*link];
            let is_delayed = self.links[*link].delay() > Span::ZERO;
            is_delayed && before.is_empty() && behind.len() == 1 && !is_last && is_open(link)
        };
        let (mut ahead, mut gathers) = (Vec::new(), Table::new());
        for (
            link,
            Around {
                before, is_first, ..
            },
        ) in around.entries()
        {
            if *is_first || !self.links[link].is_foreseen() {
                continue;
            }
            if before.len() == 1 && before.iter().all(is_open) {
                ahead.extend(before.iter().map(|feeder| (*feeder, link)));
            }
            let delay = self.links[link].delay();
            if before.len() > 1 && before.iter().all(is_access) && delay > Span::ZERO {
                gathers.push(Gather::new(link, delay, before.iter().copied().collect()));
            }
        }
        let mut is_ahead = Table::of(vec![false; self.links.len()]);
        for (_, link) in &ahead {
            is_ahead[*link] = true;
            self.links[*link].run_ahead();
        }
        let mut timers = Table::of(vec![Timer::Own; self.links.len()]);
        for (number, gather) in gathers.entries() {
            timers[gather.link] = Timer::Gathering(number);
            for (place, feeder) in gather.feeders().iter().enumerate() {
                timers[*feeder] = Timer::Gathered(number, place as u32);
            }
        }
        self.lookahead = Lookahead {
            ahead,
            gathers,
            timers,
        };
        for route in self.routes.all() {
            route.find_chains(&is_ahead);
        }
    }

    /// Makes all links show the present.
    pub(super) fn settle(&mut self) {
        for gather in self.lookahead.gathers.iter_mut() {
            catch_up(
                &mut self.links,
                &mut self.agenda,
                gather,
                &self.routes,
                self.now,
            );
        }
        for (feeder, _) in &self.lookahead.ahead {
            self.links[*feeder].forget_passing();
        }
        for (feeder, link) in &self.lookahead.ahead {
            self.links[*link].settle(self.now);
            let (passed, passing) = self.links[*link].landed();
            self.links[*feeder].note_passed(passed, passing);
        }
    }
}
