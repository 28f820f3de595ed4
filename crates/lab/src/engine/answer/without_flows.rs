//! The answer of a scenario that names no flow: what its workloads or its streams fare.

use super::axis::name;
use super::lead::{placed, simulated, use_of, with_interval};
use super::numbers::{Number, Numbers, micros, percent, three};
use crate::report::Answer;
use crate::scenario::sweep::Point;

pub(super) fn of_point(numbers: &Numbers, point: &Point) -> Option<Answer> {
    of_workload(numbers, point).or_else(|| of_stream(numbers, point))
}

/// The slowdown of the first measured workload at both ends of the axis `at`.
pub(super) fn of_sweep(numbers: &Numbers, points: &[&Point], at: usize) -> Option<Answer> {
    let (first, last) = (points.first()?, points.last()?);
    let (workload, from) = slowdown(numbers, first)?;
    let (_, to) = slowdown(numbers, last)?;
    let (axis, _) = name(first, at);
    Some(simulated(
        format!("{} → {}", times(from.mean), times(to.mean)),
        format!(
            "99 of 100 flows of `{workload}` take at most {} as long as on an empty network at a {axis} of {} and \
             {} at {}.",
            with_interval(from, times),
            placed(first, at),
            with_interval(to, times),
            placed(last, at)
        ),
    ))
}

fn times(slowdown: f64) -> String {
    format!("{} times", three(slowdown))
}

/// The first workload that is measured, and how slow the slowest hundredth of its flows are.
fn slowdown<'a>(numbers: &Numbers, point: &'a Point) -> Option<(&'a str, Number)> {
    let mut workloads = point.scenario.workloads.iter();
    workloads.find_map(|workload| {
        let slowdown = numbers.get(&point.id, &workload.name, "slowdown_p99")?;
        Some((workload.name.as_str(), slowdown))
    })
}

/// The slowest hundredth of the flows of the first workload that is measured; of cross traffic and bursts,
/// which complete nothing, how they fill the bottleneck.
fn of_workload(numbers: &Numbers, point: &Point) -> Option<Answer> {
    let workloads = &point.scenario.workloads;
    let used = use_of(numbers, point);
    let of_link = used.map_or(String::new(), |used| {
        format!("; the bottleneck is used to {}", percent(used.mean))
    });
    let Some((name, slowdown)) = slowdown(numbers, point) else {
        let (first, used) = (workloads.first()?, used?);
        return Some(simulated(
            percent(used.mean),
            format!(
                "`{}` uses the bottleneck to {}.",
                first.name,
                with_interval(used, percent)
            ),
        ));
    };
    let median = numbers.get(&point.id, name, "slowdown_p50");
    let median = median.map_or(String::new(), |median| {
        format!(", the median {}", times(median.mean))
    });
    Some(simulated(
        times(slowdown.mean),
        format!(
            "Of 100 flows of `{name}`, 99 take at most {} as long as on an empty network{median}{of_link}.",
            with_interval(slowdown, times)
        ),
    ))
}

fn of_stream(numbers: &Numbers, point: &Point) -> Option<Answer> {
    let stream = &point.scenario.streams.first()?.name;
    let loss = numbers.get(&point.id, stream, "loss")?;
    let delay = numbers.get(&point.id, stream, "delay_p95")?;
    let (number, unit) = micros(delay.mean);
    Some(simulated(
        percent(loss.mean),
        format!(
            "`{stream}` loses {} of its datagrams; 95 % of the others take less than {number} {unit}.",
            percent(loss.mean)
        ),
    ))
}
