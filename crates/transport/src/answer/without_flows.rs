//! What workloads and streams fare: short flows by their slowdown, datagrams by loss and delay.

use super::axis::Shape;
use super::finding::{Finding, Metric, Used};
use super::numbers::Numbers;
use super::words::{Kind, condition, percent};
use super::{along, rank};
use trammel_scenario::File;
use trammel_scenario::sweep::Point;

/// The slowdown of the slowest hundredth of the flows of the first workload that completes any.
pub(super) fn of_workload(file: &File, numbers: &Numbers, shape: &Shape) -> Option<Finding> {
    let metric = Metric::SLOWDOWN;
    let point = file.points.iter().find(|point| numbers.has(&point.id))?;
    let workload = metric.entity(numbers, point)?;
    if let Shape::Sweep(sweep) = shape
        && let (Some(at), true) = (sweep.axis, sweep.others.is_empty())
    {
        let mut points: Vec<&Point> = file
            .points
            .iter()
            .filter(|point| numbers.has(&point.id))
            .collect();
        points.sort_by(|a, b| {
            let number = |point: &Point| point.swept[at].number.unwrap_or_default();
            number(a).total_cmp(&number(b))
        });
        let (first, last) = (*points.first()?, *points.last()?);
        let ((from, a), (to, b)) = (metric.at(numbers, first)?, metric.at(numbers, last)?);
        let (low, high) = (from.mean.min(to.mean), from.mean.max(to.mean));
        let (number, unclear) = if from.differs_from(to) {
            let arrow = format!("{} → {}", metric.kind.mean(from), metric.kind.mean(to));
            (arrow, "")
        } else {
            (metric.kind.range(low, high), " (no clear difference)")
        };
        return Some(
            Finding::new(
                number,
                format!(
                    "99 % of the flows of `{workload}` take at most {} as long as on an empty \
                     network {}, {} {}{unclear}.",
                    metric.kind.with_interval(from),
                    condition(first, at),
                    metric.kind.with_interval(to),
                    condition(last, at)
                ),
            )
            .resting_on([a, b]),
        );
    }
    if let Shape::Sweep(_) = shape {
        return rank::find(file, numbers, &[metric])
            .or_else(|| along::find(file, numbers, shape, metric));
    }
    let (slowdown, used) = metric.at(numbers, point)?;
    let median = numbers.get(&point.id, &workload, "slowdown_p50");
    let median = median.map_or(String::new(), |median| {
        format!(", half of them at most {}", metric.kind.mean(median))
    });
    Some(
        Finding::new(
            metric.kind.mean(slowdown),
            format!(
                "99 % of the flows of `{workload}` take at most {} as long as on an empty \
                 network{median}.",
                metric.kind.with_interval(slowdown)
            ),
        )
        .resting_on([used]),
    )
}

/// What a workload that completes nothing, or nobody, gets through: its goodput and the use of the
/// bottleneck.
pub(super) fn used(numbers: &Numbers, file: &File) -> Option<Finding> {
    let [point] = &file.points[..] else {
        return None;
    };
    let workload = &point.scenario.workloads.first()?.name;
    let goodput = numbers.steady(&point.id, workload, "goodput")?;
    let used = numbers.of_bottleneck(&point.id, "utilisation");
    let of_link = used.map_or(String::new(), |used| {
        format!("; the bottleneck is {} used", Kind::Percent.mean(used))
    });
    Some(
        Finding::new(
            Kind::Rate.mean(goodput),
            format!(
                "`{workload}` gets {} of goodput{of_link}.",
                Kind::Rate.with_interval(goodput)
            ),
        )
        .resting_on([Used::new(point, workload, "goodput")]),
    )
}

/// Loss and delay of the first stream of a file of one point.
pub(super) fn of_stream(file: &File, numbers: &Numbers) -> Option<Finding> {
    let [point] = &file.points[..] else {
        return None;
    };
    let stream = &point.scenario.streams.first()?.name;
    let loss = numbers.get(&point.id, stream, "loss")?;
    let delay = numbers.get(&point.id, stream, "delay_p95")?;
    Some(
        Finding::new(
            percent(loss.mean),
            format!(
                "`{stream}` loses {} of its datagrams; 95 % of the others take less than {}.",
                percent(loss.mean),
                Kind::Micros.mean(delay)
            ),
        )
        .resting_on([Used::new(point, stream, "loss")]),
    )
}
