//! Programs of others: started at one end of a path, waited for, ended and cleared away whatever
//! happens.

use crate::rig::Rig;
use anyhow::{Context, bail};
use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use trammel_ground::Unsupported;
use trammel_io::held::Held;
use trammel_io::program;

/// So often is looked whether a program has ended.
const LOOK: Duration = Duration::from_millis(2);
/// What a program may take besides its stream.
const SLACK: Duration = Duration::from_secs(20);
/// A state of a socket in `/proc/net/tcp`.
const LISTENS: &str = "0A";

/// A folder for the logs of one stream, of a name that nobody knows beforehand; gone when dropped.
#[derive(Debug)]
pub(super) struct Folder(TempDir);

impl Folder {
    pub(super) fn new() -> anyhow::Result<Folder> {
        let made = tempfile::Builder::new().prefix("trammel-peer-").tempdir();
        let place = std::env::temp_dir();
        made.map(Folder)
            .with_context(|| format!("no folder can be made in `{}`", place.display()))
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// A program that runs, ended when dropped.
#[derive(Debug)]
pub(super) struct Running {
    name: String,
    child: Child,
}

impl Running {
    /// Starts `words` in the namespace of the caller's thread, isolated in `folder`, its standard
    /// output in the file `output` there.
    pub(super) fn start(
        words: &[String],
        folder: &Folder,
        output: &str,
        package: &str,
    ) -> anyhow::Result<Running> {
        let (name, arguments) = words.split_first().context("a program without a name")?;
        let Some(found) = program::find(name) else {
            let what = format!("`{name}` is not installed");
            return Err(Unsupported::error(
                &what,
                &format!("`apt-get install {package}`"),
            ));
        };
        let output = folder.file(output);
        let output = File::create(&output).with_context(|| format!("`{}`", output.display()))?;
        let child = program::isolated(&found, folder.0.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(Stdio::null())
            .spawn();
        match child {
            Ok(child) => Ok(Running {
                name: name.clone(),
                child,
            }),
            Err(why) => bail!("`{name}` cannot be started: {why}"),
        }
    }

    /// Waits for its end, so much longer than `seconds` at most.
    pub(super) fn end(&mut self, seconds: f64, stop: &AtomicBool) -> anyhow::Result<ExitStatus> {
        let until = Instant::now() + SLACK + Duration::from_secs_f64(seconds);
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if stop.load(Ordering::Relaxed) {
                bail!("`{}` was interrupted", self.name);
            }
            if Instant::now() > until {
                bail!("`{}` has not ended in time", self.name);
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port of TCP where the receiver is, which is kept for the program that is told of it.
pub(super) fn port(rig: &Rig) -> anyhow::Result<Held> {
    Ok(rig.at_receiver(|| Held::at(rig.address()))?)
}

/// Waits until somebody listens on `port` of TCP where the receiver is.
pub(super) fn wait_for(rig: &Rig, port: u16) -> anyhow::Result<()> {
    let local = format!(":{port:04X}");
    let listens = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        fields.next().is_some_and(|at| at.ends_with(&local)) && fields.nth(1) == Some(LISTENS)
    };
    // A thread in the namespace sees its sockets.
    rig.at_receiver(|| {
        let until = Instant::now() + SLACK;
        while Instant::now() < until {
            for file in ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"] {
                let text = std::fs::read_to_string(file).unwrap_or_default();
                if text.lines().any(listens) {
                    return Ok(());
                }
            }
            std::thread::sleep(LOOK);
        }
        bail!("nobody listens on port {port}")
    })
}
