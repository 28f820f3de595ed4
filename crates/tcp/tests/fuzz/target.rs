//! Headers of TCP as they may come from anywhere, put to a connection that uses accurate ECN.
//!
//! The first byte chooses the ends' options. Then follow segments: a byte for the length of the
//! header in words, ECN field and time since the last one, a byte for the payload, and the header.
//! Sequence numbers count from those of the handshake, so that small ones are in the window.

use trammel_core::entry::Params;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_tcp::cc;
use trammel_tcp::connection::Connection;
use trammel_tcp::segment::{Ecn, Flags, Segment};
use trammel_tcp::stack::{EcnMode, EcnOption, Stack};
use trammel_tcp::wire::{LONGEST_HEADER, read_header, write_header};

/// The peer's initial sequence number.
const PEER: u32 = 0xffff_f000;
/// Segments that one event may lead to.
const BURST_MAX: usize = 10_000;

/// Whatever the header says, the connection keeps its invariants, and what it sends can be written
/// and is read back as it was.
pub(crate) fn run(bytes: &[u8]) {
    let Some((choice, mut left)) = bytes.split_first() else {
        return;
    };
    let stack = Stack {
        ecn: EcnMode::Accurate,
        ecn_option: [EcnOption::Never, EcnOption::Minimum, EcnOption::Full]
            [usize::from(choice & 3).min(2)],
        timestamps: choice & 4 == 0,
        sack: choice & 8 == 0,
        ..Stack::linux_6()
    };
    let variant = ["reno", "dctcp", "prague", "cubic"][usize::from(choice >> 4 & 3)];
    let is_server = choice & 0x40 != 0;
    let entry = cc::find(variant).expect("the variant is built in");
    let control = (entry.build)(&Params::defaults(&entry.about));
    let rng = Rng::new(1, "fuzz");
    let mut end = if is_server {
        Connection::server(&stack, control, rng)
    } else {
        Connection::client(&stack, control, rng)
    };
    let mut now = Time::from_ms(1);
    let own = end.tp().snd_una;
    if !is_server {
        end.connect(now);
    }
    answer(&mut end, now);
    let syn = Segment {
        seq: PEER.wrapping_sub(1),
        ack: own.wrapping_add(1),
        flags: if is_server {
            Flags::SYN.with(Flags::ACE)
        } else {
            Flags::SYN.with(Flags::ACK).with_ace(0b010)
        },
        window: 60_000,
        mss: 1460,
        ..Segment::default()
    };
    end.on_segment(now, &syn);
    answer(&mut end, now);
    end.write(100_000);
    while let [shape, payload, rest @ ..] = left {
        let words = usize::from(shape & 15).min(rest.len() / 4);
        let (header, rest) = rest.split_at(words * 4);
        left = rest;
        now += Span::from_ms(u64::from(shape >> 6) * 20);
        end.on_timer(now);
        answer(&mut end, now);
        let Ok((mut segment, _)) = read_header(header) else {
            continue;
        };
        segment.len = 8 * u32::from(*payload);
        segment.ecn = Ecn::of(shape >> 4);
        segment.seq = segment.seq.wrapping_add(PEER);
        if segment.flags.has(Flags::ACK) {
            segment.ack = segment.ack.wrapping_add(own.wrapping_add(1));
        }
        for block in &mut segment.sack[..usize::from(segment.sack_count)] {
            block.start = block.start.wrapping_add(own.wrapping_add(1));
            block.end = block.end.wrapping_add(own.wrapping_add(1));
        }
        end.on_segment(now, &segment);
        answer(&mut end, now);
    }
}

/// Takes what the connection sends.
fn answer(end: &mut Connection, now: Time) {
    for sent in 0.. {
        assert!(sent < BURST_MAX, "an endless burst");
        let Some(segment) = end.poll_transmit(now) else {
            break;
        };
        let length = segment.header_bytes() as usize;
        let mut header = [0; LONGEST_HEADER];
        write_header(&segment, &mut header[..length]);
        let (mut back, read) = read_header(&header[..length]).expect("it was written by us");
        (back.len, back.ecn) = (segment.len, segment.ecn);
        // An acknowledgement without its flag is not written, and no more are blocks beyond those
        // that count.
        let mut known = segment;
        if !known.flags.has(Flags::ACK) {
            known.ack = 0;
        }
        assert_eq!((back.accecn(), read), (known.accecn(), length));
        assert_eq!(back.sack_blocks(), known.sack_blocks());
        assert_eq!(
            (back.seq, back.ack, back.flags),
            (known.seq, known.ack, known.flags)
        );
    }
}
