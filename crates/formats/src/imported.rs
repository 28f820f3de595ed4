//! What a file becomes: runs with tables, samples over time, and what a reader must know.

use crate::format::Format;
use trammel_core::label::Label;
use trammel_stats::table::Table;

/// What a file became.
#[derive(Clone, Debug)]
pub struct Imported {
    /// What the file is.
    pub format: Format,
    /// Who made the numbers: `iperf 3.12`, `ns-3`, `packets seen at the sender`.
    pub by: String,
    /// How the numbers are known.
    pub label: Label,
    /// The runs in it, one at least; several are repeats of one another.
    pub runs: Vec<Run>,
    /// What a reader must know to read the numbers aright, a sentence each.
    pub notes: Vec<String>,
}

/// One run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Tables by the names and columns of run folders (`flows`, `links`, …); columns in which no
    /// row has a value are left out.
    pub tables: Vec<Table>,
    /// Samples over time.
    pub traces: Vec<Trace>,
    /// Of a link's trace, when packets may leave: a millisecond a line, as Mahimahi has it.
    pub deliveries: Option<String>,
}

/// The samples of one flow, queue or stream.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The flow, link or stream.
    pub entity: String,
    /// The samples by `time_s`, the columns named as in run folders.
    pub samples: Table,
}

impl Run {
    /// The table `name`.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name() == name)
    }
}
