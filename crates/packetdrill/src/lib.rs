#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod assert;
mod run;
pub mod script;
mod setup;
mod sysctl;

pub use run::{Failure, Report, ScriptOutcome, run};
pub use setup::Files;
