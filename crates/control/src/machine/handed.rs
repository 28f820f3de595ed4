//! What the data plane was given, so that only changes are handed over.

use crate::dataplane::{Dataplane, Mac, Neighbour, Route, TableFull};
use core::net::Ipv4Addr;

/// The tables as they were last handed over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Handed {
    ports: Vec<(Option<Mac>, bool)>,
    routes: Table<Route>,
    neighbours: Table<Neighbour>,
    own_addresses: Table<Ipv4Addr>,
}

/// A table, once it was handed over, and what was wrong then.
#[derive(Debug, Clone)]
struct Table<T> {
    entries: Option<Vec<T>>,
    full: Option<TableFull>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table {
            entries: None,
            full: None,
        }
    }
}

impl<T: PartialEq> Table<T> {
    fn hand(&mut self, entries: Vec<T>, set: impl FnOnce(&[T]) -> Result<(), TableFull>) {
        if self.entries.as_ref() != Some(&entries) {
            self.full = set(&entries).err();
            self.entries = Some(entries);
        }
    }
}

impl Handed {
    /// Tables that were too small.
    pub(crate) fn full(&self) -> impl Iterator<Item = TableFull> {
        let full = [
            self.routes.full,
            self.neighbours.full,
            self.own_addresses.full,
        ];
        full.into_iter().flatten()
    }

    pub(super) fn ports(
        &mut self,
        places: usize,
        interface: impl Fn(usize) -> (Option<Mac>, bool),
        dataplane: &mut dyn Dataplane,
    ) {
        for port in 0..places {
            let (mac, up) = interface(port);
            let old = self.ports.get(port).copied();
            if let Some(mac) = mac.filter(|mac| old.is_none_or(|(old, _)| old != Some(*mac))) {
                dataplane.set_mac(port, mac);
            }
            if old.is_none_or(|(_, old)| old != up) {
                dataplane.set_up(port, up);
            }
        }
        self.ports = (0..places).map(interface).collect();
    }

    pub(super) fn routes(&mut self, routes: Vec<Route>, dataplane: &mut dyn Dataplane) {
        self.routes
            .hand(routes, |routes| dataplane.set_routes(routes));
    }

    pub(super) fn neighbours(&mut self, all: Vec<Neighbour>, dataplane: &mut dyn Dataplane) {
        self.neighbours
            .hand(all, |all| dataplane.set_neighbours(all));
    }

    /// Empties the table of neighbours, whatever it has.
    pub(super) fn no_neighbours(&mut self, dataplane: &mut dyn Dataplane) {
        self.neighbours.entries = None;
        self.neighbours(Vec::new(), dataplane);
    }

    pub(super) fn own_addresses(&mut self, own: Vec<Ipv4Addr>, dataplane: &mut dyn Dataplane) {
        self.own_addresses
            .hand(own, |own| dataplane.set_own_addresses(own));
    }
}
