//! What moves a stream's bytes: as many of TCP as get through or at a rate, and datagrams of UDP at
//! theirs.

use super::counts::Counts;
use crate::pace::{Pace, Wait};
use crate::record::Protocol;
use crate::send::udp::{Mechanism, Udp};
use crate::send::{self, Lane};
use crate::signal::link::Told;
use crate::signal::link::{Wish, nanos};
use crate::stamp::Stamp;
use crate::stream::{self, Departure, Late, Limits, Meter, Plan, Source};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_io::clock::{Waiter, monotonic_ns, wall_ns};
use trammel_io::datagrams::{self, Options, Receiver};
use trammel_io::{socket, tcp};

/// Bytes that are written or read at a time, at most.
const BLOCK_BYTES: usize = 128 << 10;
/// A paced sender writes so often a second, as far as its rate has bytes for it.
const WRITES_A_SECOND: u64 = 1000;
/// Who is later than that does not catch up.
const CATCH_UP_NS: i64 = 100_000_000;
/// So often is looked whether to stop.
const SLICE: Duration = Duration::from_millis(20);
/// So often is looked whether all that was written has been taken.
const TAKING: Duration = Duration::from_millis(1);
/// Datagrams that one call takes at most, and what is kept of each: several that come as one are as
/// long as one may be.
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

    /// Has its packets and those that answer them marked as `wish` says.
    pub(super) fn mark(&self, wish: &Wish) -> io::Result<()> {
        let (socket, address) = match &self.carrier {
            Carrier::Tcp(one) => (one.as_fd(), one.local_addr()?),
            Carrier::Udp(one) => (one.as_fd(), one.local_addr()?),
        };
        let ds = Some(wish.tos).filter(|tos| *tos > 0);
        socket::mark(socket, address.ip().to_canonical().is_ipv6(), ds, None)
    }

    /// Moves its bytes until the course is over; of UDP, takes in what comes until `settled`.
    pub(super) fn run(&self, wish: &Wish, course: &Course, settled: &AtomicBool) {
        let over = &course.over;
        let done = match (&self.carrier, self.is_out) {
            (Carrier::Tcp(socket), true) => self.write(socket, wish.rate_bps, course),
            (Carrier::Tcp(socket), false) => self.read(socket, over),
            (Carrier::Udp(socket), true) => self.send(socket, wish, over),
            (Carrier::Udp(socket), false) => self.receive(socket, wish, settled),
        };
        // That it ended at its end is no fault; nor what the other end did after it.
        if done.is_err() && !over.load(Ordering::Relaxed) {
            self.counts.breaks();
        }
        if self.is_out {
            course.sending.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn write(&self, mut socket: &TcpStream, rate_bps: u64, course: &Course) -> io::Result<()> {
        let over = &course.over;
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
            let most = course.take(at_once);
            if most == 0 {
                return taken(socket, over);
            }
            let wrote = socket.write(&bytes[..most]);
            course.give_back(most - wrote.as_ref().map_or(0, |count| *count));
            let count = match wrote {
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
                duration: Some(Span::from_ns(nanos(wish.whole()))),
                bytes: share(wish),
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

/// What the streams of an end have in common while they run.
#[derive(Debug)]
pub(super) struct Course {
    /// Its time is over.
    pub(super) over: AtomicBool,
    /// How many streams of this end have not sent all yet.
    pub(super) sending: AtomicUsize,
    /// Bytes that are to be sent still, where their number ends the test; what is sent before they
    /// count takes none of them.
    left: Option<AtomicU64>,
    counts: AtomicBool,
}

impl Course {
    pub(super) fn new(streams: &[Stream], wish: &Wish) -> Course {
        Course {
            over: AtomicBool::new(false),
            sending: AtomicUsize::new(streams.iter().filter(|one| one.is_out).count()),
            left: (wish.bytes > 0).then(|| AtomicU64::new(wish.bytes)),
            counts: AtomicBool::new(wish.omit.is_zero()),
        }
    }

    /// What is sent from now on counts.
    pub(super) fn begin(&self) {
        self.counts.store(true, Ordering::SeqCst);
    }

    fn left(&self) -> Option<&AtomicU64> {
        let counts = self.counts.load(Ordering::SeqCst);
        self.left.as_ref().filter(|_| counts)
    }

    /// How many of `bytes` may be sent now.
    fn take(&self, bytes: usize) -> usize {
        let Some(left) = self.left() else {
            return bytes;
        };
        let bytes = bytes as u64;
        let rest = |left: u64| Some(left.saturating_sub(bytes));
        let before = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, rest);
        before.unwrap_or(0).min(bytes) as usize
    }

    /// So many of what was taken were not sent.
    fn give_back(&self, bytes: usize) {
        if let Some(left) = self.left() {
            left.fetch_add(bytes as u64, Ordering::SeqCst);
        }
    }
}

/// Bytes of each stream of UDP, in whole datagrams, where their number ends the test.
fn share(wish: &Wish) -> Option<u64> {
    let each = wish.bytes.div_ceil(u64::from(wish.streams.max(1)));
    let before = u128::from(wish.rate_bps) * wish.omit.as_nanos() / 8_000_000_000;
    let before = u64::try_from(before).unwrap_or(u64::MAX);
    let datagram = u64::from(wish.datagram_bytes.max(1));
    (wish.bytes > 0).then(|| {
        let all = each.saturating_add(before);
        all.div_ceil(datagram).saturating_mul(datagram)
    })
}

/// Waits until the other end's kernel has all that was written.
fn taken(socket: &TcpStream, over: &AtomicBool) -> io::Result<()> {
    while !over.load(Ordering::Relaxed) {
        let info = tcp::info(socket)?;
        if info.unacked == 0 && info.notsent_bytes == 0 {
            break;
        }
        std::thread::sleep(TAKING);
    }
    Ok(())
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
