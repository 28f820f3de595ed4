//! Local search: servers are emptied, one after the other, as long as the bound is not reached.
//!
//! A server is empty once each of its replicas has gone to another used server: straight, or in the
//! place of a smaller one that finds room elsewhere. The emptiest server is tried first. What does
//! not succeed is undone. Where no server can be emptied, a few servers are cleared and filled
//! again in another order, which is kept if it leaves the servers no more evenly filled than
//! before: what is uneven is nearer to empty. The search ends at the bound or after
//! [`ATTEMPTS_EACH`] attempts for each replica; its random order is always the same.

use super::load::{Piece, Seat};
use super::model::Resource;
use super::pack::Seating;
use trammel_core::rng::Rng;

/// Attempts to seat a replica: a few tenths of a second of them on a busy machine.
const MOST_ATTEMPTS: u64 = 50_000;

/// Attempts for each replica: few of them are soon tried in every way.
const ATTEMPTS_EACH: u64 = 600;

/// Servers that are cleared at once.
const CLEARED: usize = 4;

/// Empties servers of `seating` until `bound` are used or the attempts are spent.
pub(super) fn improve(mut seating: Seating<'_>, bound: usize) -> Seating<'_> {
    let mut rng = Rng::new(1, "placement");
    let replicas: usize = seating.seats.iter().map(Vec::len).sum();
    let most = seating.attempts + (ATTEMPTS_EACH * replicas as u64).min(MOST_ATTEMPTS);
    while seating.used() > bound && seating.attempts < most {
        match emptied(&mut seating, most) {
            Some(better) => seating = better,
            None if !shaken(&mut seating, most, &mut rng) => break,
            None => {}
        }
    }
    seating
}

/// The same replicas on one server less, if a server can be emptied.
fn emptied<'a>(seating: &mut Seating<'a>, most: u64) -> Option<Seating<'a>> {
    let mut candidates = used(seating);
    candidates.sort_by(|a, b| cores(seating, *a).total_cmp(&cores(seating, *b)));
    candidates.into_iter().find_map(|server| {
        if seating.attempts > most {
            return None;
        }
        let mut trial = copy(seating);
        let done = empty(&mut trial, server);
        seating.attempts = trial.attempts;
        done.then_some(trial)
    })
}

/// Clears a few servers and fills them anew until that changes something for the better, or
/// attempts are spent.
fn shaken(seating: &mut Seating<'_>, most: u64, rng: &mut Rng) -> bool {
    let before = (seating.used(), unevenness(seating));
    while seating.attempts < most {
        let mut trial = copy(seating);
        let whole = refill(&mut trial, rng);
        seating.attempts = trial.attempts;
        if !whole || trial.used() > before.0 {
            continue;
        }
        let after = (trial.used(), unevenness(&trial));
        let is_better = after.0 < before.0 || after.1 > before.1;
        if is_better || after.1 == before.1 {
            *seating = trial;
        }
        if is_better {
            return true;
        }
    }
    false
}

/// Clears [`CLEARED`] used servers and seats their replicas again, larger ones rather earlier;
/// false if one finds no room.
fn refill(seating: &mut Seating<'_>, rng: &mut Rng) -> bool {
    let mut others = used(seating);
    let mut cleared = Vec::new();
    while cleared.len() < CLEARED && !others.is_empty() {
        cleared.push(others.swap_remove(rng.below(others.len() as u64) as usize));
    }
    let mut pieces: Vec<(f64, Piece)> = Vec::new();
    for server in &cleared {
        while !seating.seats[*server].is_empty() {
            let size = f64::from(seating.loads[*server].costs[0].cores);
            let piece = seating.take(*server, 0);
            pieces.push((size * (0.5 + rng.unit()), piece));
        }
    }
    pieces.sort_by(|a, b| b.0.total_cmp(&a.0));
    others.sort_unstable();
    pieces.into_iter().all(|(_, piece)| {
        let mut order = others.iter().chain(&cleared);
        order.any(|server| seating.put(piece, *server))
    })
}

/// A copy, whose cost counts: of many servers it takes as long as an attempt for each.
fn copy<'a>(seating: &Seating<'a>) -> Seating<'a> {
    let mut copy = seating.clone();
    copy.attempts += copy.seats.len() as u64 / 8 + 1;
    copy
}

fn used(seating: &Seating<'_>) -> Vec<usize> {
    let servers = 0..seating.seats.len();
    servers
        .filter(|server| !seating.seats[*server].is_empty())
        .collect()
}

/// Cores used of `server`.
fn cores(seating: &Seating<'_>, server: usize) -> f64 {
    let nodes = seating.loads[server].used.iter();
    nodes.map(|used| used[Resource::Cores.index()]).sum()
}

/// The sum of the squares of the servers' work. It counts no misses, which would reward crowding.
fn unevenness(seating: &Seating<'_>) -> f64 {
    let of_server =
        |seats: &Vec<Seat>| -> f64 { seats.iter().map(|seat| seating.work(&seat.piece)).sum() };
    seating
        .seats
        .iter()
        .map(|seats| of_server(seats).powi(2))
        .sum()
}

/// Moves every replica of `server` elsewhere, or says that it cannot.
fn empty(seating: &mut Seating<'_>, server: usize) -> bool {
    let others: Vec<usize> = (0..seating.seats.len())
        .filter(|other| *other != server && !seating.seats[*other].is_empty())
        .collect();
    while !seating.seats[server].is_empty() {
        // The largest first: it finds room hardest.
        let at = largest(seating, server);
        let piece = seating.take(server, at);
        let moved = others.iter().any(|other| seating.put(piece, *other))
            || others
                .iter()
                .any(|other| exchange(seating, piece, *other, &others));
        if !moved {
            return false;
        }
    }
    true
}

fn largest(seating: &Seating<'_>, server: usize) -> usize {
    let costs = &seating.loads[server].costs;
    let by_cores = |at: &usize| (costs[*at].cores, std::cmp::Reverse(*at));
    (0..costs.len())
        .max_by_key(by_cores)
        .expect("the server has a replica")
}

/// Puts `piece` on `server` in the place of one that another of `others` can take.
fn exchange(seating: &mut Seating<'_>, piece: Piece, server: usize, others: &[usize]) -> bool {
    for at in 0..seating.seats[server].len() {
        let before = (seating.seats[server].clone(), seating.loads[server].clone());
        let gone = seating.take(server, at);
        if seating.put(piece, server) {
            let elsewhere = others.iter().filter(|other| **other != server);
            if elsewhere.into_iter().any(|other| seating.put(gone, *other)) {
                return true;
            }
        }
        (seating.seats[server], seating.loads[server]) = before;
    }
    false
}
