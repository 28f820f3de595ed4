//! Loss from a list: the packets with these numbers are lost, no others.
//!
//! # What it does
//! Counts packets from 1 and loses those in the list, to replay a recorded trace or to place a loss
//! exactly where an experiment wants it.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! rtt = "40 ms"
//! loss = { model = "trace", packets = [500, 501, 2000] }
//! [[flow]]
//! variant = "cubic"
//! ```
//!
//! # Parameters
//! `packets`: the numbers, in any order.
//!
//! # References
//! ns-3, `ReceiveListErrorModel`.

use super::{Entry, LossModel};
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;
use trammel_core::time::Time;

/// Loss from a list in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "trace",
        aliases: &["list"],
        summary: "the listed packets are lost, counted from 1",
        references: &["ns-3, ReceiveListErrorModel"],
        params: &[Param {
            name: "packets",
            kind: Kind::Floats,
            default: "",
            unit: "packets",
            help: "numbers of the packets lost, from 1",
        }],
    },
    build: |params| {
        let mut lost = Vec::new();
        for &number in params.floats("packets") {
            // Beyond 2^53 a double no longer tells neighbours apart.
            if number.fract() != 0.0 || !(1.0..9_007_199_254_740_992.0).contains(&number) {
                return Err(format!(
                    "`packets` has `{number}`, not a whole number of at least 1"
                ));
            }
            lost.push(number as u64);
        }
        lost.sort_unstable();
        lost.dedup();
        Ok(Box::new(Trace {
            lost,
            next: 0,
            seen: 0,
        }))
    },
};

#[derive(Debug)]
struct Trace {
    /// Ascending, without doubles.
    lost: Vec<u64>,
    /// Which of them comes next.
    next: usize,
    /// Packets so far.
    seen: u64,
}

impl LossModel for Trace {
    fn loses(&mut self, _now: Time, _bytes: u32, _rng: &mut Rng) -> bool {
        self.seen += 1;
        let loses = self.lost.get(self.next) == Some(&self.seen);
        self.next += usize::from(loses);
        loses
    }

    /// A finite list has no long run.
    fn mean_loss(&self) -> Option<f64> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::entry::{Params, Value};

    fn build(packets: &[f64]) -> Result<Box<dyn LossModel>, String> {
        let given = [("packets".to_owned(), Value::Floats(packets.to_vec()))];
        (ENTRY.build)(&Params::resolve(&ENTRY.about, &given).unwrap())
    }

    #[test]
    fn loses_exactly_the_listed_packets() {
        let mut model = build(&[7.0, 1.0, 2.0, 7.0]).unwrap();
        let mut rng = Rng::new(1, "loss");
        let lost: Vec<u32> = (1..=20)
            .filter(|_| model.loses(Time::ZERO, 1500, &mut rng))
            .collect();
        assert_eq!(lost, [1, 2, 7]);
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        assert!(build(&[0.0]).is_err() && build(&[1.5]).is_err() && build(&[f64::NAN]).is_err());
        assert!(build(&[]).is_ok());
    }
}
