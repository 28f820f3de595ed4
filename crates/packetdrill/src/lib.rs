#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod assert;
mod run;
mod scope;
pub mod script;
mod setup;
mod sysctl;

pub use run::{Failure, Report, ScriptOutcome, Tested, run, run_on};
pub use scope::inapplicable;
pub use setup::Files;
