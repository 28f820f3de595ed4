//! Annotations: 48 bytes that travel with a packet, by Click's names and offsets.
//!
//! Values wider than a byte are in the machine's order, as Click keeps them, but addresses, which
//! are in the network's.

/// Bytes of annotations a packet.
pub const SIZE: usize = 48;

/// A named place among the annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Anno {
    /// The name in configurations.
    pub name: &'static str,
    /// The first byte.
    pub offset: u8,
    /// How many bytes.
    pub size: u8,
}

macro_rules! annos {
    ($($name:ident $offset:literal $size:literal;)*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`: bytes from ", $offset, ", ", $size, " of \
                them.")]
            pub const $name: Anno = Anno { name: stringify!($name), offset: $offset, size: $size };
        )*
        /// Every named annotation.
        pub const ALL: &[Anno] = &[$($name),*];
    };
}

annos! {
    DST_IP 0 4;
    DST_IP6 0 16;
    PAINT 16 1;
    ICMP_PARAMPROB 17 1;
    FIX_IP_SRC 19 1;
    VLAN_TCI 20 2;
    AGGREGATE 20 4;
    MISC_IP 20 4;
    FWD_RATE 20 4;
    REV_RATE 24 4;
    EXTRA_PACKETS 24 4;
    SEND_ERR 26 1;
    EXTRA_LENGTH 28 4;
    IPREASSEMBLER 28 4;
    PACKET_NUMBER 32 4;
    FIRST_TIMESTAMP 32 8;
    IPSEC_SPI 32 4;
    SEQUENCE_NUMBER 36 4;
    PERFCTR 40 8;
    IPSEC_SA_DATA_REFERENCE 40 8;
}

/// The annotation called `name`.
pub fn find(name: &str) -> Option<Anno> {
    ALL.iter().copied().find(|anno| anno.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_annotation_lies_within_the_bytes() {
        for anno in ALL {
            assert!(
                anno.offset as usize + anno.size as usize <= SIZE,
                "{}",
                anno.name
            );
            assert_eq!(find(anno.name), Some(*anno));
        }
    }
}
