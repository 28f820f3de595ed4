//! The order of the bytes in a capture file.

/// The order of the bytes in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Least significant first.
    #[default]
    Little,
    /// Most significant first.
    Big,
}

impl Order {
    pub(super) fn u16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Order::Little => u16::from_le_bytes(bytes),
            Order::Big => u16::from_be_bytes(bytes),
        }
    }

    pub(super) fn u32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        }
    }

    /// The two bytes at `at` of `data`.
    pub(super) fn u16_at(self, data: &[u8], at: usize) -> Option<u16> {
        Some(self.u16(data.get(at..at + 2)?.try_into().ok()?))
    }

    /// The four bytes at `at` of `data`.
    pub(super) fn u32_at(self, data: &[u8], at: usize) -> Option<u32> {
        Some(self.u32(data.get(at..at + 4)?.try_into().ok()?))
    }

    pub(super) fn put_u16(self, value: u16) -> [u8; 2] {
        match self {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        }
    }

    pub(super) fn put_u32(self, value: u32) -> [u8; 4] {
        match self {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        }
    }

    pub(super) fn put_u64(self, value: u64) -> [u8; 8] {
        match self {
            Order::Little => value.to_le_bytes(),
            Order::Big => value.to_be_bytes(),
        }
    }
}
