//! A congestion control with pacing switched on or off, whatever the variant asks for.
//!
//! Switched on, segments leave at the rate that the kernel derives for a socket with
//! `SO_MAX_PACING_RATE` or the fq scheduler: window over smoothed round trip, twice that in slow
//! start and 1.2 times afterwards (`tcp_update_pacing_rate`; `tcp_pacing_ss_ratio`,
//! `tcp_pacing_ca_ratio`).

use trammel_tcp::cc::{AckFlags, AckSample, CaEvent, CaState, CongestionControl, RateSample, Tp};

const SLOW_START_PERCENT: u64 = 200;
const AVOIDANCE_PERCENT: u64 = 120;

/// `inner` with its pacing set to `on`.
#[derive(Debug)]
pub struct Paced {
    inner: Box<dyn CongestionControl>,
    on: bool,
}

impl Paced {
    /// Sets the pacing of `inner`.
    pub fn new(inner: Box<dyn CongestionControl>, on: bool) -> Paced {
        Paced { inner, on }
    }

    fn set(&self, tp: &mut Tp) {
        tp.pacing = self.on;
        if self.on && !self.inner.has_cong_control() && tp.srtt_us > 0 {
            let percent = if tp.snd_cwnd < tp.snd_ssthresh / 2 {
                SLOW_START_PERCENT
            } else {
                AVOIDANCE_PERCENT
            };
            let window = u64::from(tp.snd_cwnd.max(tp.packets_out)) * u64::from(tp.mss);
            // The smoothed round trip is in eighths of a microsecond.
            tp.pacing_rate = window * percent * 80_000 / u64::from(tp.srtt_us);
        }
    }
}

impl CongestionControl for Paced {
    fn init(&mut self, tp: &mut Tp) {
        self.inner.init(tp);
        self.set(tp);
    }
    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        self.inner.ssthresh(tp)
    }
    fn cong_avoid(&mut self, tp: &mut Tp, ack: u32, acked: u32) {
        self.inner.cong_avoid(tp, ack, acked);
        self.set(tp);
    }
    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        self.inner.set_state(tp, new);
        self.set(tp);
    }
    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        self.inner.cwnd_event(tp, event);
        self.set(tp);
    }
    fn in_ack_event(&mut self, tp: &mut Tp, flags: AckFlags) {
        self.inner.in_ack_event(tp, flags);
    }
    fn pkts_acked(&mut self, tp: &mut Tp, sample: &AckSample) {
        self.inner.pkts_acked(tp, sample);
        self.set(tp);
    }
    fn undo_cwnd(&mut self, tp: &mut Tp) -> u32 {
        self.inner.undo_cwnd(tp)
    }
    fn has_cong_control(&self) -> bool {
        self.inner.has_cong_control()
    }
    fn cong_control(&mut self, tp: &mut Tp, rs: &RateSample) {
        self.inner.cong_control(tp, rs);
        self.set(tp);
    }
    fn needs_ecn(&self) -> bool {
        self.inner.needs_ecn()
    }
    fn sndbuf_expand(&self) -> u32 {
        self.inner.sndbuf_expand()
    }
    fn min_tso_segs(&self, tp: &Tp) -> u32 {
        self.inner.min_tso_segs(tp)
    }
    fn observe(&self) -> Vec<(&'static str, f64)> {
        self.inner.observe()
    }
}

#[cfg(test)]
mod tests {
    use trammel_core::time::{Span, Time};
    use trammel_core::units::Rate;
    use trammel_scenario::flow::Flow;
    use trammel_scenario::model::Scenario;
    use trammel_scenario::path::{Limit, Queue};

    fn losses(pacing: bool) -> f64 {
        let flow = Flow::new("reno")
            .start(Time::ZERO)
            .initial_window(60)
            .bytes(60 * 1448)
            .pacing(pacing);
        let scenario = Scenario::dumbbell()
            .rate(Rate::from_bps(50_000_000))
            .rtt(Span::from_ms(50))
            // Too short for the first window at once.
            .queue(Queue::new("droptail").limit(Limit::Packets(20)))
            .flow(flow)
            .duration(Span::from_secs(5));
        let run = crate::simulate::simulate(&scenario, 1, false).unwrap();
        let row = run.flows.rows().next().expect("one flow");
        row.float("retransmissions_pkts").expect("always counted")
    }

    #[test]
    fn paced_segments_spare_a_short_queue() {
        assert!(losses(false) > 20.0, "{}", losses(false));
        assert_eq!(losses(true), 0.0);
    }
}
