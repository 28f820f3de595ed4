//! Tests of `wifi`.

use super::*;
use crate::flow::FlowSpec;
use crate::ids::{FlowId, LinkId, StreamId};
use crate::link::LinkSpec;
use crate::network::Network;
use crate::stream::{StreamSpec, sized};
use crate::trace::Pace;
use trammel_core::entry::Params;
use trammel_stats::arrivals::{Renewal, Spans};
use trammel_stats::dist::constant::Constant;
use trammel_tcp::cc;
use trammel_tcp::stack::Stack;

/// Keeps both ends of a medium supplied as asked for `time`; returns frames received of each.
fn saturate(medium: &mut Medium, supplied: [bool; 2], time: Time) -> [u64; 2] {
    let packet = Packet::datagram(0, 0, 1472, 1514, Time::ZERO);
    let mut received = [0; 2];
    let mut now = Time::ZERO;
    while now < time {
        for (side, supplied) in supplied.into_iter().enumerate() {
            if supplied && medium.is_free(side) {
                medium.offer(now, side, packet);
            }
        }
        now = medium.next();
        for (side, outcome) in medium.advance(now).into_iter().enumerate() {
            received[side] += u64::from(outcome.is_some_and(|outcome| outcome.is_received));
        }
    }
    received
}

fn mbps(frames: u64, time: Time) -> f64 {
    frames as f64 * 1500.0 * 8.0 / time.as_secs_f64() / 1e6
}

#[test]
fn one_saturated_station_reaches_the_theoretical_maximum() {
    let time = Time::from_secs(5);
    for (long_slot, cw_min, difs_us, slot_us) in [(false, 15, 28.0, 9.0), (true, 31, 50.0, 20.0)] {
        let mut spec = WifiSpec::ieee80211g("one", -50.0);
        (spec.long_slot, spec.cw_min) = (long_slot, cw_min);
        let frames = saturate(&mut Medium::new(&spec), [true, false], time)[0];
        // Jun et al. 2003: DIFS, half of the window, data, SIFS, ACK.
        let cycle_us = difs_us + f64::from(cw_min) / 2.0 * slot_us + 254.0 + 10.0 + 34.0;
        let expected = 12_000.0 / cycle_us;
        let found = mbps(frames, time);
        assert!(
            (found / expected - 1.0).abs() < 0.01,
            "{found} Mbit/s, expected {expected}"
        );
        if !long_slot {
            assert!((29.0..31.0).contains(&found), "{found}");
        }
    }
}

/// Probability of a collision for a frame among `n` saturated stations (Bianchi 2000, equations 7
/// and 9).
fn bianchi(n: i32, window: f64, stages: i32) -> f64 {
    let send = |p: f64| {
        2.0 * (1.0 - 2.0 * p)
            / ((1.0 - 2.0 * p) * (window + 1.0) + p * window * (1.0 - (2.0 * p).powi(stages)))
    };
    let (mut low, mut high) = (0.0, 0.999);
    for _ in 0..60 {
        let p = f64::midpoint(low, high);
        // A full window of more collisions sends less, so the difference falls with p.
        if 1.0 - (1.0 - send(p)).powi(n - 1) > p {
            low = p;
        } else {
            high = p;
        }
    }
    low
}

#[test]
fn saturated_stations_collide_as_often_as_bianchi_says() {
    for (contenders, tolerance) in [(0, 0.12), (3, 0.10), (8, 0.10)] {
        let mut spec = WifiSpec::ieee80211g("many", -50.0);
        spec.contenders = contenders;
        let mut medium = Medium::new(&spec);
        saturate(&mut medium, [true, true], Time::from_secs(20));
        let c = medium.counters;
        let found = c.collided as f64 / c.transmissions as f64;
        let expected = bianchi(contenders as i32 + 2, 16.0, 6);
        assert!(
            (found / expected - 1.0).abs() < tolerance,
            "{found}, expected {expected}"
        );
    }
}

#[test]
fn the_medium_is_shared_alike() {
    let mut spec = WifiSpec::ieee80211g("fair", -50.0);
    spec.contenders = 2;
    let mut medium = Medium::new(&spec);
    let received = saturate(&mut medium, [true, true], Time::from_secs(20));
    let each = medium.counters.contender_frames as f64 / 2.0;
    for frames in received {
        assert!(
            (frames as f64 / each - 1.0).abs() < 0.05,
            "{frames} of {each}"
        );
    }
}

#[test]
fn frames_in_error_are_repeated_up_to_the_limit() {
    let mut spec = WifiSpec::ieee80211g("weak", -75.0);
    spec.rate = RateChoice::Fixed(OfdmRate::of_mbps(48).unwrap());
    let mut medium = Medium::new(&spec);
    let per = medium.frame_error_rate(0, 1500);
    assert!((0.2..0.8).contains(&per), "{per}");
    let received = saturate(&mut medium, [true, false], Time::from_secs(20))[0];
    let c = medium.counters;
    let errors = c.errors as f64 / c.transmissions as f64;
    assert!((errors - per).abs() < 0.02, "{errors}, {per}");
    let given_up = c.given_up as f64 / (c.given_up + received) as f64;
    assert!(
        (given_up / per.powi(7) - 1.0).abs() < 0.25,
        "{given_up}, {}",
        per.powi(7)
    );
}

#[test]
fn a_lost_ack_repeats_a_frame_that_the_receiver_has_already() {
    // Data go out strongly, ACKs come back weakly.
    let mut spec = WifiSpec::ieee80211g("one-way", -50.0);
    spec.rate = RateChoice::Fixed(OfdmRate::of_mbps(6).unwrap());
    spec.received_dbm = [-50.0, -94.2];
    let mut medium = Medium::new(&spec);
    let ack = OfdmRate::of_mbps(6).unwrap();
    let per = ack.frame_error_rate(-94.2 - NOISE_DBM, ACK_BYTES);
    assert!((0.05..0.6).contains(&per), "{per}");
    let received = saturate(&mut medium, [true, false], Time::from_secs(60))[0];
    let c = medium.counters;
    assert_eq!((c.errors, c.collided), (0, 0), "every data frame is heard");
    // Every transmission is received and acknowledged; the ACKs get lost as often as the power
    // says.
    let lost = c.acks_lost as f64 / c.transmissions as f64;
    assert!((lost / per - 1.0).abs() < 0.05, "{lost}, {per}");
    // Each frame is handed up once, and every other transmission of it is a duplicate.
    assert_eq!(received + c.duplicates, c.transmissions);
    let given_up = c.given_up as f64 / received as f64;
    assert!(
        (given_up - per.powi(7)).abs() < 0.002,
        "{given_up}, {}",
        per.powi(7)
    );
}

#[test]
fn acks_of_a_strong_signal_are_not_lost() {
    let mut medium = Medium::new(&WifiSpec::ieee80211g("strong", -60.0));
    saturate(&mut medium, [true, true], Time::from_secs(5));
    assert_eq!(
        (medium.counters.acks_lost, medium.counters.duplicates),
        (0, 0)
    );
}

/// Goodput over a path, Mbit/s: of TCP, or of a saturating stream of datagrams.
fn goodput(spec: WifiSpec, tcp: bool) -> (f64, Network) {
    let mut net = Network::new();
    let (down, up) = net.add_wifi(spec);
    let wire = net.add_link(LinkSpec::wire("server", Span::from_ms(5)));
    let time = Time::from_secs(10);
    let reno = cc::find("reno").unwrap();
    if tcp {
        net.add_flow(FlowSpec {
            name: "tcp".into(),
            client: Stack::linux_6(),
            server: Stack::linux_6(),
            cc: Box::new(|| (reno.build)(&Params::defaults(&reno.about))),
            start: Time::ZERO,
            stop: Time::MAX,
            bytes: None,
            forward: vec![wire, down],
            backward: vec![up],
            reader: None,
            overhead_bytes: 14,
            pace: Pace::Off,
            seed: 1,
        });
    } else {
        let gaps = Spans::constant_rate(5000.0).unwrap();
        net.add_stream(StreamSpec {
            name: "udp".into(),
            plan: sized(
                Renewal::new(Time::ZERO, gaps, Rng::new(1, "plan")),
                Box::new(Constant::new(1448.0)),
                Rng::new(1, "size"),
                1472,
                66,
            ),
            stop: Time::MAX,
            route: vec![wire, down],
            keeps_arrivals: false,
        });
    }
    net.run_until(time);
    let bytes = if tcp {
        net.flow(FlowId::new(0)).bytes_delivered
    } else {
        net.stream(StreamId::new(0)).received_bytes
    };
    (bytes as f64 * 8.0 / time.as_secs_f64() / 1e6, net)
}

#[test]
fn tcp_gets_less_than_datagrams_because_its_acks_contend() {
    let (udp, _) = goodput(WifiSpec::ieee80211g("wifi", -50.0), false);
    let (tcp, net) = goodput(WifiSpec::ieee80211g("wifi", -50.0), true);
    assert!((28.0..30.5).contains(&udp), "{udp}");
    // An ACK for every second segment takes about half of a full frame's cycle.
    assert!((0.70..0.92).contains(&(tcp / udp)), "{tcp} of {udp} Mbit/s");
    let c = net.medium(LinkId::new(0)).unwrap().counters;
    assert!(c.collided > 100, "{c:?}");
    assert_eq!(c.errors, 0);
    assert!(net.medium(LinkId::new(2)).is_none());
}

#[test]
fn a_weak_signal_costs_goodput() {
    let at = |dbm| goodput(WifiSpec::ieee80211g("wifi", dbm), true).0;
    let (strong, weak, weakest) = (at(-50.0), at(-76.0), at(-91.0));
    assert!(
        strong > weak && weak > weakest && weakest > 1.0,
        "{strong} {weak} {weakest}"
    );
}

#[test]
fn packets_are_conserved_and_a_run_repeats() {
    let run = || {
        let mut spec = WifiSpec::ieee80211g("wifi", -75.0);
        spec.rate = RateChoice::Fixed(OfdmRate::of_mbps(54).unwrap());
        spec.contenders = 1;
        let (_, net) = goodput(spec, true);
        for index in 0..2 {
            let link = net.link(LinkId::new(index));
            let c = link.counters();
            let held = u64::from(link.queued());
            assert_eq!(
                c.arrived_pkts,
                c.sent_pkts + c.overflow_pkts + c.early_pkts + held
            );
            assert_eq!(
                c.sent_pkts,
                c.delivered_pkts + c.lost_pkts + link.in_pipe() as u64
            );
        }
        assert!(net.link(LinkId::new(0)).counters().lost_pkts > 0);
        (
            net.link(LinkId::new(0)).counters(),
            net.link(LinkId::new(1)).counters(),
            net.medium(LinkId::new(0)).unwrap().counters,
        )
    };
    assert_eq!(run(), run());
}
