//! Logs read and decoded, and the clocks of their hosts brought together.
//!
//! Clocks are estimated while the logs are decoded. Where they are to be subtracted the logs are
//! decoded once more: the estimate is of all packets, so there is none before the last.

use super::{clocks, log_source, metrics};
use anyhow::bail;
use std::collections::BTreeMap;
use std::path::PathBuf;
use trammel_core::time::Span;
use trammel_stats::table::{Table, format_float};
use trammel_traffic::decode::clock::Clock;
use trammel_traffic::decode::pairs::{Pair, PairReport, Pairs};
use trammel_traffic::decode::{Decoder, Options, Report};
use trammel_traffic::log::Entry;
use trammel_traffic::record::Instants;

/// When clocks are subtracted from one-way delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subtract {
    /// Of two hosts between which a packet came before it was sent, in either direction: that
    /// proves that their clocks differ. Otherwise they may be better than any estimate of them.
    Proven,
    /// Of all hosts whose clocks can be estimated.
    Always,
    /// Of none.
    Never,
}

/// What is to be decoded.
#[derive(Clone, Debug)]
pub struct DecodeJob {
    /// The logs, decoded as if they were one.
    pub logs: Vec<PathBuf>,
    /// How.
    pub options: Options,
    /// Records from so long after the first packet on.
    pub from: Option<Span>,
    /// Records before so long after the first packet.
    pub to: Option<Span>,
    /// What is done about clocks.
    pub subtract: Subtract,
}

/// A pair of hosts, and what was done about their clocks.
#[derive(Clone, Copy, Debug)]
pub struct PairClock {
    /// What their packets tell.
    pub report: PairReport,
    /// Whether it is subtracted from their delays.
    pub is_subtracted: bool,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The report.
    pub report: Report,
    /// The clocks of all hosts between which packets went one way.
    pub clocks: Vec<PairClock>,
    /// What a reader of the numbers must know.
    pub warnings: Vec<String>,
}

impl Decoded {
    /// All tables.
    pub fn tables(&self) -> Vec<Table> {
        let mut tables = metrics::tables(&self.report);
        tables.push(clocks::table(&self.clocks));
        tables.push(clocks::sessions(self));
        tables
    }
}

/// Decodes logs as if they were one.
pub fn decode(job: &DecodeJob) -> anyhow::Result<Decoded> {
    let mut notes = Vec::new();
    let options = with_times(job)?;
    let mut decoder = Decoder::new(options.clone());
    let mut pairs = Pairs::new();
    for path in &job.logs {
        let note = &mut |text| notes.push(text);
        let give = &mut |entry: Entry, _: Option<&_>| {
            pairs.entry(&entry);
            decoder.entry(entry);
            Ok(())
        };
        log_source::read(path, give, note)?;
    }
    let reports = pairs.finish();
    let mut wanted = wanted(&reports, job.subtract);
    if let Some(once) = read_once(&job.logs)
        && !wanted.is_empty()
    {
        notes.push(format!(
            "`{}` can be read only once: clocks are estimated, but not subtracted; give a file",
            once.display()
        ));
        wanted.clear();
    }
    if !wanted.is_empty() {
        decoder = Decoder::new(Options {
            clocks: wanted.clone(),
            ..options
        });
        for path in &job.logs {
            let give = &mut |entry: Entry, _: Option<&_>| {
                decoder.entry(entry);
                Ok(())
            };
            log_source::read(path, give, &mut |_| {})?;
        }
    }
    let clocks = reports.into_iter().map(|report| PairClock {
        is_subtracted: wanted.contains_key(&report.pair),
        report,
    });
    let clocks: Vec<PairClock> = clocks.collect();
    let report = decoder.finish();
    notes.extend(warnings(&report, &clocks));
    Ok(Decoded {
        report,
        clocks,
        warnings: notes,
    })
}

/// The clocks that are to be subtracted.
fn wanted(reports: &[PairReport], subtract: Subtract) -> BTreeMap<Pair, Clock> {
    let is_proven = |(a, b): Pair| {
        let of_them = |one: &&PairReport| one.pair == (a, b) || one.pair == (b, a);
        reports
            .iter()
            .filter(of_them)
            .any(|one| one.negative_pkts > 0)
    };
    let is_wanted = |one: &&PairReport| match subtract {
        Subtract::Proven => is_proven(one.pair),
        Subtract::Always => true,
        Subtract::Never => false,
    };
    reports
        .iter()
        .filter(is_wanted)
        .filter_map(|one| Some((one.pair, one.clock?)))
        .collect()
}

/// The options with the times of day that `from` and `to` are.
pub(crate) fn with_times(job: &DecodeJob) -> anyhow::Result<Options> {
    let mut options = job.options.clone();
    if job.from.is_none() && job.to.is_none() {
        return Ok(options);
    }
    if let Some(once) = read_once(&job.logs) {
        bail!(
            "`{}` can be read only once, and `--from` and `--to` need to know the first packet \
             before: give a file",
            once.display()
        );
    }
    let mut first: Option<i64> = None;
    for path in &job.logs {
        let came = first_came(path)?;
        first = [first, came].into_iter().flatten().min();
    }
    if let Some(first) = first {
        let at = |span: Span| {
            let since = i64::try_from(span.as_ns()).unwrap_or(i64::MAX);
            first.saturating_add(since)
        };
        options.filter.from_ns = job.from.map(at);
        options.filter.until_ns = job.to.map(at);
    }
    Ok(options)
}

/// A log that is there, but is no file: what was read of a pipe is gone.
fn read_once(logs: &[PathBuf]) -> Option<&PathBuf> {
    let is_pipe = |path: &&PathBuf| {
        std::fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir())
    };
    logs.iter().find(is_pipe)
}

/// A marker that ends a reading which has what it wanted.
#[derive(Debug, thiserror::Error)]
#[error("enough was read")]
struct Enough;

/// The second instant of the first record.
fn first_came(path: &std::path::Path) -> anyhow::Result<Option<i64>> {
    let mut first = None;
    let give = &mut |entry: Entry, _: Option<&_>| match entry {
        Entry::Record(record) => {
            first = Some(record.end_ns);
            Err(Enough.into())
        }
        _ => Ok(()),
    };
    match log_source::read(path, give, &mut |_| {}) {
        Err(why) if !why.is::<Enough>() => Err(why),
        _ => Ok(first),
    }
}

/// What a reader of the numbers must know.
fn warnings(report: &Report, clocks: &[PairClock]) -> Vec<String> {
    let mut all = Vec::new();
    let one_way = report.totals.iter();
    let one_way = one_way.filter(|total| total.instants == Instants::SentReceived);
    let negative = one_way.filter_map(|total| Some((total.summary.delay?.negative_pkts, total)));
    for (negative, total) in negative.filter(|(negative, _)| *negative > 0) {
        let why = if clocks.iter().any(|one| one.is_subtracted) {
            "the estimate of the clocks does not hold all the time: a clock was set, or the path \
             changed"
        } else if clocks.is_empty() {
            "the clocks of sender and receiver differ, and the log does not name two hosts, so \
             this cannot be corrected"
        } else {
            "the clocks of sender and receiver differ; `--clock always` subtracts the difference"
        };
        let of = total.summary.pkts;
        all.push(format!(
            "{negative} of {of} one-way delays are below 0: {why}"
        ));
    }
    for one in clocks.iter().filter(|one| one.is_subtracted) {
        let (from, to) = one.report.pair;
        let Some(clock) = one.report.clock else {
            continue;
        };
        all.push(match clock.offset_bound_ns {
            Some(bound) => format!(
                "from {from} to {to} the difference of the clocks is subtracted; its uncertainty \
                 is ±{} us, half the minimum round trip",
                format_float(bound / 1e3, 3)
            ),
            None => format!(
                "from {from} to {to} the drift of the clocks is subtracted, and delays are \
                 relative to the minimum: without a flow in the other direction the offset is \
                 unknown; decode the other end's log together with this one"
            ),
        });
    }
    if report.unaccounted_records > 0 {
        all.push(format!(
            "{} records are not counted: they belong to no session, or there are more flows than \
             can be decoded at once",
            report.unaccounted_records
        ));
    }
    if report.beyond_series > 0 {
        all.push(format!(
            "{} packets are in no interval, as there are too many; give a longer `--interval`",
            report.beyond_series
        ));
    }
    all
}
