//! What this machine does under load: losses, latencies and recovery at shares of its own maximum.
//!
//! Every load is offered in several short windows. Before and after each the machine forwards as
//! much as it can for some milliseconds; the load is a share of what it did before. Windows in
//! which it did less than at its best, or in which others had the core for a while, are set aside,
//! and of the rest the median counts, each quantity by itself.

use super::row::{Row, Windows};
use trammel_bench::trial::{Failure, Load};
use trammel_core::time::{Span, Time};
use trammel_scenario::forwarding::{Bench, Test};
use trammel_stats::histogram::Histogram;
use trammel_workbench::arrivals::Pattern;
use trammel_workbench::bench::Bench as Workbench;
use trammel_workbench::estimate::Error;
use trammel_workbench::paced::{Bed, UnderLoad, Window};
use trammel_workbench::recovery::{OVERLOAD, REDUCED, recovery};
use trammel_workbench::traffic::Traffic;

/// Windows of each load, and the least of them that are kept.
const WINDOWS: usize = 15;
const LEAST_KEPT: usize = 3;
/// How much less than at its best the machine may forward beside a window that is kept.
const PACE: f64 = 0.05;
/// Frames of a window for latencies, at most: a hundred are beyond the 99th percentile.
const LATENCY_FRAMES: u64 = 10_000;
/// Frames by which it is seen what the machine forwards at most.
const MAXIMUM_FRAMES: f64 = 16_384.0;
/// How far above what the function is known to do these come.
const EXCESS: f64 = 1.3;

/// What was measured.
#[derive(Clone, Debug)]
pub(super) struct Live {
    /// Every load; the first is the most that was forwarded.
    pub(super) trials: Vec<Row>,
}

/// A window, its load, and what the machine forwarded at most beside it.
struct Tried {
    window: Window,
    pps: f64,
    pace: f64,
}

struct Machine<B> {
    bed: B,
    /// About what it forwards at most, and the most that it did.
    about: f64,
    best: f64,
}

/// Measures what `bench` asks for; `about` is what the function forwards at most, where it is known
/// roughly.
pub(super) fn measure(
    function: &Workbench,
    traffic: &Traffic,
    pattern: Pattern,
    ring: usize,
    bench: &Bench,
    about: f64,
) -> Result<Live, Error> {
    measure_on(Bed::new(function, traffic, pattern, ring)?, bench, about)
}

/// The same on any bed.
pub(super) fn measure_on<B: UnderLoad>(bed: B, bench: &Bench, about: f64) -> Result<Live, Error> {
    let mut machine = Machine {
        bed,
        about,
        best: 0.0,
    };
    machine.bed.expect(about);
    seek(&mut machine, bench).map_err(|failure| Error::Other(failure.to_string()))
}

fn seek<B: UnderLoad>(machine: &mut Machine<B>, bench: &Bench) -> Result<Live, Failure> {
    let mut trials = vec![machine.most()?];
    for (test, shares) in [
        (Test::Latency, &bench.latency_at),
        (Test::FrameLoss, &bench.loss_at),
    ] {
        for share in shares.iter().filter(|_| bench.tests.contains(&test)) {
            let frames = match test {
                Test::Latency => bench.frames.min(LATENCY_FRAMES),
                _ => bench.frames,
            };
            trials.push(machine.at(test, *share, frames)?);
        }
    }
    if bench.tests.contains(&Test::Recovery) {
        trials.push(machine.recover(bench.frames)?);
    }
    Ok(Live { trials })
}

fn load(pps: f64, frames: f64) -> Result<Load, Failure> {
    let load = Load::new(pps, Span::from_secs_f64(frames / pps));
    load.ok_or_else(|| format!("{pps} frames/s cannot be offered").into())
}

impl<B: UnderLoad> Machine<B> {
    /// What it forwards at most now, frames a second.
    fn maximum(&mut self) -> Result<f64, Failure> {
        let window = self
            .bed
            .offer(&[load(EXCESS * self.about, MAXIMUM_FRAMES)?])?;
        if window.taken_per_s <= 0.0 {
            return Err("no frame was taken".into());
        }
        self.best = self.best.max(window.taken_per_s);
        Ok(window.taken_per_s)
    }

    /// What it forwards at most at its best.
    fn most(&mut self) -> Result<Row, Failure> {
        let all: Result<Vec<f64>, Failure> = (0..WINDOWS).map(|_| self.maximum()).collect();
        self.bed.know(self.best);
        let middle = Middle::of(all?.into_iter());
        let frames = MAXIMUM_FRAMES as u64;
        Ok(Row {
            test: Test::Throughput,
            share: None,
            intended: self.best,
            effective: Span::from_secs_f64(MAXIMUM_FRAMES / self.best),
            offered: frames,
            forwarded: frames,
            loss: 0.0,
            p50: None,
            p99: None,
            passed: true,
            recovery: None,
            windows: Some(Windows {
                kept: WINDOWS,
                spread: middle.and_then(|middle| middle.spread),
            }),
        })
    }

    /// Windows whose loads are made of what it forwards at most, and that of each between before
    /// and after.
    fn windows(
        &mut self,
        loads: impl Fn(f64) -> Result<Vec<Load>, Failure>,
    ) -> Result<Vec<Tried>, Failure> {
        let mut all = Vec::new();
        for _ in 0..WINDOWS {
            let pps = self.maximum()?;
            let window = self.bed.offer(&loads(pps)?)?;
            let pace = pps.min(self.maximum()?);
            all.push(Tried { window, pps, pace });
        }
        // Those at the machine's own pace and without a gap first, and of others the fastest.
        let least = self.best * (1.0 - PACE);
        let is_right = |one: &Tried| one.pace >= least && one.window.gaps == 0;
        let is_worse = |one: &Tried| (!is_right(one), -one.pace);
        all.sort_by(|a, b| {
            let (a, b) = (is_worse(a), is_worse(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let kept = all.iter().filter(|one| is_right(one)).count();
        all.truncate(kept.max(LEAST_KEPT));
        Ok(all)
    }

    /// One load of a latency or loss test.
    fn at(&mut self, test: Test, share: f64, frames: u64) -> Result<Row, Failure> {
        let all = self.windows(|pps| Ok(vec![load(share * pps, frames as f64)?]))?;
        let latencies: Vec<Histogram> = all.iter().map(|one| latencies(&one.window)).collect();
        let quantile = |fraction: f64| {
            let each = latencies.iter().filter_map(|one| one.quantile(fraction));
            Middle::of(each.map(|ps| ps as f64))
        };
        let loss = Middle::of(all.iter().map(|one| loss(&one.window)));
        let (p50, p99) = (quantile(0.5), quantile(0.99));
        let spread = match test {
            Test::Latency => p99,
            _ => loss,
        };
        let time = |middle: Option<Middle>| middle.map(|m| Span::from_ps(m.median as u64));
        Ok(Row {
            p50: time(p50),
            p99: time(p99),
            ..row(test, share, &all, loss, spread)
        })
    }

    /// An overload, then less than it can do.
    fn recover(&mut self, frames: u64) -> Result<Row, Failure> {
        let frames = frames as f64;
        let low = OVERLOAD * REDUCED;
        let usual = self.at(Test::Recovery, low, frames as u64)?.p50;
        let usual = usual.unwrap_or(Span::ZERO);
        let all = self.windows(|pps| {
            Ok(vec![
                load(OVERLOAD * pps, frames)?,
                load(low * pps, frames)?,
            ])
        })?;
        let each = all.iter().map(|one| {
            let reduced = Time::from_secs_f64(frames / (OVERLOAD * one.pps));
            recovery(&one.window.passages, reduced, one.window.last_lost, usual)
        });
        let each: Vec<_> = each.collect();
        let last_loss = Middle::of(each.iter().map(|one| one.last_loss.as_ps() as f64));
        let delay = each.iter().filter_map(|one| one.delay);
        let delay = Middle::of(delay.map(|delay| delay.as_ps() as f64));
        let loss = Middle::of(all.iter().map(|one| loss(&one.window)));
        let time = |middle: Middle| Span::from_ps(middle.median as u64);
        Ok(Row {
            recovery: last_loss.map(|last_loss| trammel_workbench::recovery::Recovery {
                last_loss: time(last_loss),
                delay: delay.map(time),
            }),
            ..row(Test::Recovery, OVERLOAD, &all, loss, delay)
        })
    }
}

fn loss(window: &Window) -> f64 {
    window.lost as f64 / window.offered.max(1) as f64
}

fn latencies(window: &Window) -> Histogram {
    let mut all = Histogram::of_times();
    for passage in &window.passages {
        all.record_time(passage.latency());
    }
    all
}

/// What rows of all tests have.
fn row(test: Test, share: f64, all: &[Tried], loss: Option<Middle>, spread: Option<Middle>) -> Row {
    let middle = |of: fn(&Tried) -> f64| Middle::of(all.iter().map(of)).map_or(0.0, |m| m.median);
    let loss = loss.map_or(0.0, |loss| loss.median);
    let (offered, pps) = (
        middle(|one| one.window.offered as f64),
        middle(|one| one.pps),
    );
    Row {
        test,
        share: Some(share),
        intended: share * pps,
        effective: Span::from_secs_f64(offered / (share * pps)),
        offered: offered as u64,
        forwarded: (offered * (1.0 - loss)).round() as u64,
        loss,
        p50: None,
        p99: None,
        passed: loss == 0.0,
        recovery: None,
        windows: Some(Windows {
            kept: all.len(),
            spread: spread.and_then(|middle| middle.spread),
        }),
    }
}

/// The middle of several values, and their range over it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Middle {
    median: f64,
    spread: Option<f64>,
}

impl Middle {
    /// None of none.
    fn of(values: impl Iterator<Item = f64>) -> Option<Middle> {
        let mut all: Vec<f64> = values.collect();
        all.sort_by(f64::total_cmp);
        let (first, last) = (all.first()?, all.last()?);
        let median = all[(all.len() - 1) / 2];
        Some(Middle {
            median,
            spread: (median > 0.0).then(|| (last - first) / median),
        })
    }
}
