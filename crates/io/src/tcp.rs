//! Sockets of the kernel's TCP: what it tells of a connection (`TCP_INFO`), and ending one by a reset.
//!
//! Source: `tcp(7)`, `linux/tcp.h`.

use crate::sys;
use std::io;
use std::net::TcpStream;
use std::os::fd::AsRawFd;

/// What the kernel tells of a connection (`struct tcp_info`); what an older kernel does not know is 0.
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

// SAFETY: integers only, laid out without padding.
unsafe impl sys::Plain for TcpInfo {}
// SAFETY: integers.
unsafe impl sys::Plain for libc::linger {}

/// What the kernel tells of a connection.
pub fn info(socket: &impl AsRawFd) -> io::Result<TcpInfo> {
    sys::option(socket, libc::IPPROTO_TCP, libc::TCP_INFO)
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
