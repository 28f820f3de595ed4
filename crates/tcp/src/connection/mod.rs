//! One end of a TCP connection, without I/O (RFC 9293).
//!
//! The caller moves segments and time. [`Connection::on_segment`] takes in a segment, and
//! [`Connection::on_timer`] is due at [`Connection::next_timer`]. After either of them, or after a
//! call of the application's, the caller repeats [`Connection::poll_transmit`] until it returns
//! nothing. Payload is counted, not carried.
//!
//! | file | concern |
//! | --- | --- |
//! | `parts/` | the state, in named parts |
//! | `application` | the application's calls: writing, reading, closing |
//! | `handshake` | opening and closing, resets, the state machine |
//! | `accurate` | accurate ECN: negotiation, counters of the receiver, marks reported to the sender |
//! | `receive` | segments that arrive: the fast path, timestamps, data, ECN |
//! | `ack` | cumulative acknowledgement and round-trip samples |
//! | `sack` | SACK blocks and reports of duplicates |
//! | `rate` | delivery-rate samples |
//! | `recovery` | the states Open, Disorder, CWR, Recovery, Loss |
//! | `reduction` | reduction of the window: PRR, rate halving, at once |
//! | `undo` | undo of reductions that prove spurious |
//! | `duplicates` | duplicate ACKs, where SACK is not in use |
//! | `loss` | which segments are lost: RACK, FACK, duplicate ACKs |
//! | `send_buffer` | how much of what is written the socket takes, and when it asks for more |
//! | `transmit` | what to send next: retransmissions, new data, probes, ACKs |
//! | `burst` | super-segments: when segmentation offload waits for more |
//! | `pacing` | when pacing lets the next segment leave |
//! | `usage` | decay of a congestion window that is not used |
//! | `timeout` | retransmission, tail loss probe, reordering and persist timers |
//! | `info` | what a connection reports of itself |

mod accurate;
mod ack;
mod application;
mod burst;
#[cfg(debug_assertions)]
mod check;
mod duplicates;
mod handshake;
mod info;
mod loss;
mod pacing;
mod parts;
mod rate;
mod receive;
mod recovery;
mod reduction;
mod sack;
mod send_buffer;
mod timeout;
mod transmit;
mod undo;
mod usage;

use crate::cc::{CongestionControl, Tp};
use crate::receiver::Receiver;
use crate::scoreboard::Scoreboard;
use crate::stack::Stack;
pub use info::Info;
use parts::accurate::Accurate;
use parts::application::Application;
use parts::arrivals::Arrivals;
use parts::burst::{Burst, Pacing};
pub use parts::counters::Counters;
use parts::handshake::Handshake;
use parts::output::Output;
use parts::peer_window::PeerWindow;
use parts::rack::Rack;
use parts::rate::RateSampler;
use parts::recovery::Recovery;
use parts::rtt::Rtt;
use parts::sack::Sack;
use parts::send_buffer::SendBuffer;
pub use parts::status::{Failure, State};
use parts::timers::{TailLossProbe, Timers};
pub use parts::usage::Bound;
use parts::usage::WindowUsage;
use trammel_core::rng::Rng;
use trammel_core::time::Time;

/// One end of a connection.
///
/// After every call the owner asks [`poll_transmit`](Connection::poll_transmit) until it returns
/// nothing, and looks at [`next_timer`](Connection::next_timer) again, as
/// the crate page shows with two ends and ten milliseconds between them.
#[derive(Debug)]
pub struct Connection {
    stack: Stack,
    /// The congestion control's view of the sender.
    tp: Tp,
    cc: Box<dyn CongestionControl>,
    /// The variant sets the window itself for every ACK.
    owns_window: bool,
    /// The variant asks what was in flight when a segment was sent.
    wants_flight: bool,
    state: State,
    failure: Option<Failure>,
    counters: Counters,
    handshake: Handshake,
    app: Application,

    // Sending.
    peer_window: PeerWindow,
    send_buffer: SendBuffer,
    usage: WindowUsage,
    burst: Burst,
    pacing: Pacing,
    output: Output,

    // What was sent, and what is known of it.
    board: Scoreboard,
    sack: Sack,
    rtt: Rtt,
    rate: RateSampler,
    rack: Rack,
    recovery: Recovery,
    timers: Timers,
    probe: TailLossProbe,

    accurate: Accurate,

    // Receiving.
    arrivals: Arrivals,
    receiver: Receiver,

    #[cfg(debug_assertions)]
    checks: u32,
}

impl Connection {
    fn new(stack: &Stack, cc: Box<dyn CongestionControl>, rng: Rng) -> Connection {
        let tp = Tp::of_stack(stack, rng);
        let iss = tp.snd_una;
        let mut board = Scoreboard::new();
        let wants_flight = cc.wants_flight();
        if wants_flight {
            board.keep_flights();
        }
        Connection {
            owns_window: cc.has_cong_control(),
            wants_flight,
            state: State::Closed,
            failure: None,
            counters: Counters::default(),
            handshake: Handshake::new(iss),
            app: Application::new(),
            peer_window: PeerWindow::default(),
            send_buffer: SendBuffer::new(stack),
            usage: WindowUsage::new(iss),
            burst: Burst::default(),
            pacing: Pacing::new(),
            output: Output::new(),
            board,
            sack: Sack::default(),
            rtt: Rtt::new(stack),
            rate: RateSampler::default(),
            rack: Rack::new(),
            recovery: Recovery::new(iss, stack.reordering),
            timers: Timers::new(),
            probe: TailLossProbe::default(),
            accurate: Accurate::default(),
            arrivals: Arrivals::new(),
            receiver: Receiver::new(stack),
            stack: stack.clone(),
            tp,
            cc,
            #[cfg(debug_assertions)]
            checks: 0,
        }
    }

    /// An end that will [`connect`](Connection::connect). Its initial sequence number is the first
    /// that `rng` draws below 2³².
    pub fn client(stack: &Stack, cc: Box<dyn CongestionControl>, rng: Rng) -> Connection {
        Connection::new(stack, cc, rng)
    }

    /// An end that waits for a SYN.
    pub fn server(stack: &Stack, cc: Box<dyn CongestionControl>, rng: Rng) -> Connection {
        let mut connection = Connection::new(stack, cc, rng);
        connection.state = State::Listen;
        connection.handshake.is_passive = true;
        connection
    }
    fn fin_acked(&self) -> bool {
        self.app.fin_sent && self.board.is_empty()
    }

    /// When [`on_timer`](Connection::on_timer) is due; [`Time::MAX`] for never.
    #[inline]
    pub fn next_timer(&self) -> Time {
        self.timers
            .due
            .min(self.receiver.delayed)
            .min(self.receiver.compressed_due)
            .min(self.receiver.batch_due)
            .min(self.pacing.timer)
    }

    /// A timer is due: to be called once [`next_timer`](Connection::next_timer) is reached, earlier
    /// does no harm.
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
        if self.pacing.timer <= now {
            self.pacing.timer = Time::MAX;
            self.output.retransmission = self.tp.lost_out > self.tp.retrans_out;
            self.output.new_data = true;
        }
        if self.timers.due <= now && self.ticks_agree(now) {
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
            self.handshake.iss | 1
        } else {
            1
        }
    }
}
