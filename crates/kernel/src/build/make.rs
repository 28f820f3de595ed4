//! Commands of a build: their output goes to a log, what they compile is counted, and an interrupt
//! ends them with all their children.

use super::error::{Error, Watch, at};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use trammel_io::machine;

/// Lines of a log that are told of a step that failed.
const TOLD_LINES: usize = 12;
/// What a line of `make` begins with that tells of a file.
const COMPILES: &str = "  ";
/// A date, a user and a host for the kernel to be built by, so that two builds are the same.
const FIXED: [(&str, &str); 4] = [
    ("KBUILD_BUILD_TIMESTAMP", "1970-01-01"),
    ("KBUILD_BUILD_USER", "trammel"),
    ("KBUILD_BUILD_HOST", "trammel"),
    ("KBUILD_BUILD_VERSION", "1"),
];

/// How commands are run in a tree.
pub(super) struct Make<'a> {
    pub(super) tree: &'a Path,
    pub(super) log: &'a Path,
    pub(super) jobs: usize,
    pub(super) watch: &'a dyn Watch,
}

impl Make<'_> {
    /// Begins a log anew.
    pub(super) fn begin(&self) -> Result<(), Error> {
        File::create(self.log).map_err(at(self.log)).map(drop)
    }

    /// Runs `make` for User-Mode Linux; what it compiles is told where `files` says how much that
    /// is about.
    pub(super) fn run(&self, targets: &[&str], files: Option<u64>) -> Result<(), Error> {
        let jobs = format!("-j{}", self.jobs.max(1));
        let args: Vec<&str> = ["ARCH=um", jobs.as_str()]
            .iter()
            .chain(targets)
            .copied()
            .collect();
        self.step("make", &args, files)
    }

    /// Runs another program in the tree.
    pub(super) fn command(&self, program: &str, args: &[&str]) -> Result<(), Error> {
        self.step(program, args, None)
    }

    fn step(&self, program: &str, args: &[&str], files: Option<u64>) -> Result<(), Error> {
        let failed = |source| at(self.log)(source);
        let mut log = OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.log)
            .map_err(failed)?;
        let (reader, writer) = std::io::pipe().map_err(failed)?;
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.tree)
            .envs(FIXED)
            // Of a surrounding `make`, which is none of this one's.
            .env_remove("MAKEFLAGS")
            .env_remove("MAKELEVEL")
            .stdin(Stdio::null())
            .stdout(writer.try_clone().map_err(failed)?)
            .stderr(writer);
        let mut group = machine::Group::spawn(&mut command).map_err(|source| Error::File {
            path: program.into(),
            source,
        })?;
        // The writing ends are the command's alone from here on.
        drop(command);
        let (mut compiled, mut last) = (0, Vec::new());
        for line in BufReader::new(reader).lines() {
            let line = line.map_err(failed)?;
            writeln!(log, "{line}").map_err(failed)?;
            if self.watch.is_interrupted() {
                return Err(Error::Interrupted);
            }
            if let Some(of) = files.filter(|_| line.starts_with(COMPILES)) {
                compiled += 1;
                self.watch.compiled(compiled, of.max(compiled));
            } else {
                last.push(line);
            }
        }
        let status = group.wait().map_err(failed)?;
        if status.success() {
            return Ok(());
        }
        Err(Error::Step {
            step: format!("{program} {}", args.join(" ")),
            said: last[last.len().saturating_sub(TOLD_LINES)..].join("\n"),
            log: self.log.to_owned(),
        })
    }
}
