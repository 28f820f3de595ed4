//! Reno: slow start and additive increase, multiplicative decrease.
//!
//! # What it does
//! In slow start the window grows by a segment for each segment acknowledged; above `ssthresh` by
//! one segment a window. A loss halves it. `slow_start = "hystart++"` ends the first slow start
//! when the round trip grows: by a quarter of the growth for five rounds, and then by the
//! threshold. A flow whose variant is `newreno` has these rules over the stack `rfc` without SACK,
//! so that NewReno's recovery repairs one loss a round trip.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "10 Mbit/s"
//! rtt = "40 ms"
//! queue = { limit = "1 bdp" }
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # References
//! RFC 5681 §3.1; RFC 6582 for the recovery that `newreno` means; RFC 9406 for HyStart++.

use super::{AckSample, CongestionControl, Entry, Tp};
use crate::hystart_plus_plus::HyStartPlusPlus;
use trammel_core::entry::{About, Kind, Param};

/// Reno in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "reno",
        aliases: &["newreno"],
        summary: "additive increase, multiplicative decrease; `newreno` is that without SACK",
        references: &["RFC 5681", "RFC 6582", "RFC 9406"],
        params: &[Param {
            name: "slow_start",
            kind: Kind::Choice(&["classic", "hystart++"]),
            default: "classic",
            unit: "",
            help: "until a loss, or until the round trip grows (RFC 9406)",
        }],
    },
    build: |params| match params.text("slow_start") {
        "hystart++" => Box::new(CarefulReno(HyStartPlusPlus::new())),
        _ => Box::new(Reno),
    },
};

/// Reno keeps no state of its own.
#[derive(Debug)]
struct Reno;

impl CongestionControl for Reno {
    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        tp.reno_ssthresh()
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        tp.reno_cong_avoid(acked);
    }
}

/// Reno with HyStart++.
#[derive(Debug)]
struct CarefulReno(HyStartPlusPlus);

impl CongestionControl for CarefulReno {
    fn init(&mut self, tp: &mut Tp) {
        self.0.begin(tp);
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        tp.reno_ssthresh()
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        if self.0.is_active(tp) {
            self.0.grow(tp, acked);
        } else {
            tp.reno_cong_avoid(acked);
        }
    }

    fn pkts_acked(&mut self, tp: &mut Tp, sample: &AckSample) {
        if let Ok(rtt_us) = u32::try_from(sample.rtt_us) {
            self.0.take_rtt(tp, rtt_us);
        }
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![self.0.observe()]
    }
}

#[cfg(test)]
mod tests {
    use crate::cc::INFINITE_SSTHRESH;
    use crate::cc_harness::Sender;

    #[test]
    fn hystart_plus_plus_ends_slow_start_before_the_queue_is_long() {
        let mut classic = Sender::new("reno", &[], 40_000);
        let mut careful = Sender::new("reno", &[("slow_start", "hystart++")], 40_000);
        for sender in [&mut classic, &mut careful] {
            // 100 segments a round trip.
            sender.service_us = 400;
            sender.rounds(12);
        }
        assert_eq!(classic.tp.snd_ssthresh, INFINITE_SSTHRESH);
        assert!(
            (120..1000).contains(&careful.tp.snd_ssthresh),
            "{}",
            careful.tp.snd_ssthresh
        );
        assert!(careful.tp.snd_cwnd < classic.tp.snd_cwnd / 10);
        // A loss halves either.
        careful.lose();
        let cwnd = careful.tp.snd_cwnd;
        careful.round();
        assert_eq!(careful.tp.snd_cwnd, cwnd + 1);
    }
}
