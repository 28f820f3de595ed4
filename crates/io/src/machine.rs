//! What only the first process of a machine does: it mounts its file systems and switches it off.
//! And what a process asks that has to end with the one that started it.

use crate::clock;
use crate::error::{Error, Result};
use crate::sys;
use rustix::fs::{FlockOperation, MemfdFlags};
use rustix::io::{Errno, FdFlags, fcntl_dupfd_cloexec, fcntl_setfd};
use rustix::mount::MountFlags;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, kill_process_group, set_parent_process_death_signal, setrlimit,
};
use rustix::system::RebootCommand;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

/// Mounts a file system of the kernel's own (`proc`, `sysfs`, `devtmpfs`, `tmpfs`) at folder `at`,
/// which is made.
pub fn mount(kind: &str, at: &str) -> Result<()> {
    let failed = |source| Error::Kernel {
        what: format!("cannot mount `{kind}` at {at}"),
        source,
    };
    std::fs::create_dir_all(at).map_err(failed)?;
    rustix::mount::mount(kind, at, kind, MountFlags::empty(), None)
        .map_err(|errno| failed(errno.into()))
}

/// Switches the machine off. Only its first process should.
pub fn power_off() -> io::Error {
    rustix::fs::sync();
    match rustix::system::reboot(RebootCommand::PowerOff) {
        Ok(()) => io::Error::other("the machine goes on after its power was switched off"),
        Err(errno) => errno.into(),
    }
}

/// Kills the child of `command` when the spawning thread exits (`PR_SET_PDEATHSIG`).
pub fn die_with_parent(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec only `prctl` is called, which allocates nothing and takes no
    // lock.
    unsafe { command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?)) }
}

/// Has what `command` starts lie at the same addresses each time.
pub fn fix_addresses(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec only `personality` is called, which allocates nothing and takes
    // no lock.
    unsafe {
        command.pre_exec(|| {
            sys::check(libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong)).map(drop)
        })
    }
}

/// Has what `command` starts keep to one processor, where that can be had.
pub fn keep_to(command: &mut Command, processor: usize) -> &mut Command {
    // SAFETY: between fork and exec only `sched_setaffinity` is called, which allocates nothing and
    // takes no lock.
    unsafe {
        command.pre_exec(move || {
            let _ = clock::pin(processor);
            Ok(())
        })
    }
}

/// Has what `command` starts find `descriptors` open, the first as number 3 and so on.
///
/// Until `command` is dropped those numbers are taken in this process too: what the standard
/// library opens to start it, which the child has as well, then has others.
pub fn hand_over(command: &mut Command, descriptors: &[OwnedFd]) -> io::Result<()> {
    const FIRST: libc::c_int = 3;
    let behind = FIRST + descriptors.len() as libc::c_int;
    // From numbers that are none of those which they are to have, so that none is overwritten
    // before it was copied.
    let high: Vec<OwnedFd> = (descriptors.iter())
        .map(|descriptor| copy_from(descriptor, behind))
        .collect::<io::Result<_>>()?;
    let mut held = Vec::new();
    if let Some(any) = high.first() {
        loop {
            let next = copy_from(any, FIRST)?;
            if next.as_raw_fd() >= behind {
                break;
            }
            held.push(next);
        }
    }
    let hand = move || {
        let _ = &held;
        for (number, descriptor) in (FIRST..).zip(&high) {
            // SAFETY: no pointers. What the number was in this process is not the child's to have.
            sys::check(unsafe { libc::dup2(descriptor.as_raw_fd(), number) })?;
        }
        Ok(())
    };
    // SAFETY: between fork and exec only `dup2` is called.
    unsafe { command.pre_exec(hand) };
    Ok(())
}

/// Another descriptor of the same, the first free one from `least` on; closed on `exec`.
fn copy_from(descriptor: &OwnedFd, least: libc::c_int) -> io::Result<OwnedFd> {
    Ok(fcntl_dupfd_cloexec(descriptor, least)?)
}

/// A file in memory that holds `bytes`; who has its descriptor can open it as `/proc/self/fd/N`.
pub fn in_memory(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let fd = rustix::fs::memfd_create(name, MemfdFlags::CLOEXEC)?;
    let file = std::fs::File::from(fd.try_clone()?);
    io::Write::write_all(&mut &file, bytes)?;
    Ok(fd)
}

/// Both ends of a stream within this machine.
pub fn stream_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (one, other) = UnixStream::pair()?;
    Ok((one.into(), other.into()))
}

/// Lets a descriptor of this process be named by its number, as one that it was started with can be
/// ([`crate::socket::inherited`]): whoever takes it by that number has a copy of it.
pub fn name_by_number(descriptor: &OwnedFd) -> io::Result<i32> {
    fcntl_setfd(descriptor, FdFlags::empty())?;
    Ok(descriptor.as_raw_fd())
}

/// Loads a module of the kernel from a file.
pub fn load_module(path: &Path) -> io::Result<()> {
    let file = std::fs::File::open(path)?;
    Ok(rustix::system::finit_module(&file, c"", 0)?)
}

/// Allows this process so many open files, as far as its rights reach.
pub fn allow_files(count: u64) -> io::Result<()> {
    let limit = Rlimit {
        current: Some(count),
        maximum: Some(count),
    };
    Ok(setrlimit(Resource::Nofile, limit)?)
}

/// Bytes that a user may still write to the file system of `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let about = rustix::fs::statvfs(path)?;
    Ok(about.f_bavail.saturating_mul(about.f_frsize))
}

/// A command with all that it starts: none of them outlives this.
#[derive(Debug)]
pub struct Group(Child);

impl Group {
    /// Starts `command` as the first of a group.
    pub fn spawn(command: &mut Command) -> io::Result<Group> {
        die_with_parent(command).process_group(0);
        Ok(Group(command.spawn()?))
    }

    /// Waits for the command itself to end.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.0.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Where the command has ended and was waited for, its number may be another's by now.
        if !matches!(self.0.try_wait(), Ok(None)) {
            return;
        }
        // The group has the number of its first process, which was not waited for yet.
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

/// Takes the lock of a file, which its closing gives back; false where another has it and this is
/// not to wait.
pub fn lock(file: &impl AsFd, waits: bool) -> io::Result<bool> {
    let how = if waits {
        FlockOperation::LockExclusive
    } else {
        FlockOperation::NonBlockingLockExclusive
    };
    match rustix::fs::flock(file, how) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(errno) => Err(errno.into()),
    }
}

/// The first two numbers of the running Linux's version, as `(6, 12)`; nothing where it tells
/// none.
pub(crate) fn linux_version() -> Option<(u32, u32)> {
    version_of(rustix::system::uname().release().to_str().ok()?)
}

/// The first two numbers of a release such as `6.12.117` or `7.1-rc2`.
fn version_of(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|part: char| !part.is_ascii_digit());
    let mut next = || numbers.next()?.parse().ok();
    Some((next()?, next()?))
}

/// Columns and lines of the terminal that standard error is; those of the first terminals where it
/// is none.
pub fn terminal_size() -> (usize, usize) {
    match rustix::termios::tcgetwinsize(io::stderr()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => (80, 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn a_release_begins_with_two_numbers() {
        assert_eq!(version_of("5.15.72+"), Some((5, 15)));
        assert_eq!(version_of("7.1-rc2"), Some((7, 1)));
        assert_eq!(version_of("unknown"), None);
        assert!(linux_version().is_some_and(|version| version > (2, 6)));
    }

    fn memory() -> OwnedFd {
        in_memory("text", b"of the first").expect("memory")
    }

    #[test]
    fn what_is_handed_over_has_its_number() {
        let (mut answer, writer) = io::pipe().expect("a pipe can be made");
        let mut command = Command::new("sh");
        command.args(["-c", "cat /proc/self/fd/3 >&4"]);
        hand_over(&mut command, &[memory(), writer.into()]).expect("there are numbers");
        let ended = command.status().expect("there is a shell");
        assert!(ended.success());
        drop(command);
        let mut came = String::new();
        answer.read_to_string(&mut came).expect("it is open");
        assert_eq!(came, "of the first");
    }

    /// The child tells by a pipe of the standard library's that it could not start the program.
    /// Whatever number that pipe has, nothing takes its place.
    #[test]
    fn what_is_handed_over_hides_no_error() {
        let (mut answer, writer) = io::pipe().expect("a pipe can be made");
        let given = [memory(), writer.into()];
        let mut taken = Vec::new();
        while taken
            .last()
            .is_none_or(|last: &OwnedFd| last.as_raw_fd() < 120)
        {
            let mut nothing = Command::new("/nowhere/at/all");
            hand_over(&mut nothing, &given).expect("there are numbers");
            let refused = nothing.spawn().expect_err("there is no such program");
            assert_eq!(refused.kind(), io::ErrorKind::NotFound);
            taken.push(memory());
        }
        drop(given);
        let mut came = Vec::new();
        answer.read_to_end(&mut came).expect("it is open");
        assert!(came.is_empty());
    }
}
