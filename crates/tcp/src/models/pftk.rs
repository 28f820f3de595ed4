//! PFTK: Reno's rate with timeouts and a limited window (Padhye, Firoiu, Towsley, Kurose).
//!
//! # What it does
//! A renewal argument over rounds: losses are independent between rounds, and within a round
//! everything after the first loss is lost too. A loss ends in a timeout with probability Q̂(p, w),
//! and timeouts double up to 64 times the first. `full` is the paper's eq. 32, with the window
//! limit; `approximate` its eq. 33. Both are send rates; the goodput shown is what is left after
//! the losses.
//!
//! # References
//! Padhye, Firoiu, Towsley, Kurose 1998, eqs 32 and 33.

use super::Entry;
use trammel_core::entry::About;

/// PFTK in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "pftk",
        aliases: &["padhye-1998"],
        summary: "Reno under random loss with timeouts and a window limit",
        references: &[
            "Padhye, Firoiu, Towsley, Kurose 1998, Modeling TCP Throughput: A Simple Model and its \
             Empirical Validation",
        ],
        params: &[],
    },
    dialects: &[
        ("full", "eq. 32: the renewal formula"),
        ("approximate", "eq. 33: the short form"),
    ],
    validity: "Reno flows that random loss, timeouts or the window limit bound, not the link",
    predict: |question, dialect| {
        question.require_variants(&["reno"])?;
        let loss = question.require_loss()?;
        let mut rates = Vec::new();
        for flow in &question.flows {
            if flow.rto_s == 0.0 {
                return Err("it needs the retransmission timeout".to_owned());
            }
            let path = Path {
                loss,
                rtt_s: flow.rtt_s,
                rto_s: flow.rto_s,
                ack_ratio: question.ack_ratio,
                max_window: flow.max_window_pkts,
            };
            let pps = match dialect {
                "approximate" => path.approximate_pps(),
                _ => path.full_pps(),
            };
            rates.push((pps, pps * flow.rtt_s));
        }
        question.loss_limited(&rates)
    },
};

/// What the formulas depend on.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Probability that a packet is lost, given that none before it in its round was.
    pub loss: f64,
    /// Round-trip time in seconds.
    pub rtt_s: f64,
    /// First retransmission timeout in seconds.
    pub rto_s: f64,
    /// Packets per ACK.
    pub ack_ratio: f64,
    /// Window limit in packets.
    pub max_window: f64,
}

impl Path {
    /// Packets per second by eq. 32.
    pub fn full_pps(self) -> f64 {
        let Path {
            loss: p,
            rtt_s,
            rto_s,
            ack_ratio: b,
            max_window,
        } = self;
        let window = self.peak_window();
        // Rounds from one loss indication to the next: growth to the peak, or growth and a plateau.
        let (window, rounds) = if window < max_window {
            (window, b / 2.0 * window + 1.0)
        } else {
            let plateau = (1.0 - p) / (p * max_window);
            (max_window, b / 8.0 * max_window + plateau + 2.0)
        };
        let timeouts = timeout_probability(p, window);
        let packets = (1.0 - p) / p + window + timeouts / (1.0 - p);
        packets / (rtt_s * rounds + timeouts * rto_s * backoff(p) / (1.0 - p))
    }

    /// Packets per second by eq. 33.
    pub fn approximate_pps(self) -> f64 {
        let Path {
            loss: p,
            ack_ratio: b,
            ..
        } = self;
        let growth = self.rtt_s * (2.0 * b * p / 3.0).sqrt();
        let timeouts = (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
        (self.max_window / self.rtt_s).min(1.0 / (growth + self.rto_s * timeouts))
    }

    /// The mean window when a loss is indicated, without a limit (eq. 13).
    fn peak_window(self) -> f64 {
        let (p, b) = (self.loss, self.ack_ratio);
        let constant = (2.0 + b) / (3.0 * b);
        constant + (8.0 * (1.0 - p) / (3.0 * b * p) + constant * constant).sqrt()
    }
}

/// The probability that a loss in a window of `w` packets ends in a timeout (eq. 24).
fn timeout_probability(p: f64, w: f64) -> f64 {
    let s = 1.0 - p;
    // Too few duplicate ACKs can come from fewer than four packets.
    if w <= 3.0 {
        return 1.0;
    }
    // (1 - s^n) without cancellation for small p.
    let lost = |n: f64| -(n * (-p).ln_1p()).exp_m1();
    (lost(3.0) * (1.0 + s.powi(3) * lost(w - 3.0)) / lost(w)).min(1.0)
}

/// The mean length of a sequence of timeouts in first timeouts, times 1 - p; they double six times
/// (eq. 29).
fn backoff(p: f64) -> f64 {
    1.0 + p * (0..6).map(|k| (2.0 * p).powi(k)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::square_root;

    const FULL: [(f64, f64, f64); 3] = [
        (0.0001, 862.7886, 197.4016),
        (0.01, 77.8465, 77.8465),
        (0.1, 15.1481, 15.1481),
    ];
    const APPROXIMATE: [(f64, f64); 3] = [(0.0001, 865.2467), (0.01, 79.4309), (0.1, 12.5165)];

    fn path(loss: f64) -> Path {
        Path {
            loss,
            rtt_s: 0.1,
            rto_s: 0.4,
            ack_ratio: 2.0,
            max_window: f64::INFINITY,
        }
    }

    #[test]
    fn full_formula_has_its_values() {
        // Computed apart from this code, for 100 ms, a timeout of 400 ms and two packets per ACK.
        for (loss, unlimited, limited) in FULL {
            assert!((path(loss).full_pps() - unlimited).abs() < 1e-4);
            let path = Path {
                max_window: 20.0,
                ..path(loss)
            };
            assert!((path.full_pps() - limited).abs() < 1e-4);
        }
    }

    #[test]
    fn short_formula_has_its_values() {
        for (loss, pps) in APPROXIMATE {
            assert!((path(loss).approximate_pps() - pps).abs() < 1e-4);
        }
    }

    #[test]
    fn tends_to_the_square_root_law_where_losses_are_rare() {
        for pps in [path(1e-8).full_pps(), path(1e-8).approximate_pps()] {
            let law = square_root::mean_window(1e-8, 2.0, square_root::PERIODIC) / 0.1;
            assert!((pps / law - 1.0).abs() < 2e-3, "{pps} {law}");
        }
    }

    #[test]
    fn a_small_window_limit_sets_the_rate() {
        let path = Path {
            max_window: 10.0,
            ..path(1e-7)
        };
        assert!((path.full_pps() / 100.0 - 1.0).abs() < 1e-3);
    }
}
