//! Single frames whose leaving or coming is timed outside the program: by the interface's clock, or
//! by the driver and the kernel.
//!
//! Such times cost a message each, so they are for chosen frames: [`Stamper::send`] sends one, and
//! those that a [`Mark`] picks come to the socket of the port that hears. Source: Linux's
//! `networking/timestamping.rst`, `linux/filter.h`.

use crate::error::{Error, Result};
use crate::ethtool::{Ethtool, HardwareTimes};
use crate::sys;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Bytes that may wait to be asked for in the kernel: some thousand long frames.
const QUEUE_BYTES: libc::c_int = 32 << 20;
/// Bytes of a frame that are looked at.
const FRAME_BYTES: usize = 256;
/// Bytes of the kernel's messages about one.
const CONTROL_BYTES: usize = 256;

/// By what the leaving and coming of frames is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The clock of the interface.
    Hardware,
    /// The kernel: as the driver takes a frame, and as it gives one to the kernel.
    Driver,
}

impl By {
    fn flags(self) -> libc::c_uint {
        match self {
            By::Hardware => {
                libc::SOF_TIMESTAMPING_TX_HARDWARE
                    | libc::SOF_TIMESTAMPING_RX_HARDWARE
                    | libc::SOF_TIMESTAMPING_RAW_HARDWARE
            }
            By::Driver => {
                libc::SOF_TIMESTAMPING_TX_SOFTWARE
                    | libc::SOF_TIMESTAMPING_RX_SOFTWARE
                    | libc::SOF_TIMESTAMPING_SOFTWARE
            }
        }
    }

    /// Which of the kernel's three times is meant.
    fn place(self) -> usize {
        match self {
            By::Driver => 0,
            By::Hardware => 2,
        }
    }
}

/// Which frames are heard: those with a mark at one of some places, and behind it a number of a
/// series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Places where the mark may be, from the frame's start; the first that fits decides.
    pub at: Vec<u32>,
    /// The mark.
    pub bytes: [u8; 4],
    /// From the mark to the number, which is big-endian and 32 bits long.
    pub to_number: u32,
    /// The first number heard, and from each to the next.
    pub series: (u32, u32),
}

impl Mark {
    /// The program that lets those frames through, and no other.
    fn program(&self) -> Vec<libc::sock_filter> {
        use libc::{
            BPF_ABS, BPF_ALU, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_MOD, BPF_RET, BPF_SUB, BPF_W,
        };
        let step = |code: u32, k: u32, jf: u8| libc::sock_filter {
            code: code as u16,
            jt: 0,
            jf,
            k,
        };
        let load = |at| step(BPF_LD | BPF_W | BPF_ABS, at, 0);
        let with = |operation: u32, value| step(BPF_ALU | operation | BPF_K, value, 0);
        let skip_unless = |value, steps| step(BPF_JMP | BPF_JEQ | BPF_K, value, steps);
        let take = |bytes| step(BPF_RET | BPF_K, bytes, 0);
        let mut program = Vec::new();
        for &at in &self.at {
            program.extend([
                load(at),
                skip_unless(u32::from_be_bytes(self.bytes), 5),
                load(at + self.to_number),
                with(BPF_SUB, self.series.0),
                with(BPF_MOD, self.series.1.max(1)),
                skip_unless(0, 1),
                take(u32::MAX),
            ]);
        }
        program.push(take(0));
        program
    }
}

/// A packet socket at an interface, for timed frames.
#[derive(Debug)]
pub struct Stamper {
    name: String,
    index: u32,
    socket: OwnedFd,
    by: By,
    refused: u64,
    /// What the interface's clock did before, to be done again at the end.
    _before: Option<HardwareTimes>,
}

impl Stamper {
    /// One at interface `name` of the calling thread's namespace, which sends and hears nothing
    /// yet. The interface times frames by its clock as long as this lives.
    pub fn open(name: &str, by: By) -> Result<Stamper> {
        let of = |what| Error::of(what, name, "CAP_NET_RAW");
        let index = sys::interface_index(name)?;
        let before = match by {
            By::Hardware => Some(Ethtool::open()?.time_all(name)?),
            By::Driver => None,
        };
        let socket =
            sys::socket(libc::AF_PACKET, libc::SOCK_RAW, 0).map_err(of("open a packet socket"))?;
        // Without the right to force it, the machine's limit holds.
        for (force, ask) in [
            (libc::SO_RCVBUFFORCE, libc::SO_RCVBUF),
            (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF),
        ] {
            let _ = sys::set_option(&socket, libc::SOL_SOCKET, force, &QUEUE_BYTES)
                .or_else(|_| sys::set_option(&socket, libc::SOL_SOCKET, ask, &QUEUE_BYTES));
        }
        sys::set_option(&socket, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1)
            .map_err(of("pass the queueing discipline by"))?;
        sys::set_option(&socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1)
            .map_err(of("choose the direction"))?;
        sys::set_option(
            &socket,
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            &by.flags(),
        )
        .map_err(of("time frames"))?;
        let stamper = Stamper {
            name: name.to_owned(),
            index,
            socket,
            by,
            refused: 0,
            _before: before,
        };
        stamper.bind(0).map_err(of("bind a packet socket"))?;
        Ok(stamper)
    }

    /// By what it times frames.
    pub fn by(&self) -> By {
        self.by
    }

    fn bind(&self, protocol: u16) -> io::Result<()> {
        // SAFETY: all zeroes is a `sockaddr_ll`.
        let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = protocol.to_be();
        address.sll_ifindex = self.index.cast_signed();
        sys::bind(&self.socket, &address)
    }

    /// Hears frames with `mark` from now on, and has forgotten what it heard before.
    pub fn hear(&mut self, mark: &Mark) -> Result<()> {
        let of = |what| Error::of(what, &self.name, "CAP_NET_RAW");
        let mut program = mark.program();
        let filter = libc::sock_fprog {
            len: program.len() as u16,
            filter: program.as_mut_ptr(),
        };
        // SAFETY: the kernel copies the program, whose length this is.
        sys::check(unsafe {
            libc::setsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_ATTACH_FILTER,
                (&raw const filter).cast(),
                size_of::<libc::sock_fprog>() as libc::socklen_t,
            )
        })
        .map_err(of("choose frames"))?;
        self.bind(libc::ETH_P_ALL as u16)
            .map_err(of("hear frames"))?;
        self.read(0, &mut |_, _| ())
            .map_err(of("read what has come"))
    }

    /// Sends `frame`; false where there is no room now. One that is too long, or that meets an
    /// interface that is down, is lost and counted; the error is that the interface is gone.
    pub fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        // SAFETY: the pointer and the length are those of `frame`.
        let sent = unsafe {
            libc::send(
                self.socket.as_raw_fd(),
                frame.as_ptr().cast(),
                frame.len(),
                libc::MSG_DONTWAIT,
            )
        };
        match sys::check_size(sent) {
            Ok(_) => Ok(true),
            Err(error) => match error.raw_os_error() {
                Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR) => Ok(false),
                Some(libc::ENXIO | libc::ENODEV) => Err(error),
                _ => {
                    self.refused += 1;
                    Ok(true)
                }
            },
        }
    }

    /// Frames that the interface refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Calls `each` with the start of each frame that has left since, and when it did.
    pub fn left(&mut self, each: &mut dyn FnMut(&[u8], i64)) -> io::Result<()> {
        self.read(libc::MSG_ERRQUEUE, each)
    }

    /// Calls `each` with the start of each frame that was heard since, and when it came.
    pub fn heard(&mut self, each: &mut dyn FnMut(&[u8], i64)) -> io::Result<()> {
        self.read(0, each)
    }

    fn read(&self, queue: libc::c_int, each: &mut dyn FnMut(&[u8], i64)) -> io::Result<()> {
        #[repr(align(8))]
        struct Control([u8; CONTROL_BYTES]);
        let (mut frame, mut control) = ([0_u8; FRAME_BYTES], Control([0; CONTROL_BYTES]));
        loop {
            let mut vector = libc::iovec {
                iov_base: frame.as_mut_ptr().cast(),
                iov_len: frame.len(),
            };
            // SAFETY: zeroes are null pointers and lengths of zero.
            let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
            header.msg_iov = &raw mut vector;
            header.msg_iovlen = 1;
            header.msg_control = control.0.as_mut_ptr().cast();
            header.msg_controllen = CONTROL_BYTES as _;
            // SAFETY: the header points to memory of ours, as long as it says.
            let came = unsafe {
                libc::recvmsg(
                    self.socket.as_raw_fd(),
                    &raw mut header,
                    queue | libc::MSG_DONTWAIT,
                )
            };
            match sys::check_size(came) {
                Ok(bytes) => {
                    if let Some(time_ns) = time_of(&header, self.by) {
                        each(&frame[..bytes.min(FRAME_BYTES)], time_ns);
                    }
                }
                Err(error) => match error.raw_os_error() {
                    Some(libc::EINTR) => {}
                    // That the interface went down is told by the port's own sockets.
                    Some(libc::EAGAIN | libc::ENETDOWN) => return Ok(()),
                    _ => return Err(error),
                },
            }
        }
    }
}

/// The time that the kernel's messages tell, if they do.
fn time_of(header: &libc::msghdr, by: By) -> Option<i64> {
    let mut time_ns = None;
    // SAFETY: the kernel has filled in the messages and their length; the macros' functions walk
    // them within that length, and this kind's value is three times.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(header);
        while !message.is_null() {
            let kind = ((*message).cmsg_level, (*message).cmsg_type);
            if kind == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPING) {
                let times: [libc::timespec; 3] = libc::CMSG_DATA(message)
                    .cast::<[libc::timespec; 3]>()
                    .read_unaligned();
                let time = times[by.place()];
                let ns = time.tv_sec * 1_000_000_000 + time.tv_nsec;
                time_ns = (ns != 0).then_some(ns);
            }
            message = libc::CMSG_NXTHDR(header, message);
        }
    }
    time_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel's machine for these programs makes of a frame.
    fn passes(program: &[libc::sock_filter], frame: &[u8]) -> bool {
        let (mut at, mut a) = (0, 0_u32);
        loop {
            let one = &program[at];
            at += 1;
            match u32::from(one.code) {
                code if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS => {
                    let from = one.k as usize;
                    let Some(word) = frame.get(from..from + 4) else {
                        return false;
                    };
                    a = u32::from_be_bytes(word.try_into().expect("four bytes"));
                }
                code if code == libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K => {
                    at += usize::from(if a == one.k { one.jt } else { one.jf });
                }
                code if code == libc::BPF_ALU | libc::BPF_SUB | libc::BPF_K => {
                    a = a.wrapping_sub(one.k);
                }
                code if code == libc::BPF_ALU | libc::BPF_MOD | libc::BPF_K => a %= one.k,
                code if code == libc::BPF_RET | libc::BPF_K => return one.k > 0,
                code => panic!("no such instruction {code:#x}"),
            }
        }
    }

    #[test]
    fn the_filter_takes_the_marked_frames_of_the_series() {
        let mark = Mark {
            at: vec![42, 46],
            bytes: *b"TRab",
            to_number: 6,
            series: (100, 7),
        };
        let program = mark.program();
        let frame = |at: usize, bytes: &[u8; 4], number: u32| {
            let mut frame = [0; 60];
            frame[at..at + 4].copy_from_slice(bytes);
            frame[at + 6..at + 10].copy_from_slice(&number.to_be_bytes());
            frame
        };
        for at in [42, 46] {
            assert!(passes(&program, &frame(at, b"TRab", 100)));
            assert!(passes(&program, &frame(at, b"TRab", 114)));
            assert!(!passes(&program, &frame(at, b"TRab", 115)));
            assert!(!passes(&program, &frame(at, b"TRac", 114)));
        }
        assert!(!passes(&program, &frame(44, b"TRab", 114)));
        assert!(!passes(&program, &[0; 44]));
    }
}
