//! How much of a paper is run, and with what.

use std::collections::BTreeMap;
use std::sync::Arc;
use trammel_streams::peers::Peer;
use trammel_transport::run_tables::RunTables;

/// How much of a paper is run, and with what.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Every point and repeat, not the two-minute choice.
    pub is_full: bool,
    /// Threads; nothing means one a core.
    pub threads: Option<usize>,
    /// Seconds of each stream that is measured, where they are not the paper's choice.
    pub seconds: Option<f64>,
    /// Other generators that take turns with ours.
    pub peers: Vec<Peer>,
    /// The kernel of experiments that need one given, as in `[measure] source`.
    pub kernel: Option<String>,
    /// Runs that are done already, by their keys.
    pub known: Arc<BTreeMap<String, RunTables>>,
}
