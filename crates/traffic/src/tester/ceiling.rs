//! What the tester itself can do on a pair of ports: to be measured against a wire before a device
//! is.
//!
//! A result near the ceiling is the tester's and not the device's.

use super::observation::{DirectionSeen, Observation, Stamps};
use super::schedule::Load;
use super::traffic::Traffic;
use super::{Direction, Plan, Tester, Threads};
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_core::time::Span;
use trammel_io::clock::monotonic_ns;
use trammel_io::error::{Error, Result};
use trammel_stats::histogram::Histogram;

/// More than any port takes: all frames are late, and leave as fast as they go.
const FLOOD_FPS: f64 = 5e7;
/// Frames of a flood at most, so that it ends where the machine is slow.
const FLOOD_FRAMES: f64 = 2e6;
/// Steps of the search: the ceiling is known to a hundredth of the flood's rate.
const STEPS: u32 = 7;
/// How long a trial may take beyond its duration to count.
const STRETCH: f64 = 1.02;
/// The load at which latency is measured: frames do not meet.
const CALM_FPS: f64 = 1000.0;
/// Readings of the clock.
const READINGS: usize = 1000;

/// What the tester can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling {
    /// The most frames a second that were sent in time and of which none was lost.
    pub frames_per_second: f64,
    /// What comes of it if as much is sent as goes.
    pub flood_fps: f64,
    /// The least latency at a thousand frames a second; none where it is not measured.
    pub least_latency: Option<Span>,
    /// The median.
    pub median_latency: Option<Span>,
    /// By what arrivals are timed.
    pub stamps: Stamps,
    /// What is between two readings of the clock, at the median: it is told in nanoseconds, and
    /// this is what asking costs.
    pub clock_reading: Span,
}

/// Trials of a measurement.
pub const TRIALS: u32 = STEPS + 2;

/// Measures the ceiling of `traffic` from the first port to the second, which a wire connects, in
/// trials of `duration`, by `threads` as in a [`Plan`]; none where `stop` was set. `done` is called
/// after each of [`TRIALS`].
pub fn measure(
    tester: &mut Tester,
    traffic: &Traffic,
    duration: Span,
    threads: Threads,
    done: &dyn Fn(),
    stop: &AtomicBool,
) -> Result<Option<Ceiling>> {
    let mut offer = |frames_per_second: f64, duration: Span| -> Result<Observation> {
        let load = Load {
            frames_per_second,
            duration,
        };
        let direction = Direction {
            traffic: traffic.clone(),
            loads: vec![load],
        };
        let plan = Plan {
            residual: Span::from_ms(100),
            threads,
            ..Plan::one_way(direction)
        };
        let seen = tester.run(&plan, stop)?;
        done();
        match &seen.fault {
            Some(fault) => Err(Error::Kernel {
                what: "the tester's ceiling could not be measured".to_owned(),
                source: std::io::Error::other(fault.clone()),
            }),
            None => Ok(seen),
        }
    };
    let flood = offer(FLOOD_FPS, Span::from_secs_f64(FLOOD_FRAMES / FLOOD_FPS))?;
    let first = |seen: &Observation| {
        seen.directions[0].as_ref().map_or(0.0, |seen| {
            seen.received() as f64 / seen.effective.as_secs_f64().max(1e-9)
        })
    };
    let flood_fps = first(&flood);
    let (mut good, mut bad) = (0.0, flood_fps * 1.1);
    for _ in 0..STEPS {
        if stop.load(Ordering::Relaxed) || bad <= 0.0 {
            break;
        }
        let middle = f64::midpoint(good, bad);
        let seen = offer(middle, duration)?;
        let is_good = seen.directions[0].as_ref().is_some_and(|seen| {
            let longest = duration.as_secs_f64() * STRETCH + 1.0 / middle;
            seen.lost() == 0
                && seen.received() == seen.intended
                && seen.effective.as_secs_f64() <= longest
        });
        if is_good {
            good = middle;
        } else {
            bad = middle;
        }
    }
    let calm = offer(CALM_FPS, duration)?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let latency = calm.directions[0].as_ref().and_then(DirectionSeen::latency);
    Ok(Some(Ceiling {
        frames_per_second: good,
        flood_fps,
        least_latency: latency.as_ref().and_then(Histogram::min).map(Span::from_ps),
        median_latency: latency
            .as_ref()
            .and_then(|latency| latency.quantile_time(0.5)),
        stamps: calm.stamps,
        clock_reading: clock_reading(),
    }))
}

/// What is between two readings of the clock.
fn clock_reading() -> Span {
    let mut gaps: Vec<i64> = (0..READINGS)
        .map(|_| -monotonic_ns() + monotonic_ns())
        .collect();
    gaps.sort_unstable();
    Span::from_ns(gaps[READINGS / 2].max(0).cast_unsigned())
}
