//! What a guest is asked, and what it answers.
//!
//! A job is a network of hosts and wires with queues at their ends, the flows over it, and when to
//! look. It says nothing that the guest would have to decide: routes, addresses and starts follow
//! from it alone, so two guests of one kernel answer the same to the last byte.

use crate::frames::Frames;
use serde::{Deserialize, Serialize};
use trammel_io::qdisc::{Kind, Police};

/// The port of the first flow; the others follow.
pub const FIRST_PORT: usize = 5000;

/// What a guest does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GuestJob {
    /// The seed of all that the kernel draws from when the flows are about to start.
    pub seed: u64,
    /// How long flows run, in nanoseconds.
    pub duration_ns: i64,
    /// When everything is counted once more, from the start.
    pub warmup_ns: Option<i64>,
    /// From one sample of a flow to the next.
    pub sample_ns: i64,
    /// From one look at a queue to the next.
    pub queue_ns: i64,
    /// How often receivers read that would read at once: as rarely as their windows allow without
    /// their senders' noticing. 16 MiB that were not read are noticed.
    pub read_ns: i64,
    /// The hosts and routers; a number is a place in this list.
    pub hosts: Vec<Host>,
    /// What connects them.
    pub wires: Vec<Wire>,
    /// Routes of the flows.
    pub routes: Vec<Route>,
    /// The flows.
    pub flows: Vec<GuestFlow>,
    /// Where frames are captured: wires and which of their ends.
    pub captures: Vec<(usize, usize)>,
    /// Parameters of modules: `tcp_cubic.hystart` and a value.
    pub parameters: Vec<(String, String)>,
    /// Variables of the whole machine below `/proc/sys`: `net/ipv4/tcp_mem`.
    pub sysctls: Vec<(String, String)>,
}

/// A host or router.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Variables below `/proc/sys/net`: `ipv4/tcp_sack`.
    pub sysctls: Vec<(String, String)>,
}

/// A pair of interfaces. Wire number N has network 10.A.B.0/24, where N is 256 · A + B; the first
/// end is host 1 there and the second host 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wire {
    /// The hosts at its ends.
    pub ends: [usize; 2],
    /// Bytes of the longest packet.
    pub mtu: u32,
    /// Whether segments are cut and joined at its ends.
    pub offload: bool,
    /// What queues the packets that leave each end.
    pub ways: [Way; 2],
}

/// What queues packets; nothing where there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Way {
    /// The discipline.
    pub queue: Option<Kind>,
    /// The one in it.
    pub inner: Option<Kind>,
    /// What polices packets before they are queued.
    pub police: Option<Police>,
    /// What changes there later, with the instant of each.
    pub changes: Vec<(i64, Change)>,
    /// Whether it is told how many packets wait.
    pub is_watched: bool,
}

/// A change of what queues packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Change {
    /// The discipline has these options from now on; what waits in it stays.
    Options(Kind),
    /// What waits in the inner discipline is dropped.
    Empty,
    /// The discipline looks at its queue: a token bucket that waits for tokens at an old rate does
    /// not know of its new one before a packet comes.
    Look,
}

/// How a host reaches the network of a wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// The host.
    pub host: usize,
    /// The wire whose network it is about.
    pub to: usize,
    /// The wire that it goes by.
    pub by: usize,
    /// Metrics of the route: numbers `RTAX_…` and their values.
    pub metrics: Vec<(u16, u32)>,
}

/// A flow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestFlow {
    /// The sending host.
    pub from: usize,
    /// The wire at whose end the receiving host is, and which end that is.
    pub to: (usize, usize),
    /// The congestion control.
    pub congestion: String,
    /// When it starts.
    pub start_ns: i64,
    /// When it stops to send.
    pub stop_ns: i64,
    /// What it has to send; without it, as much as goes.
    pub bytes: Option<u64>,
    /// At which rate it writes; without it, as fast as goes.
    pub writes: Option<Writes>,
    /// Bytes of the send buffer.
    pub send_buffer: Option<i32>,
    /// Bytes of the receive buffer.
    pub receive_buffer: Option<i32>,
    /// How often the receiving program reads.
    pub read_ns: Option<i64>,
    /// Whether it is woken by each packet, where `read_ns` says nothing; one whose receive buffer
    /// is set always is.
    pub is_read_at_once: bool,
    /// The differentiated services codepoint of its packets.
    pub dscp: u8,
    /// Whether small segments go at once.
    pub no_delay: bool,
    /// Bytes of payload a second that it is paced to at most; with any, it is paced.
    pub max_pacing_rate: Option<u64>,
    /// Whether nothing is told of it but when it was complete: it takes part from its start to its
    /// end only.
    pub is_brief: bool,
}

/// A program that writes at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writes {
    /// Bits a second.
    pub bps: u64,
    /// Bytes of a segment; whole ones are written.
    pub segment: u64,
    /// From one write to the next.
    pub every_ns: i64,
}

impl Writes {
    /// Bytes that are to be written by so long after the start: the first segment at once.
    pub fn due(&self, after_ns: i64) -> u64 {
        let bits = u128::from(self.bps) * after_ns.max(0).cast_unsigned() as u128 / 1_000_000_000;
        let segment = self.segment.max(1);
        (bits as u64 / 8 / segment + 1).saturating_mul(segment)
    }
}

/// What came of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Of each flow.
    pub flows: Vec<FlowSeen>,
    /// Of each end of each wire that has a queue.
    pub ways: Vec<WaySeen>,
    /// Of each place that was to be captured.
    pub captures: Vec<Captured>,
}

/// What passed an end of a wire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// The wire, and which of its ends.
    pub at: (usize, usize),
    /// The IPv4 packets, in their order.
    pub frames: Frames,
    /// How many were not captured: they came too fast, or there was no room for more.
    pub missed: u64,
}

/// What was seen of a flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowSeen {
    /// Over time.
    pub samples: Vec<Sample>,
    /// At the warm-up, if it had begun.
    pub warm: Option<Counts>,
    /// At its end.
    pub end: Counts,
    /// When the receiver had everything, if there was an end to it.
    pub completed_ns: Option<i64>,
    /// Why it came to nothing.
    pub failure: Option<String>,
    /// The version of BBR that it ran, where it tells one; 0 otherwise.
    pub bbr_version: u8,
}

/// A look at a sender: instant in nanoseconds, then as `TCP_INFO` has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// When, from the start.
    pub at_ns: i64,
    /// The congestion window, segments.
    pub cwnd: u32,
    /// The slow-start threshold, segments.
    pub ssthresh: u32,
    /// The smoothed round trip, us.
    pub srtt_us: u32,
    /// The least round trip of late, us.
    pub min_rtt_us: u32,
    /// Segments on their way.
    pub in_flight: u32,
    /// The state of congestion control.
    pub ca_state: u8,
    /// Segments retransmitted so far.
    pub retransmitted: u32,
    /// Bytes acknowledged so far.
    pub acked: u64,
    /// Bytes a second that it is paced to.
    pub pacing: u64,
    /// Bytes a second as last delivered.
    pub delivery: u64,
    /// The congestion control's model of the path.
    pub model: Model,
}

/// A congestion control's model of the path (`TCP_CC_INFO`); all is 0 of one that tells none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// BBR version 3: what it does just now.
    pub phase: u8,
    /// The rate in use, bytes a second.
    pub bw: u64,
    /// The bounds on what is in flight, segments; 0 without.
    pub inflight_hi: u32,
    /// The lower of them.
    pub inflight_lo: u32,
    /// The long-term and the short-term rate, bytes a second; 0 of version 1.
    pub bw_hi: u64,
    /// The lower of them; 0 without a bound.
    pub bw_lo: u64,
    /// Gains of the rate and of the window, of 256; version 1 tells them too.
    pub gains: (u32, u32),
    /// The most that ACKs ran ahead, segments.
    pub extra_acked: u32,
}

/// What was counted of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// When.
    pub at_ns: i64,
    /// Bytes that came in order.
    pub delivered: u64,
    /// Bytes beside them that the receiver holds out of order, as far as its sender knows.
    pub held: u64,
    /// Bytes sent, retransmissions included.
    pub sent_bytes: u64,
    /// Segments with data sent, retransmissions included.
    pub sent: u32,
    /// Segments retransmitted.
    pub retransmitted: u32,
    /// Timeouts.
    pub timeouts: u16,
    /// The least round trip of late, us.
    pub min_rtt_us: u32,
    /// Segments that the receiver told were marked.
    pub marked: u32,
    /// The MSS, bytes.
    pub mss: u32,
    /// What was agreed, as `tcpi_options` has it.
    pub options: u8,
}

/// What was seen of a queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WaySeen {
    /// The wire, and which of its ends.
    pub at: (usize, usize),
    /// At the warm-up.
    pub warm: Option<QueueCounts>,
    /// At the end.
    pub end: QueueCounts,
    /// Over time, where it was watched: instant, packets and bytes that wait.
    pub samples: Vec<(i64, u32, u32)>,
    /// Of DualPI2, at the same instants: how long the oldest packet of its L4S queue and of its
    /// classic queue has waited, us.
    pub ages_us: Vec<[u32; 2]>,
}

/// What a queue has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueCounts {
    /// Packets that left.
    pub sent: u64,
    /// Their bytes, Ethernet headers included.
    pub sent_bytes: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// Of DualPI2: packets that came to its L4S queue and to its classic queue.
    pub sides: Option<[u32; 2]>,
}
