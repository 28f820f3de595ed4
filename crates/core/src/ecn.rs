//! The ECN field of an IP header.

/// The ECN field of the IP header (RFC 3168 §5), with the values that it has on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable transport.
    #[default]
    NotEct,
    /// ECN-capable, ECT(1): scalable congestion control (RFC 9331 §4.1).
    Ect1,
    /// ECN-capable, ECT(0).
    Ect0,
    /// Congestion experienced.
    Ce,
}

impl Ecn {
    /// The codepoint in the two low bits of `tos`, the former type of service.
    #[inline]
    pub const fn of(tos: u8) -> Ecn {
        match tos & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// Whether congestion may be signalled by a mark.
    #[inline]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }

    /// Whether it identifies a packet of L4S: ECT(1) or CE (RFC 9331 §5.1).
    #[inline]
    pub const fn is_l4s(self) -> bool {
        matches!(self, Ecn::Ect1 | Ecn::Ce)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codepoints_have_their_values_on_the_wire() {
        for (tos, ecn) in [
            (0xb8, Ecn::NotEct),
            (1, Ecn::Ect1),
            (2, Ecn::Ect0),
            (0xff, Ecn::Ce),
        ] {
            assert_eq!(Ecn::of(tos), ecn);
            assert_eq!(ecn as u8, tos & 3);
            assert_eq!(ecn.is_capable(), tos & 3 != 0);
            assert_eq!(ecn.is_l4s(), tos & 1 == 1);
        }
    }
}
