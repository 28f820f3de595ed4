//! The time of one simulated core, and meters that move it by what work costs.
//!
//! The core's time is virtual time: whatever runs on the core moves it on by its cost, and while
//! nothing runs it leaps to what happens next. The engine moves it for elements and a simulated
//! device for its driver, so both hold the one clock. Costs are in cycles, which need not be whole;
//! a meter carries what is left of a picosecond to its next charge, so a million cheap calls are as
//! exact as one dear one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use trammel_core::time::{Span, Time};

/// What work costs, in cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// A call that has packets, whatever their number.
    pub call: f64,
    /// Each packet.
    pub packet: f64,
    /// Each byte of a packet.
    pub byte: f64,
    /// A call that finds nothing: a task that polls in vain, a pull from an empty queue.
    pub empty: f64,
}

/// The most cycles of a single cost: a second at 1 THz.
const MOST_CYCLES: f64 = 1e12;

impl Cost {
    /// Costs nothing.
    pub const NONE: Cost = Cost {
        call: 0.0,
        packet: 0.0,
        byte: 0.0,
        empty: 0.0,
    };

    /// Costs so many cycles a packet and nothing else.
    pub const fn per_packet(cycles: f64) -> Cost {
        Cost {
            packet: cycles,
            ..Cost::NONE
        }
    }

    /// What is wrong with it: every cost is from 0 to 10¹² cycles.
    pub fn fault(&self) -> Option<String> {
        let all = [
            ("call", self.call),
            ("packet", self.packet),
            ("byte", self.byte),
            ("empty", self.empty),
        ];
        let (name, value) =
            (all.into_iter()).find(|(_, value)| !(0.0..=MOST_CYCLES).contains(value))?;
        Some(format!(
            "the cost `{name}` is {value} cycles; it must be from 0 to 1e12"
        ))
    }

    /// Cycles for a call with so many packets of so many bytes together.
    #[inline]
    pub fn of(&self, packets: usize, bytes: usize) -> f64 {
        if packets == 0 {
            return self.empty;
        }
        self.call + packets as f64 * self.packet + bytes as f64 * self.byte
    }
}

/// The time of a core since the start of the run; its clones are one clock.
#[derive(Clone, Debug, Default)]
pub struct CoreClock {
    // One thread moves it; it is atomic so that devices, which may be sent to another thread, can
    // hold it.
    ps: Arc<AtomicU64>,
}

impl CoreClock {
    /// A clock at zero.
    pub fn new() -> CoreClock {
        CoreClock::default()
    }

    /// What time it is.
    #[inline]
    pub fn now(&self) -> Time {
        Time::from_ps(self.ps.load(Ordering::Relaxed))
    }

    /// Moves it on by `span`.
    #[inline]
    pub fn advance(&self, span: Span) {
        let now = self.now().saturating_add(span);
        self.ps.store(now.as_ps(), Ordering::Relaxed);
    }

    /// Moves it on to `at`, unless it is later already.
    pub fn leap(&self, at: Time) {
        let now = self.now().max(at);
        self.ps.store(now.as_ps(), Ordering::Relaxed);
    }
}

/// The core's speed: clock rates from 1 kHz to 1 THz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    ps_per_cycle: f64,
}

impl Speed {
    /// So many cycles a second; none where that is not from 10³ to 10¹².
    pub fn from_hz(hz: f64) -> Option<Speed> {
        (1e3..=1e12).contains(&hz).then_some(Speed {
            ps_per_cycle: 1e12 / hz,
        })
    }

    /// How long so many cycles last.
    pub fn time_of(self, cycles: f64) -> Span {
        Span::from_ps((cycles * self.ps_per_cycle).round() as u64)
    }

    /// How many cycles fit into `time`.
    pub fn cycles_in(self, time: Span) -> f64 {
        time.as_ps() as f64 / self.ps_per_cycle
    }
}

/// Moves a core's clock by what work costs.
#[derive(Clone, Debug)]
pub struct Meter {
    clock: CoreClock,
    speed: Speed,
    /// The part of a picosecond that earlier charges have left over.
    carry_ps: f64,
}

impl Meter {
    /// Charges to `clock`.
    pub fn new(clock: CoreClock, speed: Speed) -> Meter {
        Meter {
            clock,
            speed,
            carry_ps: 0.0,
        }
    }

    /// The clock that it charges to.
    #[inline]
    pub fn clock(&self) -> &CoreClock {
        &self.clock
    }

    /// The core's speed.
    pub fn speed(&self) -> Speed {
        self.speed
    }

    /// Moves the clock on by `cycles`; says by how much time.
    #[inline]
    pub fn charge(&mut self, cycles: f64) -> Span {
        let exact = cycles * self.speed.ps_per_cycle + self.carry_ps;
        let whole = exact.floor();
        self.carry_ps = exact - whole;
        let span = Span::from_ps(whole as u64);
        self.clock.advance(span);
        span
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn impossible_speeds_and_costs_are_told() {
        for hz in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e13] {
            assert_eq!(Speed::from_hz(hz), None, "{hz}");
        }
        let wrong = Cost {
            byte: -1.0,
            ..Cost::NONE
        };
        let said = wrong.fault().expect("it is negative");
        assert!(said.contains("`byte` is -1 cycles"), "{said}");
        assert!(Cost::per_packet(f64::NAN).fault().is_some());
        assert_eq!(Cost::per_packet(35.0).fault(), None);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_to_rounding(cycles in 0.0..500.0_f64, ghz in 0.5..6.0_f64) {
            let speed = Speed::from_hz(ghz * 1e9).expect("in range");
            let mut meter = Meter::new(CoreClock::new(), speed);
            for _ in 0..100_000 {
                meter.charge(cycles);
            }
            let exact_ps = 1e5 * cycles * 1e3 / ghz;
            let found_ps = meter.clock().now().as_ps() as f64;
            prop_assert!((found_ps - exact_ps).abs() < 2.0, "{} {}", found_ps, exact_ps);
        }
    }
}
