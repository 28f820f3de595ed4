//! One end of a TCP connection, without I/O (RFC 9293).
//!
//! The caller moves segments and time: [`Connection::on_segment`] takes one in, [`Connection::on_timer`]
//! is due at [`Connection::next_timer`], and after either of them, or after a call of the application's,
//! [`Connection::poll_transmit`] is asked until it has nothing more to send. Payload is counted, not
//! carried.
//!
//! | file | concern |
//! | --- | --- |
//! | `handshake` | opening and closing, resets, the state machine |
//! | `ack` | what an ACK acknowledges: SACK blocks, RTT, delivery rate |
//! | `recovery` | Open, Disorder, CWR, Recovery, Loss; undo; window reduction |
//! | `loss` | which segments are lost: RACK, FACK, duplicate ACKs |
//! | `burst` | super-segments: when segmentation offload waits for more |
//! | `send_buffer` | how much of what is written the socket takes, and when it asks for more |
//! | `transmit` | what to send next: retransmissions, new data, probes, ACKs |
//! | `timeout` | retransmission, tail loss probe, reordering and persist timers |
//! | `rtt` | round-trip time and timeout |
//! | `info` | what a connection tells of itself |

mod ack;
mod burst;
#[cfg(debug_assertions)]
mod check;
mod handshake;
mod info;
mod loss;
mod recovery;
mod rtt;
mod send_buffer;
mod timeout;
mod transmit;

use crate::cc::{CongestionControl, RateSample, Tp};
use crate::receiver::Receiver;
use crate::scoreboard::Scoreboard;
use crate::segment::{SackBlock, Segment};
use crate::stack::Stack;
use crate::windowed::Windowed;
pub use info::Info;
use loss::Rack;
use rtt::Rtt;
use send_buffer::SendBuffer;
use timeout::Pending;
use trammel_core::rng::Rng;
use trammel_core::time::Time;

/// The states of RFC 9293 §3.3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// A SYN was sent.
    SynSent,
    /// A SYN was received and answered.
    SynReceived,
    /// Data flows.
    Established,
    /// Our FIN was sent.
    FinWait1,
    /// Our FIN was acknowledged.
    FinWait2,
    /// The peer's FIN came first.
    CloseWait,
    /// Both FINs crossed.
    Closing,
    /// Our FIN follows the peer's.
    LastAck,
    /// Waiting for stray segments to die.
    TimeWait,
}

/// Why a connection ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The peer reset it.
    #[error("connection reset by peer")]
    Reset,
    /// The peer refused it.
    #[error("connection refused")]
    Refused,
    /// Retransmissions went unanswered.
    #[error("connection timed out")]
    TimedOut,
}

/// Counters of one connection, from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Segments with payload sent, retransmissions included.
    pub data_segments_sent: u64,
    /// Payload bytes sent for the first time.
    pub bytes_sent: u64,
    /// Segments retransmitted, SYNs and FINs among them.
    pub retransmissions: u64,
    /// Payload bytes retransmitted.
    pub bytes_retransmitted: u64,
    /// Retransmission timeouts, those of the handshake among them.
    pub timeouts: u64,
    /// Fast recoveries.
    pub recoveries: u64,
    /// Tail loss probes sent.
    pub tail_loss_probes: u64,
    /// Probes of a closed window sent.
    pub window_probes: u64,
    /// Reductions undone as spurious.
    pub undos: u64,
    /// ACKs received.
    pub acks_received: u64,
    /// ACKs without payload sent.
    pub acks_sent: u64,
    /// Segments with payload received.
    pub data_segments_received: u64,
    /// Payload bytes delivered in order.
    pub bytes_delivered: u64,
    /// Segments that came with Congestion Experienced.
    pub ce_received: u64,
    /// Window reductions for ECN-Echo.
    pub ecn_reductions: u64,
}

/// What keeps a sender from sending more, as of its last try.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// Nothing so far, or nothing that is left to send.
    #[default]
    Application,
    /// The congestion window.
    Window,
    /// The congestion window, at the bound that the user has set.
    Clamp,
    /// The window that the peer offers.
    PeerWindow,
    /// The send buffer.
    SendBuffer,
    /// Pacing.
    Pacing,
}

/// What the application wants sent.
#[derive(Clone, Copy, Debug, Default)]
struct Application {
    /// Bytes that it has had to send so far; `u64::MAX` for a source without end.
    offered: u64,
    /// Of these, what the socket has taken.
    written: u64,
    /// The application has closed its side.
    closed: bool,
    /// Reading is immediate.
    auto_read: bool,
    /// Only full segments are sent.
    is_corked: bool,
    /// The last write said that more follows.
    has_more: bool,
    /// What is held back goes now.
    pushes: bool,
}

/// A reset to be sent.
#[derive(Clone, Copy, Debug)]
struct Reset {
    seq: u32,
    /// What it acknowledges.
    ack: Option<u32>,
    /// It ends a connection of ours, whose options it carries, and answers no segment.
    is_ours: bool,
}

/// One end of a connection.
///
/// After every call the owner asks [`poll_transmit`](Connection::poll_transmit) until it returns nothing,
/// and looks at [`next_timer`](Connection::next_timer) again. Two ends and ten milliseconds between them:
///
/// ```
/// use std::collections::VecDeque;
/// use trammel_core::entry::Params;
/// use trammel_core::rng::Rng;
/// use trammel_core::time::Time;
/// use trammel_tcp::cc;
/// use trammel_tcp::connection::{Connection, State};
/// use trammel_tcp::stack::Stack;
///
/// let cubic = cc::find("cubic").expect("built in");
/// let params = Params::resolve(&cubic.about, &[]).expect("defaults");
/// let stack = Stack::linux_6();
/// let mut ends = [
///     Connection::client(&stack, (cubic.build)(&params), Rng::new(1, "client")),
///     Connection::server(&stack, (cubic.build)(&params), Rng::new(1, "server")),
/// ];
///
/// let mut now = Time::ZERO;
/// let mut wire = VecDeque::new();
/// ends[0].connect(now);
/// ends[0].write(1_000_000);
/// ends[0].close_when_written();
/// loop {
///     for from in [0, 1] {
///         while let Some(segment) = ends[from].poll_transmit(now) {
///             wire.push_back((now + Time::from_ms(10), 1 - from, segment));
///         }
///     }
///     if ends[1].state() == State::CloseWait {
///         break;
///     }
///     let arrival = wire.front().map_or(Time::MAX, |(at, ..)| *at);
///     now = arrival.min(ends[0].next_timer()).min(ends[1].next_timer());
///     if arrival == now {
///         let (_, to, segment) = wire.pop_front().expect("it arrives now");
///         ends[to].on_segment(now, &segment);
///     }
///     for end in &mut ends {
///         if end.next_timer() <= now {
///             end.on_timer(now);
///         }
///     }
/// }
/// assert_eq!(ends[1].counters().bytes_delivered, 1_000_000);
/// // Slow start from ten segments: the first window arrives after 30 ms, six more every 20 ms.
/// assert_eq!(now, Time::from_ms(150));
/// ```
#[derive(Debug)]
pub struct Connection {
    stack: Stack,
    tp: Tp,
    cc: Box<dyn CongestionControl>,
    /// The variant sets the window itself for every ACK.
    owns_window: bool,
    state: State,
    /// It was opened by the peer.
    passive: bool,
    failure: Option<Failure>,
    counters: Counters,
    app: Application,

    // Sending.
    iss: u32,
    /// Window that the peer offers, bytes, and its scale.
    snd_wnd: u32,
    /// What kept it from sending more at the last try.
    bound: Bound,
    snd_wscale: u8,
    /// Segment that last updated the window (RFC 9293 §3.10.7.4).
    snd_wl1: u32,
    max_window: u32,
    send_buffer: SendBuffer,
    /// Payload bytes sent for the first time; the FIN is not counted.
    sent_bytes: u64,
    fin_sent: bool,
    sack_ok: bool,
    ts_ok: bool,
    board: Scoreboard,
    /// Until here the receiver had reported when the last SACK came: blocks of the previous ACK.
    seen: [SackBlock; 4],
    seen_count: usize,
    /// Index after the highest SACKed segment.
    highest_sacked: u64,
    /// First index that may hold a lost segment to retransmit.
    retransmit_hint: u64,
    rtt: Rtt,
    min_rtt: Windowed,
    rack: Rack,
    rate: RateSample,
    /// Delivery rate of the last good sample: segments, and µs.
    delivery_rate: (u64, u64),
    cwnd_usage_seq: u32,
    /// Most segments outstanding since the window was last used in full.
    cwnd_used: u32,
    cwnd_stamp_us: u64,
    /// When a segment last came, and how many before it at that instant.
    came_at: Time,
    came_before: u64,
    syn_sent_us: u64,
    peer_scales: bool,

    // Recovery.
    /// `snd_nxt` when the present state began.
    high_seq: u32,
    undo_marker: Option<u32>,
    /// Retransmissions not yet proved redundant; negative without any.
    undo_retrans: i64,
    retrans_stamp_us: u32,
    prior_ssthresh: u32,
    prr_delivered: u32,
    prr_out: u32,
    frto: bool,
    reordering: u32,
    /// Duplicate ACKs, where SACK is not in use.
    dupacks: u32,
    /// A partial ACK has arrived in this recovery.
    partial_acked: bool,
    /// Sequence number that ends the outstanding tail loss probe.
    tlp_end: Option<u32>,
    tlp_retransmitted: bool,
    halving_ack: bool,

    // ECN.
    cwr_pending: bool,
    /// The peer has sent a segment that was ECN-capable.
    ecn_seen: bool,
    /// An ACK of what came before a change of marking.
    extra_ack: Option<Segment>,

    // Timers.
    pending: Pending,
    timer: Time,
    /// When it was armed, and whether `timer` has been rounded to the kernel's clock.
    armed_at: Time,
    timer_is_exact: bool,
    backoff: u32,
    retransmits: u32,
    probes: u32,
    /// Of which so many were not answered.
    unanswered_probes: u32,
    pacing_until_ns: u64,
    pacing_timer: Time,

    // Receiving.
    receiver: Receiver,

    // What poll_transmit has still to look at.
    want_syn: bool,
    want_reset: Option<Reset>,
    want_retransmit: bool,
    /// The first lost segment goes at once, whatever the window says.
    must_resend: bool,
    want_new: bool,
    /// One of the seldom sent: `want_syn`, `want_reset`, `extra_ack`, `force_probe`.
    want_other: bool,
    force_probe: bool,
    sent_in_burst: u32,
    /// Segments of a super-segment that has begun to leave.
    burst_left: u32,
    limited_in_burst: bool,

    #[cfg(debug_assertions)]
    checks: u32,
}

impl Connection {
    fn new(stack: &Stack, cc: Box<dyn CongestionControl>, rng: Rng) -> Connection {
        let mut tp = Tp::new(stack.initial_window, u32::from(stack.mss), rng);
        tp.hz = if stack.hz == 0 { 1000 } else { stack.hz };
        tp.snd_cwnd_clamp = stack.cwnd_clamp;
        tp.counts_acks = !stack.byte_counting;
        let iss = tp.rng.below(1 << 32) as u32;
        tp.snd_una = iss;
        tp.snd_nxt = iss;
        let owns_window = cc.has_cong_control();
        Connection {
            rtt: Rtt::new(stack),
            receiver: Receiver::new(stack),
            reordering: stack.reordering,
            stack: stack.clone(),
            tp,
            cc,
            owns_window,
            state: State::Closed,
            passive: false,
            failure: None,
            counters: Counters::default(),
            app: Application {
                auto_read: true,
                ..Application::default()
            },
            iss,
            snd_wnd: 0,
            bound: Bound::default(),
            snd_wscale: 0,
            snd_wl1: 0,
            max_window: 0,
            send_buffer: SendBuffer::new(stack),
            sent_bytes: 0,
            fin_sent: false,
            sack_ok: false,
            ts_ok: false,
            board: Scoreboard::new(),
            seen: [SackBlock::default(); 4],
            seen_count: 0,
            highest_sacked: 0,
            retransmit_hint: 0,
            min_rtt: Windowed::default(),
            rack: Rack::new(),
            rate: RateSample::default(),
            delivery_rate: (0, 0),
            cwnd_usage_seq: iss,
            cwnd_used: 0,
            cwnd_stamp_us: 0,
            came_at: Time::MAX,
            came_before: 0,
            syn_sent_us: 0,
            peer_scales: false,
            high_seq: iss,
            undo_marker: None,
            undo_retrans: -1,
            retrans_stamp_us: 0,
            prior_ssthresh: 0,
            prr_delivered: 0,
            prr_out: 0,
            frto: false,
            dupacks: 0,
            partial_acked: false,
            tlp_end: None,
            tlp_retransmitted: false,
            halving_ack: false,
            cwr_pending: false,
            ecn_seen: false,
            extra_ack: None,
            pending: Pending::None,
            timer: Time::MAX,
            armed_at: Time::ZERO,
            timer_is_exact: true,
            backoff: 0,
            retransmits: 0,
            probes: 0,
            unanswered_probes: 0,
            pacing_until_ns: 0,
            pacing_timer: Time::MAX,
            want_syn: false,
            want_reset: None,
            want_retransmit: false,
            must_resend: false,
            want_new: false,
            want_other: true,
            force_probe: false,
            sent_in_burst: 0,
            burst_left: 0,
            limited_in_burst: false,
            #[cfg(debug_assertions)]
            checks: 0,
        }
    }

    /// An end that will [`connect`](Connection::connect). Its initial sequence number is the first that
    /// `rng` draws below 2³².
    pub fn client(stack: &Stack, cc: Box<dyn CongestionControl>, rng: Rng) -> Connection {
        Connection::new(stack, cc, rng)
    }

    /// An end that waits for a SYN.
    pub fn server(stack: &Stack, cc: Box<dyn CongestionControl>, rng: Rng) -> Connection {
        let mut connection = Connection::new(stack, cc, rng);
        connection.state = State::Listen;
        connection.passive = true;
        connection
    }

    /// Hands `bytes` more to be sent; nothing can follow a FIN.
    pub fn write(&mut self, bytes: u64) {
        if self.fin_sent {
            return;
        }
        self.app.offered = self.app.offered.saturating_add(bytes);
        self.take_from_application();
        self.app.has_more = false;
        self.want_new = true;
    }

    /// As [`write`](Connection::write) of an application that says that more follows (`MSG_MORE`): what does
    /// not fill a segment waits for the next write or ACK, a retransmission timeout at most.
    pub fn write_more(&mut self, bytes: u64) {
        self.write(bytes);
        self.app.has_more = true;
    }

    /// Sends full segments only until it is called with false (`TCP_CORK`); what does not fill one waits a
    /// retransmission timeout at most.
    pub fn set_cork(&mut self, cork: bool) {
        self.app.is_corked = cork;
        self.want_new |= !cork;
    }

    /// Turns Nagle's algorithm on or off (RFC 9293 §3.7.4; `TCP_NODELAY`). What is held back goes at once
    /// where it is turned off, a cork notwithstanding.
    pub fn set_nagle(&mut self, nagle: bool) {
        self.stack.nagle = nagle;
        self.app.pushes |= !nagle;
        self.want_new |= !nagle;
    }

    /// Makes the application a source without end.
    pub fn write_forever(&mut self) {
        self.write(u64::MAX);
    }

    /// Turns a source without end into one that has written just what was sent.
    pub fn stop_writing(&mut self) {
        (self.app.offered, self.app.written) = (self.sent_bytes, self.sent_bytes);
    }

    /// Bytes handed over and not yet sent; `u64::MAX` for a source without end.
    pub fn unsent(&self) -> u64 {
        if self.app.offered == u64::MAX {
            u64::MAX
        } else {
            self.app.offered - self.sent_bytes
        }
    }

    /// Whether the application reads what comes as soon as it comes (the default).
    pub fn set_auto_read(&mut self, auto_read: bool) {
        self.app.auto_read = auto_read;
    }

    /// Bytes waiting for the application.
    pub fn readable(&self) -> u32 {
        self.receiver.readable()
    }

    /// The application reads up to `most` bytes at `now`; returns how many there were.
    pub fn read(&mut self, now: Time, most: u32) -> u32 {
        let bytes = self.receiver.read(now, most);
        if bytes > 0 {
            self.receiver.after_read();
        }
        bytes
    }

    /// Whether the application can write no more: it has closed its side, or the connection is over.
    pub fn is_writing_over(&self) -> bool {
        self.app.closed || self.fin_sent || self.state == State::Closed
    }

    /// Closes the application's side as soon as all that was written has been sent, also before the
    /// connection is established.
    pub fn close_when_written(&mut self) {
        self.app.closed = true;
        self.want_new = true;
    }

    /// Round trip of the last ACK that gave one, µs, if it came with the present event.
    #[inline]
    pub fn last_rtt_us(&self) -> Option<u32> {
        u32::try_from(self.rate.rtt_us)
            .ok()
            .filter(|_| self.rate.acked_sacked > 0)
    }

    /// State of the connection.
    pub fn state(&self) -> State {
        self.state
    }
    /// Why the connection failed, if it did.
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }
    /// The congestion control's view of the sender.
    pub fn tp(&self) -> &Tp {
        &self.tp
    }
    /// The congestion control.
    pub fn congestion_control(&self) -> &dyn CongestionControl {
        &*self.cc
    }
    /// Counters since the start.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
    /// The stack's behaviour.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }
    /// The window that the peer offers, bytes.
    pub fn peer_window(&self) -> u32 {
        self.snd_wnd
    }
    /// What keeps it from sending more.
    pub fn bound(&self) -> Bound {
        self.bound
    }
    /// Payload bytes that came out of order and wait for what lies before them.
    pub fn bytes_held(&self) -> u64 {
        self.receiver.bytes_held()
    }
    /// The end of the microsecond in which payload last came, or in which the handshake ended where none did.
    pub fn last_data(&self) -> Time {
        Time::from_us(self.receiver.last_data_us() + 1)
    }
    /// Retransmission timeout with its back-off.
    pub fn rto(&self) -> Time {
        Time::from_us(self.rto_us())
    }
    /// Delivery rate of the last good sample in bytes/s; 0 before one.
    pub fn delivery_rate(&self) -> u64 {
        let (segments, us) = self.delivery_rate;
        (segments * u64::from(self.tp.mss) * 1_000_000)
            .checked_div(us)
            .unwrap_or(0)
    }
    /// Pacing rate in bytes/s: the variant's own, or the one that the kernel derives from the window
    /// (twice the rate of the window in slow start, 1.2 times afterwards) and shows without using it.
    pub fn pacing_rate(&self) -> u64 {
        let tp = &self.tp;
        if self.owns_window || tp.srtt_us == 0 {
            return tp.pacing_rate;
        }
        let percent = if tp.snd_cwnd < tp.snd_ssthresh / 2 {
            200
        } else {
            120
        };
        let window = u64::from(tp.snd_cwnd.max(tp.packets_out)) * u64::from(tp.mss);
        window * percent * 80_000 / u64::from(tp.srtt_us)
    }
    /// Whether nothing is in flight and nothing waits to be sent.
    pub fn is_idle(&self) -> bool {
        self.board.is_empty() && self.unsent() == 0
    }
    /// Whether everything written was acknowledged.
    pub fn all_acked(&self) -> bool {
        self.app.offered != u64::MAX
            && self.tp.bytes_acked >= self.app.offered
            && (!self.app.closed || self.fin_acked())
    }
    fn fin_acked(&self) -> bool {
        self.fin_sent && self.board.is_empty()
    }

    /// When [`on_timer`](Connection::on_timer) is due; [`Time::MAX`] for never.
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.timer
            .min(self.receiver.delayed)
            .min(self.receiver.compressed_due)
            .min(self.receiver.batch_due)
            .min(self.pacing_timer)
    }

    /// A timer is due: to be called once [`next_timer`](Connection::next_timer) is reached, earlier does no
    /// harm.
    pub fn on_timer(&mut self, now: Time) {
        self.read_clock(now);
        self.receiver.settle();
        if self.receiver.delayed <= now {
            self.receiver.delayed = Time::MAX;
            if self.receiver.owed {
                self.receiver.delayed_fired();
            }
        }
        if self.receiver.compressed_due <= now {
            self.receiver.compressed_due = Time::MAX;
            self.receiver.now = true;
        }
        if self.receiver.batch_due <= now {
            self.receiver.end_batch(now);
        }
        if self.pacing_timer <= now {
            self.pacing_timer = Time::MAX;
            self.want_retransmit = self.tp.lost_out > self.tp.retrans_out;
            self.want_new = true;
        }
        if self.timer <= now && self.ticks_agree(now) {
            self.on_retransmission_timer(now);
        }
        #[cfg(debug_assertions)]
        self.check_sometimes();
    }

    /// The connection's clock, which never goes back.
    #[inline]
    fn read_clock(&mut self, now: Time) {
        self.tp.now_us = self.tp.now_us.max(now.as_us());
    }

    /// For a segment that comes. Those of one instant, as a token bucket lets them through, are taken in a microsecond apart, as by any
    /// processor: else what answers the second would seem to RACK to have left with what answers the first.
    #[inline]
    fn read_clock_anew(&mut self, now: Time) {
        self.came_before = if now == self.came_at {
            self.came_before + 1
        } else {
            0
        };
        self.came_at = now;
        self.tp.now_us = self.tp.now_us.max(now.as_us() + self.came_before);
    }

    /// Takes in a segment at `now`. Time must not run backwards from call to call.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        self.take(now, segment);
        #[cfg(debug_assertions)]
        self.check_sometimes();
    }

    #[inline]
    fn take(&mut self, now: Time, segment: &Segment) {
        self.read_clock_anew(now);
        if self.state != State::Established || !self.is_expected(segment) {
            return self.on_segment_slowly(now, segment);
        }
        if self.ts_ok {
            self.note_timestamp(segment);
        }
        // A receiver of bulk data has nothing outstanding: the ACK in each segment says nothing new.
        let bulk = segment.len > 0
            && segment.sack_count == 0
            && segment.ack == self.tp.snd_una
            && u32::from(segment.window) << self.snd_wscale == self.snd_wnd
            && self.board.is_empty()
            && self.unsent() == 0;
        if !bulk {
            if !self.on_ack(now, segment) {
                return;
            }
            self.want_new = true;
        }
        if segment.len > 0 {
            self.on_data(now, segment);
            self.on_fin_in_order(now);
        }
    }

    /// Whether a segment needs no more than its ACK and its data looked at: an ACK without other flags,
    /// in the window, with the options agreed on.
    #[inline]
    fn is_expected(&self, segment: &Segment) -> bool {
        use crate::segment::Flags;
        let flags = segment.flags.0 & !Flags::PSH.0;
        flags == Flags::ACK.0
            && segment.options.timestamps == self.ts_ok
            && !crate::seq::before(segment.seq, self.receiver.rcv_nxt)
            && !crate::seq::after(
                segment.seq.wrapping_add(segment.len),
                self.receiver.right_edge(),
            )
            && (!self.ts_ok || !crate::seq::before(segment.ts_val, self.receiver.ts_recent))
    }

    #[inline]
    fn note_timestamp(&mut self, segment: &Segment) {
        // RFC 7323 §4.3: only a segment that touches what was last acknowledged is echoed; and none whose ACK
        // cannot be true, of which nothing counts. One that came late does not set the clock back.
        if !crate::seq::after(segment.seq, self.receiver.rcv_wup)
            && !crate::seq::before(segment.ts_val, self.receiver.ts_recent)
            && self.is_possible_ack(segment.ack)
        {
            self.receiver.ts_recent = segment.ts_val;
        }
        self.tp.rcv_tsval = segment.ts_val;
        self.tp.rcv_tsecr = if segment.ts_ecr == 0 {
            0
        } else {
            self.sent_at_ms(segment.ts_ecr)
        };
    }

    fn on_data(&mut self, now: Time, segment: &Segment) {
        self.counters.data_segments_received += 1;
        self.note_congestion_mark(now, segment);
        let before = self.receiver.rcv_nxt;
        if self.ts_ok && segment.ts_ecr != self.receiver.last_echo {
            self.receiver.last_echo = segment.ts_ecr;
            let ms = self.timestamp(now).wrapping_sub(segment.ts_ecr);
            if ms > 0 && self.receiver.is_full(segment.len) {
                self.receiver.rtt_sample(u64::from(ms) * 1000);
            }
        }
        if self.receiver.must_flush(segment) {
            self.extra_ack = Some(self.pure_ack(now));
            self.want_other = true;
            self.receiver.flushed();
        }
        self.receiver.on_data(now, segment, self.app.auto_read);
        self.counters.bytes_delivered += u64::from(self.receiver.rcv_nxt.wrapping_sub(before));
        if self.tp.send_ack_now {
            self.tp.send_ack_now = false;
            self.receiver.now = true;
        }
    }

    /// Our timestamp clock: milliseconds, as Linux's.
    #[inline]
    fn timestamp(&self, now: Time) -> u32 {
        // Never 0, which means "no echo" on a SYN.
        (now.as_ms() as u32).wrapping_add(self.ts_offset())
    }
    /// When the segment left whose timestamp comes back, in milliseconds.
    #[inline]
    fn sent_at_ms(&self, echo: u32) -> u32 {
        echo.wrapping_sub(self.ts_offset())
    }
    #[inline]
    fn ts_offset(&self) -> u32 {
        if self.stack.random_timestamps {
            self.iss | 1
        } else {
            1
        }
    }
}
