//! A device of the router's that is timed: what each call takes, by the number of its frames.
//!
//! It is always polled: its descriptor is hidden, so that the router never sleeps and what waking
//! costs is in no number.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use trammel_packet::batch::Packets;
use trammel_packet::cpu::cycles;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;

/// Calls of one kind, the ticks of each by the number of its frames; some thousand of each number
/// are enough.
#[derive(Debug, Default)]
pub(super) struct Calls(BTreeMap<usize, Vec<u64>>);

/// Calls of one number of frames that are kept.
const MOST: usize = 4096;
/// Calls of one number of frames without which their median says little.
const FEW: usize = 16;

impl Calls {
    fn note(&mut self, frames: usize, ticks: u64) {
        let all = self.0.entry(frames).or_default();
        if all.len() < MOST {
            all.push(ticks);
        }
    }

    /// The median ticks of calls with so many frames, for each number of which there were enough,
    /// with how many there were.
    fn medians(&self) -> impl Iterator<Item = (f64, f64, f64)> {
        let enough = self.0.iter().filter(|(_, all)| all.len() >= FEW);
        enough.map(|(frames, all)| {
            let mut sorted = all.clone();
            sorted.sort_unstable();
            let median = sorted[sorted.len() / 2] as f64;
            (*frames as f64, median, all.len() as f64)
        })
    }

    /// The mean of a call without frames but for the slowest in a hundred, which were interrupted:
    /// every so many such calls a socket is asked whether its interface is there.
    pub(super) fn empty(&self) -> f64 {
        let Some(all) = self.0.get(&0).filter(|all| all.len() >= FEW) else {
            return 0.0;
        };
        let mut sorted = all.clone();
        sorted.sort_unstable();
        let kept = &sorted[..sorted.len() - sorted.len() / 100];
        kept.iter().sum::<u64>() as f64 / kept.len() as f64
    }

    /// How many times as long as [`Calls::line`] tells calls with frames take: so many values,
    /// equally likely. Calls that are more than a quarter and `slack` ticks longer were interrupted
    /// and do not count.
    pub(super) fn spread(&self, values: usize, slack: f64) -> Vec<f64> {
        let (call, frame) = self.line();
        let mut ratios = Vec::new();
        for (frames, all) in self.0.iter().filter(|(frames, _)| **frames > 0) {
            let usual = call + *frames as f64 * frame;
            let own = all
                .iter()
                .map(|ticks| *ticks as f64)
                .filter(|ticks| *ticks <= 1.25 * usual + slack);
            ratios.extend(own.map(|ticks| ticks / usual));
        }
        if ratios.is_empty() {
            return Vec::new();
        }
        ratios.sort_unstable_by(f64::total_cmp);
        let at = |value: usize| (value * 2 + 1) * ratios.len() / (2 * values);
        (0..values).map(|value| ratios[at(value)]).collect()
    }

    /// Ticks of a call and of each of its frames, by least squares through the medians; both from 0
    /// on.
    pub(super) fn line(&self) -> (f64, f64) {
        let points: Vec<_> = self
            .medians()
            .filter(|(frames, ..)| *frames > 0.0)
            .collect();
        let sum = |of: &dyn Fn(f64, f64) -> f64| {
            points.iter().map(|(x, y, w)| w * of(*x, *y)).sum::<f64>()
        };
        let (n, x, y) = (sum(&|_, _| 1.0), sum(&|x, _| x), sum(&|_, y| y));
        if n == 0.0 {
            return (0.0, 0.0);
        }
        let (xx, xy) = (sum(&|x, _| x * x), sum(&|x, y| x * y));
        let across = n * xx - x * x;
        let frame = if across > 0.0 {
            ((n * xy - x * y) / across).clamp(0.0, y / x)
        } else {
            y / x
        };
        ((y - frame * x) / n, frame)
    }
}

/// The calls of a device.
#[derive(Debug, Default)]
pub(super) struct Timed {
    pub(super) receive: Calls,
    pub(super) transmit: Calls,
    pub(super) flush: Calls,
}

/// What a device and who asks for its times share.
pub(super) type Shared = Arc<Mutex<Timed>>;

/// The times so far.
pub(super) fn lock(timed: &Shared) -> MutexGuard<'_, Timed> {
    timed.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A device whose calls are timed.
#[derive(Debug)]
pub(super) struct Wire {
    device: Box<dyn Device>,
    timed: Option<Shared>,
    gathered: usize,
}

impl Wire {
    /// `device`, timed where `timed` is there.
    pub(super) fn new(device: Box<dyn Device>, timed: Option<Shared>) -> Wire {
        Wire {
            device,
            timed,
            gathered: 0,
        }
    }

    fn note(&self, start: u64, frames: usize, of: fn(&mut Timed) -> &mut Calls) {
        if let Some(timed) = &self.timed {
            of(&mut lock(timed)).note(frames, cycles() - start);
        }
    }
}

impl Device for Wire {
    fn name(&self) -> &str {
        self.device.name()
    }

    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> io::Result<usize> {
        let start = cycles();
        let count = self.device.receive(pool, into)?;
        self.note(start, count, |timed| &mut timed.receive);
        Ok(count)
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        let start = cycles();
        let count = self.device.transmit(pool, from)?;
        self.gathered += count;
        self.note(start, count, |timed| &mut timed.transmit);
        Ok(count)
    }

    fn flush(&mut self, pool: &mut Pool) -> io::Result<()> {
        let start = cycles();
        self.device.flush(pool)?;
        self.note(start, self.gathered, |timed| &mut timed.flush);
        self.gathered = self.device.unsent();
        Ok(())
    }

    fn unsent(&self) -> usize {
        self.device.unsent()
    }

    fn close(&mut self, pool: &mut Pool) {
        self.device.close(pool);
    }

    fn counters(&self) -> DeviceCounters {
        self.device.counters()
    }

    fn remarks(&self) -> Vec<String> {
        self.device.remarks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_and_its_frames_are_told_apart_whatever_the_outliers() {
        let mut calls = Calls::default();
        assert_eq!((calls.line(), calls.empty()), ((0.0, 0.0), 0.0));
        for n in [1, 2, 8, 32] {
            for turn in 0..100 {
                let outlier = if turn % 10 == 0 { 1_000_000 } else { 0 };
                calls.note(n, 500 + 30 * n as u64 + outlier);
            }
        }
        let (call, frame) = calls.line();
        assert!((call - 500.0).abs() < 1e-6 && (frame - 30.0).abs() < 1e-6);
    }

    #[test]
    fn a_call_in_vain_counts_with_what_every_so_many_of_them_do() {
        let mut calls = Calls::default();
        for turn in 0..200 {
            calls.note(0, if turn % 20 == 0 { 500 } else { 100 });
        }
        // Two of two hundred are taken for interrupted.
        assert!((calls.empty() - (190.0 * 100.0 + 8.0 * 500.0) / 198.0).abs() < 1e-9);
        assert_eq!(Calls::default().spread(4, 0.0), Vec::<f64>::new());
    }

    #[test]
    fn how_calls_vary_is_told_without_interruptions() {
        let mut calls = Calls::default();
        for turn in 0..90 {
            for n in [1, 10] {
                let usual = 500 + 50 * n as u64;
                let of = [usual * 9 / 10, usual, usual * 11 / 10][turn % 3];
                calls.note(n, if turn < 3 { 100 * usual } else { of });
            }
        }
        let spread = calls.spread(3, 10.0);
        let expected = [0.9, 1.0, 1.1];
        let pairs = spread.iter().zip(expected);
        assert!(
            spread.len() == 3 && pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-3),
            "{spread:?}"
        );
    }
}
