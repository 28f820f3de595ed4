//! The arguments of elements: their types, and how a configuration string is resolved by a table.
//!
//! An element lists its parameters as a static table of [`Param`]; [`Args::resolve`] reads a
//! configuration string against it and gives [`Value`]s by name or errors in Click's words. The
//! pieces beneath are plain functions, a file for each group of types, for elements whose arguments
//! have a form of their own (routes, rules, patterns) and for handlers: `numbers::parse_int`,
//! `addresses::parse_ip_prefix`. What is printed by `unparse_*` or `Display` reads back as the same
//! value.

pub mod addresses;
pub(crate) mod annotations;
pub(crate) mod definitions;
pub mod element_names;
mod error;
pub(crate) mod handler_call;
pub(crate) mod kinds;
pub(crate) mod machine_names;
pub(crate) mod misspelt;
pub mod names;
pub(crate) mod numbers;
pub(crate) mod packet_length;
pub(crate) mod resolve;
pub(crate) mod store_place;
pub mod text;
pub(crate) mod times;
pub(crate) mod well_known;

use addresses::{EtherAddress, Ip6Prefix, IpPrefix};
use annotations::AnnoField;
use handler_call::HandlerCall;
use std::net::{Ipv4Addr, Ipv6Addr};
use trammel_packet::timestamp::Timestamp;

pub use error::Error;
pub use resolve::Args;

/// Whether a parameter must be given, and how it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Required; by place or by keyword.
    Mandatory,
    /// Optional; by place or by keyword.
    Positional,
    /// Optional; by keyword only.
    Keyword,
    /// Required; by keyword only.
    KeywordMandatory,
    /// Any number of times, each by keyword; every value is kept.
    Repeated,
    /// All arguments that no other parameter takes, as they are written: [`Args::rest`].
    Rest,
    /// All keywords that no other parameter has: [`Args::keyword_rest`].
    KeywordRest,
}

/// A parameter of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// The keyword, in upper case.
    pub name: &'static str,
    /// Whether it must be given, and how.
    pub need: Need,
    /// The type of the value.
    pub kind: Kind,
    /// The value where it is not given, as one would write it; empty where there is none.
    pub default: &'static str,
    /// One line for people.
    pub help: &'static str,
}

/// A row of a class's table of parameters.
pub const fn param(
    name: &'static str,
    need: Need,
    kind: Kind,
    default: &'static str,
    help: &'static str,
) -> Param {
    Param {
        name,
        need,
        kind,
        default,
        help,
    }
}

/// A parameter that must be given, by place or by keyword.
pub const fn mandatory(name: &'static str, kind: Kind, help: &'static str) -> Param {
    param(name, Need::Mandatory, kind, "", help)
}

/// An optional parameter that is given by place or by keyword.
pub const fn positional(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    help: &'static str,
) -> Param {
    param(name, Need::Positional, kind, default, help)
}

/// An optional parameter that is given by its keyword.
pub const fn keyword(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    help: &'static str,
) -> Param {
    param(name, Need::Keyword, kind, default, help)
}

/// A parameter that is true or false, given by its keyword.
pub const fn flag(name: &'static str, default: &'static str, help: &'static str) -> Param {
    keyword(name, Kind::Bool, default, help)
}

/// A type of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number: decimal, `0x`, `0b` or octal after `0`; `_` between digits.
    Int {
        /// The least.
        min: i64,
        /// The greatest.
        max: i64,
    },
    /// A whole number without a sign.
    UInt {
        /// The greatest.
        max: u64,
    },
    /// `true`, `yes`, `t`, `y`, `1` or their opposites.
    Bool,
    /// A number with a fraction.
    Double,
    /// A number in units of 2 to the minus this many bits, within 32 bits.
    Fixed(u8),
    /// A number in units of 10 to the minus this many digits, within 32 bits.
    Decimal(u8),
    /// A length of time, such as `1.5ms`, to the nanosecond.
    Seconds,
    /// A length of time rounded to this many digits after the second, a number of such units.
    SecondsIn(u8),
    /// A time of day or a length of time; may be negative.
    Timestamp,
    /// A rate, such as `10kbps` or `5MBps`, in bytes a second.
    Bandwidth,
    /// A string, perhaps in quotes, without spaces outside them.
    Text,
    /// The argument as it is written.
    Raw,
    /// A string without spaces, quotes, commas.
    Word,
    /// Letters, digits and `_.:?!`.
    Keyword,
    /// A file's name; `~/` is the home directory.
    Filename,
    /// An IPv4 address.
    Ip,
    /// IPv4 addresses with spaces between them.
    IpList,
    /// An IPv6 address.
    Ip6,
    /// `address/length` or `address/mask`.
    Prefix,
    /// The same, or an address, which is a prefix of all its bits.
    PrefixOrIp,
    /// An IPv6 prefix.
    Prefix6,
    /// The same, or an address.
    Prefix6OrIp6,
    /// A port of this IP protocol, a number or a name.
    IpPort(u8),
    /// An IP protocol, a number or a name.
    Protocol,
    /// A type of ICMP messages, a number or a name.
    IcmpType,
    /// An Ethernet address.
    Ether,
    /// An Ethernet type, a number or a name.
    EtherType,
    /// An annotation by name or offset.
    Anno {
        /// The bytes it must have; 0 for any.
        size: u8,
    },
    /// The name of an element.
    Element,
    /// `element.handler` and an argument for it.
    HandlerCall,
    /// A string of bytes, written as a text.
    Data,
}

/// A value of one of the types.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Of `Int`.
    Int(i64),
    /// Of the types that are numbers without a sign.
    UInt(u64),
    /// Of `Bool`.
    Bool(bool),
    /// Of `Double`.
    Double(f64),
    /// Of `Seconds` and `Timestamp`.
    Time(Timestamp),
    /// Of the types that are strings.
    Text(String),
    /// Of `Data`.
    Data(Vec<u8>),
    /// Of `Ip`.
    Ip(Ipv4Addr),
    /// Of `IpList`.
    IpList(Vec<Ipv4Addr>),
    /// Of `Ip6`.
    Ip6(Ipv6Addr),
    /// Of `Prefix` and `PrefixOrIp`.
    Prefix(IpPrefix),
    /// Of `Prefix6` and `Prefix6OrIp6`.
    Prefix6(Ip6Prefix),
    /// Of `Ether`.
    Ether(EtherAddress),
    /// Of `Anno`.
    Anno(AnnoField),
    /// Of `Element`: its place among the elements.
    Element(Option<usize>),
    /// Of `HandlerCall`.
    HandlerCall(HandlerCall),
}
