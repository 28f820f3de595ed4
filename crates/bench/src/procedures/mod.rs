//! Tests of devices: a file each, in the folder of the text that defines it.
//!
//! A test is a function of a [`Bench`], which has the testbed and the traffic to be tried, and
//! gives a table: a row for each kind of traffic, in the columns that its entry declares after
//! those that all tests share. What the report draws of it is declared too, as the form that the
//! text mandates. What several tests need, each kind of traffic's throughput, is searched once.
//!
//! How long a run will take is asked by running it on a testbed that only counts
//! ([`crate::rehearsal`]).

use crate::ports::{Learned, Learning, PortFlow};
use crate::recorded::Recorded;
use crate::search::mlr::goal::Goal;
use crate::search::mlr::{MultipleLossRatio, Output};
pub use crate::search::throughput::Search;
use crate::search::{self, Found, Verdict};
use crate::testbed::{Constant, Observation, Plan, Testbed, Traffic, Unable};
use crate::transfer::{File, Transferred};
use crate::trial::{Failure, Load};
use crate::validity::Validity;
use trammel_core::entry::{About, Params};
use trammel_core::time::Span;
use trammel_stats::table::{Cell, CellType, Table};

include!(concat!(env!("OUT_DIR"), "/procedures.rs"));
trammel_core::family!("test");

/// A test.
#[derive(Debug)]
pub struct Entry {
    /// Name, summary, references; `params` are its settings.
    pub about: About,
    /// Settings that are others where the time is short, and the result thereby none of the text's:
    /// name and value.
    pub quick: &'static [(&'static str, &'static str)],
    /// The columns of its table after those of all tests.
    pub columns: &'static [(&'static str, CellType)],
    /// What the report draws of the table.
    pub form: Form,
    /// Tries every kind of traffic.
    pub run: fn(&mut Bench<'_>, &Params) -> Result<Table, Error>,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A graph of columns over another one, and the table.
    Graph {
        /// The column of the x axis.
        x: &'static str,
        /// The columns of the lines, each with what it is.
        lines: &'static [(&'static str, &'static str)],
        /// Both axes go from 0 to 100 %.
        is_percent: bool,
    },
    /// The table.
    Table,
    /// A sentence for each row.
    Statements,
}

/// The columns that every test's table begins with.
pub const SHARED: &[(&str, CellType)] = &[
    ("device", CellType::Text),
    ("label", CellType::Text),
    ("frame", CellType::Text),
    ("frame_bytes", CellType::Float),
    ("data_stream", CellType::Text),
    ("short_trials", CellType::Int),
];

/// From this share of the tester's ceiling on, what was found may be the tester's.
const NEAR: f64 = 0.9;

/// Why a test has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no way to do it on this testbed.
    #[error(transparent)]
    Unable(#[from] Unable),
    /// A search could not be made.
    #[error(transparent)]
    Search(search::Error),
    /// A trial could not be made.
    #[error("{0}")]
    Trial(Failure),
    /// A rate that cannot be offered.
    #[error("{0} frames/s for {1} cannot be offered")]
    Load(f64, Span),
    /// Settings that do not go together, or not with the line.
    #[error("{0}")]
    Setting(String),
}

impl From<search::Error> for Error {
    fn from(error: search::Error) -> Error {
        match error {
            search::Error::Trial(broken) if broken.failure.is::<Unable>() => broken.failure.into(),
            error => Error::Search(error),
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        match failure.downcast::<Unable>() {
            Ok(unable) => Error::Unable(*unable),
            Err(failure) => Error::Trial(failure),
        }
    }
}

/// A testbed and what is tried on it.
#[derive(Debug)]
pub struct Bench<'a> {
    bed: Recorded<'a>,
    traffics: Vec<Traffic>,
    search: Search,
    found: Vec<(Traffic, Found)>,
    /// Trials since the last row of a table in which the tester fell short, or that are in doubt.
    short: u64,
}

impl<'a> Bench<'a> {
    /// `bed` under each of `traffics`.
    pub fn new(bed: &'a mut dyn Testbed, traffics: Vec<Traffic>, search: Search) -> Bench<'a> {
        Bench {
            bed: Recorded::new(bed),
            traffics,
            search,
            found: Vec::new(),
            short: 0,
        }
    }

    /// What is tried, one after the other.
    pub fn traffics(&self) -> Vec<Traffic> {
        self.traffics.clone()
    }

    /// That of the smallest frames, for tests that are made with these alone.
    pub fn smallest(&self) -> Traffic {
        let size = |traffic: &&Traffic| traffic.sizes.mean();
        let all = self.traffics.iter();
        let smallest = all.min_by(|a, b| size(a).total_cmp(&size(b)));
        smallest.expect("a run has some traffic").clone()
    }

    /// The testbed.
    pub fn bed(&mut self) -> &mut dyn Testbed {
        &mut self.bed
    }

    /// Makes the test `entry`.
    pub fn run(&mut self, entry: &'static Entry, params: &Params) -> Result<Table, Error> {
        self.bed.test = entry.about.name;
        self.short = 0;
        (entry.run)(self, params)
    }

    /// The table `trials`: what was offered and what became of it, in all tests so far.
    pub fn trials(&self) -> Table {
        self.bed.table()
    }

    /// Frames a second that the media carry of `traffic`.
    pub fn line_fps(&self, traffic: &Traffic) -> f64 {
        self.bed.line_fps(traffic)
    }

    /// Offers `traffic` by `plan`. Where the tester falls short, or its own bursts may have been
    /// why frames were lost, again; where that does not help, the last is taken and the next row
    /// says so.
    pub fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Error> {
        let Search {
            tolerance,
            repeats,
            doubts,
            ..
        } = self.search;
        let sources = self.bed.sources(traffic);
        let (mut short, mut doubtful) = (0, 0);
        loop {
            let observed = self.bed.offer(traffic, plan)?;
            let (count, most) = if plan.falls_short(&observed.outcome, tolerance, sources) {
                (&mut short, repeats)
            } else if observed.outcome.is_in_doubt() {
                (&mut doubtful, doubts)
            } else {
                return Ok(observed);
            };
            if *count == most {
                self.short += 1;
                return Ok(observed);
            }
            *count += 1;
        }
    }

    /// Offers `traffic` by `plan` so many times; what `value` makes of each.
    pub fn repeat<V>(
        &mut self,
        times: i64,
        traffic: &Traffic,
        plan: &Plan,
        mut value: impl FnMut(&Observation) -> V,
    ) -> Result<Vec<V>, Error> {
        let one = |_| Ok(value(&self.offer(traffic, plan)?));
        (0..times).map(one).collect()
    }

    /// Offers all flows at once.
    pub fn offer_together(&mut self, flows: &[PortFlow]) -> Result<Vec<Observation>, Error> {
        let observed = self.bed.offer_together(flows)?;
        let tolerance = self.search.tolerance;
        let is_short = |(flow, of): (&PortFlow, &Observation)| {
            let sources = self.bed.sources(&flow.traffic);
            Plan::of(&[flow.load]).falls_short(&of.outcome, tolerance, sources)
        };
        self.short += u64::from(flows.iter().zip(&observed).any(is_short));
        Ok(observed)
    }

    /// Teaches the device addresses and asks for them.
    pub fn learn(&mut self, traffic: &Traffic, learning: &Learning) -> Result<Learned, Error> {
        Ok(self.bed.learn(traffic, learning)?)
    }

    /// Transfers a file.
    pub fn transfer(&mut self, file: &File) -> Result<Transferred, Error> {
        self.bed.carries_files(&file.protocol)?;
        Ok(self.bed.transfer(file)?)
    }

    /// What was found of the device's throughput under `traffic`; searched where it is asked for
    /// the first time.
    pub fn throughput(&mut self, traffic: &Traffic) -> Result<Found, Error> {
        if let Some((_, found)) = self.found.iter().find(|(known, _)| known == traffic) {
            return Ok(found.clone());
        }
        let line = self.line_fps(traffic);
        let most = self.most_fps(traffic);
        let search = self.search();
        let mut device = Constant {
            bed: &mut self.bed,
            traffic,
        };
        let mut found = search.run_all(line, most, &mut device)?;
        found.verdict = self.judged(traffic, found.lower, found.verdict);
        self.found.push((traffic.clone(), found.clone()));
        Ok(found)
    }

    /// How it is searched: once, and what was lost is lost, of a device that does the same each
    /// time.
    fn search(&self) -> Search {
        if self.bed.repeats_itself() {
            Search {
                searches: 1,
                verifications: 0,
                ..self.search
            }
        } else {
            self.search
        }
    }

    /// What is found of several goals at once under `traffic`, from the least load of the search
    /// for the throughput on.
    pub(crate) fn search_goals(
        &mut self,
        traffic: &Traffic,
        goals: Vec<Goal>,
    ) -> Result<Output, Error> {
        let line = self.line_fps(traffic);
        let most = self.most_fps(traffic);
        let search = MultipleLossRatio {
            validity: Validity {
                verifications: 0,
                ..self.search.validity(most)
            },
            ..MultipleLossRatio::new(goals, (line * self.search.least).min(most), most)
        };
        let mut device = Constant {
            bed: &mut self.bed,
            traffic,
        };
        Ok(search.search(&mut device)?)
    }

    /// The most that is tried of `traffic`, frames a second: what the media carry, or what the
    /// tester can.
    fn most_fps(&self, traffic: &Traffic) -> f64 {
        let line = self.line_fps(traffic);
        let ceiling = self.bed.ceiling_fps(traffic);
        ceiling.map_or(line, |ceiling| ceiling.min(line))
    }

    /// `verdict`, or that the tester is the limit where the lower bound is near what it can.
    pub fn judged(&self, traffic: &Traffic, lower: Option<f64>, verdict: Verdict) -> Verdict {
        let near = self.bed.ceiling_fps(traffic).map(|ceiling| NEAR * ceiling);
        match near.zip(lower) {
            Some((near, lower)) if lower >= near => Verdict::Tester,
            _ => verdict,
        }
    }

    /// The rate of [`throughput`](Self::throughput), where there is one: other tests are made at
    /// it.
    pub fn throughput_fps(&mut self, traffic: &Traffic) -> Result<Option<f64>, Error> {
        Ok(self.throughput(traffic)?.lower)
    }

    /// The table of a test, whose rows `rows` adds for each kind of traffic.
    pub fn each(
        &mut self,
        entry: &Entry,
        rows: impl FnMut(&mut Bench<'a>, &Traffic, &mut Table) -> Result<(), Error>,
    ) -> Result<Table, Error> {
        self.of(entry, &self.traffics(), rows)
    }

    /// The table of a test that some kinds of traffic are enough for.
    pub fn of(
        &mut self,
        entry: &Entry,
        traffics: &[Traffic],
        mut rows: impl FnMut(&mut Bench<'a>, &Traffic, &mut Table) -> Result<(), Error>,
    ) -> Result<Table, Error> {
        let columns: Vec<_> = SHARED.iter().chain(entry.columns).copied().collect();
        let mut table = Table::with(entry.about.name, &columns);
        for traffic in traffics {
            rows(self, traffic, &mut table)?;
        }
        Ok(table)
    }

    /// The table of a test that is made at the throughput, in frames a second: a row for each kind
    /// of traffic, whose own cells `row` gives. They are empty where there is no throughput.
    pub(crate) fn at_throughput(
        &mut self,
        entry: &Entry,
        mut row: impl FnMut(&mut Bench<'a>, &Traffic, f64) -> Result<Vec<Cell>, Error>,
    ) -> Result<Table, Error> {
        self.each(entry, |bench, traffic, table| {
            let own = match bench.throughput_fps(traffic)? {
                Some(fps) => row(bench, traffic, fps)?,
                None => vec![Cell::Empty; entry.columns.len()],
            };
            bench.push(table, traffic, own);
            Ok(())
        })
    }

    /// Adds a row: the cells of the columns that all tests share, then the test's own.
    pub fn push(&mut self, table: &mut Table, traffic: &Traffic, own: Vec<Cell>) {
        self.push_stream(table, traffic, &traffic.stream(), own);
    }

    /// The same, with another type of data stream than that of `traffic`.
    pub(crate) fn push_stream(
        &mut self,
        table: &mut Table,
        traffic: &Traffic,
        stream: &str,
        own: Vec<Cell>,
    ) {
        let mut cells = vec![
            self.bed.device().into(),
            self.bed.label().key().into(),
            traffic.sizes.to_string().into(),
            traffic.sizes.mean().into(),
            stream.into(),
            std::mem::take(&mut self.short).into(),
        ];
        cells.extend(own);
        table
            .push(cells)
            .expect("the row has a cell for each column");
    }
}

/// So many frames with the least gap between them, on a line that carries `line_fps`.
pub fn burst(frames: u64, line_fps: f64) -> Result<Load, Error> {
    load(line_fps, Span::from_secs_f64(frames as f64 / line_fps))
}

/// The numbers of the setting `name`, each of which is a share: above 0 and at most 1.
pub fn shares<'p>(params: &'p Params, name: &str) -> Result<&'p [f64], Error> {
    let all = params.floats(name);
    match all.iter().find(|share| !(0.0 < **share && **share <= 1.0)) {
        Some(share) => Err(Error::Setting(format!(
            "`{name}` has {share}; each of its numbers is a share, above 0 and at most 1"
        ))),
        None => Ok(all),
    }
}

/// A load of so many frames a second for so long.
pub fn load(fps: f64, duration: Span) -> Result<Load, Error> {
    Load::new(fps, duration).ok_or(Error::Load(fps, duration))
}

/// How a search ended, in the words of tables.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Between => "found",
        Verdict::PassedAtMost => "the line's rate passed",
        Verdict::FailedAtLeast => "lost at the least load",
        Verdict::Tester => "limited by the tester",
        Verdict::GaveUp => "gave up: trials contradict each other",
        Verdict::Unsteady => "unsteady: searches contradict each other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Wire, made, search, traffic};
    use crate::trial::TrialOutcome;
    use trammel_core::label::Label;

    /// A tester that sends half of what it should, so many times.
    #[derive(Debug)]
    struct Tired(u32);

    impl Testbed for Tired {
        fn label(&self) -> Label {
            Wire.label()
        }
        fn device(&self) -> String {
            Wire.device()
        }
        fn line_fps(&self, traffic: &Traffic) -> f64 {
            Wire.line_fps(traffic)
        }
        fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
            let mut observed = Wire.offer(traffic, plan)?;
            if self.0 > 0 {
                self.0 -= 1;
                observed.outcome.offered /= 2;
                observed.outcome.forwarded /= 2;
            }
            Ok(observed)
        }
    }

    #[test]
    fn a_tester_that_falls_short_is_asked_again_and_then_told() {
        let entry = find("frame-loss").unwrap();
        // Two trials: after two that fell short, the third of the first is whole; after five, the
        // third of the second.
        for (tired, short) in [
            (0, [0, 0]),
            (2, [0, 0]),
            (3, [1, 0]),
            (5, [1, 0]),
            (6, [1, 1]),
        ] {
            let table = made(entry, &[], &mut Tired(tired), &[traffic(64)], search());
            let found: Vec<_> = table.rows().map(|row| row.int("short_trials")).collect();
            assert_eq!(found, short.map(Some), "{tired}");
        }
    }

    #[test]
    fn few_frames_are_judged_by_their_number_alone() {
        let outcome = |offered, us| TrialOutcome {
            offered,
            forwarded: offered,
            effective: Span::from_us(us),
            bunched: 0,
            latency: None,
        };
        let plan = |frames| Plan::of(&[burst(frames, 1e6).unwrap()]);
        assert!(!plan(1).falls_short(&outcome(1, 50), 0.001, 1));
        assert!(plan(1).falls_short(&outcome(0, 1), 0.001, 1));
        assert!(!plan(10).falls_short(&outcome(9, 10), 0.001, 2));
        assert!(!plan(10_000).falls_short(&outcome(10_000, 10_000), 0.001, 1));
        assert!(plan(10_000).falls_short(&outcome(10_000, 10_050), 0.001, 1));
    }

    #[test]
    fn a_rest_of_a_test_before_is_not_told_of_the_next() {
        let mut tired = Tired(u32::MAX);
        let mut bench = Bench::new(&mut tired, vec![traffic(64)], search());
        bench
            .offer(&traffic(64), &Plan::of(&[burst(9, 1e3).unwrap()]))
            .unwrap();
        let entry = find("throughput").unwrap();
        let table = bench.run(entry, &Params::defaults(&entry.about)).unwrap();
        assert_eq!(table.rows().next().unwrap().int("short_trials"), Some(0));
    }
}
