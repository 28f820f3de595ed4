//! The square-root law: what periodic loss leaves of Reno.
//!
//! # What it does
//! A loss every 1/p packets makes Reno's window a saw-tooth between W/2 and W whose area is 1/p
//! packets: the mean window is C / √(b p), with b packets per ACK. C is √(3/2) for losses at even
//! distances and 1.3098 for independent ones. Timeouts, window limits below the saw-tooth and the
//! queue are left out.
//!
//! # References
//! Mathis, Semke, Mahdavi, Ott 1997, §2; Ott, Kemperman, Mathis 1996 for independent losses.

use super::Entry;
use trammel_core::entry::About;

/// The square-root law in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "square-root",
        aliases: &["mathis-1997"],
        summary: "Reno under random loss: the window goes with the root of the loss",
        references: &[
            "Mathis, Semke, Mahdavi, Ott 1997, The Macroscopic Behavior of the TCP Congestion \
             Avoidance Algorithm",
            "Ott, Kemperman, Mathis 1996, The Stationary Behavior of Ideal TCP Congestion \
             Avoidance",
        ],
        params: &[],
    },
    dialects: &[
        (
            "periodic",
            "a loss every 1/p packets: the constant is 1.2247",
        ),
        ("random", "independent losses: the constant is 1.3098"),
    ],
    validity: "Reno flows that random loss limits, with windows large enough to avoid timeouts \
               (loss below 2 %)",
    predict: |question, dialect| {
        question.require_variants(&["reno"])?;
        let loss = question.require_loss()?;
        let constant = if dialect == "random" {
            RANDOM
        } else {
            PERIODIC
        };
        question.response(|_| mean_window(loss, question.ack_ratio, constant))
    },
};

/// √(3/2): losses at even distances.
pub const PERIODIC: f64 = 1.224_744_871_391_589;
/// Independent losses (Ott, Kemperman, Mathis 1996).
pub const RANDOM: f64 = 1.3098;

/// Reno's mean window in packets at loss `loss` and `ack_ratio` packets per ACK.
pub fn mean_window(loss: f64, ack_ratio: f64, constant: f64) -> f64 {
    constant / (ack_ratio * loss).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Question;

    #[test]
    fn constants_are_those_of_the_papers_table() {
        // Table 1 of Mathis et al.: 1.22 and 0.87 for periodic losses, 1.31 and 0.93 for random
        // ones.
        let at = |ratio, constant| (100.0 * mean_window(1.0, ratio, constant)).round() / 100.0;
        assert_eq!([at(1.0, PERIODIC), at(2.0, PERIODIC)], [1.22, 0.87]);
        assert_eq!([at(1.0, RANDOM), at(2.0, RANDOM)], [1.31, 0.93]);
    }

    #[test]
    fn a_window_of_1225_packets_at_one_loss_in_a_million() {
        let question = Question {
            loss: 1e-6,
            ..Question::example(&["reno"])
        };
        let flow = ENTRY.answer(&question, "").unwrap().flows[0];
        assert!((flow.cwnd_pkts.unwrap() - 1224.7).abs() < 0.1);
        let goodput = 1224.745 / 0.1 * 1448.0 * 8.0 * (1.0 - 1e-6);
        assert!((flow.goodput_bps.unwrap() / goodput - 1.0).abs() < 1e-6);
    }

    #[test]
    fn refuses_what_the_link_cannot_carry() {
        let question = Question {
            loss: 1e-9,
            ..Question::example(&["reno"])
        };
        let reason = ENTRY.answer(&question, "").unwrap_err();
        assert!(reason.starts_with("would exceed the link"), "{reason}");
    }

    #[test]
    fn refuses_other_variants() {
        let reason = ENTRY
            .answer(&Question::example(&["vegas"]), "")
            .unwrap_err();
        assert_eq!(reason, "it describes reno flows, not `vegas`");
    }
}
