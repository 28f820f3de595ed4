//! The client of a transfer: `curl`, which tells its own time.

use super::path::{Path, SERVER};
use super::server::Protocol;
use anyhow::{Context, bail, ensure};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::Duration;
use trammel_ground::Unsupported;
use trammel_io::program;

/// Its longest patience, in seconds.
const PATIENCE: &str = "600";
/// How often it is asked whether the user has interrupted.
const LOOK: Duration = Duration::from_millis(20);

/// A client that is killed when nobody waits for it any more.
struct Fetching(Child);

impl Drop for Fetching {
    fn drop(&mut self) {
        // One that has ended already is what is wanted.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Fetches a file of `bytes` and throws it away, by a client that runs in `folder`; the seconds
/// from the first word to the last byte.
pub(super) fn fetch(
    path: &Path,
    protocol: Protocol,
    bytes: u64,
    folder: &std::path::Path,
    is_interrupted: &dyn Fn() -> bool,
) -> anyhow::Result<f64> {
    let lacking = || Unsupported::error("there is no client, `curl`", "apt-get install curl");
    let curl = program::find("curl").ok_or_else(lacking)?;
    let told = "%{time_total} %{size_download}";
    let url = protocol.url(SERVER);
    let mut command = program::isolated(&curl, folder);
    command
        // No start-up file, and no host that is not the server itself.
        .args(["-q", "--noproxy", "*"])
        .args(["-sS", "-m", PATIENCE, "-o", "/dev/null", "-w", told, &url])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // What the user sends to ours is not for it.
        .process_group(0);
    let started = path.at_client(|| command.spawn());
    let mut client = Fetching(started.context("`curl`")?);
    let status = loop {
        if let Some(status) = client.0.try_wait().context("`curl`")? {
            break status;
        }
        if is_interrupted() {
            bail!("interrupted");
        }
        std::thread::sleep(LOOK);
    };
    // What it says is less than a pipe holds.
    let mut said = String::new();
    if let Some(mut errors) = client.0.stderr.take() {
        errors.read_to_string(&mut said).context("`curl`")?;
    }
    ensure!(
        status.success(),
        "`curl {url}`: {}",
        said.trim().trim_start_matches("curl: ")
    );
    let mut numbers = String::new();
    if let Some(mut output) = client.0.stdout.take() {
        output.read_to_string(&mut numbers).context("`curl`")?;
    }
    let (seconds, came) = numbers.split_once(' ').context("`curl` told no numbers")?;
    let came: u64 = came.trim().parse().context("`curl` told no size")?;
    ensure!(came == bytes, "`{url}`: {came} of {bytes} bytes arrived");
    seconds.parse().context("`curl` told no time")
}
