//! Routes with gateways and ports: a table, and the next hops for which its numbers stand.

use super::{Address, NextHop, Prefix, Table};
use std::collections::BTreeMap;

/// A line of a routing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route<A> {
    /// Where the packets go.
    pub prefix: Prefix<A>,
    /// The router to send them to; zero for hosts that are reached directly.
    pub gateway: A,
    /// The output that leads there.
    pub port: u32,
}

/// A table of routes.
#[derive(Clone, Debug)]
pub struct Routes<A, T> {
    table: T,
    /// By number.
    hops: Vec<Hop<A>>,
    numbers: BTreeMap<(A, u32), NextHop>,
    free: Vec<NextHop>,
}

#[derive(Clone, Copy, Debug)]
struct Hop<A> {
    gateway: A,
    port: u32,
    routes: usize,
}

impl<A: Address, T: Table<A>> Routes<A, T> {
    /// No routes, in an empty table.
    pub fn new(table: T) -> Routes<A, T> {
        Routes {
            table,
            hops: Vec::new(),
            numbers: BTreeMap::new(),
            free: Vec::new(),
        }
    }

    /// The table, for lookups.
    #[inline]
    pub fn table(&self) -> &T {
        &self.table
    }

    /// The gateway and port of a next hop that a lookup has found.
    #[inline]
    pub fn hop(&self, hop: NextHop) -> (A, u32) {
        let hop = self.hops[hop.index() as usize];
        (hop.gateway, hop.port)
    }

    /// Adds a route; the one that exists is returned as the error and stays.
    pub fn add(&mut self, route: Route<A>) -> Result<(), Route<A>> {
        if let Some(old) = self.get(route.prefix) {
            return Err(old);
        }
        self.set(route);
        Ok(())
    }

    /// Adds a route or replaces the one that exists, which is returned.
    pub fn set(&mut self, route: Route<A>) -> Option<Route<A>> {
        let new = self.hold(route.gateway, route.port);
        let old = self.table.set(route.prefix, new)?;
        Some(self.release(route.prefix, old))
    }

    /// The route of exactly this prefix.
    pub fn get(&self, prefix: Prefix<A>) -> Option<Route<A>> {
        self.table.get(prefix).map(|hop| self.route(prefix, hop))
    }

    /// Removes the route of exactly this prefix.
    pub fn remove(&mut self, prefix: Prefix<A>) -> Option<Route<A>> {
        let old = self.table.remove(prefix)?;
        Some(self.release(prefix, old))
    }

    /// Adds many routes at once, of which the first of equal prefixes stays, as if added one by
    /// one; how many were refused.
    pub fn load(&mut self, routes: &[Route<A>]) -> usize {
        let mut sorted: Vec<(Prefix<A>, u32)> = routes
            .iter()
            .zip(0..)
            .map(|(route, i)| (route.prefix, i))
            .collect();
        sorted.sort_unstable();
        sorted.dedup_by_key(|(prefix, _)| *prefix);
        if !self.table.is_empty() {
            sorted.retain(|(prefix, _)| self.table.get(*prefix).is_none());
        }
        if self.table.prints_arrival() {
            sorted.sort_unstable_by_key(|(_, i)| *i);
        }
        let new: Vec<(Prefix<A>, NextHop)> = sorted
            .into_iter()
            .map(|(prefix, i)| {
                let route = &routes[i as usize];
                (prefix, self.hold(route.gateway, route.port))
            })
            .collect();
        self.table.load(&new);
        routes.len() - new.len()
    }

    /// All routes, in the order in which the table prints them.
    pub fn iter(&self) -> impl Iterator<Item = Route<A>> + '_ {
        self.table
            .iter()
            .map(|(prefix, hop)| self.route(prefix, hop))
    }

    fn route(&self, prefix: Prefix<A>, hop: NextHop) -> Route<A> {
        let (gateway, port) = self.hop(hop);
        Route {
            prefix,
            gateway,
            port,
        }
    }

    /// The number of a next hop, for one more route.
    fn hold(&mut self, gateway: A, port: u32) -> NextHop {
        let (hops, free) = (&mut self.hops, &mut self.free);
        let hop = *self.numbers.entry((gateway, port)).or_insert_with(|| {
            let hop = free.pop().unwrap_or_else(|| {
                NextHop::new(hops.len() as u32).expect("2^31 next hops do not fit in memory")
            });
            let new = Hop {
                gateway,
                port,
                routes: 0,
            };
            match hops.get_mut(hop.index() as usize) {
                Some(place) => *place = new,
                None => hops.push(new),
            }
            hop
        });
        self.hops[hop.index() as usize].routes += 1;
        hop
    }

    /// Gives back the next hop of a route that is gone, and returns that route.
    fn release(&mut self, prefix: Prefix<A>, hop: NextHop) -> Route<A> {
        let route = self.route(prefix, hop);
        let held = &mut self.hops[hop.index() as usize];
        held.routes -= 1;
        if held.routes == 0 {
            self.numbers.remove(&(route.gateway, route.port));
            self.free.push(hop);
        }
        route
    }
}
