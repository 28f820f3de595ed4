//! What the tester itself can do: measured against a wire before any device, and told in every
//! report.
//!
//! A result from nine tenths of this ceiling on is marked: it may be the tester's and not the
//! device's. The wire is a pair of virtual interfaces of this machine, by the same way and with the
//! same traffic.

use super::offered_frames::frames_from;
use crate::devices::dut::Dut;
use crate::devices::namespaces::{Home, Wish};
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;
use trammel_bench::testbed::Traffic;
use trammel_core::label::Label;
use trammel_core::time::Span;
use trammel_io::error::Error;
use trammel_stats::table::{CellType, Table};
use trammel_traffic::addresses::Side;
use trammel_traffic::tester::ceiling::{self, Ceiling};
use trammel_traffic::tester::observation::Stamps;
use trammel_traffic::tester::port::Way;
use trammel_traffic::tester::{Tester, Threads};

/// How long a trial of it is.
pub const FULL: Span = Span::from_secs(1);
/// In a quick run.
pub const QUICK: Span = Span::from_ms(100);

/// Trials that a measurement with each of `traffics` takes, about.
pub fn trials(traffics: &[Traffic]) -> u64 {
    traffics.len() as u64 * u64::from(ceiling::TRIALS)
}

/// The table `tester`.
const COLUMNS: &[(&str, CellType)] = &[
    ("label", CellType::Text),
    ("by", CellType::Text),
    ("against", CellType::Text),
    ("frame", CellType::Text),
    ("frame_bytes", CellType::Float),
    ("data_stream", CellType::Text),
    ("ceiling_fps", CellType::Int),
    ("flood_fps", CellType::Int),
    ("latency_least_us", CellType::Float),
    ("latency_median_us", CellType::Float),
    ("clock", CellType::Text),
    ("clock_reading_ns", CellType::Int),
];

/// What the tester can do of each kind of traffic. A run that goes on takes what was measured
/// before its interruption, so that its searches begin where they did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfTest {
    by: String,
    trial_s: f64,
    rows: Vec<Row>,
}

/// A kind of traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    /// All that it is.
    traffic: String,
    frame: String,
    frame_bytes: f64,
    data_stream: String,
    /// Whole frames a second: text keeps them to the last digit.
    ceiling_fps: u64,
    flood_fps: u64,
    latency_least_us: Option<f64>,
    latency_median_us: Option<f64>,
    clock: String,
    clock_reading_ns: u64,
}

impl Row {
    fn new(traffic: &Traffic, ceiling: &Ceiling) -> Row {
        let us = |time: Option<Span>| time.map(|time| time.as_ps() as f64 / 1e6);
        Row {
            traffic: format!("{traffic:?}"),
            frame: traffic.sizes.to_string(),
            frame_bytes: traffic.sizes.mean(),
            data_stream: traffic.stream(),
            ceiling_fps: ceiling.frames_per_second as u64,
            flood_fps: ceiling.flood_fps as u64,
            latency_least_us: us(ceiling.least_latency),
            latency_median_us: us(ceiling.median_latency),
            clock: clock(ceiling.stamps).to_owned(),
            clock_reading_ns: ceiling.clock_reading.as_ns(),
        }
    }

    fn is_of(&self, traffic: &Traffic) -> bool {
        self.traffic == format!("{traffic:?}")
    }
}

impl SelfTest {
    /// Measures it, in trials of `duration`, by the first direction of each traffic; none where
    /// `stop` was set. `done` is called after each of [`trials`].
    pub fn measure(
        way: Way,
        traffics: &[Traffic],
        duration: Span,
        threads: Threads,
        done: &dyn Fn(),
        stop: &AtomicBool,
    ) -> Result<Option<SelfTest>, Error> {
        let home = Home::build(&Wish {
            dut: Dut::Wire,
            traffics: traffics.to_vec(),
            way,
            is_bridged: true,
            own: String::new(),
        })?;
        let ports = home.ports(way, false);
        let mut tester = Tester::open(ports.clone())?;
        let mut rows = Vec::new();
        for traffic in traffics {
            // What cannot be offered has no ceiling; the tests say so where they are made.
            // The wire has no rate: bursts are as close as the tester makes them.
            let Ok(frames) = frames_from(Side::Input, traffic, &ports, f64::INFINITY) else {
                continue;
            };
            let measured = ceiling::measure(&mut tester, &frames, duration, threads, done, stop)?;
            let Some(ceiling) = measured else {
                return Ok(None);
            };
            rows.push(Row::new(traffic, &ceiling));
        }
        Ok(Some(SelfTest {
            by: name(way).to_owned(),
            trial_s: duration.as_secs_f64(),
            rows,
        }))
    }

    /// Whether it was measured by this way, with each of these kinds of traffic, in such trials.
    pub fn is_of(&self, way: Way, traffics: &[Traffic], duration: Span) -> bool {
        let is_known = |traffic| self.rows.iter().any(|row| row.is_of(traffic));
        self.by == name(way)
            && self.trial_s == duration.as_secs_f64()
            && traffics.iter().all(is_known)
    }

    /// Frames a second above which a load is the tester's matter; none where none passed, or it was
    /// not measured.
    pub fn ceiling_fps(&self, traffic: &Traffic) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.is_of(traffic))?;
        (row.ceiling_fps > 0).then_some(row.ceiling_fps as f64)
    }

    /// The table `tester`.
    pub fn table(&self) -> Table {
        let mut table = Table::with("tester", COLUMNS);
        for row in &self.rows {
            let cells = vec![
                Label::Measured.key().into(),
                self.by.as_str().into(),
                "a pair of virtual interfaces".into(),
                row.frame.as_str().into(),
                row.frame_bytes.into(),
                row.data_stream.as_str().into(),
                row.ceiling_fps.into(),
                row.flood_fps.into(),
                row.latency_least_us.into(),
                row.latency_median_us.into(),
                row.clock.as_str().into(),
                row.clock_reading_ns.into(),
            ];
            table
                .push(cells)
                .expect("the row has a cell for each column");
        }
        table
    }

    /// What is told before the tests.
    pub fn sentences(&self) -> Vec<String> {
        let sentence = |row: &Row| {
            let floor = row.latency_least_us.map_or_else(
                || "no latencies".to_owned(),
                |least| format!("latencies from {least:.1} us on, timed by {}", row.clock),
            );
            format!(
                "tester, {} bytes by {}: up to {} frames/s against a wire, {floor}",
                row.frame, self.by, row.ceiling_fps,
            )
        };
        self.rows.iter().map(sentence).collect()
    }
}

/// The name of a way in commands and tables.
fn name(way: Way) -> &'static str {
    match way {
        Way::AfXdp => "af-xdp",
        Way::AfPacket => "af-packet",
        Way::Live => "live",
    }
}

/// By what arrivals are timed.
fn clock(stamps: Stamps) -> &'static str {
    match stamps {
        Stamps::Kernel => "the kernel, as each frame comes",
        Stamps::Reading => "the tester, as it reads a batch",
        Stamps::None => "none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_bench::frames::Sizes;

    #[test]
    fn what_was_measured_is_the_same_after_it_was_kept() {
        let traffic = |bytes| Traffic::of(Sizes::of(bytes).unwrap());
        let ceiling = Ceiling {
            frames_per_second: 123_456.789,
            flood_fps: 2e5,
            least_latency: Some(Span::from_ns(3_786)),
            median_latency: None,
            stamps: Stamps::Kernel,
            clock_reading: Span::from_ns(20),
        };
        let measured = SelfTest {
            by: name(Way::AfXdp).to_owned(),
            trial_s: 0.1,
            rows: vec![Row::new(&traffic(64), &ceiling)],
        };
        let text = serde_json::to_string(&measured).unwrap();
        let kept: SelfTest = serde_json::from_str(&text).unwrap();
        assert_eq!(kept, measured);
        let [small, large] = [64, 1518].map(traffic);
        assert_eq!(
            (kept.ceiling_fps(&small), kept.ceiling_fps(&large)),
            (Some(123_456.0), None)
        );
        let is_of = |way, traffics: &[Traffic]| kept.is_of(way, traffics, Span::from_ms(100));
        assert!(is_of(Way::AfXdp, std::slice::from_ref(&small)));
        assert!(
            !is_of(Way::Live, std::slice::from_ref(&small)) && !is_of(Way::AfXdp, &[small, large])
        );
        assert_eq!(kept.table().len(), 1);
    }
}
