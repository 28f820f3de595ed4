//! A card in networks: its latency, its drops, its tables.

use super::*;
use trammel_core::rng::Rng;
use trammel_core::units::Rate;
use trammel_netfpga::single_frame::{formula, latency};
use trammel_netsim::ids::StreamId;
use trammel_netsim::link::LinkSpec;
use trammel_netsim::network::Network;
use trammel_netsim::stream::{StreamSpec, sized};
use trammel_stats::arrivals::{Renewal, Spans};
use trammel_stats::dist::constant::Constant;

const PARAMS: &Params = &Params::REFERENCE_1G;
const DELAY: Span = Span::from_us(20);
const MTU: u32 = 1500;

/// Hosts at all four ports of a card; links to it and from it.
struct Star {
    network: Network,
    card: CardBetween,
    to: Vec<LinkId>,
    from: Vec<LinkId>,
}

fn star() -> Star {
    let mut network = Network::new();
    let card = CardBetween::new(PARAMS, MTU).unwrap();
    let mut link = |name: &str, delay: Span| {
        let mut spec = LinkSpec::wire(name, delay);
        spec.rate = Some(Rate::from_bps(1_000_000_000));
        network.add_link(spec)
    };
    let (mut to, mut from) = (Vec::new(), Vec::new());
    for port in 0..PORTS {
        to.push(link(&format!("to{port}"), DELAY - card.early()));
        from.push(link(&format!("from{port}"), DELAY));
        assert!(card.attach(to[port]));
    }
    assert!(!card.attach(to[0]), "four ports");
    network.add_middlebox(Box::new(card.clone()), &from);
    Star {
        network,
        card,
        to,
        from,
    }
}

impl Star {
    /// Datagrams of `ip_bytes`, so many a second from `start` to `stop`.
    fn stream(
        &mut self,
        [from, to]: [usize; 2],
        ip_bytes: u32,
        rate: f64,
        [start, stop]: [Time; 2],
    ) -> StreamId {
        let gaps = Spans::constant_rate(rate).unwrap();
        self.network.add_stream(StreamSpec {
            name: format!("{from}-{to}"),
            plan: sized(
                Renewal::new(start, gaps, Rng::new(1, "plan")),
                Box::new(Constant::new(f64::from(ip_bytes - 28))),
                Rng::new(1, "size"),
                1472,
                28 + LINE_BYTES,
            ),
            stop,
            route: vec![self.to[from], self.from[to]],
            keeps_arrivals: false,
        })
    }

    fn run(&mut self, until: Time) {
        self.network.run_until(until);
        assert_eq!(self.network.audit(), Ok(()));
    }
}

#[test]
fn a_lone_frame_takes_what_the_formula_says() {
    for frame_bytes in [64_u64, 128, 256, 512, 1024, 1280, 1518] {
        let mut star = star();
        let start = Time::from_us(100);
        let only = [start, start + Span::from_us(1)];
        let stream = star.stream([0, 1], frame_bytes as u32 - 18, 1.0, only);
        star.run(Time::from_ms(1));
        let seen = star.network.stream(stream);
        assert_eq!((seen.sent_pkts, seen.received_pkts), (1, 1));
        // In and out again at the links' rate, gap and preamble included, but that the card begins
        // when the first bit is in.
        let line = Span::from_ps(PARAMS.line_ps(frame_bytes));
        let through = Span::from_ps(seen.delay.min().unwrap()) - DELAY * 2 - line;
        let model = latency(PARAMS, frame_bytes, start + DELAY).unwrap();
        assert_eq!(through, model, "{frame_bytes}");
        let off = through
            .as_ps()
            .abs_diff(formula(PARAMS, frame_bytes).as_ps());
        assert!(off <= 5 * PARAMS.clock_ps, "{frame_bytes}: {through}");
        let counts = star.card.counts(1);
        assert_eq!(counts.transit, (u128::from(through.as_ps()), through));
        assert_eq!((counts.sent, star.card.counts(0).received), (1, 1));
    }
}

/// Two ports send all they can to a third, for 20 ms.
fn overload() -> (Star, [u64; 2]) {
    let mut star = star();
    let time = [Time::from_us(50), Time::from_ms(20)];
    let streams = [[0, 2], [1, 2]].map(|ways| star.stream(ways, 1500, 81_274.0, time));
    star.run(Time::from_ms(40));
    let received = streams.map(|stream| star.network.stream(stream).received_pkts);
    (star, received)
}

#[test]
fn what_a_queue_has_no_room_for_is_dropped_and_counted() {
    let (star, received) = overload();
    let counts = [0, 1, 2].map(|port| star.card.counts(port));
    let came = counts[0].received + counts[1].received;
    assert_eq!(counts[2].sent, received.iter().sum::<u64>());
    assert_eq!(came, counts[2].sent + counts[2].dropped_in_queue);
    // 512 KiB fill within 4.3 ms; from then on the port sends half of what comes.
    assert_eq!(counts[2].queued, 0);
    let lost = counts[2].dropped_in_queue as f64 / came as f64;
    assert!((0.35..0.42).contains(&lost), "{lost}");
    let (_, longest) = counts[2].transit;
    // 340 frames of 1518 bytes are before the last one.
    assert!((4_100..4_300).contains(&longest.as_us()), "{longest}");
}

#[test]
fn a_limit_in_frames_makes_the_queue_short() {
    let mut star = star();
    let max = design("reference-router").unwrap().map();
    let max = max.find("OQ_QUEUE_4_MAX_PKTS_IN_Q").unwrap();
    star.card.write(max.address, 8);
    let time = [Time::from_us(50), Time::from_ms(5)];
    for ways in [[0, 2], [1, 2]] {
        star.stream(ways, 1500, 81_274.0, time);
    }
    star.run(Time::from_ms(10));
    let (_, longest) = star.card.counts(2).transit;
    assert!((100..180).contains(&longest.as_us()), "{longest}");
    assert!(star.card.counts(2).dropped_in_queue > 300);
}

#[test]
fn packets_that_the_tables_do_not_know_are_for_the_software() {
    let mut star = star();
    write_arp(&mut star.card, 1, &ArpRow::EMPTY);
    let astray = RouteRow {
        network: [10, 0, 3, 0].into(),
        mask: [255, 255, 255, 0].into(),
        next_hop: [0; 4].into(),
        queues: Queues::one(Queue::mac(2)).0,
    };
    write_route(&mut star.card, 3, &astray);
    let time = [Time::from_us(50), Time::from_ms(1)];
    let streams = [[0, 1], [0, 2], [0, 3]].map(|ways| star.stream(ways, 500, 10_000.0, time));
    star.run(Time::from_ms(20));
    let received = streams.map(|stream| star.network.stream(stream).received_pkts);
    let sent = streams.map(|stream| star.network.stream(stream).sent_pkts);
    // What the tables send by another port than the route's does not arrive either.
    assert_eq!(received, [0, sent[1], 0]);
    assert_eq!(star.card.counts(0).to_cpu, sent[0]);
    assert_eq!(star.card.counts(2).sent, sent[1] + sent[2]);
}

#[test]
fn one_network_gives_one_run() {
    let ((a, first), (b, second)) = (overload(), overload());
    assert_eq!(first, second);
    let counts = |star: &Star| [0, 1, 2, 3].map(|port| star.card.counts(port));
    assert_eq!(counts(&a), counts(&b));
}
