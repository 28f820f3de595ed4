//! Clocks in nanoseconds, and waiting for descriptors.

use rustix::thread::{
    CpuSet, clock_nanosleep_absolute, sched_getaffinity, sched_setaffinity, set_current_timer_slack,
};
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::io;
use std::num::NonZeroU64;
use std::os::fd::RawFd;

fn read(clock: ClockId) -> i64 {
    let time = clock_gettime(clock);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Nanoseconds since some fixed time; never goes back.
pub fn monotonic_ns() -> i64 {
    read(ClockId::Monotonic)
}

/// Nanoseconds since 1970; goes back when the clock is set.
pub fn wall_ns() -> i64 {
    read(ClockId::Realtime)
}

/// Nanoseconds of processor time that the calling thread has had, its system calls included.
pub fn thread_cpu_ns() -> i64 {
    read(ClockId::ThreadCPUTime)
}

/// Nanoseconds of processor time that all threads of this process have had.
pub fn process_cpu_ns() -> i64 {
    read(ClockId::ProcessCPUTime)
}

/// Descriptors to wait on, kept between waits so that waiting allocates nothing.
#[derive(Debug, Default)]
pub struct Waiter {
    polled: Vec<libc::pollfd>,
}

impl Waiter {
    /// Waits on nothing yet.
    pub fn new() -> Waiter {
        Waiter::default()
    }

    /// Waits on `fds` from now on.
    pub fn set(&mut self, fds: &[RawFd]) {
        self.polled.clear();
        self.polled.extend(fds.iter().map(|&fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        }));
    }

    /// Sleeps until one of the descriptors can be read or has an error, `timeout_ns` have passed
    /// (never, if none), or a signal came. Says how many are ready.
    pub fn wait(&mut self, timeout_ns: Option<i64>) -> io::Result<usize> {
        let timeout = timeout_ns.map(|ns| libc::timespec {
            tv_sec: ns.max(0) / 1_000_000_000,
            tv_nsec: ns.max(0) % 1_000_000_000,
        });
        let timeout = timeout
            .as_ref()
            .map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: the array and its length belong together; the time-out lives until the call
        // returns.
        let ready = unsafe {
            libc::ppoll(
                self.polled.as_mut_ptr(),
                self.polled.len() as libc::nfds_t,
                timeout,
                std::ptr::null(),
            )
        };
        match crate::sys::check(ready) {
            Ok(ready) => Ok(ready as usize),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                // What an interrupted call leaves in `revents` is not to be relied on.
                for polled in &mut self.polled {
                    polled.revents = 0;
                }
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the `index`th descriptor was ready after the last wait.
    pub fn is_ready(&self, index: usize) -> bool {
        self.polled
            .get(index)
            .is_some_and(|polled| polled.revents != 0)
    }
}

/// Waits until one of `readable` can be read or of `writable` written, `timeout_ns` have passed
/// (never, if none), or a signal came; appends the ready ones to `ready`.
pub fn wait_both(
    readable: &[RawFd],
    writable: &[RawFd],
    timeout_ns: Option<i64>,
    ready: &mut Vec<RawFd>,
) -> io::Result<()> {
    let mut waiter = Waiter::new();
    waiter.set(readable);
    waiter
        .polled
        .extend(writable.iter().map(|&fd| libc::pollfd {
            fd,
            events: libc::POLLOUT,
            revents: 0,
        }));
    waiter.wait(timeout_ns)?;
    let polled = waiter.polled.iter();
    ready.extend(polled.filter(|one| one.revents != 0).map(|one| one.fd));
    Ok(())
}

/// Waits on `fds` once: see [`Waiter::wait`].
pub fn wait(fds: &[RawFd], timeout_ns: Option<i64>) -> io::Result<usize> {
    let mut waiter = Waiter::new();
    waiter.set(fds);
    waiter.wait(timeout_ns)
}

/// Has timers of the calling thread, and of those that it starts from now on, go off when they are
/// due. Linux lets them be 50 µs late otherwise, so that it need not wake up for each
/// (`PR_SET_TIMERSLACK`); a kernel that refuses goes on doing that.
pub fn wake_on_time() {
    let _ = set_current_timer_slack(Some(NonZeroU64::MIN));
}

/// Sleeps until [`monotonic_ns`] is `at_ns`, or a signal comes.
pub fn sleep_until(at_ns: i64) {
    let at = Timespec {
        tv_sec: at_ns.max(0) / 1_000_000_000,
        tv_nsec: at_ns.max(0) % 1_000_000_000,
    };
    let _ = clock_nanosleep_absolute(ClockId::Monotonic, &at);
}

/// Has the calling thread run before all of usual priority (`SCHED_FIFO`), from 1 to 99; needs
/// `CAP_SYS_NICE`.
pub fn real_time(priority: u8) -> io::Result<()> {
    // SAFETY: all zeroes is a `sched_param`, which has more fields in some libraries.
    let mut wish: libc::sched_param = unsafe { std::mem::zeroed() };
    wish.sched_priority = libc::c_int::from(priority);
    // SAFETY: the kernel reads one `sched_param`.
    crate::sys::check(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const wish) })
        .map(drop)
}

/// Keeps the calling thread on one processor, so that what it costs is not that of moving about.
pub fn pin(processor: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(processor % CpuSet::MAX_CPU);
    Ok(sched_setaffinity(None, &set)?)
}

/// The processors that the calling thread may run on.
pub fn processors() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    let all = 0..CpuSet::MAX_CPU;
    all.filter(|processor| set.is_set(*processor)).collect()
}
