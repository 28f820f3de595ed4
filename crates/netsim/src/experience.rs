//! What the users of an application get: counts, times and shares, of all users together.

use trammel_core::time::{Span, Time};
use trammel_stats::histogram::Histogram;

/// A sum with its count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    /// The sum.
    pub sum: f64,
    /// Of how many.
    pub count: u64,
}

impl Sum {
    /// Takes in a value.
    pub fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    /// The mean, of any.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// What the users of an application have got. What an application does not have stays empty.
#[derive(Clone, Debug, Default)]
pub struct Experience {
    /// Pages, requests, segments or frames that have begun.
    pub begun: u64,
    /// Those of them that are complete: loaded, answered, downloaded, shown.
    pub done: u64,
    /// From the user's wish to its fulfilment, ps.
    pub time: Option<Box<Histogram>>,
    /// From one end to the other, ps.
    pub delay: Option<Box<Histogram>>,
    /// From the user's start to the first picture, s.
    pub startup: Sum,
    /// Time in which the picture moved.
    pub played: Span,
    /// Time in which it stood still.
    pub stalled: Span,
    /// How often it stopped.
    pub stalls: u64,
    /// Changes from one quality to another.
    pub switches: u64,
    /// Bits of what was shown, and for how many seconds.
    pub media: (f64, f64),
    /// Datagrams, or frames, that were sent.
    pub sent: u64,
    /// Those of them that never came.
    pub lost: u64,
    /// Those of them that came too late or not at all.
    pub overdue: u64,
    /// Opinion scores of the users.
    pub score: Sum,
}

impl Experience {
    /// Takes in a time from a wish to its fulfilment.
    pub fn time(&mut self, time: Span) {
        record(&mut self.time, time);
    }

    /// Takes in a time from one end to the other.
    pub fn delay(&mut self, delay: Span) {
        record(&mut self.delay, delay);
    }

    /// The part of the time in which the picture stood still.
    pub fn stalled_share(&self) -> Option<f64> {
        let all = self.played + self.stalled;
        (all > Span::ZERO).then(|| self.stalled.as_secs_f64() / all.as_secs_f64())
    }

    /// Mean bit rate of what was shown, bit/s.
    pub fn bitrate(&self) -> Option<f64> {
        let (bits, seconds) = self.media;
        (seconds > 0.0).then(|| bits / seconds)
    }

    /// The part of datagrams or frames that came too late or not at all.
    pub fn overdue_share(&self) -> Option<f64> {
        // Frames are counted where there are any.
        match (self.begun, self.sent) {
            (0, 0) => None,
            (0, sent) => Some(self.overdue as f64 / sent as f64),
            (frames, _) => (self.delay.is_some() || self.overdue > 0)
                .then(|| self.overdue as f64 / frames as f64),
        }
    }

    /// A part of what was sent.
    pub fn part(&self, count: u64) -> Option<f64> {
        (self.sent > 0).then(|| count as f64 / self.sent as f64)
    }
}

fn record(into: &mut Option<Box<Histogram>>, time: Span) {
    // Made with the first value, since it is large.
    let into = into.get_or_insert_with(|| Box::new(Histogram::of_times()));
    into.record_time(time);
}

/// What of the time between two instants lies after `since`.
pub(crate) fn after(since: Time, from: Time, to: Time) -> Span {
    to.saturating_since(from.max(since))
}
