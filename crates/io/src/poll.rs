//! Waiting for many descriptors at once (`epoll(7)`), to the nanosecond.

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::Timespec;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

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
    events: Vec<epoll::Event>,
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
        Ok(Poll {
            fd: epoll::create(CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(BATCH),
        })
    }

    /// Waits for `descriptor` too, which is told of by `token`.
    pub fn add(&self, descriptor: &impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        let events = match interest {
            Interest::Readable => EventFlags::IN,
            Interest::Writable => EventFlags::OUT,
        };
        Ok(epoll::add(
            &self.fd,
            descriptor,
            EventData::new_u64(token),
            events,
        )?)
    }

    /// Forgets it.
    pub fn remove(&self, descriptor: &impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.fd, descriptor)?)
    }

    /// Waits for some of them or until so much time is over; gives the tokens of those that are
    /// ready to `each`.
    pub fn wait(&mut self, timeout_ns: i64, mut each: impl FnMut(u64)) -> io::Result<()> {
        let timeout_ns = timeout_ns.max(0);
        let timeout = Timespec {
            tv_sec: timeout_ns / 1_000_000_000,
            tv_nsec: timeout_ns % 1_000_000_000,
        };
        self.events.clear();
        match epoll::wait(&self.fd, spare_capacity(&mut self.events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        for event in &self.events {
            each(event.data.u64());
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
        let [a, b] =
            [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port"));
        let mut poll = Poll::new().expect("Linux has it");
        poll.add(&a, 7, Interest::Readable).expect("it is open");
        poll.add(&b, 8, Interest::Readable).expect("it is open");
        let mut seen = Vec::new();
        poll.wait(0, |token| seen.push(token)).expect("it is open");
        assert!(seen.is_empty());
        a.send_to(&[1], b.local_addr().expect("a bound socket has an address"))
            .expect("the datagram can be sent");
        poll.wait(1_000_000_000, |token| seen.push(token))
            .expect("it is open");
        assert_eq!(seen, [8]);
        poll.remove(&b).expect("it is there");
        poll.wait(1000, |token| seen.push(token))
            .expect("it is open");
        assert_eq!(seen, [8]);
    }
}
