//! Bernoulli loss: every packet is lost with the same probability, independently of the others.
//!
//! # What it does
//! Draws the number of packets until the next loss, not each packet's fate, so that a packet that
//! arrives costs a subtraction.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! rtt = "40 ms"
//! loss = { model = "bernoulli", probability = 0.001 }
//! [[flow]]
//! variant = "cubic"
//! ```
//!
//! # Parameters
//! `probability`: the fraction of packets lost.
//!
//! # References
//! Gilbert, "Capacity of a burst-noise channel", Bell System Technical Journal 39, 1960, for the
//! contrast.

use super::{Entry, LossModel, Trials};
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;
use trammel_core::time::Time;

/// Bernoulli loss in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "bernoulli",
        aliases: &["random", "uniform"],
        summary: "each packet is lost with the same probability, independently",
        references: &["tc-netem(8), `loss random`"],
        params: &[Param {
            name: "probability",
            kind: Kind::Float(0.0, 1.0),
            default: "",
            unit: "",
            help: "fraction of packets lost",
        }],
    },
    build: |params| {
        Ok(Box::new(Bernoulli(Trials::new(
            params.float("probability"),
        ))))
    },
};

#[derive(Debug)]
struct Bernoulli(Trials);

impl LossModel for Bernoulli {
    fn loses(&mut self, _now: Time, _bytes: u32, rng: &mut Rng) -> bool {
        self.0.succeeds(rng)
    }

    fn change(&mut self, probability: Option<f64>, _seed: u64) {
        if let Some(probability) = probability {
            self.0 = Trials::new(probability);
        }
    }

    fn mean_loss(&self) -> Option<f64> {
        Some(self.0.probability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::entry::{Params, Value};

    #[test]
    fn losses_are_as_many_as_asked_and_independent() {
        let given = [("probability".to_owned(), Value::Float(0.2))];
        let params = Params::resolve(&ENTRY.about, &given).unwrap();
        let mut model = (ENTRY.build)(&params).unwrap();
        let mut rng = Rng::new(5, "loss");
        let (mut lost, mut after_a_loss, mut both, mut before) = (0, 0, 0, false);
        for _ in 0..200_000 {
            let loses = model.loses(Time::ZERO, 1500, &mut rng);
            lost += u32::from(loses);
            after_a_loss += u32::from(before);
            both += u32::from(before && loses);
            before = loses;
        }
        // Four standard deviations of a binomial(200000, 0.2) are 716.
        assert!(lost.abs_diff(40_000) < 716, "{lost}");
        let conditional = f64::from(both) / f64::from(after_a_loss);
        assert!((conditional - 0.2).abs() < 0.01, "{conditional}");
    }
}
