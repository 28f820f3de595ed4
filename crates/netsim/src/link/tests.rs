//! Tests of `link`.

use super::served::droptail;
use super::*;
use proptest::prelude::*;
use trammel_core::entry::{Params, Value};
use trammel_core::schedule::{DeliverySchedule, RateSchedule, Steps};
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
        overhead: 0,
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

#[test]
fn what_an_idle_link_takes_at_once_is_not_found_in_the_queue() {
    let limited = Queue::Discipline(droptail(1, u64::MAX));
    // Two have tokens, the third waits for them outside, the fourth in the queue.
    let mut link = Link::new(LinkSpec {
        burst_bytes: Some(2000),
        queue: limited,
        ..spec()
    });
    let out = run(&mut link, &[(0, 1000); 5]);
    assert_eq!(times_ms(&out), [0.0, 0.0, 1.0, 2.0]);
    assert_eq!(link.counters().overflow_pkts, 1);
    // One is on the wire, one waits.
    let mut link = Link::new(served(LinkSpec {
        queue: Queue::DropTail {
            packets: 1,
            bytes: u64::MAX,
        },
        ..spec()
    }));
    let out = run(&mut link, &[(0, 1000); 3]);
    assert_eq!(times_ms(&out), [1.0, 2.0]);
}

/// Delays of so many ms from so many on.
fn delays(steps: &[(u64, u64)]) -> Steps<Conditions> {
    let step = |(at, delay): &(u64, u64)| {
        let conditions = Conditions {
            delay: Span::from_ms(*delay),
            ..Conditions::default()
        };
        (Time::from_ms(*at), conditions)
    };
    Steps::new(steps.iter().map(step).collect(), None).unwrap()
}

#[test]
fn a_delay_that_falls_reorders_only_where_it_may() {
    let arrivals = [(0, 1000), (5, 1000), (8, 1000), (30, 1000)];
    for (overtakes, expected) in [
        (false, [21.0, 21.0, 21.0, 33.0]),
        (true, [8.0, 11.0, 21.0, 33.0]),
    ] {
        let mut link = Link::new(LinkSpec {
            conditions: Some(delays(&[(0, 20), (5, 2)])),
            overtakes,
            ..spec()
        });
        let out = run(&mut link, &arrivals);
        assert_eq!(times_ms(&out), expected);
        assert_eq!(
            numbers(&out),
            if overtakes {
                [1, 2, 0, 3]
            } else {
                [0, 1, 2, 3]
            }
        );
        conserves(&link);
    }
}

#[test]
fn an_outage_holds_the_queue_or_drops_it() {
    let none = Rate::from_bps(0);
    let steps = vec![
        (Time::ZERO, RATE),
        (Time::from_us(1500), none),
        (Time::from_ms(10), RATE),
    ];
    let schedule = || Some(RateSchedule::new(steps.clone(), None).unwrap());
    let arrivals = [(0, 1000), (0, 1000), (0, 1000), (5, 1000), (11, 1000)];
    // The second has half of its millisecond left.
    let mut link = Link::new(LinkSpec {
        schedule: schedule(),
        ..spec()
    });
    let out = run(&mut link, &arrivals);
    assert_eq!(times_ms(&out), [1.0, 10.5, 11.5, 12.5, 13.5]);
    conserves(&link);
    // What is being sent is lost, what waits and what comes in the outage is dropped.
    let flips = vec![
        (Time::ZERO, false),
        (Time::from_us(1500), true),
        (Time::from_ms(10), false),
    ];
    let cut = Some(Steps::new(flips, None).unwrap());
    let mut link = Link::new(LinkSpec {
        schedule: schedule(),
        cut,
        ..spec()
    });
    let out = run(&mut link, &arrivals);
    assert_eq!(
        (times_ms(&out), numbers(&out)),
        (vec![1.0, 12.0], vec![0, 4])
    );
    let counters = link.counters();
    assert_eq!((counters.lost_pkts, counters.overflow_pkts), (1, 2));
    conserves(&link);
}

#[test]
fn a_delay_holds_no_more_than_its_limit() {
    let mut link = Link::new(LinkSpec {
        delay: Span::from_ms(10),
        delay_limit: Some(3),
        ..spec()
    });
    // They leave the queue at 1, 2, 3, … ms; the first of them is there at 11.
    let out = run(&mut link, &[(0, 1000); 12]);
    assert_eq!(numbers(&out), [0, 1, 2, 10, 11]);
    conserves(&link);
}

#[test]
fn packets_leave_a_line_by_grants() {
    let grants = Some(GrantSpec {
        every: Span::from_ms(5),
        packets: 2,
    });
    let mut link = Link::new(LinkSpec {
        rate: None,
        delay: Span::from_ms(3),
        grants,
        ..spec()
    });
    // Due at 13; the grant that was asked for at 10 is there at 15, the next one at 20.
    let out = run(&mut link, &[(10, 1000), (11, 1000), (12, 1000)]);
    assert_eq!(times_ms(&out), [15.0, 15.0, 20.0]);
    conserves(&link);
}

#[test]
fn losses_that_change_are_as_many_as_asked() {
    let entry = trammel_queues::loss::find("netem").unwrap();
    let given = [("probability".to_owned(), Value::Float(0.0))];
    let loss = (entry.build)(&Params::resolve(&entry.about, &given).unwrap()).unwrap();
    let step = |s: u64, loss: f64| {
        let conditions = Conditions {
            loss: Some(loss),
            ..Conditions::default()
        };
        (Time::from_secs(s), conditions)
    };
    let steps = vec![step(0, 0.0), step(10, 0.5), step(20, 1.0)];
    let mut link = Link::new(LinkSpec {
        loss: Some(loss),
        conditions: Some(Steps::new(steps, None).unwrap()),
        ..spec()
    });
    let arrivals: Vec<_> = (0..15_000).map(|n| (2 * n, 1000)).collect();
    let out = run(&mut link, &arrivals);
    let between = |from: u32, to: u32| out.iter().filter(|(n, _)| (from..to).contains(n)).count();
    // A packet has left 1 ms after it came.
    assert_eq!(between(0, 5000), 5000);
    // Four standard deviations of a binomial(5000, 1/2) are 141.
    assert!(between(5000, 10_000).abs_diff(2500) < 141);
    assert_eq!(between(10_000, 15_000), 0);
    conserves(&link);
}

proptest! {
    /// Whatever changes, each packet arrives once or is counted as dropped; it arrives at its
    /// delay, or where that would overtake, with the packet before it; none overtakes.
    #[test]
    fn packets_are_conserved_and_in_order_over_any_course(
        gaps in prop::collection::vec((0_u64..4, 40_u32..1500), 1..200),
        steps in prop::collection::vec((1_u64..40, 0_u64..30, 0_u8..4), 0..8),
        period in prop::option::of(0_u64..50),
        grants in prop::option::of((1_u64..10, 1_u32..6)),
        limit in prop::option::of(1_u32..40),
    ) {
        let (mut at, mut arrivals) = (0, Vec::new());
        for (gap, bytes) in gaps {
            at += gap;
            arrivals.push((at, bytes));
        }
        let mut now = 0;
        let (mut rates, mut cuts, mut delays) =
            (vec![(Time::ZERO, RATE)], vec![(Time::ZERO, false)], Vec::new());
        let delay = |ms: u64| Conditions { delay: Span::from_ms(ms), ..Conditions::default() };
        delays.push((Time::ZERO, delay(10)));
        for (gap, ms, state) in steps {
            now += gap;
            let time = Time::from_ms(now);
            let is_down = state > 1;
            rates.push((time, if is_down { Rate::from_bps(0) } else { RATE }));
            cuts.push((time, state == 3));
            delays.push((time, delay(ms)));
        }
        // An outage at the end of a schedule that does not repeat is the end of everything.
        rates.push((Time::from_ms(now + 1), RATE));
        cuts.push((Time::from_ms(now + 1), false));
        let period = period.map(|more| Span::from_ms(now + 2 + more));
        let conditions = Steps::new(delays, period).unwrap();
        let mut link = Link::new(LinkSpec {
            schedule: Some(RateSchedule::new(rates, period).unwrap()),
            cut: Some(Steps::new(cuts, period).unwrap()),
            conditions: Some(conditions.clone()),
            grants: grants.map(|(ms, packets)| GrantSpec { every: Span::from_ms(ms), packets }),
            delay_limit: limit,
            ..spec()
        });
        let out = run(&mut link, &arrivals);
        conserves(&link);
        let dropped = link.counters().dropped_pkts() as usize;
        prop_assert_eq!(out.len() + dropped, arrivals.len());
        prop_assert!(out.is_sorted());
        prop_assert_eq!((link.in_pipe(), link.queued()), (0, 0));
    }

    /// Without anything that holds it up, a packet takes exactly the delay of its instant.
    #[test]
    fn delays_are_exact(
        steps in prop::collection::vec((1_u64..1000, 1_000_000_u64..90_000_000_000), 1..40),
        gap_us in 100_000_u64..200_000,
    ) {
        let (mut now, mut all) = (0, vec![(Time::ZERO, Conditions::default())]);
        for (gap, ps) in steps {
            now += gap;
            let conditions = Conditions { delay: Span::from_ps(ps), ..Conditions::default() };
            all.push((Time::from_ms(now), conditions));
        }
        let steps = Steps::new(all, None).unwrap();
        let mut link = Link::new(LinkSpec {
            rate: None,
            conditions: Some(steps.clone()),
            ..LinkSpec::wire("link", Span::ZERO)
        });
        // Delays are below the gaps, so no packet meets another.
        for number in 0..50 {
            let sent = Time::from_us(gap_us * number);
            link.accept(sent, &packet(number as u32, 1000));
            let arrives = link.next();
            prop_assert_eq!(arrives, sent + steps.at(sent).delay);
            prop_assert!(step(&mut link, arrives).is_some());
        }
    }

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

/// CAKE with this bandwidth before a link of `spec`.
fn shaped(bandwidth: &str, spec: LinkSpec) -> Link {
    let entry = trammel_queues::aqm::find("cake").unwrap();
    let facts = trammel_queues::aqm::LinkFacts {
        rate_bps: RATE.as_bps(),
        mtu: 1500,
        limit_packets: 10_240,
        limit_bytes: u64::MAX,
        overhead: 0,
    };
    let given = [("bandwidth".to_owned(), Value::Text(bandwidth.to_owned()))];
    let params = Params::resolve(&entry.about, &given).unwrap();
    let queue = Queue::Discipline((entry.build)(&params, &facts).unwrap());
    Link::new(LinkSpec { queue, ..spec })
}

#[test]
fn a_queue_with_a_rate_of_its_own_holds_back_what_waits() {
    let mut link = shaped("4 Mbit/s", spec());
    let out = run(&mut link, &[(0, 1000), (0, 1000), (0, 1000), (20, 1000)]);
    // Every 2 ms, and a millisecond on the wire.
    assert_eq!(times_ms(&out), [1.0, 3.0, 5.0, 21.0]);
    assert_eq!(link.queued(), 0);
    // Faster than the link, it changes nothing.
    let mut link = shaped("80 Mbit/s", spec());
    let out = run(&mut link, &[(0, 1000), (0, 1000), (0, 1000)]);
    assert_eq!(times_ms(&out), [1.0, 2.0, 3.0]);
}

#[test]
fn a_queue_with_a_rate_of_its_own_waits_for_an_opportunity() {
    let spec = LinkSpec {
        rate: None,
        deliveries: Some(DeliverySchedule::parse("3").unwrap()),
        ..spec()
    };
    let mut link = shaped("1 Mbit/s", spec);
    let out = run(&mut link, &[(0, 1000), (0, 1000), (0, 1000)]);
    // Opportunities every 3 ms, tokens at 0, 8 and 16 ms.
    assert_eq!(times_ms(&out), [3.0, 9.0, 18.0]);
}
