//! Round-trip time and retransmission timeout.
//!
//! Jacobson's estimator in fixed point (srtt × 8, deviation × 4). Linux's form (Sarolahti and
//! Kuznetsov, "Congestion Control in Linux TCP", 2002, §3) follows rises of the deviation at once,
//! lets it fall once a round trip only, damps samples below the mean, and puts the floor of 200 ms
//! under the deviation instead of under the timeout. The other form is RFC 6298 §2.

use crate::cc::Tp;
use crate::seq::after;
use crate::stack::Stack;
use crate::windowed::Windowed;

/// The estimator's state beyond what [`Tp`] shows.
#[derive(Clone, Debug)]
pub(crate) struct Rtt {
    /// The deviation that the timeout uses, µs × 4.
    rttvar_us: u32,
    /// Largest deviation in this round trip.
    mdev_max_us: u32,
    /// The round trip ends when this is acknowledged.
    round_end: u32,
    /// The least round-trip time of the last minutes, µs.
    pub(crate) min: Windowed,
    /// The timeout without back-off, µs.
    pub(crate) rto_us: u64,
}

impl Rtt {
    pub(crate) fn new(stack: &Stack) -> Rtt {
        Rtt {
            rttvar_us: 0,
            min: Windowed::default(),
            mdev_max_us: 0,
            round_end: 0,
            rto_us: stack.initial_rto.as_us(),
        }
    }

    /// RFC 6298 §5.7: after a lost SYN data begins with a timeout of at least three seconds. Linux
    /// does so where timestamps gave no round trip (`tcp_init_metrics`).
    pub(crate) fn after_lost_syn(&mut self, tp: &Tp, stack: &Stack) {
        if !stack.linux_rtt || tp.srtt_us == 0 {
            self.rto_us = self.rto_us.max(3_000_000);
        }
    }

    /// Takes a sample of `rtt_us` microseconds and updates the timeout.
    pub(crate) fn sample(&mut self, tp: &mut Tp, stack: &Stack, rtt_us: u32) {
        let floor = stack.min_rto.as_us() as u32;
        // Eight times it must fit: an idle peer may echo a stamp of long ago.
        let m = rtt_us.clamp(1, 1 << 27);
        if tp.srtt_us == 0 {
            tp.srtt_us = m << 3;
            tp.mdev_us = m << 1;
            self.rttvar_us = if stack.linux_rtt {
                tp.mdev_us.max(floor)
            } else {
                tp.mdev_us
            };
            self.mdev_max_us = self.rttvar_us;
            self.round_end = tp.snd_nxt;
        } else {
            let error = m as i32 - (tp.srtt_us >> 3) as i32;
            tp.srtt_us = (tp.srtt_us as i32 + error).max(1) as u32;
            let mut excess = error.abs() - (tp.mdev_us >> 2) as i32;
            if stack.linux_rtt && error < 0 && excess > 0 {
                // A fall of the RTT must not look like variance: an eighth of the usual gain.
                excess >>= 3;
            }
            tp.mdev_us = (tp.mdev_us as i32 + excess).max(0) as u32;
            if stack.linux_rtt {
                if tp.mdev_us > self.mdev_max_us {
                    self.mdev_max_us = tp.mdev_us;
                    self.rttvar_us = self.rttvar_us.max(self.mdev_max_us);
                }
                if after(tp.snd_una, self.round_end) {
                    if self.mdev_max_us < self.rttvar_us {
                        self.rttvar_us -= (self.rttvar_us - self.mdev_max_us) >> 2;
                    }
                    self.round_end = tp.snd_nxt;
                    self.mdev_max_us = floor;
                }
            } else {
                self.rttvar_us = tp.mdev_us;
            }
        }
        let rto = u64::from(tp.srtt_us >> 3) + u64::from(self.rttvar_us);
        self.rto_us = if stack.linux_rtt {
            rto
        } else {
            rto.max(u64::from(floor))
        }
        .min(stack.max_rto.as_us());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::rng::Rng;

    fn estimate(stack: &Stack, samples: &[u32]) -> (u32, u64) {
        let mut tp = Tp::new(10, 1448, Rng::new(1, "rtt"));
        let mut rtt = Rtt::new(stack);
        for sample in samples {
            tp.snd_una += 1448;
            tp.snd_nxt = tp.snd_una + 14480;
            rtt.sample(&mut tp, stack, *sample);
        }
        (tp.srtt_us >> 3, rtt.rto_us)
    }

    #[test]
    fn first_sample_sets_the_mean_and_half_the_deviation() {
        // RFC 6298 §2.2: RTO = R + 4 × R/2, here above the floor of one second.
        assert_eq!(estimate(&Stack::rfc(), &[800_000]), (800_000, 2_400_000));
        // Linux: mean plus at least 200 ms.
        assert_eq!(estimate(&Stack::linux_6(), &[50_000]), (50_000, 250_000));
    }

    #[test]
    fn the_estimators_follow_rfc_6298() {
        // §2.3 by hand, for 100 ms and then 180 ms: RTTVAR = 3/4 × 50 + 1/4 × 80, SRTT = 7/8 × 100
        // + 1/8 × 180.
        let (mut stack, samples) = (Stack::rfc(), [100_000, 180_000]);
        stack.min_rto = trammel_core::Span::from_ms(1);
        assert_eq!(estimate(&stack, &samples), (110_000, 110_000 + 4 * 57_500));
    }

    #[test]
    fn linux_does_not_take_a_fall_of_the_rtt_for_variance() {
        let mut samples = vec![300_000; 50];
        samples.extend([100_000; 5]);
        let fall = estimate(&Stack::linux_6(), &samples).1;
        samples.truncate(50);
        samples.extend([500_000; 5]);
        let rise = estimate(&Stack::linux_6(), &samples).1;
        assert!(rise > fall + 200_000, "{fall} {rise}");
    }

    #[test]
    fn the_timeout_stays_below_its_ceiling_whatever_the_sample() {
        for stack in [Stack::linux_6(), Stack::linux_2_6(), Stack::rfc()] {
            let (_, rto) = estimate(&stack, &[u32::MAX, 1, u32::MAX, u32::MAX]);
            assert_eq!(rto, stack.max_rto.as_us());
            assert!(estimate(&stack, &[0]).1 >= 200_000);
        }
    }

    #[test]
    fn after_a_lost_syn_data_waits_three_seconds_unless_linux_knows_the_round_trip() {
        let cases = [
            (Stack::rfc(), 0, 3_000_000),
            (Stack::rfc(), 800, 3_000_000),
            (Stack::linux_6(), 0, 3_000_000),
            (Stack::linux_6(), 800, 1_000_000),
        ];
        for (stack, srtt_us, rto_us) in cases {
            let mut tp = Tp::new(10, 1448, Rng::new(1, "syn"));
            tp.srtt_us = srtt_us;
            let mut rtt = Rtt::new(&stack);
            rtt.after_lost_syn(&tp, &stack);
            assert_eq!(rtt.rto_us, rto_us, "{srtt_us}");
        }
    }

    #[test]
    fn a_steady_rtt_approaches_its_floor() {
        let steady = [100_000; 200];
        assert_eq!(estimate(&Stack::linux_6(), &steady).1, 300_000);
        assert_eq!(estimate(&Stack::rfc(), &steady).1, 1_000_000);
    }
}
