//! DCTCP's saw-tooth: N synchronised flows over a queue that marks above K packets.
//!
//! # What it does
//! The windows grow until N W* = C·RTT + K and one round trip later the marks arrive, so the queue
//! peaks at K + N. One round in each saw-tooth is marked; its fraction α solves α² (1 - α/4) =
//! (2W*+1) / (W*+1)², about √(2/W*). A cut takes α/2 of W*+1: the queue swings by N (W*+1) α/2,
//! about √(2N (C·RTT + K)) / 2 packets. Where it would swing below empty, the deficit of the
//! straight saw-tooth is taken from the throughput.
//!
//! # References
//! Alizadeh et al. 2010, §3.3, eqs 4 to 10; Alizadeh, Javanmard, Prabhakar 2011 for the loss of
//! throughput.

use super::{Answer, Entry, FlowAnswer};
use trammel_core::entry::About;

/// DCTCP's steady state in the table of models.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "dctcp-steady-state",
        aliases: &["alizadeh-2010"],
        summary: "DCTCP flows alone: marked fraction, queue oscillation, throughput",
        references: &[
            "Alizadeh, Greenberg, Maltz, Padhye, et al. 2010, Data Center TCP (DCTCP), §3.3",
            "Alizadeh, Javanmard, Prabhakar 2011, Analysis of DCTCP: Stability, Convergence, and \
             Fairness",
        ],
        params: &[],
    },
    dialects: &[],
    validity: "synchronised dctcp flows of equal round-trip time over a queue that marks at a \
               threshold",
    predict: |question, _| {
        question.require_variants(&["dctcp"])?;
        question.forbid_loss()?;
        let rtt_s = question.require_equal_rtt()?;
        let Some(threshold) = question.marking_threshold_pkts else {
            return Err("it needs a queue that marks at a threshold".to_owned());
        };
        let flows = question.flows.len() as f64;
        let saw = Sawtooth::new(question.bdp_pkts(rtt_s), threshold, flows)?;
        if saw.queue_max > question.buffer_pkts {
            return Err(format!(
                "the queue would reach {:.0} packets and holds {}: losses decide",
                saw.queue_max, question.buffer_pkts
            ));
        }
        if question
            .flows
            .iter()
            .any(|flow| flow.max_window_pkts < saw.window + 1.0)
        {
            return Err("the window limit binds before the queue marks".to_owned());
        }
        let pps = question.capacity_pps() * saw.utilisation / flows;
        let flow = FlowAnswer {
            goodput_bps: Some(question.goodput_bps(pps)),
            share: Some(1.0 / flows),
            cwnd_pkts: Some(saw.window + 1.0 - saw.amplitude / flows / 2.0),
        };
        let mut notes = Vec::new();
        if saw.queue_min < 0.0 {
            notes.push(format!(
                "the queue runs empty: a threshold above {:.1} packets would prevent it",
                question.bdp_pkts(rtt_s) / 7.0
            ));
        }
        Ok(Answer {
            flows: vec![flow; question.flows.len()],
            queue_delay_s: Some(saw.mean_queue / question.capacity_pps()),
            details: vec![
                ("alpha_ratio", saw.alpha),
                ("queue_max_pkts", saw.queue_max),
                ("queue_min_pkts", saw.queue_min.max(0.0)),
                ("queue_amplitude_pkts", saw.amplitude),
                ("period_rtts", saw.amplitude / flows),
            ],
            notes,
        })
    },
};

/// The saw-tooth of the queue.
#[derive(Clone, Copy, Debug)]
struct Sawtooth {
    /// Window of a flow when the queue reaches the threshold, packets.
    window: f64,
    /// Marked fraction.
    alpha: f64,
    /// Swing of the queue, packets.
    amplitude: f64,
    queue_max: f64,
    /// Negative where the link idles.
    queue_min: f64,
    mean_queue: f64,
    utilisation: f64,
}

impl Sawtooth {
    fn new(bdp: f64, threshold: f64, flows: f64) -> Result<Sawtooth, String> {
        let window = (bdp + threshold) / flows;
        if window < 2.0 {
            return Err(format!(
                "{window:.2} packets in flight for each flow: below the smallest window of two"
            ));
        }
        let alpha = marked_fraction(window);
        let amplitude = flows * (window + 1.0) * alpha / 2.0;
        let queue_max = threshold + flows;
        let queue_min = queue_max - amplitude;
        let deficit = (-queue_min).max(0.0);
        // The part of the saw-tooth below an empty queue is a triangle; the link's share of a round
        // is in/BDP.
        let utilisation = 1.0 - deficit * deficit / (2.0 * amplitude * bdp);
        let above = amplitude - deficit;
        Ok(Sawtooth {
            window,
            alpha,
            amplitude,
            queue_max,
            queue_min,
            mean_queue: f64::midpoint(queue_max, queue_min.max(0.0)) * above / amplitude,
            utilisation: utilisation.max(0.0),
        })
    }
}

/// The root of α² (1 - α/4) = (2w+1) / (w+1)² in [0, 1] (eq. 6).
fn marked_fraction(window: f64) -> f64 {
    let wanted = (2.0 * window + 1.0) / ((window + 1.0) * (window + 1.0));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if middle * middle * (1.0 - middle / 4.0) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Question;

    /// The paper's case: 10 Gbit/s, 100 µs, 1500 B, K = 40.
    fn paper(flows: usize) -> Question {
        let mut question = Question {
            rate_bps: 10e9,
            wire_bytes: 1500.0,
            marking_threshold_pkts: Some(40.0),
            ..Question::example(&vec!["dctcp"; flows])
        };
        for flow in &mut question.flows {
            flow.rtt_s = 100e-6;
        }
        question
    }

    fn detail(answer: &Answer, name: &str) -> f64 {
        answer
            .details
            .iter()
            .find(|(key, _)| *key == name)
            .unwrap()
            .1
    }

    #[test]
    fn follows_the_papers_approximations() {
        for flows in [2, 10, 40] {
            let answer = ENTRY.answer(&paper(flows), "").unwrap();
            let in_flight = 83.333 + 40.0;
            let amplitude = 0.5 * (2.0 * flows as f64 * in_flight).sqrt();
            assert_eq!(detail(&answer, "queue_max_pkts"), 40.0 + flows as f64);
            let ours = detail(&answer, "queue_amplitude_pkts");
            // √(2/W*) drops terms that matter at a window of three packets.
            let bound = if flows == 40 { 0.35 } else { 0.1 };
            assert!(
                (ours / amplitude - 1.0).abs() < bound,
                "{flows}: {ours} {amplitude}"
            );
        }
    }

    #[test]
    fn two_flows_keep_the_link_full_above_a_seventh_of_the_pipe() {
        let full = paper(2).goodput_bps(paper(2).capacity_pps() / 2.0);
        let answer = ENTRY.answer(&paper(2), "").unwrap();
        assert!((answer.flows[0].goodput_bps.unwrap() / full - 1.0).abs() < 1e-12);
        assert!(answer.notes.is_empty());
        let shallow = Question {
            marking_threshold_pkts: Some(0.0),
            ..paper(2)
        };
        let answer = ENTRY.answer(&shallow, "").unwrap();
        let share = answer.flows[0].goodput_bps.unwrap() / full;
        // Alizadeh et al. 2011: at least 94 % whatever the threshold.
        assert!((0.94..1.0).contains(&share), "{share}");
        assert_eq!(answer.notes.len(), 1);
    }

    #[test]
    fn needs_a_threshold() {
        let question = Question::example(&["dctcp"]);
        assert!(
            ENTRY
                .answer(&question, "")
                .unwrap_err()
                .contains("threshold")
        );
    }
}
