//! `trammel bench` as a process, that a test troubles while it runs.

use crate::left_behind::Look;
use crate::rig::TRAMMEL;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;
use trammel_io::clock;
use trammel_io::netns::Namespace;

/// How long anything may take.
const PATIENCE_NS: i64 = 60_000_000_000;
/// How often is looked.
const LOOK_NS: i64 = 5_000_000;

/// A run of the command.
pub(crate) struct Run {
    child: Child,
    /// Where everything of it is.
    pub(crate) folder: TempDir,
    /// Where it was started.
    pub(crate) namespace: Arc<Namespace>,
}

/// How it ended.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) said: String,
}

impl Run {
    /// Starts `trammel bench` in `namespace` with `arguments`, in which `{mark}` is the folder;
    /// results go to `out` in it. The program and its arguments are given to the command `by`,
    /// where there is one.
    pub(crate) fn start(
        folder: TempDir,
        namespace: &Arc<Namespace>,
        by: &[&str],
        arguments: &[&str],
    ) -> Run {
        let mark = folder.path().display().to_string();
        let out = folder.path().join("out").display().to_string();
        // Few frames a second: the trials are about as long as those of a fast line, and fewer.
        let own = [
            TRAMMEL,
            "bench",
            "--quick",
            "--frame-sizes",
            "128",
            "--rate",
            "10 Mbit/s",
            "-o",
            &out,
        ];
        let words: Vec<String> = [by, &own[..], arguments]
            .concat()
            .iter()
            .map(|word| word.replace("{mark}", &mark))
            .collect();
        let start = || {
            Command::new(&words[0])
                .args(&words[1..])
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the program can be started")
        };
        Run {
            child: namespace.run(start),
            folder,
            namespace: Arc::clone(namespace),
        }
    }

    pub(crate) fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("processes have small numbers")
    }

    pub(crate) fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    /// What there is of it on the machine.
    pub(crate) fn look(&self) -> Look {
        Look::at(&self.namespace, &self.folder.path().display().to_string())
    }

    /// Waits until it has made so many trials: whether it has, or has ended before.
    pub(crate) fn has_made(&mut self, trials: usize) -> bool {
        let journal = self.folder.path().join(".out.trials.jsonl");
        let mut has_ended = false;
        until("trials are made", || {
            let text = std::fs::read_to_string(&journal).unwrap_or_default();
            has_ended = self
                .child
                .try_wait()
                .expect("the child process can be waited for")
                .is_some();
            // The first line is the head.
            text.lines().count() > trials || has_ended
        });
        !has_ended
    }

    /// Waits for its end.
    pub(crate) fn ends(&mut self) -> Ended {
        let mut said = String::new();
        let pipe = self.child.stderr.as_mut().expect("it is a pipe");
        // What it says is short and fits into the pipe; its end closes the pipe.
        pipe.read_to_string(&mut said)
            .expect("the other end writes text");
        let status = self
            .child
            .wait()
            .expect("the child process can be waited for");
        Ended {
            code: status.code(),
            said,
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `holds`.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = clock::monotonic_ns() + PATIENCE_NS;
    while !holds() {
        assert!(clock::monotonic_ns() < end, "it never happens that {what}");
        clock::wait(&[], Some(LOOK_NS)).expect("the clock can be waited for");
    }
}

/// Rows of a table of a run folder.
pub(crate) fn rows(folder: &Path, table: &str) -> usize {
    let path = folder.join(format!("{table}.csv"));
    let text =
        std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    text.lines().count() - 1
}
