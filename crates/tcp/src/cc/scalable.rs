//! Scalable TCP: a fixed increase for each ACK, so that recovery takes the same rounds at any rate.
//!
//! # What it does
//! Above `ssthresh` every ACK adds a hundredth of a segment; a loss takes an eighth of the window.
//! Three laws go by the name:
//!
//! ```text
//! linux       cwnd + 1 per min(cwnd, 100) segments, the remainder kept   (Linux 6.12)
//! linux-2.6   cwnd + 1 per min(cwnd, 50) + 1 ACKs, the count set to 0    (Linux 2.6.22, ns-2 TCP/Linux)
//! kelly       cwnd + 0.01 per segment, the fraction part of the window   (the paper, ns-2 native)
//! ```
//!
//! The first two are Reno below 100 or 50 segments; the third is slower than Reno there. In steady
//! state under independent losses with probability q the third has the mean window a / (q ln(1/b))
//! with a = 0.01 and b = 0.875.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "100 Mbit/s"
//! rtt = "80 ms"
//! queue = { limit = "1 bdp" }
//! [[flow]]
//! variant = "scalable"
//! [[flow]]
//! variant = "newreno"
//! ```
//!
//! # References
//! Kelly, "Scalable TCP: Improving Performance in Highspeed Wide Area Networks", 2003, §3; Linux
//! 6.12 `tcp_scalable`.

use super::{CongestionControl, Entry, Tp};
use trammel_core::entry::{About, Kind, Param};

/// Scalable in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "scalable",
        aliases: &["stcp"],
        summary: "a hundredth of a segment for each ACK, an eighth of the window for a loss",
        references: &[
            "Kelly 2003, Scalable TCP: Improving Performance in Highspeed Wide Area Networks",
            "Linux 6.12 net/ipv4/tcp_scalable.c",
        ],
        params: &[Param {
            name: "dialect",
            kind: Kind::Choice(&["linux", "linux-2.6", "kelly"]),
            default: "linux",
            unit: "",
            help: "which law of increase: Linux 6.12, Linux 2.6.22, or the paper's",
        }],
    },
    build: |params| match params.text("dialect") {
        "kelly" => Box::new(Kelly { hundredths: 0 }),
        "linux-2.6" => Box::new(Scalable { is_2_6: true }),
        _ => Box::new(Scalable { is_2_6: false }),
    },
};

/// The Linux laws keep no state of their own.
#[derive(Debug)]
struct Scalable {
    is_2_6: bool,
}

impl CongestionControl for Scalable {
    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        (tp.snd_cwnd - (tp.snd_cwnd >> 3)).max(2)
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        let Some(left) = tp.left_after_slow_start(acked) else {
            return;
        };
        if !self.is_2_6 {
            tp.cong_avoid_ai(tp.snd_cwnd.min(100), left);
            return;
        }
        tp.snd_cwnd_cnt += left;
        if tp.snd_cwnd_cnt > tp.snd_cwnd.min(50) {
            tp.snd_cwnd = (tp.snd_cwnd + 1).min(tp.snd_cwnd_clamp);
            tp.snd_cwnd_cnt = 0;
        }
    }
}

/// The paper's law: a real-valued window, of which `snd_cwnd` is the whole part.
#[derive(Debug)]
struct Kelly {
    /// The window's fraction, hundredths of a segment.
    hundredths: u32,
}

impl CongestionControl for Kelly {
    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        let window = u64::from(tp.snd_cwnd) * 100 + u64::from(self.hundredths);
        let window = (window * 7 / 8).max(200);
        self.hundredths = (window % 100) as u32;
        (window / 100) as u32
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        let Some(left) = tp.left_after_slow_start(acked) else {
            return;
        };
        self.hundredths += left;
        tp.snd_cwnd = (tp.snd_cwnd + self.hundredths / 100).min(tp.snd_cwnd_clamp);
        self.hundredths %= 100;
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![("cwnd_fraction", f64::from(self.hundredths) / 100.0)]
    }
}

#[cfg(test)]
mod tests {
    use crate::cc_harness::{Sender, trace};

    /// ACKs that add ten segments to a window of `cwnd`.
    fn acks_for_ten(dialect: &str, cwnd: u32) -> u32 {
        let mut sender = Sender::new("scalable", &[("dialect", dialect)], 10_000);
        sender.tp.cwnd_limited = true;
        sender.tp.snd_cwnd = cwnd;
        sender.tp.snd_ssthresh = 2;
        let mut acks = 0;
        while sender.tp.snd_cwnd < cwnd + 10 {
            sender.cc.cong_avoid(&mut sender.tp, 0, 1);
            acks += 1;
        }
        acks
    }

    #[test]
    fn three_dialects_grow_at_their_own_pace() {
        for (dialect, at_10, at_200) in [
            ("linux", (10..20).sum(), 1000),
            ("linux-2.6", (11..21).sum(), 510),
            ("kelly", 1000, 1000),
        ] {
            assert_eq!(acks_for_ten(dialect, 10), at_10, "{dialect}");
            assert_eq!(acks_for_ten(dialect, 200), at_200, "{dialect}");
        }
    }

    #[test]
    fn an_eighth_is_lost_with_and_without_fractions() {
        for (dialect, left) in [("linux", 89), ("linux-2.6", 89), ("kelly", 88)] {
            let mut sender = Sender::new("scalable", &[("dialect", dialect)], 10_000);
            sender.tp.snd_cwnd = 101;
            sender.lose();
            assert_eq!(sender.tp.snd_cwnd, left, "{dialect}");
        }
    }

    #[test]
    fn recovery_takes_thirteen_rounds_at_any_window() {
        // ln(8/7)/ln(1.01) = 13.4 rounds (Kelly 2003, §3).
        for cwnd in [1_000, 10_000] {
            let mut sender = Sender::new("scalable", &[("dialect", "kelly")], 100_000);
            sender.tp.snd_cwnd = cwnd;
            sender.lose();
            let rounds = sender.rounds(20);
            let needed = 1 + rounds.iter().take_while(|w| **w < cwnd).count();
            assert!((13..=14).contains(&needed), "{cwnd}: {needed}");
        }
    }

    #[test]
    fn windows_by_rounds() {
        insta::assert_snapshot!(trace("scalable", &[]), @r"
            20 40 80 160
            140 141 142 144 145 147 148 150 151 153 154 156 157
            138 139 140 142 143 145 146 147 149 150 152 153 155
            ");
        insta::assert_snapshot!(trace("scalable", &[("dialect", "linux-2.6")]), @r"
            20 40 80 160
            140 142 145 148 151 154 157 160 163 166 169 173 176
            154 157 160 163 166 169 173 176 179 183 186 190 194
            ");
        insta::assert_snapshot!(trace("scalable", &[("dialect", "kelly")]), @r"
            20 40 80 160
            140 141 142 144 145 147 148 150 151 153 154 156 157
            137 139 140 142 143 145 146 147 149 150 152 153 155
            ");
    }
}
