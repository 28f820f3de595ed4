//! What becomes of each MPLS label: an exact table of 2^20 places at most (RFC 3031, §3.10).

use crate::args::numbers::parse_uint;
use crate::args::text::split_words;
use trammel_packet::headers::mpls::label;

/// What a label leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forward {
    /// The label that takes its place, if another does.
    pub swap: Option<u32>,
    /// The output.
    pub port: u32,
}

/// A route: a label and what it leads to.
pub(crate) type Route = (u32, Forward);

/// No forwarding.
const NOTHING: u64 = 0;
/// The entry swaps.
const SWAPS: u64 = 1 << 62;
/// The entry is one.
const USED: u64 = 1 << 63;

/// The table: a word a label, as long as the largest label needs.
#[derive(Debug, Default)]
pub(crate) struct Table {
    words: Vec<u64>,
}

impl Table {
    /// Its places, used or not: one for each label up to the highest.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// What `label` leads to.
    #[inline]
    pub(crate) fn get(&self, label: u32) -> Option<Forward> {
        let word = *self.words.get(label as usize)?;
        (word & USED != 0).then_some(Forward {
            swap: (word & SWAPS != 0).then_some((word >> 32) as u32 & label::MAX),
            port: word as u32,
        })
    }

    /// Adds a route, or replaces that of its label, which is told.
    pub(crate) fn set(&mut self, (label, to): Route) -> bool {
        let at = (label & label::MAX) as usize;
        if at >= self.words.len() {
            self.words.resize(at + 1, NOTHING);
        }
        let swap = to.swap.map_or(0, |new| SWAPS | u64::from(new) << 32);
        std::mem::replace(&mut self.words[at], USED | swap | u64::from(to.port)) != NOTHING
    }

    /// Removes the route of `label`; says whether there was one.
    pub(crate) fn remove(&mut self, label: u32) -> bool {
        let word = self.words.get_mut(label as usize);
        word.is_some_and(|word| std::mem::replace(word, NOTHING) != NOTHING)
    }

    /// Removes all.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
    }

    /// The routes by their labels, a line each.
    pub(crate) fn text(&self) -> String {
        let labels = 0..self.words.len() as u32;
        let routes = labels.filter_map(|label| Some((label, self.get(label)?)));
        routes.map(|route| unparse(route) + "\n").collect()
    }
}

/// `LABEL NEW OUT`, with `-` for `NEW` where the label stays.
pub(crate) fn unparse((label, to): Route) -> String {
    let swap = to
        .swap
        .map_or_else(|| "-".to_owned(), |new| new.to_string());
    format!("{label}\t{swap}\t{}", to.port)
}

/// A label: a number of 20 bits.
pub(crate) fn parse_label(text: &str) -> Option<u32> {
    parse_uint(text, u64::from(label::MAX))
        .ok()
        .map(|number| number as u32)
}

/// A route, `LABEL [NEW] OUT`, to one of `outputs` outputs.
pub(crate) fn parse(text: &str, outputs: usize) -> Result<Route, String> {
    let words = split_words(text);
    let wrong = || "expected LABEL [NEWLABEL] OUTPUT".to_owned();
    let (label, swap, port) = match &words[..] {
        [label, port] => (label, None, port),
        [label, swap, port] if swap == "-" => (label, None, port),
        [label, swap, port] => (label, Some(parse_label(swap).ok_or_else(wrong)?), port),
        _ => return Err(wrong()),
    };
    let label = parse_label(label).ok_or_else(wrong)?;
    let port = parse_uint(port, u64::from(u32::MAX)).map_err(|_| wrong())? as u32;
    if port as usize >= outputs {
        return Err("output port out of range".to_owned());
    }
    Ok((label, Forward { swap, port }))
}
