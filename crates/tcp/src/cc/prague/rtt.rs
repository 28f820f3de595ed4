//! Independence of round trips: how much a flow grows, and how often it listens to marks.

use super::UNIT;
use crate::cc::Tp;

/// Round trips are counted in units of 2⁷ µs.
const GRAIN_SHIFT: u32 = 7;
/// Longer round trips are not scaled, units.
const LONGEST: u64 = 100_000;
/// R₀ and R₁ of `scalable`, units: 16.4 ms and 1.5 ms.
const R0: u64 = (1 << 14) >> GRAIN_SHIFT;
const R1: u64 = ((1 << 10) + (1 << 9)) >> GRAIN_SHIFT;

/// How flows of short round trips make room for others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Heuristic {
    #[default]
    None,
    Rate,
    Scalable,
    Additive,
}

/// The scaling of one flow.
#[derive(Debug, Default)]
pub(super) struct Scaling {
    heuristic: Heuristic,
    /// The target, units.
    target: u64,
    /// Rounds since slow start, and how many it takes.
    round: u32,
    transition: u32,
}

fn round_trip(tp: &Tp) -> u64 {
    u64::from(tp.srtt_us >> 3) >> GRAIN_SHIFT
}

impl Scaling {
    pub(super) fn new(heuristic: &str, target_us: u64, transition: u32) -> Scaling {
        let target = target_us >> GRAIN_SHIFT;
        Scaling {
            heuristic: match heuristic {
                _ if target == 0 => Heuristic::None,
                "rate" => Heuristic::Rate,
                "scalable" => Heuristic::Scalable,
                "additive" => Heuristic::Additive,
                _ => Heuristic::None,
            },
            target,
            round: 0,
            transition,
        }
    }

    pub(super) fn count_round(&mut self, tp: &Tp) {
        if !tp.in_slow_start() {
            self.round = self.round.saturating_add(1);
        }
    }

    fn target(&self, tp: &Tp) -> u64 {
        match self.heuristic {
            Heuristic::Additive => self.target + round_trip(tp),
            _ => self.target,
        }
    }

    fn is_active(&self, tp: &Tp) -> bool {
        self.heuristic != Heuristic::None && self.round >= self.transition && !tp.in_slow_start()
    }

    /// Whether a target has passed since `since_us`; always where nothing is scaled.
    pub(super) fn has_elapsed(&self, tp: &Tp, since_us: u64) -> bool {
        !self.is_active(tp) || self.target(tp) << GRAIN_SHIFT <= tp.now_us - since_us
    }

    /// Growth for a segment that was not marked, of a window of one.
    pub(super) fn increase(&self, tp: &Tp) -> u64 {
        let unit = UNIT as u64;
        let rtt = round_trip(tp);
        if self.round < self.transition || rtt == 0 || rtt > LONGEST {
            return unit;
        }
        match self.heuristic {
            Heuristic::None => unit,
            Heuristic::Rate | Heuristic::Additive => {
                let target = self.target(tp);
                if rtt >= target {
                    return unit;
                }
                let square = target * target;
                (unit * rtt * rtt + square / 2) / square
            }
            Heuristic::Scalable => {
                let growth = unit / 8 * R0 + unit * rtt.saturating_sub(R1).min(R0);
                let square = R0 * R0;
                (growth * rtt + square / 2) / square
            }
        }
    }
}
