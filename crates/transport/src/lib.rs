//! The engines, wired to scenarios: what the commands call once arguments and files are read.
#![forbid(unsafe_code)]

pub mod answer;
mod apps;
mod capture;
#[cfg(target_os = "linux")]
mod captures_of_kernel;
pub mod comparison;
#[cfg(target_os = "linux")]
pub mod diverge;
pub mod embedded;
pub mod fidelity;
#[cfg(target_os = "linux")]
pub mod guest;
pub mod harm;
#[cfg(target_os = "linux")]
pub mod host;
#[cfg_attr(not(target_os = "linux"), path = "instrument_elsewhere.rs")]
pub mod instrument;
#[cfg(target_os = "linux")]
pub mod job_of;
mod kept;
#[cfg(target_os = "linux")]
pub mod kernels;
mod limits;
mod link_row;
pub mod look;
#[cfg(target_os = "linux")]
pub mod measure;
pub mod network_of;
pub mod observe;
#[cfg(target_os = "linux")]
mod on_host;
pub mod pacing;
mod phases;
mod plots;
pub mod point_run;
pub mod points;
pub mod possible;
pub mod predict;
mod predict_pieces;
mod qlog_of;
pub mod refusals;
mod rows;
pub mod run;
mod run_options;
pub mod run_tables;
mod run_times;
pub mod simulate;
pub mod stepped;
pub mod summary;
pub mod trace_of;
pub mod workloads;
