//! Calibration: this machine measured, and written as a machine file.
//!
//! Two passes measure everything, a round of the one after a round of the other; each takes every
//! quantity in turn, in short samples, and keeps the least, since what others do to a processor
//! only ever adds time. Where the two disagree on what a usual function costs (`judge.rs`), both go
//! on as long as the budget allows; then the calibration is refused. How far estimates by it reach
//! is part of the file: what estimates of graphs err by, which are then timed (`composed.rs`), and
//! what neighbours did to memory meanwhile.
//!
//! Cycles are nanoseconds times the clock of the same pass, which a chain of multiplications of
//! known latency tells.

mod bench;
#[cfg(target_os = "linux")]
mod composed;
mod derive;
#[cfg(target_os = "linux")]
pub mod elements;
pub mod file;
pub mod judge;
#[cfg(target_os = "linux")]
mod own_work;
mod pass;
mod quantity;
#[cfg(target_os = "linux")]
mod reference;
#[cfg(target_os = "linux")]
pub mod siblings;
mod system;

use bench::Bench;
use derive::Derived;
use judge::Pair;
use pass::Pass;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use trammel_core::label::Label;
#[cfg(target_os = "linux")]
use trammel_cost::machine::{Factor, Siblings};
use trammel_cost::machine::{Machine, SPREAD};
use trammel_ground::machine::{facts, now};

/// Decides on every order in which memory is walked through.
const SEED: u64 = 1;
/// Bytes of the buffer for loads, at least, where the machine has them.
const LEAST_BUFFER: usize = 512 << 20;
/// And at most, however large the last cache is.
const MOST_BUFFER: usize = 2 << 30;
/// The share of the budget that the passes have at first; the rest is for going on where they
/// differ.
const FIRST_SHARE: f64 = 2.0 / 3.0;
/// Constants that are told of, of those that differ most.
const TOLD: usize = 6;
/// The least that the passes go on for.
const GO_ON: Duration = Duration::from_millis(1500);

/// How to calibrate.
pub struct Options<'a> {
    /// Wall time in all, but for what is under way when it ends.
    pub budget: Duration,
    /// Whether the user wants it to end.
    pub is_over: &'a dyn Fn() -> bool,
    /// Hears how far it is, 0 to 1.
    pub progress: &'a dyn Fn(f64),
}

/// What keeps a machine from being calibrated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user wanted it to end.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// The machine does not tell or have what is needed.
    #[error("{0}")]
    Unsupported(String),
}

/// A machine as it was measured, to which the router's own constants can be added.
pub struct Calibration {
    machine: Machine,
    notes: Vec<String>,
    spreads: Vec<f64>,
    whole: Derived,
    /// What usual functions cost by both passes, and by how much that differs at most that does not
    /// wait for memory.
    functions: Vec<Pair>,
    working: f64,
    /// What the estimate of a graph does not err by more than, nine times in ten, where some were
    /// timed.
    error: Option<f64>,
    /// The load averages at the end.
    pub load: String,
}

impl Calibration {
    /// Adds the constants of an operation that was measured elsewhere, in cycles, with their
    /// relative half-width. This is where what only the router can measure comes in: `driver` and
    /// `call`.
    pub fn add(&mut self, operation: &str, constants: &[(&str, f64)], spread: f64) {
        let row = self.machine.constants.entry(operation.to_owned());
        let row = row.or_default();
        row.extend(
            constants
                .iter()
                .map(|(name, value)| ((*name).to_owned(), rounded(*value))),
        );
        row.insert(SPREAD.to_owned(), rounded(spread));
        self.spreads.push(spread);
    }

    /// Adds what the element code of a class costs against its operations.
    #[cfg(target_os = "linux")]
    pub(crate) fn add_factor(&mut self, class: &str, factor: Factor) {
        self.machine.factors.insert(class.to_owned(), factor);
    }

    /// Adds what two threads of one core do to each other.
    #[cfg(target_os = "linux")]
    pub(crate) fn add_siblings(&mut self, siblings: Siblings) {
        self.machine.siblings = Some(siblings);
    }

    /// The estimate of a graph does not err by more, nine times in ten.
    #[cfg(target_os = "linux")]
    pub(crate) fn erred(&mut self, error: f64) {
        self.error = Some(error);
    }

    /// The machine. How far an estimate reaches is what estimates of graphs erred by; where none
    /// were timed, the root of the mean square of the operations' spreads. What the passes disagree
    /// on is the least.
    pub fn machine(&self) -> Machine {
        let mut machine = self.machine.clone();
        let n = self.spreads.len().max(1) as f64;
        let squares: f64 = self.spreads.iter().map(|spread| spread * spread).sum();
        let error = self.error.unwrap_or_else(|| (squares / n).sqrt());
        machine.spread = rounded(error.max(self.working));
        machine
    }

    /// Adds a line for people, about how it was measured.
    pub fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// Lines for people, about how it was measured.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether more programs ran in the last minute than there are processors for, this one
    /// included: two passes may agree on what both were slowed down by.
    pub fn is_shared(&self) -> bool {
        let minute = self
            .load
            .split(' ')
            .next()
            .and_then(|load| load.parse().ok());
        minute.unwrap_or(0.0) > f64::from(self.machine.cores) + 0.5
    }

    /// Why it should not be used: the passes differ too much, or estimates by it err too much.
    pub fn refusal(&self) -> Option<String> {
        let by_error = || judge::refusal_by_error(self.error?, &self.load);
        judge::refusal(&self.functions, &self.load).or_else(by_error)
    }
}

/// Measures this machine, within the budget but for the shortest that a pass can be.
pub fn measure(options: &Options<'_>) -> Result<Calibration, Error> {
    let start = Instant::now();
    let caches = system::caches();
    let Some(last) = caches.last() else {
        return Err(Error::Unsupported(
            "the kernel does not tell this machine's caches in /sys/devices/system/cpu/cpu0/cache"
                .to_owned(),
        ));
    };
    let bytes = (last.bytes * 8).clamp(LEAST_BUFFER, MOST_BUFFER);
    let available = system::available_bytes().unwrap_or(bytes);
    // Whole pages of any size.
    let bytes = (bytes.min(available / 2) >> 21) << 21;
    if bytes < last.bytes * 2 {
        return Err(Error::Unsupported(format!(
            "memory is measured in a buffer of {} MiB, twice the last cache, and {} MiB are free",
            (last.bytes * 2) >> 20,
            available >> 20
        )));
    }
    let mut bench = Bench::new(bytes);
    let backing = system::backing(bench.address());
    let is_huge = backing.huge_share > 0.5;
    let page_bytes = (!is_huge).then_some(backing.page_bytes);
    let mut all = quantity::all(&mut bench, &caches, page_bytes, SEED);
    let mut passes = [Pass::default(), Pass::default()];
    let budget = options.budget.saturating_sub(start.elapsed());
    let mut share = budget.mul_f64(FIRST_SHARE);
    let stolen_before = system::stolen();
    let (one, other, functions, (first, second)) = loop {
        let is_over = || {
            let spent = start.elapsed().as_secs_f64() / options.budget.as_secs_f64();
            (options.progress)(spent.min(1.0));
            (options.is_over)()
        };
        pass::go_on(&mut passes, &mut bench, &mut all, share, &is_over);
        if (options.is_over)() {
            return Err(Error::Interrupted);
        }
        let of = |pass: &Pass| derive::derive(&pass.times_ns(&all), &caches, page_bytes);
        let both = of(&passes[0]).and_then(|first| Ok((first, of(&passes[1])?)));
        let (first, second) = both.map_err(Error::Unsupported)?;
        let functions = judge::functions(&described(&first), &described(&second));
        let is_steady = functions
            .iter()
            .all(|pair| pair.difference() <= pair.bound() / 2.0);
        let left = options.budget.saturating_sub(start.elapsed());
        if is_steady || left < GO_ON {
            break (
                described(&first),
                described(&second),
                functions,
                (first, second),
            );
        }
        share = left.min((budget / 10).max(GO_ON));
    };
    let together = passes[0].with(&passes[1]);
    let whole = derive::derive(&together.times_ns(&all), &caches, page_bytes);
    let whole = whole.map_err(Error::Unsupported)?;
    let load = system::load();
    let stolen = stolen_before.zip(system::stolen());
    let stolen = stolen.filter(|(before, after)| after.1 > before.1);
    let stolen =
        stolen.map(|(before, after)| (after.0 - before.0) as f64 / (after.1 - before.1) as f64);
    let pages = if is_huge {
        "huge pages".to_owned()
    } else {
        format!("{} KiB pages", backing.page_bytes / 1024)
    };
    let facts = facts();
    let fact = |key: &str| facts.get(key).map_or("unknown", String::as_str);
    let title = trammel_ground::machine::processor();
    let source = format!(
        "measured {} by trammel {} calibrate; {}; {} {}; {pages} (transparent huge pages: {}); \
         load average {load}",
        now(),
        env!("CARGO_PKG_VERSION"),
        fact("processor"),
        fact("system"),
        fact("kernel"),
        system::huge_pages(),
    );
    let mut calibration = Calibration {
        machine: Machine {
            title,
            source,
            cores: std::thread::available_parallelism().map_or(1, usize::from) as u32,
            sockets: system::sockets(),
            constants: BTreeMap::new(),
            ..described(&whole)
        },
        notes: notes(&whole, &passes, bytes, is_huge),
        spreads: Vec::new(),
        whole: whole.clone(),
        working: judge::working(&one, &other),
        functions,
        error: None,
        load,
    };
    let by_host = stolen.map_or_else(String::new, |share| {
        format!(
            "; the machine below took {:.1} % of the processors' time",
            share * 100.0
        )
    });
    calibration.note(format!(
        "Others had the processor during {:.1} % of samples{by_host}. By the two passes, costs of \
         usual functions differ by {:.1} % at most.",
        together.disturbed() * 100.0,
        judge::difference(&calibration.functions) * 100.0
    ));
    let mut differing = judge::constants(&first, &second);
    differing.sort_by(|a, b| b.difference().total_cmp(&a.difference()));
    let differing = differing
        .iter()
        .take(TOLD)
        .map(|pair| format!("{} {:.2} and {:.2}", pair.name, pair.first, pair.second));
    calibration.note(format!(
        "Constants that differ most between them: {}.",
        differing.collect::<Vec<_>>().join(", ")
    ));
    let machine = &mut calibration.machine;
    for level in &mut machine.levels {
        level.cycles = rounded(level.cycles);
    }
    machine.memory.latency_ns = rounded(machine.memory.latency_ns);
    machine.memory.parallel = rounded(machine.memory.parallel);
    machine.memory.accesses_per_s = rounded(machine.memory.accesses_per_s);
    machine.memory.spread = rounded(together.neighbours(&all).max(judge::waiting(&one, &other)));
    if let Some(pages) = &mut machine.pages {
        pages.cycles = rounded(pages.cycles);
    }
    for (at, operation) in whole.operations.iter().enumerate() {
        let differ = points_differ(&first, &second, at);
        // The formula's own error is part of what its constants are good for.
        let spread = differ.max(operation.residual);
        calibration.add(operation.name, &operation.constants, spread);
    }
    Ok(calibration)
}

/// The machine that a measurement describes, as far as usual functions ask for it.
fn described(whole: &Derived) -> Machine {
    let constants = whole.operations.iter().map(|operation| {
        let each = operation.constants.iter();
        let each = each.map(|(name, value)| ((*name).to_owned(), *value));
        (operation.name.to_owned(), each.collect())
    });
    Machine {
        id: file::HOST.to_owned(),
        profile: "measured".to_owned(),
        title: String::new(),
        origin: Label::Measured,
        source: String::new(),
        clock_hz: (whole.clock_hz / 1e6).round() * 1e6,
        cores: 1,
        sockets: 1,
        whole_cycles: false,
        spread: 0.0,
        levels: whole.levels.clone(),
        memory: whole.memory.clone(),
        pages: whole.pages.clone(),
        constants: constants.collect(),
        factors: BTreeMap::new(),
        siblings: None,
        pcie_bytes_per_s: f64::INFINITY,
    }
}

/// What usual functions cost by two calibrations, and every constant of both.
pub fn compared(first: &Calibration, second: &Calibration) -> (Vec<Pair>, Vec<Pair>) {
    let (first, second) = (&first.whole, &second.whole);
    (
        judge::functions(&described(first), &described(second)),
        judge::constants(first, second),
    )
}

/// By how much the passes differ at an operation's points, at most.
fn points_differ(first: &Derived, second: &Derived, operation: usize) -> f64 {
    let of = |derived: &Derived| {
        let found = derived.operations.get(operation);
        found.map_or_else(Vec::new, |operation| operation.points.clone())
    };
    let both = of(first).into_iter().zip(of(second));
    both.map(|(a, b)| (a - b).abs() / a.min(b).max(f64::MIN_POSITIVE))
        .fold(0.0, f64::max)
}

/// What the file says at its beginning about how it was measured.
fn notes(whole: &Derived, passes: &[Pass; 2], bytes: usize, is_huge: bool) -> Vec<String> {
    let mut notes = vec![
        "This machine, written by `trammel calibrate`, which replaces the file as a whole."
            .to_owned(),
        format!(
            "Least of short samples in two passes of {} and {} rounds; memory in a buffer of {} \
             MiB, order from seed {SEED}.",
            passes[0].rounds,
            passes[1].rounds,
            bytes >> 20
        ),
        format!(
            "Shares are fitted to lower quartiles, with a relative error of {:.0} %.",
            whole.share_residual * 100.0
        ),
        format!(
            "An empty loop takes {:.1} cycles a turn; where a formula has a part that does not \
             depend on parameters, the loop is in it.",
            whole.loop_cycles
        ),
    ];
    if whole.pages.is_none() {
        notes.push(if is_huge {
            "Huge pages are behind the buffer, so no walks are charged.".to_owned()
        } else {
            "Walks cost nothing that could be seen.".to_owned()
        });
    }
    if cfg!(debug_assertions) {
        notes.push(
            "The program was built without optimisation: operations cost less in a release build."
                .to_owned(),
        );
    }
    for operation in &whole.operations {
        let overhead = operation.overhead.map_or_else(String::new, |overhead| {
            format!(", beside a loop of {overhead:.1} cycles")
        });
        let points: Vec<String> = operation.points.iter().map(|p| format!("{p:.1}")).collect();
        notes.push(format!(
            "{}: {} cycles at the points of its probe; the fit errs by {:.1} %{overhead}",
            operation.name,
            points.join(", "),
            operation.residual * 100.0,
        ));
    }
    notes
}

/// Four significant digits: more would be noise.
fn rounded(number: f64) -> f64 {
    format!("{number:.3e}").parse().unwrap_or(number)
}
