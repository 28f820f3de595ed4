//! A guest from its start to its answer: given files and a job in memory, heard by a pipe, and gone
//! with whoever started it.

use crate::cause::Cause;
use crate::guest::{FAILED, FILES, JOB, MODULES};
use crate::initramfs::Archive;
use crate::job::{Answer, GuestJob};
use crate::processors::Processor;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{self, Read, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use trammel_io::{machine, signals};

/// What is kept of what a guest says.
const SAID_BYTES: usize = 8192;
/// Of which so many lines are told where it dies.
const SAID_LINES: usize = 12;
/// How often is looked whether to stop.
const SLICE: Duration = Duration::from_millis(20);
/// The least memory of a guest.
const LEAST_MIB: u64 = 256;
/// A guest that has nothing to do ends in a third of a second; on a machine that is very busy, in
/// this.
pub const BOOT_TIME: Duration = Duration::from_secs(60);
/// The virtual time of a guest that has nothing to do.
const NOTHING_NS: i64 = 1_000_000;

/// Why a guest came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This machine does not let guests run.
    #[error(
        "the kernel's guests cannot run here: {cause}{}; {}",
        detail.as_ref().map_or_else(String::new, |line| format!(" (`{line}`)")), cause.mend()
    )]
    Unable {
        /// Why.
        cause: Cause,
        /// The line that tells it.
        detail: Option<String>,
    },
    /// What does the work of a guest on the host could not be started.
    #[error("the process that measures does not start: {0}")]
    NotStarted(#[source] io::Error),
    /// The program that is its first process does not say what it needs.
    #[error("`{}` does not say what files it needs: {why}; it belongs to this program and is to be \
             beside it", .program.display())]
    NoProgram {
        /// The program.
        program: PathBuf,
        /// What went wrong.
        why: String,
    },
    /// It ended without an answer.
    #[error("the kernel's guest died ({status}); its last words:\n{said}")]
    Died {
        /// How it ended.
        status: ExitStatus,
        /// The end of its console.
        said: String,
    },
    /// It could not do its job.
    #[error("the kernel's guest could not do it: {0}")]
    Failed(String),
    /// It took longer than it may.
    #[error("the kernel's guest was stopped after {} s", .0.as_secs())]
    TooLong(Duration),
    /// The user has interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// A kernel, and the files of its guests.
#[derive(Clone, Debug)]
pub struct Machine {
    kernel: PathBuf,
    /// Paths and contents; the first is the program.
    files: Vec<(String, Vec<u8>)>,
}

/// How a guest is run.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Memory that it sees; what it does not use is never taken.
    pub memory_mib: u64,
    /// How long it may take by the clock on the wall.
    pub time: Duration,
    /// Whether the user has interrupted.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
}

impl Machine {
    /// Guests of `kernel` whose first process is `program`, with the libraries that it maps.
    pub fn new(kernel: &Path, program: &Path) -> Result<Machine, Error> {
        let failed = |why: String| Error::NoProgram {
            program: program.to_owned(),
            why,
        };
        let output = Command::new(program)
            .arg(FILES)
            .output()
            .map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            return Err(failed(output.status.to_string()));
        }
        let own = fs::canonicalize(program).map_err(|error| failed(error.to_string()))?;
        let mut files = vec![(own, "/init".to_owned())];
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            if Path::new(line) != files[0].0 {
                files.push((PathBuf::from(line), line.to_owned()));
            }
        }
        // It is known by a name of its own, which may be a link.
        if let Some(loader) = fs::read(program).ok().as_deref().and_then(interpreter) {
            files.push((PathBuf::from(&loader), loader));
        }
        let read = |(path, name): (PathBuf, String)| match fs::read(&path) {
            Ok(bytes) => Ok((name, bytes)),
            Err(error) => Err(failed(format!("{}: {error}", path.display()))),
        };
        Ok(Machine {
            kernel: kernel.to_owned(),
            files: files.into_iter().map(read).collect::<Result<_, _>>()?,
        })
    }

    /// Gives guests a module of the kernel, which they load as they start.
    pub fn add_module(&mut self, module: &Path) -> io::Result<()> {
        let name = module.file_name().unwrap_or_default().to_string_lossy();
        self.add_file(&format!("{MODULES}/{name}"), fs::read(module)?);
        Ok(())
    }

    /// Gives guests a file, which may be executed, at an absolute path.
    pub fn add_file(&mut self, path: &str, bytes: Vec<u8>) {
        self.files.push((path.to_owned(), bytes));
    }

    /// The kernel.
    pub fn kernel(&self) -> &Path {
        &self.kernel
    }

    /// What tells this kernel with this program from others: a hash over both.
    pub fn identity(&self) -> io::Result<String> {
        let mut hash = Sha256::new();
        hash.update(fs::read(&self.kernel)?);
        for (path, bytes) in &self.files {
            hash.update(path);
            hash.update(bytes);
        }
        Ok(hash
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect())
    }

    /// All files of a guest with `job`, as its kernel unpacks them.
    fn archive(&self, job: &[u8]) -> io::Result<OwnedFd> {
        let mut archive = Archive::new();
        for (path, bytes) in &self.files {
            archive.program(path, bytes);
        }
        archive.plain(JOB, job);
        machine::in_memory("guest", &archive.finish())
    }

    /// Does `job` in a guest of its own, and waits for its answer.
    pub fn run(&self, job: &GuestJob, limits: &Limits<'_>) -> Result<Answer, Error> {
        let text = serde_json::to_vec(job).map_err(|why| Error::NotStarted(why.into()))?;
        self.ask(&text, job.seed, &job.parameters, limits)
    }

    /// Gives a guest of its own `job`, which its first process finds at [`JOB`], and reads the line
    /// of JSON that it answers. `seed` is that of the machine's randomness, `parameters` are those
    /// of its kernel.
    pub fn ask<T: serde::de::DeserializeOwned>(
        &self,
        job: &[u8],
        seed: u64,
        parameters: &[(String, String)],
        limits: &Limits<'_>,
    ) -> Result<T, Error> {
        let started = Guest::start(self, job, seed, parameters, limits);
        let guest = started.map_err(|why| Error::Unable {
            cause: Cause::of_start(&why),
            detail: Some(why.to_string()),
        })?;
        guest.answer(limits).map_err(|error| match error {
            Error::Died { status, said } => match Cause::of(status, &said) {
                (Cause::Unknown, _) => Error::Died { status, said },
                (cause, detail) => Error::Unable { cause, detail },
            },
            other => other,
        })
    }

    /// Whether guests of this kernel run on this machine: boots one that has nothing to do, which
    /// takes `time` at most.
    pub fn try_boot(
        &self,
        time: Duration,
        interrupted: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Error> {
        let job = GuestJob {
            duration_ns: NOTHING_NS,
            sample_ns: NOTHING_NS,
            queue_ns: NOTHING_NS,
            read_ns: NOTHING_NS,
            ..GuestJob::default()
        };
        let limits = Limits {
            memory_mib: LEAST_MIB,
            time,
            interrupted,
        };
        let (cause, detail) = match self.run(&job, &limits) {
            Ok(_) => return Ok(()),
            Err(Error::TooLong(time)) => (
                Cause::Hangs,
                format!("stopped after {:.1} s", time.as_secs_f64()),
            ),
            Err(Error::Died { status, said }) => {
                let last = said.lines().last().unwrap_or("without a word");
                (Cause::Unknown, format!("{status}: {last}"))
            }
            Err(Error::Failed(why)) => (Cause::Unknown, why),
            Err(other) => return Err(other),
        };
        Err(Error::Unable {
            cause,
            detail: Some(detail),
        })
    }
}

/// Has `program`, called by `name`, do `job` on this host, which it finds at its standard input and
/// answers at its standard output. It ends when this process does.
pub fn on_host<T: serde::de::DeserializeOwned>(
    program: &Path,
    name: &str,
    job: &GuestJob,
    limits: &Limits<'_>,
) -> Result<T, Error> {
    let text = serde_json::to_vec(job).map_err(|why| Error::NotStarted(why.into()))?;
    let start = || {
        let (answer, writer) = io::pipe()?;
        let (said, console) = io::pipe()?;
        let mut job = fs::File::from(machine::in_memory("job", &text)?);
        job.rewind()?;
        let mut command = Command::new(program);
        command.arg0(name).stdin(job).stdout(writer).stderr(console);
        machine::die_with_parent(&mut command);
        Guest::of(command, answer, said, None)
    };
    start().map_err(Error::NotStarted)?.answer(limits)
}

/// A guest at work, or what does its work on the host; it ends when this does.
#[derive(Debug)]
struct Guest {
    child: Child,
    started: Instant,
    answer: Option<JoinHandle<Vec<u8>>>,
    said: Option<JoinHandle<Vec<u8>>>,
    _processor: Option<Processor>,
}

impl Guest {
    fn start(
        machine: &Machine,
        job: &[u8],
        seed: u64,
        parameters: &[(String, String)],
        limits: &Limits<'_>,
    ) -> io::Result<Guest> {
        let files = machine.archive(job)?;
        let (answer, writer) = io::pipe()?;
        let (said, console) = io::pipe()?;
        let memory = limits.memory_mib.max(LEAST_MIB);
        let mut command = Command::new(&machine.kernel);
        command
            .arg(format!("mem={memory}M"))
            .args(["time-travel=inf-cpu", "time-travel-start=0"])
            .arg(format!("detrand={seed}"))
            // Some are looked at as the machine starts only.
            .args(
                parameters
                    .iter()
                    .map(|(name, value)| format!("{name}={value}")),
            )
            .args(["initrd=/proc/self/fd/3", "rdinit=/init", "quiet"])
            .args(["con=null", "con0=null,fd:1", "ssl=null", "ssl0=null,fd:4"])
            // A folder for the state of machines, which this one is to have none of.
            .arg("uml_dir=/proc/self")
            .env_clear()
            // By the last variable Linux since 6.16 finds the end of its addresses; it sets PATH
            // anew.
            .env("LANG", "C")
            .stdin(Stdio::null())
            .stdout(console.try_clone()?)
            .stderr(console);
        machine::hand_over(&mut command, &[files, writer.into()])?;
        machine::die_with_parent(&mut command);
        // The machine's memory begins behind its program's, so that where that lies decides what
        // lies beside what, how packets take up pages, and with that when a sender has room.
        machine::fix_addresses(&mut command);
        let processor = Processor::take();
        if let Some(number) = processor.number() {
            machine::keep_to(&mut command, number);
        }
        Guest::of(command, answer, said, Some(processor))
    }

    /// Starts `command`, which writes to the other ends of both pipes.
    fn of(
        mut command: Command,
        answer: io::PipeReader,
        said: io::PipeReader,
        processor: Option<Processor>,
    ) -> io::Result<Guest> {
        let child = command.spawn()?;
        // The writing ends are the guest's alone from here on.
        drop(command);
        Ok(Guest {
            child,
            started: Instant::now(),
            answer: Some(listen(answer, usize::MAX)),
            said: Some(listen(said, SAID_BYTES)),
            _processor: processor,
        })
    }

    /// Waits for what it answers.
    fn answer<T: serde::de::DeserializeOwned>(mut self, limits: &Limits<'_>) -> Result<T, Error> {
        let status = self.wait(limits)?;
        let (answer, said) = self.heard();
        let line = answer.trim();
        if let Some(why) = line.strip_prefix(FAILED) {
            return Err(Error::Failed(why.to_owned()));
        }
        serde_json::from_str(line).map_err(|_| Error::Died {
            status,
            said: last_lines(&said),
        })
    }

    /// Waits for its end; says how it ended.
    fn wait(&mut self, limits: &Limits<'_>) -> Result<ExitStatus, Error> {
        loop {
            if let Some(status) = self.child.try_wait().map_err(Error::NotStarted)? {
                return Ok(status);
            }
            if (limits.interrupted)() {
                return Err(Error::Interrupted);
            }
            if self.started.elapsed() > limits.time {
                return Err(Error::TooLong(limits.time));
            }
            if self.answer.as_ref().is_some_and(JoinHandle::is_finished) {
                // It has only to switch itself off.
                return self.child.wait().map_err(Error::NotStarted);
            }
            std::thread::park_timeout(SLICE);
        }
    }

    /// What it answered, and the end of what it said.
    fn heard(&mut self) -> (String, String) {
        let text = |listener: &mut Option<JoinHandle<Vec<u8>>>| {
            let heard = listener.take().map(JoinHandle::join);
            let bytes = heard.and_then(Result::ok).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        (text(&mut self.answer), text(&mut self.said))
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // Where it has ended there is nothing to kill, and its number may be another's.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            // It leads a group of its own. A process that it has just made to look at what ptrace
            // can do would stay stopped, and hold the pipes open that are read below.
            if let Ok(group) = i32::try_from(self.child.id()) {
                let _ = signals::send(-group, signals::KILL);
            }
            let _ = self.child.wait();
        }
        self.heard();
    }
}

/// The program that loads a dynamic one: segment `PT_INTERP` of ELF64.
fn interpreter(program: &[u8]) -> Option<String> {
    const INTERPRETER: u64 = 3;
    let number = |at: usize, bytes: usize| {
        let mut wide = [0; 8];
        wide[..bytes].copy_from_slice(program.get(at..at + bytes)?);
        Some(u64::from_le_bytes(wide))
    };
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let headers = (0..count).map(|nth| (table + nth * size) as usize);
    let at = headers
        .into_iter()
        .find(|at| number(*at, 4) == Some(INTERPRETER))?;
    let (from, bytes) = (number(at + 8, 8)? as usize, number(at + 32, 8)? as usize);
    let text = program.get(from..from + bytes)?.strip_suffix(&[0])?;
    String::from_utf8(text.to_vec()).ok()
}

/// Reads `from` to its end, and keeps the last `most` bytes.
fn listen(mut from: io::PipeReader, most: usize) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let (mut all, mut part) = (Vec::new(), vec![0; 64 << 10]);
        while let Ok(count @ 1..) = from.read(&mut part) {
            all.extend_from_slice(&part[..count]);
            let too_much = all.len().saturating_sub(most);
            all.drain(..too_much);
        }
        all
    })
}

/// The end of what a guest said, without what every guest says and without addresses of its stack,
/// which would hide why it died.
fn last_lines(said: &str) -> String {
    let is_usual = |line: &str| line.is_empty() || line.contains("umid") || line.contains("[<");
    let lines: Vec<&str> = said
        .lines()
        .map(str::trim)
        .filter(|line| !is_usual(line))
        .collect();
    lines[lines.len().saturating_sub(SAID_LINES)..].join("\n")
}
