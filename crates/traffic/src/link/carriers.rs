//! What moves a stream's bytes: as many of TCP as get through or at a rate, and datagrams of UDP at theirs.

use super::counts::{Counts, Told};
use super::{Wish, nanos};
use crate::pace::{Pace, Wait};
use crate::record::Protocol;
use crate::send::udp::{Mechanism, Udp};
use crate::send::{self, Lane};
use crate::stamp::Stamp;
use crate::stream::{self, Departure, Late, Limits, Meter, Plan, Source};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trammel_core::rng::Rng;
use trammel_core::time::Time;
use trammel_io::clock::{Waiter, monotonic_ns, wall_ns};
use trammel_io::datagrams::{self, Options, Receiver};
use trammel_io::tcp;

/// Bytes that are written or read at a time, at most.
const BLOCK_BYTES: usize = 128 << 10;
/// A paced sender writes so often a second, as far as its rate has bytes for it.
const WRITES_A_SECOND: u64 = 1000;
/// Who is later than that does not catch up.
const CATCH_UP_NS: i64 = 100_000_000;
/// So often is looked whether to stop.
const SLICE: Duration = Duration::from_millis(20);
/// Datagrams that one call takes at most, and what is kept of each: several that come as one are as long as one may be.
const BATCH: usize = 16;
const KEPT_BYTES: usize = 65_536;
/// What waits in the kernel, at most.
const BUFFER_BYTES: usize = 8 << 20;

/// What carries a stream.
#[derive(Debug)]
pub(super) enum Carrier {
    Tcp(TcpStream),
    Udp(UdpSocket),
}

/// A stream at this end.
#[derive(Debug)]
pub(super) struct Stream {
    /// Its number, the same at both ends.
    pub(super) number: u16,
    /// Whether this end sends it.
    pub(super) is_out: bool,
    pub(super) carrier: Carrier,
    pub(super) counts: Counts,
}

impl Stream {
    /// This end and the other, as far as the system knows.
    pub(super) fn ends(&self) -> (Option<SocketAddr>, Option<SocketAddr>) {
        match &self.carrier {
            Carrier::Tcp(one) => (one.local_addr().ok(), one.peer_addr().ok()),
            Carrier::Udp(one) => (one.local_addr().ok(), one.peer_addr().ok()),
        }
    }

    /// What the kernel tells of its connection, beside what is counted.
    pub(super) fn add_kernels(&self, told: &mut Told) {
        let Carrier::Tcp(socket) = &self.carrier else {
            return;
        };
        let Ok(info) = tcp::info(socket) else {
            return;
        };
        told.pmtu = info.pmtu.into();
        if self.is_out {
            told.retransmitted = info.total_retrans.into();
            told.cwnd_bytes = u64::from(info.snd_cwnd) * u64::from(info.snd_mss);
            told.window_bytes = info.snd_wnd.into();
            told.rtt_us = info.rtt.into();
            told.rttvar_us = info.rttvar.into();
            told.min_rtt_us = info.min_rtt.into();
        }
    }

    /// Moves its bytes until `over`; of UDP, takes in what comes until `settled`.
    pub(super) fn run(&self, wish: &Wish, over: &AtomicBool, settled: &AtomicBool) {
        let done = match (&self.carrier, self.is_out) {
            (Carrier::Tcp(socket), true) => self.write(socket, wish.rate_bps, over),
            (Carrier::Tcp(socket), false) => self.read(socket, over),
            (Carrier::Udp(socket), true) => self.send(socket, wish, over),
            (Carrier::Udp(socket), false) => self.receive(socket, wish, settled),
        };
        // That it ended at its end is no fault; nor what the other end did after it.
        if done.is_err() && !over.load(Ordering::Relaxed) {
            self.counts.breaks();
        }
    }

    fn write(&self, mut socket: &TcpStream, rate_bps: u64, over: &AtomicBool) -> io::Result<()> {
        socket.set_nodelay(true)?;
        socket.set_write_timeout(Some(SLICE))?;
        let bytes = block();
        let at_once = match rate_bps / 8 / WRITES_A_SECOND {
            0 if rate_bps == 0 => bytes.len(),
            piece => (piece as usize).clamp(64, bytes.len()),
        };
        let (mut pace, mut due_ns) = (Pace::new(Wait::Sleep), monotonic_ns());
        while !over.load(Ordering::Relaxed) {
            if rate_bps > 0 && pace.until(due_ns, over) < due_ns {
                break;
            }
            let count = match socket.write(&bytes[..at_once]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => count,
                Err(error) if passes(&error) => continue,
                Err(error) => return Err(error),
            };
            self.counts.add(0, count as u64);
            if rate_bps > 0 {
                let took = count as u128 * 8_000_000_000 / u128::from(rate_bps);
                let took = i64::try_from(took).unwrap_or(i64::MAX);
                due_ns = (due_ns.saturating_add(took)).max(monotonic_ns() - CATCH_UP_NS);
            }
        }
        Ok(())
    }

    fn read(&self, mut socket: &TcpStream, over: &AtomicBool) -> io::Result<()> {
        socket.set_read_timeout(Some(SLICE))?;
        let mut bytes = vec![0; BLOCK_BYTES];
        while !over.load(Ordering::Relaxed) {
            match socket.read(&mut bytes) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.counts.add(0, count as u64),
                Err(error) if passes(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn send(&self, socket: &UdpSocket, wish: &Wish, over: &AtomicBool) -> io::Result<()> {
        let stream = stream::Stream {
            name: String::new(),
            protocol: Protocol::Udp,
            source: Box::new(Steady {
                bytes: wish.datagram_bytes,
                rate_bps: wish.rate_bps,
            }),
            start: Time::ZERO,
            limits: Limits {
                duration: Some(Time::from_ns(nanos(wish.duration))),
                ..Limits::default()
            },
            seed: 1,
            meter: Meter::OneWay,
            late: Late::Burst,
            ds: None,
            ttl: None,
        };
        let carrier = Udp::new(socket.try_clone()?, &stream, Mechanism::Calls)?;
        let number = u32::from(self.number);
        let lane = Lane::new(&stream, number, Box::new(carrier), monotonic_ns());
        let mut lanes = [lane];
        send::send(&mut lanes, Wait::Sleep, over, &mut |record| {
            self.counts.add(1, record.bytes.into());
        });
        let [lane] = lanes;
        match lane.sent().fault {
            Some(why) => Err(io::Error::other(why)),
            None => Ok(()),
        }
    }

    fn receive(&self, socket: &UdpSocket, wish: &Wish, settled: &AtomicBool) -> io::Result<()> {
        let options = Options {
            tells: true,
            gathers: true,
            receive_bytes: Some(BUFFER_BYTES),
            ..Options::default()
        };
        datagrams::configure(socket, &options)?;
        let mut receiver = Receiver::new(BATCH, KEPT_BYTES);
        let mut waiter = Waiter::new();
        waiter.set(&[socket.as_raw_fd()]);
        let bytes = wish.datagram_bytes as usize;
        let mut came = Vec::new();
        while !settled.load(Ordering::Relaxed) {
            match receiver.receive(socket) {
                Ok(0) => {
                    waiter.wait(Some(SLICE.as_nanos() as i64))?;
                    continue;
                }
                Ok(_) => {}
                // Nobody is there any more: the channel tells.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => continue,
                Err(error) => return Err(error),
            }
            came.clear();
            for datagram in receiver.datagrams() {
                let time_ns = datagram.time_ns.unwrap_or_else(wall_ns);
                // A punch, or what is none of ours, has another length.
                let parts = datagram.data.chunks(datagram.segment.max(1));
                let stamps = parts.filter(|part| part.len() == bytes).map(Stamp::read);
                came.extend(
                    stamps
                        .flatten()
                        .filter(|stamp| stamp.flow == u32::from(self.number))
                        .map(|stamp| (stamp.sequence, stamp.sent_ns, time_ns)),
                );
            }
            self.counts.arrive(&came, u64::from(wish.datagram_bytes));
        }
        Ok(())
    }
}

/// Whether it was only time to look whether to stop.
fn passes(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// Bytes that a path which compresses makes nothing shorter of.
fn block() -> Vec<u8> {
    let mut rng = Rng::new(1, "bytes of a test");
    (0..BLOCK_BYTES).map(|_| rng.below(256) as u8).collect()
}

/// Datagrams of one size at one rate.
#[derive(Clone, Copy, Debug)]
struct Steady {
    bytes: u32,
    rate_bps: u64,
}

impl Source for Steady {
    fn plan(&self, _: u64) -> Plan {
        let picoseconds = u128::from(self.bytes) * 8 * 1_000_000_000_000;
        let (bytes, rate) = (self.bytes, u128::from(self.rate_bps.max(1)));
        Box::new((0_u128..).map(move |place| Departure {
            at: Time::from_ps(u64::try_from(place * picoseconds / rate).unwrap_or(u64::MAX)),
            bytes,
        }))
    }
}
