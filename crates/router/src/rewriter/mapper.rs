//! Elements that choose one of several patterns for a new flow.

use super::flow::FlowId;
use super::pattern::PatternRef;
use super::spec::parse_pattern;
use crate::args::Args;
use crate::args::numbers::parse_int;
use crate::args::text::split_words;
use crate::diagnostic::Diagnostics;
use crate::element::Element;
use crate::engine::setup::Setup;

/// One of the patterns.
#[derive(Clone, Copy, Debug)]
pub struct Route {
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
    /// By the source address: points on a circle, each with the pattern whose arc begins there.
    Source(Vec<(u64, usize)>),
}

/// The elements `RoundRobinIPMapper` and `SourceIPHashMapper`.
#[derive(Debug)]
pub struct Mapper {
    choice: Choice,
    /// The patterns.
    pub routes: Vec<Route>,
}

impl Mapper {
    /// One that takes its patterns in turn.
    pub fn in_turn() -> Box<dyn Element> {
        Box::new(Mapper {
            choice: Choice::Turn(0),
            routes: Vec::new(),
        })
    }

    /// One that goes by the source address.
    pub fn by_source() -> Box<dyn Element> {
        Box::new(Mapper {
            choice: Choice::Source(Vec::new()),
            routes: Vec::new(),
        })
    }

    /// How many patterns are tried before a flow is given up.
    pub fn tries(&self) -> usize {
        match self.choice {
            Choice::Turn(_) => self.routes.len(),
            Choice::Source(_) => 1,
        }
    }

    /// The number of the pattern to try next.
    pub fn next(&mut self, flow: FlowId) -> Option<usize> {
        match &mut self.choice {
            Choice::Turn(next) => {
                let now = *next;
                *next = (now + 1) % self.routes.len().max(1);
                Some(now)
            }
            Choice::Source(circle) => {
                let place = point(u64::from(flow.src), 0, 0);
                let after = circle.partition_point(|(at, _)| *at <= place);
                // The arc that holds the end of the circle began at its last point.
                let arc = after.checked_sub(1).unwrap_or(circle.len().checked_sub(1)?);
                Some(circle[arc].1)
            }
        }
    }
}

/// A point on the circle.
fn point(a: u64, b: u64, c: u64) -> u64 {
    [b, c].into_iter().fold(mix(a), |x, y| mix(x ^ y))
}

/// The finaliser of splitmix64: every bit of the result depends on every bit given.
fn mix(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
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
            let ids = ids.iter().enumerate();
            let arcs =
                ids.flat_map(|(at, id)| (0..nodes).map(move |n| (point(*id, n + 1, seed), at)));
            let mut circle: Vec<(u64, usize)> = arcs.collect();
            circle.sort_unstable();
            self.choice = Choice::Source(circle);
        }
        Ok(())
    }
}

/// `NNODES SEED`.
fn parse_nodes(text: &str) -> Result<(u64, u64), &'static str> {
    let words = split_words(text);
    let [nodes, seed] = words.as_slice() else {
        return Err("requires 2 config params: numnodes seed");
    };
    // A circle is kept in memory: the bound is far above any use.
    let nodes = parse_int(nodes, 1, 1 << 16).map_err(|_| "number of nodes must be an integer")?;
    let seed = parse_int(seed, i32::MIN.into(), i32::MAX.into());
    let seed = seed.map_err(|_| "hash seed must be an integer")?;
    Ok((nodes as u64, seed as u64))
}

/// A pattern and the number of its server at the end.
fn split_id(text: &str) -> Result<(String, u64), String> {
    let words = split_words(text);
    let bad = || "bad server ID in pattern spec".to_owned();
    let (last, rest) = words
        .split_last()
        .filter(|(_, rest)| !rest.is_empty())
        .ok_or_else(bad)?;
    let id = parse_int(last, 0, i32::MAX.into()).map_err(|_| bad())?;
    Ok((rest.join(" "), id as u64))
}
