//! The management query of RFC 2544, §11.2: SNMP asks for five variables, and the answer is
//! verified (RFC 3416, RFC 3417).

use super::frame::{Link, datagram};
use std::net::Ipv4Addr;

/// The agent's port, and the one that the tester asks from.
const AGENT_PORT: u16 = 161;
const ASKING_PORT: u16 = 0xc01f;
/// Tags of BER (ITU-T X.690) and of SNMP's messages.
const INTEGER: u8 = 0x02;
const TEXT: u8 = 0x04;
const NULL: u8 = 0x05;
const NAME: u8 = 0x06;
const SEQUENCE: u8 = 0x30;
const GET: u8 = 0xa0;
const RESPONSE: u8 = 0xa2;
/// SNMPv2c.
const VERSION: u8 = 1;
const COMMUNITY: &[u8] = b"public";
/// sysUpTime, and of interface 1: ifInOctets, ifOutOctets, ifInUcastPkts, ifOutUcastPkts; behind
/// 1.3.6.1.2.1.
//= rfc2544 §C.2.4.3
//# The list of variables to retrieve follow:
const VARIABLES: [&[u8]; 5] = [
    &[1, 3, 0],
    &[2, 2, 1, 10, 1],
    &[2, 2, 1, 16, 1],
    &[2, 2, 1, 11, 1],
    &[2, 2, 1, 17, 1],
];
const MIB_2: [u8; 5] = [0x2b, 6, 1, 2, 1];

/// A value with its tag; shorter than 128 bytes, but for the outer ones, which are shorter
/// than 256.
fn value(tag: u8, bytes: &[u8]) -> Vec<u8> {
    let length = bytes.len() as u8;
    let mut all = if length < 0x80 {
        vec![tag, length]
    } else {
        vec![tag, 0x81, length]
    };
    all.extend(bytes);
    all
}

/// The first value of `bytes`: its tag, its bytes, and what follows.
fn first(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&[tag, length], rest) = bytes.split_first_chunk::<2>()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(length), rest),
        0x81..=0x82 => {
            let (octets, rest) = rest.split_at_checked(usize::from(length - 0x80))?;
            (
                octets
                    .iter()
                    .fold(0, |all, &one| all << 8 | usize::from(one)),
                rest,
            )
        }
        _ => return None,
    };
    let (bytes, rest) = rest.split_at_checked(length)?;
    Some((tag, bytes, rest))
}

/// The value of `bytes` that has `tag`, and what follows.
fn expect(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, bytes, rest) = first(bytes)?;
    (found == tag).then_some((bytes, rest))
}

/// The frame that asks the device at `agent` from `asker`, as request `number`.
pub(crate) fn frame(link: &Link, asker: Ipv4Addr, agent: Ipv4Addr, number: u16) -> Vec<u8> {
    let variables = VARIABLES.map(|variable| {
        let name = value(NAME, &[&MIB_2, variable].concat());
        value(SEQUENCE, &[name, value(NULL, &[])].concat())
    });
    let request = [
        value(INTEGER, &request(number)),
        value(INTEGER, &[0]),
        value(INTEGER, &[0]),
        value(SEQUENCE, &variables.concat()),
    ];
    let message = [
        value(INTEGER, &[VERSION]),
        value(TEXT, COMMUNITY),
        value(GET, &request.concat()),
    ];
    let message = value(SEQUENCE, &message.concat());
    datagram(link, (asker, ASKING_PORT), (agent, AGENT_PORT), &message)
}

/// A request's number: three bytes, of which the first keeps it positive.
fn request(number: u16) -> [u8; 3] {
    let [high, low] = number.to_be_bytes();
    [1, high, low]
}

/// Which request the payload of a datagram answers, all of whose variables the device has told.
pub(crate) fn answered(payload: &[u8]) -> Option<u16> {
    let (message, _) = expect(payload, SEQUENCE)?;
    let (_, rest) = expect(message, INTEGER)?;
    let (_, rest) = expect(rest, TEXT)?;
    let (response, _) = expect(rest, RESPONSE)?;
    let (number, rest) = expect(response, INTEGER)?;
    let (status, rest) = expect(rest, INTEGER)?;
    let (_, rest) = expect(rest, INTEGER)?;
    let (mut variables, _) = expect(rest, SEQUENCE)?;
    for asked in VARIABLES {
        let (variable, rest) = expect(variables, SEQUENCE)?;
        let (name, told) = expect(variable, NAME)?;
        let (tag, ..) = first(told)?;
        // An exception (noSuchObject and so on) has a tag of its class; it tells nothing.
        if name.strip_prefix(&MIB_2) != Some(asked) || tag & 0x80 != 0 || tag == NULL {
            return None;
        }
        variables = rest;
    }
    match number {
        [1, high, low] if status == [0] => Some(u16::from_be_bytes([*high, *low])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::payload;
    use super::*;

    fn asked(number: u16) -> Vec<u8> {
        let link = Link {
            from_mac: [2; 6],
            to_mac: [4; 6],
            tag: None,
        };
        frame(
            &link,
            [198, 18, 1, 2].into(),
            [198, 18, 1, 1].into(),
            number,
        )
    }

    /// What an agent makes of a query: a response with a counter of one byte for each null.
    fn response(query: &[u8]) -> Vec<u8> {
        let mut bytes = query.to_vec();
        let get = bytes.iter().position(|&byte| byte == GET).expect("it asks");
        bytes[get] = RESPONSE;
        // Null without a value and a counter without one have the same length.
        let nulls: Vec<usize> = (1..bytes.len())
            .filter(|&at| bytes[at - 1..=at] == [NULL, 0])
            .collect();
        assert_eq!(nulls.len(), 5);
        for at in nulls {
            bytes[at - 1] = 0x41;
        }
        bytes
    }

    #[test]
    fn an_answer_to_all_variables_is_one_to_the_query() {
        let frame = asked(513);
        let query = payload(&frame).expect("it is a datagram");
        assert_eq!(query[..4], [SEQUENCE, (query.len() - 2) as u8, INTEGER, 1]);
        assert_eq!(answered(query), None);
        let response = response(query);
        assert_eq!(answered(&response), Some(513));
        for end in 0..response.len() {
            assert_eq!(answered(&response[..end]), None);
        }
    }

    #[test]
    fn an_answer_that_lacks_a_variable_is_none() {
        let frame = asked(1);
        let mut response = response(payload(&frame).expect("it is a datagram"));
        let last = response.len() - 2;
        response[last] = 0x80;
        assert_eq!(answered(&response), None);
    }
}
