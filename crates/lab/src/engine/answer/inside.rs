//! Inside single runs: window, goodput, round trip and queue over time, for the first repeat of a few points.

use super::axis::values;
use crate::engine::points::{Outcome, PointTrace};
use crate::engine::trace_of::Samples;
use crate::report::figure::{Axis, Figure, Mark, Series};
use crate::report::{Block, Section};
use crate::scenario::File;
use trammel_core::label::Label;
use trammel_core::time::Time;
use trammel_netsim::trace::Sample;

/// Flows of one plot at most.
const MOST_FLOWS: usize = 8;
/// Instants of a goodput curve at most.
const GOODPUT_STEPS: usize = 100;

pub(super) fn sections(file: &File, outcome: &Outcome) -> Vec<Section> {
    let shown = crate::engine::points::shown_points(file);
    let all: Vec<usize> = (0..file.points[0].swept.len()).collect();
    let sections = shown.into_iter().enumerate().map(|(n, at)| {
        let traces: Vec<&PointTrace> = outcome
            .traces
            .iter()
            .filter(|trace| trace.at == at && trace.repeat == 0)
            .collect();
        let point = &file.points[at];
        let heading = match values(point, &all) {
            text if text.is_empty() => "Inside the run".to_owned(),
            text => format!("Inside one run: {text}"),
        };
        let text = format!(
            "The repeat with seed {}. The plots share their time axis: point at one and read all.",
            point.scenario.seed
        );
        Section {
            heading,
            text,
            blocks: figures(n + 1, &traces),
        }
    });
    sections
        .filter(|section| !section.blocks.is_empty())
        .collect()
}

/// A workload or a stream: its name, whose run it is of, and what it had delivered by an instant.
type Delivered<'a> = (&'a str, Label, &'a [(Time, u64)]);

/// Makes the points of a curve from samples.
type Curve<'a> = &'a dyn Fn(&[Sample]) -> Vec<(f64, f64)>;

fn figures(number: usize, traces: &[&PointTrace]) -> Vec<Block> {
    let flows: Vec<(&str, Label, &[Sample])> = traces
        .iter()
        .filter_map(|one| match &one.trace.samples {
            Samples::Flow(samples) if !samples.is_empty() => {
                Some((one.trace.entity.as_str(), one.label, samples.as_slice()))
            }
            _ => None,
        })
        .take(MOST_FLOWS)
        .collect();
    // A colour is a flow, whichever engine has it.
    let mut names: Vec<&str> = Vec::new();
    for (name, ..) in &flows {
        if !names.contains(name) {
            names.push(name);
        }
    }
    // Workloads and streams, by what they deliver.
    let others: Vec<Delivered<'_>> = traces
        .iter()
        .filter_map(|one| match &one.trace.samples {
            Samples::Delivered(all) if all.len() > 1 => {
                let name = one.trace.entity.trim_end_matches(":delivered");
                Some((name, one.label, all.as_slice()))
            }
            _ => None,
        })
        .take(MOST_FLOWS)
        .collect();
    let mut figures = Vec::new();
    let group = format!("run-{number}");
    let figure = |id: &str, title: &str, y: Axis| {
        let id = format!("{id}-{number}");
        Figure::new(&id, title, Axis::linear("time", "s"), y).grouped(&group)
    };
    let each = |mut figure: Figure, points: Curve<'_>, mark: Mark| {
        for (name, label, samples) in &flows {
            let colour = names.iter().position(|one| one == name);
            let series = Series::new(*name, mark, points(samples));
            figure = figure.with(series.labelled(*label).coloured(colour.unwrap_or_default()));
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
        let y = Axis::linear("cwnd", "packets");
        figures.push(each(figure("cwnd", "Congestion window", y), &window, Mark::Step).wide());
        let y = Axis::linear("goodput", "Mbit/s");
        let rates = each(figure("rate", "Goodput", y), &goodput, Mark::Line);
        figures.push(with_others(rates, &others, names.len()));
        let rtt = |samples: &[Sample]| {
            let known = samples.iter().filter(|s| s.srtt_us > 0);
            known
                .map(|s| (s.time.as_secs_f64(), f64::from(s.srtt_us) / 1e3))
                .collect()
        };
        let y = Axis::linear("smoothed round trip", "ms");
        figures.push(each(figure("rtt", "Round trip", y), &rtt, Mark::Line));
    }
    if flows.is_empty() && !others.is_empty() {
        let rates = figure("rate", "Goodput", Axis::linear("goodput", "Mbit/s"));
        figures.push(with_others(rates, &others, 0).wide());
    }
    let mut queues = figure("queue", "Queues", Axis::linear("queue", "packets"));
    for one in traces {
        if let Samples::Queue(samples) = &one.trace.samples
            && samples.iter().any(|(_, packets, _)| *packets > 0)
            && queues.series.len() < MOST_FLOWS
        {
            let points = samples
                .iter()
                .map(|(time, packets, _)| (time.as_secs_f64(), f64::from(*packets)));
            let series = Series::new(one.trace.entity.as_str(), Mark::Step, points.collect());
            queues = queues.with(series.labelled(one.label).coloured(6));
        }
    }
    if queues.series.len() > 1 {
        queues
            .series
            .iter_mut()
            .for_each(|series| series.colour = None);
    }
    if !queues.series.is_empty() {
        figures.push(queues);
    }
    figures.into_iter().map(Block::Figure).collect()
}

/// The goodput of workloads and streams, in the colours after those of `flows` flows.
fn with_others(mut figure: Figure, others: &[Delivered<'_>], flows: usize) -> Figure {
    for (n, (name, label, all)) in others.iter().enumerate() {
        let stride = all.len().div_ceil(GOODPUT_STEPS).max(1);
        let picked: Vec<&(Time, u64)> = all.iter().step_by(stride).collect();
        let pairs = picked.windows(2).filter_map(|pair| {
            let s = pair[1].0.saturating_sub(pair[0].0).as_secs_f64();
            let bytes = pair[1].1.checked_sub(pair[0].1)?;
            (s > 0.0).then(|| (pair[1].0.as_secs_f64(), bytes as f64 * 8e-6 / s))
        });
        let series = Series::new(*name, Mark::Line, pairs.collect());
        figure = figure.with(series.labelled(*label).coloured(flows + n));
    }
    figure
}

/// Payload acknowledged between samples, as a rate.
fn goodput(samples: &[Sample]) -> Vec<(f64, f64)> {
    let stride = samples.len().div_ceil(GOODPUT_STEPS).max(1);
    let picked: Vec<&Sample> = samples.iter().step_by(stride).collect();
    let pairs = picked.windows(2).filter_map(|pair| {
        let s = pair[1].time.saturating_sub(pair[0].time).as_secs_f64();
        let bytes = pair[1].bytes_acked.checked_sub(pair[0].bytes_acked)?;
        (s > 0.0).then(|| (pair[1].time.as_secs_f64(), bytes as f64 * 8e-6 / s))
    });
    pairs.collect()
}
