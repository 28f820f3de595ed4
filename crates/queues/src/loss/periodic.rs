//! Periodic loss: exactly one packet in n, at even distances.
//!
//! # What it does
//! Loses packet number `first` and every `every`-th after it, counted from 1: the regular losses
//! that the square-root law assumes, without any randomness.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! rtt = "40 ms"
//! loss = { model = "periodic", every = 1000 }
//! [[flow]]
//! variant = "cubic"
//! ```
//!
//! # Parameters
//! `every`: one packet in so many. `first`: the number of the first one lost.
//!
//! # References
//! Mathis, Semke, Mahdavi and Ott, "The macroscopic behavior of the TCP congestion avoidance
//! algorithm", Computer Communication Review 27(3), 1997.

use super::{Entry, LossModel};
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;
use trammel_core::time::Time;

/// Periodic loss in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "periodic",
        aliases: &["every"],
        summary: "exactly one packet in n is lost, at even distances",
        references: &["Mathis et al., Computer Communication Review 27(3), 1997"],
        params: &[
            Param {
                name: "every",
                kind: Kind::Int(1, i64::MAX),
                default: "",
                unit: "packets",
                help: "one packet in so many is lost",
            },
            Param {
                name: "first",
                kind: Kind::Int(0, i64::MAX),
                default: "0",
                unit: "packets",
                help: "number of the first packet lost, from 1; 0 means as many as `every`",
            },
        ],
    },
    build: |params| {
        let every = params.int("every") as u64;
        let first = match params.int("first") as u64 {
            0 => every,
            first => first,
        };
        Ok(Box::new(Periodic {
            every,
            until_next: first,
        }))
    },
};

#[derive(Debug)]
struct Periodic {
    every: u64,
    /// Packets up to and including the next one lost.
    until_next: u64,
}

impl LossModel for Periodic {
    fn loses(&mut self, _now: Time, _bytes: u32, _rng: &mut Rng) -> bool {
        self.until_next -= 1;
        let loses = self.until_next == 0;
        if loses {
            self.until_next = self.every;
        }
        loses
    }

    fn mean_loss(&self) -> Option<f64> {
        Some(1.0 / self.every as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::entry::{Params, Value};

    #[test]
    fn loses_every_third_from_the_one_asked_for() {
        for (first, expected) in [(0, vec![3, 6, 9]), (1, vec![1, 4, 7, 10]), (5, vec![5, 8])] {
            let given = [
                ("every".to_owned(), Value::Int(3)),
                ("first".to_owned(), Value::Int(first)),
            ];
            let params = Params::resolve(&ENTRY.about, &given).unwrap();
            let mut model = (ENTRY.build)(&params).unwrap();
            let mut rng = Rng::new(1, "loss");
            let lost: Vec<u32> = (1..=10)
                .filter(|_| model.loses(Time::ZERO, 1500, &mut rng))
                .collect();
            assert_eq!(lost, expected);
        }
    }
}
