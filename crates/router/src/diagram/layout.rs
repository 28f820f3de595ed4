//! Where the elements stand: in ranks from sources to ends, those that are connected above each
//! other.
//!
//! After Sugiyama, Tagawa and Toda 1981: connections that close a circle are turned, ranks are the
//! longest way from a source, long connections get a point in every rank that they cross, and the
//! order within ranks is improved by turns of barycentres, down and up. Then each is moved towards
//! the middle of its neighbours as far as the others let it.

use std::collections::BTreeSet;

/// A box, or a point of a long connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    pub(super) rank: usize,
    /// The left edge.
    pub(super) x: f64,
    pub(super) width: f64,
}

/// The result.
#[derive(Debug)]
pub(super) struct Layout {
    /// The boxes first, in the order given, then points.
    pub(super) spots: Vec<Spot>,
    /// For each connection the points between its ends, from its source on.
    pub(super) routes: Vec<Vec<usize>>,
    pub(super) ranks: usize,
}

/// Space between neighbours.
const GAP: f64 = 18.0;
/// How often the order and the places are improved.
const TURNS: usize = 24;
/// The width of a point.
const POINT: f64 = 6.0;
/// How many points there may be: a large graph is drawn with long lines instead.
const MOST_POINTS: usize = 50_000;

/// Places boxes of these widths so that `edges` go down where they can.
pub(super) fn layout(widths: &[f64], edges: &[(usize, usize)]) -> Layout {
    let down = without_circles(widths.len(), edges);
    let mut ranks = rank(widths.len(), &down);
    pull_down(&mut ranks, &down);
    let count = ranks.iter().max().map_or(0, |most| most + 1);
    let mut spots: Vec<Spot> = widths
        .iter()
        .zip(&ranks)
        .map(|(width, rank)| Spot {
            rank: *rank,
            x: 0.0,
            width: *width,
        })
        .collect();
    let mut routes = Vec::with_capacity(edges.len());
    let mut links = Vec::new();
    for ((from, to), (upper, lower)) in edges.iter().zip(&down) {
        let mut route = Vec::new();
        let mut above = *upper;
        for rank in ranks[*upper] + 1..ranks[*lower] {
            if spots.len() > MOST_POINTS {
                break;
            }
            route.push(spots.len());
            links.push((above, spots.len()));
            above = spots.len();
            spots.push(Spot {
                rank,
                x: 0.0,
                width: POINT,
            });
        }
        if upper != lower {
            links.push((above, *lower));
        }
        if (from, to) != (upper, lower) {
            route.reverse();
        }
        routes.push(route);
    }
    place(&mut spots, count, &links);
    Layout {
        spots,
        routes,
        ranks: count,
    }
}

/// The edges, those that close a circle turned.
fn without_circles(count: usize, edges: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut leaving = vec![Vec::new(); count];
    let mut entered = vec![false; count];
    for (at, (from, to)) in edges.iter().enumerate() {
        leaving[*from].push(at);
        entered[*to] |= from != to;
    }
    let mut down = edges.to_vec();
    // 0: not seen, 1: on the way, 2: done.
    let mut state = vec![0_u8; count];
    let starts = (0..count).filter(|at| !entered[*at]).chain(0..count);
    for start in starts.collect::<Vec<_>>() {
        if state[start] != 0 {
            continue;
        }
        let mut stack = vec![(start, 0)];
        state[start] = 1;
        while let Some((at, next)) = stack.pop() {
            let Some(edge) = leaving[at].get(next) else {
                state[at] = 2;
                continue;
            };
            stack.push((at, next + 1));
            let (from, to) = edges[*edge];
            match state[to] {
                0 => {
                    state[to] = 1;
                    stack.push((to, 0));
                }
                1 if from != to => down[*edge] = (to, from),
                _ => {}
            }
        }
    }
    down
}

/// The longest way from a source to each.
fn rank(count: usize, down: &[(usize, usize)]) -> Vec<usize> {
    let mut waiting = vec![0; count];
    let mut leaving = vec![Vec::new(); count];
    for (from, to) in down.iter().filter(|(from, to)| from != to) {
        waiting[*to] += 1;
        leaving[*from].push(*to);
    }
    let mut ranks = vec![0; count];
    let mut ready: Vec<usize> = (0..count).filter(|at| waiting[*at] == 0).collect();
    while let Some(at) = ready.pop() {
        for &to in &leaving[at] {
            ranks[to] = ranks[to].max(ranks[at] + 1);
            waiting[to] -= 1;
            if waiting[to] == 0 {
                ready.push(to);
            }
        }
    }
    ranks
}

/// Moves sources down to just above what they feed.
fn pull_down(ranks: &mut [usize], down: &[(usize, usize)]) {
    let entered: BTreeSet<usize> = down
        .iter()
        .filter(|(a, b)| a != b)
        .map(|edge| edge.1)
        .collect();
    let mut nearest = vec![usize::MAX; ranks.len()];
    for (from, to) in down.iter().filter(|(from, to)| from != to) {
        nearest[*from] = nearest[*from].min(ranks[*to]);
    }
    for (at, nearest) in nearest.into_iter().enumerate() {
        if !entered.contains(&at) && nearest != usize::MAX {
            ranks[at] = nearest - 1;
        }
    }
}

/// Orders each rank and gives all their places.
fn place(spots: &mut [Spot], count: usize, links: &[(usize, usize)]) {
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (at, spot) in spots.iter().enumerate() {
        rows[spot.rank].push(at);
    }
    let mut above = vec![Vec::new(); spots.len()];
    let mut below = vec![Vec::new(); spots.len()];
    for (upper, lower) in links {
        below[*upper].push(*lower);
        above[*lower].push(*upper);
    }
    let mut order = vec![0.0; spots.len()];
    for row in &rows {
        number(row, &mut order);
    }
    let mut best = (usize::MAX, rows.clone());
    for turn in 0..TURNS {
        let is_down = turn % 2 == 0;
        let each: Vec<usize> = if is_down {
            (0..count).collect()
        } else {
            (0..count).rev().collect()
        };
        let near = if is_down { &above } else { &below };
        for rank in each {
            let wanted =
                |at: usize| mean(near[at].iter().map(|other| order[*other])).unwrap_or(order[at]);
            let mut row: Vec<(f64, usize)> =
                rows[rank].iter().map(|at| (wanted(*at), *at)).collect();
            row.sort_by(|a, b| a.0.total_cmp(&b.0));
            rows[rank] = row.into_iter().map(|(_, at)| at).collect();
            number(&rows[rank], &mut order);
        }
        let crossings = crossings(links, spots, &order, count);
        if crossings < best.0 {
            best = (crossings, rows.clone());
        }
    }
    let rows = best.1;
    for row in &rows {
        let mut x = 0.0;
        for at in row {
            spots[*at].x = x;
            x += spots[*at].width + GAP;
        }
    }
    for turn in 0..TURNS {
        let is_down = turn % 2 == 0;
        let each: Vec<usize> = if is_down {
            (0..count).collect()
        } else {
            (0..count).rev().collect()
        };
        for rank in each {
            let near = if is_down { &above } else { &below };
            settle(&rows[rank], near, spots);
        }
    }
    let left = spots
        .iter()
        .map(|spot| spot.x)
        .fold(f64::INFINITY, f64::min);
    for spot in spots {
        spot.x -= left;
    }
}

/// Positions from 0 to 1: rows of different lengths are compared by them.
fn number(row: &[usize], order: &mut [f64]) {
    for (place, at) in row.iter().enumerate() {
        order[*at] = place as f64;
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

fn crossings(links: &[(usize, usize)], spots: &[Spot], order: &[f64], count: usize) -> usize {
    let mut by_rank: Vec<Vec<(f64, f64)>> = vec![Vec::new(); count];
    for (upper, lower) in links {
        by_rank[spots[*upper].rank].push((order[*upper], order[*lower]));
    }
    let cross =
        |a: &(f64, f64), b: &(f64, f64)| (a.0 < b.0 && a.1 > b.1) || (a.0 > b.0 && a.1 < b.1);
    let of = |row: &Vec<(f64, f64)>| -> usize {
        // All pairs of a very wide rank would take minutes.
        let row = &row[..row.len().min(400)];
        let each = row.iter().enumerate();
        each.map(|(at, a)| row[..at].iter().filter(|b| cross(a, b)).count())
            .sum()
    };
    by_rank.iter().map(of).sum()
}

/// Moves a row's spots towards their neighbours; those that would overlap share the way.
fn settle(row: &[usize], near: &[Vec<usize>], spots: &mut [Spot]) {
    // Groups that touch: the sum of the wanted left edges of their first, the number, the width so
    // far.
    let mut groups: Vec<(f64, f64, f64, Vec<usize>)> = Vec::new();
    for &at in row {
        let middle = |other: &usize| spots[*other].x + spots[*other].width / 2.0;
        let wanted = mean(near[at].iter().map(middle)).map(|m| m - spots[at].width / 2.0);
        let weight = if wanted.is_some() { 1.0 } else { 0.1 };
        let wanted = wanted.unwrap_or(spots[at].x);
        let mut group = (wanted * weight, weight, spots[at].width + GAP, vec![at]);
        while let Some(last) = groups.pop() {
            if last.0 / last.1 + last.2 <= group.0 / group.1 {
                groups.push(last);
                break;
            }
            let sum = last.0 + group.0 - group.1 * last.2;
            let mut members = last.3;
            members.append(&mut group.3);
            group = (sum, last.1 + group.1, last.2 + group.2, members);
        }
        groups.push(group);
    }
    for (sum, weight, _, members) in groups {
        let mut x = sum / weight;
        for at in members {
            spots[at].x = x;
            x += spots[at].width + GAP;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_go_down_and_nothing_overlaps() {
        let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (3, 1)];
        let layout = layout(&[40.0; 4], &edges);
        let rank = |at: usize| layout.spots[at].rank;
        assert!(rank(0) < rank(1) && rank(1) < rank(3) && rank(2) < rank(3));
        assert_eq!(layout.routes[4].len(), rank(3) - rank(0) - 1);
        for (a, b) in (0..layout.spots.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let (a, b) = (layout.spots[a], layout.spots[b]);
            let apart =
                a.rank != b.rank || a.x + a.width <= b.x + 1e-6 || b.x + b.width <= a.x + 1e-6;
            assert!(apart, "{a:?} {b:?}");
        }
    }

    #[test]
    fn circles_and_loops_are_placed_too() {
        let layout = layout(&[10.0; 3], &[(0, 1), (1, 2), (2, 0), (1, 1)]);
        assert_eq!(layout.ranks, 3);
    }
}
