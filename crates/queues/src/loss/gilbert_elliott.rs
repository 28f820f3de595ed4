//! Gilbert–Elliott loss: a channel that is good or bad, with its own loss probability in each
//! state.
//!
//! # What it does
//! Before each packet the channel changes from good to bad with probability p, or from bad to good
//! with probability r; then the packet is lost with the probability of the state. The channel is
//! bad for the fraction p / (p + r) of packets, in spells of 1 / r packets on average. It begins in
//! its steady state.
//!
//! ```text
//!            p
//!   good ─────────► bad          mean loss = (r · loss_good + p · loss_bad) / (p + r)
//!        ◄─────────
//!            r
//! ```
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! rtt = "40 ms"
//! loss = { model = "gilbert-elliott", p = 0.001, r = 0.25 }
//! [[flow]]
//! variant = "cubic"
//! ```
//!
//! # Parameters
//! `p`, `r`, `loss_good` (0: Gilbert's model) and `loss_bad` (1: every packet of a bad spell).
//!
//! # References
//! Gilbert 1960; Elliott, "Estimates of error rates for codes on burst-noise channels", Bell System
//! Technical Journal 42, 1963; Hasslinger and Hohlfeld, "The Gilbert-Elliott model for packet loss
//! in real time services on the Internet", MMB 2008.

use super::{Entry, LossModel, Trials};
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;
use trammel_core::time::Time;

/// Gilbert–Elliott loss in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "gilbert-elliott",
        aliases: &["gilbert", "gemodel"],
        summary: "losses in bursts: a channel that is good or bad",
        references: &[
            "Gilbert, Bell System Technical Journal 39, 1960",
            "Elliott, Bell System Technical Journal 42, 1963",
            "Hasslinger and Hohlfeld, MMB 2008",
        ],
        params: &[
            Param {
                name: "p",
                kind: Kind::Float(0.0, 1.0),
                default: "",
                unit: "",
                help: "probability, at each packet, that a good channel turns bad",
            },
            Param {
                name: "r",
                kind: Kind::Float(0.0, 1.0),
                default: "",
                unit: "",
                help: "probability, at each packet, that a bad channel turns good",
            },
            Param {
                name: "loss_good",
                kind: Kind::Float(0.0, 1.0),
                default: "0",
                unit: "",
                help: "fraction of packets lost while the channel is good",
            },
            Param {
                name: "loss_bad",
                kind: Kind::Float(0.0, 1.0),
                default: "1",
                unit: "",
                help: "fraction of packets lost while the channel is bad",
            },
        ],
    },
    build: |params| {
        let (p, r) = (params.float("p"), params.float("r"));
        if p + r == 0.0 {
            return Err("`p` and `r` are both 0: the channel would never change".to_owned());
        }
        let channel = |leave, loss| State {
            leave: Trials::new(leave),
            loss: Trials::new(loss),
        };
        Ok(Box::new(GilbertElliott {
            good: channel(p, params.float("loss_good")),
            bad: channel(r, params.float("loss_bad")),
            is_bad: None,
        }))
    },
};

/// What happens in one state. Trials are without memory, so they may pause while the other state
/// holds.
#[derive(Debug)]
struct State {
    leave: Trials,
    loss: Trials,
}

#[derive(Debug)]
struct GilbertElliott {
    good: State,
    bad: State,
    /// Nothing before the first packet.
    is_bad: Option<bool>,
}

impl GilbertElliott {
    fn fraction_bad(&self) -> f64 {
        let (p, r) = (self.good.leave.probability, self.bad.leave.probability);
        p / (p + r)
    }
}

impl LossModel for GilbertElliott {
    fn loses(&mut self, _now: Time, _bytes: u32, rng: &mut Rng) -> bool {
        let is_bad = match self.is_bad {
            None => rng.chance(self.fraction_bad()),
            Some(true) => !self.bad.leave.succeeds(rng),
            Some(false) => self.good.leave.succeeds(rng),
        };
        self.is_bad = Some(is_bad);
        let state = if is_bad {
            &mut self.bad
        } else {
            &mut self.good
        };
        state.loss.succeeds(rng)
    }

    fn mean_loss(&self) -> Option<f64> {
        let bad = self.fraction_bad();
        Some((1.0 - bad) * self.good.loss.probability + bad * self.bad.loss.probability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::entry::{Params, Value};

    fn build(values: [f64; 4]) -> Result<Box<dyn LossModel>, String> {
        let names = ["p", "r", "loss_good", "loss_bad"];
        let given: Vec<_> = names
            .iter()
            .zip(values)
            .map(|(name, value)| ((*name).to_owned(), Value::Float(value)))
            .collect();
        (ENTRY.build)(&Params::resolve(&ENTRY.about, &given).unwrap())
    }

    #[test]
    fn bursts_are_geometric_with_mean_one_over_r() {
        let mut model = build([0.01, 0.25, 0.0, 1.0]).unwrap();
        let mut rng = Rng::new(2, "loss");
        let (mut lost, mut bursts, mut singles, mut length) = (0_u32, 0_u32, 0_u32, 0_u32);
        for _ in 0..2_000_000 {
            if model.loses(Time::ZERO, 1500, &mut rng) {
                lost += 1;
                length += 1;
            } else if length > 0 {
                bursts += 1;
                singles += u32::from(length == 1);
                length = 0;
            }
        }
        let mean = f64::from(lost) / f64::from(bursts);
        assert!((mean - 4.0).abs() < 0.1, "{mean}");
        let share = f64::from(singles) / f64::from(bursts);
        assert!((share - 0.25).abs() < 0.015, "{share}");
        let loss = f64::from(lost) / 2e6;
        assert!((loss - 0.01 / 0.26).abs() < 0.002, "{loss}");
    }

    #[test]
    fn both_states_may_lose() {
        let mut model = build([0.02, 0.08, 0.01, 0.5]).unwrap();
        // A fifth of the packets meet a bad channel.
        let expected = 0.8 * 0.01 + 0.2 * 0.5;
        assert!((model.mean_loss().unwrap() - expected).abs() < 1e-12);
        let mut rng = Rng::new(2, "loss");
        let lost = (0..1_000_000)
            .filter(|_| model.loses(Time::ZERO, 1500, &mut rng))
            .count();
        assert!((lost as f64 / 1e6 - expected).abs() < 0.003, "{lost}");
    }

    #[test]
    fn a_channel_that_never_changes_is_refused() {
        assert!(build([0.0, 0.0, 0.0, 1.0]).unwrap_err().contains("`p`"));
    }
}
