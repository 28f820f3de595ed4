//! The first process of a guest: it does the job, answers, and switches the machine off.
//!
//! That of this crate builds the job's network and runs its flows ([`main`]); any other work is
//! done by [`first_process`].
//!
//! The program is also asked on the host, what files it needs ([`FILES`]): they are all that a
//! guest has.

mod captures;
pub(crate) mod flows;
pub(crate) mod network;
pub(crate) mod queues;
pub(crate) mod result;

pub use result::Result;

use crate::job::{Answer, GuestJob};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;
use trammel_io::{clock, machine};

/// The word that asks for the files that the program has mapped, itself among them, a line each.
pub const FILES: &str = "files";
/// Where a guest finds its job.
pub const JOB: &str = "/job";
/// Where it finds modules of the kernel to load.
pub(crate) const MODULES: &str = "/modules";
/// Where it leaves its answer.
const ANSWER: &str = "/dev/ttyS0";
/// Bytes of an answer that are written at once.
const ANSWER_BYTES: usize = 64 << 10;
/// Flows start so long after the machine, whatever it took to build the network: at a whole second,
/// so that the kernel's ticks are where they always are.
const START_NS: i64 = 10_000_000_000;
/// What the line of an answer that is none begins with.
pub const FAILED: &str = "!";

/// What the program does: it builds the job's network and runs its flows.
pub fn main() -> ExitCode {
    answer_by(|| {
        let answer = work()?;
        // With captures it is long: it is not held twice.
        Ok(move |to: &mut dyn Write| Ok(serde_json::to_writer(to, &answer)?))
    })
}

/// What a program does that is the first process of guests: there it answers with the line that
/// `work` makes, or says why there is none; on the host it says what files it needs.
pub fn first_process(work: impl FnOnce() -> Result<String>) -> ExitCode {
    answer_by(|| {
        let line = work()?;
        Ok(move |to: &mut dyn Write| to.write_all(line.as_bytes()))
    })
}

/// The same where `work` gives what writes the line.
fn answer_by<W>(work: impl FnOnce() -> Result<W>) -> ExitCode
where
    W: FnOnce(&mut dyn Write) -> io::Result<()>,
{
    if std::env::args().nth(1).as_deref() == Some(FILES) {
        return match files() {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    if std::process::id() != 1 {
        let _ = writeln!(
            std::io::stderr(),
            "this program is the first process of a guest; `trammel run` starts one where a \
             scenario has `[measure] kernel = \"linux\"`"
        );
        return ExitCode::from(2);
    }
    let answer = mount().and_then(|()| work());
    if let Err(why) = File::options().write(true).open(ANSWER).and_then(|to| {
        let mut to = BufWriter::with_capacity(ANSWER_BYTES, to);
        match answer {
            Ok(write) => write(&mut to)?,
            Err(why) => write!(to, "{FAILED}{why}")?,
        }
        to.write_all(b"\n")?;
        to.flush()
    }) {
        let _ = writeln!(std::io::stderr(), "no answer: {why}");
    }
    let why = machine::power_off();
    let _ = writeln!(std::io::stderr(), "not switched off: {why}");
    ExitCode::FAILURE
}

/// What programs expect of a machine.
fn mount() -> Result<()> {
    for (kind, at) in [
        ("proc", "/proc"),
        ("sysfs", "/sys"),
        ("devtmpfs", "/dev"),
        ("tmpfs", "/run"),
    ] {
        machine::mount(kind, at)?;
    }
    Ok(())
}

/// Writes the files that are mapped.
fn files() -> std::io::Result<()> {
    let maps = fs::read_to_string("/proc/self/maps")?;
    let mut paths: Vec<&str> = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .collect();
    paths.sort_unstable();
    paths.dedup();
    let mut out = std::io::stdout().lock();
    paths.iter().try_for_each(|path| writeln!(out, "{path}"))
}

fn work() -> Result<Answer> {
    let job: GuestJob = serde_json::from_slice(&fs::read(JOB)?)?;
    if let Ok(modules) = fs::read_dir(MODULES) {
        // By their names, so that two runs are the same.
        let mut paths = modules
            .map(|module| Ok(module?.path()))
            .collect::<Result<Vec<_>>>()?;
        paths.sort();
        for path in paths {
            machine::load_module(&path)
                .map_err(|why| format!("`{}` is not loaded: {why}", path.display()))?;
        }
    }
    // A flow has three sockets, a host its namespace.
    machine::allow_files(1024 + 4 * (job.flows.len() + job.hosts.len()) as u64)?;
    let network = network::Network::build(&job, None)?;
    clock::wake_on_time();
    // From here on, all that the kernel draws follows from the seed, whatever was drawn before.
    fs::write("/dev/urandom", job.seed.to_string())?;
    let mut queues = queues::OfKernel::new(&job, &network);
    flows::run(&job, &network, &mut queues, START_NS)
}
