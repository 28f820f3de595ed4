//! Workloads: TCP flows that come and go, requests and responses, bursts.
//!
//! | plan | what happens |
//! | --- | --- |
//! | [`Plan::Arrivals`] | each flow connects at its own time, sends its bytes and closes |
//! | [`Plan::Exchanges`] | on each connection a request, its response, a time of thought, and again |
//! | [`Plan::Bursts`] | on each connection data during "on" periods, silence during "off" periods |
//!
//! Times and sizes come from the plan and from the workload's own random streams, never from how
//! the network fares; only requests wait for their responses. Connections exist from their start to
//! their end, and what they leave behind is one [`Completion`] each, so that a hundred thousand
//! short flows need no more memory than those that are open at the same time.
//!
//! A completion's *slowdown* is its time divided by the ideal one, of an empty network without slow
//! start: one round trip of propagation for the handshake, where there was one, then for each
//! direction that carries data its propagation delay and all its bytes, headers included, at the
//! rate of its slowest link. No serialisation elsewhere is counted, so that without token buckets
//! no slowdown is below 1.

use crate::flow::MakeCc;
use crate::ids::{LinkId, Table, WorkloadId};
use crate::link::Link;
use trammel_core::entry::Params;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_core::units::TxTime;
use trammel_stats::arrivals::{Renewal, Spans};
use trammel_stats::dist::{self, Distribution};
use trammel_tcp::connection::{Connection, State};
use trammel_tcp::stack::Stack;

/// What all flows of a workload have in common.
pub struct Template {
    /// The stack of the ends that connect.
    pub client: Stack,
    /// The stack of the ends that are connected to.
    pub server: Stack,
    /// The variant, at both ends.
    pub cc: MakeCc,
    /// Links from client to server.
    pub forward: Vec<LinkId>,
    /// Links from server to client.
    pub backward: Vec<LinkId>,
    /// Overhead of lower layers that links count, bytes a packet.
    pub overhead_bytes: u32,
}

/// How the flows of a workload come.
#[derive(Debug)]
pub enum Plan {
    /// A flow at each time, with its bytes, in the order of time.
    Arrivals(Vec<(Time, u64)>),
    /// Requests and responses over connections that stay.
    Exchanges {
        /// Connections at once.
        connections: u32,
        /// Bytes of a request.
        request: Box<dyn Distribution>,
        /// Bytes of a response.
        response: Box<dyn Distribution>,
        /// Time between a response and the next request.
        think: Spans,
    },
    /// Bursts and silence over connections that stay.
    Bursts {
        /// Connections at once.
        connections: u32,
        /// Time of a burst.
        on: Spans,
        /// Time between bursts.
        off: Spans,
        /// Payload bytes a second that are written in a burst; none is as fast as TCP sends.
        bytes_per_s: Option<f64>,
    },
}

/// What a workload is made of.
pub struct WorkloadSpec {
    /// Its name in tables.
    pub name: String,
    /// What its flows are like.
    pub flow: Template,
    /// How they come.
    pub plan: Plan,
    /// When connections that stay are opened, each after a part of its first pause.
    pub start: Time,
    /// When no more requests and bursts begin, and connections that stay are closed.
    pub stop: Time,
    /// Seed of the workload's own random streams.
    pub seed: u64,
}

impl std::fmt::Debug for WorkloadSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkloadSpec")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Flows that arrive as a Poisson process of `per_second` flows a second from `start` to before
/// `stop`, with sizes of `bytes`. Times and sizes have streams of their own: a higher rate does not
/// change the sizes.
pub fn poisson(
    seed: u64,
    name: &str,
    (start, stop): (Time, Time),
    per_second: f64,
    bytes: &dyn Distribution,
) -> Vec<(Time, u64)> {
    let law = dist::find("exponential").expect("the distribution is built in");
    let law = (law.build)(&Params::defaults(&law.about)).expect("defaults are possible");
    let Some(gaps) = Spans::at_rate(law, per_second) else {
        return Vec::new();
    };
    let mut sizes = Rng::new(seed, &format!("workload:{name}:size"));
    let times = Rng::new(seed, &format!("workload:{name}:arrival"));
    // The first arrival of a renewal process is its start, which is no arrival of a Poisson
    // process.
    Renewal::new(start, gaps, times)
        .skip(1)
        .take_while(|time| *time < stop)
        .map(|time| (time, whole(bytes.sample(&mut sizes))))
        .collect()
}

fn whole(bytes: f64) -> u64 {
    bytes.round().max(1.0) as u64
}

/// A flow or a response that has been delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// When it began: the connection was opened, or the request written.
    pub start: Time,
    /// Time from there to the delivery of its last byte.
    pub time: Span,
    /// The time that it would have taken in an empty network without slow start.
    pub ideal: Span,
    /// Payload bytes: of the flow, or of the response.
    pub bytes: u64,
}

impl Completion {
    /// Time divided by ideal time.
    pub fn slowdown(&self) -> f64 {
        self.time.as_ps() as f64 / self.ideal.as_ps().max(1) as f64
    }
}

/// Mean and percentiles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
}

impl Spread {
    /// The spread of `values`; zeros where there are none. A percentile is the smallest value that
    /// so many of a hundred do not exceed.
    pub fn of(mut values: Vec<f64>) -> Spread {
        if values.is_empty() {
            return Spread::default();
        }
        values.sort_by(f64::total_cmp);
        let count = values.len();
        let percentile = |percent: usize| values[(count * percent).div_ceil(100).max(1) - 1];
        Spread {
            mean: values.iter().sum::<f64>() / count as f64,
            p50: percentile(50),
            p95: percentile(95),
            p99: percentile(99),
        }
    }
}

/// Completions of one range of sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeBucket {
    /// Smallest size, bytes.
    pub from_bytes: u64,
    /// First size that is too large, bytes; [`u64::MAX`] for the last range.
    pub below_bytes: u64,
    /// Completions.
    pub count: usize,
    /// Those that began and are not complete, be it for lack of time or because the connection gave
    /// up.
    pub unfinished: usize,
    /// Their times, s.
    pub time_s: Spread,
    /// Their slowdowns.
    pub slowdown: Spread,
}

/// The unloaded path of a workload.
#[derive(Clone, Copy, Debug)]
struct Ideal {
    /// Of each direction: propagation delay and time per byte.
    ways: [(Span, Option<TxTime>); 2],
    /// Of each direction: payload and bytes that links count of a full segment.
    segments: [(u64, u64); 2],
}

impl Ideal {
    fn new(flow: &Template, links: &Table<LinkId, Link>) -> Ideal {
        let way = |route: &[LinkId]| {
            let mut delay = Span::ZERO;
            for link in route {
                delay += links[*link].delay();
            }
            let slowest = route.iter().filter_map(|link| links[*link].rate()).min();
            (delay, slowest.map(TxTime::new))
        };
        let mss = flow.client.mss.min(flow.server.mss);
        let timestamps = flow.client.timestamps && flow.server.timestamps;
        let payload = u64::from(mss) - if timestamps { 12 } else { 0 };
        let full = u64::from(mss) + 40 + u64::from(flow.overhead_bytes);
        Ideal {
            ways: [way(&flow.forward), way(&flow.backward)],
            segments: [(payload, full); 2],
        }
    }

    /// Time for `bytes` of payload in direction `way`.
    fn transfer(&self, way: usize, bytes: u64) -> Span {
        let (delay, tx) = self.ways[way];
        let (payload, full) = self.segments[way];
        let wire = bytes + bytes.div_ceil(payload) * (full - payload);
        delay + tx.map_or(Span::ZERO, |tx| tx.of(wire))
    }

    fn handshake(&self) -> Span {
        self.ways[0].0 + self.ways[1].0
    }
}

/// What of a workload has begun, and what is complete.
#[derive(Clone, Debug, Default)]
pub struct Completed {
    /// What is complete, in the order of completion.
    pub completions: Vec<Completion>,
    /// Start and bytes of all that is or will be a completion.
    pub begun: Vec<(Time, u64)>,
}

impl Completed {
    /// Completions of what began at `since` or later, by size: below the first of `edges`, between
    /// each two of them, and from the last on.
    pub fn by_size(&self, edges: &[u64], since: Time) -> Vec<SizeBucket> {
        let starts = std::iter::once(0).chain(edges.iter().copied());
        let ends = edges.iter().copied().chain([u64::MAX]);
        let bucket = |(from_bytes, below_bytes): (u64, u64)| {
            let has = |start: Time, bytes: u64| {
                start >= since && (from_bytes..below_bytes).contains(&bytes)
            };
            let begun = self
                .begun
                .iter()
                .filter(|(start, bytes)| has(*start, *bytes));
            let those: Vec<_> = self
                .completions
                .iter()
                .filter(|c| has(c.start, c.bytes))
                .collect();
            SizeBucket {
                from_bytes,
                below_bytes,
                count: those.len(),
                unfinished: begun.count() - those.len(),
                time_s: Spread::of(those.iter().map(|c| c.time.as_secs_f64()).collect()),
                slowdown: Spread::of(those.iter().map(|c| c.slowdown()).collect()),
            }
        };
        starts.zip(ends).map(bucket).collect()
    }
}

/// A workload at work.
#[derive(Debug)]
pub struct Workload {
    pub(crate) spec: WorkloadSpec,
    ideal: Ideal,
    rng: Rng,
    next_arrival: usize,
    opened: u64,
    failed: u64,
    completed: Completed,
    /// What its connections that are over have got through.
    over: Passed,
}

/// What connections of a workload have got through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passed {
    /// Payload bytes that came, each once, in the direction in which data go: of exchanges the
    /// responses.
    pub delivered_bytes: u64,
    /// Segments retransmitted in that direction.
    pub retransmissions: u64,
}

impl Passed {
    pub(crate) fn add(&mut self, other: Passed) {
        self.delivered_bytes += other.delivered_bytes;
        self.retransmissions += other.retransmissions;
    }
}

/// What one connection of a workload is doing.
#[derive(Debug)]
pub(crate) struct WorkloadConnection {
    pub(crate) workload: WorkloadId,
    kind: Activity,
}

#[derive(Clone, Copy, Debug)]
enum Activity {
    Transfer {
        start: Time,
        bytes: u64,
        is_done: bool,
    },
    Exchange(Exchange),
    Burst {
        on_until: Option<Time>,
    },
}

#[derive(Clone, Copy, Debug)]
struct Exchange {
    start: Time,
    is_first: bool,
    request: u64,
    response: u64,
    /// Bytes that the server has when it has this request and those before it.
    requested: u64,
    /// Bytes that the client has when it has this response and those before it.
    answered: u64,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Asking,
    Answering,
    Thinking,
}

impl Workload {
    pub(crate) fn new(spec: WorkloadSpec, links: &Table<LinkId, Link>) -> Workload {
        Workload {
            ideal: Ideal::new(&spec.flow, links),
            rng: Rng::new(spec.seed, &format!("workload:{}", spec.name)),
            spec,
            next_arrival: 0,
            opened: 0,
            failed: 0,
            completed: Completed::default(),
            over: Passed::default(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.spec.name
    }
    /// Connections opened so far.
    pub fn opened(&self) -> u64 {
        self.opened
    }
    /// Connections that gave up.
    pub fn failed(&self) -> u64 {
        self.failed
    }
    /// What was completed, in the order of completion.
    pub fn completions(&self) -> &[Completion] {
        &self.completed.completions
    }

    /// What has begun, and what of it is complete.
    pub fn completed(&self) -> &Completed {
        &self.completed
    }

    /// Start and bytes of each flow that is planned to come; empty for connections that stay.
    pub fn arrivals(&self) -> &[(Time, u64)] {
        match &self.spec.plan {
            Plan::Arrivals(arrivals) => arrivals,
            Plan::Exchanges { .. } | Plan::Bursts { .. } => &[],
        }
    }

    /// How long a flow of `bytes` takes in an empty network without slow start.
    pub fn ideal_of(&self, bytes: u64) -> Span {
        self.ideal.handshake() + self.ideal.transfer(0, bytes)
    }

    /// When connections are to be opened before the first event: the first of a plan, or all that
    /// stay.
    pub(crate) fn first_openings(&mut self) -> Vec<Time> {
        let (connections, pause) = match &mut self.spec.plan {
            Plan::Arrivals(arrivals) => {
                return arrivals
                    .first()
                    .map(|(time, _)| *time)
                    .into_iter()
                    .collect();
            }
            Plan::Exchanges {
                connections, think, ..
            } => (*connections, think),
            Plan::Bursts {
                connections, off, ..
            } => (*connections, off),
        };
        let (start, stop, rng) = (self.spec.start, self.spec.stop, &mut self.rng);
        let opening = |_| {
            let whole = pause.draw(rng).as_ps();
            start.saturating_add(Span::from_ps(rng.below(whole.max(1))))
        };
        (0..connections)
            .map(opening)
            .filter(|time| *time < stop)
            .collect()
    }

    /// The connection to open at `now`, and when the next one follows.
    pub(crate) fn open(
        &mut self,
        now: Time,
        number: WorkloadId,
    ) -> (WorkloadConnection, Option<Time>) {
        self.opened += 1;
        let mut next = None;
        let kind = match &mut self.spec.plan {
            Plan::Arrivals(arrivals) => {
                let (start, bytes) = arrivals[self.next_arrival];
                self.next_arrival += 1;
                next = arrivals.get(self.next_arrival).map(|(time, _)| *time);
                self.completed.begun.push((start, bytes));
                Activity::Transfer {
                    start,
                    bytes,
                    is_done: false,
                }
            }
            Plan::Exchanges {
                request, response, ..
            } => {
                let (request, response) = (
                    request.sample(&mut self.rng),
                    response.sample(&mut self.rng),
                );
                let (request, response) = (whole(request), whole(response));
                self.completed.begun.push((now, response));
                Activity::Exchange(Exchange {
                    start: now,
                    is_first: true,
                    request,
                    response,
                    requested: request,
                    answered: response,
                    phase: Phase::Asking,
                })
            }
            Plan::Bursts { .. } => Activity::Burst { on_until: None },
        };
        (
            WorkloadConnection {
                workload: number,
                kind,
            },
            next,
        )
    }

    /// The connection of `job` is about to connect; says when the job wants its
    /// [`turn`](Workload::turn).
    pub(crate) fn begin(
        &mut self,
        now: Time,
        job: &mut WorkloadConnection,
        client: &mut Connection,
    ) -> Option<Time> {
        match job.kind {
            Activity::Transfer { bytes, .. } => {
                client.write(bytes);
                client.close_when_written();
                None
            }
            Activity::Exchange(exchange) => {
                client.write(exchange.request);
                None
            }
            Activity::Burst { .. } => self.turn(now, job, client),
        }
    }

    /// The server has got a segment.
    pub(crate) fn on_server(
        &mut self,
        now: Time,
        job: &mut WorkloadConnection,
        server: &mut Connection,
    ) {
        let delivered = server.counters().bytes_delivered;
        match &mut job.kind {
            Activity::Transfer {
                start,
                bytes,
                is_done,
            } => {
                if !*is_done && delivered >= *bytes {
                    *is_done = true;
                    let ideal = self.ideal_of(*bytes);
                    let (start, bytes) = (*start, *bytes);
                    self.completed.completions.push(Completion {
                        start,
                        time: now - start,
                        ideal,
                        bytes,
                    });
                }
            }
            Activity::Exchange(exchange) => {
                if exchange.phase == Phase::Asking && delivered >= exchange.requested {
                    exchange.phase = Phase::Answering;
                    server.write(exchange.response);
                }
            }
            Activity::Burst { .. } => {}
        }
        if server.state() == State::CloseWait {
            server.close();
        }
    }

    /// The client has got a segment; says when the job wants its [`turn`](Workload::turn).
    pub(crate) fn on_client(
        &mut self,
        now: Time,
        job: &mut WorkloadConnection,
        client: &mut Connection,
    ) -> Option<Time> {
        let Activity::Exchange(exchange) = &mut job.kind else {
            return None;
        };
        let is_answered = exchange.phase == Phase::Answering
            && client.counters().bytes_delivered >= exchange.answered;
        if !is_answered {
            return None;
        }
        exchange.phase = Phase::Thinking;
        let mut ideal =
            self.ideal.transfer(0, exchange.request) + self.ideal.transfer(1, exchange.response);
        if exchange.is_first {
            ideal += self.ideal.handshake();
        }
        let (start, bytes) = (exchange.start, exchange.response);
        self.completed.completions.push(Completion {
            start,
            time: now - start,
            ideal,
            bytes,
        });
        let Plan::Exchanges { think, .. } = &mut self.spec.plan else {
            unreachable!("exchanges come from such a plan");
        };
        Some(
            now.saturating_add(think.draw(&mut self.rng))
                .min(self.spec.stop.max(now)),
        )
    }

    /// The time that a job asked for has come: the next request or burst, or the end of one.
    pub(crate) fn turn(
        &mut self,
        now: Time,
        job: &mut WorkloadConnection,
        client: &mut Connection,
    ) -> Option<Time> {
        if now >= self.spec.stop {
            if client.unsent() == u64::MAX {
                client.stop_writing();
            }
            client.close();
            return None;
        }
        let mss = u64::from(client.tp().mss);
        match (&mut job.kind, &mut self.spec.plan) {
            (
                Activity::Exchange(exchange),
                Plan::Exchanges {
                    request, response, ..
                },
            ) => {
                let (request, response) = (
                    request.sample(&mut self.rng),
                    response.sample(&mut self.rng),
                );
                exchange.request = whole(request);
                exchange.response = whole(response);
                exchange.requested += exchange.request;
                exchange.answered += exchange.response;
                self.completed.begun.push((now, exchange.response));
                exchange.start = now;
                exchange.is_first = false;
                exchange.phase = Phase::Asking;
                client.write(exchange.request);
                None
            }
            (
                Activity::Burst { on_until },
                Plan::Bursts {
                    on,
                    off,
                    bytes_per_s,
                    ..
                },
            ) => {
                let until = match *on_until {
                    Some(until) if now >= until => {
                        // What a source at a rate has written is still sent.
                        if client.unsent() == u64::MAX {
                            client.stop_writing();
                        }
                        *on_until = None;
                        let silence = off.draw(&mut self.rng);
                        return Some(now.saturating_add(silence).min(self.spec.stop));
                    }
                    Some(until) => until,
                    None => {
                        let until = now
                            .saturating_add(on.draw(&mut self.rng))
                            .min(self.spec.stop);
                        *on_until = Some(until);
                        until
                    }
                };
                let Some(rate) = *bytes_per_s else {
                    client.write_forever();
                    return Some(until);
                };
                client.write(mss);
                Some(
                    now.saturating_add(Span::from_secs_f64(mss as f64 / rate))
                        .min(until),
                )
            }
            _ => None,
        }
    }

    /// What the connection with these ends has got through.
    pub(crate) fn passed(&self, [client, server]: &[Connection; 2]) -> Passed {
        let (sender, receiver) = match self.spec.plan {
            Plan::Exchanges { .. } => (server, client),
            Plan::Arrivals(_) | Plan::Bursts { .. } => (client, server),
        };
        Passed {
            delivered_bytes: receiver.counters().bytes_delivered + receiver.bytes_held(),
            retransmissions: sender.counters().retransmissions,
        }
    }

    /// What its connections that are over have got through.
    pub(crate) fn over(&self) -> Passed {
        self.over
    }

    /// A connection is over that has got this through.
    pub(crate) fn note_over(&mut self, passed: Passed) {
        self.over.add(passed);
    }

    /// A connection gave up.
    pub(crate) fn note_failure(&mut self) {
        self.failed += 1;
    }
}

#[cfg(test)]
mod tests;
