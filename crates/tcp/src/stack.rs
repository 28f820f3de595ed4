//! How the stack around a congestion control behaves: presets `linux-6`, `linux-2.6` and `rfc`.
//!
//! A preset is a value; every field may be changed afterwards. What a field means to the kernel is
//! its sysctl's name, given where there is one.

use crate::receiver;
use trammel_core::time::Span;

/// `net.core.rmem_max` where nobody set it, bytes.
pub const LINUX_RMEM_MAX: u64 = 212_992;

/// Which ECN an end asks for, and grants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EcnMode {
    /// None.
    #[default]
    Off,
    /// Classic ECN (RFC 3168): at most one mark is reported a round trip.
    Classic,
    /// Accurate ECN (RFC 9768), or classic ECN where the peer has no other.
    Accurate,
}

/// When the AccECN option is sent (`tcp_ecn_option`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnOption {
    /// Never: marks are reported by the field ACE alone.
    Never,
    /// When a counter has changed in a way that ACE cannot tell, and three times a round trip.
    Minimum,
    /// On every segment that has room for it.
    Full,
}

/// How losses are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// RACK: by time (RFC 8985; `tcp_recovery`).
    Rack,
    /// FACK: what lies more than the reordering degree below the highest SACK is lost (Mathis and
    /// Mahdavi 1996; Linux before 4.15).
    Fack,
    /// Three segments SACKed above (RFC 6675 §4) or three duplicate ACKs (RFC 6582).
    DupThresh,
}

/// How the window falls in fast recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// Proportional rate reduction (RFC 6937 with the conservative bound that Linux takes).
    Prr,
    /// Rate halving: a segment for every second ACK (Linux before 3.2).
    RateHalving,
    /// At once to `ssthresh`, sending as the pipe drains (RFC 6675 §5).
    Immediate,
}

/// When a receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckPolicy {
    /// Every segment at once.
    EverySegment,
    /// Every second full segment or after a fixed time (RFC 5681 §4.2).
    Delayed(Span),
    /// Every so many full segments or after a fixed time, as by `interval_` of ns-2's `DelAck` and
    /// by stacks that thin ACKs. A gap is still answered at once. More than two go against RFC 5681
    /// §4.2 ("an ACK SHOULD be generated for at least every second full-sized segment"): a sender
    /// that counts ACKs opens its window more slowly, and sends larger bursts.
    Stretched(u32, Span),
    /// As Linux: quick ACKs at the start and after loss, then every second segment while the window
    /// moves, with an adaptive timer between 40 and 200 ms.
    Linux,
}

/// What becomes of a segment that begins in the window and ends beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BeyondWindow {
    /// What lies in the window is taken (RFC 9293 §3.10.7.4).
    CutOff,
    /// It is taken whole, where the window is open at all (Linux).
    Taken,
    /// Only where nothing waits for the application (Linux 7.1).
    TakenAlone,
}

/// The behaviour of one end of a connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    /// The preset's name.
    pub name: &'static str,
    /// Initial window, segments (RFC 6928: 10; RFC 3390: 3 for an Ethernet MSS).
    pub initial_window: u32,
    /// Payload bytes of a full segment without options: MTU less 40.
    pub mss: u16,
    /// Offer SACK (`tcp_sack`).
    pub sack: bool,
    /// Offer timestamps (`tcp_timestamps`).
    pub timestamps: bool,
    /// The ECN that is asked for and granted at most (`tcp_ecn`: 0, 1 and 3).
    pub ecn: EcnMode,
    /// When the AccECN option is sent, where accurate ECN is in use (`tcp_ecn_option`).
    pub ecn_option: EcnOption,
    /// Ask for ECN by the first SYN only, for accurate ECN by the first two (RFC 3168 §6.1.1.1, RFC
    /// 9768 §3.1.4.1), and send nothing ECN-capable where the handshake shows that the network
    /// changes ECN fields (`tcp_ecn_fallback`).
    pub ecn_fallback: bool,
    /// Offer window scaling (`tcp_window_scaling`).
    pub window_scaling: bool,
    /// Report duplicates (`tcp_dsack`).
    pub dsack: bool,
    /// Loss detection.
    pub detection: LossDetection,
    /// Window reduction.
    pub reduction: Reduction,
    /// Tail loss probes (RFC 8985 §7; `tcp_early_retrans`).
    pub tail_loss_probe: bool,
    /// F-RTO (RFC 5682; `tcp_frto`).
    pub frto: bool,
    /// Undo of reductions that DSACK or timestamps prove spurious.
    pub undo: bool,
    /// Smallest retransmission timeout; Linux applies it to the variance term.
    pub min_rto: Span,
    /// Largest retransmission timeout.
    pub max_rto: Span,
    /// Timeout of a SYN.
    pub initial_rto: Span,
    /// Timeouts of a SYN that are not doubled, beside the six that are (`tcp_syn_linear_timeouts`,
    /// Linux since 6.5).
    pub syn_linear_timeouts: u32,
    /// SYNs that may be sent again without the window starting at one segment (RFC 5681 §3.1: none;
    /// Linux since 3.1: one, for its timeout of a second is shorter than some paths).
    pub spare_syns: u32,
    /// How much older than the last a segment's timestamp may be and still be taken, ticks of the
    /// peer's clock (Linux's `TCP_PAWS_WINDOW`; RFC 7323 §5.3: none).
    pub paws_window: u32,
    /// Whether the smoothed RTT and its variance follow Linux (Sarolahti and Kuznetsov 2002 §3)
    /// rather than RFC 6298 to the letter.
    pub linux_rtt: bool,
    /// Ticks per second of the clock that drives retransmission and delayed-ACK timers; 0 is exact.
    pub hz: u32,
    /// Count acknowledged segments (modern Linux, RFC 3465) rather than ACKs for the window's
    /// growth.
    pub byte_counting: bool,
    /// Segments that one ACK may add in slow start, however many it covers (RFC 5681 §3.1: one).
    pub slow_start_per_ack: u32,
    /// Timestamps begin at a random value (Linux since 4.10); otherwise with the run.
    pub random_timestamps: bool,
    /// When the receiver acknowledges.
    pub ack_policy: AckPolicy,
    /// Answer an ACK of data that was never sent with one's own (RFC 9293 §3.10.7.4; Linux since
    /// 7.1, which dropped it in silence before).
    pub answers_future_acks: bool,
    /// What becomes of payload beyond the window that was offered.
    pub beyond_window: BeyondWindow,
    /// Thin the ACKs that carry SACK (`tcp_comp_sack_nr`, Linux since 4.18).
    pub compress_sack: bool,
    /// Receive buffer to start with, bytes of memory (`tcp_rmem[1]`).
    pub receive_buffer: u64,
    /// Receive buffer that auto-tuning may reach, bytes of memory (`tcp_rmem[2]`).
    pub max_receive_buffer: u64,
    /// The application has set its receive buffer (`SO_RCVBUF`, which the kernel doubles): it does
    /// not grow, and the window scale is the one that it needs.
    pub is_receive_buffer_set: bool,
    /// The largest receive buffer that an application may set; the window scale provides for it
    /// (`net.core.rmem_max`).
    pub rmem_max: u64,
    /// Send buffer to start with, bytes of memory (`tcp_wmem[1]`, or twice `SO_SNDBUF`); `u64::MAX`
    /// never binds.
    pub send_buffer: u64,
    /// Send buffer that auto-tuning may reach, bytes of memory (`tcp_wmem[2]`); one that is set
    /// does not grow.
    pub max_send_buffer: u64,
    /// Degree of reordering to start with, segments (`tcp_reordering`).
    pub reordering: u32,
    /// Fall back to the initial window after an idle time (`tcp_slow_start_after_idle`).
    pub slow_start_after_idle: bool,
    /// Hold back small segments while data is unacknowledged (Nagle; RFC 9293 §3.7.4).
    pub nagle: bool,
    /// Hold them back only while another small one is unacknowledged (Minshall's modification of
    /// Nagle's algorithm; Linux).
    pub minshall: bool,
    /// Upper bound of the congestion window, segments.
    pub cwnd_clamp: u32,
    /// Pace whatever the variant: at twice the rate of the window in slow start, at 1.2 times
    /// afterwards, as Linux's `fq` queue does (`tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`).
    pub pacing: bool,
    /// Bytes of payload a second that a paced sender sends at most, whatever its variant asks for
    /// (`SO_MAX_PACING_RATE`); `u64::MAX` for no limit.
    pub max_pacing_rate: u64,
    /// TSO and GRO: several segments in one pass through the stack.
    pub offload: bool,
}

impl Stack {
    /// Linux 6.12: PRR, RACK-TLP, DSACK undo, F-RTO, initial window 10.
    pub fn linux_6() -> Stack {
        Stack {
            name: "linux-6",
            initial_window: 10,
            mss: 1460,
            sack: true,
            timestamps: true,
            ecn: EcnMode::Off,
            ecn_option: EcnOption::Full,
            ecn_fallback: true,
            window_scaling: true,
            dsack: true,
            detection: LossDetection::Rack,
            reduction: Reduction::Prr,
            tail_loss_probe: true,
            frto: true,
            undo: true,
            min_rto: Span::from_ms(200),
            max_rto: Span::from_secs(120),
            initial_rto: Span::from_secs(1),
            syn_linear_timeouts: 4,
            spare_syns: 1,
            paws_window: 1,
            linux_rtt: true,
            hz: 1000,
            byte_counting: true,
            slow_start_per_ack: u32::MAX,
            random_timestamps: true,
            ack_policy: AckPolicy::Linux,
            answers_future_acks: false,
            beyond_window: BeyondWindow::Taken,
            compress_sack: true,
            receive_buffer: 64 << 20,
            max_receive_buffer: 128 << 20,
            is_receive_buffer_set: false,
            rmem_max: 256 << 20,
            send_buffer: u64::MAX,
            max_send_buffer: u64::MAX,
            reordering: 3,
            slow_start_after_idle: true,
            nagle: false,
            minshall: true,
            cwnd_clamp: u32::MAX,
            pacing: false,
            max_pacing_rate: u64::MAX,
            offload: false,
        }
    }

    /// Linux 2.6.22: FACK, rate halving, initial window 3, growth by ACKs.
    pub fn linux_2_6() -> Stack {
        Stack {
            name: "linux-2.6",
            initial_window: 3,
            ecn_fallback: false,
            detection: LossDetection::Fack,
            reduction: Reduction::RateHalving,
            tail_loss_probe: false,
            frto: false,
            initial_rto: Span::from_secs(3),
            syn_linear_timeouts: 0,
            spare_syns: 0,
            byte_counting: false,
            random_timestamps: false,
            compress_sack: false,
            ..Stack::linux_6()
        }
    }

    /// The RFCs to the letter: 5681, 6582, 6675, 6298.
    pub fn rfc() -> Stack {
        Stack {
            name: "rfc",
            initial_window: 3,
            timestamps: true,
            ecn_fallback: false,
            dsack: false,
            detection: LossDetection::DupThresh,
            reduction: Reduction::Immediate,
            tail_loss_probe: false,
            frto: false,
            undo: false,
            min_rto: Span::from_secs(1),
            max_rto: Span::from_secs(60),
            syn_linear_timeouts: 0,
            spare_syns: 0,
            paws_window: 0,
            linux_rtt: false,
            hz: 0,
            slow_start_per_ack: 1,
            ack_policy: AckPolicy::Delayed(Span::from_ms(100)),
            answers_future_acks: true,
            beyond_window: BeyondWindow::CutOff,
            minshall: false,
            compress_sack: false,
            ..Stack::linux_6()
        }
    }

    /// Buffers as Linux has them where nobody set them: they begin small and grow to 4 MB for
    /// sending and 6 MB for receiving (`tcp_wmem`, `tcp_rmem`).
    #[must_use]
    pub fn with_linux_buffers(self) -> Stack {
        Stack {
            receive_buffer: 131_072,
            max_receive_buffer: 6 << 20,
            is_receive_buffer_set: false,
            rmem_max: LINUX_RMEM_MAX,
            send_buffer: 16_384,
            max_send_buffer: 4 << 20,
            ..self
        }
    }

    /// The largest window that it comes to offer, bytes.
    pub fn largest_window(&self) -> u64 {
        receiver::largest_window(self)
    }

    /// The most payload that it has on the way, bytes: full segments that fill its send buffer.
    pub fn largest_flight(&self) -> u64 {
        let payload = u64::from(self.mss);
        let segments = self.max_send_buffer / (payload + receiver::DESCRIPTOR_BYTES);
        segments.saturating_mul(payload)
    }

    /// The application sets its receive buffer to `bytes` (`SO_RCVBUF`): the kernel takes twice as
    /// much memory, for what it keeps beside the payload.
    pub fn set_receive_buffer(&mut self, bytes: u64) {
        self.receive_buffer = bytes.saturating_mul(2);
        self.max_receive_buffer = self.receive_buffer;
        self.is_receive_buffer_set = true;
    }

    /// The application sets its send buffer to `bytes` (`SO_SNDBUF`), likewise doubled.
    pub fn set_send_buffer(&mut self, bytes: u64) {
        self.send_buffer = bytes.saturating_mul(2);
        self.max_send_buffer = self.send_buffer;
    }

    /// The preset called `name`.
    pub fn preset(name: &str) -> Option<Stack> {
        match name {
            "linux-6" => Some(Stack::linux_6()),
            "linux-2.6" => Some(Stack::linux_2_6()),
            "rfc" => Some(Stack::rfc()),
            _ => None,
        }
    }

    /// The names that [`Stack::preset`] knows.
    pub const PRESETS: &'static [&'static str] = &["linux-6", "linux-2.6", "rfc"];
}
