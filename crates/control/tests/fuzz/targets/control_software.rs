//! Whatever frames, lines and spans come, each frame has one fate, the tables stay bounded, and
//! each frame that leaves is right.
//!
//! The bytes are steps: a byte says what comes and at which port, two more how long it is.

use super::common::{FATES, Router, config, own_mac};
use trammel_control::Config;
use trammel_core::Span;
use trammel_packet::headers::checksum::{Sum, checksum};
use trammel_packet::headers::ipv4::set_checksum;

/// Steps of an input, at most.
const MOST_STEPS: usize = 400;

pub(crate) fn run(bytes: &[u8]) {
    let mut router = Router::new(Config {
        arp_entries: 16,
        arp_queue: 2,
        arp_next_hops: 8,
        icmp_errors_burst: 20,
        ..Config::new(config().interfaces, config().routes)
    });
    let mut left = bytes;
    for _ in 0..MOST_STEPS {
        let [what, high, low, rest @ ..] = left else {
            break;
        };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        let port = usize::from(what >> 4) % 5;
        let data = &rest[..if what & 3 == 3 {
            0
        } else {
            length.min(rest.len())
        }];
        left = &rest[data.len()..];
        match what & 3 {
            0 => router.punt(port, data),
            1 => router.punt(port, &repaired(port, data)),
            2 => {
                let reply = router.cli(&String::from_utf8_lossy(data));
                let json: serde_json::Value =
                    serde_json::from_str(&reply.json()).expect("a reply is JSON");
                assert_eq!(json["ok"], reply.is_ok());
            }
            _ => router.advance(Span::from_ms(length as u64)),
        }
        assert!(router.card.neighbours.len() <= 16);
    }
    while let Some((_, reply)) = router.control.poll_reply() {
        assert!(!reply.to_string().is_empty());
    }
    router.take();
    let counters = router.control.counters();
    let fates: u64 = counters[1..=FATES].iter().map(|(_, value)| value).sum();
    assert_eq!(counters[0].1, fates);
}

/// The frame with the router's MAC address and right checksums, so that more of it is looked at.
fn repaired(port: usize, data: &[u8]) -> Vec<u8> {
    let mut frame = data.to_vec();
    if frame.len() < 34 {
        return frame;
    }
    if frame[0] & 1 == 0 {
        frame[..6].copy_from_slice(&own_mac(port));
    }
    if frame[12..14] != [8, 0] {
        return frame;
    }
    frame[14] = 0x45;
    let total = (frame.len() - 14) as u16;
    frame[16..18].copy_from_slice(&total.to_be_bytes());
    set_checksum(&mut frame[14..]);
    let (header, message) = frame.split_at_mut(34);
    let length = message.len();
    match (header[23], length) {
        (1, 4..) => {
            message[2..4].fill(0);
            let sum = checksum(message);
            message[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        (89, 24..) => {
            message[2..4].copy_from_slice(&(length as u16).to_be_bytes());
            message[12..14].fill(0);
            message[16..24].fill(0);
            let sum = Sum::ZERO.bytes(&message[..16]).bytes(&message[24..]);
            message[12..14].copy_from_slice(&sum.checksum().to_be_bytes());
        }
        (6, 18..) => {
            message[16..18].fill(0);
            let address =
                |at: usize| -> [u8; 4] { header[at..at + 4].try_into().expect("four bytes") };
            let pseudo = Sum::ZERO.pseudo_v4(address(26), address(30), 6, length as u16);
            let sum = pseudo.bytes(message).checksum();
            message[16..18].copy_from_slice(&sum.to_be_bytes());
        }
        _ => {}
    }
    frame
}
