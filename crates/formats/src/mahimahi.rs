//! Mahimahi: traces of links, and the logs of `mm-link`.
//!
//! A trace has a line for each 1500 bytes that a link may deliver, in milliseconds; it describes a
//! link and no result. A log (`--uplink-log`, `--downlink-log`) has a line for each event, after a
//! head of lines with `#` in front:
//!
//! ```text
//! MS # BYTES        the link could deliver
//! MS + BYTES        a packet came
//! MS - BYTES DELAY  one left, this many ms after it had come
//! MS d PKTS BYTES   the queue dropped
//! ```
//! Source: Netravali et al., "Mahimahi", USENIX ATC 2015; mm-link(1).

use crate::document::MOST_VALUES;
use crate::error::ImportError;
use crate::format::Format;
use crate::imported::{Imported, Run, Trace};
use crate::rows::{Rows, finite, late_events, maybe};
use trammel_core::label::Label;
use trammel_core::schedule::DeliverySchedule;
use trammel_core::time::Span;
use trammel_stats::histogram::Histogram;
use trammel_stats::table::CellType::{self, Float, Int, Text};

/// Pieces of a curve.
const STEPS: usize = 400;
/// A time in a log beyond this is none: twelve days in milliseconds.
const MOST_MS: u64 = 1_000_000_000;

const LINKS: &[(&str, CellType)] = &[
    ("link", Text),
    ("throughput_mbps", Float),
    ("capacity_mbps", Float),
    ("utilisation", Float),
    ("arrived_pkts", Int),
    ("sent_pkts", Int),
    ("queue_mean_pkts", Float),
    ("queue_peak_pkts", Int),
    ("queue_delay_mean_us", Float),
    ("queue_delay_p95_us", Float),
    ("drops_overflow_pkts", Int),
    ("loss", Float),
    ("period_s", Float),
];

const SAMPLES: &[(&str, CellType)] = &[
    ("time_s", Float),
    ("capacity_mbps", Float),
    ("throughput_mbps", Float),
    ("queue_pkts", Int),
    ("queue_delay_us", Float),
];

/// Whether a text is a log: its first line with numbers has one of the marks.
pub(crate) fn is_log(front: &str) -> bool {
    let mut lines = front.lines().map(str::trim);
    front.starts_with("# mahimahi mm-link")
        || lines
            .find(|line| !line.is_empty() && !line.starts_with('#'))
            .is_some_and(|line| event(line).is_some())
}

/// Whether a text is a trace: lines of whole numbers.
pub(crate) fn is_trace(front: &str) -> bool {
    let mut lines = front.lines().map(str::trim);
    let first: Vec<&str> = lines.by_ref().take(3).collect();
    !first.is_empty() && first.iter().all(|line| line.parse::<u64>().is_ok())
}

/// Reads a trace.
pub(crate) fn trace(text: &str) -> Result<Imported, ImportError> {
    if text.lines().count() as u64 > MOST_VALUES {
        return Err(ImportError::TooLarge {
            most: MOST_VALUES,
            what: "lines",
        });
    }
    let schedule = DeliverySchedule::parse(text).map_err(|why| {
        ImportError::damaged(
            "the trace",
            why.to_string(),
            "give one whole number of milliseconds a line, in ascending order",
        )
    })?;
    let period = schedule.period();
    let window = Span::from_ps((period.as_ps() / STEPS as u64).max(1));
    let mut rows = Rows::new("links", LINKS);
    rows.push(&[
        ("link", "trace".into()),
        ("capacity_mbps", finite(schedule.mean_rate().as_mbps())),
        ("period_s", finite(period.as_secs_f64())),
    ]);
    let mut samples = Rows::new("link", SAMPLES);
    let window = window.max(Span::from_ms(1));
    for (from, rate) in schedule.to_rates(window).steps() {
        samples.push(&[
            ("time_s", finite(from.as_secs_f64())),
            ("capacity_mbps", finite(rate.as_mbps())),
        ]);
    }
    let mut run = Run {
        deliveries: Some(text.to_owned()),
        ..Run::default()
    };
    run.tables.extend(rows.finish());
    if let Some(samples) = samples.finish() {
        run.traces.push(Trace {
            entity: "trace".to_owned(),
            samples,
        });
    }
    Ok(Imported {
        format: Format::MahimahiTrace,
        by: "a Mahimahi trace".to_owned(),
        label: Label::Measured,
        runs: vec![run],
        notes: vec![
            "The trace describes a link and no result: a scenario with `trace = \"FILE\"` in \
             `[path]` runs flows over it, and a run folder of this trace has one."
                .to_owned(),
        ],
    })
}

/// An event of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Chance { bytes: u64 },
    Came,
    Left { bytes: u64, delay_ms: u64 },
    Dropped { packets: u64 },
}

fn event(line: &str) -> Option<(u64, What)> {
    let mut words = line.split_ascii_whitespace();
    // Sums of what a file can hold of these stay within 64 bits.
    let number = |word: Option<&str>| -> Option<u64> {
        let number: u64 = word?.parse().ok()?;
        (number <= 1 << 32).then_some(number)
    };
    let at: u64 = words.next()?.parse().ok()?;
    let mark = words.next()?;
    let first = number(words.next())?;
    let what = match mark {
        "#" => What::Chance { bytes: first },
        "+" => What::Came,
        "-" => What::Left {
            bytes: first,
            delay_ms: number(words.next())?,
        },
        "d" => {
            number(words.next())?;
            What::Dropped { packets: first }
        }
        _ => return None,
    };
    Some((at, what))
}

/// Sums over a log, or over a piece of it.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    chances_bytes: u64,
    left_bytes: u64,
    left_pkts: u64,
    came_pkts: u64,
    dropped_pkts: u64,
    delay_ms: u64,
    queue: i64,
}

impl Sums {
    fn take(&mut self, what: What) {
        match what {
            What::Chance { bytes } => self.chances_bytes += bytes,
            What::Came => {
                self.came_pkts += 1;
                self.queue += 1;
            }
            What::Left { bytes, delay_ms } => {
                self.left_bytes += bytes;
                self.left_pkts += 1;
                self.delay_ms += delay_ms;
                self.queue -= 1;
            }
            What::Dropped { packets } => {
                self.dropped_pkts += packets;
                self.queue -= packets.min(1 << 40) as i64;
            }
        }
    }
}

const GIVE: &str = "give what `mm-link --uplink-log` or `--downlink-log` wrote";

/// Reads a log.
pub(crate) fn log(text: &str) -> Result<Imported, ImportError> {
    let mut notes = Vec::new();
    let mut name = "link".to_owned();
    let mut base = 0_u64;
    let mut ends: Option<(u64, u64)> = None;
    let (mut before, mut late) = (0, 0_u64);
    let last_line = text.lines().count();
    for (n, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(head) = line.strip_prefix('#') {
            let head = head.trim();
            if let Some(rest) = head.strip_prefix("mahimahi mm-link (") {
                name = rest.split(')').next().unwrap_or("link").to_owned();
            }
            if let Some(told) = head.strip_prefix("base timestamp:") {
                base = told.trim().parse().unwrap_or(0);
            }
            continue;
        }
        if line.is_empty() {
            continue;
        }
        match event(line) {
            Some((at, _)) => {
                let (first, last) = ends.unwrap_or((at, at));
                ends = Some((first.min(at), last.max(at)));
                late += u64::from(at < before);
                before = at;
            }
            // A link that was stopped leaves its last line unfinished.
            None if n + 1 == last_line && ends.is_some() => {
                notes.push(format!("Line {} is unfinished and is left out.", n + 1));
            }
            None => {
                let place = format!("line {}", n + 1);
                let shown: String = line.chars().take(40).collect();
                let what = format!("`{}` is no event", shown.escape_debug());
                return Err(ImportError::damaged(place, what, GIVE));
            }
        }
    }
    let Some((first, last)) = ends else {
        return Err(ImportError::nothing("it has no event", GIVE));
    };
    let origin = if base <= first { base } else { first };
    if last - origin > MOST_MS {
        let what = format!("its events are {} ms apart", last - origin);
        return Err(ImportError::damaged("the log", what, GIVE));
    }
    if late > 0 {
        notes.push(late_events(late));
    }
    let mut run = Run::default();
    // A second time through the text takes less memory than its events would.
    let lines = text.lines().map(str::trim);
    let events = lines
        .filter(|line| !line.starts_with('#'))
        .filter_map(event);
    fill(&mut run, &name, events, (origin, last));
    Ok(Imported {
        format: Format::MahimahiLog,
        by: "Mahimahi's mm-link".to_owned(),
        label: Label::Measured,
        runs: vec![run],
        notes,
    })
}

fn fill(
    run: &mut Run,
    name: &str,
    events: impl Iterator<Item = (u64, What)>,
    (origin, last): (u64, u64),
) {
    // An event at a millisecond is anywhere in it: the last one's is a part of the time.
    let span_ms = last - origin + 1;
    let step_ms = span_ms.div_ceil(STEPS as u64).max(1);
    let mut delays = Histogram::of_counts(60_000);
    let (mut all, mut piece) = (Sums::default(), Sums::default());
    let (mut peak, mut area_ms, mut before) = (0_i64, 0.0, origin);
    let mut samples = Rows::new("link", SAMPLES);
    let mut end = origin + step_ms;
    let mbps = |bytes: u64, ms: u64| finite(bytes as f64 * 8e-3 / ms as f64);
    let mut begin = origin;
    // A piece from where the one before ended up to `end`, which is no part of it.
    let mut put = |piece: &Sums, end: u64, queue: i64| {
        let left = piece.left_pkts as f64;
        let piece_ms = end - begin;
        begin = end;
        samples.push(&[
            ("time_s", finite((end - origin) as f64 / 1e3)),
            ("capacity_mbps", mbps(piece.chances_bytes, piece_ms)),
            ("throughput_mbps", mbps(piece.left_bytes, piece_ms)),
            ("queue_pkts", queue.max(0).into()),
            ("queue_delay_us", finite(piece.delay_ms as f64 * 1e3 / left)),
        ]);
    };
    for (at, what) in events {
        while at >= end && end < last {
            put(&piece, end, all.queue);
            piece = Sums::default();
            end += step_ms;
        }
        area_ms += all.queue.max(0) as f64 * at.saturating_sub(before) as f64;
        before = before.max(at);
        all.take(what);
        piece.take(what);
        peak = peak.max(all.queue);
        if let What::Left { delay_ms, .. } = what {
            delays.record(delay_ms);
        }
    }
    put(&piece, last + 1, all.queue);
    let mut links = Rows::new("links", LINKS);
    let share = |part: u64, whole: u64| finite(part as f64 / whole as f64);
    links.push(&[
        ("link", name.into()),
        ("throughput_mbps", mbps(all.left_bytes, span_ms)),
        ("capacity_mbps", mbps(all.chances_bytes, span_ms)),
        ("utilisation", share(all.left_bytes, all.chances_bytes)),
        ("arrived_pkts", all.came_pkts.into()),
        ("sent_pkts", all.left_pkts.into()),
        ("queue_mean_pkts", finite(area_ms / span_ms as f64)),
        ("queue_peak_pkts", peak.max(0).into()),
        (
            "queue_delay_mean_us",
            maybe(delays.mean().map(|ms| ms * 1e3)),
        ),
        (
            "queue_delay_p95_us",
            maybe(delays.quantile(0.95).map(|ms| ms as f64 * 1e3)),
        ),
        ("drops_overflow_pkts", all.dropped_pkts.into()),
        ("loss", share(all.dropped_pkts, all.came_pkts)),
    ]);
    run.tables.extend(links.finish());
    if let Some(samples) = samples.finish() {
        run.traces.push(Trace {
            entity: name.to_owned(),
            samples,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "# mahimahi mm-link (uplink) [trace] > log\n# command line: mm-link\n\
                       # queue: infinite\n# init timestamp: 7\n# base timestamp: 100\n\
                       100 + 1500\n110 # 1500\n110 - 1500 10\n120 + 1500\n130 + 1500\n\
                       130 d 1 1500\n140 # 1500\n140 - 1500 20\n150 # 1500\n1099 # 1500\n";

    #[test]
    fn a_log_has_rates_delays_and_drops() {
        assert!(is_log(LOG) && !is_trace(LOG));
        let imported = log(LOG).unwrap();
        let run = &imported.runs[0];
        let link = run.table("links").unwrap().rows().next().unwrap();
        assert_eq!(link.text("link"), "uplink");
        let number = |column: &str| link.float(column).unwrap();
        assert_eq!(number("throughput_mbps"), 0.024);
        assert_eq!(number("capacity_mbps"), 0.048);
        assert_eq!(number("utilisation"), 0.5);
        assert_eq!(number("queue_delay_mean_us"), 15_000.0);
        assert_eq!(number("queue_peak_pkts"), 2.0);
        // One packet for 10 and one for 20 ms of a second.
        assert_eq!(number("queue_mean_pkts"), 0.03);
        assert_eq!(
            (number("drops_overflow_pkts"), number("loss")),
            (1.0, 0.333333333)
        );
        assert!(run.traces[0].samples.len() <= STEPS + 1);
    }

    /// As many pieces as milliseconds allow, with a last one that is longer or shorter than others.
    #[test]
    fn a_steady_link_is_steady_to_its_last_piece() {
        for last in [0, 1, 399, 400, 801, 802, 803, 2000] {
            let text: String = (0..=last).map(|ms| format!("{ms} # 1504\n")).collect();
            let imported = log(&text).unwrap();
            let run = &imported.runs[0];
            let link = run.table("links").unwrap().rows().next().unwrap();
            assert_eq!(link.float("capacity_mbps"), Some(12.032));
            for row in run.traces[0].samples.rows() {
                assert_eq!(row.float("capacity_mbps"), Some(12.032), "{last}");
            }
        }
    }

    #[test]
    fn a_log_that_is_none_is_refused_with_its_line() {
        let why = log("100 + 1500\n110 ? 1500\n120 + 3\n").unwrap_err();
        assert!(
            why.to_string()
                .starts_with("line 2: `110 ? 1500` is no event")
        );
        assert_eq!(log("100 + 1500\n110 - 15").unwrap().notes.len(), 1);
        assert!(log("1 + 2\n9000000000000 + 2").is_err());
        assert!(log("# only a head\n").is_err());
    }

    #[test]
    fn a_log_whose_time_goes_back_says_so() {
        let notes = log("0 + 1500\n10 - 1500 10\n5 + 1500\n7 - 1500 2\n")
            .unwrap()
            .notes;
        assert_eq!(notes.len(), 1);
        assert!(
            notes[0].starts_with("1 event is before the one"),
            "{notes:?}"
        );
        assert!(log(LOG).unwrap().notes.is_empty());
    }

    #[test]
    fn a_trace_has_a_rate() {
        assert!(is_trace("1\n2\n3\n") && !is_log("1\n2\n3\n"));
        let imported = trace("1\n2\n3\n").unwrap();
        let link = imported.runs[0]
            .table("links")
            .unwrap()
            .rows()
            .next()
            .unwrap();
        assert_eq!(link.float("capacity_mbps"), Some(12.0));
        assert!(imported.notes[0].contains("`trace = \"FILE\"`"));
        assert_eq!(imported.runs[0].deliveries.as_deref(), Some("1\n2\n3\n"));
        assert!(trace("5\n3\n").is_err());
    }
}
