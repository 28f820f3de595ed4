//! How long the round trips of a run were: the share of them that were at most so long, a curve for
//! each flow and engine.

use crate::points::PointTrace;
use crate::trace_of::Samples;
use trammel_core::label::Label;
use trammel_report::figure::{Axis, Figure, Mark, Series};

/// Curves of the plot at most.
const MOST_CURVES: usize = 24;
/// Times that lie further apart than this are drawn by factors.
const FAR: f64 = 20.0;

/// The plot of alternative `tag`, if there are such curves; `named` gives a curve's name and its
/// colour where it is shown.
pub(super) fn distribution(
    tag: &str,
    group: &str,
    traces: &[&PointTrace],
    named: impl Fn(&PointTrace) -> Option<(String, usize)>,
) -> Option<Figure> {
    let curves = traces.iter().filter_map(|one| match &one.trace.samples {
        Samples::RoundTrips(counted) => {
            let (name, colour) = named(one)?;
            let series = Series::new(name, Mark::Step, curve(counted));
            Some(series.labelled(one.label).coloured(colour))
        }
        _ => None,
    });
    let series: Vec<Series> = curves.take(MOST_CURVES).collect();
    let times = series.iter().flat_map(|one| &one.points);
    let times: Vec<f64> = times.map(|(ms, _)| *ms).collect();
    let x = Axis::linear("round trip", "ms").by_factors_beyond(FAR, times.into_iter());
    let y = Axis::linear("share of the round trips", "%").with_range(0.0, 100.0);
    let id = format!("round-trips-{tag}");
    let mut figure = Figure::new(&id, "How long round trips were", x, y).listed_with(group);
    let is_kernel = |one: &Series| one.label.is_some_and(|label| label != Label::Simulated);
    let caption = if series.iter().any(is_kernel) {
        "The share that took at most so long; a kernel tells the smoothed round trip."
    } else {
        "The share that took at most so long."
    };
    figure.series = series;
    (!figure.series.is_empty()).then(|| figure.captioned(caption))
}

/// Per cent that were at most so many milliseconds.
fn curve(counted: &[(u64, u64)]) -> Vec<(f64, f64)> {
    let all = counted.last().map_or(1, |(_, n)| *n).max(1) as f64;
    // It rises from none: nothing is shorter than the shortest.
    let shortest = counted.first().map(|(us, _)| (*us as f64 / 1e3, 0.0));
    let points = counted.iter();
    let points = points.map(|(us, n)| (*us as f64 / 1e3, *n as f64 * 100.0 / all));
    shortest.into_iter().chain(points).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_goes_from_none_to_all() {
        let wanted = [(20.0, 0.0), (20.0, 25.0), (30.0, 100.0)];
        assert_eq!(curve(&[(20_000, 1), (30_000, 4)]), wanted);
    }
}
