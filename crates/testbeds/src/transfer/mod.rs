//! File transfers through a device: real hosts ([`Path`]), or simulated ones ([`simulated`]).
//!
//! ```text
//! server ── device ── client       three namespaces, gone when the path is dropped
//! ```
//! Linguaglossa et al., §5.7: "show how fast a file transfer is". Of a real transfer, a real
//! server, a real client and the kernel's TCP are at both ends. The file is sparse, so that no disk
//! is read, and what comes is thrown away; the time is the client's own.

mod client;
mod download;
mod hosts;
mod path;
mod server;
pub mod simulated;

pub use download::{Transferred, transfer};
pub use hosts::{Hosts, real};
pub use path::Path;
pub use server::Protocol;
