//! Tests of the queues, and of what ports count.

use crate::bench::{Card, Packet, mac_of, sizes};
use trammel_netfpga::registers::Registers;
use trammel_netfpga::stages::{Fcs, Queue, crc32};

/// Offers `offered` frames of `bytes` to `queue` while it does not send; it keeps `kept`, and sends
/// them in their order when it may.
fn fills(card: &mut Card, queue: Queue, offered: u32, kept: u32, bytes: usize) {
    let of = |name: &str| format!("OQ_QUEUE_{}_{name}", queue.number());
    let port = queue.port();
    let names = ["NUM_PKTS_STORED", "NUM_PKTS_DROPPED", "NUM_PKTS_REMOVED"];
    let before = names.map(|name| card.get(&of(name)));
    let bytes_before = card.get(&of("NUM_PKT_BYTES_STORED"));
    let left = card.get(&of("NUM_WORDS_LEFT"));
    card.set(&of("CTRL"), 0);
    let mut expected = Vec::new();
    for n in 0..offered {
        // TTLs tell the frames apart.
        let mut packet = Packet::via((port + 1) % 4, [10, 0, port as u8, 3], bytes);
        packet.ttl = 2 + n as u8 % 200;
        let from = if queue.is_cpu() { port } else { (port + 1) % 4 };
        if queue.is_cpu() {
            packet.to = mac_of(port);
            packet.destination = [9, 9, 9, packet.ttl];
            expected.push(packet.bytes());
        } else {
            expected.push(packet.forwarded(port));
        }
        card.send(Queue::mac(from), &packet.bytes());
    }
    assert!(card.left_by(queue).is_empty());
    let now = names.map(|name| card.get(&of(name)));
    assert_eq!(
        now,
        [before[0] + kept, before[1] + offered - kept, before[2]]
    );
    assert_eq!(card.get(&of("NUM_PKTS_IN_Q")), kept);
    assert_eq!(
        card.get(&of("NUM_PKT_BYTES_STORED")) - bytes_before,
        kept * bytes as u32
    );
    assert_eq!(card.get(&of("NUM_OVERHEAD_BYTES_STORED")), 8 * now[0]);
    let words = kept * (bytes as u32).div_ceil(8) + kept;
    assert_eq!(card.get(&of("NUM_WORDS_IN_Q")), words);
    assert_eq!(card.get(&of("NUM_WORDS_LEFT")), left - words);
    card.set(&of("CTRL"), 1);
    expected.truncate(kept as usize);
    assert_eq!(card.left_by(queue), expected);
    assert_eq!(card.get(&of("NUM_PKTS_REMOVED")), before[2] + kept);
    assert_eq!(card.get(&of("NUM_OVERHEAD_BYTES_REMOVED")), 8 * now[0]);
    assert_eq!(card.get(&of("NUM_WORDS_LEFT")), left);
}

pub(crate) fn both_oq_limit(mut card: Card) {
    for (queue, most) in [(Queue::mac(0), 5), (Queue::mac(2), 1), (Queue::cpu(1), 9)] {
        card.set(&format!("OQ_QUEUE_{}_MAX_PKTS_IN_Q", queue.number()), most);
        fills(&mut card, queue, most + 3, most, 100);
    }
    card.expect(&[
        ("ROUTER_OP_LUT_NUM_PKTS_FORWARDED", 12),
        ("ROUTER_OP_LUT_LPM_NUM_MISSES", 12),
        ("OQ_QUEUE_0_NUM_PKTS_DROPPED", 3),
        ("OQ_QUEUE_4_NUM_PKTS_DROPPED", 3),
        ("OQ_QUEUE_3_NUM_PKTS_DROPPED", 3),
    ]);
}

/// Queues of 0x400 and of 0x600 words keep 4 and 8 frames of 1016 bytes.
fn resized(card: &mut Card, queue: Queue) {
    let of = |name: &str| format!("OQ_QUEUE_{}_{name}", queue.number());
    for (words, kept) in [(0x400, 4), (0x600, 8)] {
        let low = card.get(&of("ADDR_LO"));
        card.set(&of("ADDR_HI"), low + words - 1);
        card.set(&of("CTRL"), 3);
        assert_eq!(card.get(&of("NUM_WORDS_LEFT")), words);
        fills(card, queue, kept + 1, kept, 1016);
    }
}

pub(crate) fn both_oq_sramSzMAC(mut card: Card) {
    for port in 0..4 {
        resized(&mut card, Queue::mac(port));
    }
    let dropped = [0, 2, 4, 6].map(|queue| format!("OQ_QUEUE_{queue}_NUM_PKTS_DROPPED"));
    let mut expected: Vec<_> = dropped.iter().map(|name| (name.as_str(), 2)).collect();
    expected.push(("ROUTER_OP_LUT_NUM_PKTS_FORWARDED", 56));
    card.expect(&expected);
}

pub(crate) fn both_oq_sramSzCPU(mut card: Card) {
    for port in 0..4 {
        resized(&mut card, Queue::cpu(port));
    }
    let dropped = [1, 3, 5, 7].map(|queue| format!("OQ_QUEUE_{queue}_NUM_PKTS_DROPPED"));
    let mut expected: Vec<_> = dropped.iter().map(|name| (name.as_str(), 2)).collect();
    expected.push(("ROUTER_OP_LUT_LPM_NUM_MISSES", 56));
    card.expect(&expected);
}

pub(crate) fn hw_lut_forward(mut card: Card) {
    for from in 0..4 {
        let to = (from + 1) % 4;
        for size in sizes(100) {
            let packet = Packet::via(from, [10, 0, to as u8, 9], size);
            card.send(Queue::mac(from), &packet.bytes());
            assert_eq!(card.left_by(Queue::mac(to)), [packet.forwarded(to)]);
        }
    }
    card.expect(&[("ROUTER_OP_LUT_NUM_PKTS_FORWARDED", 400)]);
}

pub(crate) fn hw_queue_overflow(mut card: Card) {
    // 500 frames of 1514 bytes are 95,500 words, and a queue keeps 65,024 and what crosses that.
    fills(&mut card, Queue::mac(1), 500, 341, 1514);
    let name = "OQ_QUEUE_2_NUM_PKTS_DROPPED";
    card.expect(&[("ROUTER_OP_LUT_NUM_PKTS_FORWARDED", 500), (name, 159)]);
}

pub(crate) fn hw_send_receive(mut card: Card) {
    // Where the FCS is not ours to make, all frames are good ones.
    let bad_frames = if card.has_fcs() { 10 } else { 0 };
    for port in 0..4 {
        let to = (port + 2) % 4;
        for n in 0..30 + bad_frames {
            let packet = Packet::via(port, [10, 0, to as u8, 9], 64);
            let mut frame = packet.bytes();
            let sum = crc32(&frame).to_le_bytes();
            frame.extend(sum);
            let is_bad = bad_frames > 0 && n % 4 == 0;
            frame[62] ^= u8::from(is_bad);
            card.send_with(Queue::mac(port), &frame, Fcs::Present);
        }
        assert_eq!(card.left_by(Queue::mac(to)).len(), 30);
    }
    for port in 0..4 {
        let mut get = |name: &str| card.get(&format!("MAC_GRP_{port}_{name}"));
        assert_eq!(get("RX_QUEUE_NUM_PKTS_STORED"), 30);
        assert_eq!(get("RX_QUEUE_NUM_PKTS_DEQUEUED"), 30);
        assert_eq!(get("RX_QUEUE_NUM_BYTES_PUSHED"), 30 * 64);
        assert_eq!(get("RX_QUEUE_NUM_WORDS_PUSHED"), 30 * 8);
        assert_eq!(get("RX_QUEUE_NUM_PKTS_IN_QUEUE"), 0);
        assert_eq!(get("TX_QUEUE_NUM_PKTS_SENT"), 30);
        assert_eq!(get("TX_QUEUE_NUM_BYTES_PUSHED"), 30 * 64);
    }
    let bad = [0, 1, 2, 3].map(|port| format!("MAC_GRP_{port}_RX_QUEUE_NUM_PKTS_DROPPED_BAD"));
    let mut expected: Vec<_> = bad.iter().map(|name| (name.as_str(), bad_frames)).collect();
    expected.push(("ROUTER_OP_LUT_NUM_PKTS_FORWARDED", 120));
    card.expect(&expected);
    // Counters can be written.
    card.set("MAC_GRP_0_RX_QUEUE_NUM_PKTS_STORED", 0);
    assert_eq!(card.get("MAC_GRP_0_RX_QUEUE_NUM_PKTS_STORED"), 0);
    assert_eq!(card.read(0x03ff_fffc), 0xDEAD_BEEF);
}
