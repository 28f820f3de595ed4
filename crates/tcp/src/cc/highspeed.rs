//! HighSpeed TCP: increase and decrease from a table over the window, for very large windows.
//!
//! # What it does
//! Up to 38 segments it is Reno. Beyond, an ACK adds a(w)/w and a loss takes b(w) of the window, by
//! the response function w = 0.12 / p^0.835 that meets Reno's at w = 38 and has w = 83000 at p =
//! 1e-7:
//!
//! ```text
//! b(w) = 0.5 − 0.4 · (ln w − ln 38) / (ln 83000 − ln 38)
//! a(w) = w² · p(w) · 2 · b(w) / (2 − b(w))
//! ```
//!
//! The table has the windows at which a(w) reaches 2, 3, …, and there b(w) in 256ths. The row is
//! sought when the window grows in congestion avoidance, so that the first loss after slow start
//! halves. Every ACK counts a(w), however many segments it covers: stretched ACKs slow the growth,
//! as in Linux.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "100 Mbit/s"
//! rtt = "80 ms"
//! queue = { limit = "0.5 bdp" }
//! [[flow]]
//! variant = "highspeed"
//! [[flow]]
//! variant = "reno"
//! ```
//!
//! # References
//! RFC 3649 §5 and Appendix B; Linux 6.12 `tcp_highspeed`.

use super::{CongestionControl, Entry, Tp};
use trammel_core::entry::About;

/// HighSpeed TCP in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "highspeed",
        aliases: &["hstcp"],
        summary: "increase and decrease depend on the window, for windows of thousands",
        references: &["RFC 3649", "Linux 6.12 net/ipv4/tcp_highspeed.c"],
        params: &[],
    },
    build: |_| Box::new(HighSpeed { row: 0 }),
};

/// RFC 3649 Appendix B: row i is the largest window with a(w) = i + 1, and b of it in 256ths, cut.
const TABLE: [(u32, u32); 72] = [
    (38, 128),
    (118, 112),
    (221, 104),
    (347, 98),
    (495, 93),
    (663, 89),
    (851, 86),
    (1058, 83),
    (1284, 81),
    (1529, 78),
    (1793, 76),
    (2076, 74),
    (2378, 72),
    (2699, 71),
    (3039, 69),
    (3399, 68),
    (3778, 66),
    (4177, 65),
    (4596, 64),
    (5036, 62),
    (5497, 61),
    (5979, 60),
    (6483, 59),
    (7009, 58),
    (7558, 57),
    (8130, 56),
    (8726, 55),
    (9346, 54),
    (9991, 53),
    (10661, 52),
    (11358, 52),
    (12082, 51),
    (12834, 50),
    (13614, 49),
    (14424, 48),
    (15265, 48),
    (16137, 47),
    (17042, 46),
    (17981, 45),
    (18955, 45),
    (19965, 44),
    (21013, 43),
    (22101, 43),
    (23230, 42),
    (24402, 41),
    (25618, 41),
    (26881, 40),
    (28193, 39),
    (29557, 39),
    (30975, 38),
    (32450, 38),
    (33986, 37),
    (35586, 36),
    (37253, 36),
    (38992, 35),
    (40808, 35),
    (42707, 34),
    (44694, 33),
    (46776, 33),
    (48961, 32),
    (51258, 32),
    (53677, 31),
    (56230, 30),
    (58932, 30),
    (61799, 29),
    (64851, 28),
    (68113, 28),
    (71617, 27),
    (75401, 26),
    (79517, 26),
    (84035, 25),
    (89053, 24),
];

/// The state of HighSpeed TCP.
#[derive(Debug)]
struct HighSpeed {
    /// The row of [`TABLE`] that the window was in when it last grew.
    row: usize,
}

impl HighSpeed {
    fn seek(&mut self, cwnd: u32) {
        if cwnd > TABLE[self.row].0 {
            while cwnd > TABLE[self.row].0 && self.row < TABLE.len() - 1 {
                self.row += 1;
            }
        } else {
            while self.row > 0 && cwnd <= TABLE[self.row - 1].0 {
                self.row -= 1;
            }
        }
    }
}

impl CongestionControl for HighSpeed {
    fn init(&mut self, tp: &mut Tp) {
        self.row = 0;
        // Keeps the product of window and decrease within 32 bits.
        tp.snd_cwnd_clamp = tp.snd_cwnd_clamp.min(u32::MAX / 128);
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        let lost = (u64::from(tp.snd_cwnd) * u64::from(TABLE[self.row].1)) >> 8;
        (tp.snd_cwnd - lost as u32).max(2)
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        if !tp.is_cwnd_limited() {
            return;
        }
        if tp.in_slow_start() {
            // What is left beyond `ssthresh` is not carried over into congestion avoidance.
            tp.slow_start(acked);
            return;
        }
        self.seek(tp.snd_cwnd);
        if tp.snd_cwnd < tp.snd_cwnd_clamp {
            tp.snd_cwnd_cnt += self.row as u32 + 1;
            if tp.snd_cwnd_cnt >= tp.snd_cwnd {
                tp.snd_cwnd_cnt -= tp.snd_cwnd;
                tp.snd_cwnd += 1;
            }
        }
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![
            ("increase_pkts", self.row as f64 + 1.0),
            ("decrease", f64::from(TABLE[self.row].1) / 256.0),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// b(w) of RFC 3649 §5.
    fn b(w: f64) -> f64 {
        0.5 - 0.4 * (w.ln() - 38_f64.ln()) / (83_000_f64.ln() - 38_f64.ln())
    }

    #[test]
    fn table_is_the_response_function_of_rfc_3649() {
        for (row, (w, decrease)) in TABLE.into_iter().enumerate() {
            let (w, a) = (f64::from(w), row as f64 + 1.0);
            assert_eq!(decrease, (256.0 * b(w)) as u32, "{w}");
            // The appendix rounds w so that a(w) has just not passed the next whole number.
            let p = 0.078 / w.powf(1.2);
            let increase = w * w * p * 2.0 * b(w) / (2.0 - b(w));
            assert!(
                (increase / a - 1.0).abs() < 0.03 || row == 0,
                "{w}: {increase}"
            );
        }
    }

    #[test]
    fn finds_the_row_whose_windows_hold_it() {
        let mut cc = HighSpeed { row: 0 };
        for (cwnd, increase) in [
            (38, 1),
            (39, 2),
            (118, 2),
            (119, 3),
            (1000, 8),
            (40, 2),
            (10, 1),
        ] {
            cc.seek(cwnd);
            assert_eq!(cc.row + 1, increase, "{cwnd}");
        }
        cc.seek(u32::MAX);
        assert_eq!(cc.row, TABLE.len() - 1);
    }

    #[test]
    fn windows_by_rounds() {
        insta::assert_snapshot!(crate::cc_harness::trace("highspeed", &[]), @r"
            20 40 80 160
            80 81 83 85 87 89 91 93 95 97 99 101 103
            58 59 61 63 65 67 69 71 73 75 77 79 81
            ");
    }
}
