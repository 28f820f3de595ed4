//! The designs other than the router.

mod bench;

use bench::events::{evt_store, evt_timestamp};
use bench::{timed, untimed};
use trammel_core::time::{Span, Time};
use trammel_netfpga::registers::Registers;
use trammel_netfpga::stages::{Fcs, Queue};
use trammel_netfpga::{Params, design};

fn frame(to: u8, from: u8) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, to, 2, 0, 0, 0, 0, from, 0x88, 0xb5];
    frame.resize(80, to ^ from);
    frame
}

#[test]
fn designs_are_found_by_name_and_slips_are_told() {
    let known = design("reference-ruter").unwrap_err().to_string();
    assert!(
        known.contains("`reference-router`") && known.contains("`reference-nic`"),
        "{known}"
    );
}

#[test]
fn a_nic_passes_frames_between_a_port_and_its_host_interface() {
    let mut card = untimed("reference-nic");
    for port in 0..4 {
        let pair = [Queue::mac(port), Queue::cpu(port)];
        for (from, to) in [(pair[0], pair[1]), (pair[1], pair[0])] {
            card.send(from, &frame(9, 8));
            assert_eq!(card.left_by(to), [frame(9, 8)]);
        }
        for (name, value) in [
            ("DMA_NUM_INGRESS_PKTS", port as u32 + 1),
            ("DMA_NUM_EGRESS_BYTES", 80 * (port as u32 + 1)),
        ] {
            assert_eq!(card.get(name), value);
        }
    }
    assert!(
        Queue::ALL
            .iter()
            .all(|queue| card.left_by(*queue).is_empty())
    );
}

#[test]
fn a_switch_floods_and_learns() {
    let mut card = untimed("reference-switch");
    let mut ports = |from: usize, frame: &[u8]| -> Vec<usize> {
        card.send(Queue::mac(from), frame);
        (0..4)
            .filter(|port| card.left_by(Queue::mac(*port)) == [frame])
            .collect()
    };
    assert_eq!(ports(0, &frame(2, 1)), [1, 2, 3]);
    assert_eq!(ports(1, &frame(1, 2)), [0]);
    assert_eq!(ports(0, &frame(2, 1)), [1]);
    // To where it came from.
    assert!(ports(1, &frame(2, 3)).is_empty());
    // It moved.
    assert_eq!(ports(3, &frame(9, 2)), [0, 1, 2]);
    assert_eq!(ports(0, &frame(2, 1)), [3]);
    let mut broadcast = frame(0, 1);
    broadcast[..6].fill(0xff);
    assert_eq!(ports(2, &broadcast), [0, 1, 3]);
    assert_eq!(card.get("SWITCH_OP_LUT_NUM_HITS"), 4);
    assert_eq!(card.get("SWITCH_OP_LUT_NUM_MISSES"), 3);
    assert!(
        Queue::ALL
            .iter()
            .all(|queue| card.left_by(*queue).is_empty())
    );
}

#[test]
fn a_full_switch_gives_up_the_oldest_row_that_is_not_protected() {
    let mut card = untimed("reference-switch");
    // Row 0: address 02:…:63 behind port 2, kept.
    card.set("SWITCH_OP_LUT_PORTS_MAC_HI", 1 << 31 | 0x10 << 16 | 0x0200);
    card.set("SWITCH_OP_LUT_MAC_LO", 0x63);
    card.set("SWITCH_OP_LUT_MAC_LUT_WR_ADDR", 0);
    for from in 1..=16 {
        card.send(Queue::mac(0), &frame(0xee, from));
    }
    card.set("SWITCH_OP_LUT_MAC_LUT_RD_ADDR", 0);
    assert_eq!(card.get("SWITCH_OP_LUT_MAC_LO"), 0x63);
    // The first one went, the others stayed.
    let row_1 = {
        card.set("SWITCH_OP_LUT_MAC_LUT_RD_ADDR", 1);
        let address = card.map.find("SWITCH_OP_LUT_MAC_LO").unwrap().address;
        card.read(address)
    };
    assert_eq!(row_1, 16);
    assert_eq!(card.left_by(Queue::mac(3)).len(), 16);
    card.send(Queue::mac(3), &frame(0x63, 0x63));
    assert_eq!(card.left_by(Queue::mac(2)).len(), 17);
    assert_eq!(card.get("SWITCH_OP_LUT_NUM_HITS"), 1);
}

#[test]
fn router_buffer_sizing_evt_store() {
    evt_store(untimed("buffer-sizing").routing());
    evt_store(timed("buffer-sizing").routing());
}

#[test]
fn router_buffer_sizing_evt_timestamp() {
    let (frames, times) = evt_timestamp(timed("buffer-sizing").routing());
    assert_eq!(frames, 3);
    // A frame each 200 us, counted in 64 ns.
    assert!(
        times
            .windows(2)
            .all(|pair| (3124..=3126).contains(&(pair[1] - pair[0])))
    );
}

#[test]
fn a_limited_port_sends_at_the_rate_of_its_tokens() {
    let entry = design("buffer-sizing").unwrap();
    let mut card = trammel_netfpga::Card::new(entry, &Params::REFERENCE_1G).unwrap();
    let map = entry.map();
    let mut set = |name: &str, value| card.write(map.find(name).unwrap().address, value);
    // 100 bytes each 8 us: 100 Mbit/s.
    set("RATE_LIMIT_0_TOKEN_INTERVAL", 1000);
    set("RATE_LIMIT_0_TOKEN_INC", 100);
    set("RATE_LIMIT_0_CTRL", 1);
    for n in 0..50 {
        card.offer(Time::ZERO, Queue::cpu(0), &[n; 996], Fcs::Good);
    }
    card.advance(Time::from_ms(100));
    let mut frame = Vec::new();
    let left: Vec<_> = std::iter::from_fn(|| card.take(&mut frame))
        .map(|d| d.left)
        .collect();
    assert_eq!(left.len(), 50);
    assert!(
        left.windows(2)
            .all(|pair| pair[1].saturating_since(pair[0]) == Span::from_us(80))
    );
}

#[test]
fn the_generator_replays_with_exact_gaps_and_captures_with_time_stamps() {
    let entry = design("packet-generator").unwrap();
    let mut card = trammel_netfpga::Card::new(entry, &Params::REFERENCE_1G).unwrap();
    let map = entry.map();
    let at = |name: &str| map.find(name).unwrap().address;
    let gaps = [2_000, 672, 5_123];
    card.write(at("PKT_GEN_2_CTRL"), 1);
    for (n, gap) in gaps.into_iter().enumerate() {
        card.write(at("PKT_GEN_2_GAP"), gap);
        card.offer(card.now(), Queue::cpu(2), &[n as u8; 60], Fcs::Good);
        card.advance(card.now() + Span::from_ms(1));
    }
    assert_eq!(card.read(at("PKT_GEN_2_NUM_PKTS_LOADED")), 3);
    card.write(at("PKT_GEN_2_ITERATIONS"), 400);
    card.write(at("PKT_GEN_2_CTRL"), 2);
    card.advance(card.now() + Span::from_ms(20));
    let (mut frame, mut left) = (Vec::new(), Vec::new());
    while let Some(departure) = card.take(&mut frame) {
        assert_eq!(
            (departure.queue, frame[0]),
            (Queue::mac(2), (left.len() % 3) as u8)
        );
        left.push(departure.left);
    }
    assert_eq!(left.len(), 1200);
    for (n, pair) in left.windows(2).enumerate() {
        // The open MAC needs a byte more than the least gap.
        let wanted = u64::from(gaps[n % 3]).max(680);
        assert_eq!(pair[1].saturating_since(pair[0]).as_ns(), wanted, "{n}");
    }
    assert_eq!(card.read(at("PKT_GEN_2_NUM_PKTS_GENERATED")), 1200);
    // Back to a network interface that captures.
    card.write(at("PKT_GEN_1_CTRL"), 4);
    let due = card.now() + Span::from_ns(1_234);
    card.offer(due, Queue::mac(1), &[9; 60], Fcs::Good);
    card.advance(card.now() + Span::from_ms(1));
    assert_eq!(card.take(&mut frame).unwrap().queue, Queue::cpu(1));
    assert_eq!(
        (frame.len(), &frame[60..]),
        (68, &due.as_ns().to_be_bytes()[..])
    );
    assert_eq!(card.read(at("PKT_GEN_1_NUM_PKTS_CAPTURED")), 1);
}

#[test]
fn a_generator_without_end_stops_at_a_full_queue() {
    let mut card = untimed("packet-generator");
    card.set("PKT_GEN_0_CTRL", 1);
    for n in 0..5 {
        card.send(Queue::cpu(0), &[n; 60]);
    }
    card.set("OQ_QUEUE_0_CTRL", 0);
    card.set("OQ_QUEUE_0_MAX_PKTS_IN_Q", 3);
    card.set("PKT_GEN_0_CTRL", 2);
    assert_eq!(card.get("OQ_QUEUE_0_NUM_PKTS_IN_Q"), 3);
    // A write to another register changes nothing.
    card.set("PKT_GEN_0_GAP", 7);
    assert_eq!(card.get("OQ_QUEUE_0_NUM_PKTS_DROPPED"), 1);
    card.set("PKT_GEN_0_CTRL", 0);
    card.set("OQ_QUEUE_0_CTRL", 1);
    let firsts: Vec<_> = card
        .left_by(Queue::mac(0))
        .iter()
        .map(|frame| frame[0])
        .collect();
    assert_eq!(firsts, [0, 1, 2]);
}
