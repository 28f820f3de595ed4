//! Devices by AF_XDP: frames go between the driver and the pool's own slots.
//!
//! The pool's first block is the memory that the kernel writes frames to and reads them from, so a
//! frame that comes is a packet without a copy of ours (the kernel copies, unless the driver does
//! zero-copy), and one that goes is read from where it lies. Slots that the kernel has are lent;
//! what it is done with comes back.
//!
//! A program of five instructions gives the frames of one queue to the socket and the rest to the
//! kernel's stack. Needs the right to load it, which no user namespace gives. A device that only
//! sends has no program, and leaves all that comes to the kernel.

use crate::afpacket;
use crate::bpf::{Attachment, Code, Map, MapKind, Place, Program, Size, verdict};
use crate::clock;
use crate::error::{Error, Result};
use crate::ethtool::Ethtool;
use crate::sys;
use crate::xsk::Queue;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::{Block, HEADROOM, Handle, Pool, SLOT_BYTES};
use trammel_packet::timestamp::Timestamp;

/// Addresses of frames: the slot's in the low 48 bits, where in the slot in the others.
const ADDRESS_BITS: u32 = 48;
/// `setsockopt` of Linux 6.17: frames that one call sends at most.
const XDP_MAX_TX_SKB_BUDGET: libc::c_int = 9;
/// Linux lets go of a queue some time after the socket that had it was closed.
const RELEASE_NS: i64 = 500_000_000;
/// How often nothing comes before the socket is asked whether its interface is still there.
const EMPTY_PER_CHECK: u32 = 16;

/// How to open a device.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether frames come at all.
    pub receives: bool,
    /// The port of UDP to which alone frames come; the rest stays with the kernel.
    pub udp_port: Option<u16>,
    /// The receive queue whose frames come.
    pub queue: u32,
    /// Entries of each ring, a power of two; so many slots of the pool wait for frames.
    pub ring: u32,
    /// Where the program runs; `None` tries the driver first.
    pub place: Option<Place>,
    /// Whether frames to other hosts come too.
    pub is_promiscuous: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            receives: true,
            udp_port: None,
            queue: 0,
            // 1 ms at a million frames a second.
            ring: 1024,
            place: None,
            is_promiscuous: true,
        }
    }
}

/// One queue of an interface, by AF_XDP.
#[derive(Debug)]
pub struct AfXdp {
    name: String,
    mac: Option<[u8; 6]>,
    // The order of these is that of their end: the program, the socket, the memory.
    attachment: Option<Attachment>,
    _sockets: Option<Map>,
    _promiscuous: Option<OwnedFd>,
    receive: Queue<libc::xdp_desc>,
    send: Queue<libc::xdp_desc>,
    fill: Queue<u64>,
    done: Queue<u64>,
    socket: Option<OwnedFd>,
    memory: Arc<Block>,
    /// Which slots the kernel has.
    lent: Vec<bool>,
    /// Slots that the kernel should have to receive into and has not.
    lacking: u32,
    empty: u32,
    received: u64,
    /// Frames given to the kernel to send.
    submitted: u64,
    errors: u64,
    remarks: Vec<String>,
}

impl AfXdp {
    /// Opens a queue of interface `name` of the calling thread's namespace for packets of `pool`,
    /// whose first block should have four times as many slots as a ring has entries.
    pub fn open(name: &str, options: &Options, pool: &mut Pool) -> Result<AfXdp> {
        let index = sys::interface_index(name)?;
        if !options.ring.is_power_of_two() {
            return Err(Error::Invalid(format!(
                "a ring of {} entries: it has to be a power of two",
                options.ring
            )));
        }
        let memory = pool
            .first_block()
            .cloned()
            .ok_or_else(|| Error::Invalid("a pool without slots".to_owned()))?;
        let mut remarks = Vec::new();
        let socket = open_socket(name)?;
        // What is lacking most often is asked for first.
        let program = (options.receives)
            .then(|| program_of(options.queue, options.udp_port))
            .transpose()?;
        let (receive, send, fill, done) = make_rings(&socket, name, options.ring, &memory)?;
        let of = |what| Error::of(what, name, "CAP_NET_RAW");
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: libc::XDP_USE_NEED_WAKEUP,
            sxdp_ifindex: index,
            sxdp_queue_id: options.queue,
            sxdp_shared_umem_fd: 0,
        };
        let busy_until = clock::monotonic_ns() + RELEASE_NS;
        loop {
            match sys::bind(&socket, &address) {
                Err(error)
                    if error.raw_os_error() == Some(libc::EBUSY)
                        && clock::monotonic_ns() < busy_until =>
                {
                    clock::sleep_until(clock::monotonic_ns() + RELEASE_NS / 50);
                }
                bound => break bound.map_err(of("bind an AF_XDP socket"))?,
            }
        }
        let got: libc::xdp_options = sys::option(&socket, libc::SOL_XDP, libc::XDP_OPTIONS)
            .map_err(of("ask what AF_XDP does"))?;
        let zero_copy = if got.flags & libc::XDP_OPTIONS_ZEROCOPY != 0 {
            "without copies"
        } else {
            "by copies: the driver has no zero-copy"
        };
        // One call then sends a whole ring; an older kernel sends 32 frames a call, which costs
        // more calls.
        let _ = sys::set_option(&socket, libc::SOL_XDP, XDP_MAX_TX_SKB_BUDGET, &options.ring);

        let (mut attachment, mut where_it_is) = (None, "");
        if let Some((program, sockets)) = &program {
            sockets
                .set(options.queue, &socket.as_raw_fd().to_ne_bytes())
                .map_err(of("enter the socket in the map"))?;
            let (attached, place) = attach(program, name, index, options.place)?;
            attachment = Some(attached);
            where_it_is = match place {
                Place::Driver => " in the driver",
                Place::Generic => " behind the driver (generic XDP)",
            };
        }
        remarks.push(format!("`{name}`: AF_XDP{where_it_is}, {zero_copy}"));
        let promiscuous = (options.is_promiscuous && options.receives)
            .then(|| afpacket::promiscuous(name, index))
            .transpose()?;
        let ethtool = Ethtool::open()?;
        let queues = ethtool.receive_queues(name)?;
        if queues > 1 && options.receives {
            remarks.push(format!(
                "`{name}` has {queues} receive queues, of which only {} is read: `ethtool -L \
                 {name} combined 1`",
                options.queue
            ));
        }
        let driver = ethtool.driver(name);
        if options.receives
            && driver.is_ok_and(|driver| matches!(driver.as_str(), "veth" | "tun" | "virtio_net"))
        {
            remarks.push(format!(
                "AF_XDP cannot tell which frames of `{name}` lack their checksum; where its peer \
                 is this machine's own stack: `ethtool -K PEER tx off`"
            ));
        }
        let mut device = AfXdp {
            name: name.to_owned(),
            mac: ethtool.mac(name)?,
            attachment,
            _sockets: program.map(|(_, sockets)| sockets),
            _promiscuous: promiscuous,
            receive,
            send,
            fill,
            done,
            socket: Some(socket),
            lent: vec![false; memory.slots()],
            memory,
            lacking: if options.receives { options.ring } else { 0 },
            empty: 0,
            received: 0,
            submitted: 0,
            errors: 0,
            remarks,
        };
        device.refill(pool);
        Ok(device)
    }

    /// Lends the kernel slots to receive into, as many as it lacks and the pool has.
    #[inline]
    fn refill(&mut self, pool: &mut Pool) {
        let count = self.fill.room(self.lacking);
        let mut given = 0;
        while given < count {
            let Some(packet) = alloc_to_lend(pool) else {
                break;
            };
            let slot = match pool.lend(packet) {
                Ok(slot) => slot,
                Err(packet) => {
                    pool.free(packet);
                    break;
                }
            };
            self.lent[slot as usize] = true;
            self.fill.write(u64::from(slot) * SLOT_BYTES as u64);
            given += 1;
        }
        if given > 0 {
            self.lacking -= given;
            self.fill.publish();
        }
    }

    /// Takes back the slots whose frames are sent.
    #[inline]
    fn reap(&mut self, pool: &mut Pool) {
        let count = self.done.available(u32::MAX);
        if count == 0 {
            return;
        }
        for _ in 0..count {
            let (slot, _) = place(self.done.read());
            let packet = take_back(&mut self.lent, pool, slot, HEADROOM, 0);
            pool.free(packet);
        }
        self.done.release();
    }

    /// Refuses a pool that is not the one whose memory the kernel has.
    #[inline]
    fn check(&self, pool: &Pool) -> io::Result<()> {
        match pool.first_block() {
            Some(block) if Arc::ptr_eq(block, &self.memory) => Ok(()),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("`{}` was opened for the packets of another pool", self.name),
            )),
        }
    }

    /// Has the kernel send what it was given.
    fn call(&self) -> io::Result<()> {
        let Some(socket) = &self.socket else {
            return Ok(());
        };
        loop {
            let before = self.send.consumed();
            // SAFETY: no data and no address.
            let sent = unsafe {
                libc::sendto(
                    socket.as_raw_fd(),
                    std::ptr::null(),
                    0,
                    libc::MSG_DONTWAIT,
                    std::ptr::null(),
                    0,
                )
            };
            if let Err(error) = sys::check_size(sent) {
                match error.raw_os_error() {
                    // Some went, or the interface has no room or is down: the rest stays in the
                    // ring.
                    Some(
                        libc::EAGAIN | libc::EBUSY | libc::ENOBUFS | libc::EINTR | libc::ENETDOWN,
                    ) => {}
                    _ => return Err(self.gone().unwrap_or(error)),
                }
            }
            if self.send.is_drained() || self.send.consumed() == before {
                return Ok(());
            }
        }
    }

    /// The error where the interface is gone; one that is down may come up again.
    #[cold]
    fn gone(&self) -> Option<io::Error> {
        let socket = self.socket.as_ref()?;
        sys::pending_error(socket)?;
        // The socket of an interface that is gone is no longer bound: it has no statistics of its
        // queue, but the error is the same as for one that is down; the name tells them apart.
        let error = Error::NoInterface {
            name: self.name.clone(),
        };
        is_unbound(socket).then(|| error.into())
    }
}

fn is_unbound(socket: &OwnedFd) -> bool {
    // SAFETY: no data and no address. A socket that is not bound says ENXIO.
    let sent = unsafe {
        libc::sendto(
            socket.as_raw_fd(),
            std::ptr::null(),
            0,
            libc::MSG_DONTWAIT,
            std::ptr::null(),
            0,
        )
    };
    matches!(sys::check_size(sent), Err(error) if error.raw_os_error() == Some(libc::ENXIO))
}

/// A packet of a slot that the kernel had by this device, and no longer has; `pool` is the one that
/// it was lent by.
#[inline]
fn take_back(lent: &mut [bool], pool: &mut Pool, slot: usize, offset: usize, len: usize) -> Handle {
    assert!(
        std::mem::take(&mut lent[slot]),
        "the kernel gave back slot {slot}, which it did not have"
    );
    // SAFETY: a slot that is in a ring of ours, or whose socket is closed, the kernel writes to no
    // more.
    unsafe { pool.reclaim(slot as u32, offset, len) }
}

/// A slot's number and where in it, from an address of the kernel's.
#[inline]
fn place(address: u64) -> (usize, usize) {
    let base = address & ((1 << ADDRESS_BITS) - 1);
    let at = base + (address >> ADDRESS_BITS);
    let slot = base as usize / SLOT_BYTES;
    (slot, at as usize - slot * SLOT_BYTES)
}

/// An empty packet that can be lent. A pool that has grown may have others first; they go back.
#[inline]
fn alloc_to_lend(pool: &mut Pool) -> Option<Handle> {
    let packet = pool.alloc()?;
    let slots = pool.first_block().map_or(0, |block| block.slots());
    if (packet.slot() as usize) < slots {
        return Some(packet);
    }
    let mut others = vec![packet];
    let found = loop {
        match pool.alloc() {
            Some(packet) if (packet.slot() as usize) < slots => break Some(packet),
            // Beyond what a pool can hold of others there is none in the first block.
            Some(packet) if others.len() < slots => others.push(packet),
            Some(packet) => {
                pool.free(packet);
                break None;
            }
            None => break None,
        }
    };
    for packet in others {
        pool.free(packet);
    }
    found
}

/// The program that gives the frames of a queue to the socket in its map, and the map.
fn program_of(queue: u32, udp_port: Option<u16>) -> Result<(Program, Map)> {
    let sockets = Map::new(MapKind::Sockets, 4, queue + 1)?;
    let before = udp_port.map_or(Code::default(), only_udp_to);
    // r2 = the frame's queue; redirect(sockets, r2, what to do where there is no socket)
    let code = before
        .load(Size::Word, 2, 1, 16)
        .map(1, &sockets)
        .set(3, verdict::PASS)
        .redirect()
        .exit();
    // The verifier refuses instructions that nothing leads to.
    let code = match udp_port {
        Some(_) => code.set(0, verdict::PASS).exit(),
        None => code,
    };
    Ok((Program::load(&code)?, sockets))
}

/// Skips the six places of the redirection after these, unless the frame in `r1` is a whole
/// datagram of UDP to `port` in IPv4 without options or IPv6 without extension headers.
fn only_udp_to(port: u16) -> Code {
    let word = |bytes: [u8; 2]| i32::from(u16::from_ne_bytes(bytes));
    // Instructions from the one behind place `at` to those that let the frame pass.
    let out = |at: i16| 29 - at;
    Code::default()
        // r2 = its first byte, r3 = behind its last
        .load(Size::Word, 2, 1, 0)
        .load(Size::Word, 3, 1, 4)
        .copy(4, 2)
        .increase(4, 42)
        .skip_if_greater(4, 3, out(4))
        .load(Size::Half, 5, 2, 12)
        .skip_unless(5, word([0x08, 0x00]), 9)
        .load(Size::Byte, 5, 2, 14)
        .skip_unless(5, 0x45, out(8))
        .load(Size::Byte, 5, 2, 23)
        .skip_unless(5, libc::IPPROTO_UDP, out(10))
        // more fragments, and the offset
        .load(Size::Half, 5, 2, 20)
        .mask(5, word([0x3f, 0xff]))
        .skip_unless(5, 0, out(13))
        .load(Size::Half, 5, 2, 36)
        .skip(7)
        .skip_unless(5, word([0x86, 0xdd]), out(16))
        .copy(4, 2)
        .increase(4, 62)
        .skip_if_greater(4, 3, out(19))
        .load(Size::Byte, 5, 2, 20)
        .skip_unless(5, libc::IPPROTO_UDP, out(21))
        .load(Size::Half, 5, 2, 56)
        .skip_unless(5, word(port.to_be_bytes()), out(23))
}

fn open_socket(name: &str) -> Result<OwnedFd> {
    match sys::socket(libc::AF_XDP, libc::SOCK_RAW, 0) {
        Ok(socket) => Ok(socket),
        Err(error) if error.raw_os_error() == Some(libc::EAFNOSUPPORT) => Err(Error::Unsupported {
            what: "AF_XDP".to_owned(),
            mend: "use METHOD afpacket, or a kernel with CONFIG_XDP_SOCKETS=y".to_owned(),
        }),
        Err(error) => Err(Error::from_kernel(
            "open an AF_XDP socket",
            name,
            "CAP_NET_RAW, and CAP_BPF in the initial user namespace",
            error,
        )),
    }
}

type Rings = (
    Queue<libc::xdp_desc>,
    Queue<libc::xdp_desc>,
    Queue<u64>,
    Queue<u64>,
);

/// Registers the memory and makes the rings: to receive, to send, of free slots, of slots sent.
fn make_rings(socket: &OwnedFd, name: &str, size: u32, memory: &Block) -> Result<Rings> {
    let of = |what| Error::of(what, name, "CAP_NET_RAW");
    let registration = libc::xdp_umem_reg {
        addr: memory.address().as_ptr() as u64,
        len: memory.bytes() as u64,
        chunk_size: SLOT_BYTES as u32,
        headroom: 0,
        flags: libc::XDP_UMEM_UNALIGNED_CHUNK_FLAG,
        tx_metadata_len: 0,
    };
    match sys::set_option(socket, libc::SOL_XDP, libc::XDP_UMEM_REG, &registration) {
        Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => {
            return Err(Error::Limit {
                what: format!(
                    "lock {} KiB of memory for the packets of `{name}`",
                    memory.bytes() >> 10
                ),
                mend: "ulimit -l unlimited".to_owned(),
            });
        }
        other => other.map_err(of("share the packets' memory with the kernel"))?,
    }
    let rings = [
        libc::XDP_UMEM_FILL_RING,
        libc::XDP_UMEM_COMPLETION_RING,
        libc::XDP_RX_RING,
        libc::XDP_TX_RING,
    ];
    for ring in rings {
        sys::set_option(socket, libc::SOL_XDP, ring, &size).map_err(of("make a ring of AF_XDP"))?;
    }
    let at: libc::xdp_mmap_offsets = sys::option(socket, libc::SOL_XDP, libc::XDP_MMAP_OFFSETS)
        .map_err(of("ask for the rings' layout"))?;
    let map = || -> io::Result<Rings> {
        Ok((
            Queue::map(socket, size, libc::XDP_PGOFF_RX_RING, &at.rx)?,
            Queue::map(socket, size, libc::XDP_PGOFF_TX_RING, &at.tx)?,
            Queue::map(socket, size, libc::XDP_UMEM_PGOFF_FILL_RING as i64, &at.fr)?,
            Queue::map(
                socket,
                size,
                libc::XDP_UMEM_PGOFF_COMPLETION_RING as i64,
                &at.cr,
            )?,
        ))
    };
    map().map_err(of("map the rings of AF_XDP"))
}

/// Attaches the program where it was asked for, else where the interface can have it.
fn attach(
    program: &Program,
    name: &str,
    index: u32,
    wish: Option<Place>,
) -> Result<(Attachment, Place)> {
    if let Some(place) = wish {
        return Ok((program.attach(name, index, place)?, place));
    }
    match program.attach(name, index, Place::Driver) {
        Ok(attachment) => Ok((attachment, Place::Driver)),
        Err(Error::Kernel { .. }) => {
            let attachment = program.attach(name, index, Place::Generic)?;
            Ok((attachment, Place::Generic))
        }
        Err(other) => Err(other),
    }
}

impl Device for AfXdp {
    fn name(&self) -> &str {
        &self.name
    }

    fn mac(&self) -> Option<[u8; 6]> {
        self.mac
    }

    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> io::Result<usize> {
        self.check(pool)?;
        let count = self.receive.available(into.room() as u32);
        if count == 0 {
            self.empty += 1;
            self.reap(pool);
            self.refill(pool);
            if self.empty.is_multiple_of(EMPTY_PER_CHECK)
                && let Some(error) = self.gone()
            {
                return Err(error);
            }
            return Ok(0);
        }
        self.empty = 0;
        // Without a driver's help there is no time of arrival; that of reading is the same for the
        // batch.
        let now = Timestamp(clock::wall_ns());
        for _ in 0..count {
            let frame = self.receive.read();
            let (slot, offset) = place(frame.addr);
            let packet = take_back(&mut self.lent, pool, slot, offset, frame.len as usize);
            pool[&packet].set_timestamp(now);
            into.push(packet);
        }
        self.receive.release();
        self.lacking += count;
        self.received += u64::from(count);
        self.refill(pool);
        if self.fill.wants_call() {
            // A driver that does zero-copy sleeps while it has no slots; any call on the socket
            // wakes it.
            clock::wait(&[self.descriptor().unwrap_or(-1)], Some(0))?;
        }
        Ok(count as usize)
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        self.check(pool)?;
        self.reap(pool);
        let count = self.send.room(from.len() as u32);
        let (send, lent, errors) = (&mut self.send, &mut self.lent, &mut self.errors);
        from.drain_front(count as usize, |packet| {
            let Some((slot, offset, len)) = lend(pool, packet) else {
                *errors += 1;
                return;
            };
            lent[slot as usize] = true;
            let addr = u64::from(slot) * SLOT_BYTES as u64 + offset as u64;
            send.write(libc::xdp_desc {
                addr,
                len: len as u32,
                options: 0,
            });
            self.submitted += 1;
        });
        Ok(count as usize)
    }

    fn flush(&mut self, pool: &mut Pool) -> io::Result<()> {
        self.check(pool)?;
        self.send.publish();
        if !self.send.is_drained() && self.send.wants_call() {
            self.call()?;
        }
        self.reap(pool);
        Ok(())
    }

    fn unsent(&self) -> usize {
        self.send.waiting() as usize
    }

    fn descriptor(&self) -> Option<i32> {
        self.socket.as_ref().map(AsRawFd::as_raw_fd)
    }

    fn close(&mut self, pool: &mut Pool) {
        // Once the socket is closed the kernel touches no slot any more.
        self.attachment = None;
        self.socket = None;
        if self.check(pool).is_err() {
            return;
        }
        for slot in 0..self.lent.len() {
            if self.lent[slot] {
                let packet = take_back(&mut self.lent, pool, slot, HEADROOM, 0);
                pool.free(packet);
            }
        }
    }

    fn counters(&self) -> DeviceCounters {
        let statistics = self.socket.as_ref().and_then(|socket| {
            sys::option::<libc::xdp_statistics>(socket, libc::SOL_XDP, libc::XDP_STATISTICS).ok()
        });
        let (receive_drops, invalid) = statistics.map_or((0, 0), |statistics| {
            (
                statistics.rx_dropped + statistics.rx_ring_full,
                statistics.tx_invalid_descs,
            )
        });
        let waiting = self.send.waiting();
        DeviceCounters {
            received: self.received,
            sent: self.submitted.saturating_sub(u64::from(waiting) + invalid),
            receive_drops,
            send_errors: self.errors + invalid,
        }
    }

    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }
}

/// Lends a packet's slot, or that of a copy where it lies elsewhere: the slot, where in it, how
/// long. What is longer than a slot cannot be sent.
#[inline]
fn lend(pool: &mut Pool, packet: Handle) -> Option<(u32, usize, usize)> {
    let (offset, len) = (pool[&packet].offset(), pool[&packet].len());
    let packet = match pool.lend(packet) {
        Ok(slot) => return Some((slot, offset, len)),
        Err(packet) => packet,
    };
    let copy = if len <= SLOT_BYTES - HEADROOM {
        alloc_to_lend(pool)
    } else {
        None
    };
    let lent = copy.and_then(|copy| {
        let data = pool[&packet].data().to_vec();
        pool[&copy].set_data(&data);
        pool.lend(copy).ok()
    });
    pool.free(packet);
    Some((lent?, HEADROOM, len))
}
