//! File transfers through a device: a real server and a real client, and the kernel's TCP at both ends.
//!
//! ```text
//! server ── device ── client       three namespaces, gone when the path is dropped
//! ```
//! Linguaglossa et al., §5.7: "show how fast a file transfer is". The file is sparse, so that no disk is read, and what comes is
//! thrown away; the time is the client's own.

mod path;
mod server;

pub use path::Path;
pub use server::Protocol;

use crate::engine::Lacks;
use anyhow::{Context, anyhow, ensure};
use server::{Content, Server};
use std::process::Command;

/// What a transfer came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Transferred {
    /// The program that served.
    pub server: &'static str,
    /// Bytes of the file.
    pub bytes: u64,
    /// From the client's first word to the last byte.
    pub seconds: f64,
}

impl Transferred {
    /// Megabits of the file a second.
    pub fn mbps(&self) -> f64 {
        self.bytes as f64 * 8e-6 / self.seconds
    }
}

/// The client's longest patience, in seconds.
const PATIENCE: &str = "600";

/// Transfers a file of `bytes` so many times by `protocol` across `path`.
pub fn transfer(
    path: &Path,
    protocol: Protocol,
    bytes: u64,
    times: u32,
) -> anyhow::Result<Vec<Transferred>> {
    let content = Content::of(bytes)?;
    let server = Server::start(path, protocol, &content)?;
    path.await_port(protocol.port())?;
    let once = |_| fetch(path, protocol, &server, bytes);
    (0..times).map(once).collect()
}

fn fetch(
    path: &Path,
    protocol: Protocol,
    server: &Server,
    bytes: u64,
) -> anyhow::Result<Transferred> {
    let told = "%{time_total} %{size_download}";
    let url = protocol.url(path::SERVER);
    let arguments = ["-sS", "-m", PATIENCE, "-o", "/dev/null", "-w", told, &url];
    let run = || Command::new("curl").args(arguments).output();
    let output = path.at_client(run).map_err(|why| match why.kind() {
        std::io::ErrorKind::NotFound => {
            Lacks::error("there is no client, `curl`", "apt-get install curl")
        }
        _ => anyhow!("`curl`: {why}"),
    })?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success(),
        "`curl {url}`: {}",
        said.trim().trim_start_matches("curl: ")
    );
    let numbers = String::from_utf8_lossy(&output.stdout).into_owned();
    let (seconds, came) = numbers.split_once(' ').context("`curl` told no numbers")?;
    let came: u64 = came.trim().parse().context("`curl` told no size")?;
    ensure!(came == bytes, "`{url}`: {came} of {bytes} bytes came");
    Ok(Transferred {
        server: server.program(),
        bytes,
        seconds: seconds.parse().context("`curl` told no time")?,
    })
}
