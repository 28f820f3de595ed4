//! Inside single runs: window, goodput, round trip and queue over time, for some repeats of some
//! points, one chosen among them.

use super::axis::value;
use super::capacity;
use super::shown::{Setting, settings, shown_repeats};
use super::words::list;
use super::{events, round_trips};
use crate::points::{PointTrace, TransportOutcome};
use crate::trace_of::Samples;
use std::collections::BTreeSet;
use trammel_core::label::Label;
use trammel_core::time::{Span, Time};
use trammel_netsim::trace::Sample;
use trammel_report::figure::{Axis, Figure, GREY, Mark, Scale, Series};
use trammel_report::{Block, Choice, Section};
use trammel_scenario::File;

/// Flows of one plot at most.
const MOST_FLOWS: usize = 8;
/// Curves of one plot at most, those of several engines together.
const MOST_CURVES: usize = 24;
/// Instants of a goodput curve at most.
const GOODPUT_STEPS: usize = 100;

pub(super) fn sections(file: &File, outcome: &TransportOutcome) -> Vec<Section> {
    let settings = settings(file);
    let repeats = shown_repeats(file);
    let options = settings.iter().enumerate().map(|(n, setting)| {
        let blocks = of_setting(file, outcome, n + 1, setting, repeats);
        (setting.name.clone(), blocks)
    });
    let mut options: Vec<(String, Vec<Block>)> = options.collect();
    options.retain(|(_, blocks)| !blocks.is_empty());
    let seeds: BTreeSet<u64> = settings
        .iter()
        .flat_map(|setting| &setting.points)
        .map(|at| file.points[*at].scenario.seed)
        .collect();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    let runs = match repeats {
        1 => "One run of each point, with seed".to_owned(),
        _ => format!("The first {repeats} runs of each point; the first one has seed"),
    };
    let text = format!(
        "{runs} {}. The plots share their time axis: point at one and read all; drag to zoom.",
        list(&seeds)
    );
    let blocks = match options.len() {
        0 => return Vec::new(),
        1 => options.remove(0).1,
        _ => vec![Block::Choice(Choice {
            name: "Point".to_owned(),
            options,
        })],
    };
    let heading = match file.points.len() {
        1 => "Inside the run",
        _ => "Inside single runs",
    };
    vec![Section {
        heading: heading.to_owned(),
        text,
        blocks,
    }]
}

/// The plots of one alternative, of which repeats are alternatives again where there are several.
fn of_setting(
    file: &File,
    outcome: &TransportOutcome,
    number: usize,
    setting: &Setting,
    repeats: u32,
) -> Vec<Block> {
    let of = |repeat: u32| {
        let tag = match repeat {
            0 => number.to_string(),
            _ => format!("{number}-{repeat}"),
        };
        let name = (repeat + 1).to_string();
        (name, figures(file, outcome, &tag, (setting, repeat)))
    };
    let mut options: Vec<(String, Vec<Block>)> = (0..repeats).map(of).collect();
    options.retain(|(_, blocks)| !blocks.is_empty());
    if options.len() < 2 {
        return options.pop().map(|(_, blocks)| blocks).unwrap_or_default();
    }
    vec![Block::Choice(Choice {
        name: "Repeat".to_owned(),
        options,
    })]
}

/// A workload or a stream: its name, whose run it is of, and what it had delivered by an instant.
type Delivered<'a> = (&'a str, Label, &'a [(Time, u64)]);

/// A flow: what its curve is called, whose run it is of, and its samples.
type FlowCurve<'a> = (String, Label, &'a [Sample]);

/// Makes the points of a curve from samples.
type Curve<'a> = &'a dyn Fn(&[Sample]) -> Vec<(f64, f64)>;

/// The plots of one repeat of an alternative. Points that differ in names only share them: a curve
/// is then called by its point's name.
fn figures(
    file: &File,
    outcome: &TransportOutcome,
    tag: &str,
    (setting, repeat): (&Setting, u32),
) -> Vec<Block> {
    let traces = setting.points.iter().flat_map(|at| {
        let of_point = move |one: &&PointTrace| one.at == *at && one.repeat == repeat;
        outcome.traces.iter().filter(of_point)
    });
    let traces: Vec<&PointTrace> = traces.collect();
    let called = |one: &PointTrace| {
        let values: Vec<String> = setting
            .names
            .iter()
            .map(|at| value(&file.points[one.at], *at))
            .collect();
        if values.is_empty() {
            one.trace.owner().to_owned()
        } else {
            values.join(", ")
        }
    };
    let flows: Vec<FlowCurve<'_>> = traces
        .iter()
        .filter_map(|one| match &one.trace.samples {
            Samples::Flow(samples) if !samples.is_empty() => {
                Some((called(one), one.label, samples.as_slice()))
            }
            _ => None,
        })
        .collect();
    // A colour is a flow, whichever engine has it.
    let (names, all) = shown_flows(&flows);
    let left_out = match names.len() {
        n if n < all => format!(
            "{n} of {all} flows are shown: the first, and those that got the most and the least. "
        ),
        _ => String::new(),
    };
    let flows = flows
        .iter()
        .filter(|(name, ..)| names.contains(&name.as_str()));
    let flows: Vec<_> = flows.take(MOST_CURVES).collect();
    // Workloads and streams, by what they deliver.
    let others: Vec<Delivered<'_>> = traces
        .iter()
        .filter(|_| setting.names.is_empty())
        .filter_map(|one| match &one.trace.samples {
            Samples::Delivered(all) if all.len() > 1 => {
                Some((one.trace.owner(), one.label, all.as_slice()))
            }
            _ => None,
        })
        .take(MOST_FLOWS)
        .collect();
    let unloaded = setting.points.first().and_then(|at| {
        let scenario = &file.points[*at].scenario;
        capacity::round_trip(scenario)
    });
    let link_rate = setting.points.first().and_then(|at| {
        let scenario = &file.points[*at].scenario;
        capacity::curve(scenario)
    });
    // The longest of the runs that share plots.
    let ends = setting
        .points
        .iter()
        .map(|at| file.points[*at].scenario.end());
    let end = ends.max().map(Time::as_secs_f64);
    let mut figures = Vec::new();
    let group = format!("run-{tag}");
    let figure = |id: &str, title: &str, y: Axis| {
        let id = format!("{id}-{tag}");
        let x = Axis::linear("time", "s");
        let x = end.map_or(x.clone(), |end| x.with_range(0.0, end));
        Figure::new(&id, title, x, y).grouped(&group)
    };
    let colour = |name: &str| {
        let place = names.iter().position(|known| *known == name);
        place.map(colour_of)
    };
    let each = |mut figure: Figure, points: Curve<'_>, mark: Mark| {
        for (name, label, samples) in flows.iter().copied() {
            let series = Series::new(name.as_str(), mark, points(samples));
            let colour = colour(name).unwrap_or_default();
            figure = figure.with(series.labelled(*label).coloured(colour));
        }
        figure
    };
    if !flows.is_empty() {
        let window = |samples: &[Sample]| {
            samples
                .iter()
                .map(|s| (s.time.as_secs_f64(), f64::from(s.cwnd)))
                .collect()
        };
        let y = Axis::linear("cwnd", "packets").from_zero();
        let windows = each(figure("cwnd", "Congestion window", y), &window, Mark::Step);
        let mut windows = with_peaks(windows);
        let mut is_crowded = false;
        for (name, label, samples) in flows.iter().copied() {
            if let Some(marks) = events::marks(name, samples) {
                let marks = marks.labelled(*label);
                windows = windows.with(marks.coloured(colour(name).unwrap_or_default()));
            }
            is_crowded |= events::is_crowded(samples);
        }
        windows.shapes = events::words(&windows.series);
        windows.caption.clone_from(&left_out);
        if is_crowded {
            windows.caption += "Losses of curves with very many are not marked.";
        }
        figures.push(windows.wide());
        let y = Axis::linear("goodput", "Mbit/s").from_zero();
        let mut rates = figure("rate", "Goodput", y);
        rates.series.extend(link_rate.clone());
        let rates = each(rates, &goodput, Mark::Line).captioned(&left_out);
        figures.push(with_others(rates, &others, names.len()));
        let rtt = |samples: &[Sample]| {
            let known = samples.iter().filter(|s| s.srtt_us > 0);
            known
                .map(|s| (s.time.as_secs_f64(), f64::from(s.srtt_us) / 1e3))
                .collect()
        };
        let y = Axis::linear("smoothed round trip", "ms");
        let mut round_trips = figure("rtt", "Round trip", y);
        round_trips.series.extend(unloaded);
        figures.push(each(round_trips, &rtt, Mark::Line).captioned(&left_out));
    }
    if flows.is_empty() && !others.is_empty() {
        let y = Axis::linear("goodput", "Mbit/s").from_zero();
        let mut rates = figure("rate", "Goodput", y);
        rates.series.extend(link_rate);
        figures.push(with_others(rates, &others, 0).wide());
    }
    let mut queues = figure(
        "queue",
        "Queues",
        Axis::linear("queue", "packets").from_zero(),
    );
    for one in &traces {
        if let Samples::Queue(samples) = &one.trace.samples
            && samples.iter().any(|(_, packets, _)| *packets > 0)
            && queues.series.len() < MOST_CURVES
        {
            let points = samples
                .iter()
                .map(|(time, packets, _)| (time.as_secs_f64(), f64::from(*packets)));
            let name = called(one);
            let mut series = Series::new(name.as_str(), Mark::Step, points.collect());
            series.colour = colour(&name);
            queues = queues.with(series.labelled(one.label));
        }
    }
    if let [only] = &mut queues.series[..] {
        only.colour = only.colour.or(Some(GREY));
    }
    if !queues.series.is_empty() {
        figures.push(queues);
    }
    let round_trips = round_trips::distribution(tag, &group, &traces, |one| {
        let name = called(one);
        let colour = colour(&name)?;
        Some((name, colour))
    });
    figures.extend(round_trips.map(|figure| {
        let caption = left_out + &figure.caption;
        figure.captioned(&caption)
    }));
    figures.into_iter().map(Block::Figure).collect()
}

/// The names of the flows that are shown, in their order, and how many there are: the first ones,
/// and of more than fit those that got the most and the least, of which answers speak.
fn shown_flows<'a>(flows: &'a [FlowCurve<'_>]) -> (Vec<&'a str>, usize) {
    let got = |samples: &[Sample]| samples.last().map_or(0, |sample| sample.bytes_acked);
    let mut all: Vec<(&str, u64)> = Vec::new();
    for (name, _, samples) in flows {
        // Of several engines the first one decides.
        if all.iter().all(|(known, _)| known != name) {
            all.push((name, got(samples)));
        }
    }
    let names = |all: &[(&'a str, u64)]| all.iter().map(|(name, _)| *name).collect();
    if all.len() <= MOST_FLOWS {
        return (names(&all), all.len());
    }
    let bytes = |at: &usize| all[*at].1;
    let both = [
        (0..all.len()).max_by_key(bytes),
        (0..all.len()).min_by_key(bytes),
    ];
    let mut kept: BTreeSet<usize> = both.into_iter().flatten().collect();
    // One less than there are colours: the last is that of the link.
    let first = (0..all.len()).filter(|at| !both.contains(&Some(*at)));
    kept.extend(first.take(MOST_FLOWS - 1 - kept.len()));
    let shown: Vec<(&str, u64)> = kept.into_iter().map(|at| all[at]).collect();
    (names(&shown), all.len())
}

/// The colour of the flow in place `n`: the grey of what is of no flow comes last.
fn colour_of(n: usize) -> usize {
    match n {
        GREY => MOST_FLOWS - 1,
        n if n == MOST_FLOWS - 1 => GREY,
        n => n,
    }
}

/// The figure with its y axis by factors, where a peak would press all else to the ground: slow
/// start over a long path.
fn with_peaks(mut figure: Figure) -> Figure {
    const FAR: f64 = 20.0;
    let points = figure.series.iter().flat_map(|one| &one.points);
    let mut values: Vec<f64> = points.map(|(_, y)| *y).filter(|y| *y > 0.0).collect();
    values.sort_by(f64::total_cmp);
    let middle = values.get(values.len() / 2).copied();
    if let Some((middle, most)) = middle.zip(values.last())
        && *most > FAR * middle
    {
        figure.y.scale = Scale::Log;
    }
    figure
}

/// The goodput of workloads and streams, in the colours after those of `flows` flows.
fn with_others(mut figure: Figure, others: &[Delivered<'_>], flows: usize) -> Figure {
    for (n, (name, label, all)) in others.iter().enumerate() {
        let stride = all.len().div_ceil(GOODPUT_STEPS).max(1);
        let picked: Vec<&(Time, u64)> = all.iter().step_by(stride).collect();
        let pairs = picked.windows(2).filter_map(|pair| {
            let s = pair[1].0.saturating_since(pair[0].0).as_secs_f64();
            let bytes = pair[1].1.checked_sub(pair[0].1)?;
            (s > 0.0).then(|| (pair[1].0.as_secs_f64(), bytes as f64 * 8e-6 / s))
        });
        let series = Series::new(*name, Mark::Line, pairs.collect());
        figure = figure.with(series.labelled(*label).coloured(flows + n));
    }
    figure
}

/// Payload acknowledged between samples at least a bin apart, as a rate.
fn goodput(samples: &[Sample]) -> Vec<(f64, f64)> {
    let (Some(first), Some(last)) = (samples.first(), samples.last()) else {
        return Vec::new();
    };
    let bin = last.time.saturating_since(first.time) / GOODPUT_STEPS as u64;
    let mut before = first;
    let mut points = Vec::new();
    for sample in &samples[1..] {
        let passed = sample.time.saturating_since(before.time);
        if passed < bin || passed == Span::ZERO {
            continue;
        }
        if let Some(bytes) = sample.bytes_acked.checked_sub(before.bytes_acked) {
            let rate = bytes as f64 * 8e-6 / passed.as_secs_f64();
            points.push((sample.time.as_secs_f64(), rate));
        }
        before = sample;
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(bytes_acked: u64) -> [Sample; 1] {
        let sample = Sample {
            bytes_acked,
            ..Sample::default()
        };
        [sample]
    }

    #[test]
    fn of_many_flows_the_first_and_both_ends_are_shown() {
        let samples: Vec<[Sample; 1]> = (0..30)
            .map(|flow| match flow {
                13 => samples(900),
                22 => samples(1),
                flow => samples(100 + flow),
            })
            .collect();
        let flow = |(n, samples): (usize, &'static [Sample; 1])| {
            (format!("f{n}"), Label::Simulated, &samples[..])
        };
        let samples: &'static [[Sample; 1]] = samples.leak();
        let flows: Vec<FlowCurve<'_>> = samples.iter().enumerate().map(flow).collect();
        let (names, all) = shown_flows(&flows);
        assert_eq!(names, ["f0", "f1", "f2", "f3", "f4", "f13", "f22"]);
        assert_eq!(all, 30);
        assert!((0..names.len()).all(|n| colour_of(n) != GREY), "the link's");
        let (names, all) = shown_flows(&flows[..8]);
        assert_eq!((names.len(), all), (8, 8));
        let colours: BTreeSet<usize> = (0..8).map(colour_of).collect();
        assert_eq!(colours.len(), 8);
    }
}
