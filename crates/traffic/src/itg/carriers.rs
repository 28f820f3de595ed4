//! What carries packets to an ITGRecv, and what comes back from it.

use super::command::{Command, Metadata};
use super::flow::bounds;
use super::framing::Framing;
use super::icmp::Form;
use super::signalling::Head;
use super::stamps;
use crate::filler::Filler;
use crate::record::Protocol;
use crate::send::answers::{TcpAnswers, UdpAnswers};
use crate::send::icmp::Icmp;
use crate::send::tcp::{MOST_UNSENT_BYTES, SLICE, write};
use crate::send::udp::{self, Mechanism, Udp};
use crate::send::{Carrier, Packet};
use crate::stamp::STAMP_BYTES;
use crate::stream::Stream;
use std::io;
use std::net::{IpAddr, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;
use trammel_io::clock::wall_ns;
use trammel_io::local::Local;
use trammel_io::socket;
use trammel_io::tcp::limit_unsent;

/// Packets of TCP that are written at a time, at most.
const BATCH: usize = 64;

fn udp_head<const METADATA: u8>(packet: &Packet, bytes: &mut [u8; STAMP_BYTES]) {
    let kind = match METADATA {
        0 => Metadata::Full,
        1 => Metadata::Sequence,
        _ => Metadata::None,
    };
    stamps::head(&packet.stamp, packet.bytes).encode(bytes, kind, Protocol::Udp);
}

/// Datagrams by a connected socket.
///
/// # Errors
/// If the socket cannot be made as the stream wants it.
pub fn udp(
    socket: UdpSocket,
    command: &Command,
    stream: &Stream,
    filler: Filler,
) -> io::Result<Udp> {
    let head = udp::Head {
        write: match command.metadata {
            Metadata::Full => udp_head::<0>,
            Metadata::Sequence => udp_head::<1>,
            Metadata::None => udp_head::<2>,
        },
        least: bounds(command).0,
    };
    Ok(Udp::new(socket, stream, Mechanism::Calls)?.with(head, filler))
}

/// Answers to datagrams of `socket`.
///
/// # Errors
/// If the socket does not tell when they come.
pub fn udp_answers(socket: &UdpSocket) -> io::Result<UdpAnswers> {
    UdpAnswers::with(socket, STAMP_BYTES, |came| {
        let head = Head::decode(came.data, Metadata::Full, Protocol::Udp)?;
        let near_ns = came.time_ns.unwrap_or_else(wall_ns);
        Some((stamps::stamp(&head, near_ns), came.bytes))
    })
}

/// A connection.
#[derive(Debug)]
pub struct Tcp {
    stream: TcpStream,
    metadata: Metadata,
    bounds: (u32, u32),
    filler: Filler,
    bytes: Vec<u8>,
    until_ns: i64,
    unsent: usize,
}

impl Tcp {
    /// Carries packets by a connection that was just made.
    ///
    /// # Errors
    /// If it cannot be made as the command wants it.
    pub fn new(connection: TcpStream, command: &Command, filler: Filler) -> io::Result<Tcp> {
        connection.set_nodelay(command.is_without_nagle)?;
        connection.set_write_timeout(Some(SLICE))?;
        limit_unsent(&connection, MOST_UNSENT_BYTES)?;
        let is_ipv6 = connection.peer_addr()?.is_ipv6();
        socket::mark(connection.as_fd(), is_ipv6, command.ds, command.ttl)?;
        Ok(Tcp {
            stream: connection,
            metadata: command.metadata,
            bounds: bounds(command),
            filler,
            bytes: Vec::new(),
            until_ns: i64::MAX,
            unsent: 0,
        })
    }
}

impl Carrier for Tcp {
    fn most(&self) -> (usize, u32) {
        (BATCH, self.bounds.1)
    }

    fn least(&self) -> u32 {
        self.bounds.0
    }

    fn waits(&self) -> bool {
        true
    }

    fn end_at(&mut self, at_ns: i64) {
        self.until_ns = at_ns;
    }

    fn unsent(&self) -> usize {
        self.unsent
    }

    fn hand_over(&mut self, packets: &[Packet], stop: &AtomicBool) -> io::Result<u64> {
        self.bytes.clear();
        for packet in packets {
            let at = self.bytes.len();
            let end = at + packet.bytes as usize;
            let filler = self.filler.next(packet.bytes as usize);
            while self.bytes.len() < end {
                let more = (end - self.bytes.len()).min(filler.len());
                self.bytes.extend_from_slice(&filler[..more]);
            }
            let head = stamps::head(&packet.stamp, packet.bytes);
            head.encode(&mut self.bytes[at..end], self.metadata, Protocol::Tcp);
        }
        let until = (stop, self.until_ns);
        self.unsent = write(&mut self.stream, &self.bytes, packets, until)?;
        Ok(0)
    }
}

/// Answers to what `stream` sends as flow `flow`: each a head and as many bytes as it says.
///
/// # Errors
/// If the connection cannot be shared.
pub fn tcp_answers(stream: &TcpStream, flow: u32) -> io::Result<TcpAnswers> {
    let mut framing = Framing::default();
    let its = move |number| (number == flow).then_some(Metadata::Full);
    TcpAnswers::with(
        stream,
        Box::new(move |left, time_ns| {
            let head = framing.next(left, &its)?;
            Some((stamps::stamp(&head, time_ns), head.bytes.unwrap_or(0)))
        }),
    )
}

/// Messages of ICMP from `local` to `peer`.
///
/// # Errors
/// If the socket cannot be made as the stream wants it; it needs `CAP_NET_RAW`.
pub fn icmp(
    local: &Local<'_>,
    peer: IpAddr,
    (command, stream): (&Command, &Stream),
    filler: &Filler,
) -> io::Result<Icmp> {
    let form = Box::new(Form::new(command, peer.is_ipv6()));
    Ok(Icmp::open(local, peer, stream)?.with(form, filler))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::itg::flow;
    use crate::stamp::Stamp;
    use std::io::Read;
    use std::net::TcpListener;
    use std::time::Duration;

    const FILE: &[u8] = b"0000000 0000001 0000002 ";

    /// Three packets of `bytes` each, and their flow.
    fn flow(protocol: Protocol, metadata: Metadata, bytes: u32) -> (Command, Stream, [Packet; 3]) {
        let command = Command {
            protocol,
            metadata,
            ..Command::default()
        };
        let stream = flow::stream(&command, 1).expect("a flow");
        let packet = |sequence| Packet {
            stamp: Stamp {
                flow: 1,
                sequence,
                sent_ns: 0,
            },
            bytes,
        };
        (command, stream, [0, 1, 2].map(packet))
    }

    fn come_by_udp(metadata: Metadata, bytes: u32, content: &[u8]) -> Vec<Vec<u8>> {
        let (command, stream, packets) = flow(Protocol::Udp, metadata, bytes);
        let to = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
        to.set_read_timeout(Some(Duration::from_secs(60)))
            .expect("the time-out is above 0");
        let from = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
        from.connect(to.local_addr().expect("a bound socket has an address"))
            .expect("it is there");
        let filler = flow::filler(&command, Some(content.to_vec()), 1);
        let mut carrier = udp(from, &command, &stream, filler).expect("a carrier");
        let errors = carrier.hand_over(&packets, &AtomicBool::new(false));
        assert_eq!(errors.expect("they go"), 0);
        let came = packets.iter().map(|_| {
            let mut datagram = [0; 200];
            let count = to.recv(&mut datagram).expect("a packet arrives");
            datagram[..count].to_vec()
        });
        came.collect()
    }

    /// As ITGSend 2.8.1 sends it, by what was caught of `-Fp FILE` with `-p 0`, `1` and `2`, over
    /// UDP and TCP: the file begins behind the head, and goes on from packet to packet.
    #[test]
    fn a_file_of_payloads_begins_behind_the_head_and_goes_on() {
        for (metadata, head) in [
            (Metadata::Full, 16),
            (Metadata::Sequence, 8),
            (Metadata::None, 0),
        ] {
            let came = come_by_udp(metadata, head + 10, FILE);
            let parts: Vec<&[u8]> = came.iter().map(|one| &one[head as usize..]).collect();
            assert_eq!(
                parts,
                [&b"0000000 00"[..], b"00001 0000", b"002 \0\0\0\0\0\0"],
                "{metadata:?}"
            );
        }
        // An empty file is none: random bytes, the same in each.
        let came = come_by_udp(Metadata::Full, 60, b"");
        assert_eq!(came[0][16..], came[2][16..]);
        assert!(came[0][16..].iter().any(|byte| *byte != 0));

        let (command, _, packets) = flow(Protocol::Tcp, Metadata::Full, 30);
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let here = TcpStream::connect(
            listener
                .local_addr()
                .expect("a bound socket has an address"),
        );
        let (mut there, _) = listener.accept().expect("a client connects");
        let filler = flow::filler(&command, Some(FILE.to_vec()), 1);
        let mut carrier = Tcp::new(here.expect("it listens"), &command, filler).expect("a carrier");
        let done = carrier.hand_over(&packets, &AtomicBool::new(false));
        done.expect("they go");
        let mut came = [0; 90];
        there.read_exact(&mut came).expect("they come");
        assert_eq!(&came[20..30], b"0000000 00");
        assert_eq!(&came[50..60], b"00001 0000");
        assert_eq!(&came[80..90], b"002 \0\0\0\0\0\0");
    }
}
