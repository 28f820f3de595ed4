//! Scenario files: from text to points, each a complete scenario, with every fault shown at once.
//!
//! ```text
//! text → tree (every value knows its place) → sweep edits the tree → parse reads each point → check
//! ```
//! The model is plain data that a Rust program may build without any file.
#![forbid(unsafe_code)]

pub mod app;
mod budget;
pub mod check;
pub mod columns;
pub mod course;
mod description;
pub mod diagnose;
mod faults;
mod file;
pub mod flow;
pub mod forwarding;
pub mod hash;
pub mod keys;
pub mod keys_kind;
pub mod model;
pub mod named;
mod parse;
pub mod path;
pub mod placement;
pub mod plugin;
pub mod preset;
mod read_error;
mod reader;
pub mod reading;
pub mod reference;
pub mod registry;
pub mod routing;
pub mod schedule_file;
pub mod schema;
mod source;
mod subject;
pub mod sweep;
mod sweep_axes;
mod sweep_edit;
pub mod topology;
pub mod traffic;
pub mod tree;
pub mod workload;

pub use description::{Description, NamedPoint};
pub use file::File;
pub use flow::{DelayedAck, Flow, Stack};
pub use model::Scenario;
pub use path::{Limit, Queue};
pub use read_error::ReadError;
pub use reading::{Reading, Refusals};
pub use subject::Subject;
