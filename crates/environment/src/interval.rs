//! What a sender learns between two decisions, and how it keeps to the last one.

use trammel_core::time::Span;
use trammel_tcp::cc::{CaState, RateSample, Tp};

/// What a sender learnt in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Its length, µs.
    pub length_us: u64,
    /// ACKs in it.
    pub acks: u32,
    /// Segments acknowledged or SACKed.
    pub acked: u64,
    /// Segments marked lost.
    pub lost: u64,
    /// Segments reported as marked.
    pub marked: u64,
    /// Mean round trip, µs; nothing without a sample.
    pub rtt_us: Option<f64>,
    /// Smallest round trip, µs; nothing without a sample.
    pub least_rtt_us: Option<f64>,
    /// Slope of the round trip over time, s/s, by least squares; 0 with fewer than two samples.
    pub rtt_gradient: f64,
}

impl Summary {
    /// Segments acknowledged a second; 0 of no time.
    pub fn delivery_rate(&self) -> f64 {
        match self.length_us {
            0 => 0.0,
            us => self.acked as f64 * 1e6 / us as f64,
        }
    }

    /// Lost of those that were acknowledged or lost, from 0 to 1; 0 of none.
    pub fn loss_ratio(&self) -> f64 {
        ratio(self.lost, self.acked + self.lost)
    }

    /// Marked of those that were acknowledged, from 0 to 1; 0 of none.
    pub(crate) fn mark_ratio(&self) -> f64 {
        ratio(self.marked, self.acked).min(1.0)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    }
}

/// Gathers what ACKs say until the next decision.
#[derive(Clone, Debug)]
pub struct Interval {
    every: Span,
    since_us: u64,
    so_far: Summary,
    /// Of the round trips: how many, and the sums of t, r, t² and t·r, with t from the start of
    /// the interval, in µs.
    sums: [f64; 5],
    /// The window that was decided, segments: an ACK after a timeout grows towards it.
    window: u32,
}

impl Interval {
    /// Intervals of at least `every`; each ends with an ACK.
    pub fn new(every: Span) -> Interval {
        Interval {
            every,
            since_us: 0,
            so_far: Summary::default(),
            sums: [0.0; 5],
            window: u32::MAX,
        }
    }

    /// The connection opens.
    pub fn begin(&mut self, tp: &Tp) {
        self.restart(tp.now_us);
        self.decided(tp);
    }

    /// What `tp` has now was decided, and holds.
    pub fn decided(&mut self, tp: &Tp) {
        self.window = tp.snd_cwnd;
    }

    /// Takes an ACK, and has the window keep to what was decided; gives what was learnt where the
    /// interval is over.
    pub fn ack(&mut self, tp: &mut Tp, rs: &RateSample) -> Option<Summary> {
        self.hear(tp.now_us, rs);
        hold(tp, rs, self.window);
        let is_over = tp.now_us.saturating_sub(self.since_us) * 1_000_000 >= self.every.as_ps();
        is_over.then(|| self.take(tp.now_us))
    }

    /// Takes what an ACK at `now_us` says.
    pub fn hear(&mut self, now_us: u64, rs: &RateSample) {
        let so_far = &mut self.so_far;
        so_far.acks += 1;
        so_far.acked += u64::from(rs.acked_sacked);
        so_far.lost += u64::from(rs.losses);
        so_far.marked += rs.delivered_ce.max(0) as u64;
        if rs.rtt_us < 0 {
            return;
        }
        let (t, r) = ((now_us - self.since_us) as f64, rs.rtt_us as f64);
        so_far.least_rtt_us = Some(so_far.least_rtt_us.map_or(r, |least| least.min(r)));
        let new = [1.0, t, r, t * t, t * r];
        for (sum, new) in self.sums.iter_mut().zip(new) {
            *sum += new;
        }
    }

    /// What was learnt until `now_us`; the next interval begins.
    pub fn take(&mut self, now_us: u64) -> Summary {
        let [n, t, r, tt, tr] = self.sums;
        let spread = n * tt - t * t;
        let summary = Summary {
            length_us: now_us - self.since_us,
            rtt_us: (n > 0.0).then(|| r / n),
            // Of samples at one instant there is no slope.
            rtt_gradient: if spread > 0.5 {
                (n * tr - t * r) / spread
            } else {
                0.0
            },
            ..self.so_far
        };
        self.restart(now_us);
        summary
    }

    fn restart(&mut self, now_us: u64) {
        self.since_us = now_us;
        self.so_far = Summary::default();
        self.sums = [0.0; 5];
    }
}

/// Has the window of `tp` be `window` segments; after a timeout it grows towards that by what is
/// acknowledged, as slow start does, since all that was in flight may be lost.
pub fn hold(tp: &mut Tp, rs: &RateSample, window: u32) {
    let most = window.clamp(1, tp.snd_cwnd_clamp);
    tp.snd_cwnd = match tp.ca_state {
        CaState::Loss => most.min(tp.snd_cwnd + rs.acked_sacked).max(1),
        _ => most,
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::rng::Rng;

    fn rs(acked: u32, losses: u32, rtt_us: i64) -> RateSample {
        RateSample {
            acked_sacked: acked,
            losses,
            rtt_us,
            ..RateSample::default()
        }
    }

    #[test]
    fn an_interval_ends_with_the_first_ack_after_it_and_knows_the_slope() {
        let mut tp = Tp::new(10, 1448, Rng::new(1, "interval"));
        let mut interval = Interval::new(Span::from_ms(10));
        interval.begin(&tp);
        // A round trip that grows by 2 ms in 10.
        for at in 1..10 {
            tp.now_us = at * 1000;
            let rtt = 20_000 + 200 * at as i64;
            assert_eq!(interval.ack(&mut tp, &rs(2, 0, rtt)), None);
        }
        tp.now_us = 11_000;
        let summary = interval.ack(&mut tp, &rs(1, 1, 22_200)).unwrap();
        assert_eq!((summary.acks, summary.acked, summary.lost), (10, 19, 1));
        assert_eq!(summary.length_us, 11_000);
        assert!((summary.rtt_gradient - 0.2).abs() < 1e-9, "{summary:?}");
        assert_eq!(summary.least_rtt_us, Some(20_200.0));
        assert!((summary.loss_ratio() - 0.05).abs() < 1e-12);
        // The next begins there.
        tp.now_us = 20_000;
        assert_eq!(interval.ack(&mut tp, &rs(1, 0, -1)), None);
    }

    #[test]
    fn a_decided_window_holds_but_after_a_timeout_is_grown_to() {
        let mut tp = Tp::new(10, 1448, Rng::new(1, "interval"));
        tp.snd_cwnd = 40;
        let mut interval = Interval::new(Span::from_secs(1));
        interval.begin(&tp);
        tp.snd_cwnd = 5;
        assert_eq!(interval.ack(&mut tp, &rs(1, 0, -1)), None);
        assert_eq!(tp.snd_cwnd, 40);
        (tp.snd_cwnd, tp.ca_state) = (1, CaState::Loss);
        interval.ack(&mut tp, &rs(2, 0, -1));
        assert_eq!(tp.snd_cwnd, 3);
    }
}
