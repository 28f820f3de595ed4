//! Flows at work: one loop over sockets that have room, and over what is due.
//!
//! Calls of the kernel are dear in a guest, packets cheap. So a receiver that would read at once is
//! not woken by what comes: it reads now and then (`GuestJob::read_ns`), and has the kernel
//! acknowledge meanwhile as if it had read ([`LOW_WATER`]). Its sender notices nothing of it, since
//! the window is large. One whose window is small is woken, and one that is to read slowly reads as
//! it is told.

use super::captures::{Captures, DRAIN_NS};
use super::network::{Network, address};
use super::queues::Queues;
use super::result::Result;
use crate::job::{
    Answer, Counts, FIRST_PORT, FlowSeen, GuestFlow, GuestJob, Model, Sample, WaySeen,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use trammel_io::clock::{monotonic_ns, sleep_until};
use trammel_io::poll::{Interest, Poll};
use trammel_io::tcp::{self, BbrInfo, Options, Pages, TcpInfo};

/// From one reading of a receiver to the next at least.
const READ_NS: i64 = 1_000_000;
/// Bytes below which the kernel sends an ACK for every second segment whether they were read or not
/// (`__tcp_ack_snd_check`); more than come between two readings.
const LOW_WATER: i32 = 16 << 20;
/// Bytes of a call that writes.
const WRITE_BYTES: usize = 1 << 20;
/// `SOF_…` of a token: what it is of.
const PARTIES: u64 = 3;

/// What is due at an instant, in the order in which it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    /// A way changes: wire, end, number of the change.
    Change(usize, usize, usize),
    /// A flow starts.
    Start(usize),
    /// A flow stops to send.
    Stop(usize),
    /// A flow writes that has a rate of its own.
    Write(usize),
    /// All receivers that have no rhythm of their own read.
    ReadAll,
    /// A receiver reads.
    Read(usize),
    /// The queues are looked at.
    LookAtQueues,
    /// The flows are.
    LookAtFlows,
    /// Captures are emptied.
    Drain,
    /// All is counted.
    Warm,
    /// It is over.
    End,
}

/// When a receiver reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reads {
    /// When something has come.
    AtOnce,
    /// Now and then, without anyone's noticing.
    Often,
    /// In its own rhythm.
    Slowly,
}

impl Reads {
    fn of(flow: &GuestFlow) -> Reads {
        if flow.read_ns.is_some() {
            Reads::Slowly
        } else if flow.receive_buffer.is_some() || flow.is_read_at_once {
            Reads::AtOnce
        } else {
            Reads::Often
        }
    }
}

/// A flow and its sockets.
#[derive(Debug)]
struct Running<'a> {
    spec: &'a GuestFlow,
    /// The first of its tokens.
    token: u64,
    listener: Option<TcpListener>,
    sender: Option<TcpStream>,
    receiver: Option<TcpStream>,
    /// What it has still to write, and how much of that by now.
    left: u64,
    allowed: u64,
    /// Whether it is woken when there is room.
    is_awaited: bool,
    is_connected: bool,
    received: u64,
    /// As last told.
    last: Counts,
    seen: FlowSeen,
}

/// Does `job` over its network, from the instant `start_ns` of the monotonic clock on.
pub(crate) fn run(
    job: &GuestJob,
    network: &Network,
    queues: &mut dyn Queues,
    start_ns: i64,
) -> Result<Answer> {
    let pages = Pages::new(WRITE_BYTES)?;
    let mut poll = Poll::new()?;
    let mut flows = Vec::with_capacity(job.flows.len());
    for (number, spec) in job.flows.iter().enumerate() {
        let mut flow = Running::new(spec, PARTIES * number as u64);
        // Those that come and go listen when they come.
        if !spec.is_brief {
            flow.listen(job, network, number, &poll)?;
        }
        flows.push(flow);
    }
    // Those that have come and not gone.
    let mut active: Vec<usize> = Vec::new();
    let mut ways: Vec<WaySeen> = Vec::new();
    for (number, wire) in job.wires.iter().enumerate() {
        let of = |end: usize| WaySeen {
            at: (number, end),
            ..WaySeen::default()
        };
        ways.extend((0..2).filter(|end| wire.ways[*end].queue.is_some()).map(of));
    }
    let mut captures = Captures::begin(job, network, start_ns)?;
    let mut due = plan(job);
    if !captures.is_empty() {
        due.push(Reverse((0, Due::Drain)));
    }
    sleep_until(start_ns);
    let (mut ready, mut now) = (Vec::new(), 0);
    'run: loop {
        while let Some(Reverse((at, _))) = due.peek()
            && *at <= now
        {
            let Some(Reverse((at, what))) = due.pop() else {
                break;
            };
            match what {
                Due::Change(wire, end, number) => {
                    let (_, change) = &job.wires[wire].ways[end].changes[number];
                    queues.change((wire, end), change)?;
                }
                Due::Start(flow) => {
                    if flows[flow].spec.is_brief {
                        flows[flow].listen(job, network, flow, &poll)?;
                    }
                    flows[flow].start(network, flow, &poll)?;
                    active.push(flow);
                    if flows[flow].spec.writes.is_some() {
                        due.push(Reverse((at, Due::Write(flow))));
                    }
                }
                Due::Stop(flow) => flows[flow].stop(now, &poll)?,
                Due::Write(flow) => {
                    if let Some(next) = flows[flow].write_due(now, at, &pages, &poll)? {
                        due.push(Reverse((next, what)));
                    }
                }
                Due::ReadAll => {
                    active.retain(|flow| !flows[*flow].is_over());
                    for flow in &active {
                        if Reads::of(flows[*flow].spec) == Reads::Often {
                            flows[*flow].read(now)?;
                        }
                    }
                    due.push(Reverse((at + job.read_ns.max(READ_NS), what)));
                }
                Due::Read(flow) => {
                    flows[flow].read(now)?;
                    let every = flows[flow].spec.read_ns.unwrap_or(READ_NS).max(READ_NS);
                    due.push(Reverse((at + every, what)));
                }
                Due::LookAtQueues => {
                    for way in &mut ways {
                        let (wire, end) = way.at;
                        if job.wires[wire].ways[end].is_watched {
                            let (packets, bytes) = queues.waiting(way.at)?;
                            way.samples.push((at, packets, bytes));
                            way.ages_us.extend(queues.ages_us(way.at)?);
                        }
                    }
                    due.push(Reverse((at + job.queue_ns, what)));
                }
                Due::LookAtFlows => {
                    for flow in &active {
                        flows[*flow].look(at)?;
                    }
                    due.push(Reverse((at + job.sample_ns, what)));
                }
                Due::Drain => {
                    captures.drain();
                    due.push(Reverse((at + DRAIN_NS, what)));
                }
                Due::Warm => {
                    for flow in flows.iter_mut().filter(|flow| flow.is_counted()) {
                        flow.seen.warm = Some(flow.count(now)?);
                    }
                    for way in &mut ways {
                        way.warm = Some(queues.counts(way.at)?);
                    }
                }
                Due::End => break 'run,
            }
        }
        let next = due.peek().map_or(now, |Reverse((at, _))| *at);
        poll.wait(next - now, |token| ready.push(token))?;
        now = monotonic_ns() - start_ns;
        for token in ready.drain(..) {
            let flow = &mut flows[(token / PARTIES) as usize];
            match token % PARTIES {
                0 => flow.accept(token, &poll)?,
                1 => flow.write(&pages, &poll)?,
                _ => flow.read(now)?,
            }
        }
    }
    for flow in &mut flows {
        if flow.is_counted() {
            flow.seen.end = flow.count(job.duration_ns)?;
        }
    }
    for way in &mut ways {
        way.end = queues.counts(way.at)?;
    }
    Ok(Answer {
        flows: flows.into_iter().map(|flow| flow.seen).collect(),
        ways,
        captures: captures.end()?,
    })
}

/// All that is due in a run, as far as it is known before it.
fn plan(job: &GuestJob) -> BinaryHeap<Reverse<(i64, Due)>> {
    let mut due = vec![
        (job.duration_ns, Due::End),
        (job.read_ns.max(READ_NS), Due::ReadAll),
    ];
    for (number, flow) in job.flows.iter().enumerate() {
        if flow.start_ns < job.duration_ns {
            due.push((flow.start_ns, Due::Start(number)));
        }
        if flow.stop_ns < job.duration_ns {
            due.push((flow.stop_ns, Due::Stop(number)));
        }
        due.extend(
            flow.read_ns
                .map(|every| (flow.start_ns + every, Due::Read(number))),
        );
    }
    for (wire, of) in job.wires.iter().enumerate() {
        for (end, way) in of.ways.iter().enumerate() {
            let changes = way.changes.iter().enumerate();
            due.extend(changes.map(|(number, (at, _))| (*at, Due::Change(wire, end, number))));
        }
    }
    if job.sample_ns > 0 {
        due.push((0, Due::LookAtFlows));
    }
    if job.queue_ns > 0 {
        due.push((0, Due::LookAtQueues));
    }
    due.extend(job.warmup_ns.map(|at| (at, Due::Warm)));
    due.into_iter().map(Reverse).collect()
}

impl<'a> Running<'a> {
    fn new(spec: &'a GuestFlow, token: u64) -> Running<'a> {
        Running {
            spec,
            token,
            listener: None,
            sender: None,
            receiver: None,
            left: spec.bytes.unwrap_or(u64::MAX),
            allowed: if spec.writes.is_some() { 0 } else { u64::MAX },
            is_awaited: false,
            is_connected: false,
            received: 0,
            last: Counts::default(),
            seen: FlowSeen::default(),
        }
    }

    /// Listens for the flow.
    fn listen(
        &mut self,
        job: &GuestJob,
        network: &Network,
        number: usize,
        poll: &Poll,
    ) -> Result<()> {
        let (wire, end) = self.spec.to;
        let host = &network.hosts[job.wires[wire].ends[end]];
        let options = Options {
            // Whether a connection speaks DCTCP's ECN is the listener's matter too.
            congestion: Some(self.spec.congestion.clone()),
            receive_buffer: self.spec.receive_buffer,
            low_water: (Reads::of(self.spec) == Reads::Often).then_some(LOW_WATER),
            dscp: self.spec.dscp,
            ..Options::default()
        };
        let place = Running::place(number, self.spec);
        let listener = host.run(|| tcp::listen(place, 1, &options))?;
        poll.add(&listener, PARTIES * number as u64, Interest::Readable)?;
        self.listener = Some(listener);
        Ok(())
    }

    /// Whether it is told what the kernel has counted of it.
    fn is_counted(&self) -> bool {
        self.sender.is_some() && !self.spec.is_brief
    }

    /// Whether it came and went, or has failed.
    fn is_over(&self) -> bool {
        self.spec.is_brief && self.sender.is_none()
    }

    /// Where it goes to.
    fn place(number: usize, spec: &GuestFlow) -> SocketAddr {
        let (wire, end) = spec.to;
        (address(wire, end), (FIRST_PORT + number) as u16).into()
    }

    fn start(&mut self, network: &Network, number: usize, poll: &Poll) -> Result<()> {
        let options = Options {
            congestion: Some(self.spec.congestion.clone()),
            send_buffer: self.spec.send_buffer,
            no_delay: self.spec.no_delay,
            dscp: self.spec.dscp,
            max_pacing_rate: self.spec.max_pacing_rate,
            ..Options::default()
        };
        let to = Running::place(number, self.spec);
        let sender = network.hosts[self.spec.from].run(|| tcp::connect(to, &options))?;
        poll.add(&sender, PARTIES * number as u64 + 1, Interest::Writable)?;
        self.is_awaited = true;
        self.sender = Some(sender);
        Ok(())
    }

    fn accept(&mut self, token: u64, poll: &Poll) -> io::Result<()> {
        let Some(listener) = &self.listener else {
            return Ok(());
        };
        let (receiver, _) = listener.accept()?;
        receiver.set_nonblocking(true)?;
        // One that reads often is woken by the end only.
        let is_told = Reads::of(self.spec) == Reads::AtOnce || self.spec.bytes.is_some();
        if is_told && Reads::of(self.spec) != Reads::Slowly {
            poll.add(&receiver, token + 2, Interest::Readable)?;
        }
        self.receiver = Some(receiver);
        Ok(())
    }

    /// Writes as much as there is room for.
    fn write(&mut self, pages: &Pages, poll: &Poll) -> io::Result<()> {
        let Some(sender) = &self.sender else {
            return Ok(());
        };
        if !self.is_connected {
            if let Some(why) = sender.take_error()? {
                self.seen.failure = failure(&why);
                self.left = 0;
                self.is_awaited = false;
                return poll.remove(sender);
            }
            self.is_connected = true;
        }
        while self.left > 0 && self.allowed > 0 {
            let offered = self.left.min(self.allowed).min(WRITE_BYTES as u64);
            match pages.send(sender, offered) {
                Ok(bytes) => {
                    self.left -= bytes as u64;
                    self.allowed -= bytes as u64;
                    if (bytes as u64) < offered {
                        return Ok(());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => {
                    self.seen.failure = failure(&error);
                    self.left = 0;
                }
            }
        }
        if std::mem::take(&mut self.is_awaited) {
            poll.remove(sender)?;
        }
        if self.left == 0 {
            // One that has failed is shut already.
            let _ = sender.shutdown(Shutdown::Write);
        }
        Ok(())
    }

    /// Writes what is due by now of a flow that has a rate; when it is to write again.
    fn write_due(
        &mut self,
        now: i64,
        at: i64,
        pages: &Pages,
        poll: &Poll,
    ) -> io::Result<Option<i64>> {
        let Some(writes) = self.spec.writes.filter(|_| self.left > 0) else {
            return Ok(None);
        };
        let written = self.spec.bytes.unwrap_or(u64::MAX) - self.left;
        self.allowed = writes.due(now - self.spec.start_ns).saturating_sub(written);
        if self.is_connected && !self.is_awaited && self.allowed > 0 {
            self.write(pages, poll)?;
            // What there was no room for goes when there is.
            if let Some(sender) = &self.sender
                && self.left > 0
                && self.allowed > 0
            {
                poll.add(sender, self.token + 1, Interest::Writable)?;
                self.is_awaited = true;
            }
        }
        Ok((self.left > 0).then_some(at + writes.every_ns.max(1)))
    }

    /// Sends no more, not even what is written.
    fn stop(&mut self, now: i64, poll: &Poll) -> io::Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        self.seen.end = self.count(now)?;
        self.left = 0;
        if let Some(sender) = self.sender.take() {
            let _ = poll.remove(&sender);
            tcp::abort(sender)?;
        }
        Ok(())
    }

    fn read(&mut self, now: i64) -> io::Result<()> {
        let Some(receiver) = &self.receiver else {
            return Ok(());
        };
        match tcp::discard(receiver) {
            Ok(0) => self.end_of_stream(now),
            Ok(bytes) => {
                self.received += bytes as u64;
                if self.spec.bytes == Some(self.received) {
                    self.end_of_stream(now);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            // The sender has stopped.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => self.receiver = None,
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn end_of_stream(&mut self, now: i64) {
        if self.spec.bytes.is_some_and(|bytes| bytes == self.received) {
            self.seen.completed_ns.get_or_insert(now);
        }
        self.receiver = None;
        if self.spec.is_brief {
            (self.sender, self.listener) = (None, None);
        }
    }

    /// Takes a sample of the sender.
    fn look(&mut self, at_ns: i64) -> io::Result<()> {
        let is_seen = self.is_connected && !self.spec.is_brief;
        let Some(sender) = self.sender.as_ref().filter(|_| is_seen) else {
            return Ok(());
        };
        let info = tcp::info(sender)?;
        let model = model(&self.bbr(sender)?);
        self.seen.samples.push(Sample {
            at_ns,
            cwnd: info.snd_cwnd,
            ssthresh: info.snd_ssthresh,
            srtt_us: info.rtt,
            min_rtt_us: info.min_rtt,
            in_flight: in_flight(&info),
            ca_state: info.ca_state,
            retransmitted: info.total_retrans,
            acked: info.bytes_acked,
            pacing: info.pacing_rate,
            delivery: info.delivery_rate,
            model,
        });
        Ok(())
    }

    /// What BBR tells of itself, if the flow has it.
    fn bbr(&self, sender: &TcpStream) -> io::Result<BbrInfo> {
        if self.spec.congestion == "bbr" {
            tcp::bbr(sender)
        } else {
            Ok(BbrInfo::default())
        }
    }

    fn count(&mut self, at_ns: i64) -> io::Result<Counts> {
        let Some(sender) = &self.sender else {
            return Ok(self.last);
        };
        let info = tcp::info(sender)?;
        self.seen.bbr_version = self.bbr(sender)?.version;
        // What has come in order, whether it was read or not.
        let (delivered, held) = match &self.receiver {
            Some(receiver) => {
                let delivered = tcp::info(receiver)?.bytes_received;
                (delivered, held(&info, delivered))
            }
            None => (self.received, 0),
        };
        self.last = Counts {
            at_ns,
            delivered,
            held,
            sent_bytes: info.bytes_sent,
            sent: info.data_segs_out,
            retransmitted: info.total_retrans,
            timeouts: info.total_rto,
            min_rtt_us: info.min_rtt,
            marked: info.delivered_ce,
            mss: info.snd_mss,
            options: info.options,
        };
        Ok(self.last)
    }
}

/// What BBR tells of its model: version 1 its gains alone.
fn model(told: &BbrInfo) -> Model {
    let gains = (told.pacing_gain, told.cwnd_gain);
    if told.version < 3 {
        return Model {
            gains,
            ..Model::default()
        };
    }
    let bound = |segments: u32| if segments == u32::MAX { 0 } else { segments };
    let rate = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let bw_hi = rate(told.bw_hi_low, told.bw_hi_high);
    // Without a bound it tells the largest number that it has, in bytes.
    let bw_lo = Some(rate(told.bw_lo_low, told.bw_lo_high)).filter(|lo| *lo < 2 * bw_hi);
    Model {
        phase: told.phase,
        bw: rate(told.bw_low, told.bw_high),
        inflight_hi: bound(told.inflight_hi),
        inflight_lo: bound(told.inflight_lo),
        bw_hi,
        bw_lo: bw_lo.unwrap_or(0),
        gains,
        extra_acked: told.extra_acked,
    }
}

/// What of `error` no flow is to end with. That the kernel gives a connection up after many
/// timeouts, or that its peer has, is what paths do to TCP: such a flow has what it had until then.
fn failure(error: &io::Error) -> Option<String> {
    let is_given_up = matches!(
        error.kind(),
        io::ErrorKind::TimedOut | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
    );
    (!is_given_up).then(|| error.to_string())
}

/// Bytes that a receiver holds beside the `delivered` ones that it has in order: it tells its
/// sender, not the application. The sender hears of a hole that was filled later.
fn held(sender: &TcpInfo, delivered: u64) -> u64 {
    let known = sender.bytes_acked + u64::from(sender.sacked) * u64::from(sender.snd_mss);
    known.saturating_sub(delivered)
}

/// Segments on their way, as the kernel counts them (`tcp_packets_in_flight`).
fn in_flight(info: &TcpInfo) -> u32 {
    (info.unacked + info.retrans)
        .saturating_sub(info.sacked)
        .saturating_sub(info.lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_sender_knows_to_have_come_out_of_order_is_held() {
        let sender = TcpInfo {
            bytes_acked: 10_000,
            sacked: 3,
            snd_mss: 1000,
            ..TcpInfo::default()
        };
        assert_eq!(held(&sender, 10_000), 3000);
        // The receiver has filled the hole, and the sender has not heard of it.
        assert_eq!(held(&sender, 14_000), 0);
    }
}
