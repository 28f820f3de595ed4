//! The tests of the router for buffer sizing: what its recorder says of the output queues.

use super::{Card, Packet, checksum};
use trammel_netfpga::stages::Queue;

/// An event: kind, queue, words, the counter.
type Event = (u32, u32, u32, u64);

/// The number of a frame of events, the occupancy before it, and its events.
fn events(payload: &[u8]) -> (u32, Vec<(u32, u32)>, Vec<Event>) {
    let words = payload.as_chunks::<4>().0.iter();
    let words: Vec<_> = words.map(|word| u32::from_be_bytes(*word)).collect();
    let occupancy = (0..8).map(|queue| (words[1 + 2 * queue], words[2 + 2 * queue]));
    let (mut upper, mut found) = (None, Vec::new());
    for word in &words[17..] {
        match word >> 30 {
            0 => upper = Some(u64::from(word & 0x3fff_ffff)),
            kind => {
                let time = upper.expect("a time event is first") << 19 | u64::from(word & 0x7_ffff);
                found.push((kind, word >> 27 & 7, word >> 19 & 255, time));
            }
        }
    }
    (words[0], occupancy.collect(), found)
}

/// Recording, into frames to the host interface 3.
fn recorded(mut card: Card) -> Card {
    card.set("EVT_CAP_OUTPUT_PORTS", 0x80);
    card.set("EVT_CAP_ENABLE_CAPTURE", 1);
    card.set("EVT_CAP_RESET_TIMERS", 1);
    card
}

/// A queue of two frames: stores, a drop and removals are recorded.
pub(crate) fn evt_store(card: Card) {
    let mut card = recorded(card);
    card.set("OQ_QUEUE_2_MAX_PKTS_IN_Q", 2);
    card.set("OQ_QUEUE_2_CTRL", 0);
    for size in [60, 100, 200] {
        card.send(Queue::mac(0), &Packet::via(0, [10, 0, 1, 1], size).bytes());
    }
    card.set("OQ_QUEUE_2_CTRL", 1);
    assert_eq!(card.left_by(Queue::mac(1)).len(), 2);
    card.set("EVT_CAP_SEND_PKT", 1);
    let frames = card.left_by(Queue::cpu(3));
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0][12..14], [0x99, 0x99]);
    let (number, occupancy, found) = events(&frames[0][14..]);
    assert_eq!((number, occupancy), (0, vec![(0, 0); 8]));
    let kinds: Vec<_> = found
        .iter()
        .map(|event| (event.0, event.1, event.2))
        .collect();
    // Two stored, one dropped, two removed, in words with the module header.
    assert_eq!(
        kinds,
        [(1, 2, 9), (1, 2, 14), (3, 2, 26), (2, 2, 9), (2, 2, 14)]
    );
    assert!(found.windows(2).all(|pair| pair[0].3 <= pair[1].3));
    assert_eq!(card.get("EVT_CAP_NUM_EVTS_SENT"), 5);
    assert_eq!(card.get("EVT_CAP_NUM_EVT_PKTS_SENT"), 1);
    assert_eq!(card.get("EVT_CAP_NUM_EVTS_DROPPED"), 0);
}

/// Of a thousand frames to port 1, one each 200 us where the bench is exact, the storing is
/// recorded with the time. How many frames of events there were, and the times in 64 ns.
pub(crate) fn evt_timestamp(card: Card) -> (usize, Vec<u64>) {
    let mut card = recorded(card);
    card.set("EVT_CAP_TIMER_RESOLUTION", 3);
    // Only what is stored at port 1, into UDP.
    card.set("EVT_CAP_MONITOR_MASK", 1);
    card.set("EVT_CAP_SIGNAL_ID_MASK", 4);
    for (name, value) in [
        ("ETHERTYPE", 0x0800),
        ("IP_DST", 0x0a09_0807),
        ("UDP_DST_PORT", 4242),
    ] {
        card.set(&format!("EVT_CAP_{name}"), value);
    }
    for _ in 0..1000 {
        card.send(Queue::mac(0), &Packet::via(0, [10, 0, 1, 1], 60).bytes());
        card.send(Queue::mac(0), &Packet::via(0, [10, 0, 2, 1], 60).bytes());
    }
    card.set("EVT_CAP_SEND_PKT", 1);
    let frames = card.left_by(Queue::cpu(3));
    let (mut times, mut stored) = (Vec::new(), 0);
    for (number, frame) in frames.iter().enumerate() {
        assert!(frame.len() <= 1514);
        assert_eq!(&frame[30..34], &[10, 9, 8, 7]);
        assert_eq!(
            frame[24..26],
            checksum(&[&frame[14..24], &[0, 0], &frame[26..34]].concat())
        );
        assert_eq!(frame[36..38], 4242_u16.to_be_bytes());
        let (sequence, _, found) = events(&frame[42..]);
        assert_eq!(sequence as usize, number);
        assert!(
            found
                .iter()
                .all(|event| (event.0, event.1, event.2) == (1, 2, 9))
        );
        stored += found.len();
        times.extend(found.iter().map(|event| event.3));
    }
    assert_eq!(stored, 1000);
    (frames.len(), times)
}
