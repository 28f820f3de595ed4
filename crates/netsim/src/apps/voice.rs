//! Voice: a frame every 20 ms, an adaptive playout buffer, and what a listener would say of it by
//! the E-model.
//!
//! # What it does
//! Someone at the sending host speaks; the user listens. Every 20 ms a datagram with a frame and 12
//! bytes of RTP leaves. The user's playout delay follows the network's: an estimate d of the delay
//! and v of its variation, both with the factor 0.998, and at each talk spurt, here each second,
//! the delay becomes d + 4v (Ramjee and others, algorithm 1). A frame that comes after its time is
//! as good as lost (`overdue`).
//!
//! `mos` is the mean opinion score of the E-model with the default values of G.107 §7.7: R = 93.2 −
//! Id − Ie,eff. Id is the simplification of Cole and Rosenbluth, 0.024 d + 0.11 (d − 177.3) where d
//! is above 177.3 ms, with d from mouth to ear: a frame, the codec's look-ahead and the playout
//! delay. Ie,eff = Ie + (95 − Ie) · Ppl / (Ppl + Bpl) for random loss of Ppl percent, late frames
//! counted as lost, with Ie and Bpl of G.113: 0 and 25.1 for G.711 with concealment of losses, 11
//! and 19 for G.729A. Each user's score is of the whole time after the warm-up.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "2 Mbit/s"
//! rtt = "60 ms"
//! [[app]]
//! kind = "voice"
//! codec = "g729a"
//! ```
//!
//! # Parameters
//! `codec`.
//!
//! # References
//! ITU-T G.107, "The E-model", 2015, §7 and Annex B; ITU-T G.113, Appendix I; Cole and Rosenbluth,
//! "Voice over IP Performance Monitoring", Computer Communication Review 31(2), 2001; Ramjee,
//! Kurose, Towsley and Schulzrinne, "Adaptive playout mechanisms for packetized audio applications
//! in wide-area networks", INFOCOM 1994; RFC 3550.

use super::{App, Carrier, Entry, Event, GIVE_UP, Io, Party};
use crate::experience::{Experience, Sum};
use trammel_core::entry::{About, Kind, Param};
use trammel_core::time::{Span, Time};

const FRAME: Span = Span::from_ms(20);
const RTP: u64 = 12;
/// Frames from one talk spurt to the next.
const SPURT: u32 = 50;
/// How much of an estimate a new delay leaves.
const KEPT: f64 = 0.998_002;

/// Voice in the table of applications.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "voice",
        aliases: &["voip"],
        summary: "voice: delay, loss and the opinion score of the E-model",
        references: &[
            "ITU-T G.107, The E-model, 2015",
            "ITU-T G.113, Appendix I",
            "Cole, Rosenbluth, CCR 31(2), 2001",
            "Ramjee et al., INFOCOM 1994",
        ],
        params: &[Param {
            name: "codec",
            kind: Kind::Choice(&["g711", "g729a"]),
            default: "g711",
            unit: "",
            help: "160 or 20 bytes a frame, and how well losses are concealed",
        }],
    },
    carrier: Carrier::Datagrams,
    connections: |_| 0,
    pace: |_| 50.0,
    build: |params| {
        let codec = match params.text("codec") {
            "g729a" => G729A,
            _ => G711,
        };
        Ok(Box::new(Voice::new(codec)))
    },
};

/// The variation of delay of which nothing is known, s: a frame for four of it.
const UNKNOWN_S: f64 = 0.005;

/// What the E-model knows of a codec.
#[derive(Clone, Copy, Debug)]
struct Codec {
    bytes: u64,
    look_ahead_ms: f64,
    /// Equipment impairment, and robustness against loss.
    ie: f64,
    bpl: f64,
}

const G711: Codec = Codec {
    bytes: 160,
    look_ahead_ms: 0.0,
    ie: 0.0,
    bpl: 25.1,
};
const G729A: Codec = Codec {
    bytes: 20,
    look_ahead_ms: 5.0,
    ie: 11.0,
    bpl: 19.0,
};

/// The rating of a mouth-to-ear delay in ms and a loss in percent.
fn rating(codec: Codec, delay_ms: f64, loss_percent: f64) -> f64 {
    let beyond = (delay_ms - 177.3).max(0.0);
    let id = 0.024 * delay_ms + 0.11 * beyond;
    let ie = codec.ie + (95.0 - codec.ie) * loss_percent / (loss_percent + codec.bpl);
    93.2 - id - ie
}

/// The mean opinion score of a rating.
fn score(rating: f64) -> f64 {
    let r = rating.clamp(0.0, 100.0);
    // Below a rating of 6.5 the formula falls short of 1, which is the least.
    (1.0 + 0.035 * r + 7e-6 * r * (r - 60.0) * (100.0 - r)).max(1.0)
}

#[derive(Debug)]
struct Voice {
    codec: Codec,
    next: Time,
    /// Estimates of delay and variation, s, once a frame has come.
    estimate: Option<(f64, f64)>,
    /// The playout delay of this talk spurt, s, and the spurt.
    playout: f64,
    spurt: u32,
    /// Frames that count, and those of them that were played.
    sent: u64,
    played: u64,
    /// Playout delays of those that were played, ms.
    mouth_to_ear: Sum,
}

impl Voice {
    fn new(codec: Codec) -> Voice {
        Voice {
            codec,
            next: Time::MAX,
            estimate: None,
            playout: 0.0,
            spurt: 0,
            sent: 0,
            played: 0,
            mouth_to_ear: Sum::default(),
        }
    }

    fn speak(&mut self, io: &mut Io<'_>) {
        if io.now >= io.stop {
            return;
        }
        io.send(Party::Server, self.codec.bytes + RTP);
        if io.counts_sent(io.now) {
            self.sent += 1;
            io.got.sent += 1;
            io.got.lost += 1;
            io.got.overdue += 1;
        }
        self.next += FRAME;
        io.wake(self.next);
    }

    fn hear(&mut self, number: u32, sent: Time, io: &mut Io<'_>) {
        let delay = io.now.saturating_since(sent);
        if delay > GIVE_UP {
            return;
        }
        let seconds = delay.as_secs_f64();
        let is_first = self.estimate.is_none();
        let (d, v) = self.estimate.unwrap_or((seconds, UNKNOWN_S));
        let d = KEPT * d + (1.0 - KEPT) * seconds;
        let v = KEPT * v + (1.0 - KEPT) * (d - seconds).abs();
        self.estimate = Some((d, v));
        let spurt = number / SPURT;
        if is_first || spurt > self.spurt {
            self.spurt = spurt;
            self.playout = d + 4.0 * v;
        }
        if !io.counts_sent(sent) {
            return;
        }
        io.got.lost -= 1;
        io.got.delay(delay);
        if seconds <= self.playout {
            io.got.overdue -= 1;
            self.played += 1;
            let codec_ms = FRAME.as_secs_f64() * 1e3 + self.codec.look_ahead_ms;
            self.mouth_to_ear.add(self.playout * 1e3 + codec_ms);
        }
    }
}

impl App for Voice {
    fn start(&mut self, io: &mut Io<'_>) {
        self.next = io.now;
        self.speak(io);
    }

    fn on(&mut self, event: Event, io: &mut Io<'_>) {
        match event {
            Event::Timer => self.speak(io),
            Event::Datagram {
                to: Party::User,
                number,
                sent,
            } => self.hear(number, sent, io),
            _ => {}
        }
    }

    fn end(&self, _now: Time, _since: Time, got: &mut Experience) {
        if self.sent == 0 {
            return;
        }
        let lost = 100.0 * (1.0 - self.played as f64 / self.sent as f64);
        // Who hears nothing is not asked for the delay.
        let delay = self.mouth_to_ear.mean().unwrap_or_default();
        got.score.add(score(rating(self.codec, delay, lost)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_and_scores_are_as_computed_by_hand() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-3, "{a} {b}");
        near(rating(G711, 0.0, 0.0), 93.2);
        // 0.024 · 200 + 0.11 · 22.7 = 7.297
        near(rating(G711, 200.0, 0.0), 93.2 - 7.297);
        // 95 · 1 / 26.1 = 3.6398
        near(rating(G711, 100.0, 1.0), 93.2 - 2.4 - 3.6398);
        // 11 + 84 · 5 / 24 = 28.5
        near(rating(G729A, 100.0, 5.0), 93.2 - 2.4 - 28.5);
        // G.107 Annex B: a rating of 93.2 is a score of 4.41, 70 of 3.60, 50 of 2.58.
        assert!((score(93.2) - 4.41).abs() < 0.005, "{}", score(93.2));
        assert!((score(70.0) - 3.60).abs() < 0.005, "{}", score(70.0));
        assert!((score(50.0) - 2.58).abs() < 0.005, "{}", score(50.0));
        assert_eq!((score(-20.0), score(3.0)), (1.0, 1.0));
        assert_eq!(score(120.0), 4.5);
    }
}
