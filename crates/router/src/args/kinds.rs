//! What each type reads, what it is where nothing is given, and what it is called.

use super::addresses::{
    EtherAddress, Ip6Prefix, IpPrefix, parse_ether, parse_ip, parse_ip_list, parse_ip_prefix,
    parse_ip6, parse_ip6_prefix,
};
use super::annotations::{AnnoField, parse_anno};
use super::handler_call::{HandlerCall, parse_handler_call};
use super::names::{Names, parse_ether_type, parse_icmp_type, parse_port, parse_protocol};
use super::numbers::{parse_bool, parse_decimal, parse_double, parse_fixed, parse_int, parse_uint};
use super::text::{parse_data, parse_filename, parse_keyword, parse_text, parse_word};
use super::times::{parse_bandwidth, parse_seconds, parse_seconds_in, parse_timestamp};
use super::{Error, Kind, Value};
use std::net::{Ipv4Addr, Ipv6Addr};
use trammel_packet::timestamp::Timestamp;

/// Any 32-bit number with a sign.
pub(crate) const INT: Kind = Kind::Int {
    min: i32::MIN as i64,
    max: i32::MAX as i64,
};
/// Any 32-bit number without a sign.
pub(crate) const UINT: Kind = Kind::UInt {
    max: u32::MAX as u64,
};
/// Any 16-bit number without a sign.
pub(crate) const U16: Kind = Kind::UInt {
    max: u16::MAX as u64,
};
/// Any 8-bit number without a sign.
pub(crate) const U8: Kind = Kind::UInt {
    max: u8::MAX as u64,
};
/// Any 64-bit number without a sign.
pub(crate) const U64: Kind = Kind::UInt { max: u64::MAX };

impl Kind {
    /// The value that `text`, an argument without its keyword, stands for.
    pub fn parse(self, text: &str, names: &dyn Names) -> Result<Value, Error> {
        let uint = |number: u32| Value::UInt(u64::from(number));
        match self {
            Kind::Int { min, max } => parse_int(text, min, max).map(Value::Int),
            Kind::UInt { max } => parse_uint(text, max).map(Value::UInt),
            Kind::Bool => parse_bool(text).map(Value::Bool),
            Kind::Double => parse_double(text).map(Value::Double),
            Kind::Fixed(bits) => parse_fixed(text, bits).map(uint),
            Kind::Decimal(digits) => parse_decimal(text, digits).map(uint),
            Kind::Seconds => parse_seconds(text).map(Value::Time),
            Kind::SecondsIn(digits) => parse_seconds_in(text, digits).map(uint),
            Kind::Timestamp => parse_timestamp(text).map(Value::Time),
            Kind::Bandwidth => parse_bandwidth(text).map(Value::UInt),
            Kind::Text => parse_text(text).map(Value::Text),
            Kind::Raw => Ok(Value::Text(text.to_string())),
            Kind::Word => parse_word(text).map(Value::Text),
            Kind::Keyword => parse_keyword(text).map(Value::Text),
            Kind::Filename => parse_filename(text, names.home()).map(Value::Text),
            Kind::Ip => parse_ip(text, names).map(Value::Ip),
            Kind::IpList => parse_ip_list(text, names).map(Value::IpList),
            Kind::Ip6 => parse_ip6(text, names).map(Value::Ip6),
            Kind::Prefix => parse_ip_prefix(text, false, names).map(Value::Prefix),
            Kind::PrefixOrIp => parse_ip_prefix(text, true, names).map(Value::Prefix),
            Kind::Prefix6 => parse_ip6_prefix(text, false, names).map(Value::Prefix6),
            Kind::Prefix6OrIp6 => parse_ip6_prefix(text, true, names).map(Value::Prefix6),
            Kind::IpPort(protocol) => parse_port(text, protocol, names).map(|n| uint(u32::from(n))),
            Kind::Protocol => parse_protocol(text, names).map(|n| uint(u32::from(n))),
            Kind::IcmpType => parse_icmp_type(text, names).map(|n| uint(u32::from(n))),
            Kind::Ether => parse_ether(text, names).map(Value::Ether),
            Kind::EtherType => parse_ether_type(text, names).map(|n| uint(u32::from(n))),
            Kind::Anno { size } => parse_anno(text, size, names).map(Value::Anno),
            Kind::Element => match names.element(text) {
                Some(place) => Ok(Value::Element(Some(place))),
                None => Err(Error::NotAnElement),
            },
            Kind::HandlerCall => parse_handler_call(text).map(Value::HandlerCall),
            Kind::Data => parse_data(text).map(Value::Data),
        }
    }

    /// The value where neither the configuration nor the table has one: zero, or nothing.
    pub(super) fn nothing(self) -> Value {
        match self {
            Kind::Int { .. } => Value::Int(0),
            Kind::UInt { .. }
            | Kind::Fixed(_)
            | Kind::Decimal(_)
            | Kind::SecondsIn(_)
            | Kind::Bandwidth
            | Kind::IpPort(_)
            | Kind::Protocol
            | Kind::IcmpType
            | Kind::EtherType => Value::UInt(0),
            Kind::Bool => Value::Bool(false),
            Kind::Double => Value::Double(0.0),
            Kind::Seconds | Kind::Timestamp => Value::Time(Timestamp::ZERO),
            Kind::Text | Kind::Raw | Kind::Word | Kind::Keyword | Kind::Filename => {
                Value::Text(String::new())
            }
            Kind::Data => Value::Data(Vec::new()),
            Kind::Ip => Value::Ip(Ipv4Addr::UNSPECIFIED),
            Kind::IpList => Value::IpList(Vec::new()),
            Kind::Ip6 => Value::Ip6(Ipv6Addr::UNSPECIFIED),
            Kind::Prefix | Kind::PrefixOrIp => {
                Value::Prefix(IpPrefix::new(Ipv4Addr::UNSPECIFIED, 0))
            }
            Kind::Prefix6 | Kind::Prefix6OrIp6 => Value::Prefix6(Ip6Prefix {
                address: Ipv6Addr::UNSPECIFIED,
                len: 0,
            }),
            Kind::Ether => Value::Ether(EtherAddress::default()),
            Kind::Anno { size } => Value::Anno(AnnoField { offset: 0, size }),
            Kind::Element => Value::Element(None),
            Kind::HandlerCall => Value::HandlerCall(HandlerCall::default()),
        }
    }

    /// The type in a few words for people.
    pub fn describe(self) -> String {
        match self {
            Kind::Int {
                min: i64::MIN,
                max: i64::MAX,
            }
            | INT => "integer".into(),
            Kind::Int { min, max } => format!("integer, {min} to {max}"),
            U64 | UINT => "unsigned integer".into(),
            Kind::UInt { max } => format!("unsigned integer, up to {max}"),
            Kind::Bool => "boolean".into(),
            Kind::Double => "real number".into(),
            Kind::Fixed(bits) => format!("real number, {bits} bits of fraction"),
            Kind::Decimal(digits) => format!("real number, {digits} digits of fraction"),
            Kind::Seconds => "time in seconds or a unit".into(),
            Kind::SecondsIn(digits) => {
                format!("time in seconds or a unit, {digits} digits of fraction")
            }
            Kind::Timestamp => "timestamp".into(),
            Kind::Bandwidth => "bandwidth in bytes/s or a unit".into(),
            Kind::Text => "string".into(),
            Kind::Raw => "any text".into(),
            Kind::Word => "word".into(),
            Kind::Keyword => "keyword".into(),
            Kind::Filename => "file name".into(),
            Kind::Ip => "IP address".into(),
            Kind::IpList => "IP addresses".into(),
            Kind::Ip6 => "IPv6 address".into(),
            Kind::Prefix => "IP prefix".into(),
            Kind::PrefixOrIp => "IP prefix or address".into(),
            Kind::Prefix6 => "IPv6 prefix".into(),
            Kind::Prefix6OrIp6 => "IPv6 prefix or address".into(),
            Kind::IpPort(_) => "port".into(),
            Kind::Protocol => "IP protocol".into(),
            Kind::IcmpType => "ICMP type".into(),
            Kind::Ether => "Ethernet address".into(),
            Kind::EtherType => "Ethernet type".into(),
            Kind::Anno { size: 0 } => "annotation".into(),
            Kind::Anno { size: 1 } => "annotation of 1 byte".into(),
            Kind::Anno { size } => format!("annotation of {size} bytes"),
            Kind::Element => "element".into(),
            Kind::HandlerCall => "handler call".into(),
            Kind::Data => "bytes, as a string".into(),
        }
    }
}
