//! DCTCP: reduces the window by the share of segments that were marked.
//!
//! # What it does
//! Once a window the sender updates its estimate α of the marked share, and a mark reduces the
//! window by half of it:
//!
//! ```text
//! α ← (1 − g)α + gF,   g = 2^−shift_g;      cwnd ← cwnd(1 − α/2)
//! ```
//!
//! A loss halves the window. The receiver echoes the mark of each segment exactly: where marks
//! begin or end it acknowledges at once what came before. Without ECN it is Reno.
//!
//! When this module sets `send_ack_now`, `ecn_demand_cwr` is already the new state and the ACK
//! asked for carries its opposite.
//!
//! # Example
//! ```toml
//! duration = "5 s"
//! [path]
//! rate = "100 Mbit/s"
//! rtt = "1 ms"
//! queue = { discipline = "threshold", threshold = 20, limit = "200 packets" }
//! [[flow]]
//! variant = "dctcp"
//! [[flow]]
//! variant = "dctcp"
//! ```
//!
//! # Parameters
//! `shift_g`, `alpha_on_init`: as in the kernel's module.
//!
//! # References
//! RFC 8257; behaviour as in Linux 6.12.

use super::{AckFlags, CaEvent, CaState, CongestionControl, Entry, Tp};
use trammel_core::entry::{About, Kind, Param};

/// DCTCP in the table of variants.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "dctcp",
        aliases: &[],
        summary: "reduces the window by the share of marked segments",
        references: &["RFC 8257", "Linux 6.12 net/ipv4/tcp_dctcp.c"],
        params: &[
            Param {
                name: "shift_g",
                kind: Kind::Int(0, 10),
                default: "4",
                unit: "",
                help: "weight of a new window in the marked share: 2^-shift_g",
            },
            Param {
                name: "alpha_on_init",
                kind: Kind::Int(0, ALPHA_MAX as i64),
                default: "1024",
                unit: "/1024",
                help: "marked share assumed at the start",
            },
        ],
    },
    build: |params| {
        Box::new(Dctcp {
            shift_g: params.int("shift_g") as u32,
            alpha_on_init: params.int("alpha_on_init") as u32,
            ..Dctcp::default()
        })
    },
};

/// Fraction bits of α.
const ALPHA_SHIFT: u32 = 10;
const ALPHA_MAX: u32 = 1 << ALPHA_SHIFT;

#[derive(Debug, Default)]
struct Dctcp {
    shift_g: u32,
    alpha_on_init: u32,
    /// ECN was negotiated; otherwise this is Reno.
    ecn: bool,
    /// The marked share in 1024ths.
    alpha: u32,
    /// The window of observation ends here.
    next_seq: u32,
    old_delivered: u64,
    old_delivered_ce: u64,
    /// The window before the last reduction.
    loss_cwnd: u32,
    /// Receiver side: the last segment was marked.
    ce_state: bool,
}

impl Dctcp {
    fn start_window(&mut self, tp: &Tp) {
        self.next_seq = tp.snd_nxt;
        self.old_delivered = tp.delivered;
        self.old_delivered_ce = tp.delivered_ce;
    }

    fn react_to_loss(&mut self, tp: &mut Tp) {
        self.loss_cwnd = tp.snd_cwnd;
        tp.snd_ssthresh = tp.reno_ssthresh();
    }

    fn echo(&mut self, tp: &mut Tp, marked: bool) {
        if self.ce_state != marked {
            //= rfc8257 §3.2
            //# To avoid this, an implementation MAY choose to send two ACKs: one for previously
            //# unacknowledged packets and another acknowledging the most recently received packet.
            tp.send_ack_now = true;
        }
        self.ce_state = marked;
        tp.ecn_demand_cwr = marked;
    }
}

impl CongestionControl for Dctcp {
    fn init(&mut self, tp: &mut Tp) {
        self.ecn = tp.ecn_ok;
        self.alpha = self.alpha_on_init.min(ALPHA_MAX);
        self.loss_cwnd = 0;
        self.ce_state = false;
        self.start_window(tp);
    }

    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        if !self.ecn {
            return tp.reno_ssthresh();
        }
        self.loss_cwnd = tp.snd_cwnd;
        let cut = (u64::from(tp.snd_cwnd) * u64::from(self.alpha)) >> (ALPHA_SHIFT + 1);
        (tp.snd_cwnd - cut as u32).max(2)
    }

    fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
        tp.reno_cong_avoid(acked);
    }

    fn in_ack_event(&mut self, tp: &mut Tp, _flags: AckFlags) {
        let window_over = tp.snd_una.wrapping_sub(self.next_seq) as i32 >= 0;
        if !self.ecn || !window_over {
            return;
        }
        let delivered = tp.delivered - self.old_delivered;
        let marked = tp.delivered_ce - self.old_delivered_ce;
        // The last bits fade at once, or α would never reach zero.
        let fade = match self.alpha >> self.shift_g {
            0 => self.alpha,
            fade => fade,
        };
        self.alpha -= fade;
        if marked > 0 {
            let gain = (marked << (ALPHA_SHIFT - self.shift_g)) / delivered.max(1);
            self.alpha = (u64::from(self.alpha) + gain).min(u64::from(ALPHA_MAX)) as u32;
        }
        self.start_window(tp);
    }

    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        // A timeout comes as an event, so that a recovery that ends in one is counted once.
        if self.ecn && new == CaState::Recovery && tp.ca_state != new {
            self.react_to_loss(tp);
        }
    }

    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        if !self.ecn {
            return;
        }
        match event {
            CaEvent::EcnIsCe => self.echo(tp, true),
            CaEvent::EcnNoCe => self.echo(tp, false),
            CaEvent::Loss => self.react_to_loss(tp),
            CaEvent::TxStart
            | CaEvent::CwndRestart
            | CaEvent::CompleteCwr
            | CaEvent::TailLossRepaired => {}
        }
    }

    fn undo_cwnd(&mut self, tp: &mut Tp) -> u32 {
        if self.ecn {
            tp.snd_cwnd.max(self.loss_cwnd)
        } else {
            tp.reno_undo_cwnd()
        }
    }

    fn needs_ecn(&self) -> bool {
        true
    }

    fn observe(&self) -> Vec<(&'static str, f64)> {
        vec![("alpha", f64::from(self.alpha) / f64::from(ALPHA_MAX))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::rng::Rng;

    fn started(ecn_ok: bool) -> (Dctcp, Tp) {
        let mut tp = Tp::new(100, 1448, Rng::new(1, "flow"));
        tp.ecn_ok = ecn_ok;
        let mut cc = Dctcp {
            shift_g: 4,
            alpha_on_init: 1024,
            ..Dctcp::default()
        };
        cc.init(&mut tp);
        (cc, tp)
    }

    /// One window of 100 segments of which `marked` were marked.
    fn window(cc: &mut Dctcp, tp: &mut Tp, marked: u64) {
        tp.snd_una = tp.snd_nxt;
        tp.snd_nxt += 100;
        tp.delivered += 100;
        tp.delivered_ce += marked;
        cc.in_ack_event(tp, AckFlags::default());
    }

    #[test]
    fn alpha_converges_to_the_marked_share() {
        let (mut cc, mut tp) = started(true);
        for _ in 0..100 {
            window(&mut cc, &mut tp, 25);
        }
        // A quarter of 1024, and at most the fifteen sixteenths that rounding keeps.
        assert!((256..=271).contains(&cc.alpha), "{}", cc.alpha);
        // A sixteenth fades each window, so half is gone after eleven.
        for _ in 0..11 {
            window(&mut cc, &mut tp, 0);
        }
        assert!((120..=140).contains(&cc.alpha), "{}", cc.alpha);
        for _ in 0..60 {
            window(&mut cc, &mut tp, 0);
        }
        assert_eq!(cc.alpha, 0);
    }

    #[test]
    fn a_mark_takes_half_the_share_and_a_loss_half_the_window() {
        let (mut cc, mut tp) = started(true);
        assert_eq!(cc.ssthresh(&mut tp), 50);
        cc.alpha = 256;
        assert_eq!(cc.ssthresh(&mut tp), 88);
        cc.set_state(&mut tp, CaState::Recovery);
        assert_eq!(tp.snd_ssthresh, 50);
        tp.snd_cwnd = 50;
        assert_eq!(cc.undo_cwnd(&mut tp), 100);
    }

    #[test]
    fn the_receiver_acknowledges_at_once_where_marks_begin_or_end() {
        let (mut cc, mut tp) = started(true);
        let mut asked = Vec::new();
        for event in [
            CaEvent::EcnNoCe,
            CaEvent::EcnIsCe,
            CaEvent::EcnIsCe,
            CaEvent::EcnNoCe,
        ] {
            tp.send_ack_now = false;
            cc.cwnd_event(&mut tp, event);
            asked.push((tp.send_ack_now, tp.ecn_demand_cwr));
        }
        assert_eq!(
            asked,
            [(false, false), (true, true), (false, true), (true, false)]
        );
    }

    #[test]
    fn without_ecn_it_is_reno() {
        let (mut cc, mut tp) = started(false);
        cc.alpha = 0;
        assert_eq!(cc.ssthresh(&mut tp), 50);
        tp.snd_ssthresh = 70;
        cc.cwnd_event(&mut tp, CaEvent::Loss);
        cc.set_state(&mut tp, CaState::Recovery);
        assert_eq!(tp.snd_ssthresh, 70);
        tp.prior_cwnd = 120;
        assert_eq!(cc.undo_cwnd(&mut tp), 120);
    }
}
