//! Packets as messages of ICMP and ICMPv6: echo requests of ours, or what another's form makes of
//! them.

use super::carrier::{Carrier, Packet};
use super::patience::Patience;
use crate::echo::{self, Echo, HEAD_BYTES, HEADER_BYTES};
use crate::filler::Filler;
use crate::stamp::STAMP_BYTES;
use crate::stream::{Meter, Stream};
use std::fmt;
use std::io;
use std::net::{IpAddr, UdpSocket};
use std::sync::atomic::AtomicBool;
use trammel_io::datagrams::{self, Outgoing, Sender};
use trammel_io::error::{Error, Result};
use trammel_io::icmp::{self, Takes};
use trammel_io::local::Local;

/// Messages a call, at most.
const BATCH: usize = 64;
/// The longest payload of a message in a packet of IPv4.
pub const MOST_BYTES: u32 = 65_507;
/// What the kernel holds of what is to be sent.
const BUFFER_BYTES: usize = 4 << 20;

/// How packets become messages.
pub trait Form: fmt::Debug + Send {
    /// Bytes of a message before its payload, at most [`HEAD_BYTES`].
    fn header_bytes(&self) -> usize;

    /// The least bytes of a payload.
    fn least(&self) -> u32;

    /// The first bytes of a packet's message, which goes on with those of `filler`.
    fn head(&self, packet: &Packet, filler: &[u8]) -> [u8; HEAD_BYTES];
}

/// Echo requests whose data are a stamp and zeroes.
#[derive(Debug)]
struct Requests {
    is_ipv6: bool,
}

impl Form for Requests {
    fn header_bytes(&self) -> usize {
        HEADER_BYTES
    }

    fn least(&self) -> u32 {
        STAMP_BYTES as u32
    }

    fn head(&self, packet: &Packet, _: &[u8]) -> [u8; HEAD_BYTES] {
        echo::request(&packet.stamp, self.is_ipv6)
    }
}

/// A raw socket that sends messages to one peer.
#[derive(Debug)]
pub struct Icmp {
    socket: UdpSocket,
    form: Box<dyn Form>,
    sender: Sender,
    filler: Filler,
    batch: Vec<Outgoing<HEAD_BYTES>>,
    patience: Patience,
}

impl Icmp {
    /// A socket from `local` to `peer`, made as `stream` wants it, for echo requests. Needs
    /// `CAP_NET_RAW`.
    pub fn open(local: &Local<'_>, peer: IpAddr, stream: &Stream) -> Result<Icmp> {
        // The peer's kernel answers in any case; what nobody measures need not be taken in.
        let takes = match stream.meter {
            Meter::RoundTrip => Takes::Only(Echo::Reply.kind(peer.is_ipv6())),
            Meter::OneWay => Takes::Nothing,
        };
        let socket = icmp::socket(local, takes)?;
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
            what: format!("cannot send messages of ICMP to {peer}"),
            source,
        })?;
        Ok(Icmp {
            socket,
            form: Box::new(Requests {
                is_ipv6: peer.is_ipv6(),
            }),
            sender: Sender::new(BATCH),
            filler: Filler::same(vec![0; HEADER_BYTES + MOST_BYTES as usize]),
            batch: Vec::with_capacity(BATCH),
            patience: Patience::default(),
        })
    }

    /// Messages are of `form`, and their payloads go on with the bytes of `filler`, which is as
    /// long as the longest.
    #[must_use]
    pub fn with(self, form: Box<dyn Form>, filler: &Filler) -> Icmp {
        Icmp {
            filler: filler.behind(form.header_bytes()),
            form,
            ..self
        }
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

    fn least(&self) -> u32 {
        self.form.least()
    }

    fn hand_over(&mut self, packets: &[Packet], _: &AtomicBool) -> io::Result<u64> {
        let mut errors = 0;
        for packets in packets.chunks(self.filler.at_once()) {
            errors += self.hand_over_alike(packets)?;
        }
        Ok(errors)
    }
}

impl Icmp {
    /// Hands packets over that share what they are filled with.
    fn hand_over_alike(&mut self, packets: &[Packet]) -> io::Result<u64> {
        let form = &self.form;
        let first = packets.first().map_or(0, |packet| packet.bytes);
        let filler = self.filler.next(form.header_bytes() + first as usize);
        self.batch.clear();
        self.batch.extend(packets.iter().map(|packet| Outgoing {
            head: form.head(packet, filler),
            bytes: form.header_bytes() + packet.bytes as usize,
        }));
        let (mut done, mut errors) = (0, 0);
        while done < self.batch.len() {
            let left = &self.batch[done..];
            match self.sender.send(&self.socket, left, filler) {
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
