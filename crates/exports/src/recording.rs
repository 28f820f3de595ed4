//! A run of flows over time, from the tables of a run folder.
//!
//! Samples of flows have times of their own. What was acknowledged by then only grows, so what came
//! in an interval is the difference of its values at both ends, on straight lines between samples.
//! A flow's last sample comes before its end, where what was delivered in all is known: the sum
//! over all intervals is that.

use trammel_stats::table::{Cell, Row, Table};

/// Bytes of a segment where nothing else is known: an MTU of 1500 bytes with timestamps.
pub(crate) const MSS_BYTES: u32 = 1448;

/// The seconds since 1970 of an instant as `run.json` has it, `2026-11-29 10:24:37 UTC`.
pub fn seconds(text: &str) -> Option<i64> {
    let mut numbers = text
        .trim_end_matches(" UTC")
        .split(['-', ' ', ':'])
        .map(str::parse::<i64>);
    let mut next = || numbers.next()?.ok();
    let (year, month, day) = (next()?, next()?, next()?);
    let (hour, minute, second) = (next()?, next()?, next()?);
    // Days of years from March on, as in Hinnant's days from civil.
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
    Some(days * 86_400 + hour * 3600 + minute * 60 + second)
}

/// What a row of a trace says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Seconds from the start of the run.
    pub time_s: f64,
    /// Acknowledged by then.
    pub acked_bytes: f64,
    /// Segments.
    pub cwnd_pkts: f64,
    /// The smoothed round trip, µs; none before the first.
    pub srtt_us: Option<f64>,
    /// Retransmitted by then.
    pub retransmissions: f64,
}

/// A flow with its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Its name.
    pub name: String,
    /// Its congestion control.
    pub variant: String,
    /// When it starts and how long it lasts, seconds.
    pub start_s: f64,
    /// See `start_s`.
    pub active_s: f64,
    /// Delivered to the receiver, over the time in which it was active.
    pub goodput_mbps: f64,
    /// The same in bytes.
    pub delivered_bytes: f64,
    /// Packets that were sent, and those that were sent again.
    pub sent_pkts: f64,
    /// See `sent_pkts`.
    pub retransmissions: f64,
    /// Least and mean round trip, µs, where they are known.
    pub rtt_us: [Option<f64>; 2],
    /// The largest window.
    pub cwnd_max_pkts: f64,
    /// In the order of time.
    pub samples: Vec<Sample>,
}

/// What of a flow is known in an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    /// Seconds from the start of the run.
    pub(crate) start_s: f64,
    /// See `start_s`.
    pub(crate) end_s: f64,
    /// Acknowledged in it.
    pub(crate) bytes: f64,
    /// Retransmitted in it.
    pub(crate) retransmissions: f64,
    /// At its end.
    pub(crate) cwnd_pkts: f64,
    /// At its end.
    pub(crate) srtt_us: Option<f64>,
}

impl Interval {
    /// What was acknowledged a second.
    pub(crate) fn mbps(&self) -> f64 {
        self.bytes * 8.0 / (self.end_s - self.start_s) / 1e6
    }
}

/// One run of flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// What it is called.
    pub title: String,
    /// Of which program, such as `trammel 0.2.0`.
    pub by: String,
    /// Which engine made it: `simulated`, `measured`, …
    pub label: String,
    /// The point, and the seed.
    pub point: String,
    /// See `point`.
    pub seed: u64,
    /// When it was made, in seconds since 1970.
    pub made_s: i64,
    /// How long it is, and how long its intervals are, seconds.
    pub duration_s: f64,
    /// See `duration_s`.
    pub step_s: f64,
    /// The flows.
    pub flows: Vec<Recorded>,
}

/// A row of `flows` and the flow's trace as a recorded flow.
///
/// # Errors
/// Which column there is not.
pub fn flow(row: Row<'_>, trace: &Table) -> Result<Recorded, String> {
    let of = |name: &str| row.get(name).and_then(Cell::float);
    let need = |name: &str| of(name).ok_or_else(|| format!("its `flows` have no `{name}`"));
    let samples = trace.rows().filter_map(|row| {
        let of = |name: &str| row.get(name).and_then(Cell::float);
        Some(Sample {
            time_s: of("time_s")?,
            acked_bytes: of("acked_bytes")?,
            cwnd_pkts: of("cwnd_pkts")?,
            srtt_us: of("srtt_us"),
            retransmissions: of("retransmissions_pkts").unwrap_or(0.0),
        })
    });
    Ok(Recorded {
        name: row.text("flow").to_owned(),
        variant: row.text("variant").to_owned(),
        start_s: need("start_s")?,
        active_s: need("active_s")?,
        goodput_mbps: need("goodput_mbps")?,
        delivered_bytes: need("delivered_bytes")?,
        sent_pkts: of("sent_pkts").unwrap_or(0.0),
        retransmissions: of("retransmissions_pkts").unwrap_or(0.0),
        rtt_us: [of("rtt_min_us"), of("rtt_mean_us")],
        cwnd_max_pkts: of("cwnd_max_pkts").unwrap_or(0.0),
        samples: samples.collect(),
    })
}

/// Where intervals of `step_s` end in `duration_s`. A rest of less than a thousandth of one is
/// rounding.
pub(crate) fn ends(step_s: f64, duration_s: f64) -> Vec<f64> {
    let steps = (duration_s / step_s - 1e-3).ceil().max(0.0) as usize;
    let all = (1..=steps).map(|at| (at as f64 * step_s, at == steps));
    let all = all.map(|(end_s, is_last)| if is_last { duration_s } else { end_s });
    all.collect()
}

impl Recorded {
    /// The intervals of `step_s` in `duration_s`; the last one is what is left.
    pub(crate) fn intervals(&self, step_s: f64, duration_s: f64) -> Vec<Interval> {
        let samples = self.closed();
        let ends = ends(step_s, duration_s);
        let all = ends.iter().enumerate().map(|(at, &end_s)| {
            let start_s = at.checked_sub(1).map_or(0.0, |before| ends[before]);
            let [before, after] = [start_s, end_s].map(|time_s| self.at(&samples, time_s));
            Interval {
                start_s,
                end_s,
                bytes: after.acked_bytes - before.acked_bytes,
                retransmissions: after.retransmissions - before.retransmissions,
                cwnd_pkts: after.cwnd_pkts,
                srtt_us: after.srtt_us,
            }
        });
        all.collect()
    }

    /// The samples up to the flow's end, and what is known of that.
    fn closed(&self) -> Vec<Sample> {
        let end_s = self.start_s + self.active_s;
        let mut samples = self.samples.clone();
        // Without a sample nothing says when it came.
        if let Some(last) = samples.last().copied() {
            samples.push(Sample {
                time_s: end_s.max(last.time_s),
                acked_bytes: self.delivered_bytes.max(last.acked_bytes),
                retransmissions: self.retransmissions.max(last.retransmissions),
                ..last
            });
        }
        samples
    }

    /// What was so at `time_s`: counts on the straight line between samples, the rest as the sample
    /// before says.
    fn at(&self, samples: &[Sample], time_s: f64) -> Sample {
        let nothing = Sample {
            time_s: self.start_s,
            acked_bytes: 0.0,
            cwnd_pkts: 0.0,
            srtt_us: None,
            retransmissions: 0.0,
        };
        let next = samples.partition_point(|one| one.time_s <= time_s);
        let before = match next {
            0 => nothing,
            next => samples[next - 1],
        };
        let Some(after) = samples.get(next) else {
            return before;
        };
        if time_s <= before.time_s {
            return before;
        }
        let share = (time_s - before.time_s) / (after.time_s - before.time_s);
        let between = |from: f64, to: f64| from + (to - from) * share;
        Sample {
            time_s,
            acked_bytes: between(before.acked_bytes, after.acked_bytes),
            // Counted one by one.
            retransmissions: between(before.retransmissions, after.retransmissions).floor(),
            ..before
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn recorded() -> Recording {
        let sample = |time_s: f64, acked_bytes: f64| Sample {
            time_s,
            acked_bytes,
            cwnd_pkts: 10.0,
            srtt_us: Some(40_000.0),
            retransmissions: 0.0,
        };
        let flow = |name: &str, times: f64| Recorded {
            name: name.to_owned(),
            variant: "reno".to_owned(),
            start_s: 0.5,
            active_s: 1.5,
            goodput_mbps: 1.6 * times,
            delivered_bytes: 300_000.0 * times,
            sent_pkts: 210.0,
            retransmissions: 3.0,
            rtt_us: [Some(30_000.0), Some(40_000.0)],
            cwnd_max_pkts: 12.0,
            samples: [(1.0, 100_000.0), (1.5, 200_000.0), (2.0, 300_000.0)]
                .map(|(at, bytes)| sample(at, bytes * times))
                .to_vec(),
        };
        Recording {
            title: "two flows".to_owned(),
            by: "trammel 0.2.0".to_owned(),
            label: "simulated".to_owned(),
            point: "base".to_owned(),
            seed: 1,
            made_s: 1_795_947_877,
            duration_s: 2.0,
            step_s: 0.25,
            flows: vec![flow("a", 1.0), flow("b", 2.0)],
        }
    }

    #[test]
    fn instants_are_those_of_the_calendar() {
        assert_eq!(seconds("2026-11-29 10:24:37 UTC"), Some(1_795_947_877));
        assert_eq!(seconds("2000-02-29 00:00:00 UTC"), Some(951_782_400));
        assert_eq!(seconds("yesterday"), None);
    }

    #[test]
    fn what_came_in_all_intervals_is_what_came() {
        let recording = recorded();
        let flow = &recording.flows[0];
        let intervals = flow.intervals(0.25, 2.0);
        assert_eq!(intervals.len(), 8);
        let bytes: f64 = intervals.iter().map(|one| one.bytes).sum();
        assert!((bytes - 300_000.0).abs() < 1e-6, "{bytes}");
        assert_eq!(intervals[0].bytes, 0.0, "it starts after half a second");
        assert!((intervals[5].mbps() - 1.6).abs() < 1e-9);
        assert_eq!(
            (intervals[0].srtt_us, intervals[7].srtt_us),
            (None, Some(40_000.0))
        );
    }

    #[test]
    fn what_came_after_the_last_sample_is_in_the_last_interval() {
        let mut flow = recorded().flows.remove(0);
        flow.samples.pop();
        flow.delivered_bytes = 299_000.0;
        // Intervals of 0.3 s: the seventh is of 0.2 s.
        let intervals = flow.intervals(0.3, 2.0);
        assert_eq!(intervals.len(), 7);
        let last = intervals[6];
        assert!((last.start_s - 1.8).abs() < 1e-9 && last.end_s == 2.0);
        // 99,000 bytes in 0.5 s.
        assert!((last.bytes - 39_600.0).abs() < 1e-6, "{}", last.bytes);
        assert!((last.mbps() - 1.584).abs() < 1e-9, "{}", last.mbps());
        let bytes: f64 = intervals.iter().map(|one| one.bytes).sum();
        assert!((bytes - 299_000.0).abs() < 1e-6, "{bytes}");
        let again: f64 = intervals.iter().map(|one| one.retransmissions).sum();
        assert_eq!(again, 3.0);
    }
}
