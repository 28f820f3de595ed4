//! `trammel send`, `recv` and `decode`: streams in words, logs in files, reports in tables.

pub mod decode;
pub mod log_file;
pub mod metrics;
#[cfg(target_os = "linux")]
pub mod receive;
#[cfg(target_os = "linux")]
pub mod send;
pub mod run;
pub mod words;
