//! Headers of protocols as structures over bytes, in the network's order.
//!
//! `read` and `read_mut` lay a structure over the front of a slice and answer nothing where the
//! slice is shorter; what the fields say is not checked. Lengths that headers tell are bounded by
//! the caller with `get`, never trusted.

pub mod arp;
pub mod checksum;
pub mod ether;
pub mod flow;
pub mod gre;
pub mod icmp;
pub mod icmp6;
pub mod ipv4;
pub mod ipv6;
pub mod mpls;
pub mod tcp;
pub mod udp;
pub mod vlan;

/// Fields of two and four bytes in the network's order.
pub use zerocopy::network_endian::{U16, U32};

/// Derives the layout of a header and gives it `read`, `read_mut`, `bytes` and `LEN`.
macro_rules! header {
    ($(#[$meta:meta])* pub struct $name:ident { $($body:tt)* }) => {
        $(#[$meta])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq,
            zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::KnownLayout, zerocopy::Immutable,
            zerocopy::Unaligned,
        )]
        #[repr(C)]
        pub struct $name { $($body)* }

        impl $name {
            /// Bytes of the header without options.
            pub const LEN: usize = size_of::<$name>();

            /// The header at the front of `data`.
            #[inline]
            pub fn read(data: &[u8]) -> Option<&$name> {
                use zerocopy::FromBytes;
                $name::ref_from_prefix(data).ok().map(|(header, _)| header)
            }

            /// The header at the front of `data`, to write.
            #[inline]
            pub fn read_mut(data: &mut [u8]) -> Option<&mut $name> {
                use zerocopy::FromBytes;
                $name::mut_from_prefix(data).ok().map(|(header, _)| header)
            }

            /// The header's bytes.
            #[inline]
            pub fn bytes(&self) -> &[u8] {
                use zerocopy::IntoBytes;
                self.as_bytes()
            }
        }
    };
}
use header;
