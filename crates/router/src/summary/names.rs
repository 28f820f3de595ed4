//! Names of ICMP's types and codes, as configurations and summaries have them.

use trammel_packet::headers::icmp::kind;

const TYPES: &[(&str, u8)] = &[
    ("echo", kind::ECHO),
    ("echo-reply", kind::ECHO_REPLY),
    ("inforeq", kind::INFORMATION),
    ("inforeq-reply", kind::INFORMATION_REPLY),
    ("maskreq", kind::MASK),
    ("maskreq-reply", kind::MASK_REPLY),
    ("parameterproblem", kind::PARAMETER_PROBLEM),
    ("redirect", kind::REDIRECT),
    ("routeradvert", kind::ROUTER_ADVERTISEMENT),
    ("routersolicit", kind::ROUTER_SOLICITATION),
    ("sourcequench", kind::SOURCE_QUENCH),
    ("timeexceeded", kind::TIME_EXCEEDED),
    ("timestamp", kind::TIMESTAMP),
    ("timestamp-reply", kind::TIMESTAMP_REPLY),
    ("unreachable", kind::UNREACHABLE),
];

/// RFC 792, 1122 §3.2.2.1, 1812 §5.2.7.1.
const CODES: &[(u8, &[(&str, u8)])] = &[
    (
        kind::UNREACHABLE,
        &[
            ("net", 0),
            ("host", 1),
            ("protocol", 2),
            ("port", 3),
            ("needfrag", 4),
            ("srcroutefail", 5),
            ("netunknown", 6),
            ("hostunknown", 7),
            ("isolated", 8),
            ("netprohibited", 9),
            ("hostprohibited", 10),
            ("tosnet", 11),
            ("toshost", 12),
            ("filterprohibited", 13),
            ("hostprecedence", 14),
            ("precedencecutoff", 15),
        ],
    ),
    (
        kind::REDIRECT,
        &[("net", 0), ("host", 1), ("tosnet", 2), ("toshost", 3)],
    ),
    (kind::TIME_EXCEEDED, &[("transit", 0), ("reassembly", 1)]),
    (
        kind::PARAMETER_PROBLEM,
        &[("erroratptr", 0), ("missingopt", 1), ("length", 2)],
    ),
];

fn codes(icmp_type: u8) -> &'static [(&'static str, u8)] {
    let all = CODES.iter().find(|(of, _)| *of == icmp_type);
    all.map_or(&[], |(_, codes)| codes)
}

fn name(table: &'static [(&str, u8)], value: u8) -> Option<&'static str> {
    table
        .iter()
        .find(|(_, of)| *of == value)
        .map(|(name, _)| *name)
}

fn value(table: &[(&str, u8)], name: &[u8]) -> Option<u8> {
    table
        .iter()
        .find(|(of, _)| of.as_bytes() == name)
        .map(|(_, value)| *value)
}

/// The name of a type.
pub(super) fn type_name(icmp_type: u8) -> Option<&'static str> {
    name(TYPES, icmp_type)
}

/// The type of a name.
pub(super) fn type_of(name: &[u8]) -> Option<u8> {
    value(TYPES, name)
}

/// The name of a type's code.
pub(super) fn code_name(icmp_type: u8, code: u8) -> Option<&'static str> {
    name(codes(icmp_type), code)
}

/// The code of a name, within a type.
pub(super) fn code_of(icmp_type: u8, name: &[u8]) -> Option<u8> {
    value(codes(icmp_type), name)
}
