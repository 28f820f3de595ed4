//! What a simulated device forwards at most, and what it does at shares of that.
//!
//! An overload tells about where the maximum is: a device that is offered too much forwards about what it can. Then a
//! binary search looks there, and elsewhere only if it is not there. A loss that rings and queues hide for the
//! length of a trial is not seen: with rings of 1,024 frames and trials of 100,000 about 1 %.

use super::device::Device;
use crate::forwarding::estimate::Error;
use crate::scenario::forwarding::{Bench, Test};
use trammel_bench::search::binary::{Binary, Found, Judgement, Tried, Verdict};
use trammel_bench::trial::{Load, Outcome, Trial};
use trammel_core::time::Time;

/// How far above the estimate the first trial goes.
const OVERLOAD: f64 = 1.5;
/// Around what an overload lets through, where the maximum is looked for first.
const AROUND: (f64, f64) = (0.97, 1.02);
/// The least share of that below which nothing is looked for.
const LEAST: f64 = 0.01;

/// A trial that was made.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// What it was made for.
    pub(super) test: Test,
    /// Its load as a share of the throughput, where it was set so.
    pub(super) share: Option<f64>,
    /// Frames a second that were to be offered.
    pub(super) intended: f64,
    /// What became of it.
    pub(super) outcome: Outcome,
    /// Whether it lost nothing.
    pub(super) passed: bool,
}

/// What was found.
#[derive(Clone, Debug)]
pub(super) struct Sought {
    /// The most that was forwarded without loss, frames a second.
    pub(super) pps: f64,
    /// What limits it: `cpu` or `link`.
    pub(super) bound_by: &'static str,
    /// Cycles that the core worked on a frame at that load.
    pub(super) cycles: f64,
    /// Every trial.
    pub(super) trials: Vec<Row>,
}

/// Seeks. `about` is what the processor is estimated to do and `line` what the links carry, frames a second.
pub(super) fn seek(
    device: &mut Device,
    bench: &Bench,
    about: f64,
    line: f64,
) -> Result<Sought, Error> {
    let mut trials = Vec::new();
    let length = |pps: f64| Time::from_secs_f64(bench.frames as f64 / pps);
    let first = (OVERLOAD * about).min(line);
    let outcome = offer(device, first, length(first))?;
    let carried = outcome.forwarding_rate().max(first * LEAST);
    let is_enough = outcome.lost() == 0;
    trials.push(Row {
        test: Test::Throughput,
        share: None,
        intended: first,
        passed: is_enough,
        outcome,
    });
    let pps = if is_enough {
        first
    } else {
        let around = (carried * AROUND.0, (carried * AROUND.1).min(first));
        let mut found = search(device, bench, around, length(carried), &mut trials)?;
        if found.verdict == Verdict::FailedAtLeast {
            let below = (carried * LEAST, around.0);
            found = search(device, bench, below, length(carried), &mut trials)?;
        }
        found.lower.ok_or_else(|| {
            Error::Other(format!(
                "the simulated device loses frames even at {:.0} frames/s: a queue or ring of its own is too small for any load",
                carried * LEAST
            ))
        })?
    };
    // Once more, since the last trial of a search is seldom the one that decided.
    offer(device, pps, length(pps))?;
    let cycles = device.last().map_or(0.0, |report| {
        let frames: u64 = report.ports.iter().map(|(_, counts)| counts.received).sum();
        report.busy().as_secs_f64() * device.hz() / frames.max(1) as f64
    });
    for (test, shares) in [
        (Test::Latency, &bench.latency_at),
        (Test::FrameLoss, &bench.loss_at),
    ] {
        let shares = shares.iter().filter(|_| bench.tests.contains(&test));
        for share in shares.copied() {
            let intended = (pps * share).min(line);
            let outcome = offer(device, intended, length(intended))?;
            trials.push(Row {
                test,
                share: Some(share),
                intended,
                passed: outcome.lost() == 0,
                outcome,
            });
        }
    }
    Ok(Sought {
        pps,
        bound_by: if pps >= 0.99 * line { "link" } else { "cpu" },
        cycles,
        trials,
    })
}

fn offer(device: &mut Device, pps: f64, length: Time) -> Result<Outcome, Error> {
    let load = Load::new(pps, length)
        .ok_or_else(|| Error::Other(format!("{pps} frames/s cannot be offered")))?;
    device
        .run(load)
        .map_err(|failure| Error::Other(failure.to_string()))
}

fn search(
    device: &mut Device,
    bench: &Bench,
    (least, most): (f64, f64),
    length: Time,
    trials: &mut Vec<Row>,
) -> Result<Found, Error> {
    let settings = Binary {
        width: bench.resolution,
        ..Binary::new(least, most, length)
    };
    let found = settings.search(device);
    let found = found.map_err(|error| Error::Other(error.to_string()))?;
    let row = |tried: &Tried| Row {
        test: Test::Throughput,
        share: None,
        intended: tried.load.frames_per_second(),
        passed: tried.judgement == Judgement::Passed,
        outcome: tried.outcome.clone(),
    };
    trials.extend(found.trials.iter().map(row));
    Ok(found)
}
