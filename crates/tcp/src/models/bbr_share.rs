//! BBR's share beside loss-based flows: the inflight cap of two bandwidth-delay products decides.
//!
//! # What it does
//! Beside loss-based flows the queue is full and BBRv1 is bound by its window cap, 2 × bandwidth ×
//! minimum RTT. It drains its own packets to measure that minimum, but not the others': N BBR flows
//! see the p q packets of the loss-based flows and 4N of their own. Setting the cap equal to what
//! BBR has in flight gives the loss-based share p = 1/2 - 1/(2X) - 4N/q for a queue of q packets, X
//! times the bandwidth-delay product; where it is negative BBR takes all. Every 10 s BBR stops for
//! q/C + 0.2 s + RTT to measure. The number of loss-based flows does not matter.
//!
//! # References
//! Ware, Mukerjee, Seshan, Sherry 2019, §4, eqs 9 to 11.

use super::{Answer, Entry, FlowAnswer};
use trammel_core::entry::About;

/// BBR's share in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "bbr-share",
        aliases: &["ware-2019"],
        summary: "BBRv1 beside Reno or CUBIC: the aggregate share of BBR",
        references: &[
            "Ware, Mukerjee, Seshan, Sherry 2019, Modeling BBR's Interactions with Loss-Based \
             Congestion Control",
        ],
        params: &[],
    },
    dialects: &[
        ("probe-rtt", "with the pauses of ProbeRTT (eq. 10)"),
        ("inflight-cap", "the inflight cap alone (eq. 9)"),
    ],
    validity: "synchronised bbr flows beside reno or cubic flows of equal RTT, a tail-drop queue \
               of 1 to 64 BDP, no random loss",
    predict: |question, dialect| {
        question.require_variants(&["bbr", "reno", "cubic"])?;
        question.forbid_loss()?;
        let rtt_s = question.require_equal_rtt()?;
        let is_bbr: Vec<bool> = (question.flows.iter())
            .map(|flow| flow.variant_name() == "bbr")
            .collect();
        let bbr_flows = is_bbr.iter().filter(|bbr| **bbr).count() as f64;
        let other_flows = is_bbr.len() as f64 - bbr_flows;
        if bbr_flows == 0.0 || other_flows == 0.0 {
            return Err("it needs flows of both kinds, bbr and loss-based".to_owned());
        }
        if question.marking_threshold_pkts.is_some() {
            return Err("it holds for a tail-drop queue".to_owned());
        }
        let queue_bdp = question.buffer_pkts / question.bdp_pkts(rtt_s);
        if !VALIDATED_BDP.contains(&queue_bdp) {
            return Err(format!(
                "the paper validates it for queues of 1 to 64 BDP; this one has {queue_bdp:.2}"
            ));
        }
        let loss_based = loss_based_share(queue_bdp, question.buffer_pkts, bbr_flows);
        let pause_s = question.buffer_pkts / question.capacity_pps() + 0.2 + rtt_s;
        let sending = match dialect {
            "inflight-cap" => 1.0,
            _ => 1.0 - pause_s / PROBE_RTT_INTERVAL_S,
        };
        if sending <= 0.0 {
            return Err(format!("BBR would pause {pause_s:.1} s of every 10 s"));
        }
        let share = (1.0 - loss_based) * sending;
        let flows = is_bbr.iter().map(|bbr| {
            let share = if *bbr {
                share / bbr_flows
            } else {
                (1.0 - share) / other_flows
            };
            FlowAnswer {
                goodput_bps: Some(question.goodput_bps(question.capacity_pps() * share)),
                share: Some(share),
                cwnd_pkts: None,
            }
        });
        Ok(Answer {
            flows: flows.collect(),
            queue_delay_s: None,
            details: vec![
                ("bbr_share_ratio", share),
                ("queue_bdp", queue_bdp),
                ("probe_rtt_pause_s", pause_s),
            ],
            notes: vec![
                "the model gives the share of each kind; flows of a kind are shown alike"
                    .to_owned(),
            ],
        })
    },
};

/// Queues of the paper's figures, 1 to 64 BDP, with room for rounding to whole packets.
const VALIDATED_BDP: std::ops::RangeInclusive<f64> = 0.95..=65.0;
/// BBR measures the minimum RTT anew after so long without a smaller one.
const PROBE_RTT_INTERVAL_S: f64 = 10.0;

/// The share of the loss-based flows by eq. 9, for a queue of `queue_bdp` BDP and `queue_pkts`
/// packets.
fn loss_based_share(queue_bdp: f64, queue_pkts: f64, bbr_flows: f64) -> f64 {
    (0.5 - 0.5 / queue_bdp - 4.0 * bbr_flows / queue_pkts).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Question;

    /// 10 Mbit/s and 40 ms, as in the paper's figure 8, with a queue of `bdp` bandwidth-delay
    /// products.
    fn paper(variants: &[&str], bdp: f64) -> Question {
        let mut question = Question {
            rate_bps: 10e6,
            wire_bytes: 1500.0,
            buffer_pkts: bdp * 100.0 / 3.0,
            ..Question::example(variants)
        };
        for flow in &mut question.flows {
            flow.rtt_s = 0.04;
        }
        question
    }

    fn bbr(question: &Question, dialect: &str) -> f64 {
        let answer = ENTRY.answer(question, dialect).unwrap();
        answer.flows[0].share.unwrap()
    }

    #[test]
    fn one_flow_takes_half_of_a_deep_queue() {
        // p = 1/2 - 1/64 - 4/1066.7 = 0.480625; the pause is 1.28 + 0.2 + 0.04 s of 10 s.
        let question = paper(&["bbr", "cubic"], 32.0);
        assert!((bbr(&question, "inflight-cap") - 0.519_375).abs() < 1e-9);
        assert!((bbr(&question, "probe-rtt") - 0.519_375 * 0.848).abs() < 1e-9);
    }

    #[test]
    fn the_number_of_loss_based_flows_does_not_matter() {
        let one = bbr(&paper(&["bbr", "cubic"], 16.0), "");
        let many = bbr(&paper(&["bbr", "cubic", "reno", "reno", "reno"], 16.0), "");
        assert_eq!(one, many);
    }

    #[test]
    fn many_flows_or_a_shallow_queue_leave_nothing() {
        let crowd = [["bbr"; 16].as_slice(), &["reno"]].concat();
        assert_eq!(bbr(&paper(&crowd, 2.0), "inflight-cap"), 1.0 / 16.0);
        assert!(ENTRY.answer(&paper(&["bbr", "cubic"], 0.5), "").is_err());
    }
}
