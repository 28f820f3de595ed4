//! How the receive buffer follows the application, beside figures of Linux 6.12.

use super::*;

const MSS: u32 = 1448;

/// The end of a connection that is set up at 150 ms, with a round trip of 100 ms.
fn receiver() -> Receiver {
    let mut receiver = Receiver::new(&Stack::linux_6());
    receiver.start(0, MSS);
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

#[test]
fn a_measurement_sees_the_first_buffer_of_a_read_and_takes_off_what_waits() {
    // Linux 6.12 at 1 Gbit/s and 100 ms: 2, 8 and 20 segments, read in three goes. The third read, a
    // round trip after the handshake, copies a first buffer of 12 segments while 8 wait.
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
    // What was copied since then does, when the next burst begins: after a first buffer of 13 segments
    // and with another of 12, less the 88 behind it.
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
    let take_at = |receiver: &mut Receiver, number: u32| {
        let segment = Segment {
            seq: number * MSS,
            len: MSS,
            ..Segment::default()
        };
        receiver.on_data(Time::from_us(200_000), &segment, true);
    };
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
    assert_eq!(receiver.space(), receiver.window_of(receiver.buffer));
    assert!(receiver.space() >= full);
}
