//! Tests of `link`.

use super::served::droptail;
use super::*;
use proptest::prelude::*;
use trammel_core::entry::{Params, Value};
use trammel_core::schedule::{DeliverySchedule, RateSchedule};
use trammel_stats::arrivals::Spans;
use trammel_stats::dist;
use trammel_tcp::segment::Ecn;

/// 1000 bytes take 1 ms.
const RATE: Rate = Rate::from_bps(8_000_000);

fn packet(number: u32, bytes: u32) -> Packet {
    Packet::datagram(0, number, bytes, bytes, Time::ZERO)
}

fn spec() -> LinkSpec {
    LinkSpec {
        rate: Some(RATE),
        ..LinkSpec::wire("link", Span::ZERO)
    }
}

/// Does what is due at `now`; a packet may arrive at the other end.
fn step(link: &mut Link, now: Time) -> Option<Packet> {
    let mut packet = Packet::default();
    link.advance(now, &mut packet).then_some(packet)
}

/// Runs `arrivals` (ms, bytes) through a link; gives number and time of arrival at the other end in
/// order.
fn run(link: &mut Link, arrivals: &[(u64, u32)]) -> Vec<(u32, Time)> {
    let mut out = Vec::new();
    let mut arrivals = arrivals.iter().enumerate().peekable();
    loop {
        let coming = arrivals
            .peek()
            .map_or(Time::MAX, |(_, (ms, _))| Time::from_ms(*ms));
        let now = link.next().min(coming);
        if now == Time::MAX {
            return out;
        }
        if link.next() <= coming {
            out.extend(step(link, now).map(|packet| (packet.segment.seq, now)));
        } else {
            let (number, (_, bytes)) = arrivals.next().expect("peeked");
            link.accept(now, &packet(number as u32, *bytes));
        }
    }
}

fn times_ms(out: &[(u32, Time)]) -> Vec<f64> {
    out.iter()
        .map(|(_, time)| time.as_secs_f64() * 1e3)
        .collect()
}

fn numbers(out: &[(u32, Time)]) -> Vec<u32> {
    out.iter().map(|(number, _)| *number).collect()
}

fn conserves(link: &Link) {
    let c = link.counters();
    let queued = u64::from(link.queued());
    assert_eq!(
        c.arrived_pkts,
        c.sent_pkts + c.overflow_pkts + c.early_pkts + queued
    );
    assert_eq!(
        c.sent_pkts,
        c.delivered_pkts + c.lost_pkts + link.in_pipe() as u64
    );
}

/// The same link with the queue served packet by packet.
fn served(mut spec: LinkSpec) -> LinkSpec {
    if let Queue::DropTail { packets, bytes } = spec.queue {
        spec.queue = Queue::Discipline(droptail(packets, bytes));
    }
    spec
}

#[test]
fn packets_follow_one_another_by_their_time_on_the_wire_and_then_the_delay() {
    for serve in [false, true] {
        let spec = LinkSpec {
            delay: Span::from_ms(10),
            ..spec()
        };
        let mut link = Link::new(if serve { served(spec) } else { spec });
        let out = run(&mut link, &[(0, 1000), (0, 500), (1, 2000), (100, 1000)]);
        assert_eq!(times_ms(&out), [11.0, 11.5, 13.5, 111.0]);
        // Waiting and sending: 1, 1.5, 2.5 and 1 ms.
        assert_eq!(link.counters().wait_ns, 6_000_000);
        conserves(&link);
    }
}

#[test]
fn an_infinitely_fast_link_only_delays() {
    let mut link = Link::new(LinkSpec::wire("wire", Span::from_ms(5)));
    assert_eq!(
        times_ms(&run(&mut link, &[(0, 1), (0, 1500), (3, 9000)])),
        [5.0, 5.0, 8.0]
    );
    assert_eq!(link.counters().wait_ns, 0);
}

#[test]
fn a_token_bucket_lets_a_burst_through_and_then_keeps_its_rate() {
    for serve in [false, true] {
        let spec = LinkSpec {
            burst_bytes: Some(3000),
            ..spec()
        };
        let mut link = Link::new(if serve { served(spec) } else { spec });
        let arrivals = [
            (0, 1000),
            (0, 1000),
            (0, 1000),
            (0, 1000),
            (0, 1000),
            (6, 1000),
            (6, 1000),
        ];
        // Three at once from a full bucket, then one for each 1 ms of tokens. At 6 ms four have
        // come in since the last left at 2 ms, of which the bucket holds three.
        assert_eq!(
            times_ms(&run(&mut link, &arrivals)),
            [0.0, 0.0, 0.0, 1.0, 2.0, 6.0, 6.0]
        );
        conserves(&link);
    }
}

#[test]
fn a_full_queue_drops_exactly_what_exceeds_its_limit() {
    // Ten at once: five, the one being sent included, are taken.
    let arrivals = [(0, 1000); 10];
    let queue = Queue::DropTail {
        packets: 5,
        bytes: u64::MAX,
    };
    let mut link = Link::new(LinkSpec { queue, ..spec() });
    assert_eq!(numbers(&run(&mut link, &arrivals)), [0, 1, 2, 3, 4]);
    assert_eq!(
        (link.counters().overflow_pkts, link.counters().peak_pkts),
        (5, 5)
    );
    conserves(&link);

    // In bytes: 2500 hold two of 1000, and then one of 500 but none of 501.
    for (last, taken) in [(500, 3), (501, 2)] {
        let queue = Queue::DropTail {
            packets: u32::MAX,
            bytes: 2500,
        };
        let mut link = Link::new(LinkSpec { queue, ..spec() });
        assert_eq!(
            run(&mut link, &[(0, 1000), (0, 1000), (0, last)]).len(),
            taken
        );
    }
}

#[test]
fn a_place_is_free_as_soon_as_a_packet_has_left() {
    let queue = Queue::DropTail {
        packets: 1,
        bytes: u64::MAX,
    };
    let mut link = Link::new(LinkSpec { queue, ..spec() });
    // The first has left at 1 ms sharp, when the third comes.
    assert_eq!(
        numbers(&run(&mut link, &[(0, 1000), (0, 1000), (1, 1000)])),
        [0, 2]
    );
}

#[test]
fn the_backlog_is_what_has_not_left() {
    let mut link = Link::new(spec());
    for number in 0..3 {
        link.accept(Time::ZERO, &packet(number, 1000));
    }
    assert_eq!(link.backlog(Time::ZERO), (3, 3000));
    assert_eq!(link.backlog(Time::from_us(1500)), (2, 2000));
    assert_eq!(link.backlog(Time::from_ms(3)), (0, 0));
}

fn jittered() -> LinkSpec {
    let law = dist::find("exponential").unwrap();
    let mean = [("mean".to_owned(), Value::Float(0.005))];
    let law = (law.build)(&Params::resolve(&law.about, &mean).unwrap()).unwrap();
    LinkSpec {
        jitter: Some(Spans::seconds(law)),
        delay: Span::from_ms(1),
        ..spec()
    }
}

#[test]
fn jitter_delays_but_keeps_the_order() {
    let arrivals: Vec<_> = (0..500).map(|ms| (2 * ms, 1000)).collect();
    let mut link = Link::new(jittered());
    let out = run(&mut link, &arrivals);
    assert_eq!(numbers(&out), (0..500).collect::<Vec<_>>());
    let late: Vec<_> = times_ms(&out)
        .iter()
        .zip(&arrivals)
        .map(|(out, (came, _))| out - *came as f64 - 2.0)
        .collect();
    assert!(late.iter().all(|late| *late >= 0.0));
    // The mean is more than that of the law, since a late packet holds up those behind it.
    assert!(late.iter().sum::<f64>() / 500.0 > 5.0);
    assert!(late.iter().any(|late| *late < 2.0));
}

#[test]
fn packets_that_may_be_overtaken_are() {
    let arrivals: Vec<_> = (0..1000).map(|ms| (2 * ms, 1000)).collect();
    let extra = Span::from_ms(7);
    let mut link = Link::new(LinkSpec {
        reorder: Some((0.1, extra)),
        ..spec()
    });
    let out = run(&mut link, &arrivals);
    assert_eq!(out.len(), 1000);
    let mut late = 0;
    for (number, time) in &out {
        let on_time = Time::from_ms(2 * u64::from(*number) + 1);
        assert!(
            *time == on_time || *time == on_time + extra,
            "{number} at {time}"
        );
        late += u32::from(*time != on_time);
    }
    // Four standard deviations of a binomial(1000, 0.1) are 38.
    assert!(late.abs_diff(100) < 38, "{late}");
    assert!(!out.is_sorted_by_key(|(number, _)| *number));
    conserves(&link);
}

#[test]
fn losses_come_behind_the_queue() {
    let entry = trammel_queues::loss::find("periodic").unwrap();
    let given = [("every".to_owned(), Value::Int(3))];
    let loss = (entry.build)(&Params::resolve(&entry.about, &given).unwrap()).unwrap();
    let mut link = Link::new(LinkSpec {
        loss: Some(loss),
        ..spec()
    });
    let out = run(&mut link, &[(0, 1000); 9]);
    assert_eq!(
        (
            out.len(),
            link.counters().lost_pkts,
            link.counters().sent_pkts
        ),
        (6, 3, 9)
    );
    // A lost packet has taken its time on the wire.
    assert_eq!(
        out.last()
            .map(|(number, time)| time.as_ms() as u32 - number),
        Some(1)
    );
    conserves(&link);
}

#[test]
fn deliveries_use_one_opportunity_each_and_let_idle_ones_pass() {
    let deliveries = DeliverySchedule::parse("2\n2\n5\n10").unwrap();
    let mut link = Link::new(LinkSpec {
        rate: None,
        deliveries: Some(deliveries),
        ..spec()
    });
    let out = run(
        &mut link,
        &[
            (0, 1500),
            (0, 100),
            (0, 1500),
            (6, 1500),
            (13, 1500),
            (13, 1500),
        ],
    );
    // The trace repeats each 10 ms: 2, 2, 5, 10, 12, 12, 15, 20. Those at 12 pass unused.
    assert_eq!(times_ms(&out), [2.0, 2.0, 5.0, 10.0, 15.0, 20.0]);
    conserves(&link);
}

#[test]
fn a_rate_schedule_holds_within_a_packet() {
    let half = Rate::from_bps(RATE.as_bps() / 2);
    let steps = vec![(Time::ZERO, RATE), (Time::from_us(1500), half)];
    let schedule = Some(RateSchedule::new(steps, None).unwrap());
    let mut link = Link::new(LinkSpec { schedule, ..spec() });
    // The second is sent by half at 1 ms for 1000 bytes, and by half at 2 ms.
    assert_eq!(
        times_ms(&run(&mut link, &[(0, 1000), (0, 1000), (0, 1000)])),
        [1.0, 2.5, 4.5]
    );
    conserves(&link);
}

#[test]
fn a_discipline_that_marks_sends_the_mark_on() {
    let entry = trammel_queues::aqm::find("threshold").unwrap();
    let facts = trammel_queues::aqm::LinkFacts {
        rate_bps: RATE.as_bps(),
        mtu: 1500,
        limit_packets: 100,
        limit_bytes: u64::MAX,
    };
    let given = [("threshold".to_owned(), Value::Int(2))];
    let params = Params::resolve(&entry.about, &given).unwrap();
    let queue = Queue::Discipline((entry.build)(&params, &facts).unwrap());
    let mut link = Link::new(LinkSpec { queue, ..spec() });
    for number in 0..6 {
        let mut packet = packet(number, 1000);
        packet.segment.ecn = Ecn::Ect0;
        link.accept(Time::ZERO, &packet);
    }
    let mut marked = 0;
    while link.next() != Time::MAX {
        let now = link.next();
        let packet = step(&mut link, now);
        marked += u64::from(packet.is_some_and(|packet| packet.segment.ecn == Ecn::Ce));
    }
    assert!(marked > 0 && marked < 6, "{marked}");
    assert_eq!(link.counters().marked_pkts, marked);
}

proptest! {
    #[test]
    fn both_ways_through_a_link_agree(
        gaps in prop::collection::vec((0_u64..4, 40_u32..1500), 1..200),
        delay_ms in 0_u64..20,
    ) {
        let mut at = 0;
        let arrivals: Vec<_> = gaps
            .into_iter()
            .map(|(gap, bytes)| {
                at += gap;
                (at, bytes)
            })
            .collect();
        let spec = || LinkSpec { delay: Span::from_ms(delay_ms), ..spec() };
        let (mut express, mut other) = (Link::new(spec()), Link::new(served(spec())));
        prop_assert_eq!(run(&mut express, &arrivals), run(&mut other, &arrivals));
        prop_assert_eq!(express.counters().wait_ns, other.counters().wait_ns);
        conserves(&express);
        conserves(&other);
    }

    #[test]
    fn a_token_bucket_never_exceeds_its_rate_and_burst(
        gaps in prop::collection::vec((0_u64..3, 40_u32..1500), 1..200),
        burst in 1500_u64..20_000,
        serve: bool,
    ) {
        let mut at = 0;
        let arrivals: Vec<_> = gaps
            .into_iter()
            .map(|(gap, bytes)| {
                at += gap;
                (at, bytes)
            })
            .collect();
        let spec = LinkSpec { burst_bytes: Some(burst), ..spec() };
        let mut link = Link::new(if serve { served(spec) } else { spec });
        let out = run(&mut link, &arrivals);
        prop_assert_eq!(out.len(), arrivals.len());
        for first in 0..out.len() {
            let mut bytes = 0;
            for (number, time) in &out[first..] {
                bytes += u64::from(arrivals[*number as usize].1);
                // One nanosecond of tokens for rounding.
                let span = (*time - out[first].1).as_ps() + 1000;
                prop_assert!(bytes <= burst + span * RATE.as_bps() / 8 / 1_000_000_000_000 + 1);
            }
        }
    }
}
