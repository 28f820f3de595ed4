//! What a link that changes could have carried over time: its schedule, or the opportunities of its
//! trace.

use trammel_core::time::{Span, Time};
use trammel_report::figure::{GREY, Mark, Series};
use trammel_scenario::model::Scenario;
use trammel_scenario::path::{Line, Trace};

/// Levels of a trace's curve.
const BINS: u32 = 200;
/// Changes that are drawn at most.
const MOST_CHANGES: usize = 2000;

/// The rate over time of the one link of `scenario` that changes; nothing where none or several do.
pub(super) fn curve(scenario: &Scenario) -> Option<Series> {
    let changes = |line: &&Line| !line.schedule.is_empty() || line.trace.is_some();
    let mut changing = scenario.topology.lines().filter(changes);
    let line = changing.next()?;
    if changing.next().is_some() {
        return None;
    }
    let points = match &line.trace {
        Some(trace) => opportunities(trace, scenario.end()),
        None => schedule(line, scenario.end()),
    };
    Some(Series::new("link rate", Mark::Step, points).coloured(GREY))
}

fn mbps(bps: f64) -> f64 {
    bps / 1e6
}

fn schedule(line: &Line, end: Time) -> Vec<(f64, f64)> {
    let mut points = vec![(0.0, mbps(line.rate.as_bps() as f64))];
    let mut start = Span::ZERO;
    'periods: loop {
        for change in &line.schedule {
            let at = change.at + start;
            if at > end || points.len() > MOST_CHANGES {
                break 'periods;
            }
            points.push((at.as_secs_f64(), mbps(change.rate.as_bps() as f64)));
        }
        match line.schedule_period.filter(|period| *period > Span::ZERO) {
            Some(period) => start += period,
            None => break,
        }
    }
    let last = points.last().map_or(0.0, |(_, rate)| *rate);
    points.push((end.as_secs_f64(), last));
    points
}

fn opportunities(trace: &Trace, end: Time) -> Vec<(f64, f64)> {
    let all = &trace.opportunities_ms;
    let period = all.last().copied().unwrap_or(1).max(1) as f64;
    // Opportunities by an instant; the trace repeats.
    let by = |ms: f64| {
        let rest = ms % period;
        let within = all.partition_point(|at| *at as f64 <= rest);
        (ms / period).floor() * all.len() as f64 + within as f64
    };
    let step = end.as_secs_f64() * 1e3 / f64::from(BINS);
    let level = |bin: u32| {
        let from = f64::from(bin) * step;
        let bytes = (by(from + step) - by(from)) * Trace::BYTES as f64;
        (from / 1e3, mbps(bytes * 8e3 / step))
    };
    let mut points: Vec<(f64, f64)> = (0..BINS).map(level).collect();
    let last = points.last().map_or(0.0, |(_, rate)| *rate);
    points.push((end.as_secs_f64(), last));
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::units::Rate;

    #[test]
    fn a_schedule_starts_anew() {
        let mut line = Line::new(Rate::from_bps(80_000_000));
        line.schedule = [(0, 80), (10, 20)]
            .map(|(s, mbps)| trammel_scenario::path::Change {
                at: Time::from_secs(s),
                rate: Rate::from_bps(mbps * 1_000_000),
            })
            .to_vec();
        line.schedule_period = Some(Span::from_secs(20));
        let points = schedule(&line, Time::from_secs(25));
        assert_eq!(
            points[1..],
            [(0.0, 80.0), (10.0, 20.0), (20.0, 80.0), (25.0, 80.0)]
        );
    }

    #[test]
    fn a_trace_has_its_mean_rate() {
        let trace = Trace::parse("t", "2\n4\n").unwrap();
        let points = opportunities(&trace, Time::from_secs(8));
        let mean = points[..200].iter().map(|(_, rate)| rate).sum::<f64>() / 200.0;
        assert!((mean / 6.016 - 1.0).abs() < 0.01, "{mean}");
    }
}
