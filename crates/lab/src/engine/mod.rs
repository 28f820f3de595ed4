//! The engines, wired to scenarios: what the commands call once arguments and files are read.

pub mod answer;
mod capture;
pub mod columns;
pub mod compare;
pub mod comparison;
#[cfg(target_os = "linux")]
pub(crate) mod guest;
pub mod harm;
#[cfg(target_os = "linux")]
mod host;
pub mod identity;
#[cfg_attr(not(target_os = "linux"), path = "instrument_elsewhere.rs")]
pub(crate) mod instrument;
#[cfg(target_os = "linux")]
pub mod job_of;
pub mod kept;
mod limits;
mod link_row;
pub mod machine;
#[cfg(target_os = "linux")]
pub mod measure;
pub mod network_of;
pub mod observe;
pub mod pacing;
pub mod paper;
mod phases;
pub mod points;
pub mod possible;
pub mod predict;
pub(crate) mod refusals;
mod rows;
pub mod run;
pub mod simulate;
pub mod summary;
pub mod trace_of;
pub mod workloads;

/// Why a command could not do its work although it was asked well: the exit code is 3.
#[derive(Debug, thiserror::Error)]
#[error("{what}; {mend}")]
pub struct Lacks {
    /// What the machine or this build lacks.
    pub what: String,
    /// What would mend it.
    pub mend: String,
}

impl Lacks {
    /// An error that ends a command with exit code 3.
    pub fn error(what: &str, mend: &str) -> anyhow::Error {
        anyhow::Error::new(Lacks {
            what: what.to_owned(),
            mend: mend.to_owned(),
        })
    }
}
