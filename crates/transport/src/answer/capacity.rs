//! What a path that changes could have been over time: the rate of its schedule, or the
//! opportunities of its trace; its unloaded round trip.

use std::collections::BTreeSet;
use trammel_core::schedule::Steps;
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::link::Conditions;
use trammel_report::figure::{GREY, Mark, Series};
use trammel_scenario::model::Scenario;
use trammel_scenario::path::{Direction, Line, Trace};
use trammel_scenario::topology::Topology;

/// Levels of a trace's curve.
const BINS: u32 = 200;
/// Changes that are drawn at most.
const MOST_CHANGES: usize = 2000;

/// The rate over time of the one link of `scenario` that changes; nothing where none or several do.
pub(super) fn curve(scenario: &Scenario) -> Option<Series> {
    let changes = |line: &&Line| line.changes_rate(Direction::Data) || line.trace.is_some();
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

/// The unloaded round trip over time of the path of `scenario`, ms; nothing where it does not
/// change.
pub(super) fn round_trip(scenario: &Scenario) -> Option<Series> {
    let Topology::Path(path) = &scenario.topology else {
        return None;
    };
    let (half, end) = (path.rtt / 2, scenario.end());
    let delays = |way: Direction| {
        let course = path.line.course(way, half, Span::ZERO, end);
        course.ok().and_then(|course| course.conditions)
    };
    let both = [delays(Direction::Data), delays(Direction::Ack)];
    let mut instants = BTreeSet::from([Time::ZERO]);
    for steps in both.iter().flatten() {
        instants.extend(steps.changes(end).take(MOST_CHANGES).map(|(_, at, _)| at));
    }
    let at = |time: Time| {
        let delay = |steps: &Option<Steps<Conditions>>| {
            steps.as_ref().map_or(half, |steps| steps.at(time).delay)
        };
        (
            time.as_secs_f64(),
            (delay(&both[0]) + delay(&both[1])).as_secs_f64() * 1e3,
        )
    };
    let mut points: Vec<(f64, f64)> = instants.into_iter().map(at).collect();
    if points.iter().all(|(_, ms)| *ms == points[0].1) {
        return None;
    }
    points.push((end.as_secs_f64(), points[points.len() - 1].1));
    Some(Series::new("unloaded", Mark::Step, points).coloured(GREY))
}

fn mbps(bps: f64) -> f64 {
    bps / 1e6
}

fn schedule(line: &Line, end: Time) -> Vec<(f64, f64)> {
    let course = line.course(Direction::Data, Span::ZERO, Span::ZERO, end);
    let Some(rates) = course.ok().and_then(|course| course.rate) else {
        return Vec::new();
    };
    let point = |at: Time, rate: Rate| (at.as_secs_f64(), mbps(rate.as_bps() as f64));
    let mut points = vec![point(Time::ZERO, rates.at(Time::ZERO))];
    let changes = rates.changes(end).take(MOST_CHANGES);
    points.extend(changes.map(|(_, at, rate)| point(at, rate)));
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

    #[test]
    fn a_schedule_starts_anew() {
        let mut line = Line::new(Rate::from_bps(80_000_000));
        line.schedule = [(0, 80), (10, 20)]
            .map(|(s, mbps)| {
                let rate = Rate::from_bps(mbps * 1_000_000);
                trammel_scenario::path::Change::of_rate(Time::from_secs(s), rate)
            })
            .to_vec();
        line.schedule_period = Some(Span::from_secs(20));
        let points = schedule(&line, Time::from_secs(25));
        assert_eq!(
            points[..],
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
