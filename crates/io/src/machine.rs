//! What only the first process of a machine does: it mounts its file systems and switches it off. And what a process asks that has to
//! end with the one that started it.

use crate::clock;
use crate::error::{Error, Result};
use crate::sys;
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};

/// Mounts a file system of the kernel's own (`proc`, `sysfs`, `devtmpfs`, `tmpfs`) at folder `at`, which is made.
pub fn mount(kind: &str, at: &str) -> Result<()> {
    let failed = |source| Error::Kernel {
        what: format!("cannot mount `{kind}` at {at}"),
        source,
    };
    std::fs::create_dir_all(at).map_err(failed)?;
    let (Ok(kind_text), Ok(target)) = (CString::new(kind), CString::new(at)) else {
        return Err(Error::Invalid(format!("`{kind}`, `{at}`: no names")));
    };
    // SAFETY: strings that end with a zero.
    sys::check(unsafe {
        libc::mount(
            kind_text.as_ptr(),
            target.as_ptr(),
            kind_text.as_ptr(),
            0,
            std::ptr::null(),
        )
    })
    .map_err(failed)?;
    Ok(())
}

/// Switches the machine off. Only its first process should.
pub fn power_off() -> io::Error {
    // SAFETY: no pointers. The machine is the caller's to switch off: it needs CAP_SYS_BOOT.
    unsafe {
        libc::sync();
        libc::reboot(libc::LINUX_REBOOT_CMD_POWER_OFF);
    }
    io::Error::last_os_error()
}

/// Kills the child of `command` when the spawning thread exits (`PR_SET_PDEATHSIG`).
pub fn die_with_parent(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec only `prctl` is called, which allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(|| {
            sys::check(libc::prctl(
                libc::PR_SET_PDEATHSIG,
                libc::SIGKILL as libc::c_ulong,
            ))
            .map(drop)
        })
    }
}

/// Has what `command` starts lie at the same addresses each time.
pub fn fix_addresses(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec only `personality` is called, which allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(|| {
            sys::check(libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong)).map(drop)
        })
    }
}

/// Has what `command` starts keep to one processor, where that can be had.
pub fn keep_to(command: &mut Command, processor: usize) -> &mut Command {
    // SAFETY: between fork and exec only `sched_setaffinity` is called, which allocates nothing and takes no lock.
    unsafe {
        command.pre_exec(move || {
            let _ = clock::pin(processor);
            Ok(())
        })
    }
}

/// Has what `command` starts find `descriptors` open, the first as number 3 and so on.
///
/// Until `command` is dropped those numbers are taken in this process too: what the standard library opens to start it, which the
/// child has as well, then has others.
pub fn hand_over(command: &mut Command, descriptors: &[OwnedFd]) -> io::Result<()> {
    const FIRST: libc::c_int = 3;
    let behind = FIRST + descriptors.len() as libc::c_int;
    // From numbers that are none of those which they are to have, so that none is overwritten before it was copied.
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
    // SAFETY: no pointers.
    sys::owned(unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD_CLOEXEC, least) })
}

/// A file in memory that holds `bytes`; who has its descriptor can open it as `/proc/self/fd/N`.
pub fn in_memory(name: &str, bytes: &[u8]) -> io::Result<OwnedFd> {
    let name = CString::new(name)?;
    // SAFETY: a string that ends with a zero.
    let fd = sys::owned(unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) })?;
    let file = std::fs::File::from(fd.try_clone()?);
    io::Write::write_all(&mut &file, bytes)?;
    Ok(fd)
}

/// Both ends of a stream within this machine.
pub fn stream_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: room for two descriptors, which are then ours.
    unsafe {
        sys::check(libc::socketpair(
            libc::AF_UNIX,
            libc::SOCK_STREAM | libc::SOCK_CLOEXEC,
            0,
            ends.as_mut_ptr(),
        ))?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Lets a descriptor of this process be named by its number, as one that it was started with can be ([`crate::socket::inherited`]):
/// whoever takes it by that number has a copy of it.
pub fn name_by_number(descriptor: &OwnedFd) -> io::Result<i32> {
    // SAFETY: no pointers.
    sys::check(unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFD, 0) })?;
    Ok(descriptor.as_raw_fd())
}

/// Loads a module of the kernel from a file.
pub fn load_module(path: &Path) -> io::Result<()> {
    let file = std::fs::File::open(path)?;
    // SAFETY: a string that ends with a zero.
    let loaded =
        unsafe { libc::syscall(libc::SYS_finit_module, file.as_raw_fd(), c"".as_ptr(), 0) };
    if loaded < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// Allows this process so many open files, as far as its rights reach.
pub fn allow_files(count: u64) -> io::Result<()> {
    let limit = libc::rlimit {
        rlim_cur: count,
        rlim_max: count,
    };
    // SAFETY: the pointer is that of the limit.
    sys::check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }).map(drop)
}

/// Bytes that a user may still write to the file system of `path`.
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let name = CString::new(path.as_os_str().as_encoded_bytes())?;
    let mut about = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: a string that ends with a zero, and room for the answer.
    sys::check(unsafe { libc::statvfs(name.as_ptr(), about.as_mut_ptr()) })?;
    // SAFETY: the call has filled it.
    let about = unsafe { about.assume_init() };
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
        // SAFETY: no pointers. The group has the number of its first process, which was not waited for yet.
        unsafe { libc::kill(-self.0.id().cast_signed(), libc::SIGKILL) };
        let _ = self.0.wait();
    }
}

/// Takes the lock of a file, which its closing gives back; false where another has it and this is not to wait.
pub fn lock(file: &impl AsFd, waits: bool) -> io::Result<bool> {
    let how = if waits { 0 } else { libc::LOCK_NB };
    // SAFETY: no pointers.
    match sys::check(unsafe { libc::flock(file.as_fd().as_raw_fd(), libc::LOCK_EX | how) }) {
        Ok(_) => Ok(true),
        Err(why) if why.kind() == io::ErrorKind::WouldBlock => Ok(false),
        Err(why) => Err(why),
    }
}

/// Columns and lines of the terminal that standard error is; those of the first terminals where it is none.
pub fn terminal_size() -> (usize, usize) {
    // SAFETY: all zeroes is a `winsize`.
    let mut size: libc::winsize = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is that of `size`, which the kernel fills in.
    let done = unsafe { libc::ioctl(libc::STDERR_FILENO, libc::TIOCGWINSZ, &raw mut size) };
    match (done, size.ws_col, size.ws_row) {
        (0, columns @ 1.., lines @ 1..) => (columns.into(), lines.into()),
        _ => (80, 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn memory() -> OwnedFd {
        in_memory("text", b"of the first").expect("memory")
    }

    #[test]
    fn what_is_handed_over_has_its_number() {
        let (mut answer, writer) = io::pipe().expect("a pipe");
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

    /// The child tells by a pipe of the standard library's that it could not start the program. Whatever number that pipe has,
    /// nothing takes its place.
    #[test]
    fn what_is_handed_over_hides_no_error() {
        let (mut answer, writer) = io::pipe().expect("a pipe");
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
