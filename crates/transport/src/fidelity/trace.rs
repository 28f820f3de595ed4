//! A trace: what a sender knew at each stamp. The same for the kernel's and for ours, so that one
//! function measures both.
//!
//! Means are taken over the stamps, which lie at equal distances, from a first stamp on.

use std::collections::BTreeMap;

/// The sender at one stamp.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stamp {
    /// When, seconds since the run began.
    pub time_s: f64,
    /// Congestion window, segments.
    pub cwnd_pkts: f64,
    /// Smoothed round trip, ms.
    pub srtt_ms: f64,
    /// Segments retransmitted so far.
    pub retrans_pkts: f64,
    /// Payload bytes acknowledged so far.
    pub acked_bytes: f64,
}

/// What a whole trace comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Payload acknowledged over the time since the first stamp, Mbit/s.
    pub goodput_mbps: f64,
    /// Segments retransmitted.
    pub retrans_pkts: f64,
    /// Mean smoothed round trip less the path's own, ms.
    pub queue_ms: f64,
    /// Mean congestion window, segments.
    pub cwnd_pkts: f64,
}

/// Sums up `stamps`, with means from `from_s` on; nothing of fewer than two stamps.
pub(crate) fn summarise(stamps: &[Stamp], from_s: f64, rtt_ms: f64) -> Option<Summary> {
    let (first, last) = (stamps.first()?, stamps.last()?);
    let late = || stamps.iter().filter(|stamp| stamp.time_s >= from_s);
    let count = late().count() as f64;
    let span_s = last.time_s - first.time_s;
    (count > 0.0 && span_s > 0.0).then(|| Summary {
        goodput_mbps: last.acked_bytes * 8e-6 / span_s,
        retrans_pkts: last.retrans_pkts,
        queue_ms: late().map(|stamp| stamp.srtt_ms).sum::<f64>() / count - rtt_ms,
        cwnd_pkts: late().map(|stamp| stamp.cwnd_pkts).sum::<f64>() / count,
    })
}

/// Root mean square of `ours − theirs` over the stamps from `from_s` on, as a share of their mean;
/// `ours` gives the window at a stamp's time, and where it has none the stamp is passed over.
pub(crate) fn cwnd_rms(
    theirs: &[Stamp],
    ours: impl Fn(&Stamp) -> Option<f64>,
    from_s: f64,
) -> Option<f64> {
    let (mut squares, mut sum, mut count) = (0.0, 0.0, 0.0);
    for stamp in theirs.iter().filter(|stamp| stamp.time_s >= from_s) {
        if let Some(ours) = ours(stamp) {
            squares += (ours - stamp.cwnd_pkts).powi(2);
            sum += stamp.cwnd_pkts;
            count += 1.0;
        }
    }
    (sum > 0.0).then(|| (squares / count).sqrt() / (sum / count))
}

/// The window of `trace` at the time of another's stamp: both lie on one grid, to some
/// microseconds.
pub(crate) fn cwnd_at(trace: &[Stamp]) -> impl Fn(&Stamp) -> Option<f64> {
    let key = |stamp: &Stamp| (stamp.time_s * 1e3).round() as u64;
    let windows: BTreeMap<u64, f64> = trace
        .iter()
        .map(|stamp| (key(stamp), stamp.cwnd_pkts))
        .collect();
    move |stamp| windows.get(&key(stamp)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamps(cwnd: &[f64]) -> Vec<Stamp> {
        let stamp = |(second, &cwnd_pkts): (usize, &f64)| Stamp {
            time_s: 5.0 + second as f64,
            cwnd_pkts,
            srtt_ms: 50.0 + second as f64,
            retrans_pkts: second as f64,
            acked_bytes: 1e6 * second as f64,
        };
        cwnd.iter().enumerate().map(stamp).collect()
    }

    #[test]
    fn goodput_counts_from_the_first_stamp_and_means_from_the_given_one() {
        let summary = summarise(&stamps(&[10.0, 20.0, 30.0]), 6.0, 50.0).unwrap();
        assert_eq!(summary.goodput_mbps, 8.0);
        assert_eq!(summary.retrans_pkts, 2.0);
        assert_eq!(summary.queue_ms, 1.5);
        assert_eq!(summary.cwnd_pkts, 25.0);
    }

    #[test]
    fn too_little_to_sum_up_is_nothing() {
        assert_eq!(summarise(&stamps(&[10.0]), 0.0, 50.0), None);
        assert_eq!(summarise(&stamps(&[10.0, 20.0]), 9.0, 50.0), None);
        assert_eq!(cwnd_rms(&stamps(&[10.0]), |_| Some(10.0), 9.0), None);
    }

    #[test]
    fn a_constant_offset_is_its_own_rms() {
        let theirs = stamps(&[999.0, 90.0, 110.0]);
        let ours = stamps(&[0.0, 100.0, 120.0]);
        let rms = cwnd_rms(&theirs, cwnd_at(&ours), 6.0).unwrap();
        assert!((rms - 0.1).abs() < 1e-12, "10 packets of 100 on average");
        assert_eq!(cwnd_rms(&theirs, cwnd_at(&theirs), 5.0), Some(0.0));
    }

    #[test]
    fn windows_are_compared_at_the_same_times() {
        let theirs = stamps(&[10.0, 20.0, 30.0]);
        // The other began a stamp later, and its clock is a microsecond behind.
        let mut later = theirs[1..].to_vec();
        for stamp in &mut later {
            stamp.time_s += 1e-6;
        }
        assert_eq!(cwnd_rms(&theirs, cwnd_at(&later), 0.0), Some(0.0));
    }
}
