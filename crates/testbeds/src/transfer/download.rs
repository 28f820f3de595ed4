//! A transfer: a client fetches a file from a server across a path, and the time it takes.

use super::client;
use super::path::Path;
use super::server::{Content, Protocol, Server};

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

/// Transfers a file of `bytes` by `protocol` across `path`; ends with an error at once when
/// `is_interrupted` says so.
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
