//! A row of the table of fields, and what a field holds.

use super::builder::Builder;
use super::view::{Missing, View};
use std::borrow::Cow;
use trammel_packet::timestamp::Timestamp;

/// Where the fields of the IP header begin, but for two before it.
pub(super) const IP: u16 = 300;

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Number(u64),
    Time(Timestamp),
    Ether([u8; 6]),
    /// A payload or options; a digest.
    Bytes(Cow<'a, [u8]>),
}

impl Value<'_> {
    /// The number; 0 for what is none.
    pub(super) fn number(&self) -> u64 {
        match self {
            Value::Number(number) => *number,
            _ => 0,
        }
    }
}

/// How a field stands in a binary record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// So many bytes, most significant first.
    Bytes(usize),
    /// Seconds, then microseconds, four bytes each.
    TimeMicro,
    /// Nanoseconds, then seconds: the other way round than Click's manual says, but as Click writes
    /// it.
    TimeNano,
    /// A byte of length, then bytes.
    Counted,
    /// Not at all.
    Never,
}

/// A row of the table.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) aliases: &'static [&'static str],
    /// Rows are put into a packet in this order, whatever the order of the line: a header is there
    /// before what depends on it.
    pub(super) order: u16,
    pub(super) width: Width,
    pub(super) get: for<'a> fn(&'a View<'_>) -> Result<Value<'a>, Missing>,
    pub(super) print: fn(&Value<'_>, &View<'_>, &mut Vec<u8>),
    pub(super) parse: fn(&[u8], &Row, &Builder) -> Option<Value<'static>>,
    /// Nothing for what cannot be put into a packet, such as a digest.
    pub(super) put: Option<fn(&mut Builder, &Value<'_>)>,
}

impl Row {
    /// Whether the field is of the IP packet, not of its link header or annotations.
    pub(super) fn needs_ip(&self) -> bool {
        self.order >= IP - 2
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}
