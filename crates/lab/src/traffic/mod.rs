//! `trammel send`, `recv` and `decode`: streams in words, logs in files, reports in tables.

pub mod achieved;
pub mod decode;
pub mod log_file;
pub mod metrics;
pub mod peers;
#[cfg(target_os = "linux")]
pub mod receive;
#[cfg(target_os = "linux")]
pub mod rig;
#[cfg(target_os = "linux")]
pub mod send;
pub mod words;
