//! Packets lost and the bursts in which they were: consecutive sequence numbers that did not come.

use super::doubling::{Bucket, Doubling};
use super::window::Lost;

/// What was lost (RFC 2680, with the window in place of the waiting time).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LossReport {
    /// How many sequence numbers were expected: up to the greatest that came, or as many as were
    /// said to be sent.
    pub expected_pkts: u64,
    /// How many of them did not come.
    pub lost_pkts: u64,
    /// The second by the first; 0 where nothing was expected.
    pub lost_fraction: f64,
    /// How many bursts they make up: lost packets whose neighbours in the order of sending came.
    pub bursts: u64,
    /// The mean length of a burst; `None` of no burst.
    pub burst_mean_pkts: Option<f64>,
    /// The longest burst.
    pub burst_max_pkts: u64,
    /// Bursts by length.
    pub burst_lengths: Vec<Bucket>,
}

/// Makes bursts of what is lost.
#[derive(Clone, Debug)]
pub(super) struct Loss {
    lost: u64,
    /// The burst that may go on: its first number and the one behind it.
    open: Option<(u64, u64)>,
    bursts: Doubling,
}

impl Loss {
    pub(super) fn new() -> Loss {
        Loss {
            lost: 0,
            open: None,
            bursts: Doubling::new(),
        }
    }

    /// Takes in what is lost, in the order of sequence numbers.
    pub(super) fn push(&mut self, lost: Lost) {
        self.lost += lost.count;
        let end = lost.first + lost.count;
        match &mut self.open {
            Some((_, open_end)) if *open_end == lost.first => *open_end = end,
            _ => {
                self.close();
                self.open = Some((lost.first, end));
            }
        }
    }

    /// Ends the burst that is open: a flow's end ends it too.
    pub(super) fn close(&mut self) {
        if let Some((first, end)) = self.open.take() {
            self.bursts.push(end - first);
        }
    }

    /// Takes in another flow's losses, closed as these.
    pub(super) fn merge(&mut self, other: &Loss) {
        debug_assert!(self.open.is_none() && other.open.is_none());
        self.lost = self.lost.saturating_add(other.lost);
        self.bursts.merge(&other.bursts);
    }

    /// Of a flow of which `received` packets came.
    pub(super) fn report(&self, received: u64) -> LossReport {
        let expected = received.saturating_add(self.lost);
        LossReport {
            expected_pkts: expected,
            lost_pkts: self.lost,
            lost_fraction: if expected == 0 {
                0.0
            } else {
                self.lost as f64 / expected as f64
            },
            bursts: self.bursts.count(),
            burst_mean_pkts: self.bursts.mean(),
            burst_max_pkts: self.bursts.max(),
            burst_lengths: self.bursts.buckets(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_join_whatever_pieces_they_are_told_in() {
        let mut loss = Loss::new();
        for (first, count) in [(3, 1), (4, 2), (8, 1), (10, 3), (13, 1)] {
            loss.push(Lost {
                first,
                count,
                opened_ns: 0,
            });
        }
        loss.close();
        let report = loss.report(92);
        assert_eq!((report.expected_pkts, report.lost_pkts), (100, 8));
        assert_eq!((report.bursts, report.burst_max_pkts), (3, 4));
        assert_eq!(
            (report.burst_mean_pkts, report.lost_fraction),
            (Some(8.0 / 3.0), 0.08)
        );
        let lengths: Vec<_> = report
            .burst_lengths
            .iter()
            .map(|b| (b.from, b.to, b.count))
            .collect();
        assert_eq!(lengths, [(1, 1, 1), (2, 3, 1), (4, 7, 1)]);
    }
}
