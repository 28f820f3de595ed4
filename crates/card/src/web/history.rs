//! How full the output queues were lately.

use serde_json::{Value, json};
use std::collections::VecDeque;
use trammel_core::{Span, Time};

/// Time between two samples.
const INTERVAL: Span = Span::from_ms(20);
/// Samples that are kept: two and a half seconds, so that who asks each second misses none.
const MOST_SAMPLES: usize = 125;
/// How long samples are taken after the last look at them.
const WATCHED: Span = Span::from_secs(5);

/// Samples while somebody looks.
#[derive(Debug, Default)]
pub(super) struct History {
    looked: Option<Time>,
    samples: VecDeque<(Time, [u32; 8])>,
}

impl History {
    /// Somebody looks.
    pub(super) fn look(&mut self, now: Time) {
        self.looked = Some(now);
    }

    /// Whether a sample is to be taken.
    pub(super) fn is_due(&self, now: Time) -> bool {
        let looked = self.looked.map(|at| now.saturating_since(at));
        let last = self.samples.back().map(|(at, _)| now.saturating_since(*at));
        looked.is_some_and(|past| past < WATCHED) && last.is_none_or(|past| past >= INTERVAL)
    }

    pub(super) fn add(&mut self, now: Time, words: [u32; 8]) {
        if self.samples.len() >= MOST_SAMPLES {
            self.samples.pop_front();
        }
        self.samples.push_back((now, words));
    }

    /// The samples: times, and for each time the words in each queue.
    pub(super) fn json(&self) -> Value {
        let (times, words): (Vec<u64>, Vec<[u32; 8]>) = (self.samples.iter())
            .map(|(at, words)| (at.as_ms(), *words))
            .unzip();
        json!({ "times_ms": times, "words": words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_taken_while_somebody_looks_and_few_are_kept() {
        let mut history = History::default();
        assert!(!history.is_due(Time::ZERO));
        history.look(Time::ZERO);
        let mut taken = 0;
        for ms in 0..10_000 {
            let now = Time::from_ms(ms);
            if history.is_due(now) {
                history.add(now, [ms as u32; 8]);
                taken += 1;
            }
        }
        assert_eq!(taken, 250);
        let json = history.json();
        assert_eq!(json["times_ms"].as_array().unwrap().len(), MOST_SAMPLES);
        assert_eq!(json["times_ms"][MOST_SAMPLES - 1], 4980);
        assert_eq!(json["words"][MOST_SAMPLES - 1][7], 4980);
    }
}
