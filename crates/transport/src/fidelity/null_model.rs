//! The null model that skill is measured against: the link is full, shared equally, and nothing is
//! lost.
//!
//! ```text
//! goodput = ceiling · Σ (time with n flows / n) / time     queue = half the FIFO
//! retransmissions = 0                                       window = (BDP + half the FIFO) / flows
//! ```
//!
//! Goodput is what the targets name (link ceiling for one flow, equal share for competing ones);
//! the other three complete it, so that every error stands beside one of a model that knows no TCP.

use super::setting::Path;
use super::trace::Summary;

/// What the null model says of flow `flow`, active over `spans_s[flow]` among flows of `spans_s`.
pub fn predict(path: &Path, spans_s: &[(f64, f64)], flow: usize) -> Summary {
    let (start, end) = spans_s[flow];
    // Flows come at different times and leave together, so the instants of arrival cut the time.
    let mut cuts: Vec<f64> = spans_s
        .iter()
        .map(|span| span.0.clamp(start, end))
        .collect();
    cuts.extend([start, end]);
    cuts.sort_by(f64::total_cmp);
    let share_of = |from: f64, to: f64| {
        let middle = f64::midpoint(from, to);
        let active = spans_s
            .iter()
            .filter(|span| (span.0..span.1).contains(&middle));
        (to - from) / active.count().max(1) as f64
    };
    let share = cuts
        .windows(2)
        .map(|cut| share_of(cut[0], cut[1]))
        .sum::<f64>()
        / (end - start);
    let half_fifo = path.buffer_pkts as f64 / 2.0;
    Summary {
        goodput_mbps: path.ceiling_mbps() * share,
        retrans_pkts: 0.0,
        queue_ms: path.full_queue_ms() / 2.0,
        cwnd_pkts: (path.bdp_pkts() + half_fifo) * share,
    }
}

#[cfg(test)]
mod tests {
    use super::super::setting::PLAIN;
    use super::*;

    #[test]
    fn one_flow_has_the_link() {
        let null = predict(&PLAIN, &[(0.05, 30.05)], 0);
        assert_eq!(null.goodput_mbps, PLAIN.ceiling_mbps());
        assert!((null.queue_ms - 25.25).abs() < 0.05);
    }

    #[test]
    fn the_first_of_two_flows_has_the_link_until_the_second_comes() {
        let spans = [(0.0, 100.0), (20.0, 100.0)];
        let first = predict(&PLAIN, &spans, 0).goodput_mbps / PLAIN.ceiling_mbps();
        let second = predict(&PLAIN, &spans, 1).goodput_mbps / PLAIN.ceiling_mbps();
        assert!((first - 0.6).abs() < 1e-12 && (second - 0.5).abs() < 1e-12);
    }
}
