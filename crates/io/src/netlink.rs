//! Netlink: messages to the kernel, their answers, and groups to follow.
//!
//! A message is a header of 16 bytes, a fixed part, and attributes (length, type, value, each
//! padded to four bytes). Source: `netlink(7)`, `rtnetlink(7)`, RFC 3549.

use crate::sys;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// The fixed part of every message: length, type, flags, sequence, port.
const HEADER: usize = 16;

/// A message that is being written.
#[derive(Debug)]
pub struct Message {
    bytes: Vec<u8>,
}

impl Message {
    /// A message of `kind` (`RTM_…`) with `flags` (`NLM_F_…`).
    pub fn new(kind: u16, flags: libc::c_int) -> Message {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(flags as u16).to_ne_bytes());
        Message { bytes }
    }

    /// Appends the fixed part of this kind of message.
    pub fn fixed(mut self, bytes: &[u8]) -> Message {
        self.bytes.extend_from_slice(bytes);
        self.pad();
        self
    }

    /// Appends an attribute.
    pub fn attribute(mut self, kind: u16, value: &[u8]) -> Message {
        let len = 4 + value.len() as u16;
        self.bytes.extend_from_slice(&len.to_ne_bytes());
        self.bytes.extend_from_slice(&kind.to_ne_bytes());
        self.bytes.extend_from_slice(value);
        self.pad();
        self
    }

    /// Appends an attribute that is a number of 32 bits.
    pub fn number(self, kind: u16, value: u32) -> Message {
        self.attribute(kind, &value.to_ne_bytes())
    }

    /// Appends an attribute that is a string.
    pub fn text(self, kind: u16, value: &str) -> Message {
        let mut bytes = value.as_bytes().to_vec();
        bytes.push(0);
        self.attribute(kind, &bytes)
    }

    /// Appends an attribute whose value `inner` writes.
    pub fn nested(mut self, kind: u16, inner: impl FnOnce(Message) -> Message) -> Message {
        let start = self.bytes.len();
        self = inner(self.attribute(kind, &[]));
        let len = (self.bytes.len() - start) as u16;
        self.bytes[start..start + 2].copy_from_slice(&len.to_ne_bytes());
        self
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    pub(crate) fn finish(mut self, sequence: u32) -> Vec<u8> {
        let len = self.bytes.len() as u32;
        self.bytes[..4].copy_from_slice(&len.to_ne_bytes());
        self.bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
        self.bytes
    }
}

/// A message that came.
#[derive(Clone, Copy, Debug)]
pub struct Received<'a> {
    /// Its kind, `RTM_…`.
    pub kind: u16,
    /// Its flags, `NLM_F_…`.
    pub flags: u16,
    sequence: u32,
    /// What follows the header.
    pub payload: &'a [u8],
}

impl Received<'_> {
    /// Whether nobody asked for it: it tells of a change.
    pub(crate) fn is_notice(&self) -> bool {
        self.sequence == 0
    }
}

/// The messages of one datagram; what is malformed ends them.
fn messages(mut bytes: &[u8]) -> impl Iterator<Item = Received<'_>> {
    std::iter::from_fn(move || {
        let len = number_at(bytes, 0)? as usize;
        if len < HEADER || len > bytes.len() {
            return None;
        }
        let message = Received {
            kind: half_at(bytes, 4)?,
            flags: half_at(bytes, 6)?,
            sequence: number_at(bytes, 8)?,
            payload: &bytes[HEADER..len],
        };
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or(&[]);
        Some(message)
    })
}

/// The attributes in `bytes`: kind without its flags, and value. What is malformed ends them.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let len = half_at(bytes, 0)? as usize;
        if len < 4 || len > bytes.len() {
            return None;
        }
        // The two highest bits say "nested" and "network order".
        let kind = half_at(bytes, 2)? & 0x3fff;
        let value = &bytes[4..len];
        bytes = bytes.get(len.next_multiple_of(4)..).unwrap_or(&[]);
        Some((kind, value))
    })
}

/// The 32-bit number at `at`.
pub(crate) fn number_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

/// The 16-bit number at `at`.
pub(crate) fn half_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?;
    Some(u16::from_ne_bytes(bytes.try_into().ok()?))
}

/// A netlink socket of the routing family. It stays in the namespace that it was opened in.
#[derive(Debug)]
pub struct Socket {
    fd: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl Socket {
    /// Opens a socket that also gets the notices of `groups` (`RTNLGRP_…`).
    pub fn open(groups: &[libc::c_uint]) -> io::Result<Socket> {
        let fd = sys::socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
        // SAFETY: all zeroes is a `sockaddr_nl`.
        let mut address: libc::sockaddr_nl = unsafe { std::mem::zeroed() };
        address.nl_family = libc::AF_NETLINK as libc::sa_family_t;
        sys::bind(&fd, &address)?;
        for group in groups {
            sys::set_option(&fd, libc::SOL_NETLINK, libc::NETLINK_ADD_MEMBERSHIP, group)?;
        }
        // The largest message that the kernel sends is a dump's, 32 KiB.
        let buffer = vec![0; 64 << 10];
        Ok(Socket {
            fd,
            sequence: 0,
            buffer,
        })
    }

    /// Gets the notices of another group (`RTNLGRP_…`) too.
    pub fn join(&self, group: libc::c_uint) -> io::Result<()> {
        sys::set_option(
            &self.fd,
            libc::SOL_NETLINK,
            libc::NETLINK_ADD_MEMBERSHIP,
            &group,
        )
    }

    /// The descriptor to wait on.
    pub fn descriptor(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Sets how many bytes of notices the kernel keeps for us before it loses some.
    pub(crate) fn set_buffer(&self, bytes: libc::c_int) -> io::Result<()> {
        sys::set_option(&self.fd, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &bytes)
            .or_else(|_| sys::set_option(&self.fd, libc::SOL_SOCKET, libc::SO_RCVBUF, &bytes))
    }

    fn send(&mut self, message: Message) -> io::Result<u32> {
        self.sequence = self.sequence.wrapping_add(1).max(1);
        let bytes = message.finish(self.sequence);
        // SAFETY: the pointer and the length are those of `bytes`.
        let sent =
            unsafe { libc::send(self.fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
        sys::check_size(sent)?;
        Ok(self.sequence)
    }

    /// Receives one datagram; `None` where none has come and `flags` say not to wait.
    fn receive(&mut self, flags: libc::c_int) -> io::Result<Option<usize>> {
        loop {
            // SAFETY: the pointer and the length are those of the buffer.
            let got = unsafe {
                libc::recv(
                    self.fd.as_raw_fd(),
                    self.buffer.as_mut_ptr().cast(),
                    self.buffer.len(),
                    flags | libc::MSG_TRUNC,
                )
            };
            match sys::check_size(got) {
                Ok(len) if len > self.buffer.len() => {
                    return Err(io::Error::other("a netlink message is longer than 64 KiB"));
                }
                Ok(len) => return Ok(Some(len)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends a message and waits for the kernel's consent.
    pub fn request(&mut self, message: Message) -> io::Result<()> {
        self.exchange(message, |_| ())
    }

    /// Sends a message and gives each answer to `each`, until the kernel says that it is done.
    ///
    /// Notices of groups that come meanwhile are given to `each` too: a follower loses none.
    pub fn exchange(&mut self, message: Message, each: impl FnMut(Received<'_>)) -> io::Result<()> {
        self.converse(message, libc::NLM_F_ACK, each)
    }

    /// Sends a message that has one answer, and gives it to `each`: a call less than
    /// [`exchange`](Self::exchange).
    pub fn ask(&mut self, message: Message, each: impl FnMut(Received<'_>)) -> io::Result<()> {
        self.converse(message, 0, each)
    }

    /// Sends a message and receives until the kernel consents, or has answered where it is not to
    /// `consent`.
    fn converse(
        &mut self,
        message: Message,
        consent: libc::c_int,
        mut each: impl FnMut(Received<'_>),
    ) -> io::Result<()> {
        let mut message = message;
        let flags = half_at(&message.bytes, 6).unwrap_or(0);
        let wanted = flags | (libc::NLM_F_REQUEST | consent) as u16;
        message.bytes[6..8].copy_from_slice(&wanted.to_ne_bytes());
        let sequence = self.send(message)?;
        loop {
            let Some(len) = self.receive(0)? else {
                continue;
            };
            let mut is_answered = false;
            for message in messages(&self.buffer[..len]) {
                if message.sequence != sequence {
                    if message.sequence == 0 {
                        each(message);
                    }
                    continue;
                }
                match libc::c_int::from(message.kind) {
                    libc::NLMSG_ERROR | libc::NLMSG_DONE => {
                        let errno = number_at(message.payload, 0).unwrap_or(0).cast_signed();
                        return if errno == 0 {
                            Ok(())
                        } else {
                            Err(io::Error::from_raw_os_error(-errno))
                        };
                    }
                    _ => each(message),
                }
                is_answered = consent == 0;
            }
            if is_answered {
                return Ok(());
            }
        }
    }

    /// Gives the notices that have come to `each`, without waiting. [`io::ErrorKind::OutOfMemory`]
    /// (`ENOBUFS`) means that some were lost.
    pub fn poll(&mut self, mut each: impl FnMut(Received<'_>)) -> io::Result<()> {
        while let Some(len) = self.receive(libc::MSG_DONTWAIT)? {
            messages(&self.buffer[..len]).for_each(&mut each);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_padded_and_nested() {
        let message = Message::new(16, 0)
            .text(3, "ab")
            .nested(18, |inner| inner.number(1, 7).text(2, "veth"));
        let bytes = message.finish(9);
        let all: Vec<_> = messages(&bytes).collect();
        assert_eq!((all.len(), all[0].kind, all[0].sequence), (1, 16, 9));
        let top: Vec<_> = attributes(all[0].payload).collect();
        assert_eq!(top[0], (3, &b"ab\0"[..]));
        let inner: Vec<_> = attributes(top[1].1).collect();
        assert_eq!(inner, [(1, &7_u32.to_ne_bytes()[..]), (2, &b"veth\0"[..])]);
    }

    #[test]
    fn lying_lengths_end_the_reading() {
        for bytes in [&[][..], &[3, 0, 1, 0], &[200, 0, 1, 0, 5], &[255; 7]] {
            assert_eq!(attributes(bytes).count(), 0);
            assert_eq!(messages(bytes).count(), 0);
        }
    }
}
