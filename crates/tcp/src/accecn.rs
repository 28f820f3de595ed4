//! The AccECN option and the handshake encoding of the ECN field (RFC 9768 §3.1 and §3.2.3).
//!
//! The field ACE is three flags of the header, see [`Flags::ace`]. In the handshake it says how the
//! SYN or the SYN/ACK arrived, afterwards it counts packets that were marked, modulo 8. The option
//! counts bytes of payload by the ECN field that they arrived with, modulo 2²⁴:
//!
//! ```text
//! 172 │ length │ ECT(0) bytes │ CE bytes │ ECT(1) bytes      order 0
//! 174 │ length │ ECT(1) bytes │ CE bytes │ ECT(0) bytes      order 1
//! ```
//!
//! The length is 2, 5, 8 or 11: fields at the end may be left out.
//!
//! A segment has no room of its own for three counters. They stand where the other options leave
//! room, for all of them together never fit in 40 bytes: see [`Segment::set_accecn`].
//!
//! [`Flags::ace`]: crate::segment::Flags::ace

use crate::segment::{Ecn, Segment};

/// What the field ACE says before any packet was marked (RFC 9768 §3.2.1).
pub(crate) const FIRST_CEP: u32 = 5;
/// What the counters of ECT(0) and of ECT(1) say before any byte; that of CE says 0. A middlebox
/// that clears the option is seen by that.
pub(crate) const FIRST_ECT_BYTES: u32 = 1;
/// The bits of a counter of the option.
const COUNTER: u32 = 0xff_ffff;

/// Which counter comes first in the option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Order 0, kind 172: ECT(0), CE, ECT(1).
    Ect0First,
    /// Order 1, kind 174: ECT(1), CE, ECT(0).
    #[default]
    Ect1First,
}

impl Order {
    /// The ECN fields that the counters stand for.
    pub const fn fields(self) -> [Ecn; 3] {
        match self {
            Order::Ect0First => [Ecn::Ect0, Ecn::Ce, Ecn::Ect1],
            Order::Ect1First => [Ecn::Ect1, Ecn::Ce, Ecn::Ect0],
        }
    }
}

/// The AccECN option: counters as they stand on the wire, modulo 2²⁴ and with their first values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccEcn {
    /// Which counter comes first.
    pub order: Order,
    /// Counters that it has, from the first: 0 to 3.
    pub count: u8,
    counters: [u32; 3],
}

impl AccEcn {
    /// An option with `counters` in this order; the first three of them count, and their low 24
    /// bits.
    pub fn new(order: Order, counters: &[u32]) -> AccEcn {
        let mut option = AccEcn {
            order,
            count: counters.len().min(3) as u8,
            counters: [0; 3],
        };
        for (own, given) in option.counters.iter_mut().zip(counters) {
            *own = given & COUNTER;
        }
        option
    }

    /// The counters that it has and the ECN fields that they stand for.
    pub fn fields(&self) -> impl Iterator<Item = (Ecn, u32)> + use<> {
        let count = usize::from(self.count);
        self.order
            .fields()
            .into_iter()
            .zip(self.counters)
            .take(count)
    }
}

/// The form of a segment's AccECN option: none, or its order and its number of counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form(u8);

impl Form {
    const NONE: Form = Form(0);
    const PRESENT: u8 = 0x80;
    const ECT1_FIRST: u8 = 0x40;
    const COUNT: u8 = 3;

    fn of(option: &AccEcn) -> Form {
        let order = match option.order {
            Order::Ect0First => 0,
            Order::Ect1First => Form::ECT1_FIRST,
        };
        Form(Form::PRESENT | order | option.count)
    }

    /// Whether there is an option.
    #[inline]
    pub const fn is_some(self) -> bool {
        self.0 != Form::NONE.0
    }

    /// Bytes that an option of `count` counters takes of the header, padded to words. SACK blocks,
    /// which are padded by two NOPs in front of them, take up to two bytes of it.
    #[inline]
    pub(crate) const fn bytes_of(count: u8, beside_sack: bool) -> u32 {
        let bytes = 2 + 3 * count as u32;
        if beside_sack && bytes % 4 <= 2 {
            bytes / 4 * 4
        } else {
            bytes.next_multiple_of(4)
        }
    }

    /// Bytes that it takes of the header.
    #[inline]
    pub(crate) const fn padded_bytes(self, beside_sack: bool) -> u32 {
        if self.is_some() {
            Form::bytes_of(self.0 & Form::COUNT, beside_sack)
        } else {
            0
        }
    }
}

impl Segment {
    /// The AccECN option.
    #[inline]
    pub fn accecn(&self) -> Option<AccEcn> {
        if !self.accecn.is_some() {
            return None;
        }
        let form = self.accecn.0;
        let last = self.sack[3].start;
        let counters = if self.options.timestamps {
            [self.sack[2].start, self.sack[2].end, last]
        } else {
            [self.ts_val, self.ts_ecr, last]
        };
        let order = if form & Form::ECT1_FIRST == 0 {
            Order::Ect0First
        } else {
            Order::Ect1First
        };
        let count = usize::from(form & Form::COUNT);
        Some(AccEcn::new(order, &counters[..count]))
    }

    /// Puts the AccECN option in, once timestamps and SACK blocks are there: the first two counters
    /// stand in place of the timestamps, or of the third SACK block where there are timestamps; the
    /// last one in place of the fourth block. Where these blocks are in use there is no room in the
    /// header either, and the option is put in without its counters.
    pub fn set_accecn(&mut self, option: AccEcn) {
        let blocks = self.sack_count;
        let fits = match (self.options.timestamps, option.count) {
            (_, 0) => true,
            (true, _) => blocks <= 2,
            (false, 3) => blocks <= 3,
            (false, _) => true,
        };
        if !fits {
            self.accecn = Form::of(&AccEcn { count: 0, ..option });
            return;
        }
        self.accecn = Form::of(&option);
        let [first, second, third] = option.counters;
        if option.count > 0 {
            if self.options.timestamps {
                (self.sack[2].start, self.sack[2].end) = (first, second);
            } else {
                (self.ts_val, self.ts_ecr) = (first, second);
            }
        }
        if option.count == 3 {
            self.sack[3].start = third;
        }
    }
}

/// How ACE tells of the ECN field that a SYN or a SYN/ACK arrived with (RFC 9768 §3.1.1, table 2).
pub(crate) const fn reflected(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

/// The ECN field that ACE tells of in the handshake; nothing where it is none of the four codes.
pub(crate) const fn of_reflected(ace: u8) -> Option<Ecn> {
    match ace {
        0b010 => Some(Ecn::NotEct),
        0b011 => Some(Ecn::Ect1),
        0b100 => Some(Ecn::Ect0),
        0b110 => Some(Ecn::Ce),
        _ => None,
    }
}

/// Whether a network may have changed the ECN field from `sent` to `arrived`: it may only mark.
pub(crate) fn is_valid_change(sent: Ecn, arrived: Ecn) -> bool {
    //= rfc9768 §3.2.2.3
    //# the AccECN Data Sender […] MUST NOT set the ECN field in the IP header to ECT or CE
    sent == arrived || (sent != Ecn::NotEct && arrived != Ecn::NotEct && sent != Ecn::Ce)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Options;

    fn with(timestamps: bool, sack_count: u8) -> Segment {
        Segment {
            sack_count,
            options: Options {
                timestamps,
                ..Options::default()
            },
            ..Segment::default()
        }
    }

    #[test]
    fn whatever_fits_in_a_header_has_room_in_a_segment() {
        for (timestamps, most) in [(true, 3), (false, 4)] {
            for blocks in 0..=most {
                for count in 0..=3 {
                    let option = AccEcn::new(Order::Ect1First, &[1, 2, 3][..count]);
                    let mut segment = with(timestamps, blocks);
                    segment.set_accecn(option);
                    let mut bytes = segment;
                    bytes.accecn = Form::of(&option);
                    if bytes.header_bytes() <= 60 {
                        let found = segment.accecn();
                        assert_eq!(found, Some(option), "{timestamps} {blocks} {count}");
                    }
                    assert_eq!(segment.sack_count, blocks);
                }
            }
        }
    }

    #[test]
    fn the_handshake_tells_each_field_by_its_own_code() {
        for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            assert_eq!(of_reflected(reflected(ecn)), Some(ecn));
        }
        assert!([0, 1, 5, 7].iter().all(|ace| of_reflected(*ace).is_none()));
    }

    #[test]
    fn a_network_may_mark_and_nothing_else() {
        assert!(is_valid_change(Ecn::Ect0, Ecn::Ce));
        assert!(is_valid_change(Ecn::NotEct, Ecn::NotEct));
        assert!(!is_valid_change(Ecn::NotEct, Ecn::Ce));
        assert!(!is_valid_change(Ecn::Ect1, Ecn::NotEct));
        assert!(!is_valid_change(Ecn::Ce, Ecn::Ect0));
    }
}
