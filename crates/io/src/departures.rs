//! When datagrams left: the kernel's time as the driver takes each (`SO_TIMESTAMPING`, by
//! software), told by the socket's queue of errors.
//!
//! A call that returns says that the kernel has a packet; this says that it has given it away.

use crate::sys;
use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, OwnedFd};

/// `SOF_TIMESTAMPING_TX_SOFTWARE`, `…_SOFTWARE`, `…_OPT_ID`, `…_OPT_TSONLY`: when it leaves, with
/// the datagram's number and without the datagram.
const FLAGS: libc::c_uint = libc::SOF_TIMESTAMPING_TX_SOFTWARE
    | libc::SOF_TIMESTAMPING_SOFTWARE
    | libc::SOF_TIMESTAMPING_OPT_ID
    | libc::SOF_TIMESTAMPING_OPT_TSONLY;
/// `SO_EE_ORIGIN_TIMESTAMPING` and `SCM_TSTAMP_SND` of Linux.
const ORIGIN_TIMESTAMPING: u8 = 4;
const LEFT: u32 = 0;
/// Bytes of the kernel's messages about one datagram: three times, and an error with an address.
const CONTROL_BYTES: usize = 256;
/// Departures a call.
const BATCH: usize = 64;
/// Bytes that departures which nobody has asked for yet may take in the kernel.
const QUEUE_BYTES: i32 = 8 << 20;

/// A datagram that left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Which one: datagrams count from 0 since [`watch`], to 2³² and again.
    pub number: u32,
    /// When, in nanoseconds since 1970.
    pub time_ns: i64,
}

/// Has the kernel tell from now on when the datagrams of `socket` leave.
pub fn watch(socket: &UdpSocket) -> io::Result<()> {
    let owned: OwnedFd = socket.try_clone()?.into();
    sys::set_option(&owned, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &QUEUE_BYTES)
        .or_else(|_| sys::set_option(&owned, libc::SOL_SOCKET, libc::SO_RCVBUF, &QUEUE_BYTES))?;
    sys::set_option(&owned, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, &FLAGS)
}

#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Control([u8; CONTROL_BYTES]);

/// Takes departures.
pub struct Departures {
    controls: Vec<Control>,
    headers: Vec<libc::mmsghdr>,
}

// SAFETY: the pointers in `headers` are written right before the call that reads them.
unsafe impl Send for Departures {}

impl std::fmt::Debug for Departures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Departures").finish_non_exhaustive()
    }
}

impl Default for Departures {
    fn default() -> Departures {
        Departures {
            controls: vec![Control([0; CONTROL_BYTES]); BATCH],
            // SAFETY: zeroes are null pointers and lengths of zero.
            headers: vec![unsafe { std::mem::zeroed() }; BATCH],
        }
    }
}

impl Departures {
    /// Puts those that the kernel has told of since into `into`, without waiting.
    pub fn take(&mut self, socket: &UdpSocket, into: &mut Vec<Departure>) -> io::Result<()> {
        into.clear();
        for (control, header) in self.controls.iter_mut().zip(&mut self.headers) {
            header.msg_hdr.msg_control = control.0.as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = CONTROL_BYTES as _;
        }
        // SAFETY: the headers point to memory of ours, as long as they say.
        let came = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                BATCH as libc::c_uint,
                (libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT) as _,
                std::ptr::null_mut(),
            )
        };
        let came = match sys::check(came) {
            Ok(came) => came as usize,
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => 0,
                _ => return Err(error),
            },
        };
        let headers = self.headers.iter().take(came);
        into.extend(headers.filter_map(|header| departure(&header.msg_hdr)));
        Ok(())
    }
}

fn departure(header: &libc::msghdr) -> Option<Departure> {
    let (mut time_ns, mut number) = (None, None);
    // SAFETY: the kernel has filled in the messages and their length; the macros' functions walk
    // them within that length, and each kind's value has the type that Linux gives it.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(header);
        while !message.is_null() {
            let data = libc::CMSG_DATA(message);
            match ((*message).cmsg_level, (*message).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) => {
                    // The first of three is software's.
                    let time = data.cast::<libc::timespec>().read_unaligned();
                    time_ns = Some(time.tv_sec * 1_000_000_000 + time.tv_nsec);
                }
                (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR) => {
                    let error = data.cast::<libc::sock_extended_err>().read_unaligned();
                    let is_it = error.ee_origin == ORIGIN_TIMESTAMPING && error.ee_info == LEFT;
                    number = is_it.then_some(error.ee_data);
                }
                _ => {}
            }
            message = libc::CMSG_NXTHDR(header, message);
        }
    }
    Some(Departure {
        number: number?,
        time_ns: time_ns?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Waiter, wall_ns};

    #[test]
    fn every_datagram_is_told_of_in_its_order_and_time() {
        for any in ["127.0.0.1:0", "[::1]:0"] {
            let to = UdpSocket::bind(any).expect("loopback has a free port");
            let from = UdpSocket::bind(any).expect("loopback has a free port");
            let there = to.local_addr().expect("a bound socket has an address");
            from.connect(there).expect("it is there");
            watch(&from).expect("Linux has it");
            let before = wall_ns();
            for _ in 0..200 {
                from.send(&[7; 30]).expect("it goes");
            }
            let after = wall_ns();
            let (mut departures, mut part, mut all) =
                (Departures::default(), Vec::new(), Vec::new());
            let mut waiter = Waiter::new();
            waiter.set(&[from.as_raw_fd()]);
            while all.len() < 200 {
                departures.take(&from, &mut part).expect("it is open");
                if part.is_empty() {
                    waiter.wait(Some(1_000_000_000)).expect("it is open");
                }
                all.append(&mut part);
            }
            assert!((0..).zip(&all).all(|(at, one)| one.number == at));
            assert!(all.is_sorted_by_key(|one| one.time_ns));
            assert!(all[0].time_ns >= before && all[199].time_ns <= after);
        }
    }
}
