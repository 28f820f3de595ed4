//! Rates, delay, jitter and loss interval by interval, on the axis of arrivals.
//!
//! An interval of several flows together is the mean over their *packets*, never a sum over flows.
//! A loss lies in the interval in which its gap was seen to open.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// An interval of a series. What an interval without packets cannot have is `None`; one without
/// anything is left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalReport {
    /// When it begins, in nanoseconds since 1970.
    pub start_ns: i64,
    /// Records, duplicates too.
    pub pkts: u64,
    /// Bytes of their payload.
    pub bytes: u64,
    /// Payload by the interval's length.
    pub bit_rate_bps: f64,
    /// Packets by the interval's length.
    pub packet_rate_pps: f64,
    /// The mean delay.
    pub delay_mean_ns: Option<f64>,
    /// D-ITG's jitter: the mean of |D| of the pairs whose later packet came here.
    pub jitter_mean_ns: Option<f64>,
    /// Packets lost.
    pub lost_pkts: u64,
}

/// What an interval counts.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    pkts: u64,
    bytes: u64,
    delays: u64,
    delay_sum: i128,
    pairs: u64,
    jitter_sum: u128,
    lost: u64,
}

/// How the axis is divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) origin_ns: i64,
    pub(super) interval_ns: u64,
}

impl Axis {
    fn index(self, at_ns: i64) -> i128 {
        let since = i128::from(at_ns) - i128::from(self.origin_ns);
        since.div_euclid(self.interval_ns.into())
    }

    fn start_ns(self, index: i128) -> i64 {
        let since = index * i128::from(self.interval_ns);
        let ns = i128::from(self.origin_ns) + since;
        // The first interval there can be begins before the first time there can be.
        ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

/// Intervals in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Series {
    cells: BTreeMap<i128, Cell>,
}

impl Series {
    /// The interval of `at_ns`; none where it is a new one and `left` is used up.
    fn cell(&mut self, axis: Axis, at_ns: i64, left: &mut usize) -> Option<&mut Cell> {
        match self.cells.entry(axis.index(at_ns)) {
            Entry::Occupied(cell) => Some(cell.into_mut()),
            Entry::Vacant(place) => {
                *left = left.checked_sub(1)?;
                Some(place.insert(Cell::default()))
            }
        }
    }

    /// Takes in a record, its delay where it is a first copy, and |D| where it has one before it.
    /// Says whether there was room.
    pub(super) fn arrive(
        &mut self,
        (axis, left): (Axis, &mut usize),
        at_ns: i64,
        bytes: u32,
        delay_ns: Option<i64>,
        jitter_ns: Option<u64>,
    ) -> bool {
        let Some(cell) = self.cell(axis, at_ns, left) else {
            return false;
        };
        cell.pkts += 1;
        cell.bytes += u64::from(bytes);
        if let Some(delay) = delay_ns {
            cell.delays += 1;
            cell.delay_sum += i128::from(delay);
        }
        if let Some(jitter) = jitter_ns {
            cell.pairs += 1;
            cell.jitter_sum += u128::from(jitter);
        }
        true
    }

    /// Takes in a loss. Says whether there was room.
    pub(super) fn lose(
        &mut self,
        (axis, left): (Axis, &mut usize),
        at_ns: i64,
        count: u64,
    ) -> bool {
        let cell = self.cell(axis, at_ns, left);
        cell.map(|cell| cell.lost = cell.lost.saturating_add(count))
            .is_some()
    }

    /// Takes in what another has.
    pub(super) fn merge(&mut self, other: &Series) {
        for (index, other) in &other.cells {
            let cell = self.cells.entry(*index).or_default();
            cell.pkts += other.pkts;
            cell.bytes += other.bytes;
            cell.delays += other.delays;
            cell.delay_sum += other.delay_sum;
            cell.pairs += other.pairs;
            cell.jitter_sum += other.jitter_sum;
            cell.lost = cell.lost.saturating_add(other.lost);
        }
    }

    /// How many delays each interval has, and their sum in nanoseconds.
    pub(super) fn delays(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        let cells = self.cells.values();
        cells.map(|cell| (cell.delays as f64, cell.delay_sum as f64))
    }

    pub(super) fn report(&self, axis: Axis) -> Vec<IntervalReport> {
        let seconds = axis.interval_ns as f64 / 1e9;
        let of = |(index, cell): (&i128, &Cell)| IntervalReport {
            start_ns: axis.start_ns(*index),
            pkts: cell.pkts,
            bytes: cell.bytes,
            bit_rate_bps: cell.bytes as f64 * 8.0 / seconds,
            packet_rate_pps: cell.pkts as f64 / seconds,
            delay_mean_ns: (cell.delays > 0).then(|| cell.delay_sum as f64 / cell.delays as f64),
            jitter_mean_ns: (cell.pairs > 0).then(|| cell.jitter_sum as f64 / cell.pairs as f64),
            lost_pkts: cell.lost,
        };
        self.cells.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXIS: Axis = Axis {
        origin_ns: 100,
        interval_ns: 10,
    };

    #[test]
    fn several_flows_are_the_mean_over_their_packets() {
        let mut left = 10;
        let (mut a, mut b) = (Series::default(), Series::default());
        for (at, delay) in [(100, 10), (105, 20), (109, 30)] {
            assert!(a.arrive((AXIS, &mut left), at, 1, Some(delay), None));
        }
        assert!(b.arrive((AXIS, &mut left), 101, 1, Some(100), Some(7)));
        assert!(b.arrive((AXIS, &mut left), 99, 1, Some(1), None));
        assert!(b.lose((AXIS, &mut left), 119, 4));
        let mut both = a.clone();
        both.merge(&b);
        let both = both.report(AXIS);
        let starts: Vec<_> = both.iter().map(|one| one.start_ns).collect();
        assert_eq!(starts, [90, 100, 110]);
        assert_eq!(both[1].delay_mean_ns, Some(40.0));
        assert_eq!((both[1].pkts, both[1].jitter_mean_ns), (4, Some(7.0)));
        assert_eq!((both[2].lost_pkts, both[2].delay_mean_ns), (4, None));
        // 4 bytes in 10 ns.
        assert_eq!(
            (both[1].bit_rate_bps, both[1].packet_rate_pps),
            (3.2e9, 4e8)
        );
        assert_eq!(left, 6);
    }

    #[test]
    fn intervals_are_bounded_in_number() {
        let (mut left, mut one) = (1, Series::default());
        assert!(one.arrive((AXIS, &mut left), i64::MIN, 1, None, None));
        assert!(one.arrive((AXIS, &mut left), i64::MIN, 1, None, None));
        assert!(!one.arrive((AXIS, &mut left), i64::MAX, 1, None, None));
        assert_eq!(one.report(AXIS)[0].pkts, 2);
    }
}
