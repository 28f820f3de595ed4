//! Whether two processors are threads of one core, and what these do to each other: probes beside
//! each other.
//!
//! One probe issues instructions all the time, the other waits for each load from the second level.
//! Virtual machines often do not say which processors share a core, and may be moved while they
//! run, so what is believed is what the probes say at the time of the calibration: on cores of
//! their own, work that issues does not slow the same.

use super::Calibration;
use super::bench::way;
use super::system::Cache;
use crate::beside::{self, Make, Plan, Work};
use crate::measure::Clock;
use std::convert::Infallible;
use std::hint::black_box;
use trammel_cost::eo;
use trammel_cost::machine::Siblings;
use trammel_cost::probes::loads;

/// Processors are threads of one core where work that issues slows the same by more than this.
const SHARED: f64 = 1.1;
/// Steps of a slice: some tens of microseconds.
const STEPS: u32 = 4096;
/// Bytes of the buffer of the issuing probe: it stays in the first cache.
const ISSUE_BYTES: usize = 16_384;
/// The waiting probe takes this part of the second cache, so that two of them fit.
const WAIT_PART: usize = 8;

/// Adds to the calibration what two processors do to each other, where they are threads of one
/// core.
pub fn learn(calibration: &mut Calibration) {
    let Some(pair) = pair() else {
        calibration.note("There is one processor only, so none is beside another.".to_owned());
        return;
    };
    let [first, second] = pair;
    let caches = super::system::caches();
    let (issuing, waiting) = (|| Ok(issue()), || Ok(wait(&caches)));
    let issue: Make<'_, Infallible> = &issuing;
    let wait: Make<'_, Infallible> = &waiting;
    let clock = Clock::measure();
    let slowdowns = |makes: [Make<'_, Infallible>; 2]| {
        let both = beside::measure(pair, makes, Plan::PROBES, clock.ticks_per_s).ok()?;
        both.is_steady().then(|| both.each.map(|one| one.slowdown))
    };
    let all = slowdowns([issue, issue]).zip(slowdowns([issue, wait]));
    let Some(((issues, mixed), waits)) = all.zip(slowdowns([wait, wait])) else {
        calibration.note(format!(
            "Whether the processors {first} and {second} share a core cannot be told: other \
             programs have them."
        ));
        return;
    };
    // Of two alike both are samples of the same.
    let siblings = Siblings {
        issue_issue: f64::midpoint(issues[0], issues[1]),
        issue_wait: mixed[0],
        wait_issue: mixed[1],
        wait_wait: f64::midpoint(waits[0], waits[1]),
    };
    let Siblings {
        issue_issue,
        issue_wait,
        wait_issue,
        wait_wait,
    } = siblings;
    let is_shared = issue_issue > SHARED;
    calibration.note(format!(
        "The processors {first} and {second} are {}: beside each other, issuing slows issuing \
         {issue_issue:.3} times, waiting slows issuing {issue_wait:.3}, issuing slows waiting \
         {wait_issue:.3}, waiting slows waiting {wait_wait:.3}.",
        if is_shared {
            "threads of one core"
        } else {
            "cores of their own"
        }
    ));
    if is_shared {
        calibration.add_siblings(siblings);
    }
}

/// Two threads of one core where the kernel knows them; else the first two processors.
fn pair() -> Option<[usize; 2]> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return None;
    }
    let path = "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list";
    let list = std::fs::read_to_string(path).unwrap_or_default();
    let known: Vec<usize> = list
        .trim()
        .split([',', '-'])
        .filter_map(|number| number.parse().ok())
        .collect();
    match known[..] {
        [first, second, ..] => Some([first, second]),
        _ => Some([0, 1]),
    }
}

fn issue() -> Work {
    let probe = eo::FAMILY.get("work").ok().and_then(|e| e.probe.as_ref());
    let probe = probe.expect("a test checks that `work` has a probe");
    let mut buffer: Vec<u8> = (0..ISSUE_BYTES as u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let params = probe.points.first().copied().unwrap_or(&[]);
    Box::new(move || {
        black_box((probe.run)(&mut buffer, params, STEPS));
        u64::from(STEPS)
    })
}

fn wait(caches: &[Cache]) -> Work {
    let second = caches.get(1).or(caches.first());
    let bytes = second.map_or(ISSUE_BYTES, |cache| cache.bytes / WAIT_PART);
    let places = way(bytes, super::SEED, "siblings");
    let mut buffer = vec![0_u64; bytes / 8];
    loads::lay(&mut buffer, 0, &places);
    let mut at = places.first().map_or(0, |line| line * loads::LINE_WORDS) as u64;
    Box::new(move || {
        at = black_box(loads::follow(&buffer, at, STEPS));
        u64::from(STEPS)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_probes_work_on_without_end() {
        let caches = [48, 1024].map(|kib| Cache {
            level: 1,
            bytes: kib * 1024,
        });
        for mut work in [issue(), wait(&caches)] {
            assert_eq!([work(), work()], [u64::from(STEPS); 2]);
        }
    }
}
