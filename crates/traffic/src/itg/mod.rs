//! What is needed to live beside D-ITG 2.8.1: its command line, logs, summary and signalling.
//!
//! Everything here was found by running the programs of Debian's `d-itg` 2.8.1-r1023 and looking at
//! what they read, wrote and sent, and from their manual. Ours follows the documentation where the
//! two differ, and says so (a [`command::Command`] carries the remarks).
//!
//! - [`command`]: a flow as D-ITG describes it; [`arguments`]: the words of its command line and
//!   script files.
//! - [`line`](mod@line): what one log record tells; [`text_log`] and [`binary_log`]: its two forms;
//!   [`file`](mod@file): logs as they are read, and how they become entries of ours and ours become
//!   theirs.
//! - [`flow`]: the stream that a command asks for; [`stamps`]: heads of payloads as stamps;
//!   [`log_file`]: a log that is written.
//! - [`speak`] and [`carriers`]: sending to ITGRecv; [`serve`] and [`flows`]: receiving from
//!   ITGSend; [`framing`] and [`icmp`]: messages in a stream of TCP, and of ICMP.
//! - [`log_protocol`]: what is said to ITGLog; [`log_serve`]: a log server for ITGSend and ITGRecv.
//! - [`orders`]: what libITG tells a sender, and what it hears.
//! - [`summary`]: the numbers and the layout of `ITGDec`.
//! - [`signalling`]: the messages between sender and receiver, and the head of each packet's
//!   payload; [`session`]: their order.
//!
//! The manual: A. Botta, W. de Donato, A. Dainotti, S. Avallone, A. Pescapé, *D-ITG 2.8.1
//! Manual*, 2013.

pub mod arguments;
pub mod binary_log;
#[cfg(target_os = "linux")]
pub mod carriers;
pub mod command;
pub mod file;
pub mod flow;
#[cfg(target_os = "linux")]
pub mod flows;
pub mod framing;
#[cfg(target_os = "linux")]
pub mod icmp;
pub mod line;
#[cfg(target_os = "linux")]
mod log_client;
pub mod log_file;
pub mod log_protocol;
#[cfg(target_os = "linux")]
pub mod log_serve;
pub mod orders;
#[cfg(target_os = "linux")]
pub mod serve;
#[cfg(target_os = "linux")]
mod serve_channel;
pub mod session;
pub mod signalling;
#[cfg(target_os = "linux")]
pub mod speak;
pub mod stamps;
pub mod summary;
pub mod text_log;
