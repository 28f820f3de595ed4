//! A sender at an instant: what the simulator's trace and the kernel's samples have of it.

use trammel_core::time::{Span, Time};
use trammel_kernel::job::FlowSeen;
use trammel_netsim::trace::Sample;

/// A threshold that was never set (`TCP_INFINITE_SSTHRESH`).
pub(super) const NO_THRESHOLD: u32 = 0x7fff_ffff;
/// `TCP_CA_CWR`, `TCP_CA_Recovery`, `TCP_CA_Loss`.
pub(super) const CWR: u8 = 2;
pub(super) const RECOVERY: u8 = 3;
pub(super) const LOSS: u8 = 4;
/// A sender that has less than this part of its window on the way for a round trip, and so many
/// segments less, is not held by the window.
const USED: f64 = 0.8;
const UNUSED: u32 = 4;

/// A sender at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// When, from its start.
    pub at: Time,
    /// The congestion window, segments.
    pub cwnd: u32,
    /// The slow-start threshold, segments.
    pub ssthresh: u32,
    /// Segments on their way.
    pub in_flight: u32,
    /// The state of congestion control, as the kernel numbers them.
    pub ca_state: u8,
    /// The smoothed round trip, us.
    pub srtt_us: u32,
}

impl State {
    /// That of a sample of the simulator's.
    pub(super) fn of(sample: &Sample) -> State {
        State {
            at: sample.time,
            cwnd: sample.cwnd,
            ssthresh: sample.ssthresh,
            in_flight: sample.in_flight,
            ca_state: sample.state,
            srtt_us: sample.srtt_us,
        }
    }

    /// The name of the state of congestion control.
    pub fn name(&self) -> &'static str {
        match self.ca_state {
            0 => "Open",
            1 => "Disorder",
            CWR => "CWR",
            RECOVERY => "Recovery",
            _ => "Loss",
        }
    }
}

/// A sender over the round trip before an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lately {
    /// The least window and the largest.
    pub(super) windows: (u32, u32),
    /// The most that was on its way.
    pub(super) in_flight: u32,
    /// Whether its congestion control was undisturbed all the time.
    is_open: bool,
    /// Whether the window was below the threshold all the time.
    is_below: bool,
}

impl Lately {
    /// That of `states` before `at`; nothing before its first round trip is known.
    pub(super) fn of(states: &[State], at: Time) -> Option<Lately> {
        let before = &states[..states.partition_point(|state| state.at <= at)];
        let round = before.last().map(|state| state.srtt_us);
        let round = Span::from_us(round.filter(|us| *us > 0)?.into());
        let from = at.saturating_sub(round);
        // The one that held when the round trip began counts too.
        let first = before.partition_point(|state| state.at < from);
        let mut all = before[first.saturating_sub(1)..].iter();
        let one = all.next()?;
        let begin = Lately {
            windows: (one.cwnd, one.cwnd),
            in_flight: one.in_flight,
            is_open: one.ca_state < CWR,
            is_below: one.cwnd < one.ssthresh,
        };
        Some(all.fold(begin, |sum, one| Lately {
            windows: (sum.windows.0.min(one.cwnd), sum.windows.1.max(one.cwnd)),
            in_flight: sum.in_flight.max(one.in_flight),
            is_open: sum.is_open && one.ca_state < CWR,
            is_below: sum.is_below && one.cwnd < one.ssthresh,
        }))
    }

    /// Whether something else than the congestion window holds it back.
    pub(super) fn is_held(&self) -> bool {
        let (used, least) = (self.in_flight, self.windows.0);
        self.is_open && f64::from(used) < USED * f64::from(least) && used + UNUSED <= least
    }

    /// Whether it is in slow start: below its threshold, which may be none, and growing. A window
    /// that stays where it is has ended slow start without one.
    pub(super) fn is_starting(&self) -> bool {
        self.is_below && self.windows.1 > self.windows.0
    }
}

/// The samples of a measured flow.
pub(super) fn of_samples(seen: &FlowSeen) -> Vec<State> {
    let samples = seen.samples.iter();
    samples
        .map(|one| State {
            at: Time::from_ns(one.at_ns.max(0).cast_unsigned()),
            cwnd: one.cwnd,
            ssthresh: one.ssthresh,
            in_flight: one.in_flight,
            ca_state: one.ca_state,
            srtt_us: one.srtt_us,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(at_ms: u64, cwnd: u32, in_flight: u32) -> State {
        State {
            at: Time::from_ms(at_ms),
            cwnd,
            ssthresh: NO_THRESHOLD,
            in_flight,
            ca_state: 0,
            srtt_us: 40_000,
        }
    }

    #[test]
    fn a_window_that_is_not_used_does_not_hold_its_sender() {
        let at = Time::from_ms(100);
        let held = [state(0, 100, 100), state(60, 100, 55), state(90, 100, 56)];
        assert!(Lately::of(&held[1..], at).unwrap().is_held());
        // What was on its way when the round trip began counts.
        assert!(!Lately::of(&held, at).unwrap().is_held());
        let full = [state(50, 100, 55), state(70, 100, 99)];
        assert!(!Lately::of(&full, at).unwrap().is_held());
        let recovering = [State {
            ca_state: RECOVERY,
            ..state(90, 100, 20)
        }];
        assert!(!Lately::of(&recovering, at).unwrap().is_held());
        assert_eq!(Lately::of(&held, Time::ZERO).unwrap().in_flight, 100);
        assert_eq!(Lately::of(&[], at), None);
    }

    #[test]
    fn slow_start_grows_below_its_threshold() {
        let at = Time::from_ms(100);
        let of = |states: &[State]| Lately::of(states, at).unwrap().is_starting();
        assert!(of(&[state(60, 20, 20), state(90, 40, 40)]));
        assert!(!of(&[state(60, 40, 40), state(90, 40, 40)]));
        let above = [state(60, 20, 20), state(90, 21, 20)].map(|one| State {
            ssthresh: 10,
            ..one
        });
        assert!(!of(&above));
    }
}
