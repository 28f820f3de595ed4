//! `trammel send`, `recv`, `log` and `decode`: streams in words, logs in files, reports in tables.
#![forbid(unsafe_code)]

pub mod achieved;
pub mod clocks;
pub mod decode;
pub mod figures;
pub mod itg_files;
pub mod kinds;
#[cfg(target_os = "linux")]
pub mod lacking;
#[cfg(target_os = "linux")]
pub mod link;
#[cfg(target_os = "linux")]
pub mod log_file;
pub mod log_source;
#[cfg(target_os = "linux")]
pub mod log_store;
pub mod metrics;
pub mod page;
pub mod peers;
#[cfg(target_os = "linux")]
pub mod receive;
#[cfg(target_os = "linux")]
pub mod rig;
pub mod run;
pub mod script;
#[cfg(target_os = "linux")]
pub mod send;
