//! MPLS: an entry of the label stack (RFC 3032).

use super::{U32, header};

/// Labels of a meaning of their own.
pub mod label {
    /// The stack ends; what follows is IPv4.
    pub const IPV4_NULL: u32 = 0;
    /// To be looked at by the router.
    pub const ROUTER_ALERT: u32 = 1;
    /// The stack ends; what follows is IPv6.
    pub const IPV6_NULL: u32 = 2;
    /// The router before the last removes the entry; never on a wire.
    pub const IMPLICIT_NULL: u32 = 3;
    /// The largest.
    pub const MAX: u32 = 0xF_FFFF;
}

header! {
    /// An entry.
    pub struct Mpls {
        /// Label 20 bits, traffic class 3, bottom of stack 1, time to live 8.
        pub entry: U32,
    }
}

impl Mpls {
    /// An entry of these fields; bits beyond a field's width are cut off.
    pub fn new(label: u32, traffic_class: u8, is_bottom: bool, ttl: u8) -> Mpls {
        let class = u32::from(traffic_class & 7) << 9;
        let entry = (label & label::MAX) << 12 | class | u32::from(is_bottom) << 8 | u32::from(ttl);
        Mpls {
            entry: U32::new(entry),
        }
    }

    /// The label.
    pub fn label(&self) -> u32 {
        self.entry.get() >> 12
    }

    /// The traffic class (RFC 5462).
    pub fn traffic_class(&self) -> u8 {
        (self.entry.get() >> 9) as u8 & 7
    }

    /// Whether this is the last entry of the stack.
    pub fn is_bottom(&self) -> bool {
        self.entry.get() & 0x100 != 0
    }

    /// Time to live.
    pub fn ttl(&self) -> u8 {
        self.entry.get() as u8
    }

    /// Sets the label.
    pub fn set_label(&mut self, label: u32) {
        self.entry
            .set(self.entry.get() & 0xFFF | (label & label::MAX) << 12);
    }

    /// Sets the time to live.
    pub fn set_ttl(&mut self, ttl: u8) {
        self.entry.set(self.entry.get() & !0xFF | u32::from(ttl));
    }
}
