//! Why guests cannot run on a machine: the kinds of death that the machine is to blame for, each
//! with the line that tells it and the way out.

use std::fmt;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// What of the machine ends a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A guest traces its own programs, and may not.
    NoPtrace,
    /// Its memory, a file of the temporary folder, cannot be had, or its processes.
    NoMemory,
    /// The processor's registers, or an instruction.
    Processor,
    /// Somebody or something killed it.
    Killed,
    /// It does not come to its end.
    Hangs,
    /// Its memory cannot be mapped as it needs it.
    CannotMap,
    /// The system does not start the program.
    NotStarted,
    /// It says nothing that is known here.
    Unknown,
}

/// Parts of lines by which a guest tells why it dies; the first that is found counts, so what is
/// particular stands before what is general.
const WORDS: &[(&str, Cause)] = &[
    ("fp regs failed", Cause::Processor),
    ("fp_registers", Cause::Processor),
    ("ptrace set regs failed", Cause::Processor),
    ("Failed to initialize default registers", Cause::Processor),
    ("Illegal instruction", Cause::Processor),
    ("signal 4", Cause::Processor),
    ("noexec", Cause::CannotMap),
    ("PROT_EXEC mmap", Cause::CannotMap),
    ("cannot create", Cause::CannotMap),
    ("No space left", Cause::NoMemory),
    ("Cannot allocate memory", Cause::NoMemory),
    ("out of memory on the host side", Cause::NoMemory),
    ("Too few physical memory", Cause::NoMemory),
    ("File too large", Cause::NoMemory),
    ("Kernel mode signal 7", Cause::NoMemory),
    ("Bus error", Cause::NoMemory),
    ("errno = 12", Cause::NoMemory),
    ("errno = -12", Cause::NoMemory),
    ("Resource temporarily unavailable", Cause::NoMemory),
    ("clone failed", Cause::NoMemory),
    ("map_memory", Cause::CannotMap),
    ("setup_physmem", Cause::CannotMap),
    ("mmap failed", Cause::CannotMap),
    ("Error mapping", Cause::CannotMap),
    ("check_ptrace", Cause::NoPtrace),
    ("check_sysemu", Cause::NoPtrace),
    ("ptrace", Cause::NoPtrace),
    ("PTRACE_", Cause::NoPtrace),
    ("SIGSTOP", Cause::NoPtrace),
];
/// With this and without a word it ends where the file of its memory cannot be made
/// (`create_tmp_file`).
const NO_FILE: i32 = 1;
/// Signals that tell by themselves.
const ILLEGAL: i32 = 4;
const BUS: i32 = 7;
/// Those by which a program ends itself, as a kernel that panics does.
const OWN: [i32; 4] = [5, 6, 8, 11];

impl Cause {
    /// Why a guest died that ended with `status` and said `said`, with what tells it.
    pub fn of(status: ExitStatus, said: &str) -> (Cause, Option<String>) {
        for (word, cause) in WORDS {
            if let Some(line) = said.lines().find(|line| line.contains(word)) {
                return (*cause, Some(line.trim().to_owned()));
            }
        }
        let cause = match status.signal() {
            Some(ILLEGAL) => Cause::Processor,
            Some(BUS) => Cause::NoMemory,
            Some(signal) if OWN.contains(&signal) => Cause::Unknown,
            Some(_) => Cause::Killed,
            None if said.trim().is_empty() && status.code() == Some(NO_FILE) => Cause::CannotMap,
            None => Cause::Unknown,
        };
        (cause, Some(status.to_string()))
    }

    /// Why the system did not start a guest's kernel.
    pub(crate) fn of_start(why: &io::Error) -> Cause {
        match why.kind() {
            io::ErrorKind::OutOfMemory | io::ErrorKind::StorageFull => Cause::NoMemory,
            _ => Cause::NotStarted,
        }
    }

    /// What to do about it.
    pub fn mend(self) -> &'static str {
        match self {
            Cause::NoPtrace => {
                "allow `ptrace`: `sysctl kernel.yama.ptrace_scope` below 3, and in a container a \
                 seccomp profile that permits it"
            }
            Cause::NoMemory => {
                "a guest's memory, 512 MiB and more, is a file in `/dev/shm`: make room there (a \
                 container: `--shm-size 4g`), raise the limits of memory and processes, or run \
                 fewer guests at once with `--threads 1`"
            }
            Cause::Processor => {
                "run `trammel kernel build` again with this version; if it stays so, report the \
                 processor's model"
            }
            Cause::Killed => {
                "look for who killed it: a limit (`ulimit -a`), or the system's out-of-memory \
                 killer (`dmesg`), to which fewer guests at once are the answer: `--threads 1`"
            }
            Cause::Hangs => {
                "try again when the machine is less busy; `trammel kernel check` tries guests alone"
            }
            Cause::CannotMap => {
                "mount `/dev/shm` (or `/tmp`) writable and without `noexec`: a guest's memory is a \
                 file there that it executes"
            }
            Cause::NotStarted => {
                "the kernel's file must be executable for this user, and a container's seccomp \
                 profile must permit `personality` (fixed addresses) and `ptrace`"
            }
            Cause::Unknown => "`trammel kernel check` tries guests alone",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::NoPtrace => "the system does not let a guest trace its programs",
            Cause::NoMemory => "there is no memory for a guest, or no process",
            Cause::Processor => "the guest's kernel does not work on this processor",
            Cause::Killed => "the guest was killed",
            Cause::Hangs => "the guest does not come to its end",
            Cause::CannotMap => "a guest's memory cannot be mapped",
            Cause::NotStarted => "the system does not start the guest's kernel",
            Cause::Unknown => "the guest dies",
        })
    }
}
