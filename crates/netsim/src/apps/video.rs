//! Adaptive video over HTTP: segments in several qualities, one after the other, into a buffer that
//! plays.
//!
//! # What it does
//! The user asks for a segment over one connection, and for the next when it has come and the
//! buffer has room. Playback begins when the buffer holds `startup` of video, stops when it is
//! empty, and begins again when it holds as much. Each segment's quality is chosen by one of two
//! rules:
//!
//! - `bola`: BOLA-BASIC, by the buffer alone. With `Q` segments in the buffer it takes the quality
//!   `m` of the greatest `(V · v(m) + V · γp − Q) / S(m)`, where `S(m)` is its size, `v(m)` the
//!   logarithm of its size over the least one, γp is 5 and `V = (Qmax − 1) / (v(M) + γp)`; where
//!   all are below 0, it waits. Segments are not given up on their way, and there are none of the
//!   heuristics of BOLA-U and BOLA-O.
//! - `throughput`: the highest bit rate that is at most nine tenths of the harmonic mean of the
//!   rates of the last five segments; the first segment is of the lowest.
//!
//! `stalled` is the part of the time since playback began in which it stood still; a video that
//! never begins is stalled all the time. `bitrate` is the mean of the segments that came,
//! `switches` are changes of quality between segments. A request has 300 bytes (*assumed*),
//! segments have a constant bit rate, and no handshake of TLS is counted.
//!
//! # Example
//! ```toml
//! duration = "30 s"
//! [path]
//! rate = "10 Mbit/s"
//! rtt = "40 ms"
//! [[app]]
//! kind = "video"
//! rule = "bola"
//! ```
//!
//! # Parameters
//! `ladder`: bit rates of the qualities; without it, those for H.264 of Apple's specification
//! (*published*). `segment`: length of a segment, 6 s there (*published*). `rule`, `buffer`: how
//! much video is held at most; 25 s is that of the paper of BOLA (*published*). `startup`.
//!
//! # References
//! Spiteri, Urgaonkar and Sitaraman, "BOLA: Near-Optimal Bitrate Adaptation for Online Videos",
//! INFOCOM 2016, §IV; Jiang, Sekar and Zhang, "Improving Fairness, Efficiency, and Stability in
//! HTTP-based Adaptive Video Streaming with FESTIVE", CoNEXT 2012, for the harmonic mean; Apple,
//! "HLS Authoring Specification for Apple Devices".

use super::shared::exchange::Exchange;
use super::{App, Carrier, Entry, Event, Io, within};
use crate::experience::{Experience, after};
use std::collections::VecDeque;
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::time::{Span, Time};

/// Bytes of a request.
const REQUEST: u64 = 300;
/// The one connection.
const CONN: u32 = 0;
/// γp of the paper: how much a full buffer is worth beside quality.
const GAMMA_P: f64 = 5.0;
/// Segments whose rates the throughput rule looks at, and which part of their mean it trusts.
const LAST: usize = 5;
const SAFETY: f64 = 0.9;
/// Bit rates of a ladder, Mbit/s, and how many.
const RATES: (f64, f64) = (0.01, 10_000.0);
const MOST_QUALITIES: usize = 64;

/// Adaptive video in the table of applications.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "video",
        aliases: &["dash", "hls"],
        summary: "adaptive video: start-up, stalls, bit rate and switches",
        references: &[
            "Spiteri, Urgaonkar, Sitaraman, BOLA, INFOCOM 2016",
            "Jiang, Sekar, Zhang, FESTIVE, CoNEXT 2012",
            "Apple, HLS Authoring Specification for Apple Devices",
        ],
        params: &[
            Param {
                name: "ladder",
                kind: Kind::Floats,
                default: "0.145, 0.365, 0.73, 1.1, 2, 3, 4.5, 6, 7.8",
                unit: "Mbit/s",
                help: "bit rates of the qualities, rising",
            },
            Param {
                name: "segment",
                kind: Kind::Time,
                default: "6 s",
                unit: "s",
                help: "length of a segment",
            },
            Param {
                name: "rule",
                kind: Kind::Choice(&["bola", "throughput"]),
                default: "bola",
                unit: "",
                help: "what chooses the quality of a segment",
            },
            Param {
                name: "buffer",
                kind: Kind::Time,
                default: "25 s",
                unit: "s",
                help: "video that is held at most, two segments or more",
            },
            Param {
                name: "startup",
                kind: Kind::Time,
                default: "6 s",
                unit: "s",
                help: "video in the buffer with which playback begins",
            },
        ],
    },
    carrier: Carrier::Tcp,
    connections: |_| 1,
    pace: |params| 2.0 / params.time("segment").as_secs_f64().max(1e-3),
    build: |params| Ok(Box::new(Video::new(params)?)),
};

/// BOLA-BASIC for segments of these sizes.
#[derive(Clone, Debug)]
struct Bola {
    /// Sizes, in any unit.
    sizes: Vec<f64>,
    /// Their utilities.
    utilities: Vec<f64>,
    v: f64,
}

impl Bola {
    /// For qualities of these `sizes`, rising, and a buffer of `most` segments.
    fn new(sizes: &[f64], most: f64) -> Bola {
        let utilities: Vec<f64> = sizes.iter().map(|size| (size / sizes[0]).ln()).collect();
        let highest = utilities.last().copied().unwrap_or_default();
        Bola {
            sizes: sizes.to_vec(),
            utilities,
            v: (most - 1.0) / (highest + GAMMA_P),
        }
    }

    /// The quality for a buffer of so many segments; nothing where it is to wait.
    fn choose(&self, segments: f64) -> Option<usize> {
        let scores = self.utilities.iter().zip(&self.sizes);
        let scores = scores.map(|(utility, size)| (self.v * (utility + GAMMA_P) - segments) / size);
        let best = scores
            .enumerate()
            .reduce(|a, b| if b.1 > a.1 { b } else { a });
        best.filter(|(_, score)| *score >= 0.0).map(|(at, _)| at)
    }

    /// Segments in the buffer up to which there is a choice.
    fn room(&self) -> f64 {
        let highest = self.utilities.last().copied().unwrap_or_default();
        self.v * (highest + GAMMA_P)
    }
}

/// The rule of throughput: the quality for these rates of the last segments.
fn by_throughput(ladder: &[f64], rates: &VecDeque<f64>) -> usize {
    if rates.is_empty() {
        return 0;
    }
    let inverse: f64 = rates.iter().map(|rate| 1.0 / rate).sum();
    let trusted = SAFETY * rates.len() as f64 / inverse;
    ladder
        .iter()
        .rposition(|rate| *rate <= trusted)
        .unwrap_or(0)
}

/// What is played, and what is held.
#[derive(Clone, Copy, Debug)]
struct Player {
    /// Until when it is known what was played.
    at: Time,
    buffer: Span,
    is_playing: bool,
    /// When the first picture moved.
    began: Option<Time>,
}

impl Player {
    /// Plays until `now`.
    fn advance(&mut self, now: Time, since: Time, got: &mut Experience) {
        let from = self.at;
        self.at = now.max(from);
        if self.began.is_none() {
            return;
        }
        let mut stopped = from;
        if self.is_playing {
            let played = now.saturating_since(from).min(self.buffer);
            self.buffer = self.buffer.saturating_sub(played);
            stopped = from + played;
            got.played += after(since, from, stopped);
            if stopped < now {
                self.is_playing = false;
                got.stalls += u64::from(stopped >= since);
            }
        }
        if !self.is_playing {
            got.stalled += after(since, stopped, now);
        }
    }
}

#[derive(Debug)]
struct Video {
    /// Bit rates, bit/s.
    ladder: Vec<f64>,
    segment: Span,
    bola: Option<Bola>,
    most: Span,
    startup: Span,
    exchange: Exchange,
    player: Player,
    started: Time,
    /// The quality of the segment that comes or came last, and when it was asked for.
    fetched: Option<(usize, Time)>,
    rates: VecDeque<f64>,
    is_over: bool,
}

impl Video {
    fn new(params: &Params) -> Result<Video, String> {
        let ladder = params.floats("ladder");
        if ladder.is_empty() || ladder.len() > MOST_QUALITIES {
            return Err(format!("`ladder` has 1 to {MOST_QUALITIES} bit rates"));
        }
        for rate in ladder {
            within("ladder", *rate, RATES, "Mbit/s")?;
        }
        if ladder.windows(2).any(|pair| pair[1] <= pair[0]) {
            return Err("the bit rates of `ladder` must rise".to_owned());
        }
        let [segment, most, startup] =
            ["segment", "buffer", "startup"].map(|name| params.time(name));
        within("segment", segment.as_secs_f64(), (0.1, 60.0), "s")?;
        within("buffer", most.as_secs_f64(), (0.0, 3600.0), "s")?;
        if most < segment * 2 {
            return Err(format!("`buffer` must hold two segments of {segment}"));
        }
        if startup > most.saturating_sub(segment) {
            return Err("`startup` must be a segment less than `buffer`".to_owned());
        }
        let ladder: Vec<f64> = ladder.iter().map(|rate| rate * 1e6).collect();
        let segments = most.as_secs_f64() / segment.as_secs_f64();
        Ok(Video {
            bola: (params.text("rule") == "bola").then(|| Bola::new(&ladder, segments)),
            ladder,
            segment,
            most,
            startup,
            exchange: Exchange::default(),
            player: Player {
                at: Time::ZERO,
                buffer: Span::ZERO,
                is_playing: false,
                began: None,
            },
            started: Time::ZERO,
            fetched: None,
            rates: VecDeque::with_capacity(LAST),
            is_over: false,
        })
    }

    /// Asks for the next segment, or waits until there is room for it.
    fn next(&mut self, io: &mut Io<'_>) {
        if io.now >= io.stop {
            self.leave(io);
            return;
        }
        self.player.advance(io.now, io.since, io.got);
        let (buffer, segment) = (self.player.buffer, self.segment.as_secs_f64());
        let (quality, wait) = match &self.bola {
            Some(bola) => {
                let segments = buffer.as_secs_f64() / segment;
                let over = (segments - bola.room()) * segment;
                (bola.choose(segments), Span::from_secs_f64(over.max(0.0)))
            }
            None => {
                let over = (buffer + self.segment).saturating_sub(self.most);
                let quality = by_throughput(&self.ladder, &self.rates);
                ((over == Span::ZERO).then_some(quality), over)
            }
        };
        let Some(quality) = quality else {
            // A nanosecond more, so that rounding leads to no second wait.
            io.wake((io.now + wait + Span::from_ns(1)).min(io.stop));
            return;
        };
        if io.counts() {
            io.got.begun += 1;
            let is_other = self.fetched.is_some_and(|(before, _)| before != quality);
            io.got.switches += u64::from(is_other);
        }
        self.fetched = Some((quality, io.now));
        let bytes = (self.ladder[quality] * segment / 8.0).round().max(1.0);
        self.exchange.ask(CONN, [REQUEST, bytes as u64], io);
    }

    /// The segment that was asked for has come.
    fn take(&mut self, io: &mut Io<'_>) {
        let Some((quality, asked)) = self.fetched else {
            return;
        };
        self.player.advance(io.now.min(io.stop), io.since, io.got);
        let (bits, length) = (
            self.ladder[quality] * self.segment.as_secs_f64(),
            self.segment,
        );
        let took = io.now.saturating_since(asked).as_secs_f64();
        if self.rates.len() == LAST {
            self.rates.pop_front();
        }
        self.rates.push_back(bits / took.max(1e-9));
        if asked >= io.since {
            io.got.done += 1;
            io.got.media.0 += bits;
            io.got.media.1 += length.as_secs_f64();
        }
        self.player.buffer += length;
        if !self.player.is_playing && self.player.buffer >= self.startup {
            self.player.is_playing = true;
            if self.player.began.is_none() {
                self.player.began = Some(io.now);
                if io.counts() {
                    io.got
                        .startup
                        .add((io.now.saturating_since(self.started)).as_secs_f64());
                }
            }
        }
        self.next(io);
    }

    fn leave(&mut self, io: &mut Io<'_>) {
        if !self.is_over {
            self.player.advance(io.stop, io.since, io.got);
            self.is_over = true;
            io.close(CONN);
        }
    }
}

impl App for Video {
    fn start(&mut self, io: &mut Io<'_>) {
        (self.started, self.player.at) = (io.now, io.now);
        io.open(CONN);
        self.next(io);
    }

    fn on(&mut self, event: Event, io: &mut Io<'_>) {
        if self.is_over {
            return;
        }
        match event {
            Event::Delivered { conn, to, bytes } => {
                if self.exchange.on(conn, to, bytes, io) > 0 {
                    self.take(io);
                }
            }
            Event::Failed { .. } => {
                // The player asks anew for what it misses.
                self.exchange = Exchange::default();
                io.open(CONN);
                self.next(io);
            }
            Event::Timer if self.exchange.open() == 0 => self.next(io),
            Event::Timer | Event::Datagram { .. } => {}
        }
    }

    fn end(&self, now: Time, since: Time, got: &mut Experience) {
        if self.is_over {
            return;
        }
        let mut player = self.player;
        player.advance(now, since, got);
        if player.began.is_none() {
            got.stalled += after(since, self.started, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bola_chooses_as_computed_by_hand() {
        // Sizes 1, 2, 4: utilities 0, ln 2, ln 4. With ten segments V = 9 / (1.3863 + 5) = 1.40927.
        // The scores at Q: (7.04635 - Q) / 1, (8.02319 - Q) / 2, (9 - Q) / 4.
        // They meet at Q = 2 · 7.04635 - 8.02319 = 6.06951 and at 2 · 8.02319 - 9 = 7.04638.
        let bola = Bola::new(&[1.0, 2.0, 4.0], 10.0);
        assert!((bola.v - 1.409_27).abs() < 1e-5, "{}", bola.v);
        let cases = [
            (0.0, Some(0)),
            (6.069, Some(0)),
            (6.070, Some(1)),
            (7.046, Some(1)),
            (7.047, Some(2)),
            (8.999, Some(2)),
            (9.001, None),
        ];
        for (segments, quality) in cases {
            assert_eq!(bola.choose(segments), quality, "{segments}");
        }
    }

    #[test]
    fn the_rule_of_throughput_trusts_nine_tenths_of_the_harmonic_mean() {
        let ladder = [1e6, 2e6, 4e6];
        let of = |rates: &[f64]| by_throughput(&ladder, &rates.iter().copied().collect());
        assert_eq!(of(&[]), 0);
        // The harmonic mean of 2 and 6 is 3: 2.7 are trusted.
        assert_eq!(of(&[2e6, 6e6]), 1);
        assert_eq!(of(&[4.4e6]), 1);
        assert_eq!(of(&[4.5e6]), 2);
        assert_eq!(of(&[1e5]), 0, "there is nothing lower");
    }

    #[test]
    fn a_player_stalls_from_the_instant_at_which_its_buffer_is_empty() {
        let at = Time::from_secs;
        let mut player = Player {
            at: at(10),
            buffer: Span::from_secs(4),
            is_playing: true,
            began: Some(at(9)),
        };
        let mut got = Experience::default();
        player.advance(at(13), at(12), &mut got);
        assert_eq!(
            (got.played, got.stalled, got.stalls),
            (Span::from_secs(1), Span::ZERO, 0)
        );
        player.advance(at(14), at(12), &mut got);
        assert!(player.is_playing, "the last picture is still shown");
        player.advance(at(17), at(12), &mut got);
        assert_eq!(got.played, Span::from_secs(2));
        assert_eq!((got.stalled, got.stalls), (Span::from_secs(3), 1));
        player.advance(at(18), at(12), &mut got);
        assert_eq!((got.stalled, got.stalls), (Span::from_secs(4), 1));
    }
}
