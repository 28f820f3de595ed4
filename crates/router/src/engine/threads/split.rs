//! From one configured router to a context for each thread.

use super::crossing::Crossing;
use super::plan::may_cross;
use super::portal::Portal;
use super::team::{Place, Team};
use crate::engine::context::Threading;
use crate::engine::{Ctx, Element};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

impl Ctx {
    /// Gives each element to a context of its thread, and keeps those contexts. Called when all
    /// elements are configured and none is initialized.
    pub(in crate::engine) fn split(&mut self) -> io::Result<()> {
        let homes: Arc<[usize]> = self.threads.homes.clone().into();
        // Threads without elements are not started.
        let threads = homes.iter().max().map_or(1, |last| last + 1);
        if threads < 2 || self.options.virtual_time.is_some() {
            return Ok(());
        }
        let bells = (0..threads).map(|_| self.world.host.bell());
        let team = Arc::new(Team::new(bells.collect::<io::Result<_>>()?));
        let mut others: Vec<Ctx> = Vec::new();
        for thread in 1..threads {
            others.push(self.empty_copy(thread)?);
        }
        for (id, home) in homes.iter().enumerate() {
            if *home > 0 {
                others[home - 1].slots[id] = self.slots[id].take();
            }
        }
        let mut places: Vec<Place> = (0..threads)
            .map(|thread| Place {
                thread,
                homes: homes.clone(),
                team: team.clone(),
                arrivals: Vec::new(),
                departures: Vec::new(),
            })
            .collect();
        let mut crossings: BTreeMap<usize, Arc<Crossing>> = BTreeMap::new();
        for connection in &self.config.flat.connections {
            let (from, to) = (connection.from.element, connection.to.element);
            let (start, end) = (homes[from], homes[to]);
            if start == end || !may_cross(&self.config.nodes, connection) {
                continue;
            }
            let crossing = crossings.entry(to).or_insert_with(|| {
                let slot = match end {
                    0 => &self.slots[to],
                    end => &others[end - 1].slots[to],
                };
                let room = slot.as_deref().and_then(Element::room);
                let new = Arc::new(Crossing::new(to, end, room));
                places[end].arrivals.push(new.clone());
                new
            });
            if places[start].departures.contains(&to) {
                continue;
            }
            places[start].departures.push(to);
            let portal: Box<dyn Element> = Box::new(Portal::new(crossing.clone()));
            match start {
                0 => self.slots[to] = Some(portal),
                start => others[start - 1].slots[to] = Some(portal),
            }
        }
        let mut places = places.into_iter();
        self.threads.place = places.next().map(Box::new);
        for ctx in &mut others {
            ctx.threads.place = places.next().map(Box::new);
        }
        self.threads.others = others;
        Ok(())
    }

    /// A context with the same graph and none of its elements.
    fn empty_copy(&mut self, thread: usize) -> io::Result<Ctx> {
        let threads = Threading {
            homes: self.threads.homes.clone(),
            processor: self.threads.processor.map(|first| first + thread),
            ..Threading::default()
        };
        let mut ctx = Ctx::new(
            self.slots.iter().map(|_| None).collect(),
            self.path.wiring.clone(),
            self.config.clone(),
            self.world.host.another()?,
            threads,
            self.options.clone(),
        );
        ctx.schedule.quiet.clone_from(&self.schedule.quiet);
        Ok(ctx)
    }
}
