//! How the receive buffer follows the application, beside figures of Linux 6.12, and which blocks
//! it reports.

use super::acknowledge::{COMPRESSION_NS, COMPRESSION_SLACK_NS};
use super::*;

const MSS: u32 = 1448;

/// The end of a connection that is set up at 150 ms, with a round trip of 100 ms.
fn receiver() -> Receiver {
    let mut receiver = Receiver::new(&Stack::linux_6());
    receiver.start(0, MSS, MSS);
    receiver.established(150_000);
    receiver.rtt_sample(100_000);
    receiver
}

fn take(receiver: &mut Receiver, time_us: u64, segments: u32) {
    for _ in 0..segments {
        let segment = Segment {
            seq: receiver.rcv_nxt,
            len: MSS,
            ..Segment::default()
        };
        receiver.on_data(Time::from_us(time_us), &segment, false);
    }
}

/// The segment of that number comes.
fn take_at(receiver: &mut Receiver, number: u32) {
    take_then(receiver, 200_000, number);
}

/// The segment of that number comes at that time.
fn take_then(receiver: &mut Receiver, time_us: u64, number: u32) {
    let segment = Segment {
        seq: number * MSS,
        len: MSS,
        ..Segment::default()
    };
    receiver.on_data(Time::from_us(time_us), &segment, true);
}

/// What is owed leaves.
fn acknowledge(receiver: &mut Receiver) {
    receiver.advertise();
    receiver.acknowledged();
}

/// The blocks remembered, in segments.
fn blocks(receiver: &Receiver) -> Vec<(u32, u32)> {
    let blocks = receiver.sacks.iter();
    blocks.map(|b| (b.start / MSS, b.end / MSS)).collect()
}

#[test]
fn a_range_that_fell_out_of_the_blocks_is_not_reported_with_its_neighbour() {
    let mut receiver = receiver();
    for number in [1, 3, 5, 7, 9] {
        take_at(&mut receiver, number);
    }
    assert_eq!(blocks(&receiver), [(9, 10), (7, 8), (5, 6), (3, 4)]);
    // Between the range forgotten and the oldest remembered: the latter grows and comes first.
    take_at(&mut receiver, 2);
    assert_eq!(blocks(&receiver), [(2, 4), (9, 10), (7, 8), (5, 6)]);
    // Two that become one leave room for the next.
    take_at(&mut receiver, 8);
    assert_eq!(blocks(&receiver), [(7, 10), (2, 4), (5, 6)]);
    // Beside what is forgotten alone.
    for number in [12, 14, 16, 10] {
        take_at(&mut receiver, number);
    }
    assert_eq!(blocks(&receiver), [(7, 11), (16, 17), (14, 15), (12, 13)]);
    take_at(&mut receiver, 4);
    assert_eq!(blocks(&receiver), [(4, 5), (7, 11), (16, 17), (14, 15)]);
    // Nothing but what was held is taken as held.
    take_at(&mut receiver, 0);
    assert_eq!(receiver.rcv_nxt, 6 * MSS);
    assert_eq!(blocks(&receiver), [(7, 11), (16, 17), (14, 15)]);
}

#[test]
fn a_delayed_ack_s_timer_sends_what_compression_holds_back() {
    let mut receiver = receiver();
    // No quick ACKs.
    receiver.interactive = true;
    take_then(&mut receiver, 200_000, 0);
    let timer = Time::from_us(241_000);
    assert_eq!(receiver.delayed, timer);
    // Above a gap three are acknowledged at once, which does not stop the timer; the fourth is held
    // back.
    for number in 2..5 {
        take_then(&mut receiver, 240_500, number);
        assert!(receiver.now);
        acknowledge(&mut receiver);
    }
    assert_eq!(receiver.delayed, Time::MAX);
    take_then(&mut receiver, 240_600, 5);
    assert_eq!((receiver.now, receiver.compressed_due), (false, timer));
    // It fires once.
    acknowledge(&mut receiver);
    take_then(&mut receiver, 241_500, 6);
    let own = Time::from_us(241_500) + Span::from_ns(COMPRESSION_NS + COMPRESSION_SLACK_NS);
    assert_eq!(receiver.compressed_due, own);
}

#[test]
fn a_measurement_sees_the_first_buffer_of_a_read_and_takes_off_what_waits() {
    // Linux 6.12 at 1 Gbit/s and 100 ms: 2, 8 and 20 segments, read in three goes. The third read,
    // a round trip after the handshake, copies a first buffer of 12 segments while 8 wait.
    let mut receiver = receiver();
    for (time_us, segments) in [(150_000, 2), (155_000, 8), (251_049, 20)] {
        take(&mut receiver, time_us, segments);
        assert_eq!(receiver.space_bytes, 14_480, "ten segments to begin with");
        let all = segments * MSS;
        assert_eq!(receiver.read(Time::from_us(time_us), u32::MAX), all);
    }
    assert_eq!(receiver.space_bytes, 20_272);
    assert_eq!(receiver.buffer, 64 << 20, "which does not ask for more");
}

#[test]
fn a_burst_after_a_pause_does_not_count_as_a_round_trip_s_reading() {
    let mut receiver = receiver();
    take(&mut receiver, 251_000, 400);
    receiver.read(Time::from_us(251_000), u32::MAX);
    assert_eq!(receiver.space_bytes, 14_480, "more waits than was copied");
    // What was copied since then does, when the next burst begins: after a first buffer of 13
    // segments and with another of 12, less the 88 behind it.
    take(&mut receiver, 352_000, 100);
    receiver.read(Time::from_us(352_000), u32::MAX);
    assert_eq!(receiver.space_bytes, u64::from((400 - 13 + 12 - 88) * MSS));
}

#[test]
fn the_round_trip_falls_at_once_and_rises_by_an_eighth() {
    let mut receiver = receiver();
    receiver.rtt_sample(101_000);
    assert_eq!(receiver.rtt_eighths, 8 * 100_125);
    receiver.rtt_sample(109_125);
    assert_eq!(receiver.rtt_eighths, 8 * 101_250);
    receiver.rtt_sample(99_000);
    assert_eq!(receiver.rtt_eighths, 8 * 99_000);
}

#[test]
fn what_joins_the_stream_frees_its_memory_while_other_gaps_stay_open() {
    let mut receiver = receiver();
    let full = receiver.space();
    // Segments 0 and 31 are lost: thirty wait behind the first gap, as many behind the second.
    for number in (1..31).chain(32..62) {
        take_at(&mut receiver, number);
    }
    let held = receiver.held;
    assert!(held > 60 * u64::from(MSS));
    take_at(&mut receiver, 0);
    assert_eq!(receiver.rcv_nxt, 31 * MSS);
    assert_eq!(receiver.held, held - held / 2, "half of it still waits");
    take_at(&mut receiver, 31);
    assert_eq!(receiver.held, 0);
    // The ACK that ends the hole leaves before the application wakes, and tells of less room.
    assert!(receiver.space() < receiver.window_of(receiver.buffer - u64::from(30 * MSS)));
    receiver.settle();
    assert_eq!(receiver.space(), receiver.window_of(receiver.buffer));
    assert!(receiver.space() >= full);
}

/// A receiver that has used up its quick ACKs, with a path of `srtt_ms` and that much of a timeout.
fn settled(srtt_ms: u64, rto_ms: u64) -> Receiver {
    let mut receiver = receiver();
    receiver.learn_path(srtt_ms * 1000, rto_ms * 1000);
    take_then(&mut receiver, 160_000, 0);
    // A cap that grows asks for quick ACKs, too.
    receiver.ssthresh = receiver.clamp as u32;
    receiver.quick = 0;
    acknowledge(&mut receiver);
    receiver
}

#[test]
fn only_a_silence_beyond_the_timeout_brings_quick_acks_back() {
    // Over a satellite, windows come 500 ms apart: the sender does not start anew for that.
    for (gap_ms, rto_ms, is_quick) in [(500, 1341, false), (1342, 1341, true), (260, 250, true)] {
        let mut receiver = settled(447, rto_ms);
        take_then(&mut receiver, 160_000 + gap_ms * 1000, 1);
        assert_eq!(receiver.quick > 0, is_quick, "{gap_ms} of {rto_ms} ms");
    }
}

#[test]
fn an_ack_is_delayed_by_a_round_trip_at_most() {
    // Segments 50 ms apart have it expect the next after up to 100 ms.
    for (srtt_ms, hold_ms) in [(10, 40), (70, 70), (447, 100)] {
        let mut receiver = settled(srtt_ms, 1341);
        receiver.ato_us = 100_000;
        assert_eq!(receiver.delay_us(), hold_ms * 1000, "{srtt_ms} ms");
    }
    // Linux holds no ACK for as long as its own least timeout.
    let mut receiver = settled(447, 1341);
    receiver.ato_us = 400_000;
    assert_eq!(receiver.delay_us(), 199_000);
}

#[test]
fn compression_follows_the_shorter_round_trip() {
    // A queue of 8 ms lies in the data's round trip, and not in the handshake's.
    let mut receiver = settled(2, 202);
    for (number, time_us) in [(2, 200_000), (3, 200_700), (4, 201_400), (5, 202_100)] {
        take_then(&mut receiver, time_us, number);
        if receiver.now {
            acknowledge(&mut receiver);
        }
    }
    let due = Time::from_us(202_100) + Span::from_ns(100_000 + COMPRESSION_SLACK_NS);
    assert_eq!(receiver.compressed_due, due);
}

#[test]
fn a_reader_that_reads_at_once_acknowledges_what_its_window_does_not() {
    let mut stack = Stack::linux_6();
    stack.set_receive_buffer(64_000_000);
    let mut receiver = Receiver::new(&stack);
    receiver.start(0, MSS, MSS);
    receiver.established(150_000);
    take_then(&mut receiver, 160_000, 0);
    // The cap is what an empty buffer has room for: a unit of the window more than is free beside
    // a segment.
    receiver.ssthresh = receiver.clamp as u32;
    receiver.quick = 0;
    receiver.settle();
    acknowledge(&mut receiver);
    assert_eq!(receiver.rcv_wnd, 81_000_448);
    take_then(&mut receiver, 200_000, 1);
    assert_eq!((receiver.offer(), receiver.now), (80_999_424, false));
    take_then(&mut receiver, 200_000, 2);
    assert!(receiver.now, "more than a segment is unacknowledged");
    acknowledge(&mut receiver);
    assert_eq!(receiver.rcv_wnd, 81_000_448, "there is room after the read");
}
