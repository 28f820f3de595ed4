//! Signals: counted as they come, and asked for when it suits.

use crate::sys::check;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// A bit for each signal that has come and was not yet asked for.
static PENDING: AtomicU64 = AtomicU64::new(0);

extern "C" fn note(signal: libc::c_int) {
    // An atomic store is all that a handler may safely do.
    if let Ok(signal @ 0..64) = u32::try_from(signal) {
        PENDING.fetch_or(1 << signal, Ordering::SeqCst);
    }
}

/// Has `signal` noted from now on instead of what it does by default. A system call that it
/// interrupts ends.
pub fn watch(signal: i32) -> io::Result<()> {
    // SAFETY: an all-zero `sigaction` is a valid one, with an empty mask and no flags.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = note as extern "C" fn(libc::c_int) as usize;
    // SAFETY: the action lives for the call; its handler only stores an atomic.
    check(unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) })?;
    Ok(())
}

/// Has `signal` ignored.
pub fn ignore(signal: i32) -> io::Result<()> {
    // SAFETY: as in `watch`.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = libc::SIG_IGN;
    // SAFETY: as in `watch`.
    check(unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) })?;
    Ok(())
}

/// Has `signal` do again what it does by default.
pub fn unwatch(signal: i32) -> io::Result<()> {
    // SAFETY: an all-zero `sigaction` is a valid one, with an empty mask and no flags.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = libc::SIG_DFL;
    // SAFETY: the action lives for the call.
    check(unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) })?;
    Ok(())
}

/// The watched signals that have come since this was asked last, the lowest number first.
pub fn take() -> Vec<i32> {
    let pending = PENDING.swap(0, Ordering::SeqCst);
    (0..64)
        .filter(|signal| pending >> signal & 1 == 1)
        .collect()
}

/// The watched signals that have come since [`take`] was called last, a bit for each number; they
/// stay to be taken.
pub fn pending() -> u64 {
    PENDING.load(Ordering::Relaxed)
}

/// The exit code of a program that a signal ended.
const INTERRUPTED: libc::c_int = 130;

extern "C" fn end(_: libc::c_int) {
    // SAFETY: the one way to end a process that a handler may take (signal-safety(7)).
    unsafe { libc::_exit(INTERRUPTED) }
}

/// Has `signal` end this process at once with exit code 130, until it is watched: while nothing
/// looks at signals.
pub fn end_on(signal: i32) -> io::Result<()> {
    // SAFETY: as in `watch`.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = end as extern "C" fn(libc::c_int) as usize;
    // SAFETY: as in `watch`; the handler ends the process.
    check(unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) })?;
    Ok(())
}

/// The signal that no process survives.
pub const KILL: i32 = libc::SIGKILL;

/// Sends `signal` to process `process`, or where it is negative, to that process group.
pub fn send(process: i32, signal: i32) -> io::Result<()> {
    // SAFETY: the call takes two numbers.
    check(unsafe { libc::kill(process, signal) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watched_signal_is_noted_once() {
        watch(libc::SIGUSR2).expect("it may be watched");
        send(std::process::id() as i32, libc::SIGUSR2).expect("to oneself");
        while pending() & 1 << libc::SIGUSR2 == 0 {
            std::hint::spin_loop();
        }
        let mut seen = take();
        // The kernel delivers it on the way back from the call, at the latest at the next one.
        while seen.is_empty() {
            seen = take();
        }
        assert_eq!(seen, [libc::SIGUSR2]);
        assert!(take().is_empty());
    }
}
