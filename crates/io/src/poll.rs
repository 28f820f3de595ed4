//! Waiting for many descriptors at once (`epoll(7)`), to the nanosecond.

use crate::sys;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Descriptors told of by one call.
const BATCH: usize = 64;

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// That something has come.
    Readable,
    /// That there is room.
    Writable,
}

/// Descriptors that are waited for together; one that is closed is forgotten.
pub struct Poll {
    fd: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl std::fmt::Debug for Poll {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Poll")
            .field("fd", &self.fd)
            .finish_non_exhaustive()
    }
}

impl Poll {
    /// Of nothing yet.
    pub fn new() -> io::Result<Poll> {
        // SAFETY: no pointers.
        let fd = sys::owned(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        Ok(Poll {
            fd,
            events: vec![libc::epoll_event { events: 0, u64: 0 }; BATCH],
        })
    }

    /// Waits for `descriptor` too, which is told of by `token`.
    pub fn add(&self, descriptor: &impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, descriptor, token, interest)
    }

    /// Forgets it.
    pub fn remove(&self, descriptor: &impl AsFd) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, descriptor, 0, Interest::Readable)
    }

    fn control(
        &self,
        operation: libc::c_int,
        descriptor: &impl AsFd,
        token: u64,
        interest: Interest,
    ) -> io::Result<()> {
        let events = match interest {
            Interest::Readable => libc::EPOLLIN,
            Interest::Writable => libc::EPOLLOUT,
        };
        let mut event = libc::epoll_event {
            events: events.cast_unsigned(),
            u64: token,
        };
        // SAFETY: the pointer is to an event of ours.
        sys::check(unsafe {
            libc::epoll_ctl(
                self.fd.as_raw_fd(),
                operation,
                descriptor.as_fd().as_raw_fd(),
                &raw mut event,
            )
        })
        .map(drop)
    }

    /// Waits for some of them or until so much time is over; gives the tokens of those that are ready to `each`.
    pub fn wait(&mut self, timeout_ns: i64, mut each: impl FnMut(u64)) -> io::Result<()> {
        let timeout_ns = timeout_ns.max(0);
        let timeout = libc::timespec {
            tv_sec: timeout_ns / 1_000_000_000,
            tv_nsec: timeout_ns % 1_000_000_000,
        };
        // SAFETY: room for as many events as is said, a time of ours, no mask of signals.
        let came = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.fd.as_raw_fd(),
                self.events.as_mut_ptr(),
                BATCH,
                &raw const timeout,
                std::ptr::null::<libc::sigset_t>(),
                0,
            )
        };
        let came = match sys::check_size(came as isize) {
            Ok(came) => came,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => 0,
            Err(error) => return Err(error),
        };
        for event in &self.events[..came] {
            each(event.u64);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn what_is_ready_is_told_of_by_its_token() {
        let [a, b] = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").expect("loopback has ports"));
        let mut poll = Poll::new().expect("Linux has it");
        poll.add(&a, 7, Interest::Readable).expect("it is open");
        poll.add(&b, 8, Interest::Readable).expect("it is open");
        let mut seen = Vec::new();
        poll.wait(0, |token| seen.push(token)).expect("it is open");
        assert!(seen.is_empty());
        a.send_to(&[1], b.local_addr().expect("it is bound"))
            .expect("it goes");
        poll.wait(1_000_000_000, |token| seen.push(token))
            .expect("it is open");
        assert_eq!(seen, [8]);
        poll.remove(&b).expect("it is there");
        poll.wait(1000, |token| seen.push(token))
            .expect("it is open");
        assert_eq!(seen, [8]);
    }
}
