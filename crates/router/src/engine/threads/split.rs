//! From one configured router to a context for each thread.

use super::super::build::{self, Options};
use super::super::devices::Devices;
use super::super::driver::State;
use super::super::notify::Notifiers;
use super::super::task::Tasks;
use super::super::timer::Timers;
use super::super::{Counters, Ctx};
use super::crossing::{Crossing, Portal};
use super::plan::may_cross;
use super::{Place, Team};
use crate::element::Element;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use trammel_packet::pool::Pool;

impl Ctx {
    /// Gives each element to a context of its thread, and keeps those contexts. Called when all elements are
    /// configured and none is initialized.
    pub(in crate::engine) fn split(&mut self) -> io::Result<()> {
        let homes: Arc<[usize]> = self.homes.clone().into();
        // Threads without elements are not started.
        let threads = homes.iter().max().map_or(1, |last| last + 1);
        if threads < 2 || self.options.virtual_time.is_some() {
            return Ok(());
        }
        let bells = (0..threads).map(|_| self.host.bell());
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
                others: Vec::new(),
            })
            .collect();
        let mut crossings: BTreeMap<usize, Arc<Crossing>> = BTreeMap::new();
        for connection in &self.flat.connections {
            let (from, to) = (connection.from.element, connection.to.element);
            let (start, end) = (homes[from], homes[to]);
            if start == end || !may_cross(&self.nodes, connection) {
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
        self.place = places.next().map(Box::new);
        for ctx in &mut others {
            ctx.place = places.next().map(Box::new);
        }
        if let Some(place) = &mut self.place {
            place.others = others;
        }
        Ok(())
    }

    /// A context with the same graph and none of its elements.
    fn empty_copy(&mut self, thread: usize) -> io::Result<Ctx> {
        let Options {
            packets,
            most_packets,
            seed,
            ..
        } = self.options;
        Ok(Ctx {
            steps: self.options.most_steps,
            began: 0,
            caught: None,
            looped: None,
            is_asked_outside: false,
            me: 0,
            slots: self.slots.iter().map(|_| None).collect(),
            pool: Pool::new(packets, most_packets),
            first_output: self.first_output.clone(),
            first_input: self.first_input.clone(),
            ways: self.ways.clone(),
            latest: self.latest.clone(),
            sources: self.sources.clone(),
            pending: Vec::new(),
            mark: 0,
            spare: Vec::new(),
            counters: vec![Counters::default(); self.slots.len()],
            observed: self.observed,
            studies: Vec::new(),
            nested: 0,
            traced: None,
            nodes: self.nodes.clone(),
            flat: self.flat.clone(),
            source: self.source.clone(),
            tasks: Tasks::default(),
            timers: Timers::default(),
            notifiers: Notifiers::default(),
            definitions: self.definitions.clone(),
            index: self.index.clone(),
            clock: self.clock,
            core: None,
            warp: self.warp,
            host: self.host.another()?,
            rng: build::streams(seed, &self.flat),
            classic: None,
            draws: 0,
            driver: State::default(),
            watched: Vec::new(),
            options: self.options.clone(),
            lacks: false,
            devices: Devices::default(),
            wanted: Vec::new(),
            opened: Vec::new(),
            predecessors: Vec::new(),
            remarks: Vec::new(),
            postponed: Vec::new(),
            homes: self.homes.clone(),
            quiet: self.quiet.clone(),
            place: None,
            processor: self.processor.map(|first| first + thread),
        })
    }
}
