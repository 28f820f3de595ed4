//! Packets as frames of Ethernet that go past the kernel's stack: by packet sockets, or by AF_XDP.
//!
//! They carry UDP in IP from the address and port of a socket that the carrier holds: nobody else
//! gets its port, and what is sent back comes to it. By which interface they leave and to which
//! Ethernet address is what the kernel's routes and neighbours say, as long as nothing else is
//! asked for.

use super::carrier::{Carrier, Packet};
use crate::frame::{Headers, Template};
use crate::stamp::STAMP_BYTES;
use crate::stream::Stream;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::afxdp::{self, AfXdp};
use trammel_io::clock::monotonic_ns;
use trammel_io::error::{Error, Result};
use trammel_io::route::{FirstHop, first_hop};
use trammel_io::socket;
use trammel_packet::batch::{CAPACITY, Packets};
use trammel_packet::device::Device;
use trammel_packet::headers::ether::Ether;
use trammel_packet::pool::{FRAME_BYTES, Pool};

/// Packets at a time, at most: two batches, of which one call sends both.
const BATCH: usize = 64;
/// Entries of a ring, of which a fourth is in use at most.
const RING: u32 = 256;
/// The time to live where none is asked for: Linux's own.
const TTL: u8 = 64;
/// So long may an interface take nothing before the stream ends.
const PATIENCE_NS: i64 = 1_000_000_000;

/// What frames are handed over by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Packet sockets: any interface, many frames a call.
    Packet,
    /// AF_XDP: frames lie where the kernel, or the device, reads them.
    Xdp,
}

/// How frames are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What they are handed over by.
    pub by: By,
    /// The number of the interface; none leaves it to the routes.
    pub interface: Option<u32>,
    /// The next hop's Ethernet address; none leaves it to the kernel's neighbours.
    pub to_mac: Option<[u8; 6]>,
}

/// An interface that sends frames of a flow.
#[derive(Debug)]
pub struct Frames {
    device: Box<dyn Device>,
    pool: Pool,
    batch: Packets,
    template: Template,
    most_bytes: u32,
    /// Errors that the device has told of.
    told: u64,
    socket: UdpSocket,
}

impl Frames {
    /// Frames to `to`, as `stream` and `options` want them. Needs `CAP_NET_RAW`.
    pub fn open(to: SocketAddr, stream: &Stream, options: &Options) -> Result<Frames> {
        let hop = first_hop(to.ip(), options.interface)?;
        let name = hop.link.name.clone();
        let (from_mac, to_mac) = macs(&hop, options.to_mac)?;
        let socket = held_port(to, options.interface.map(|_| name.as_str()))?;
        let from = socket.local_addr().map_err(unusable(to))?;
        let is_ipv6 = to.is_ipv6();
        let frame_bytes = Ether::LEN + hop.link.mtu as usize;
        let mut pool = Pool::new(4 * RING as usize, 4 * RING as usize);
        let (device, frame_bytes): (Box<dyn Device>, usize) = match options.by {
            By::Packet => {
                let only_sends = afpacket::Options {
                    ring_bytes: None,
                    ..afpacket::Options::default()
                };
                (Box::new(AfPacket::open(&name, &only_sends)?), frame_bytes)
            }
            By::Xdp => {
                let only_sends = afxdp::Options {
                    receives: false,
                    ring: RING,
                    ..afxdp::Options::default()
                };
                let device = AfXdp::open(&name, &only_sends, &mut pool)?;
                (Box::new(device), frame_bytes.min(FRAME_BYTES))
            }
        };
        let most = (frame_bytes.saturating_sub(Ether::LEN)).min(usize::from(u16::MAX));
        let most = most.saturating_sub(Template::overhead(is_ipv6));
        if most < STAMP_BYTES {
            let mtu = hop.link.mtu;
            return Err(Error::Invalid(format!(
                "`{name}` has an MTU of {mtu} bytes: too small for a timestamp"
            )));
        }
        let headers = Headers {
            from_mac,
            to_mac,
            from,
            to,
            ds: stream.ds.unwrap_or(0),
            ttl: stream.ttl.unwrap_or(TTL),
        };
        let template = Template::new(&headers, most);
        Ok(Frames {
            device,
            pool,
            batch: Packets::new(),
            template: template
                .expect("addresses of a connected socket, and a length that was bounded"),
            most_bytes: most as u32,
            told: 0,
            socket,
        })
    }

    /// The socket whose port packets come from, and which answers come to.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }

    /// Has the device send what it was given.
    fn push(&mut self, stop: &AtomicBool) -> io::Result<()> {
        let mut since = None;
        loop {
            let before = self.batch.len() + self.device.unsent();
            self.device.transmit(&mut self.pool, &mut self.batch)?;
            self.device.flush(&mut self.pool)?;
            let left = self.batch.len() + self.device.unsent();
            if left == 0 || stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if left < before {
                since = None;
                continue;
            }
            let now = monotonic_ns();
            if now - *since.get_or_insert(now) > PATIENCE_NS {
                let why = format!("`{}` takes no frames; is it up?", self.device.name());
                return Err(io::Error::new(ErrorKind::TimedOut, why));
            }
        }
    }
}

impl Carrier for Frames {
    fn most(&self) -> (usize, u32) {
        (BATCH, self.most_bytes)
    }

    fn hand_over(&mut self, packets: &[Packet], stop: &AtomicBool) -> io::Result<u64> {
        let mut errors = 0;
        for packets in packets.chunks(CAPACITY) {
            for packet in packets {
                if self.batch.is_full() {
                    errors += 1;
                    continue;
                }
                let frame = self.template.frame(&packet.stamp, packet.bytes as usize);
                match self.pool.alloc_with(frame) {
                    Some(frame) => self.batch.push(frame),
                    // All slots wait for an interface that takes none of them.
                    None => errors += 1,
                }
            }
            self.device.transmit(&mut self.pool, &mut self.batch)?;
        }
        self.push(stop)?;
        let told = self.device.counters().send_errors;
        errors += told - std::mem::replace(&mut self.told, told);
        Ok(errors)
    }
}

/// The Ethernet addresses that frames come from and go to.
fn macs(hop: &FirstHop, to_mac: Option<[u8; 6]>) -> Result<([u8; 6], [u8; 6])> {
    let name = &hop.link.name;
    let Some(from_mac) = hop.link.mac.filter(|mac| *mac != [0; 6]) else {
        return Err(Error::Invalid(format!(
            "`{name}` is not an Ethernet interface: send by calls, or by another interface"
        )));
    };
    let to_mac = to_mac.or(hop.mac).ok_or_else(|| {
        let next = hop.next;
        Error::Invalid(format!(
            "the Ethernet address of {next} at `{name}` is not known: `ping {next}` makes it \
             known, or give `--to-mac`"
        ))
    })?;
    Ok((from_mac, to_mac))
}

/// A socket that holds a port to send to `to` from, by one interface where one is asked for.
fn held_port(to: SocketAddr, interface: Option<&str>) -> Result<UdpSocket> {
    let any: IpAddr = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).map_err(unusable(to))?;
    if let Some(name) = interface {
        socket::only_by(socket.as_fd(), name)?;
    }
    socket.connect(to).map_err(unusable(to))?;
    Ok(socket)
}

fn unusable(to: SocketAddr) -> impl Fn(io::Error) -> Error {
    move |source| Error::Kernel {
        what: format!("{to} cannot be sent to"),
        source,
    }
}
