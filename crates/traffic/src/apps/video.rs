//! Adaptive video: a segment each few seconds, silence until the next, at qualities that change.
//!
//! # What it does
//! What a server sends to a player that has filled its buffer: `buffer` segments at once, then one
//! each `period`, each at the line's full rate and followed by silence, the on–off pattern that is
//! *published* (Rao et al. 2011, §4: "short ON-OFF cycles"). The quality is a step of `ladder`;
//! after each segment it changes with probability 1 / `stay` to the next step up or down, equally
//! likely, and stays where there is none: all steps are as likely in the long run. Rates, period
//! and changes are *assumed*: a real player chooses by what the network delivers, which a plan
//! cannot know.
//!
//! # Example
//! ```toml
//! subject = "traffic"
//! duration = "20 s"
//! [path]
//! rate = "100 Mbit/s"
//! delay = "10 ms"
//! [[stream]]
//! app = "video"
//! ```
//!
//! # Parameters
//! `ladder`, `period`, `buffer`, `stay`, `rate`, `segment`.
//!
//! # References
//! Rao, Legout, Lim, Towsley, Barakat and Dabbous, "Network Characteristics of Video Streaming
//! Traffic", CoNEXT 2011; ISO/IEC 23009-1 (DASH).

use super::Entry;
use crate::moments::Predicted;
use crate::sources::transfers::{Line, RATE, SEGMENT};
use crate::stream::{Plan, Source};
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// Adaptive video in the table of applications.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "video",
        aliases: &["dash"],
        summary: "segments of adaptive video, with silences between them",
        references: &[
            "Rao et al., Network Characteristics of Video Streaming Traffic, CoNEXT 2011",
            "ISO/IEC 23009-1",
        ],
        params: &[
            Param {
                name: "ladder",
                kind: Kind::Floats,
                default: "1, 2.5, 5, 8",
                unit: "Mbit/s",
                help: "the rates of the qualities, rising, all above 0",
            },
            Param {
                name: "period",
                kind: Kind::Time,
                default: "4 s",
                unit: "",
                help: "duration of a segment, above 0",
            },
            Param::int(
                "buffer",
                1,
                1000,
                "4",
                "",
                "segments sent at once at the start",
            ),
            Param::int(
                "stay",
                1,
                1_000_000,
                "10",
                "",
                "mean number of segments of one quality",
            ),
            RATE,
            SEGMENT,
        ],
    },
    build: |params| Ok(Box::new(Video::of(params)?)),
};

/// The largest segment: a gigabyte.
const SEGMENT_MAX_BYTES: f64 = 1e9;

#[derive(Clone, Debug)]
struct Video {
    /// Bytes of a segment of each quality.
    bytes: Vec<u64>,
    period: Span,
    buffer: u64,
    change: f64,
    line: Line,
}

impl Video {
    fn of(params: &Params) -> Result<Video, String> {
        let line = Line::of(params)?;
        let (ladder, period) = (params.floats("ladder"), params.time("period"));
        if period == Span::ZERO {
            return Err("`period` must be above 0".to_owned());
        }
        if ladder.is_empty() || ladder.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(format!("`ladder` must be rising rates, not {ladder:?}"));
        }
        let most = line.rate().as_mbps();
        let bytes = ladder.iter().map(|mbps| {
            let bytes = (mbps * 1e6 * period.as_secs_f64() / 8.0).round();
            // Not-a-number is in no range.
            if !(f64::MIN_POSITIVE..most).contains(mbps) {
                return Err(format!(
                    "`ladder` has {mbps} Mbit/s; between 0 and `rate`, {most} Mbit/s, can be played"
                ));
            }
            if !(1.0..=SEGMENT_MAX_BYTES).contains(&bytes) {
                return Err(format!(
                    "a segment of {mbps} Mbit/s has {bytes} bytes; between 1 and \
                     {SEGMENT_MAX_BYTES} can be sent: change `period`"
                ));
            }
            Ok(bytes as u64)
        });
        Ok(Video {
            bytes: bytes.collect::<Result<_, _>>()?,
            period,
            buffer: params.int("buffer") as u64,
            change: 1.0 / params.int("stay") as f64,
            line,
        })
    }
}

impl Source for Video {
    fn plan(&self, seed: u64) -> Plan {
        let video = self.clone();
        let mut rng = Rng::new(seed, "quality");
        let mut quality = rng.below(video.bytes.len() as u64) as usize;
        let segments = (0_u64..).map_while(move |number| {
            let bytes = video.bytes[quality];
            if rng.chance(video.change) {
                let top = video.bytes.len() - 1;
                let up = rng.chance(0.5);
                quality = if up {
                    (quality + 1).min(top)
                } else {
                    quality.saturating_sub(1)
                };
            }
            let periods = number.saturating_sub(video.buffer - 1);
            let due = periods.checked_mul(video.period.as_ps())?;
            Some((Time::from_ps(due), bytes))
        });
        self.line.cut(segments)
    }

    fn predicted(&self) -> Predicted {
        let count = self.bytes.len() as f64;
        let packets = self
            .bytes
            .iter()
            .map(|bytes| self.line.packets(*bytes))
            .sum::<u64>() as f64
            / count;
        let bytes = self.bytes.iter().sum::<u64>() as f64 / count;
        Predicted {
            mean_rate: Some(packets / self.period.as_secs_f64()),
            peak_rate: Some(self.line.packet_rate()),
            mean_bytes: Some(bytes / packets),
            size_cv: None,
            gap_cv: None,
            dispersion_limit: None,
            // One quality repeats itself; several are a finite Markov chain.
            hurst: (self.bytes.len() > 1).then_some(0.5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::entry::Value;

    #[test]
    fn a_full_buffer_is_followed_by_a_segment_each_period() {
        let given = [("ladder".to_owned(), Value::Floats(vec![5.0]))];
        let video = Video::of(&Params::resolve(&ENTRY.about, &given).unwrap()).unwrap();
        let times: Vec<Time> = video.plan(1).map(|packet| packet.at).take(20_000).collect();
        let begins: Vec<_> = times
            .windows(2)
            .filter(|pair| pair[1].saturating_since(pair[0]) > Span::from_secs(1))
            .map(|pair| pair[1].as_ms())
            .collect();
        // 2.5 MB at 100 Mbit/s take 0.2 s, four of them 0.8 s.
        assert_eq!(begins[..3], [4000, 8000, 12_000]);
    }

    #[test]
    fn a_ladder_that_cannot_be_played_is_refused() {
        let error = |ladder: &[f64]| {
            let given = [("ladder".to_owned(), Value::Floats(ladder.to_vec()))];
            Video::of(&Params::resolve(&ENTRY.about, &given).unwrap()).unwrap_err()
        };
        assert!(error(&[]).contains("rising"));
        assert!(error(&[2.0, 1.0]).contains("rising"));
        assert!(error(&[-1.0]).contains("-1 Mbit/s"));
        assert!(error(&[f64::NAN]).contains("NaN Mbit/s"));
        assert!(error(&[200.0]).contains("100 Mbit/s"));
    }
}
