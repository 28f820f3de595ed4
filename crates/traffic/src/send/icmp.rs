//! Packets as echo requests of ICMP and ICMPv6.

use super::patience::Patience;
use super::{Carrier, Packet};
use crate::echo::{self, Echo, HEAD_BYTES, HEADER_BYTES};
use crate::stream::{Meter, Stream};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::sync::atomic::AtomicBool;
use trammel_io::datagrams::{self, Outgoing, Sender};
use trammel_io::error::{Error, Result};
use trammel_io::icmp;

/// Messages a call, at most.
const BATCH: usize = 64;
/// The longest payload of a message in a packet of IPv4.
pub const MOST_BYTES: u32 = 65_507;
/// What the kernel holds of what is to be sent.
const BUFFER_BYTES: usize = 4 << 20;

/// A raw socket that sends echo requests to one peer.
#[derive(Debug)]
pub struct Icmp {
    socket: UdpSocket,
    is_ipv6: bool,
    sender: Sender,
    filler: Vec<u8>,
    batch: Vec<Outgoing<HEAD_BYTES>>,
    patience: Patience,
}

impl Icmp {
    /// A socket to `peer`, made as `stream` wants it. Needs `CAP_NET_RAW`.
    pub fn open(peer: IpAddr, stream: &Stream) -> Result<Icmp> {
        let any: IpAddr = match peer {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        // The peer's kernel answers in any case; what nobody measures need not be taken in.
        let takes = (stream.meter == Meter::RoundTrip).then(|| Echo::Reply.kind(peer.is_ipv6()));
        let socket = icmp::socket(any, takes)?;
        let configured = socket.connect((peer, 0)).and_then(|()| {
            let options = datagrams::Options {
                send_bytes: Some(BUFFER_BYTES),
                ds: stream.ds,
                ttl: stream.ttl,
                ..datagrams::Options::default()
            };
            datagrams::configure(&socket, &options)
        });
        configured.map_err(|source| Error::Kernel {
            what: format!("cannot send echo requests to {peer}"),
            source,
        })?;
        Ok(Icmp {
            socket,
            is_ipv6: peer.is_ipv6(),
            sender: Sender::new(BATCH),
            filler: vec![0; HEADER_BYTES + MOST_BYTES as usize],
            batch: Vec::with_capacity(BATCH),
            patience: Patience::default(),
        })
    }

    /// Its socket, which replies come to where the round trip is measured.
    pub fn socket(&self) -> &UdpSocket {
        &self.socket
    }
}

impl Carrier for Icmp {
    fn most(&self) -> (usize, u32) {
        (BATCH, MOST_BYTES)
    }

    fn hand_over(&mut self, packets: &[Packet], _: &AtomicBool) -> io::Result<u64> {
        self.batch.clear();
        let is_ipv6 = self.is_ipv6;
        self.batch.extend(packets.iter().map(|packet| Outgoing {
            head: echo::request(&packet.stamp, is_ipv6),
            bytes: HEADER_BYTES + packet.bytes as usize,
        }));
        let (mut done, mut errors) = (0, 0);
        while done < self.batch.len() {
            let left = &self.batch[done..];
            match self.sender.send(&self.socket, left, &self.filler) {
                Ok(count) => {
                    done += count;
                    self.patience.restore();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    errors += 1;
                    done += self.patience.survive(error)?;
                }
            }
        }
        Ok(errors)
    }
}
