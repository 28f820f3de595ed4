//! Streams over a path in virtual time, accounted by the decoder that real logs go through.
//!
//! A datagram is one packet of the simulator, also where it would travel in fragments: it takes
//! their time and is lost at once. What comes back of a round trip crosses the way back, which
//! nothing else uses, after all have arrived.

use super::wire;
use anyhow::ensure;
use trammel_core::time::{Span, Time};
use trammel_netsim::ids::{LinkId, StreamId};
use trammel_netsim::link::LinkCounters;
use trammel_netsim::network::Network;
use trammel_netsim::stream::{Arrival, Departure, StreamSpec};
use trammel_scenario::traffic::Traffic;
use trammel_traffic::decode::{Decoder, Options, Report};
use trammel_traffic::log::Session;
use trammel_traffic::record::{Instants, LoggedFlow, Protocol, Record};
use trammel_traffic::signal::message::Count;
use trammel_traffic::stream::{Meter, Stream};
use trammel_transport::network_of::{BuiltLink, add_line};

/// Steps of the network between two looks at whether to stop: some milliseconds.
const STEPS: u64 = 20_000;
/// Parts of a run after each of which arrivals are decoded, so that they need not all be kept.
const PARTS: u64 = 1024;
/// The longest that is waited for what is on its way when all is sent.
const LONGEST_DRAIN: Span = Span::from_secs(100_000);
/// Streams from which on fewer packets of each are told apart: a window takes 8 bytes a packet.
const MANY: usize = 64;

/// What came of it.
#[derive(Debug)]
pub struct Simulated {
    /// The decoder's account; a flow's number is the place of its stream.
    pub report: Report,
    /// What was sent of each stream; nothing of those that are not simulated.
    pub sent: Vec<Count>,
    /// What the path counted until everything was through.
    pub link: LinkCounters,
    /// Bits that it had carried at the end of the run, when what waited was still to come.
    pub carried_bits: f64,
    /// Bits that it could have carried by then, what its bucket held at first included.
    pub capacity_bits: f64,
    /// What a reader has to know.
    pub notes: Vec<String>,
}

/// How streams of so many are decoded.
pub fn options(streams: usize) -> Options {
    let usual = Options::default();
    Options {
        window: if streams > MANY { 1024 } else { usual.window },
        // One-way streams and round trips are sessions of their own, which are no more than flows.
        most_flows: streams.max(2),
        ..usual
    }
}

/// What a stream is, to the decoder.
pub fn flow(number: usize, stream: &Stream) -> LoggedFlow {
    LoggedFlow {
        number: number as u32,
        protocol: stream.protocol,
        from: None,
        to: None,
        name: stream.name.clone(),
    }
}

fn session(instants: Instants, seed: u64) -> Session {
    Session {
        instants,
        date_ns: 0,
        host: String::new(),
        clock: "virtual time".to_owned(),
        program: format!("trammel {}", env!("CARGO_PKG_VERSION")),
        seed,
    }
}

/// The network of a path, and its links.
fn network(traffic: &Traffic) -> anyhow::Result<(Network, [BuiltLink; 2])> {
    let mut network = Network::new();
    let path = &traffic.path;
    let line = (&path.line, path.delay, path.queue_packets());
    let links = add_line(&mut network, "path", line, traffic.seed)?;
    Ok((network, links))
}

/// Simulates `traffic`; an error where `stop` says so before the end.
pub fn simulate(traffic: &Traffic, stop: &dyn Fn() -> bool) -> anyhow::Result<Simulated> {
    let mut decoder = Decoder::new(options(traffic.streams.len()));
    let mut notes = Vec::new();
    let (mut there, [forward, _]) = network(traffic)?;
    let line = &traffic.path.line;
    let is_simulated = |stream: &Stream| stream.protocol != Protocol::Tcp;
    let simulated = traffic.streams.iter().enumerate();
    let simulated = simulated.filter(|(_, stream)| is_simulated(stream));
    // The place of each stream among the scenario's.
    let places: Vec<usize> = simulated.map(|(place, _)| place).collect();
    for place in &places {
        let stream = &traffic.streams[*place];
        let (start, line) = (stream.start, line.clone());
        let plan = stream.plan().map(move |departure| Departure {
            at: start + departure.at.since_start(),
            payload_bytes: departure.bytes,
            wire_bytes: wire::bytes(departure.bytes, &line),
        });
        there.add_stream(StreamSpec {
            name: stream.name.clone(),
            plan: Box::new(plan),
            stop: Time::MAX,
            route: vec![forward.index],
            keeps_arrivals: true,
        });
    }
    for (place, stream) in traffic.streams.iter().enumerate() {
        if !is_simulated(stream) {
            notes.push(format!(
                "`{}` is a stream of TCP, which is measured only; `subject = \"transport\"` \
                 simulates TCP",
                traffic.streams[place].name
            ));
        }
    }
    let is_round = |place: usize| traffic.streams[place].meter == Meter::RoundTrip;
    let mut returning: Vec<Vec<Arrival>> = vec![Vec::new(); places.len()];
    decoder.session(session(Instants::SentReceived, traffic.seed));
    for place in places.iter().filter(|place| !is_round(**place)) {
        decoder.flow(flow(*place, &traffic.streams[*place]));
    }
    let (lost, carried) = drive(
        &mut there,
        (traffic.end(), stop),
        forward.index,
        &mut |at, arrivals| {
            if is_round(places[at]) {
                returning[at].extend(arrivals);
            } else {
                for arrival in &arrivals {
                    decoder.record(&record(places[at], arrival));
                }
            }
        },
    )?;
    let mut sent = vec![Count::default(); traffic.streams.len()];
    for (at, place) in places.iter().enumerate() {
        let stream = there.stream(StreamId::new(at));
        sent[*place] = Count {
            packets: stream.sent_pkts,
            bytes: stream.sent_bytes,
            ..Count::default()
        };
        if !is_round(*place) {
            decoder.sent(*place as u32, stream.sent_pkts);
        }
    }
    if lost > 0 {
        notes.push(format!(
            "{lost} packets were still in flight {LONGEST_DRAIN} after the end: they count as lost"
        ));
    }
    if places.iter().any(|place| is_round(*place)) {
        come_back((traffic, stop), &places, returning, &sent, &mut decoder)?;
    }
    Ok(Simulated {
        report: decoder.finish(),
        sent,
        link: there.link(forward.index).counters(),
        carried_bits: carried as f64 * 8.0,
        capacity_bits: forward.capacity_bits(Time::ZERO, traffic.end())
            + forward.burst_bytes.unwrap_or_default() as f64 * 8.0,
        notes,
    })
}

fn record(place: usize, arrival: &Arrival) -> Record {
    let ns = |time: Time| i64::try_from(time.as_ns()).unwrap_or(i64::MAX);
    Record {
        flow: place as u32,
        sequence: u64::from(arrival.number),
        bytes: arrival.payload_bytes,
        start_ns: ns(arrival.sent),
        end_ns: ns(arrival.arrived),
    }
}

/// Runs `network` to `end` and on until all that was sent has arrived or is lost; `take` gets a
/// stream's place and what has arrived of it. Says how many packets never did either, and how many
/// bytes the link had carried at `end`.
fn drive(
    network: &mut Network,
    (end, stop): (Time, &dyn Fn() -> bool),
    link: LinkId,
    take: &mut dyn FnMut(usize, Vec<Arrival>),
) -> anyhow::Result<(u64, u64)> {
    let mut step = (end.since_start() / PARTS).max(Span::from_us(1));
    let (mut now, mut carried) = (Time::ZERO, 0);
    loop {
        let is_before = now < end;
        now = now.saturating_add(step);
        if is_before {
            now = now.min(end);
        }
        while !network.run_some(now, STEPS) {
            ensure!(!stop(), "the run was interrupted");
        }
        if is_before && now == end {
            carried = carried_bytes(network, link);
        }
        for stream in network.streams() {
            let arrivals = network.take_arrivals(stream);
            if !arrivals.is_empty() {
                take(stream.index(), arrivals);
            }
        }
        if now < end {
            continue;
        }
        let each = network.streams().map(|stream| network.stream(stream));
        let (sent, received) = each.fold((0, 0), |(sent, received), stream| {
            (sent + stream.sent_pkts, received + stream.received_pkts)
        });
        let dropped = network.link(link).counters().dropped_pkts();
        let missing = sent.saturating_sub(received + dropped);
        if missing == 0 || now > end.saturating_add(LONGEST_DRAIN) {
            return Ok((missing, carried));
        }
        step = step * 2;
    }
}

/// Bytes that have left the link: one at a fixed rate counts a packet as sent when it comes.
fn carried_bytes(network: &mut Network, link: LinkId) -> u64 {
    let (_, waiting) = network.backlog(link);
    let counters = network.link(link).counters();
    let dropped = counters.overflow_pkts + counters.early_pkts;
    let counts_ahead = counters.sent_pkts + dropped == counters.arrived_pkts;
    counters.sent_bytes - if counts_ahead { waiting } else { 0 }
}

/// Sends what has arrived of round trips back, and decodes what comes.
fn come_back(
    (traffic, stop): (&Traffic, &dyn Fn() -> bool),
    places: &[usize],
    returning: Vec<Vec<Arrival>>,
    sent: &[Count],
    decoder: &mut Decoder,
) -> anyhow::Result<()> {
    let (mut back, [_, backward]) = network(traffic)?;
    let mut outward: Vec<(usize, Vec<(u32, Time)>)> = Vec::new();
    for (place, arrivals) in places.iter().zip(returning) {
        if traffic.streams[*place].meter != Meter::RoundTrip {
            continue;
        }
        let was = arrivals.iter().map(|one| (one.number, one.sent)).collect();
        outward.push((*place, was));
        let line = traffic.path.line.clone();
        let plan = arrivals.into_iter().map(move |one| Departure {
            at: one.arrived,
            payload_bytes: one.payload_bytes,
            wire_bytes: wire::bytes(one.payload_bytes, &line),
        });
        back.add_stream(StreamSpec {
            name: traffic.streams[*place].name.clone(),
            plan: Box::new(plan),
            stop: Time::MAX,
            route: vec![backward.index],
            keeps_arrivals: true,
        });
    }
    decoder.session(session(Instants::SentReturned, traffic.seed));
    for (place, _) in &outward {
        decoder.flow(flow(*place, &traffic.streams[*place]));
    }
    drive(
        &mut back,
        (traffic.end(), stop),
        backward.index,
        &mut |at, arrivals| {
            let (place, was) = &outward[at];
            for arrival in arrivals {
                // The number on the way back is a place among those that had arrived.
                let Some((number, sent)) = was.get(arrival.number as usize) else {
                    continue;
                };
                let whole = Arrival {
                    number: *number,
                    sent: *sent,
                    ..arrival
                };
                decoder.record(&record(*place, &whole));
            }
        },
    )?;
    for (place, _) in &outward {
        decoder.sent(*place as u32, sent[*place].packets);
    }
    Ok(())
}
