//! A run that is studied: how the work of elements depends on the packets that come.
//!
//! What a configuration alone does not tell, such as how deep the addresses that come lie in a
//! tree, how many rules are tried on the packets that come, or whether the packets of a batch part,
//! elements tell for each batch of such a run ([`Element::study`](crate::engine::Element::study)).
//! Estimates take it for what is to come.

use std::collections::{BTreeMap, HashSet};

/// Quantities of an element that depend on the packets, over those of a run.
#[derive(Clone, Debug, Default)]
pub struct Study {
    /// The weighted sum, and the weights.
    means: BTreeMap<&'static str, (f64, f64)>,
    different: BTreeMap<&'static str, HashSet<u64>>,
}

impl Study {
    /// A value of a quantity, of which the mean counts, for so many packets or look-ups.
    pub fn mean(&mut self, name: &'static str, value: f64, weight: usize) {
        let (sum, weights) = self.means.entry(name).or_default();
        *sum += value * weight as f64;
        *weights += weight as f64;
    }

    /// A key of a quantity that is the number of different keys.
    pub fn different(&mut self, name: &'static str, key: u64) {
        self.different.entry(name).or_default().insert(key);
    }

    /// The outputs that the packets of a batch take.
    pub fn ways(&mut self, outputs: &[u32]) {
        let mut different = outputs.to_vec();
        different.sort_unstable();
        different.dedup();
        let ways = if different.len() > 1 {
            different.len()
        } else {
            0
        };
        self.mean("ways", ways as f64, outputs.len());
    }

    /// The means, in the order of their names.
    pub fn means(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let known = self.means.iter().filter(|(_, (_, weights))| *weights > 0.0);
        known.map(|(name, (sum, weights))| (*name, sum / weights))
    }

    /// The numbers of different keys, in the order of their names.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let all = self.different.iter();
        all.map(|(name, keys)| (*name, keys.len() as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_weighted_and_keys_count_once() {
        let mut study = Study::default();
        study.mean("levels", 1.0, 3);
        study.mean("levels", 5.0, 1);
        study.mean("steps", 1.0, 0);
        for key in [4, 4, 7] {
            study.different("lines", key);
        }
        assert_eq!(study.means().collect::<Vec<_>>(), [("levels", 2.0)]);
        assert_eq!(study.counts().collect::<Vec<_>>(), [("lines", 2.0)]);
    }
}
