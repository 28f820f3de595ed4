//! `trammel send`, `recv`, `log` and `decode`: streams in words, logs in files, reports in tables.

pub mod decode;
pub mod log_file;
pub mod log_store;
pub mod metrics;
#[cfg(target_os = "linux")]
pub mod receive;
pub mod script;
#[cfg(target_os = "linux")]
pub mod send;
pub mod words;
