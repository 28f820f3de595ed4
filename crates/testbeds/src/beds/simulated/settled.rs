//! When a stretch of a load has come to what all that follow will come to.
//!
//! No element asked for a random number in it that did not in the one before, no timer is set, and
//!
//! - nothing was lost in it nor in the one before, every ring was empty and every link stood still
//!   at some time in both, and no frame took longer than in the one before: what came had gone, so
//!   nothing piles up from stretch to stretch; or
//! - nothing was lost in so many, every ring was empty at some time in each, no frame took longer
//!   in the second half of them, and if what frames took had grown all the time from the least to
//!   the most that was seen, all that is left out would not fill half of what is free in the
//!   transmit ring of a link that never stood still: a line that is as fast as what comes; or
//! - as much was lost in four of them, but for what a batch makes, and frames took as long.
//!
//! Loads that fill a ring so slowly that none holds are never settled.

use trammel_core::time::Span;
use trammel_packet::batch::CAPACITY;

/// Stretches of which each is as the one before until those that lose frames stand for others: by
/// how many they lose on average is so more exact.
const LOSSY: usize = 4;
/// By what share the longest latency of overloaded rings may differ from stretch to stretch.
const JITTER: f64 = 1e-3;

/// What a stretch came to.
#[derive(Debug)]
pub(super) struct Stretch {
    pub(super) steadiness: Option<u64>,
    pub(super) lost: u64,
    /// Frames were there, and at no time none.
    pub(super) is_ring_never_empty: bool,
    pub(super) is_link_never_idle: bool,
    /// For how long such a link could be given frames and still have room for them.
    pub(super) room: Span,
    pub(super) longest: Vec<Option<u64>>,
    /// Of all frames, to the picosecond.
    pub(super) slowest: Span,
}

impl Stretch {
    fn is_never_empty(&self) -> bool {
        self.is_ring_never_empty || self.is_link_never_idle
    }

    /// Whether it is as the one before, so that those after it will be.
    fn is_as(&self, before: &Stretch, ports: usize) -> bool {
        if self.steadiness.is_none() || self.steadiness != before.steadiness {
            return false;
        }
        let longer = |share: f64| {
            let pairs = self.longest.iter().zip(&before.longest);
            pairs
                .filter_map(|(now, then)| Some(((*now)? as f64, (*then)? as f64)))
                .any(|(now, then)| now > then * (1.0 + share))
        };
        match (before.lost, self.lost) {
            (0, 0) => !before.is_never_empty() && !self.is_never_empty() && !longer(0.0),
            (0, _) | (_, 0) => false,
            (then, now) => now.abs_diff(then) <= (CAPACITY * ports) as u64 && !longer(JITTER),
        }
    }
}

/// Stretches, one after the other, in which nothing was lost or piled up but on links that are as
/// fast as what comes.
#[derive(Debug, Default)]
struct Filled {
    steadiness: Option<u64>,
    /// What the slowest frame of each took.
    slowest: Vec<Span>,
}

impl Filled {
    fn take(&mut self, stretch: &Stretch) {
        if stretch.steadiness != self.steadiness || stretch.lost > 0 || stretch.is_ring_never_empty
        {
            self.slowest.clear();
        }
        self.steadiness = stretch.steadiness;
        if stretch.steadiness.is_some() && stretch.lost == 0 && !stretch.is_ring_never_empty {
            self.slowest.push(stretch.slowest);
        }
    }

    /// Whether `left` more, the last of which is such as `stretch`, would go on so.
    fn goes_on(&self, stretch: &Stretch, left: u64) -> bool {
        let count = self.slowest.len();
        if count < 2 || !stretch.is_link_never_idle {
            return false;
        }
        let most = |of: &[Span]| of.iter().max().copied().unwrap_or_default();
        let (first, second) = self.slowest.split_at(count / 2);
        let least = self.slowest.iter().min().copied().unwrap_or(Span::ZERO);
        let grown = most(&self.slowest).saturating_sub(least).as_ps();
        let would_grow = u128::from(grown) * u128::from(left) / (count as u128 - 1);
        most(second) <= most(first) && would_grow <= u128::from(stretch.room.as_ps() / 2)
    }
}

/// The stretches of a load so far.
#[derive(Debug)]
pub(super) struct Settled {
    /// Ports, each of which may have a batch more or less in a stretch.
    ports: usize,
    last: Option<Stretch>,
    /// What was lost in stretches of which each is as the one before.
    losses: Vec<u64>,
    filled: Filled,
}

impl Settled {
    /// None so far, of a device with so many ports.
    pub(super) fn new(ports: usize) -> Settled {
        Settled {
            ports,
            last: None,
            losses: Vec::new(),
            filled: Filled::default(),
        }
    }

    /// Takes note of the next.
    pub(super) fn take(&mut self, stretch: Stretch) {
        let is_same = |before: &Stretch| stretch.is_as(before, self.ports);
        if !self.last.as_ref().is_some_and(is_same) {
            self.losses.clear();
        }
        self.losses.push(stretch.lost);
        self.filled.take(&stretch);
        self.last = Some(stretch);
    }

    /// Whether the last stands for the `left` that follow.
    pub(super) fn is_settled(&self, left: u64) -> bool {
        self.last.as_ref().is_some_and(|last| {
            let needed = if last.lost == 0 { 2 } else { LOSSY };
            self.losses.len() >= needed || self.filled.goes_on(last, left)
        })
    }

    /// What is lost in so many that follow.
    pub(super) fn lost(&self, times: u64) -> u64 {
        times * self.losses.iter().sum::<u64>() / self.losses.len().max(1) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stretch in which a link was never idle and the slowest frame took so many ns.
    fn full(ns: u64) -> Stretch {
        Stretch {
            steadiness: Some(0),
            lost: 0,
            is_ring_never_empty: false,
            is_link_never_idle: true,
            room: Span::from_us(50),
            longest: vec![Some(1000 * ns)],
            slowest: Span::from_ns(ns),
        }
    }

    fn is_settled(stretches: impl IntoIterator<Item = Stretch>, left: u64) -> bool {
        let mut settled = Settled::new(2);
        stretches.into_iter().for_each(|one| settled.take(one));
        settled.is_settled(left)
    }

    #[test]
    fn a_full_line_is_settled_when_what_may_have_piled_up_unseen_fits() {
        assert!(!is_settled([full(600)], 1000));
        assert!(is_settled([full(600), full(600)], 1_000_000));
        // A difference of 10 ns may be growth, of which 5000 are too much, until more stretches
        // have not grown by it.
        let jitter = [610, 600].map(full);
        assert!(is_settled(jitter, 2000));
        assert!(!is_settled([610, 600].map(full), 5000));
        assert!(is_settled([610, 600, 610, 605].map(full), 5000));
    }

    #[test]
    fn what_grows_or_loses_is_not_settled() {
        assert!(!is_settled((600..620).map(full), 2));
        let lossy = || Stretch {
            lost: 1,
            ..full(600)
        };
        assert!(!is_settled([full(600), lossy(), full(600)], 2));
        let waiting = || Stretch {
            is_ring_never_empty: true,
            ..full(600)
        };
        assert!(!is_settled([waiting(), waiting()], 2));
        let drawn = |steadiness| Stretch {
            steadiness,
            ..full(600)
        };
        assert!(!is_settled([drawn(Some(1)), drawn(Some(2))], 2));
        assert!(!is_settled([drawn(None), drawn(None)], 2));
    }
}
