//! TAP and TUN: interfaces of the kernel whose wire is this process.
//!
//! What the kernel sends out of the interface comes here; what is sent here comes in there. A TAP
//! carries Ethernet frames, a TUN bare IP packets. With offloads the kernel hands over
//! super-packets and unfinished checksums, which costs it less; they are resolved on the way in:
//! see [`crate::offload`].

use crate::error::{Error, Result};
use crate::ethtool::Ethtool;
use crate::intake::Intake;
use crate::offload::{HEADER_BYTES, Offload, OffloadCounters};
use crate::sys;
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;

const FILE: &str = "/dev/net/tun";
const RIGHT: &str = "CAP_NET_ADMIN";
/// A super-packet of 64 KiB with its headers.
const LONGEST: usize = (64 << 10) + 256;
/// Checksums, TCP over IPv4 and IPv6, ECN, and (Linux 6.2) UDP over each.
const ALL_OFFLOADS: libc::c_ulong = 0x01 | 0x02 | 0x04 | 0x08;
const UDP_OFFLOADS: libc::c_ulong = 0x20 | 0x40;

/// How to make the interface.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Bare IP packets (TUN) rather than Ethernet frames (TAP).
    pub is_tun: bool,
    /// Take super-packets and unfinished checksums from the kernel.
    pub has_offloads: bool,
}

/// The process's end of the interface; the interface goes when this does.
#[derive(Debug)]
pub struct Tap {
    name: String,
    mac: Option<[u8; 6]>,
    file: OwnedFd,
    options: Options,
    buffer: Vec<u8>,
    intake: Intake,
    counters: DeviceCounters,
}

/// `struct ifreq` with flags.
#[repr(C)]
struct Request {
    name: [libc::c_char; libc::IFNAMSIZ],
    flags: libc::c_short,
    rest: [u8; 22],
}

impl Tap {
    /// Makes interface `name` in the calling thread's namespace; a `%d` in it becomes the first
    /// free number.
    pub fn open(name: &str, options: &Options) -> Result<Tap> {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open(FILE);
        let file: OwnedFd = match opened {
            Ok(file) => file.into(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(Error::Unsupported {
                    what: format!("TAP interfaces: there is no {FILE}"),
                    mend: format!("modprobe tun; mkdir -p /dev/net; mknod {FILE} c 10 200"),
                });
            }
            // Of the file, which no right inside a user namespace opens.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(Error::Limit {
                    what: format!("open {FILE}"),
                    mend: format!("`chmod 666 {FILE}` as root, as most distributions have it"),
                });
            }
            Err(error) => {
                return Err(Error::from_kernel(
                    &format!("open {FILE}"),
                    "",
                    RIGHT,
                    error,
                ));
            }
        };
        let kind = if options.is_tun {
            libc::IFF_TUN
        } else {
            libc::IFF_TAP
        };
        let mut request = Request {
            name: sys::interface_name(name)?,
            flags: (kind | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short,
            rest: [0; 22],
        };
        // SAFETY: as long as `struct ifreq`, which is what the kernel reads and writes.
        sys::check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) })
            .map_err(|error| {
                if error.raw_os_error() == Some(libc::EBUSY) {
                    Error::Busy {
                        name: name.to_owned(),
                        what: "another process has it".to_owned(),
                        mend: format!("ip link delete {name}"),
                    }
                } else {
                    Error::from_kernel(&format!("make the interface `{name}`"), "", RIGHT, error)
                }
            })?;
        let name: String = request
            .name
            .iter()
            .take_while(|&&byte| byte != 0)
            // A C character has a sign on some processors only.
            .map(|&byte| char::from(byte.to_ne_bytes()[0]))
            .collect();
        if options.has_offloads {
            let set = |offloads: libc::c_ulong| {
                // SAFETY: the argument is a number.
                sys::check(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, offloads) })
            };
            set(ALL_OFFLOADS | UDP_OFFLOADS)
                .or_else(|_| set(ALL_OFFLOADS))
                .map_err(Error::of("take offloads", &name, RIGHT))?;
        }
        let mac = Ethtool::open()?.mac(&name)?;
        Ok(Tap {
            name,
            mac,
            file,
            options: *options,
            buffer: vec![0; HEADER_BYTES + LONGEST],
            intake: Intake::default(),
            counters: DeviceCounters::default(),
        })
    }

    /// What the kernel left undone in what came.
    pub fn offloads(&self) -> OffloadCounters {
        self.intake.offloads
    }

    /// The error for what the kernel said: gone, where the interface was removed.
    fn error(&self, error: io::Error) -> io::Error {
        match error.raw_os_error() {
            Some(libc::EBADFD) => Error::NoInterface {
                name: self.name.clone(),
            }
            .into(),
            _ => error,
        }
    }
}

impl Device for Tap {
    fn name(&self) -> &str {
        &self.name
    }

    /// That of the kernel's end.
    fn mac(&self) -> Option<[u8; 6]> {
        self.mac
    }

    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> io::Result<usize> {
        let mut count = self.intake.drain(into);
        let mut now = Timestamp::ZERO;
        while !into.is_full() {
            // SAFETY: the pointer and the length are those of the buffer.
            let got = unsafe {
                libc::read(
                    self.file.as_raw_fd(),
                    self.buffer.as_mut_ptr().cast(),
                    self.buffer.len(),
                )
            };
            let len = match sys::check_size(got) {
                Ok(len) => len,
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => break,
                    io::ErrorKind::Interrupted => continue,
                    _ => return Err(self.error(error)),
                },
            };
            let Some((header, frame)) = self.buffer[..len].split_first_chunk::<HEADER_BYTES>()
            else {
                continue;
            };
            if now.is_zero() {
                now = Timestamp(crate::clock::wall_ns());
            }
            let offload = Offload::parse(header);
            if offload.is_none() {
                match pool.alloc_with(frame) {
                    Some(packet) => {
                        pool[&packet].set_timestamp(now);
                        into.push(packet);
                        count += 1;
                    }
                    None => self.counters.receive_drops += 1,
                }
            } else {
                let has_link_header = !self.options.is_tun;
                self.intake
                    .resolve(pool, frame, offload, has_link_header, |packet| {
                        packet.set_timestamp(now);
                    });
                count += self.intake.drain(into);
            }
        }
        self.counters.received += count as u64;
        Ok(count)
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        // All zero: a frame as it would be on a wire.
        let header = [0_u8; HEADER_BYTES];
        let mut count = 0;
        let mut failure = None;
        for packet in from.iter() {
            let data = pool[packet].data();
            let vectors = [&header[..], data].map(|part| libc::iovec {
                iov_base: part.as_ptr().cast_mut().cast(),
                iov_len: part.len(),
            });
            // SAFETY: two vectors with the lengths of what they point to, which is only read.
            let sent = unsafe { libc::writev(self.file.as_raw_fd(), vectors.as_ptr(), 2) };
            match sys::check_size(sent) {
                Ok(_) => self.counters.sent += 1,
                Err(error) => match error.raw_os_error() {
                    Some(libc::EAGAIN | libc::EINTR) => break,
                    Some(libc::EBADFD) => {
                        failure = Some(self.error(error));
                        break;
                    }
                    // Too short or too long, or the interface is down (EIO).
                    _ => self.counters.send_errors += 1,
                },
            }
            count += 1;
        }
        from.drain_front(count, |packet| pool.free(packet));
        failure.map_or(Ok(count), Err)
    }

    fn descriptor(&self) -> Option<i32> {
        Some(self.file.as_raw_fd())
    }

    fn close(&mut self, pool: &mut Pool) {
        self.intake.close(pool);
    }

    fn counters(&self) -> DeviceCounters {
        DeviceCounters {
            receive_drops: self.counters.receive_drops
                + self.intake.lost
                + self.intake.offloads.refused,
            ..self.counters
        }
    }

    fn remarks(&self) -> Vec<String> {
        self.intake
            .offloads
            .remark(&self.name)
            .into_iter()
            .collect()
    }
}
