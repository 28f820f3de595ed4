//! Addresses as bit strings, and prefixes of them.

use std::fmt::Debug;

/// An address of fixed width, whose bits are counted from the most significant one.
pub trait Address: Copy + Ord + Default + Debug + 'static {
    /// Bits of an address.
    const BITS: u8;

    /// The address with all but its first `len` bits cleared.
    fn keep(self, len: u8) -> Self;

    /// The address with all but its first `len` bits set.
    fn fill(self, len: u8) -> Self;

    /// The bits `from` … `from + width − 1`, zeros behind the last; `from` < `BITS`,
    /// 1 ≤ `width` ≤ 32.
    fn field(self, from: u8, width: u8) -> usize;

    /// The address whose [`field`](Address::field) is `value` and all else zero.
    fn from_field(value: usize, from: u8, width: u8) -> Self;

    /// The bits set in both.
    fn and(self, other: Self) -> Self;

    /// The bits set in either.
    fn or(self, other: Self) -> Self;

    /// How many first bits two addresses have in common.
    fn common(self, other: Self) -> u8;

    /// The next address, unless this is the last.
    fn next(self) -> Option<Self>;

    /// The address before, unless this is the first.
    fn previous(self) -> Option<Self>;
}

macro_rules! address {
    ($type:ty) => {
        impl Address for $type {
            const BITS: u8 = <$type>::BITS as u8;

            #[inline]
            fn keep(self, len: u8) -> Self {
                self & !<$type>::MAX.checked_shr(u32::from(len)).unwrap_or(0)
            }

            #[inline]
            fn fill(self, len: u8) -> Self {
                self | <$type>::MAX.checked_shr(u32::from(len)).unwrap_or(0)
            }

            #[inline]
            fn field(self, from: u8, width: u8) -> usize {
                ((self << from) >> (<Self as Address>::BITS - width)) as usize
            }

            #[inline]
            fn from_field(value: usize, from: u8, width: u8) -> Self {
                ((value as $type) << (<Self as Address>::BITS - width)) >> from
            }

            #[inline]
            fn and(self, other: Self) -> Self {
                self & other
            }

            #[inline]
            fn or(self, other: Self) -> Self {
                self | other
            }

            #[inline]
            fn common(self, other: Self) -> u8 {
                (self ^ other).leading_zeros() as u8
            }

            #[inline]
            fn next(self) -> Option<Self> {
                self.checked_add(1)
            }

            #[inline]
            fn previous(self) -> Option<Self> {
                self.checked_sub(1)
            }
        }
    };
}
address!(u32);
address!(u128);

/// The addresses that share their first `len` bits; ordered by address, then the shorter first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix<A> {
    first: A,
    len: u8,
}

impl<A: Address> Prefix<A> {
    /// The prefix of `len` bits that contains `addr`; a length beyond the address is its width.
    pub fn new(addr: A, len: u8) -> Prefix<A> {
        let len = len.min(A::BITS);
        Prefix {
            first: addr.keep(len),
            len,
        }
    }

    /// Its first address.
    #[inline]
    pub fn first(self) -> A {
        self.first
    }

    /// Its last address.
    #[inline]
    pub fn last(self) -> A {
        self.first.fill(self.len)
    }

    /// Its length in bits.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "no prefix is empty")]
    pub fn len(self) -> u8 {
        self.len
    }

    /// Whether every address of `other` is one of `self`.
    #[inline]
    pub fn covers(self, other: Prefix<A>) -> bool {
        self.len <= other.len && other.first.keep(self.len) == self.first
    }
}
