//! Local search: servers are emptied, one after the other, as long as the bound is not reached.
//!
//! A server is empty once each of its replicas has gone to another used server: straight, or in the place of a
//! smaller one that finds room elsewhere. The emptiest server is tried first. What does not succeed is undone. The
//! search ends when no server can be emptied, or after [`MOST_ATTEMPTS`].

use super::load::Piece;
use super::model::Resource;
use super::pack::Seating;

/// Attempts to seat a replica: half a second of them on a slow machine.
const MOST_ATTEMPTS: u64 = 150_000;

/// Empties servers of `seating` until `bound` are used or none can be emptied.
pub(super) fn improve(mut seating: Seating<'_>, bound: usize) -> Seating<'_> {
    while seating.used() > bound {
        let mut candidates: Vec<usize> = (0..seating.seats.len())
            .filter(|server| !seating.seats[*server].is_empty())
            .collect();
        let cores = |server: &usize| -> f64 {
            let used = seating.loads[*server].used.iter();
            used.map(|node| node[Resource::Cores.index()]).sum()
        };
        candidates.sort_by(|a, b| cores(a).total_cmp(&cores(b)));
        let emptied = candidates.into_iter().find_map(|server| {
            if seating.attempts > MOST_ATTEMPTS {
                return None;
            }
            let mut trial = seating.clone();
            // A copy of many servers takes as long as an attempt for each.
            trial.attempts += trial.seats.len() as u64;
            let done = empty(&mut trial, server);
            seating.attempts = trial.attempts;
            done.then_some(trial)
        });
        match emptied {
            Some(better) => seating = better,
            None => break,
        }
    }
    seating
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
