//! A TCP flow: two connections, the routes between them, and the applications at both ends.

use crate::ids::{End, LinkId, ReadingAppId, TimerSlot};
use crate::network::AppConnection;
use crate::trace::{Pace, Sample, Trace};
use crate::workload::{Template, WorkloadConnection};
use std::ops::{Index, IndexMut};
use std::sync::LazyLock;
use trammel_core::time::{Span, Time};
use trammel_core::units::{Rate, TxTime};
use trammel_stats::histogram::Histogram;
use trammel_tcp::cc::CongestionControl;
use trammel_tcp::connection::{Connection, Counters};
use trammel_tcp::stack::Stack;

/// Makes a congestion control for a new connection.
pub type MakeCc = Box<dyn Fn() -> Box<dyn CongestionControl> + Send>;

/// A receiving application that sleeps between its reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader {
    /// How long it sleeps.
    pub interval: Span,
    /// How much later its timer may go off (`PR_SET_TIMERSLACK`).
    pub slack: Span,
    /// How long it takes from its timer to its read: drawn each time between a half and three
    /// halves of this.
    pub wake: Span,
    /// How fast it copies; none takes no time.
    pub copy: Option<Rate>,
}

impl Reader {
    /// One that sleeps for `interval` with the `slack` of its timer, and wakes and reads in no
    /// time.
    pub fn every(interval: Span, slack: Span) -> Reader {
        Reader {
            interval,
            slack,
            wake: Span::ZERO,
            copy: None,
        }
    }

    /// How long it takes to copy `bytes`.
    pub(crate) fn copying(&self, bytes: u64) -> Span {
        self.copy
            .map_or(Span::ZERO, |rate| TxTime::new(rate).of(bytes))
    }
}

/// What a flow is made of.
pub struct FlowSpec {
    /// Its name in tables and traces.
    pub name: String,
    /// The sender's stack.
    pub client: Stack,
    /// The receiver's stack.
    pub server: Stack,
    /// The variant, at both ends.
    pub cc: MakeCc,
    /// When it connects.
    pub start: Time,
    /// When it stops sending; [`Time::MAX`] for the end of the run.
    pub stop: Time,
    /// Bytes to send; none is without end.
    pub bytes: Option<u64>,
    /// Links from sender to receiver.
    pub forward: Vec<LinkId>,
    /// Links from receiver to sender.
    pub backward: Vec<LinkId>,
    /// How the receiving application reads; none reads at once. Flows of alike readers share one
    /// application, which reads all of them when it wakes.
    pub reader: Option<Reader>,
    /// Overhead of lower layers that links count, bytes a packet.
    pub overhead_bytes: u32,
    /// What is traced of it.
    pub pace: Pace,
    /// Seed of the flow's own random streams.
    pub seed: u64,
}

impl std::fmt::Debug for FlowSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FlowSpec")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// The two connections of a flow.
#[derive(Debug)]
pub(crate) struct Ends([Connection; 2]);

impl Ends {
    /// The client's connection and the server's.
    pub(crate) fn new(connections: [Connection; 2]) -> Ends {
        Ends(connections)
    }

    /// The client's connection and the server's.
    pub(crate) fn both(&self) -> &[Connection; 2] {
        &self.0
    }
}

impl Index<End> for Ends {
    type Output = Connection;
    #[inline]
    fn index(&self, end: End) -> &Connection {
        &self.0[end as usize]
    }
}

impl IndexMut<End> for Ends {
    #[inline]
    fn index_mut(&mut self, end: End) -> &mut Connection {
        &mut self.0[end as usize]
    }
}

/// The round trips of a flow that has had none.
pub(crate) static NO_RTT: LazyLock<Histogram> = LazyLock::new(|| Histogram::of_counts(2));

/// What a flow achieved, also after its connections are gone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowResult {
    /// When the handshake was over at the sender.
    pub established: Option<Time>,
    /// When the last byte was delivered, for a flow of finite size.
    pub completed: Option<Time>,
    /// Payload bytes that the sender knows to be delivered.
    pub bytes_acked: u64,
    /// The same at the end of the warm-up.
    pub bytes_acked_warm: u64,
    /// Payload bytes delivered in order at the receiver.
    pub bytes_delivered: u64,
    /// The same at the end of the warm-up.
    pub bytes_delivered_warm: u64,
    /// Payload bytes that the receiver holds out of order.
    pub bytes_held: u64,
    /// When payload last came to the receiver.
    pub last_data: Time,
    /// The sender's counters.
    pub sender: Counters,
    /// The receiver's counters.
    pub receiver: Counters,
    /// Window, segments.
    pub cwnd: u32,
    /// Smoothed round trip, µs.
    pub srtt_us: u32,
    /// Smallest round trip, µs.
    pub min_rtt_us: u32,
}

/// Whose connection a flow without a name is.
#[derive(Debug)]
pub(crate) enum Job {
    /// A workload's.
    Workload(WorkloadConnection),
    /// An application's.
    App(AppConnection),
}

/// A flow at work.
#[derive(Debug)]
pub(crate) struct RunningFlow {
    pub(crate) spec: FlowSpec,
    pub(crate) ends: Option<Box<Ends>>,
    /// The sender's timer on the agenda.
    pub(crate) slot: TimerSlot,
    /// Which application reads what arrives; `None` reads at once.
    pub(crate) reading_app: Option<ReadingAppId>,
    /// Round trips, µs; made with the first of them, since it is large.
    pub(crate) rtt: Option<Box<Histogram>>,
    pub(crate) trace: Trace,
    pub(crate) result: FlowResult,
    pub(crate) stopped: bool,
    /// What it does for a workload or an application.
    pub(crate) job: Option<Box<Job>>,
    /// When its job has its next turn.
    pub(crate) turn_at: Time,
}

impl RunningFlow {
    pub(crate) fn new(spec: FlowSpec) -> RunningFlow {
        let trace = Trace::new(spec.pace);
        RunningFlow {
            spec,
            ends: None,
            slot: TimerSlot::NONE,
            reading_app: None,
            rtt: None,
            trace,
            result: FlowResult::default(),
            stopped: false,
            job: None,
            turn_at: Time::MAX,
        }
    }

    /// A flow of a workload or an application, before it has a job.
    pub(crate) fn waiting(shape: &Template) -> RunningFlow {
        let spec = FlowSpec {
            name: String::new(),
            client: shape.client.clone(),
            server: shape.server.clone(),
            cc: Box::new(|| unreachable!("a workload makes its own")),
            start: Time::ZERO,
            stop: Time::MAX,
            bytes: None,
            forward: Vec::new(),
            backward: Vec::new(),
            reader: None,
            overhead_bytes: shape.overhead_bytes,
            pace: Pace::Off,
            seed: 0,
        };
        RunningFlow::new(spec)
    }

    /// Takes in a round trip.
    #[inline]
    pub(crate) fn record_rtt(&mut self, rtt_us: u32) {
        let make = || Box::new(Histogram::of_counts(100_000_000));
        self.rtt.get_or_insert_with(make).record(u64::from(rtt_us));
    }

    /// Copies what is to be known of the connections into the result.
    pub(crate) fn update_result(&mut self) {
        let Some(ends) = &self.ends else { return };
        let (sender, receiver) = (&ends[End::Client], &ends[End::Server]);
        self.result.bytes_acked = sender.tp().bytes_acked;
        self.result.bytes_delivered = receiver.counters().bytes_delivered;
        self.result.bytes_held = receiver.bytes_held();
        self.result.last_data = receiver.last_data();
        self.result.sender = *sender.counters();
        self.result.receiver = *receiver.counters();
        self.result.cwnd = sender.tp().snd_cwnd;
        self.result.srtt_us = sender.tp().srtt_us >> 3;
        self.result.min_rtt_us = sender.tp().min_rtt_us;
    }

    /// What a trace shows of the sender at `now`.
    pub(crate) fn sample(&self, now: Time) -> Option<Sample> {
        let ends = self.ends.as_ref()?;
        Some(Sample::of(&ends[End::Client], now))
    }
}
