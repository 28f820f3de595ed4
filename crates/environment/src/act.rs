//! What an agent decides, and what becomes of it.

/// The most segments that an agent may keep in flight.
pub(crate) const MOST_SEGMENTS: f64 = 65_536.0;
/// The highest pacing rate that an agent may set, Mbit/s.
pub(crate) const MOST_MBPS: f64 = 100_000.0;
/// The lowest, Mbit/s: a full segment in 1.2 s.
pub(crate) const LEAST_MBPS: f64 = 0.01;

/// What an action means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The window becomes 2ᵃ times what it was; a is from −1 to 1.
    CwndFactor,
    /// The window in segments.
    CwndPkts,
    /// The pacing rate becomes 2ᵃ times what it was; a is from −1 to 1.
    PacingFactor,
    /// The pacing rate in Mbit/s.
    PacingRateMbps,
    /// Nothing: the flow keeps its own variant, and is watched. So a variant gets the reward of an
    /// agent.
    Nothing,
}

impl Act {
    /// All, in the order of documents.
    pub const ALL: [Act; 5] = [
        Act::CwndFactor,
        Act::CwndPkts,
        Act::PacingFactor,
        Act::PacingRateMbps,
        Act::Nothing,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Act::CwndFactor => "cwnd_factor",
            Act::CwndPkts => "cwnd_pkts",
            Act::PacingFactor => "pacing_factor",
            Act::PacingRateMbps => "pacing_rate_mbps",
            Act::Nothing => "nothing",
        }
    }

    /// The one called `name`.
    pub fn from_name(name: &str) -> Option<Act> {
        Act::ALL.into_iter().find(|act| act.name() == name)
    }

    /// The least and the most that an action may be; what is beyond is taken for these.
    pub fn range(self) -> (f64, f64) {
        match self {
            Act::CwndFactor | Act::PacingFactor | Act::Nothing => (-1.0, 1.0),
            Act::CwndPkts => (1.0, MOST_SEGMENTS),
            Act::PacingRateMbps => (LEAST_MBPS, MOST_MBPS),
        }
    }

    /// Whether the pacing rate is decided, and not the window.
    pub fn paces(self) -> bool {
        matches!(self, Act::PacingFactor | Act::PacingRateMbps)
    }

    /// What window (segments) or rate (Mbit/s) follows from `now` by `action`; not a number
    /// changes nothing.
    pub(crate) fn decide(self, now: f64, action: f64) -> f64 {
        if action.is_nan() {
            return now;
        }
        let (least, most) = self.range();
        let action = action.clamp(least, most);
        match self {
            Act::CwndFactor => (now * action.exp2()).clamp(1.0, MOST_SEGMENTS),
            Act::PacingFactor => (now * action.exp2()).clamp(LEAST_MBPS, MOST_MBPS),
            Act::CwndPkts | Act::PacingRateMbps => action,
            Act::Nothing => now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_double_or_halve_at_most_and_stay_possible() {
        assert_eq!(Act::CwndFactor.decide(10.0, 5.0), 20.0);
        assert_eq!(Act::CwndFactor.decide(10.0, -1.0), 5.0);
        assert_eq!(Act::CwndFactor.decide(1.0, -1.0), 1.0);
        assert_eq!(Act::CwndFactor.decide(3.0, f64::NAN), 3.0);
        assert_eq!(Act::PacingRateMbps.decide(3.0, 8.5), 8.5);
    }
}
