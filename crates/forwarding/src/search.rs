//! What a simulated device forwards at most, and what it does at shares of that.
//!
//! An overload tells about where the maximum is: a device that is offered too much forwards about
//! what it can. Then a binary search looks there, and elsewhere only if it is not there.
//!
//! A load passes where no frame is lost and the device *keeps up*: when the last frame has come, it
//! is done but for half of the resolution. Loss alone would not do, since rings and queues hide an
//! overload by as many frames as they hold, which is 1 % of a trial of 100,000 for a ring of 1,024.
//! Some batches are always under way, so short trials are less exact.

use super::row::Row;
use trammel_bench::search::binary::Binary;
use trammel_bench::search::{Found, Verdict};
use trammel_bench::trial::{Failure, Load, Trial, TrialOutcome};
use trammel_core::time::{Span, Time};
use trammel_scenario::forwarding::{Bench, Test};
use trammel_workbench::device::Device;
use trammel_workbench::estimate::Error;
use trammel_workbench::recovery::{OVERLOAD, REDUCED, recovery};

/// How far above the estimate the first trial goes, and each after it as long as nothing is lost;
/// so many at most.
const EXCESS: f64 = 1.5;
const CLIMBS: usize = 20;
/// Around what an overload lets through, where the maximum is looked for first.
const AROUND: (f64, f64) = (0.97, 1.02);
/// The least share of that below which nothing is looked for.
const LEAST: f64 = 0.01;

/// A link that is idle for less of the time is what limits.
const IDLE: f64 = 0.02;

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

/// Seeks. `about` is what the processor is estimated to do and `line` what the links carry, frames
/// a second; `stamped` is the device as latency is measured on it, where that differs.
pub(super) fn seek(
    device: &mut Device,
    stamped: Option<Device>,
    bench: &Bench,
    about: f64,
    line: f64,
) -> Result<Sought, Error> {
    let mut trials = Vec::new();
    let pps = maximum(device, bench, (about, line), &mut trials)?;
    // Once more, since the last trial of a search is seldom the one that decided.
    offer(device, pps, length(bench, pps))?;
    let cycles = device.cycles();
    let bound_by = if device.fills_a_link(IDLE) {
        "link"
    } else {
        "cpu"
    };
    let asks_more = bench.tests.iter().any(|test| *test != Test::Throughput);
    match stamped.filter(|_| asks_more) {
        Some(mut stamped) => {
            let pps = maximum(&mut stamped, bench, (pps, line), &mut Vec::new())?;
            at_shares(&mut stamped, bench, pps, line, &mut trials)?;
        }
        None => at_shares(device, bench, pps, line, &mut trials)?,
    }
    Ok(Sought {
        pps,
        bound_by,
        cycles,
        trials,
    })
}

/// How long a trial is at a rate.
fn length(bench: &Bench, pps: f64) -> Span {
    Span::from_secs_f64(bench.frames as f64 / pps)
}

/// The most that passes, frames a second; `about` and `line` as in [`seek`].
fn maximum(
    device: &mut Device,
    bench: &Bench,
    (about, line): (f64, f64),
    trials: &mut Vec<Row>,
) -> Result<f64, Error> {
    let mut first = (EXCESS * about).min(line);
    let mut climbs = 0;
    let outcome = loop {
        let outcome = offer(device, first, length(bench, first))?;
        let passed = outcome.lost() == 0 && keeps_up(device, &outcome, bench);
        trials.push(Row {
            passed,
            ..Row::of(Test::Throughput, None, first, &outcome)
        });
        if !passed {
            break outcome;
        }
        if first >= line || climbs == CLIMBS {
            return Ok(first);
        }
        (first, climbs) = ((EXCESS * first).min(line), climbs + 1);
    };
    let carried = outcome.forwarded as f64 / device.occupied().max(outcome.effective).as_secs_f64();
    let carried = carried.max(first * LEAST);
    let length = length(bench, carried);
    let around = (carried * AROUND.0, (carried * AROUND.1).min(first));
    let mut found = search(device, bench, around, length, trials)?;
    if found.verdict == Verdict::FailedAtLeast {
        let below = (carried * LEAST, around.0);
        found = search(device, bench, below, length, trials)?;
    }
    found.lower.ok_or_else(|| {
        Error::Other(format!(
            "the simulated device loses frames even at {:.0} frames/s: a rate in the configuration \
             is lower, or a queue too short for a batch",
            carried * LEAST
        ))
    })
}

/// What the device does at shares of `pps`.
fn at_shares(
    device: &mut Device,
    bench: &Bench,
    pps: f64,
    line: f64,
    trials: &mut Vec<Row>,
) -> Result<(), Error> {
    for (test, shares) in [
        (Test::Latency, &bench.latency_at),
        (Test::FrameLoss, &bench.loss_at),
    ] {
        let shares = shares.iter().filter(|_| bench.tests.contains(&test));
        for share in shares.copied() {
            let intended = (pps * share).min(line);
            let outcome = offer(device, intended, length(bench, intended))?;
            trials.push(Row::of(test, Some(share), intended, &outcome));
        }
    }
    if bench.tests.contains(&Test::Recovery) {
        trials.push(recover(device, (pps * OVERLOAD).min(line), bench)?);
    }
    Ok(())
}

/// An overload, then less than the device can do.
fn recover(device: &mut Device, overload: f64, bench: &Bench) -> Result<Row, Error> {
    let wrong = |failure: Failure| Error::Other(failure.to_string());
    let reduced = overload * REDUCED;
    let usual = offer(device, reduced, length(bench, reduced))?.latency;
    let usual = usual.and_then(|latency| latency.quantile_time(0.5));
    let loads = [overload, reduced].map(|pps| load(pps, length(bench, pps)));
    let [high, low] = loads;
    let (outcome, passages, last_lost) = device.offer_all(&[high?, low?]).map_err(wrong)?;
    let usual = usual.unwrap_or(Span::ZERO);
    let at = Time::ZERO + length(bench, overload);
    Ok(Row {
        recovery: Some(recovery(&passages, at, last_lost, usual)),
        ..Row::of(Test::Recovery, Some(OVERLOAD), overload, &outcome)
    })
}

/// Whether the device was done when the last frame had come, but for half of the resolution or the
/// batches that are under way at any load near the maximum.
fn keeps_up(device: &Device, outcome: &TrialOutcome, bench: &Bench) -> bool {
    let sending = outcome.effective.as_secs_f64();
    let under_way = device.under_way() as f64 / outcome.offered.max(1) as f64;
    let late = under_way.max(bench.resolution / 2.0);
    device.occupied().as_secs_f64() <= sending * (1.0 + late)
}

fn offer(device: &mut Device, pps: f64, length: Span) -> Result<TrialOutcome, Error> {
    device
        .run(load(pps, length)?)
        .map_err(|failure| Error::Other(failure.to_string()))
}

fn load(pps: f64, length: Span) -> Result<Load, Error> {
    Load::new(pps, length).ok_or_else(|| Error::Other(format!("{pps} frames/s cannot be offered")))
}

fn search(
    device: &mut Device,
    bench: &Bench,
    (least, most): (f64, f64),
    length: Span,
    trials: &mut Vec<Row>,
) -> Result<Found, Error> {
    let settings = Binary {
        width: bench.resolution,
        ..Binary::new(least, most, length)
    };
    let mut tried = |load: Load| {
        let outcome = device.run(load)?;
        let passed = outcome.lost() == 0 && keeps_up(device, &outcome, bench);
        let intended = load.frames_per_second();
        trials.push(Row {
            passed,
            ..Row::of(Test::Throughput, None, intended, &outcome)
        });
        // To the search, who does not keep up loses.
        let forwarded = outcome.forwarded - u64::from(!passed && outcome.lost() == 0);
        Ok(TrialOutcome {
            forwarded,
            ..outcome
        })
    };
    let found = settings.search(&mut tried);
    found.map_err(|error| Error::Other(error.to_string()))
}
