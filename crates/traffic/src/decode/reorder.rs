//! Reordering after RFC 4737: the ratio (§4.1), extents (§4.2), late times (§4.3) and n-reordering
//! (§5).

use super::doubling::{Bucket, Doubling};
use super::window::Behind;

/// n-reordering is counted up to this n, as by the program of RFC 4737, appendix A.
pub const MOST_N: usize = 100;

/// How packets were reordered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReorderReport {
    /// Packets with Type-P-Reordered = TRUE (§3.3), duplicates left out.
    pub reordered_pkts: u64,
    /// Type-P-Reordered-Ratio-Stream (§4.1): of the packets received, duplicates left out; 0 of
    /// none.
    pub reordered_fraction: f64,
    /// The mean reordering extent in packets (§4.2); `None` where none was reordered.
    pub extent_mean_pkts: Option<f64>,
    /// The greatest extent.
    pub extent_max_pkts: u64,
    /// Extents by length.
    pub extents: Vec<Bucket>,
    /// The mean late time (§4.3): how long after the packet that its extent counts from a reordered
    /// one came.
    pub late_mean_ns: Option<f64>,
    /// The greatest late time; `None` where none was reordered.
    pub late_max_ns: Option<i64>,
    /// How many packets are n-reordered (§5.3), for n from 1 to the greatest there is, at most
    /// [`MOST_N`]. Here duplicates are arrivals like others, as there.
    pub n_reordered_pkts: Vec<u64>,
}

/// Counts reordering.
#[derive(Clone, Debug)]
pub(super) struct Reorder {
    extents: Doubling,
    late_sum: i128,
    late_max: Option<i64>,
    n_reordered: [u64; MOST_N],
    /// The last sequence numbers, as in appendix A.
    ring: [u64; MOST_N],
    arrivals: u64,
}

impl Reorder {
    pub(super) fn new() -> Reorder {
        Reorder {
            extents: Doubling::new(),
            late_sum: 0,
            late_max: None,
            n_reordered: [0; MOST_N],
            ring: [0; MOST_N],
            arrivals: 0,
        }
    }

    /// Takes in any arrival.
    pub(super) fn arrive(&mut self, sequence: u64) {
        //= rfc4737 §5.3
        //# Received packet number i (n < i <= l), with source sequence number s[i], is n-reordered
        //# if and only if for all j such that i-n <= j < i, s[j] > s[i].
        let place = |back: u64| ((self.arrivals - back) % MOST_N as u64) as usize;
        let most = self.arrivals.min(MOST_N as u64);
        let earlier = (1..=most).take_while(|back| self.ring[place(*back)] > sequence);
        for (count, _) in self.n_reordered.iter_mut().zip(earlier) {
            *count += 1;
        }
        self.ring[place(0)] = sequence;
        self.arrivals += 1;
    }

    /// Takes in a packet that is reordered.
    pub(super) fn behind(&mut self, behind: Behind) {
        self.extents.push(behind.extent);
        self.late_sum += i128::from(behind.late_ns);
        self.late_max = self.late_max.max(Some(behind.late_ns));
    }

    pub(super) fn merge(&mut self, other: &Reorder) {
        self.extents.merge(&other.extents);
        self.late_sum += other.late_sum;
        self.late_max = self.late_max.max(other.late_max);
        for (own, other) in self.n_reordered.iter_mut().zip(other.n_reordered) {
            *own += other;
        }
    }

    /// Of a flow of which `received` packets came, duplicates left out.
    pub(super) fn report(&self, received: u64) -> ReorderReport {
        let reordered = self.extents.count();
        let greatest = self.n_reordered.iter().rposition(|count| *count > 0);
        ReorderReport {
            reordered_pkts: reordered,
            reordered_fraction: if received == 0 {
                0.0
            } else {
                reordered as f64 / received as f64
            },
            extent_mean_pkts: self.extents.mean(),
            extent_max_pkts: self.extents.max(),
            extents: self.extents.buckets(),
            late_mean_ns: (reordered > 0).then(|| self.late_sum as f64 / reordered as f64),
            late_max_ns: self.late_max,
            n_reordered_pkts: self.n_reordered[..greatest.map_or(0, |at| at + 1)].to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn n_reordered(sequences: &[u64]) -> Vec<u64> {
        let mut reorder = Reorder::new();
        for sequence in sequences {
            reorder.arrive(*sequence);
        }
        reorder.report(sequences.len() as u64).n_reordered_pkts
    }

    #[test]
    fn the_example_of_rfc_4737_5_3() {
        // "only packet 4 is n-reordered, with n=3"
        assert_eq!(n_reordered(&[1, 2, 3, 7, 8, 9, 4, 5, 6]), [1, 1, 1]);
        assert!(n_reordered(&[1, 2, 3]).is_empty());
    }

    #[test]
    fn it_ends_at_the_most_n() {
        let falling: Vec<u64> = (0..250).rev().collect();
        let counts = n_reordered(&falling);
        assert_eq!(counts.len(), MOST_N);
        assert_eq!((counts[0], counts[MOST_N - 1]), (249, 150));
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(s in prop::collection::vec(0..50_u64, 0..300)) {
            let wanted = |n: usize| {
                (n..s.len()).filter(|i| (i - n..*i).all(|j| s[j] > s[*i])).count() as u64
            };
            let found = n_reordered(&s);
            for n in 1..=MOST_N {
                prop_assert_eq!(found.get(n - 1).copied().unwrap_or(0), wanted(n), "n = {}", n);
            }
        }
    }
}
