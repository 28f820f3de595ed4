//! Chooses the transmission rate of 802.11 frames, and probes others from time to time.
//!
//! # What it does
//! Frames to send pass from input 0, and get the rate at which a frame to their destination takes
//! least time on average, with all that had to be sent again. One in ten tries another that could
//! do better. Input 1 takes the frames that the driver gives back, whose annotation tells what
//! became of them; they leave by output 1, or end. A rate that fails four times one after the
//! other, and never worked, is left alone until what is known of it is too old.
//!
//! # Handlers
//! - `rates`: what is known of each destination and rate
//! - `offset`, `threshold`, `active`: as the arguments
//! - `reset`: forgets all
//!
//! # Example
//! ```click
//! r :: AvailableRates(DEFAULT 2 4 11 22);
//! FromDevice(eth0) -> WifiEncap(1, 2:0:0:0:0:1) -> [0] p :: ProbeTXRate(OFFSET 4, RT r)
//!     -> ExtraEncap -> Queue -> ToDevice(wlan0);
//! FromDevice(wlan0) -> ExtraDecap -> f :: FilterTX -> Discard; f[1] -> [1] p; p[1] -> Discard
//! ```
//!
//! # References
//! J. Bicket, Bit-rate Selection in Wireless Networks, MIT 2005.

use super::shared::wifi::{self, FAILED, Field, SENT};
use super::shared::wifi_stations as stations;
use crate::args::addresses::EtherAddress;
use crate::args::kinds::UINT;
use crate::args::numbers::{parse_bool, parse_uint};
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, ElementId, Handler};
use crate::reason::Reason;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::packet::Packet;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ProbeTXRate",
    "chooses the transmission rate of frames",
    || Box::<ProbeTxRate>::default(),
)
.ports("2/0-2", "ah/a")
.references(&["Bicket 2005, Bit-rate Selection in Wireless Networks"])
.params(&[
    param(
        "OFFSET",
        Need::Keyword,
        UINT,
        "0",
        "where a frame's destination stands",
    ),
    param(
        "WINDOW",
        Need::Keyword,
        UINT,
        "0",
        "milliseconds that what happened counts; 0 is 10 s",
    ),
    param(
        "THRESHOLD",
        Need::Keyword,
        UINT,
        "0",
        "shorter frames tell nothing",
    ),
    param(
        "ACTIVE",
        Need::Keyword,
        Kind::Bool,
        "true",
        "whether it chooses",
    ),
    param("DEBUG", Need::Keyword, Kind::Bool, "false", "has no effect"),
    param(
        "RT",
        Need::KeywordMandatory,
        Kind::Element,
        "",
        "the `AvailableRates` that knows rates",
    ),
])
.ops("parse(6); work(400)");

/// Destinations that are known at a time, and frames that are remembered of each.
const MOST: usize = 1024;
const MOST_FRAMES: usize = 4096;
/// How long what happened counts where nobody says, ms.
const WINDOW_MS: u64 = 10_000;
/// Failures one after the other that rule a rate out which never worked.
const FAILURES: u32 = 4;
/// One frame in so many tries another rate.
const SAMPLING: u64 = 10;
/// How often a frame is tried.
const TRIES: u8 = 11;
/// The length that rates are compared at before a frame was sent, bytes.
const TYPICAL: usize = 1500;

/// Microseconds that a frame of `len` bytes takes at `rate`, in units of 500 kbit/s, when it is
/// sent again `retries` times.
fn air_us(len: usize, rate: u8, retries: u32) -> u64 {
    let rate = u64::from(rate.max(1));
    let is_dsss = matches!(rate, 2 | 4 | 11 | 22);
    let (slot, difs, sifs, ack, front) = if is_dsss {
        (20, 50, 10, 304, 192)
    } else {
        (9, 28, 9, 30, 20)
    };
    let frame = front + len as u64 * 16 / rate;
    let waits = |attempt: u32| slot * ((32_u64 << attempt.min(5)) - 1) / 2;
    (0..=retries)
        .map(|attempt| difs + waits(attempt) + frame + sifs + ack)
        .sum()
}

#[derive(Clone, Copy, Debug)]
struct Attempt {
    at: Timestamp,
    rate: u8,
    us: u64,
    well: bool,
}

/// What is known of a rate: frames that went well, their time with that of those that did not, and
/// the failures since the last success.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    well: u64,
    sent: u64,
    us: u64,
    failures: u32,
}

impl Known {
    fn mean_us(self) -> Option<u64> {
        (self.well > 0).then(|| self.us / self.well)
    }

    fn is_out(self) -> bool {
        self.well == 0 && self.failures >= FAILURES
    }
}

#[derive(Debug, Default)]
struct Link {
    rates: Vec<u8>,
    outcomes: VecDeque<Attempt>,
    frames: u64,
}

impl Link {
    fn forget(&mut self, before: Timestamp) {
        while let Some(first) = self.outcomes.front()
            && (first.at.0 < before.0 || self.outcomes.len() > MOST_FRAMES)
        {
            self.outcomes.pop_front();
        }
    }

    fn known(&self, rate: u8) -> Known {
        let of = self.outcomes.iter().filter(|outcome| outcome.rate == rate);
        of.fold(Known::default(), |known, outcome| Known {
            well: known.well + u64::from(outcome.well),
            sent: known.sent + 1,
            us: known.us + outcome.us,
            failures: if outcome.well { 0 } else { known.failures + 1 },
        })
    }

    /// The rate of the next frame. `chance` chooses among those that may do better.
    fn next(&mut self, chance: impl FnOnce(u64) -> u64) -> Option<u8> {
        self.frames += 1;
        let known: Vec<(u8, Known)> = self.rates.iter().map(|r| (*r, self.known(*r))).collect();
        let tried = known
            .iter()
            .filter_map(|(rate, known)| Some((known.mean_us()?, *rate)));
        let Some((best_us, best)) = tried.min() else {
            // Nothing worked yet: the fastest that is not ruled out, else the slowest.
            let open = known.iter().filter(|(_, known)| !known.is_out());
            let fastest = open.map(|(rate, _)| *rate).max();
            return fastest.or(self.rates.iter().copied().min());
        };
        if !self.frames.is_multiple_of(SAMPLING) {
            return Some(best);
        }
        let could = |rate: u8| air_us(TYPICAL, rate, 0) < best_us;
        let others: Vec<u8> = known
            .iter()
            .filter(|(rate, known)| *rate != best && !known.is_out() && could(*rate))
            .map(|(rate, _)| *rate)
            .collect();
        if others.is_empty() {
            return Some(best);
        }
        others.get(chance(others.len() as u64) as usize).copied()
    }
}

#[derive(Debug, Default)]
struct ProbeTxRate {
    offset: usize,
    threshold: usize,
    window_ms: u64,
    active: bool,
    rates: Option<ElementId>,
    links: BTreeMap<[u8; 6], Link>,
}

impl ProbeTxRate {
    fn to(&self, packet: &Packet) -> Option<[u8; 6]> {
        let end = self.offset.checked_add(6)?;
        packet.data().get(self.offset..end)?.try_into().ok()
    }

    fn since(&self, now: Timestamp) -> Timestamp {
        Timestamp(now.0.saturating_sub(self.window_ms as i64 * 1_000_000))
    }

    fn choose(&mut self, ctx: &mut Ctx, to: [u8; 6]) -> Option<u8> {
        // Nobody acknowledges frames to groups: they go at the slowest rate, which everybody knows.
        let rates = stations::rates_of(ctx, self.rates, to);
        if to[0] & 1 == 1 {
            return rates.iter().copied().min();
        }
        if self.links.len() >= MOST && !self.links.contains_key(&to) {
            self.links.pop_first();
        }
        let since = self.since(ctx.now());
        let link = self.links.entry(to).or_default();
        link.rates = rates;
        link.forget(since);
        link.next(|n| ctx.rng().below(n))
    }

    fn heed(&mut self, packet: &Packet, now: Timestamp) {
        let (told, len) = (wifi::told(packet), packet.len());
        let since = self.since(now);
        let Some(link) = self.to(packet).and_then(|to| self.links.get_mut(&to)) else {
            return;
        };
        if told & SENT == 0 || len < self.threshold {
            return;
        }
        let rate = wifi::field(packet, Field::Rate);
        let retries = u32::from(wifi::field(packet, Field::Retries));
        link.outcomes.push_back(Attempt {
            at: now,
            rate,
            us: air_us(TYPICAL, rate, retries),
            well: told & FAILED == 0,
        });
        link.forget(since);
    }
}

impl Element for ProbeTxRate {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.offset = args.uint("OFFSET") as usize;
        self.threshold = args.uint("THRESHOLD") as usize;
        self.window_ms = match args.uint("WINDOW") {
            0 => WINDOW_MS,
            ms => ms,
        };
        self.active = args.bool("ACTIVE");
        self.rates = args.element("RT");
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        stations::check(ctx, None, self.rates)
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        if !self.active {
            return;
        }
        for handle in batch.iter() {
            let to = self.to(&ctx.pool()[handle]);
            let Some(rate) = to.and_then(|to| self.choose(ctx, to)) else {
                continue;
            };
            let packet = &mut ctx.pool()[handle];
            wifi::mark(packet);
            wifi::set_field(packet, Field::Rate, rate);
            wifi::set_field(packet, Field::Tries, TRIES);
        }
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, mut batch: Batch) {
        if port == 0 {
            self.process(ctx, &mut batch);
            if ctx.outputs() > 0 {
                ctx.emit_all(0, batch);
            } else {
                ctx.drop_all(&mut batch, Reason::Consumed);
                ctx.recycle(batch);
            }
            return;
        }
        let now = ctx.now();
        batch.filter(|handle| {
            self.heed(&ctx.pool()[&handle], now);
            ctx.reject(1, handle, Reason::Consumed);
            None
        });
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("rates", "r"),
            Handler::new("offset", "rw"),
            Handler::new("threshold", "rw"),
            Handler::new("active", "rw"),
            Handler::new("reset", "wb"),
        ]
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let since = self.since(ctx.now());
        Ok(match name {
            "rates" => {
                let mut text = String::new();
                for (to, link) in &mut self.links {
                    link.forget(since);
                    writeln!(text, "{}", EtherAddress(*to)).expect("a string takes any text");
                    for rate in &link.rates {
                        let known = link.known(*rate);
                        let us = known.mean_us().unwrap_or(0);
                        let Known { well, sent, .. } = known;
                        writeln!(text, " {rate} success {well} total {sent} average_us {us}")
                            .expect("a string takes any text");
                    }
                }
                text
            }
            "offset" => self.offset.to_string(),
            "threshold" => self.threshold.to_string(),
            _ => self.active.to_string(),
        })
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let number = || {
            let number = parse_uint(value.trim(), u64::from(u32::MAX));
            number.map_err(|_| format!("{name} parameter must be unsigned"))
        };
        match name {
            "offset" => self.offset = number()? as usize,
            "threshold" => self.threshold = number()? as usize,
            "active" => {
                let active = parse_bool(value.trim());
                self.active = active.map_err(|_| "active must be boolean")?;
            }
            _ => self.links.clear(),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(rates: &[u8]) -> Link {
        Link {
            rates: rates.to_vec(),
            ..Link::default()
        }
    }

    fn tell(link: &mut Link, rate: u8, retries: u32, well: bool) {
        link.outcomes.push_back(Attempt {
            at: Timestamp::ZERO,
            rate,
            us: air_us(TYPICAL, rate, retries),
            well,
        });
    }

    #[test]
    fn the_fastest_that_works_is_found_from_above() {
        let mut link = link(&[2, 11, 22]);
        for _ in 0..FAILURES {
            assert_eq!(link.next(|_| 0), Some(22));
            tell(&mut link, 22, 10, false);
        }
        assert_eq!(link.next(|_| 0), Some(11));
        tell(&mut link, 11, 0, true);
        assert_eq!(link.next(|_| 0), Some(11));
        // Sent again ever and again, 5.5 Mbit/s takes longer than 1 Mbit/s that goes through at
        // once.
        for _ in 0..20 {
            tell(&mut link, 11, 7, true);
        }
        tell(&mut link, 2, 0, true);
        assert_eq!(link.next(|_| 0), Some(2));
        link.frames = SAMPLING - 1;
        assert_eq!(
            link.next(|_| 0),
            Some(11),
            "one in ten tries what could be faster"
        );
    }

    #[test]
    fn times_on_the_air_are_those_of_the_standard() {
        // 1500 bytes at 11 Mbit/s: DIFS, half the first window, preamble, payload, SIFS, ACK.
        assert_eq!(air_us(1500, 22, 0), 50 + 310 + 192 + 1090 + 10 + 304);
        assert!(air_us(1500, 22, 1) > 2 * air_us(1500, 22, 0));
        assert!(air_us(1500, 108, 0) < air_us(1500, 22, 0));
    }

    #[test]
    fn frames_get_a_rate_and_what_comes_back_is_heeded() {
        let mut run = crate::load::testing::loaded(
            "r :: AvailableRates(DEFAULT 2 22); \
             TimedSource(0.1, \\<020202020202>) -> [0] p :: ProbeTXRate(RT r) -> PrintWifi \
             -> t :: Counter -> [1] p; \
             p[1] -> Discard",
        );
        run.run(0.55);
        assert_eq!(run.read("t.count"), "5");
        // Nothing told that these were sent.
        assert!(run.read("p.rates").contains(" 22 success 0 total 0"));
        let said = run.host.memory().said.clone();
        assert!(said.contains("11Mb"), "{said}");
        run.write("p.reset", "").expect("right");
        assert_eq!(run.read("p.rates"), "");
    }
}
