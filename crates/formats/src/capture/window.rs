//! The window that a sender showed: the most bytes that it had in flight about an acknowledgement.
//!
//! A sender that always has data fills its congestion window at each acknowledgement, so that the
//! bytes in flight before the next one are that window. Some send in bursts and let an
//! acknowledgement pass for each; the most of two intervals between acknowledgements is taken
//! therefore. Of a sender that waits for its application, for the receiver's window or for its own
//! pace it is less: what was used, not what was allowed. It is *inferred*.

/// Intervals between acknowledgements of which the most is taken.
const INTERVALS: usize = 2;

/// Bytes in flight over time, and the window that they show.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    last_ns: Option<i64>,
    level: u64,
    /// What of the level was in flight, on the mean of the time until it changes.
    usual: u64,
    /// Bytes times seconds of the level and of the window, and seconds.
    area: f64,
    peaks_area: f64,
    time_s: f64,
    /// The most in flight in each of the last intervals; the first is going on.
    peaks: [u64; INTERVALS],
    largest: u64,
}

impl Window {
    /// From now on `flight` bytes are in flight.
    pub(super) fn set(&mut self, at_ns: i64, flight: u64) {
        self.set_most(at_ns, flight, flight);
    }

    /// From now on `flight` bytes are in flight at most, and `usual` on the mean.
    pub(super) fn set_most(&mut self, at_ns: i64, flight: u64, usual: u64) {
        if let Some(last) = self.last_ns {
            let seconds = at_ns.saturating_sub(last).max(0) as f64 / 1e9;
            self.area += self.usual as f64 * seconds;
            self.peaks_area += self.of_intervals() as f64 * seconds;
            self.time_s += seconds;
        }
        self.last_ns = Some(at_ns);
        self.level = flight;
        self.usual = usual;
        self.peaks[0] = self.peaks[0].max(flight);
        self.largest = self.largest.max(flight);
    }

    /// An acknowledgement came: another interval begins. While bytes are missing at the receiver
    /// the window falls with each acknowledgement, and what was in flight before is no part of it.
    pub(super) fn acknowledge(&mut self, is_recovering: bool) {
        if is_recovering {
            self.peaks = [0; INTERVALS];
        }
        self.peaks.rotate_right(1);
        self.peaks[0] = self.level;
    }

    fn of_intervals(&self) -> u64 {
        self.peaks.iter().copied().max().unwrap_or(0)
    }

    /// Mean bytes in flight over time.
    pub(super) fn flight_mean(&self) -> Option<f64> {
        (self.time_s > 0.0).then(|| self.area / self.time_s)
    }

    /// The mean of the window over time.
    pub(super) fn mean(&self) -> Option<f64> {
        (self.time_s > 0.0).then(|| self.peaks_area / self.time_s)
    }

    /// The largest window; nothing where nothing was in flight.
    pub(super) fn largest(&self) -> Option<u64> {
        (self.largest > 0).then_some(self.largest)
    }

    /// The window now.
    pub(super) fn now(&self) -> Option<u64> {
        Some(self.of_intervals()).filter(|bytes| *bytes > 0)
    }
}
