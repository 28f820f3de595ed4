//! Vegas at rest: each flow keeps between alpha and beta packets in the queue.
//!
//! # What it does
//! A flow at rest has q packets queued, alpha ≤ q ≤ beta. The queue of Σq packets drains at the
//! link's rate C, so every flow waits D = Σq / C, gets q / D whatever its round trip, and holds the
//! window rate × (RTT + D). `midpoint` takes q in the middle of the range, the other dialects its
//! ends.
//!
//! The true base round trip is taken as known. A flow that starts into a standing queue never sees
//! it, takes the queue for distance and gets more than this. Linux multiplies the queue that it
//! sees by RTT/baseRTT and so keeps fewer packets where the queue is long beside the path.
//!
//! # References
//! Brakmo, Peterson 1995; Mo, La, Anantharam, Walrand 1999, §III.

use super::{Answer, Entry, FlowAnswer, FlowQuestion};
use trammel_core::entry::About;

/// The equilibrium of Vegas in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "vegas-equilibrium",
        aliases: &[],
        summary: "Vegas flows alone: alpha to beta packets queued each",
        references: &[
            "Brakmo, Peterson 1995, TCP Vegas: End to End Congestion Avoidance on a Global \
             Internet",
            "Mo, La, Anantharam, Walrand 1999, Analysis and Comparison of TCP Reno and Vegas",
        ],
        params: &[],
    },
    dialects: &[
        ("midpoint", "(alpha + beta) / 2 packets queued by each flow"),
        (
            "alpha",
            "alpha packets queued by each flow: the shortest queue",
        ),
        (
            "beta",
            "beta packets queued by each flow: the longest queue",
        ),
    ],
    validity: "vegas flows alone on a link whose queue holds beta packets of each, without random \
               loss",
    predict: |question, dialect| {
        question.require_variants(&["vegas"])?;
        question.forbid_loss()?;
        let ranges: Vec<_> = question.flows.iter().map(range).collect();
        if ranges
            .iter()
            .any(|(alpha, beta)| alpha > beta || *beta <= 0.0)
        {
            return Err("it needs 0 <= alpha <= beta and beta > 0".to_owned());
        }
        let longest: f64 = ranges.iter().map(|(_, beta)| beta).sum();
        if longest > question.buffer_pkts {
            return Err(format!(
                "the flows want up to {longest} packets queued and the queue holds {}: losses \
                 decide",
                question.buffer_pkts
            ));
        }
        let queued = |(alpha, beta): &(f64, f64)| match dialect {
            "alpha" => *alpha,
            "beta" => *beta,
            _ => f64::midpoint(*alpha, *beta),
        };
        let queued: Vec<f64> = ranges.iter().map(queued).collect();
        let queue: f64 = queued.iter().sum();
        if queue == 0.0 {
            return Err("with nothing queued the shares are not determined".to_owned());
        }
        let delay_s = queue / question.capacity_pps();
        let mut flows = Vec::new();
        for (flow, queued) in question.flows.iter().zip(queued) {
            let pps = queued / delay_s;
            let window = pps * flow.rtt_s + queued;
            if window > flow.max_window_pkts {
                return Err("the window limit binds before the queue builds".to_owned());
            }
            if window < 2.0 {
                return Err(format!(
                    "a window of {window:.2} packets is below Vegas's two"
                ));
            }
            flows.push(FlowAnswer {
                goodput_bps: Some(question.goodput_bps(pps)),
                share: Some(queued / queue),
                cwnd_pkts: Some(window),
            });
        }
        let shortest: f64 = ranges.iter().map(|(alpha, _)| alpha).sum();
        Ok(Answer {
            flows,
            queue_delay_s: Some(delay_s),
            details: vec![("queue_min_pkts", shortest), ("queue_max_pkts", longest)],
            notes: Vec::new(),
        })
    },
};

/// Linux's alpha and beta where the flow's variant does not say.
fn range(flow: &FlowQuestion) -> (f64, f64) {
    let or = |name, default| flow.param(name).unwrap_or(default);
    (or("alpha", 2.0), or("beta", 4.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Question;

    #[test]
    fn two_flows_keep_six_packets_and_halve_the_link() {
        let mut question = Question::example(&["vegas", "vegas"]);
        question.flows[1].rtt_s = 0.01;
        let answer = ENTRY.answer(&question, "").unwrap();
        let delay = 6.0 / question.capacity_pps();
        assert!((answer.queue_delay_s.unwrap() / delay - 1.0).abs() < 1e-12);
        assert_eq!(answer.flows[0].share, Some(0.5));
        assert_eq!(answer.flows[1].share, Some(0.5));
        let windows: Vec<_> = answer.flows.iter().map(|f| f.cwnd_pkts.unwrap()).collect();
        let half = question.capacity_pps() / 2.0;
        assert!((windows[0] - (half * 0.1 + 3.0)).abs() < 1e-6);
        assert!((windows[1] - (half * 0.01 + 3.0)).abs() < 1e-6);
    }

    #[test]
    fn the_whole_link_is_used() {
        let question = Question::example(&["vegas", "vegas", "vegas"]);
        for (dialect, _) in ENTRY.dialects {
            let answer = ENTRY.answer(&question, dialect).unwrap();
            let total: f64 = answer.flows.iter().map(|f| f.goodput_bps.unwrap()).sum();
            let link = question.goodput_bps(question.capacity_pps());
            assert!((total / link - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn refuses_a_queue_that_is_too_short() {
        let question = Question {
            buffer_pkts: 7.0,
            ..Question::example(&["vegas", "vegas"])
        };
        let reason = ENTRY.answer(&question, "").unwrap_err();
        assert!(reason.ends_with("losses decide"), "{reason}");
    }
}
