//! What is written is read back as it was; whatever bytes come, nothing panics.

use super::*;
use crate::segment::Options;
use proptest::prelude::*;

/// Any segment that a connection could send, with any flags: what its flags give no place to is
/// zero.
fn segments() -> impl Strategy<Value = Segment> {
    let flags = 0..=0x1ff_u16;
    let numbers = (any::<(u32, u32, u32, u32, u16, u16)>(), flags);
    let accecn = prop::option::of((any::<bool>(), prop::collection::vec(0..1_u32 << 24, 0..=3)));
    let options = (
        any::<(bool, bool)>(),
        0..=15_u8,
        0..=4_u8,
        any::<[u32; 8]>(),
    );
    (numbers, options, accecn, 0..3000_u32).prop_map(|(numbers, options, accecn, len)| {
        let ((seq, ack, ts_val, ts_ecr, window, mss), flags) = numbers;
        let ((timestamps, sack_permitted), wscale_plus_1, blocks, edges) = options;
        let flags = Flags(flags);
        let is_syn = flags.has(Flags::SYN);
        let when = |is: bool, value: u32| if is { value } else { 0 };
        let room = if timestamps { 3 } else { 4 };
        let sack_count = if is_syn { 0 } else { blocks.min(room) };
        let mut sack = [SackBlock::default(); 4];
        for (block, edges) in sack
            .iter_mut()
            .zip(edges.chunks_exact(2))
            .take(sack_count.into())
        {
            (block.start, block.end) = (edges[0], edges[1]);
        }
        let mut segment = Segment {
            seq,
            ack: when(flags.has(Flags::ACK), ack),
            len,
            ts_val: when(timestamps, ts_val),
            ts_ecr: when(timestamps, ts_ecr),
            window,
            mss: if is_syn { mss } else { 0 },
            flags,
            sack_count,
            options: Options {
                timestamps,
                sack_permitted: is_syn && sack_permitted,
                wscale_plus_1: if is_syn { wscale_plus_1 } else { 0 },
            },
            sack,
            ..Segment::default()
        };
        if let Some((is_first, counters)) = accecn {
            let order = if is_first {
                Order::Ect0First
            } else {
                Order::Ect1First
            };
            let with = |count: usize| {
                let mut other = segment;
                other.set_accecn(AccEcn::new(order, &counters[..count]));
                other
            };
            // As many counters as a header has room for.
            let fits = |segment: &Segment| segment.header_bytes() <= 60;
            let found = (0..=counters.len()).rev().map(with).find(fits);
            segment = found.unwrap_or(segment);
        }
        segment
    })
}

/// The header of `segment` with zeros for its payload.
fn bytes(segment: &Segment) -> Vec<u8> {
    let header = segment.header_bytes() as usize;
    let mut bytes = vec![0; header + segment.len as usize];
    write_header(segment, &mut bytes[..header]);
    bytes
}

/// A bare ACK whose header has these options.
fn with_options(flags: Flags, options: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; SHORTEST_HEADER + options.len()];
    [bytes[12], bytes[13]] = ((bytes.len() as u16 / 4) << 12 | flags.0).to_be_bytes();
    bytes[SHORTEST_HEADER..].copy_from_slice(options);
    bytes
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(segment in segments()) {
        let bytes = bytes(&segment);
        prop_assert_eq!(read_header(&bytes), Ok((segment, segment.header_bytes() as usize)));
    }

    #[test]
    fn no_bytes_panic(bytes: Vec<u8>) {
        if let Ok((segment, header)) = read_header(&bytes) {
            prop_assert_eq!(header + segment.len as usize, bytes.len());
        }
    }

    #[test]
    fn no_options_panic(
        words in prop::collection::vec(any::<[u8; 4]>(), 0..=10),
        flags in 0..=0x1ff_u16,
    ) {
        let bytes = with_options(Flags(flags), &words.concat());
        if let Ok((segment, _)) = read_header(&bytes) {
            prop_assert!(segment.sack_blocks().len() <= 4 && segment.options.wscale_plus_1 <= 15);
        }
    }
}

#[test]
fn options_of_a_syn_are_in_the_order_of_linux() {
    let syn = Segment {
        flags: Flags::SYN,
        mss: 1460,
        options: Options {
            timestamps: true,
            sack_permitted: true,
            wscale_plus_1: 8,
        },
        ts_val: 0x0102_0304,
        ..Segment::default()
    };
    let expected = [
        2, 4, 5, 180, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 3, 3, 7, 1,
    ];
    assert_eq!(bytes(&syn)[20..], expected);
}

#[test]
fn options_may_come_in_any_order_and_unknown_ones_with_them() {
    // NOP, window scale 15, a fast-open cookie request, NOP, SACK permitted, MSS 536, end, and
    // rubbish.
    let options = [1, 3, 3, 15, 34, 2, 1, 4, 2, 2, 4, 2, 24, 0, 8, 99];
    let (syn, header) = read_header(&with_options(Flags::SYN, &options)).unwrap();
    let known = (
        syn.mss,
        syn.options.wscale_plus_1,
        syn.options.sack_permitted,
    );
    assert_eq!((known, header), ((536, 15, true), 36));
    let (ack, _) = read_header(&with_options(Flags::ACK, &options)).unwrap();
    assert_eq!((ack.mss, ack.options), (0, Options::default()));
}

#[test]
fn an_accecn_option_stands_between_timestamps_and_sack_blocks() {
    let mut segment = Segment {
        flags: Flags::ACK,
        sack_count: 1,
        sack: [SackBlock { start: 1, end: 2 }; 4],
        options: Options {
            timestamps: true,
            ..Options::default()
        },
        ts_val: 3,
        ts_ecr: 4,
        ..Segment::default()
    };
    segment.set_accecn(AccEcn::new(Order::Ect1First, &[5, 6, 0x01_0203]));
    let expected = [
        1, 1, 8, 10, 0, 0, 0, 3, 0, 0, 0, 4, 174, 11, 0, 0, 5, 0, 0, 6, 1, 2, 3, 1, 1, 1, 5, 10, 0,
        0, 0, 1, 0, 0, 0, 2,
    ];
    assert_eq!(bytes(&segment)[20..56], expected);
    segment.options.timestamps = false;
    segment.accecn = crate::accecn::Form::default();
    segment.set_accecn(AccEcn::new(Order::Ect0First, &[7]));
    assert_eq!(
        bytes(&segment)[20..36],
        [172, 5, 0, 0, 7, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2]
    );
}

#[test]
fn impossible_lengths_are_refused() {
    let of = |kind, length| Err(Damage::Option { kind, length });
    for (options, damage) in [
        ([8, 0, 1, 1], of(8, 0)),
        ([99, 1, 1, 1], of(99, 1)),
        ([1, 1, 1, 2], of(2, 0)),
        ([2, 3, 1, 1], of(2, 3)),
        ([5, 4, 1, 1], of(5, 4)),
        ([8, 10, 1, 1], of(8, 10)),
    ] {
        assert_eq!(read_header(&with_options(Flags::ACK, &options)), damage);
    }
    let mut short = with_options(Flags::ACK, &[1; 4]);
    short[12] = 4 << 4;
    assert_eq!(read_header(&short), Err(Damage::Length(16)));
    short[12] = 7 << 4;
    assert_eq!(read_header(&short), Err(Damage::Short));
    assert_eq!(read_header(&short[..19]), Err(Damage::Short));
}
