//! A machine: the constants of the operations, the levels of its memory, its clock, cores and ways
//! out.

use crate::eo::{self, Entry};
use crate::expr::Expr;
use std::collections::BTreeMap;
use trammel_core::label::Label;

/// How the numbers of a machine may be known. Reports name it wherever a number depends on it.
pub(crate) const ORIGINS: [Label; 4] = [
    Label::Published,
    Label::Fitted,
    Label::DataSheet,
    Label::Measured,
];

/// A level of cache.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Its name: `L2`.
    pub name: String,
    /// Its size in bytes.
    pub bytes: f64,
    /// Cycles from an address to the datum, when each access waits for the one before.
    pub cycles: f64,
    /// The share of it that one core may count on, 0 to 1: neighbours, code and everything else
    /// have the rest.
    pub share: f64,
}

/// The memory behind the caches.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Nanoseconds from an address to the datum, when each access waits for the one before.
    pub latency_ns: f64,
    /// Accesses of one core that overlap when none waits for another.
    pub parallel: f64,
    /// Accesses a second of all cores together.
    pub accesses_per_s: f64,
    /// Accesses are counted and compared with what the memory can do, and cost the core no cycles:
    /// the accounting of Baldi and Sapio 2018, which assumes that all of them overlap with
    /// computation.
    pub is_counted_only: bool,
    /// The relative half-width of what is waited for: neighbours on the machine use the same caches
    /// and the same memory.
    pub spread: f64,
}

/// Pages and what it costs not to know where one is.
#[derive(Clone, Debug, PartialEq)]
pub struct Pages {
    /// Bytes of a page.
    pub bytes: f64,
    /// Pages that the second-level TLB knows.
    pub entries: f64,
    /// Cycles of a walk.
    pub cycles: f64,
}

/// Bytes of a table of pages for each page.
const PAGE_ENTRY: f64 = 8.0;

impl Pages {
    /// Cycles to find where the page is, for an access to memory at a random place of `span` bytes.
    /// The table of pages is looked up itself, and found in the level that it fits in; what was
    /// measured for a walk is its cost where it fits in none.
    pub fn walk(&self, span: f64, levels: &[Level]) -> f64 {
        let known = self.bytes * self.entries;
        let table = span / self.bytes * PAGE_ENTRY;
        let fits = levels
            .iter()
            .find(|level| table <= level.bytes * level.share);
        let cycles = fits.map_or(self.cycles, |level| level.cycles.min(self.cycles));
        cycles * (1.0 - known / span.max(1.0)).max(0.0)
    }
}

/// By how much two threads of one core slow each other, by probes: of work that issues instructions
/// all the time, and of work that waits for each load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Siblings {
    /// Issuing beside issuing.
    pub issue_issue: f64,
    /// Issuing beside waiting.
    pub issue_wait: f64,
    /// Waiting beside issuing.
    pub wait_issue: f64,
    /// Waiting beside waiting.
    pub wait_wait: f64,
}

impl Siblings {
    /// By how much work is slowed that waits for this share of its time alone, beside work that
    /// waits for another.
    pub fn slowdown(&self, waits: f64, other_waits: f64) -> f64 {
        let beside = |issue: f64, wait: f64| issue * (1.0 - other_waits) + wait * other_waits;
        beside(self.issue_issue, self.issue_wait) * (1.0 - waits)
            + beside(self.wait_issue, self.wait_wait) * waits
    }
}

/// What element code of one class costs against its operations, as measured on this machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// Measured cycles over the cycles of its operations, for frames of [`Factor::LEAST_FRAME`]
    /// bytes.
    pub ratio: f64,
    /// The same of what operations take more for longer frames: a class's own code and a loop over
    /// bytes have nothing to do with each other. 1 where it was not measured.
    pub grown: f64,
    /// The relative half-width of repeated measurements.
    pub spread: f64,
    /// Cycles that a call takes beyond what the ratio makes of its operations, or less than that.
    /// The ratio is that of batches of [`Factor::BATCH`], for which this makes no difference.
    pub call: f64,
}

impl Factor {
    /// Packets of a batch for which a ratio holds.
    pub const BATCH: f64 = 32.0;
    /// Bytes of the frames for which a ratio holds, their FCS included.
    pub const LEAST_FRAME: f64 = 64.0;

    /// Cycles of an operation that takes `cycles` for any frame, and `least` for frames of
    /// [`Factor::LEAST_FRAME`] bytes.
    pub(crate) fn of_longer(&self, cycles: Expr, least: f64) -> Expr {
        cycles * self.grown + least * (self.ratio - self.grown)
    }

    /// Cycles a packet that are to be added where a call is made for every `1 / calls` packets.
    pub fn beside(&self, calls: f64) -> f64 {
        self.call * (calls - 1.0 / Factor::BATCH)
    }
}

/// A machine in one profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Its name: `xeon-e5-2690v2`.
    pub id: String,
    /// The profile: `paper-totals`.
    pub profile: String,
    /// A line for people.
    pub title: String,
    /// Where its numbers come from.
    pub origin: Label,
    /// The same in words: publication and section, data sheet, or when and with what it was
    /// measured.
    pub source: String,
    /// Cycles a second under load.
    pub clock_hz: f64,
    /// Cores of all sockets.
    pub cores: u32,
    /// Sockets.
    pub sockets: u32,
    /// Each operation takes whole cycles, as the paper counts.
    pub whole_cycles: bool,
    /// The relative half-width that its constants are good for.
    pub spread: f64,
    /// Caches, the smallest first.
    pub levels: Vec<Level>,
    /// The memory behind them.
    pub memory: Memory,
    /// Pages, where walks are to be charged.
    pub pages: Option<Pages>,
    /// The constants of each operation, in cycles.
    pub constants: BTreeMap<String, BTreeMap<String, f64>>,
    /// What element code costs against its operations, by class; none where it was not measured.
    pub factors: BTreeMap<String, Factor>,
    /// What two processors do to each other that are threads of one core; none where they are cores
    /// of their own, or nothing is known.
    pub siblings: Option<Siblings>,
    /// Bytes a second between devices and memory, each way; infinite where nothing is known.
    pub pcie_bytes_per_s: f64,
}

/// A machine lacks a constant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the machine `{machine}` gives no `{constant}` for the operation `{operation}`; add it under \
     [eo.{operation}]"
)]
pub struct Missing {
    /// The machine and its profile.
    pub machine: String,
    /// The operation.
    pub operation: String,
    /// The constant.
    pub constant: String,
}

impl Machine {
    /// The name by which the command line asks for it: `xeon-e5-2690v2:printed`.
    pub fn full_name(&self) -> String {
        if self.profile.is_empty() {
            return self.id.clone();
        }
        format!("{}:{}", self.id, self.profile)
    }

    /// The same, and where its numbers come from unless the profile's name says it:
    /// `xeon-e5-2690v2:paper-totals (fitted)`.
    pub fn name_and_origin(&self) -> String {
        let origin = self.origin.key();
        if self.profile == origin {
            return self.full_name();
        }
        format!("{} ({origin})", self.full_name())
    }

    /// The constants of an operation, one for each of its terms.
    pub fn constants_of(&self, entry: &Entry) -> Result<Vec<f64>, Missing> {
        let operation = entry.constants_name();
        let known = self.constants.get(operation);
        let find = |constant: &eo::Constant| {
            let value = known.and_then(|known| known.get(constant.name)).copied();
            value.ok_or_else(|| Missing {
                machine: self.full_name(),
                operation: operation.to_owned(),
                constant: constant.name.to_owned(),
            })
        };
        entry.constants().iter().map(find).collect()
    }

    /// How often the lines that an operation touches are fetched; 1 unless the machine says
    /// otherwise.
    pub(crate) fn accesses_of(&self, entry: &Entry) -> f64 {
        let known = self.constants.get(entry.about.name);
        known
            .and_then(|known| known.get(ACCESSES))
            .copied()
            .unwrap_or(1.0)
    }

    /// The relative half-width that an operation's constants are good for: its own where that was
    /// measured.
    pub fn spread_of(&self, entry: &Entry) -> f64 {
        let known = self.constants.get(entry.constants_name());
        known
            .and_then(|known| known.get(SPREAD))
            .copied()
            .unwrap_or(self.spread)
    }

    /// Cycles of an access to memory that waits for nothing but itself.
    pub fn memory_cycles(&self) -> f64 {
        self.memory.latency_ns * 1e-9 * self.clock_hz
    }
}

/// The key by which a machine says how often an operation fetches what it touches.
pub(crate) const ACCESSES: &str = "accesses";
/// The key by which a machine says what the constants of one operation are good for.
pub const SPREAD: &str = "spread";
