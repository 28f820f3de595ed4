//! Figures over time from the trace of an experiment: window, throughput, share.

use super::Paper;
use super::experiment::Done;
use super::spec::{Curve, Figure as Wanted};
use trammel_core::label::Label;
use trammel_netsim::trace::Sample;
use trammel_report::figure::{Axis, Figure, Mark, Series};
use trammel_transport::trace_of::Samples;

/// The figure `wanted`; nothing where its run was not made or not traced.
pub fn figure(paper: &Paper, done: &[Done], wanted: &Wanted) -> Option<Figure> {
    let one = done
        .iter()
        .find(|one| paper.spec.experiments[one.at].id == wanted.experiment)?;
    let ran = one.ran.as_ref()?;
    let traces = ran
        .outcome
        .traces
        .iter()
        .filter(|one| one.at == wanted.point && one.repeat == 0);
    let flows: Vec<(&str, &[Sample])> = traces
        .filter_map(|one| match &one.trace.samples {
            Samples::Flow(samples) => Some((one.trace.entity.as_str(), samples.as_slice())),
            Samples::Queue(_)
            | Samples::Completions(_)
            | Samples::Delivered(_)
            | Samples::RoundTrips(_) => None,
        })
        .collect();
    if flows.is_empty() {
        return None;
    }
    let time = Axis::linear("time", "s");
    let y = match wanted.curve {
        Curve::Cwnd => Axis::linear("congestion window", "packets"),
        Curve::Throughput => Axis::linear("throughput", "Mbit/s"),
        Curve::Share => Axis::linear("share of both", "").with_range(0.0, 1.0),
    };
    let mut figure = Figure::new(&wanted.id, &wanted.title, time, y).captioned(&wanted.text);
    figure.group = format!("{}-{}", wanted.experiment, wanted.point);
    for (n, (name, samples)) in flows.iter().enumerate() {
        let points = match wanted.curve {
            Curve::Cwnd => samples
                .iter()
                .map(|s| (s.time.as_secs_f64(), f64::from(s.cwnd)))
                .collect(),
            Curve::Throughput => throughput(samples),
            Curve::Share => share(samples, &flows),
        };
        let mark = if wanted.curve == Curve::Cwnd {
            Mark::Step
        } else {
            Mark::Line
        };
        figure.series.push(
            Series::new(*name, mark, points)
                .labelled(Label::Simulated)
                .coloured(n),
        );
    }
    if let Some(model) = &wanted.predicted {
        let end = flows[0]
            .1
            .last()
            .map_or(0.0, |sample| sample.time.as_secs_f64());
        for (n, (name, _)) in flows.iter().enumerate() {
            if let Some(share) = predicted(paper, done, model, wanted.point, name) {
                let points = vec![(0.0, share), (end, share)];
                let series = Series::new(*name, Mark::Line, points);
                figure
                    .series
                    .push(series.labelled(Label::Predicted).coloured(n));
            }
        }
    }
    Some(figure)
}

/// The share that the experiment `id` predicts for `flow` at `point`.
fn predicted(paper: &Paper, done: &[Done], id: &str, point: usize, flow: &str) -> Option<f64> {
    let one = done
        .iter()
        .find(|one| paper.spec.experiments[one.at].id == id)?;
    let model = paper.spec.experiments[one.at].model.as_deref()?;
    let ran = one.ran.as_ref()?;
    let name = &ran.file.points.get(point)?.id;
    let mut rows = ran
        .outcome
        .predictions
        .rows()
        .filter(|row| row.text("point") == name);
    rows.find(|row| row.text("model") == model && row.text("flow") == flow)?
        .float("share")
}

/// The length of the bins of rates, seconds: long against a round trip, short against a run.
const BIN_S: f64 = 1.0;

/// Bytes acknowledged in each bin.
fn bins(samples: &[Sample]) -> Vec<f64> {
    let end = samples
        .last()
        .map_or(0.0, |sample| sample.time.as_secs_f64());
    let (mut bins, mut at, mut before) = (Vec::new(), 0, 0);
    let mut limit = BIN_S;
    while limit <= end + 1e-9 {
        let mut acked = before;
        while at < samples.len() && samples[at].time.as_secs_f64() <= limit {
            acked = samples[at].bytes_acked;
            at += 1;
        }
        bins.push((acked - before) as f64);
        before = acked;
        limit += BIN_S;
    }
    bins
}

fn middles(values: impl Iterator<Item = f64>) -> Vec<(f64, f64)> {
    values
        .enumerate()
        .map(|(n, value)| ((n as f64 + 0.5) * BIN_S, value))
        .collect()
}

fn throughput(samples: &[Sample]) -> Vec<(f64, f64)> {
    middles(bins(samples).into_iter().map(|bytes| bytes * 8e-6 / BIN_S))
}

fn share(samples: &[Sample], flows: &[(&str, &[Sample])]) -> Vec<(f64, f64)> {
    let all: Vec<Vec<f64>> = flows.iter().map(|(_, samples)| bins(samples)).collect();
    let own = bins(samples).into_iter().enumerate();
    middles(own.map(|(n, bytes)| {
        let sum: f64 = all.iter().filter_map(|bins| bins.get(n)).sum();
        if sum > 0.0 { bytes / sum } else { f64::NAN }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::time::Time;

    #[expect(
        clippy::default_trait_access,
        reason = "the model's crate is not this one's"
    )]
    fn sample(ms: u64, bytes_acked: u64) -> Sample {
        Sample {
            time: Time::from_ms(ms),
            cwnd: 1,
            ssthresh: 1,
            srtt_us: 0,
            min_rtt_us: 0,
            in_flight: 0,
            state: 0,
            retransmissions: 0,
            bytes_acked,
            pacing_bytes_per_s: 0,
            delivery_bytes_per_s: 0,
            model: Default::default(),
        }
    }

    #[test]
    fn rates_are_of_whole_bins() {
        let samples = [
            sample(500, 100),
            sample(1000, 300),
            sample(1500, 300),
            sample(2000, 1_000_300),
        ];
        assert_eq!(throughput(&samples), [(0.5, 0.0024), (1.5, 8.0)]);
    }

    #[test]
    fn shares_of_a_bin_add_up_to_one() {
        let (one, two) = ([sample(1000, 300)], [sample(1000, 100)]);
        let flows: [(&str, &[Sample]); 2] = [("one", &one), ("two", &two)];
        assert_eq!(share(&one, &flows), [(0.5, 0.75)]);
        assert_eq!(share(&two, &flows), [(0.5, 0.25)]);
    }
}
