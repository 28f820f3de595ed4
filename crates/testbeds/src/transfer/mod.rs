//! File transfers through a device: real hosts ([`Path`]), or simulated ones ([`simulated`]).
//!
//! ```text
//! server ── device ── client       three namespaces, gone when the path is dropped
//! ```
//! Linguaglossa et al., §5.7: "show how fast a file transfer is". Of a real transfer, a real server, a real client and the
//! kernel's TCP are at both ends. The file is sparse, so that no disk is read, and what comes is thrown away; the time is the
//! client's own.

mod client;
mod hosts;
mod path;
mod server;
pub mod simulated;

pub use hosts::{Hosts, real};
pub use path::Path;
pub use server::Protocol;

use server::{Content, Server};

/// What a transfer came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Transferred {
    /// The program that served.
    pub server: &'static str,
    /// Bytes of the file.
    pub bytes: u64,
    /// From the client's first word to the last byte.
    pub seconds: f64,
    /// Segments that the server's host sent again.
    pub retransmissions: u64,
}

impl Transferred {
    /// Megabits of the file a second.
    pub fn mbps(&self) -> f64 {
        self.bytes as f64 * 8e-6 / self.seconds
    }
}

/// Transfers a file of `bytes` by `protocol` across `path`; ends with an error at once when `is_interrupted` says so.
pub fn transfer(
    path: &Path,
    protocol: Protocol,
    bytes: u64,
    is_interrupted: &dyn Fn() -> bool,
) -> anyhow::Result<Transferred> {
    let content = Content::of(bytes)?;
    let mut server = Server::start(path, protocol, &content)?;
    path.await_port(protocol.port(), || server.check(), is_interrupted)?;
    let before = path.retransmissions()?;
    let seconds = client::fetch(path, protocol, bytes, content.folder(), is_interrupted)?;
    Ok(Transferred {
        server: server.program(),
        bytes,
        seconds,
        retransmissions: path.retransmissions()?.saturating_sub(before),
    })
}
