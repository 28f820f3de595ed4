//! The null model: the link's capacity in max-min fair shares.
//!
//! # What it does
//! Every flow gets an equal part of the link; a flow that its window limit holds below that leaves
//! the rest to the others. It knows nothing of congestion control, queues or timeouts: what another
//! model adds is its difference from this one.
//!
//! # References
//! Bertsekas, Gallager 1992, Data Networks, §6.5 for max-min fairness.

use super::{Answer, Entry, FlowAnswer};
use trammel_core::entry::About;

/// The null model in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "capacity",
        aliases: &["null"],
        summary: "null model: the link shared equally, whatever the variants",
        references: &["Bertsekas, Gallager 1992, Data Networks, §6.5"],
        params: &[],
    },
    dialects: &[],
    validity: "an upper bound for the sum of any flows; the shares are an assumption",
    predict: |question, _| {
        let limits: Vec<f64> = (question.flows.iter())
            .map(|flow| flow.max_window_pkts / flow.rtt_s)
            .collect();
        let rates = max_min(question.capacity_pps(), &limits);
        let total: f64 = rates.iter().sum();
        let flows = rates.iter().map(|pps| FlowAnswer {
            goodput_bps: Some(question.goodput_bps(*pps)),
            share: Some(pps / total),
            cwnd_pkts: None,
        });
        Ok(Answer {
            flows: flows.collect(),
            notes: vec!["null model: it knows nothing of congestion control".to_owned()],
            ..Answer::default()
        })
    },
};

/// Max-min fair rates under `capacity`, none above its limit.
fn max_min(capacity: f64, limits: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..limits.len()).collect();
    order.sort_by(|a, b| limits[*a].total_cmp(&limits[*b]));
    let mut rates = vec![0.0; limits.len()];
    let mut left = capacity;
    for (served, flow) in order.iter().enumerate() {
        let fair = left / (limits.len() - served) as f64;
        rates[*flow] = limits[*flow].min(fair);
        left -= rates[*flow];
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Question;

    #[test]
    fn equal_shares_of_the_goodput_ceiling() {
        let question = Question::example(&["reno", "cubic"]);
        let answer = ENTRY.answer(&question, "").unwrap();
        let half = 1e9 * 1448.0 / 1514.0 / 2.0;
        for flow in answer.flows {
            assert!((flow.goodput_bps.unwrap() / half - 1.0).abs() < 1e-12);
            assert_eq!(flow.share, Some(0.5));
        }
    }

    #[test]
    fn what_a_limited_flow_leaves_goes_to_the_others() {
        assert_eq!(max_min(12.0, &[2.0, 100.0, 100.0]), [2.0, 5.0, 5.0]);
        assert_eq!(max_min(12.0, &[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
    }
}
