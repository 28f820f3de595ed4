//! Elements that choose one of several patterns for a new flow.

use super::flow::FlowId;
use super::pattern::PatternRef;
use super::spec::parse_pattern;
use crate::args::Args;
use crate::args::numbers::parse_int;
use crate::args::text::split_words;
use crate::diagnostic::Diagnostics;
use crate::engine::Element;
use crate::engine::classic_random::ClassicRandom;
use crate::engine::setup::Setup;

/// One of the patterns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    /// The pattern.
    pub pattern: PatternRef,
    /// By which outputs packets and answers leave.
    pub outputs: [i64; 2],
}

/// By what the choice is made.
#[derive(Clone, Debug)]
enum Choice {
    /// Each in its turn; this one is next.
    Turn(usize),
    /// By the source address.
    Source(Circle),
}

/// Points of servers on a circle, each with the pattern of the addresses that come before it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Circle {
    /// In their order.
    points: Vec<(u32, usize)>,
}

impl Circle {
    /// The circle of the servers with these numbers, in the order of their patterns: every number
    /// up to the largest takes `nodes` draws from the generator of `seed`, which are its points
    /// where there is such a server. So a server has the same points whatever others there are.
    /// Nothing where that is beyond any use.
    fn new(ids: &[u16], nodes: u64, seed: u32) -> Option<Circle> {
        let mut servers = ids.to_vec();
        servers.sort_unstable();
        servers.dedup();
        let last = servers.last().copied().unwrap_or(0);
        if (u64::from(last) + 1) * nodes > MOST_DRAWS {
            return None;
        }
        let (mut random, mut points) = (ClassicRandom::new(seed), Vec::new());
        let mut pattern = 0;
        for id in 0..=last {
            let is_there = servers.get(pattern) == Some(&id);
            for _ in 0..nodes {
                let point = random.draw();
                if is_there {
                    points.push((point, pattern));
                }
            }
            pattern += usize::from(is_there);
        }
        points.sort_unstable();
        Some(Circle { points })
    }

    /// The pattern for a source: that of the first point which is not before its place. A place
    /// beyond all points is that of the point where a search in the balanced tree of all points
    /// begins.
    fn pattern(&self, source: u32) -> Option<usize> {
        let octets = u32::from_le_bytes(source.to_be_bytes());
        // The first octet is what spreads neighbours; the last one is in the highest bits as it is.
        let place = octets.wrapping_mul((octets & 0xff) << 24 | 1) % i32::MAX as u32;
        let after = self.points.partition_point(|(point, _)| *point < place);
        let at = if after < self.points.len() {
            after
        } else {
            root(self.points.len())
        };
        self.points.get(at).map(|(_, pattern)| *pattern)
    }
}

/// How many of `count` sorted values are before the root of their tree, whose levels are full but
/// for the last, which is filled from the left.
fn root(count: usize) -> usize {
    let Some(depth) = count.checked_ilog2() else {
        return 0;
    };
    let half = 1 << depth >> 1;
    // Those above the last level on the left, and those of the last level.
    let last = count + 1 - (1 << depth);
    half.max(1) - 1 + last.min(half)
}

/// Draws that a circle may take: a second or so.
const MOST_DRAWS: u64 = 1 << 26;

/// The elements `RoundRobinIPMapper` and `SourceIPHashMapper`.
#[derive(Debug)]
pub(crate) struct Mapper {
    choice: Choice,
    /// The patterns.
    pub routes: Vec<Route>,
}

impl Mapper {
    /// One that takes its patterns in turn.
    pub(crate) fn in_turn() -> Box<dyn Element> {
        Box::new(Mapper {
            choice: Choice::Turn(0),
            routes: Vec::new(),
        })
    }

    /// One that goes by the source address.
    pub(crate) fn by_source() -> Box<dyn Element> {
        Box::new(Mapper {
            choice: Choice::Source(Circle::default()),
            routes: Vec::new(),
        })
    }

    /// How many patterns are tried before a flow is given up.
    pub(crate) fn tries(&self) -> usize {
        match self.choice {
            Choice::Turn(_) => self.routes.len(),
            Choice::Source(_) => 1,
        }
    }

    /// The number of the pattern to try next.
    pub(crate) fn next(&mut self, flow: FlowId) -> Option<usize> {
        match &mut self.choice {
            Choice::Turn(next) => {
                let now = *next;
                *next = (now + 1) % self.routes.len().max(1);
                Some(now)
            }
            Choice::Source(circle) => circle.pattern(flow.src),
        }
    }
}

impl Element for Mapper {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::new();
        let mut patterns = args.rest();
        let mut nodes = None;
        if let Choice::Source(_) = self.choice {
            match patterns.split_first() {
                None => errors.error(None, "no hash seed given"),
                Some((_, [])) => errors.error(None, "no patterns given"),
                Some((first, rest)) => {
                    patterns = rest;
                    nodes = parse_nodes(first)
                        .map_err(|text| errors.error(None, text))
                        .ok();
                }
            }
            if nodes.is_none() {
                return Err(errors);
            }
        }
        match patterns {
            [] => {
                errors.error(None, "no patterns given");
                return Err(errors);
            }
            [_] => setup.warnings.push("only one pattern given".into()),
            _ => {}
        }
        let mut ids = Vec::new();
        for text in patterns {
            let text = match nodes {
                Some(_) => split_id(text).map(|(text, id)| {
                    ids.push(id);
                    text
                }),
                None => Ok(text.clone()),
            };
            match text.and_then(|text| parse_pattern(&text, &setup.names())) {
                Ok((pattern, outputs)) => self.routes.push(Route { pattern, outputs }),
                Err(text) => errors.error(None, text),
            }
        }
        if errors.has_errors() {
            return Err(errors);
        }
        if let Some((nodes, seed)) = nodes {
            let circle = Circle::new(&ids, nodes, seed);
            let too_many = "too many points: lower the servers' numbers or the points of each";
            self.choice = Choice::Source(circle.ok_or_else(|| Diagnostics::of(too_many))?);
        }
        Ok(())
    }
}

/// `NNODES SEED`.
fn parse_nodes(text: &str) -> Result<(u64, u32), &'static str> {
    let words = split_words(text);
    let [nodes, seed] = words.as_slice() else {
        return Err("requires 2 config params: numnodes seed");
    };
    // A circle is kept in memory: the bound is far above any use.
    let nodes = parse_int(nodes, 1, 1 << 16).map_err(|_| "number of nodes must be an integer")?;
    let seed = parse_int(seed, i32::MIN.into(), i32::MAX.into());
    let seed = seed.map_err(|_| "hash seed must be an integer")?;
    Ok((nodes as u64, seed as u32))
}

/// A pattern and the number of its server at the end.
fn split_id(text: &str) -> Result<(String, u16), String> {
    let words = split_words(text);
    let bad = || "bad server ID in pattern spec".to_owned();
    let (last, rest) = words
        .split_last()
        .filter(|(_, rest)| !rest.is_empty())
        .ok_or_else(bad)?;
    let id = parse_int(last, 0, u16::MAX.into()).map_err(|_| bad())?;
    Ok((rest.join(" "), id as u16))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The digits of the servers that Click 2.1 gives the sources 0, 2654435761, … in turn, folded.
    fn folded(circle: &Circle, digits: &[u32]) -> u32 {
        (0..3000_u32).fold(0, |folded, at| {
            let pattern = circle.pattern(at.wrapping_mul(2_654_435_761));
            (folded * 31 + digits[pattern.expect("there is a server")]) % 1_000_003
        })
    }

    fn first(circle: &Circle, digits: &[u32]) -> Vec<u32> {
        let of = |at: u32| circle.pattern(at.wrapping_mul(2_654_435_761));
        (0..12)
            .map(|at| digits[of(at).expect("there is a server")])
            .collect()
    }

    #[test]
    fn every_source_has_the_server_that_click_gives_it() {
        let circle = Circle::new(&[0, 1, 2, 3, 4], 5, 0x0bad_beef).expect("few points");
        let digits = [1, 2, 3, 4, 5];
        assert_eq!(
            first(&circle, &digits),
            [3, 1, 3, 1, 3, 3, 4, 1, 4, 1, 1, 4]
        );
        assert_eq!(folded(&circle, &digits), 532_939);
        // The patterns of servers 9, 2 and 4 belong to 2, 4 and 9.
        let circle = Circle::new(&[9, 2, 4], 7, 42).expect("few points");
        let digits = [9, 2, 4];
        assert_eq!(
            first(&circle, &digits),
            [9, 4, 2, 4, 9, 9, 2, 9, 2, 4, 4, 4]
        );
        assert_eq!(folded(&circle, &digits), 824_042);
    }

    #[test]
    fn a_tree_is_filled_from_the_left() {
        assert_eq!(
            [1, 2, 3, 4, 5, 6, 7, 8, 10, 15].map(root),
            [0, 1, 1, 2, 3, 3, 3, 4, 6, 7]
        );
    }

    #[test]
    fn a_circle_beyond_any_use_is_refused() {
        assert!(Circle::new(&[65_535], 1 << 16, 1).is_none());
        assert_eq!(Circle::default().pattern(7), None);
    }
}
