//! Sockets of the kernel's TCP, and what it tells of a connection (`TCP_INFO`).
//!
//! Source: `tcp(7)`, `linux/tcp.h`.

use crate::error::{Error, Result};
use crate::machine;
use crate::sys;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Bytes of the longest name of a congestion control.
const NAME_BYTES: usize = 16;

/// What the kernel tells of a connection (`struct tcp_info`); what an older kernel does not know
/// is 0.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct TcpInfo {
    /// As in `net/tcp_states.h`: 1 is established.
    pub state: u8,
    /// As `enum tcp_ca_state`: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub ca_state: u8,
    /// Timeouts in a row.
    pub retransmits: u8,
    /// Probes of a closed window in a row.
    pub probes: u8,
    /// Doublings of the timeout.
    pub backoff: u8,
    /// What was agreed: 1 timestamps, 2 SACK, 4 window scale, 8 ECN, 16 ECN seen.
    pub options: u8,
    /// Window scales: that of the peer in the lower half.
    pub scales: u8,
    /// Bit 0: the delivery rate is the application's.
    pub flags: u8,
    /// The retransmission timeout, us.
    pub rto: u32,
    /// The delayed ACK's timeout, us.
    pub ato: u32,
    /// Bytes of a segment that is sent.
    pub snd_mss: u32,
    /// Bytes of a segment that comes.
    pub rcv_mss: u32,
    /// Segments not acknowledged.
    pub unacked: u32,
    /// Of these, selectively acknowledged.
    pub sacked: u32,
    /// Of these, lost.
    pub lost: u32,
    /// Retransmissions on their way.
    pub retrans: u32,
    /// No longer used.
    pub fackets: u32,
    /// Times since, ms: data sent, ACK sent, data received, ACK received.
    pub last: [u32; 4],
    /// The path's MTU.
    pub pmtu: u32,
    /// Bytes that the window may grow to.
    pub rcv_ssthresh: u32,
    /// The smoothed round trip, us.
    pub rtt: u32,
    /// Its deviation, us.
    pub rttvar: u32,
    /// The slow-start threshold, segments.
    pub snd_ssthresh: u32,
    /// The congestion window, segments.
    pub snd_cwnd: u32,
    /// The MSS that was told.
    pub advmss: u32,
    /// By how many segments packets are out of order.
    pub reordering: u32,
    /// The receiver's estimate of the round trip, us.
    pub rcv_rtt: u32,
    /// Bytes that the application took in a round trip.
    pub rcv_space: u32,
    /// Segments that were retransmitted.
    pub total_retrans: u32,
    /// Bytes a second; all ones is no pacing.
    pub pacing_rate: u64,
    /// Its limit.
    pub max_pacing_rate: u64,
    /// Bytes acknowledged.
    pub bytes_acked: u64,
    /// Bytes received.
    pub bytes_received: u64,
    /// Segments sent.
    pub segs_out: u32,
    /// Segments received.
    pub segs_in: u32,
    /// Bytes written and not sent.
    pub notsent_bytes: u32,
    /// The least round trip of late, us.
    pub min_rtt: u32,
    /// Segments with data received.
    pub data_segs_in: u32,
    /// Segments with data sent, retransmissions included.
    pub data_segs_out: u32,
    /// Bytes a second as last delivered.
    pub delivery_rate: u64,
    /// Time with something to send, us.
    pub busy_time: u64,
    /// Of it, time limited by the receiver's window, us.
    pub rwnd_limited: u64,
    /// And by the send buffer, us.
    pub sndbuf_limited: u64,
    /// Segments delivered, retransmissions included.
    pub delivered: u32,
    /// Of these, marked by ECN.
    pub delivered_ce: u32,
    /// Bytes sent, retransmissions included.
    pub bytes_sent: u64,
    /// Bytes retransmitted.
    pub bytes_retrans: u64,
    /// Duplicates that the receiver told of.
    pub dsack_dups: u32,
    /// How often reordering was seen.
    pub reord_seen: u32,
    /// Segments that came out of order.
    pub rcv_ooopack: u32,
    /// The peer's window, bytes.
    pub snd_wnd: u32,
    /// The own one.
    pub rcv_wnd: u32,
    /// How often the path's hash was changed.
    pub rehash: u32,
    /// Timeouts.
    pub total_rto: u16,
    /// Recoveries from timeouts that are over.
    pub total_rto_recoveries: u16,
    /// Time in them, ms.
    pub total_rto_time: u32,
}

/// What BBR tells of its model (`struct tcp_bbr_info`); version 1 knows the first five fields
/// alone, and leaves 0 in the others.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct BbrInfo {
    /// The rate in use, bytes a second: its lower half.
    pub bw_low: u32,
    /// Its upper half.
    pub bw_high: u32,
    /// The smallest round trip, us.
    pub min_rtt: u32,
    /// Gains of 256.
    pub pacing_gain: u32,
    /// That of the window.
    pub cwnd_gain: u32,
    /// The long-term rate, bytes a second: its lower half.
    pub bw_hi_low: u32,
    /// Its upper half.
    pub bw_hi_high: u32,
    /// The short-term rate: its lower half.
    pub bw_lo_low: u32,
    /// Its upper half.
    pub bw_lo_high: u32,
    /// STARTUP, DRAIN, `PROBE_BW`, `PROBE_RTT`.
    pub mode: u8,
    /// As `enum tcp_bbr_phase`.
    pub phase: u8,
    /// Not used.
    pub unused: u8,
    /// Of the algorithm: 3, or 0 where it is not told.
    pub version: u8,
    /// The short-term bound on what is in flight, segments; all ones is none.
    pub inflight_lo: u32,
    /// The long-term bound.
    pub inflight_hi: u32,
    /// The most that ACKs ran ahead, segments.
    pub extra_acked: u32,
}

// SAFETY: integers only, laid out without padding.
unsafe impl sys::Plain for BbrInfo {}
// SAFETY: integers only, laid out without padding.
unsafe impl sys::Plain for TcpInfo {}
// SAFETY: bytes.
unsafe impl sys::Plain for [u8; NAME_BYTES] {}
// SAFETY: integers.
unsafe impl sys::Plain for libc::linger {}

/// What a socket is given before it connects or listens; nothing leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The congestion control.
    pub congestion: Option<String>,
    /// Bytes of the send buffer, as `SO_SNDBUF` takes them: the kernel doubles them.
    pub send_buffer: Option<i32>,
    /// And of the receive buffer.
    pub receive_buffer: Option<i32>,
    /// The longest segment, bytes.
    pub max_segment: Option<i32>,
    /// Small segments do not wait.
    pub no_delay: bool,
    /// Bytes a second that it is paced to at most; with any, it is paced.
    pub max_pacing_rate: Option<u64>,
    /// Bytes that have to be there before a reader is told; until then, the kernel acknowledges as
    /// if they were read.
    pub low_water: Option<i32>,
    /// The differentiated services codepoint of its packets (IPv4).
    pub dscp: u8,
}

impl Options {
    fn set(&self, socket: &OwnedFd) -> io::Result<()> {
        if let Some(name) = &self.congestion {
            set_congestion_of(socket, name)?;
        }
        let buffers = [
            (self.send_buffer, libc::SO_SNDBUFFORCE, libc::SO_SNDBUF),
            (self.receive_buffer, libc::SO_RCVBUFFORCE, libc::SO_RCVBUF),
        ];
        for (bytes, force, ask) in buffers {
            if let Some(bytes) = bytes {
                sys::set_option(socket, libc::SOL_SOCKET, force, &bytes)
                    .or_else(|_| sys::set_option(socket, libc::SOL_SOCKET, ask, &bytes))?;
            }
        }
        if let Some(bytes) = self.low_water {
            sys::set_option(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, &bytes)?;
        }
        if let Some(bytes) = self.max_segment {
            sys::set_option(socket, libc::IPPROTO_TCP, libc::TCP_MAXSEG, &bytes)?;
        }
        if self.dscp > 0 {
            let tos = i32::from(self.dscp) << 2;
            sys::set_option(socket, libc::IPPROTO_IP, libc::IP_TOS, &tos)?;
        }
        if self.no_delay {
            sys::set_option(socket, libc::IPPROTO_TCP, libc::TCP_NODELAY, &1)?;
        }
        if let Some(rate) = self.max_pacing_rate {
            sys::set_option(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &rate)?;
        }
        Ok(())
    }
}

fn set_congestion_of(socket: &OwnedFd, name: &str) -> io::Result<()> {
    let mut bytes = [0; NAME_BYTES];
    let name = name.as_bytes();
    let len = name.len().min(NAME_BYTES - 1);
    bytes[..len].copy_from_slice(&name[..len]);
    sys::set_option(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, &bytes)
}

/// Gives a connection another congestion control. The error names one that the kernel does not
/// have.
pub fn set_congestion(socket: &impl AsFd, name: &str) -> Result<()> {
    let owned = socket.as_fd().try_clone_to_owned();
    let set = owned.and_then(|owned| set_congestion_of(&owned, name));
    set.map_err(|source| Error::Kernel {
        what: match source.raw_os_error() {
            Some(libc::ENOENT) => format!("the kernel has no congestion control `{name}`"),
            _ => format!("congestion control `{name}` cannot be had"),
        },
        source,
    })
}

/// Has the kernel take no more than so many bytes that it has not sent yet, be its buffer as long
/// as it is (`TCP_NOTSENT_LOWAT`).
pub fn limit_unsent(socket: &impl AsFd, bytes: u32) -> io::Result<()> {
    let owned = socket.as_fd().try_clone_to_owned()?;
    let bytes = i32::try_from(bytes).unwrap_or(i32::MAX);
    sys::set_option(&owned, libc::IPPROTO_TCP, libc::TCP_NOTSENT_LOWAT, &bytes)
}

/// The name of a connection's congestion control.
pub fn congestion(socket: &impl AsFd) -> io::Result<String> {
    let name: [u8; NAME_BYTES] = sys::option(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION)?;
    let end = name.iter().position(|byte| *byte == 0);
    let name = &name[..end.unwrap_or(NAME_BYTES)];
    Ok(String::from_utf8_lossy(name).into_owned())
}

fn open(to: SocketAddr, options: &Options) -> io::Result<OwnedFd> {
    let family = if to.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    let socket = sys::socket(family, libc::SOCK_STREAM | libc::SOCK_NONBLOCK, 0)?;
    options.set(&socket)?;
    Ok(socket)
}

/// Begins to connect, and does not wait: the socket can be written to once it is connected. The
/// error names a congestion control that the kernel does not have.
pub fn connect(to: SocketAddr, options: &Options) -> Result<TcpStream> {
    let failed = failed(to, options);
    let socket = open(to, options).map_err(&failed)?;
    let address = sys::internet(to);
    // SAFETY: the pointer and the length are those of the address.
    let connected = unsafe {
        libc::connect(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of_val(&address) as libc::socklen_t,
        )
    };
    match sys::check(connected) {
        Ok(_) => Ok(socket.into()),
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(socket.into()),
        Err(error) => Err(failed(error)),
    }
}

/// A socket that listens, without waiting in `accept`.
pub fn listen(at: SocketAddr, backlog: i32, options: &Options) -> Result<std::net::TcpListener> {
    let failed = failed(at, options);
    let socket = open(at, options).map_err(&failed)?;
    sys::set_option(&socket, libc::SOL_SOCKET, libc::SO_REUSEADDR, &1).map_err(&failed)?;
    sys::bind(&socket, &sys::internet(at)).map_err(&failed)?;
    // SAFETY: no pointers.
    sys::check(unsafe { libc::listen(socket.as_raw_fd(), backlog) }).map_err(&failed)?;
    Ok(socket.into())
}

fn failed(at: SocketAddr, options: &Options) -> impl Fn(io::Error) -> Error {
    let congestion = options.congestion.clone();
    move |source| {
        let what = match (&congestion, source.raw_os_error()) {
            (Some(name), Some(libc::ENOENT)) => {
                format!("the kernel has no congestion control `{name}`")
            }
            _ => format!("no TCP socket at {at}"),
        };
        Error::Kernel { what, source }
    }
}

/// What the kernel tells of a connection.
pub fn info(socket: &impl AsFd) -> io::Result<TcpInfo> {
    sys::option(socket, libc::IPPROTO_TCP, libc::TCP_INFO)
}

/// What BBR tells of a connection that it controls.
pub fn bbr(socket: &impl AsFd) -> io::Result<BbrInfo> {
    sys::option(socket, libc::IPPROTO_TCP, libc::TCP_CC_INFO)
}

/// Throws away what has come, up to a gigabyte, without looking at it; 0 at the end of the stream.
pub fn discard(socket: &impl AsFd) -> io::Result<usize> {
    // SAFETY: with `MSG_TRUNC`, TCP writes nothing to where the null pointer says.
    let came = unsafe {
        libc::recv(
            socket.as_fd().as_raw_fd(),
            std::ptr::null_mut(),
            1 << 30,
            libc::MSG_TRUNC | libc::MSG_DONTWAIT,
        )
    };
    sys::check_size(came)
}

/// A file in memory whose pages are sent without being copied.
#[derive(Debug)]
pub struct Pages {
    file: OwnedFd,
    bytes: usize,
}

impl Pages {
    /// `bytes` of zeroes.
    pub fn new(bytes: usize) -> io::Result<Pages> {
        let file = machine::in_memory("payload", &vec![0; bytes])?;
        Ok(Pages { file, bytes })
    }

    /// Sends up to `most` of them; says how many the socket took.
    pub fn send(&self, socket: &impl AsFd, most: u64) -> io::Result<usize> {
        let (mut offset, most) = (
            0,
            self.bytes.min(usize::try_from(most).unwrap_or(usize::MAX)),
        );
        // SAFETY: the pointer is to an offset of ours.
        let sent = unsafe {
            libc::sendfile(
                socket.as_fd().as_raw_fd(),
                self.file.as_raw_fd(),
                &raw mut offset,
                most,
            )
        };
        sys::check_size(sent)
    }
}

/// Closes a connection by a reset: what is written and not sent never is.
pub fn abort(socket: TcpStream) -> io::Result<()> {
    let at_once = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    sys::set_option(&socket, libc::SOL_SOCKET, libc::SO_LINGER, &at_once)?;
    drop(socket);
    Ok(())
}
