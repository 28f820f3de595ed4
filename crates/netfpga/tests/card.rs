//! The card in virtual time: its times are those of the model without contents, they do not depend
//! on how it is asked, and nothing that is written or sent makes it panic.

mod bench;

use bench::{Packet, mac_of, neighbour_of, next_hop_of};
use proptest::prelude::*;
use trammel_core::time::{Span, Time};
use trammel_netfpga::designs::ALL;
use trammel_netfpga::params::PRESETS;
use trammel_netfpga::registers::Registers;
use trammel_netfpga::stages::{Fcs, Queue};
use trammel_netfpga::tables::{self, ArpRow, RouteRow};
use trammel_netfpga::{Card, Params, Recording, Router, Stream, design};

/// 10.0.`i`.0/24 behind port `i`.
fn router(params: &Params) -> Card {
    let mut card = Card::new(design("reference-router").unwrap(), params).unwrap();
    for port in 0..4 {
        tables::write_mac(&mut card, port, mac_of(port));
        let route = RouteRow {
            network: [10, 0, port as u8, 0].into(),
            mask: [255, 255, 255, 0].into(),
            next_hop: next_hop_of(port),
            queues: 1 << (2 * port),
        };
        tables::write_route(&mut card, port, &route);
        let (address, mac) = (next_hop_of(port), neighbour_of(port));
        tables::write_arp(&mut card, port, &ArpRow { address, mac });
    }
    card
}

/// A frame that is due.
#[derive(Clone, Debug)]
struct Due {
    at: Time,
    from: Queue,
    frame: Vec<u8>,
}

/// The frames of `streams`, each port's in their order.
fn frames(streams: &[Stream], params: &Params) -> Vec<Due> {
    let mut all = Vec::new();
    for stream in streams {
        let mut owed = 0;
        for n in 0..stream.frames {
            owed += stream.exceptions_per_million;
            let to = [10, 0, stream.to as u8, 1];
            let mut packet = Packet::via(stream.from, to, stream.frame_bytes as usize - 4);
            if owed >= 1_000_000 {
                owed -= 1_000_000;
                packet.ttl = 1;
            }
            let (at, from) = (stream.due(n, params), Queue::mac(stream.from));
            let frame = packet.bytes();
            all.push(Due { at, from, frame });
        }
    }
    all.sort_by_key(|due| due.at);
    all
}

/// By which queue, when it came, when it left, how long it is.
type Left = (Queue, Time, Time, usize);

fn taken(card: &mut Card, left: &mut Vec<Left>) {
    let mut frame = Vec::new();
    while let Some(departure) = card.take(&mut frame) {
        let queue = departure.queue;
        left.push((queue, departure.arrived, departure.left, frame.len()));
    }
}

const END: Time = Time::from_secs(3);

fn at_once(card: &mut Card, frames: &[Due]) -> Vec<Left> {
    let mut left = Vec::new();
    for due in frames {
        card.offer(due.at, due.from, &due.frame, Fcs::Good);
    }
    card.advance(END);
    taken(card, &mut left);
    assert_eq!(card.next_event(), None);
    left
}

/// Frames are offered when they are due, not before.
fn by_events(card: &mut Card, frames: &[Due]) -> Vec<Left> {
    let (mut left, mut waiting) = (Vec::new(), frames.iter().peekable());
    loop {
        let due = waiting.peek().map(|due| due.at);
        let Some(next) = [due, card.next_event()].into_iter().flatten().min() else {
            break;
        };
        while let Some(due) = waiting.next_if(|due| due.at <= next) {
            card.offer(due.at, due.from, &due.frame, Fcs::Good);
        }
        card.advance(next);
        let before = left.len();
        taken(card, &mut left);
        // A frame is had the moment that it leaves.
        assert!(left[before..].iter().all(|frame| frame.2 == card.now()));
    }
    card.advance(END);
    taken(card, &mut left);
    left
}

fn stream() -> impl Strategy<Value = Stream> {
    let load = prop_oneof![Just(1.0), 0.05..1.0_f64];
    let size = prop_oneof![Just(64), Just(1518), 64..1519_u64];
    (
        0..4_usize,
        0..4_usize,
        size,
        load,
        1..80_u64,
        0..4_u64,
        0..300_000_u64,
    )
        .prop_map(|(from, to, size, load, frames, rare, start)| {
            let params = Params::REFERENCE_1G;
            let stream = Stream::of_line(&params, (from, to), size, load, Span::from_secs(1));
            Stream { frames, ..stream }
                .with_exceptions(if rare == 0 { 150_000 } else { 0 })
                .starting(Time::from_ps(start * 1_000))
        })
}

proptest! {
    #[test]
    fn frames_with_contents_take_as_long_as_those_without(
        streams in prop::collection::vec(stream(), 1..6),
        queue_words in prop_oneof![Just(65_536), 300..3_000_u64],
    ) {
        let params = Params {
            queue_words,
            queue_reserve_words: 64,
            ..Params::REFERENCE_1G
        };
        let wanted = Recording::of_passages(10_000);
        let outcome = Router::new(&params).unwrap().run_in_full(&streams, &wanted).unwrap();
        let passages = outcome.passages.iter();
        let mut expected: Vec<_> = passages.filter_map(|p| Some((p.start, p.end?))).collect();
        let left = at_once(&mut router(&params), &frames(&streams, &params));
        let mut got: Vec<_> = left.iter().map(|frame| (frame.1, frame.2)).collect();
        expected.sort();
        got.sort();
        prop_assert_eq!(got, expected);
    }

    #[test]
    fn it_does_not_matter_how_a_card_is_advanced(
        streams in prop::collection::vec(stream(), 1..6),
        step_ns in prop_oneof![1_000..100_000_u64, 50..1_000_u64],
    ) {
        let params = Params::REFERENCE_1G;
        let frames = frames(&streams, &params);
        let sorted = |mut left: Vec<Left>| {
            left.sort();
            left
        };
        let expected = sorted(at_once(&mut router(&params), &frames));
        let by_event = sorted(by_events(&mut router(&params), &frames));
        prop_assert_eq!(&by_event, &expected);
        let mut card = router(&params);
        // Steps reach over the frames; the rest goes at once.
        let step = Span::from_ns(step_ns);
        let last = frames.last().map_or(Time::ZERO, |due| due.at);
        let (mut left, mut waiting) = (Vec::new(), frames.iter().peekable());
        while card.now() < last {
            let next = card.now() + step;
            while let Some(due) = waiting.next_if(|due| due.at <= next) {
                card.offer(due.at, due.from, &due.frame, Fcs::Good);
            }
            card.advance(next);
            taken(&mut card, &mut left);
        }
        for due in waiting {
            card.offer(due.at, due.from, &due.frame, Fcs::Good);
        }
        card.advance(END);
        taken(&mut card, &mut left);
        prop_assert_eq!(sorted(left), expected);
    }

    #[test]
    fn every_frame_leaves_or_is_counted_where_it_was_lost(
        streams in prop::collection::vec(stream(), 1..8),
        queue_words in 20..2_000_u64,
        host_frames in 1..20_u64,
        most in 0..10_u32,
    ) {
        let params = Params {
            queue_words,
            queue_reserve_words: 10,
            host_frames,
            rx_fifo_full_bytes: 512,
            ..Params::REFERENCE_1G
        };
        let mut card = router(&params);
        card.write(0x2001234, most);
        let frames = frames(&streams, &params);
        let left = at_once(&mut card, &frames).len() as u32;
        let map = card.design().map();
        let lost = ["DROPPED", "OVERRUNS", "NUM_BAD_CHKSUMS", "NUM_WRONG_DEST"];
        let of = |words: &[&str], card: &mut Card| -> u32 {
            let is_meant = |name: &str| words.iter().any(|word| name.contains(word));
            let named = map.all().filter(|named| is_meant(&named.name));
            named.map(|named| card.read(named.address)).sum()
        };
        prop_assert_eq!(left + of(&lost, &mut card), frames.len() as u32);
        // What left is what was forwarded and what went to the host, less what was lost there.
        let decided = of(&["NUM_PKTS_FORWARDED", "NUM_BAD_TTLS"], &mut card);
        let refusals = ["OQ_QUEUE_0_NUM_PKTS_D", "OQ_QUEUE_1_NUM_PKTS_D", "TX_QUEUE_NUM_OVERRUNS"];
        let behind = of(&refusals, &mut card);
        let others: u32 = (2..8)
            .map(|queue| card.read(0x2001018 + 0x200 * queue))
            .sum();
        prop_assert_eq!(left, decided - behind - others);
        prop_assert_eq!(of(&["NUM_PKTS_IN_Q"], &mut card), 0);
    }

    #[test]
    fn nothing_that_is_sent_or_written_harms_a_card(
        entry in prop::sample::select(ALL.to_vec()),
        acts in prop::collection::vec(
            (0..8_usize, any::<u32>(), any::<u32>(), 0..2200_usize),
            1..80,
        ),
    ) {
        let params = Params {
            ideal_memory: u64::from(acts.len() % 2 == 0),
            ..Params::REFERENCE_1G
        };
        let mut card = Card::new(entry, &params).unwrap();
        let registers: Vec<_> = card.design().map().all().collect();
        let mut frame = Vec::new();
        for (queue, pick, value, size) in acts {
            let named = &registers[pick as usize % registers.len()];
            if value % 3 > 0 {
                card.write(named.address, value >> (value % 31));
            }
            let from = Queue::ALL[queue];
            let fcs = [Fcs::Good, Fcs::Bad, Fcs::Present][value as usize % 3];
            for n in 0..size % 7 {
                let bytes = vec![(value >> n) as u8; size];
                card.offer(Time::from_ns(u64::from(pick)), from, &bytes, fcs);
            }
            card.advance(card.now() + Span::from_ns(u64::from(value % 50_000)));
            let _ = card.take(&mut frame);
            let _ = card.next_event();
        }
        card.advance(END);
        card.read(0x2001000);
    }
}

#[test]
fn counters_are_those_of_the_instant() {
    let params = Params::REFERENCE_1G;
    let mut card = router(&params);
    let packet = Packet::via(0, [10, 0, 1, 1], 60).bytes();
    card.offer(Time::from_us(10), Queue::mac(0), &packet, Fcs::Good);
    let [stored, forwarded, in_queue, sent] = [0x600008, 0x200001c, 0x2001430, 0x640028];
    card.advance(Time::from_us(9));
    assert_eq!(
        [stored, forwarded, in_queue].map(|at| card.read(at)),
        [0, 0, 0]
    );
    // 72 bytes are in after 576 ns; it leaves 1.28 us after it began.
    card.advance(Time::from_ns(10_300));
    assert_eq!([stored, forwarded, sent].map(|at| card.read(at)), [1, 0, 0]);
    card.advance(Time::from_ns(11_100));
    assert_eq!([stored, forwarded].map(|at| card.read(at)), [1, 1]);
    card.advance(Time::from_us(12));
    assert_eq!(
        [forwarded, in_queue, sent].map(|at| card.read(at)),
        [1, 0, 1]
    );
    let left = card.take(&mut Vec::new()).unwrap();
    let latency = left.left.saturating_since(left.arrived);
    assert!((1256..=1312).contains(&latency.as_ns()), "{latency}");
}

#[test]
fn a_switch_in_virtual_time_floods_one_copy_after_the_other() {
    let params = Params::REFERENCE_1G;
    let mut card = Card::new(design("reference-switch").unwrap(), &params).unwrap();
    card.offer(Time::ZERO, Queue::mac(0), &[0xff; 1000], Fcs::Good);
    card.advance(END);
    let mut left = Vec::new();
    taken(&mut card, &mut left);
    let queues: Vec<_> = left.iter().map(|frame| frame.0).collect();
    assert_eq!(queues, [1, 2, 3].map(Queue::mac));
    assert!(
        left.windows(2)
            .all(|pair| pair[0].2 < pair[1].2 && pair[1].3 == 1000)
    );
}

#[test]
fn every_preset_with_four_ports_is_a_card() {
    for (name, _, params) in PRESETS {
        let mut card = router(params);
        let packet = Packet::via(0, [10, 0, 1, 1], 1000).bytes();
        card.offer(Time::ZERO, Queue::mac(0), &packet, Fcs::Good);
        card.advance(END);
        let left = card.take(&mut Vec::new()).expect(name);
        // Not before all of it is in.
        assert!(
            left.left.as_ps() > params.byte_ps() * 1012,
            "{name}: {}",
            left.left
        );
        let words = params.queue_words * params.bus_bytes / 8;
        assert_eq!(u64::from(card.read(0x200143c)), words, "{name}");
    }
    let two = Params {
        ports: 2,
        ..Params::REFERENCE_1G
    };
    let refused = Card::new(design("reference-nic").unwrap(), &two).unwrap_err();
    assert!(refused.to_string().contains("give 4 to 4"));
}
