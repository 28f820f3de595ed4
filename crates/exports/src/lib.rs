//! Paths and runs in the words of other programs: `tc`, Mahimahi, containerlab, Flent, iperf3.
//!
//! ```text
//! scenario ──> Shape (two ways: rate, delay, loss, queue) ──> a script, and what it leaves out
//! tables of a run folder ──> Recording (flows over time) ──> a data file
//! ```
//! A script says in its comments what each line is of, what of the scenario the emulator has no way
//! to do, and what it has with another value. A data file says that it is of Trammel and which
//! engine made it. Nothing is left out in silence.
#![forbid(unsafe_code)]

mod comment;
pub mod containerlab;
pub mod flent;
pub mod iperf3;
pub mod mahimahi;
pub mod recording;
mod shape;
pub mod tc;

/// A script, and what of the scenario it does not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// The text of the file.
    pub text: String,
    /// What is left out, a sentence each; the text says it too.
    pub left_out: Vec<String>,
    /// What is there with another value than the scenario's, a sentence each; the text says it too.
    pub changed: Vec<String>,
}

/// Comments of a shell script or YAML file that say what is left out and what is changed.
fn said(left_out: &[String], changed: &[String]) -> String {
    if left_out.is_empty() && changed.is_empty() {
        return comment::line("All of the path is here.");
    }
    let left_out = left_out.iter().map(|what| format!("Left out: {what}"));
    let changed = changed.iter().map(|what| format!("Changed: {what}"));
    let all = left_out.chain(changed);
    all.map(|what| comment::line(&what)).collect()
}
