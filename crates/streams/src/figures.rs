//! The figures of a decode: bit rate, delay, jitter and loss over time, as D-ITG's four, and the
//! distribution of delay.

use super::kinds::Kind;
use super::metrics;
use trammel_core::label::Label;
use trammel_report::figure::{Axis, Figure, Mark, Scale, Series};
use trammel_traffic::decode::{FlowReport, IntervalReport, Report, TotalReport};
use trammel_traffic::record::Instants;

/// Flows that have a curve of their own: as many as there are colours, less the one of all
/// together.
pub(crate) const MOST_DRAWN: usize = 7;

/// What is left free above the highest point.
const ROOM: f64 = 1.05;

/// The flows whose records hold these instants, those of the most bytes first.
pub fn by_bytes(report: &Report, instants: Instants) -> Vec<&FlowReport> {
    let is_of = |flow: &&FlowReport| {
        let session = report.sessions.get(flow.session);
        session.is_some_and(|session| session.instants == instants)
    };
    let mut flows: Vec<&FlowReport> = report.flows.iter().filter(is_of).collect();
    // The sort is stable: flows of equal bytes stay in their order.
    flows.sort_by_key(|flow| std::cmp::Reverse(flow.summary.bytes));
    flows
}

/// A flow's name: with its session where there are several.
pub(crate) fn flow_name(report: &Report, flow: &FlowReport) -> String {
    let [name, ..] = metrics::describe(report, flow);
    let number = match report.sessions.len() {
        0 | 1 => flow.number.to_string(),
        _ => format!("{}.{}", flow.session, flow.number),
    };
    format!("{number} {name}").trim_end().to_owned()
}

/// A curve's name, its intervals and its distribution.
struct Curve<'a> {
    name: String,
    series: &'a [IntervalReport],
    cdf: &'a [(i64, f64)],
    colour: usize,
}

/// The figures of flows of one kind.
pub fn figures(
    report: &Report,
    total: &TotalReport,
    flows: &[&FlowReport],
    kind: &Kind,
) -> Vec<Figure> {
    let mut curves = Vec::new();
    if total.flows > 1 {
        curves.push(Curve {
            name: format!("all {} flows", total.flows),
            series: &total.series,
            cdf: &total.summary.delay_cdf,
            colour: 0,
        });
    }
    for (flow, colour) in flows.iter().take(MOST_DRAWN).zip(1..) {
        curves.push(Curve {
            name: format!("flow {}", flow_name(report, flow)),
            series: &flow.series,
            cdf: &flow.summary.delay_cdf,
            colour,
        });
    }
    let starts = report
        .totals
        .iter()
        .filter_map(|total| total.series.first());
    let origin_ns = starts.map(|one| one.start_ns).min().unwrap_or(0);
    let (key, word) = (kind.key, kind.delay);
    let (divisor, unit) = scale(
        curves
            .iter()
            .flat_map(|curve| curve.series)
            .flat_map(|one| {
                [one.delay_mean_ns, one.jitter_mean_ns]
                    .into_iter()
                    .flatten()
            }),
    );
    let figure = |id: &str, title: &str, y: Axis, of: &dyn Fn(&IntervalReport) -> Option<f64>| {
        let empty = Figure::new(
            &format!("{id}-{key}"),
            title,
            Axis::linear("time since the first packet", "s"),
            y,
        );
        curves.iter().fold(empty.grouped(key), |figure, curve| {
            let points = points(curve.series, origin_ns, report.interval_ns, of);
            figure.with(drawn(&curve.name, points, curve.colour))
        })
    };
    let lost = curves.iter().flat_map(|curve| curve.series);
    let most_lost = lost.map(|one| one.lost_pkts).max().unwrap_or(0) as f64;
    let mut title = word.to_owned();
    title[..1].make_ascii_uppercase();
    let mut all = vec![
        figure(
            "rate",
            "Bit rate",
            Axis::linear("payload", "Mbit/s").from_zero(),
            &|one| Some(one.bit_rate_bps / 1e6),
        ),
        figure("delay", &title, Axis::linear(word, unit), &|one| {
            one.delay_mean_ns.map(|ns| ns / divisor)
        })
        .captioned("The mean of each interval."),
        figure("jitter", "Jitter", Axis::linear("jitter", unit), &|one| {
            one.jitter_mean_ns.map(|ns| ns / divisor)
        })
        .captioned("The mean difference between delays of successive packets, in each interval."),
        figure(
            "loss",
            "Loss",
            Axis::linear("packets lost", "").with_range(0.0, most_lost.max(1.0) * ROOM),
            &|one| Some(one.lost_pkts as f64),
        )
        .captioned("Packets of each interval: that in which the gap was seen."),
    ];
    all.push(distribution(&curves, key, &title, word));
    all
}

/// A divisor of nanoseconds and its unit that suit the greatest of `values`.
fn scale(values: impl Iterator<Item = f64>) -> (f64, &'static str) {
    match values.map(f64::abs).fold(0.0, f64::max) {
        1e9.. => (1e9, "s"),
        1e6.. => (1e6, "ms"),
        _ => (1e3, "µs"),
    }
}

fn drawn(name: &str, points: Vec<(f64, f64)>, colour: usize) -> Series {
    Series::new(name, Mark::Step, points)
        .labelled(Label::Measured)
        .coloured(colour)
}

/// A level for each interval. Where intervals are left out nothing was there: what is counted is 0
/// then, and of what is a mean there is none.
fn points(
    series: &[IntervalReport],
    origin_ns: i64,
    interval_ns: u64,
    of: &dyn Fn(&IntervalReport) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let since = |ns: i64| (i128::from(ns) - i128::from(origin_ns)) as f64 / 1e9;
    let interval = i64::try_from(interval_ns).unwrap_or(i64::MAX);
    let nothing = IntervalReport {
        start_ns: 0,
        pkts: 0,
        bytes: 0,
        bit_rate_bps: 0.0,
        packet_rate_pps: 0.0,
        delay_mean_ns: None,
        jitter_mean_ns: None,
        lost_pkts: 0,
    };
    let mut points = Vec::with_capacity(series.len() + 1);
    for (at, one) in series.iter().enumerate() {
        points.push((since(one.start_ns), of(one).unwrap_or(f64::NAN)));
        let end = one.start_ns.saturating_add(interval);
        match series.get(at + 1) {
            Some(next) if next.start_ns > end => {
                points.push((since(end), of(&nothing).unwrap_or(f64::NAN)));
            }
            Some(_) => {}
            // The last level holds to its end.
            None => points.push((since(end), of(one).unwrap_or(f64::NAN))),
        }
    }
    points
}

/// The distribution of delay: logarithmic where nothing is below 0 and the greatest is far from the
/// median. What is 0 has no place on such an axis; the curve begins at its share.
fn distribution(curves: &[Curve<'_>], key: &str, title: &str, word: &str) -> Figure {
    const FAR: f64 = 30.0;
    let all = || curves.iter().flat_map(|curve| curve.cdf).map(|(ns, _)| *ns);
    let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
    let medians = curves.iter().filter_map(|curve| median(curve.cdf));
    let middle = medians.map(|ns| ns as f64).fold(0.0, f64::max);
    let (divisor, unit) = scale(std::iter::once(middle));
    let is_far = least >= 0 && middle > 0.0 && most as f64 > FAR * middle;
    let x = Axis {
        scale: if is_far { Scale::Log } else { Scale::Linear },
        ..Axis::linear(word, unit)
    };
    let empty = Figure::new(
        &format!("distribution-{key}"),
        &format!("Distribution: {}", title.to_lowercase()),
        x,
        Axis::linear("share of packets", "%").with_range(0.0, 100.0),
    );
    let figure = curves.iter().fold(empty, |figure, curve| {
        let points = curve.cdf.iter();
        let points = points.map(|(ns, share)| (*ns as f64 / divisor, *share * 100.0));
        figure.with(drawn(&curve.name, points.collect(), curve.colour))
    });
    figure.captioned("The share of packets with at most this delay.")
}

/// The value that half do not exceed.
fn median(cdf: &[(i64, f64)]) -> Option<i64> {
    cdf.iter()
        .find(|(_, share)| *share >= 0.5)
        .map(|(ns, _)| *ns)
}
