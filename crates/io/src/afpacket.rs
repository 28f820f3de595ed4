//! Devices by packet sockets: any interface, no driver's help, inside user namespaces too.
//!
//! Frames come by a mapped ring and go by `sendmmsg`, each by a socket of its own. The kernel's own
//! stack sees what comes as well. What the kernel leaves to hardware is done on the way in: see
//! [`crate::offload`].

use crate::error::{Error, Result};
use crate::intake::Intake;
use crate::offload::OffloadCounters;
use crate::packet_ring::Ring;
use crate::packet_send::Sender;
use crate::sys;
use std::cell::Cell;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::packet::{Packet, PacketType};
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;

/// How often an empty ring is met before the socket is asked whether its interface is still there.
const EMPTY_PER_CHECK: u32 = 16;
/// Bytes that frames on their way out may take in the kernel.
const SEND_BYTES: libc::c_int = 4 << 20;

/// How to open a device.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes of the ring for what comes; without one nothing comes, and costs nothing.
    pub ring_bytes: Option<usize>,
    /// Whether frames to other hosts come too.
    pub is_promiscuous: bool,
    /// Whether frames that this host sends come too.
    pub sees_outgoing: bool,
    /// Whether super-packets come as one packet, and are left to the kernel to cut when they go.
    pub carries: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            // Some 10,000 short frames: 10 ms at a million a second, and still within a
            // second-level cache's reach. More would cost misses, not only memory.
            ring_bytes: Some(2 << 20),
            is_promiscuous: true,
            sees_outgoing: false,
            carries: false,
        }
    }
}

/// An interface, by packet sockets.
#[derive(Debug)]
pub struct AfPacket {
    name: String,
    mac: Option<[u8; 6]>,
    ring: Ring,
    receiver: OwnedFd,
    sender: Sender,
    intake: Intake,
    tagged: Vec<u8>,
    empty: u32,
    received: u64,
    cut: u64,
    /// What the kernel counted as lost; it forgets what it has told.
    lost: Cell<u64>,
}

impl AfPacket {
    /// Opens interface `name` of the calling thread's namespace.
    pub fn open(name: &str, options: &Options) -> Result<AfPacket> {
        let index = sys::interface_index(name)?;
        let of = |what| Error::of(what, name, "CAP_NET_RAW");
        // Protocol 0: nothing comes until all is set up.
        let receiver =
            sys::socket(libc::AF_PACKET, libc::SOCK_RAW, 0).map_err(of("open a packet socket"))?;
        let set =
            |name, value: libc::c_int| sys::set_option(&receiver, libc::SOL_PACKET, name, &value);
        set(libc::PACKET_VNET_HDR, 1).map_err(of("ask for offloads"))?;
        set(
            libc::PACKET_IGNORE_OUTGOING,
            libc::c_int::from(!options.sees_outgoing),
        )
        .map_err(of("choose the direction"))?;
        let ring_bytes = options.ring_bytes.unwrap_or(0);
        let ring = Ring::new(&receiver, ring_bytes).map_err(of("make a receive ring"))?;
        if options.is_promiscuous && options.ring_bytes.is_some() {
            see_all(&receiver, index).map_err(of("see frames to others"))?;
        }
        // Of protocol 0 there are no frames.
        let protocol = options.ring_bytes.map_or(0, |_| libc::ETH_P_ALL);
        bind(&receiver, index, protocol as u16).map_err(of("bind a packet socket"))?;
        let socket =
            sys::socket(libc::AF_PACKET, libc::SOCK_RAW, 0).map_err(of("open a packet socket"))?;
        sys::set_option(&socket, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1)
            .map_err(of("pass the queueing discipline by"))?;
        if options.carries {
            sys::set_option(&socket, libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1)
                .map_err(of("hand over offloads"))?;
        }
        // Without the right to force it, the machine's limit holds, which suffices.
        let _ = sys::set_option(&socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BYTES)
            .or_else(|_| sys::set_option(&socket, libc::SOL_SOCKET, libc::SO_SNDBUF, &SEND_BYTES));
        bind(&socket, index, 0).map_err(of("bind a packet socket"))?;
        let address: libc::sockaddr_ll =
            sys::bound_address(&receiver).map_err(of("read the address"))?;
        let mac = (address.sll_halen == 6).then(|| std::array::from_fn(|at| address.sll_addr[at]));
        Ok(AfPacket {
            name: name.to_owned(),
            mac,
            ring,
            receiver,
            sender: Sender::new(socket, options.carries),
            intake: Intake::new(options.carries),
            tagged: Vec::new(),
            empty: 0,
            received: 0,
            cut: 0,
            lost: Cell::new(0),
        })
    }

    /// What the kernel left undone in what came.
    pub fn offloads(&self) -> OffloadCounters {
        self.intake.offloads
    }

    /// An error where the interface is gone; one that is down may come up again.
    #[cold]
    fn check(&self) -> io::Result<()> {
        // That an interface went down is told once, that it went away afterwards not at all: the
        // binding tells it.
        let _ = sys::pending_error(&self.receiver);
        let address: libc::sockaddr_ll = sys::bound_address(&self.receiver)?;
        if address.sll_ifindex > 0 {
            return Ok(());
        }
        Err(Error::NoInterface {
            name: self.name.clone(),
        }
        .into())
    }
}

/// Has an interface take frames to others as long as the socket is open.
pub(crate) fn see_all(socket: &OwnedFd, index: u32) -> io::Result<()> {
    let membership = libc::packet_mreq {
        mr_ifindex: index.cast_signed(),
        mr_type: libc::PACKET_MR_PROMISC as libc::c_ushort,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    sys::set_option(
        socket,
        libc::SOL_PACKET,
        libc::PACKET_ADD_MEMBERSHIP,
        &membership,
    )
}

/// A socket that no frame comes to, which keeps an interface taking frames to others.
pub(crate) fn promiscuous(name: &str, index: u32) -> Result<OwnedFd> {
    let of = |what| Error::of(what, name, "CAP_NET_RAW");
    let socket =
        sys::socket(libc::AF_PACKET, libc::SOCK_RAW, 0).map_err(of("open a packet socket"))?;
    see_all(&socket, index).map_err(of("see frames to others"))?;
    Ok(socket)
}

pub(crate) fn bind(socket: &OwnedFd, index: u32, protocol: u16) -> io::Result<()> {
    // SAFETY: all zeroes is a `sockaddr_ll`.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = index.cast_signed();
    sys::bind(socket, &address)
}

fn packet_type(kind: u8) -> PacketType {
    match kind {
        libc::PACKET_HOST => PacketType::Host,
        libc::PACKET_BROADCAST => PacketType::Broadcast,
        libc::PACKET_MULTICAST => PacketType::Multicast,
        libc::PACKET_OTHERHOST => PacketType::OtherHost,
        libc::PACKET_OUTGOING => PacketType::Outgoing,
        libc::PACKET_LOOPBACK => PacketType::Loopback,
        _ => PacketType::FastRoute,
    }
}

impl Device for AfPacket {
    fn name(&self) -> &str {
        &self.name
    }

    fn mac(&self) -> Option<[u8; 6]> {
        self.mac
    }

    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> io::Result<usize> {
        let mut count = self.intake.drain(into);
        while !into.is_full() {
            let Some(frame) = self.ring.peek() else { break };
            if frame.is_cut {
                self.cut += 1;
                self.ring.advance();
                continue;
            }
            let (time, kind) = (Timestamp(frame.time_ns), packet_type(frame.kind));
            let mark = |packet: &mut Packet| {
                packet.set_timestamp(time);
                packet.set_packet_type(kind);
            };
            let (mut bytes, mut offload) = (frame.bytes, frame.offload);
            if let (Some(tag), true) = (frame.tag, bytes.len() >= 12) {
                self.tagged.clear();
                self.tagged.extend_from_slice(&bytes[..12]);
                self.tagged.extend_from_slice(&tag);
                self.tagged.extend_from_slice(&bytes[12..]);
                bytes = &self.tagged;
                offload = offload.shifted(4);
            }
            if offload.is_none() {
                // Where the pool is full the frame stays in the ring, which overflows in turn and
                // is counted.
                let Some(packet) = pool.alloc_with(bytes) else {
                    break;
                };
                mark(&mut pool[&packet]);
                into.push(packet);
                count += 1;
            } else {
                self.intake.resolve(pool, bytes, offload, true, mark);
                count += self.intake.drain(into);
            }
            self.ring.advance();
        }
        self.received += count as u64;
        if count > 0 {
            self.empty = 0;
            return Ok(count);
        }
        self.empty += 1;
        if self.empty.is_multiple_of(EMPTY_PER_CHECK) {
            self.check()?;
        }
        Ok(0)
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        self.sender.transmit(pool, from)
    }

    fn flush(&mut self, pool: &mut Pool) -> io::Result<()> {
        self.sender.flush(pool)
    }

    fn unsent(&self) -> usize {
        self.sender.unsent()
    }

    fn send_descriptor(&self) -> Option<i32> {
        Some(self.sender.descriptor())
    }

    fn descriptor(&self) -> Option<i32> {
        Some(self.receiver.as_raw_fd())
    }

    fn close(&mut self, pool: &mut Pool) {
        self.intake.close(pool);
        self.sender.close(pool);
    }

    fn counters(&self) -> DeviceCounters {
        let told = sys::option::<libc::tpacket_stats_v3>(
            &self.receiver,
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
        );
        if let Ok(told) = told {
            self.lost.set(self.lost.get() + u64::from(told.tp_drops));
        }
        DeviceCounters {
            received: self.received,
            sent: self.sender.sent,
            receive_drops: self.lost.get()
                + self.cut
                + self.intake.lost
                + self.intake.offloads.refused,
            send_errors: self.sender.errors,
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = self
            .intake
            .offloads
            .remark(&self.name)
            .into_iter()
            .collect();
        if self.cut > 0 {
            remarks.push(format!(
                "`{}` lost {} frames longer than 64 KiB",
                self.name, self.cut
            ));
        }
        remarks
    }
}
