//! One trial: a load for a time, and what became of it. All tests stand on this alone.
//!
//! Whoever can be offered a load implements [`Trial`]: real ports, a simulation, an estimate,
//! another program. The words are those of RFC 1242, RFC 2544 and RFC 2285: the *intended* load is
//! what a search asks for, the *offered* load what in fact was sent. A trial sees to it that its
//! counts are read only after the sending has ended and residual frames have come in (RFC 2544 §23:
//! two seconds).
//!
//! A searcher that wraps a `Trial` in another one can show progress, keep finished trials, repeat
//! or record them: searches know nothing of it.

use trammel_core::time::Span;
use trammel_stats::histogram::Histogram;

/// A load that a trial intends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    frames_per_second: f64,
    duration: Span,
}

impl Load {
    /// So many frames a second for so long. None where either is not above 0, or the rate is not
    /// finite.
    pub fn new(frames_per_second: f64, duration: Span) -> Option<Load> {
        let is_right =
            frames_per_second > 0.0 && frames_per_second.is_finite() && duration > Span::ZERO;
        is_right.then_some(Load {
            frames_per_second,
            duration,
        })
    }

    /// A share of a line that carries `line_fps` frames a second, above 0; 1 is all of it.
    pub fn of_line(share: f64, line_fps: f64, duration: Span) -> Option<Load> {
        Load::new(share * line_fps, duration)
    }

    /// Frames a second, all streams together; above 0.
    pub fn frames_per_second(self) -> f64 {
        self.frames_per_second
    }

    /// How long frames are sent.
    pub fn duration(self) -> Span {
        self.duration
    }

    /// Frames that are to be sent.
    pub fn frames(self) -> f64 {
        self.frames_per_second * self.duration.as_secs_f64()
    }
}

/// What became of a trial.
#[derive(Clone, Debug)]
pub struct TrialOutcome {
    /// Frames that were sent to the device.
    pub offered: u64,
    /// Frames of these that came out of it where they should.
    pub forwarded: u64,
    /// How long the sending took in fact.
    pub effective: Span,
    /// Frames that the tester sent closer together than it should have: so many losses may be its
    /// doing. None where it sends by virtual time.
    pub bunched: u64,
    /// Of the forwarded frames, in picoseconds, where it was measured.
    pub latency: Option<Histogram>,
}

impl TrialOutcome {
    /// Frames that did not come out.
    pub fn lost(&self) -> u64 {
        self.offered.saturating_sub(self.forwarded)
    }

    /// Whether frames were lost, and no more than the tester may be to blame for.
    pub(crate) fn is_in_doubt(&self) -> bool {
        (1..=self.bunched).contains(&self.lost())
    }

    /// The share of the offered frames that did not come out; 0 where none was offered.
    //= rfc2544 §26.3
    //# ( ( input_count - output_count ) * 100 ) / input_count
    pub fn loss_ratio(&self) -> f64 {
        if self.offered == 0 {
            return 0.0;
        }
        self.lost() as f64 / self.offered as f64
    }

    /// Frames that came out a second, over the time that the sending took; 0 where that is none.
    pub(crate) fn forwarding_rate(&self) -> f64 {
        rate(self.forwarded, self.effective)
    }

    /// Frames that were sent a second; 0 where the sending took no time.
    pub fn offered_rate(&self) -> f64 {
        rate(self.offered, self.effective)
    }

    /// Whether less was offered than `load` intends, or slower: by more than the share `tolerance`
    /// and by more than one frame for each of `sources`, which send whole frames.
    pub fn falls_short(&self, load: Load, tolerance: f64, sources: u32) -> bool {
        let least = load.frames() * (1.0 - tolerance);
        let longest = load.duration().as_secs_f64() * (1.0 + tolerance);
        (self.offered as f64) < least.min(load.frames() - f64::from(sources))
            || self.effective.as_secs_f64() > longest
    }
}

fn rate(frames: u64, time: Span) -> f64 {
    if time == Span::ZERO {
        return 0.0;
    }
    frames as f64 / time.as_secs_f64()
}

/// Why a trial could not be made; a search ends with it.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What can be offered a load.
pub trait Trial {
    /// Offers `load`, waits for what is left on its way, and says what became of it. A trial begins
    /// with the device at rest: what it did before does not matter.
    fn run(&mut self, load: Load) -> Result<TrialOutcome, Failure>;

    /// How many senders share the load, each of which sends a whole number of frames.
    fn sources(&self) -> u32 {
        1
    }
}

impl<F: FnMut(Load) -> Result<TrialOutcome, Failure>> Trial for F {
    fn run(&mut self, load: Load) -> Result<TrialOutcome, Failure> {
        self(load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_loads_are_none() {
        let second = Span::from_secs(1);
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(Load::new(rate, second), None);
        }
        assert_eq!(Load::new(1.0, Span::ZERO), None);
        let half = Load::of_line(0.5, 1e6, second).unwrap();
        assert_eq!((half.frames_per_second(), half.frames()), (5e5, 5e5));
    }

    #[test]
    fn a_trial_of_nothing_loses_nothing() {
        let none = TrialOutcome {
            offered: 0,
            forwarded: 3,
            effective: Span::ZERO,
            bunched: 0,
            latency: None,
        };
        assert_eq!((none.loss_ratio(), none.lost()), (0.0, 0));
        assert_eq!((none.forwarding_rate(), none.offered_rate()), (0.0, 0.0));
    }

    #[test]
    fn too_few_frames_and_too_long_a_time_fall_short() {
        let load = Load::new(1000.0, Span::from_secs(1)).unwrap();
        let outcome = |offered, ms| TrialOutcome {
            offered,
            forwarded: offered,
            effective: Span::from_ms(ms),
            bunched: 0,
            latency: None,
        };
        assert!(!outcome(1000, 1000).falls_short(load, 0.0, 1));
        assert!(!outcome(999, 1000).falls_short(load, 0.0, 1));
        assert!(outcome(990, 1000).falls_short(load, 0.005, 1));
        assert!(outcome(996, 1000).falls_short(load, 0.0, 3));
        assert!(!outcome(996, 1000).falls_short(load, 0.0, 4));
        assert!(outcome(1000, 1020).falls_short(load, 0.01, 1));
    }
}
