//! The grain of a kernel's timers.
//!
//! Linux keeps retransmission and delayed-ACK timers in a timing wheel of ticks (jiffies) whose
//! grain grows with the distance: one tick up to 63 ticks ahead, 8 up to 504, 64 up to 4,032, and
//! so on; a timer fires at the end of its grain, never early. At 1000 Hz a retransmission timer of
//! 250 ms thus fires up to 8 ms late.

use trammel_core::time::{Span, Time};

/// The instant at which a timer of `delay_us` microseconds, armed at `now`, fires under a clock of
/// `hz` ticks per second; exact where `hz` is 0.
pub fn jiffies_after(now: Time, delay_us: u64, hz: u32) -> Time {
    if hz == 0 {
        return now.saturating_add(Span::from_us(delay_us));
    }
    let tick_us = 1_000_000 / u64::from(hz);
    let ticks = delay_us.div_ceil(tick_us);
    let expires = now.as_us() / tick_us + ticks;
    let mut shift = 0;
    while ticks >= 63 << shift && shift < 24 {
        shift += 3;
    }
    let fires = ((expires >> shift) + 1) << shift;
    Time::from_us(fires.saturating_mul(tick_us))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fires_late_by_at_most_its_grain_and_never_early() {
        for (delay_ms, grain_ms) in [
            (2, 1),
            (40, 1),
            (62, 1),
            (63, 8),
            (250, 8),
            (504, 64),
            (1000, 64),
        ] {
            for start_us in (0..20_000).step_by(333) {
                let start = Time::from_us(start_us);
                let fires = jiffies_after(start, delay_ms * 1000, 1000);
                assert!(fires > start + Span::from_ms(delay_ms - 1));
                assert!(
                    fires <= start + Span::from_ms(delay_ms + grain_ms),
                    "{delay_ms} {start_us}"
                );
            }
        }
    }

    #[test]
    fn is_exact_without_ticks() {
        assert_eq!(jiffies_after(Time::from_us(3), 500, 0), Time::from_us(503));
    }
}
