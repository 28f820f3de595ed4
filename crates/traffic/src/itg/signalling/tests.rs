//! Tests of the messages, by captured bytes.

use super::*;
use proptest::prelude::*;

fn bytes(hex: &str) -> Vec<u8> {
    let hex: String = hex.split_whitespace().collect();
    (0..hex.len() / 2)
        .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex"))
        .collect()
}

fn round(hex: &str, side: Side) -> Message {
    let bytes = bytes(hex);
    let (message, used) = Message::decode(&bytes, side)
        .expect("the message is whole")
        .expect("whole");
    assert_eq!(used, bytes.len());
    let mut out = Vec::new();
    message.encode(&mut out);
    assert_eq!(out, bytes);
    for cut in 0..bytes.len() {
        assert_eq!(Message::decode(&bytes[..cut], side), Ok(None));
    }
    message
}

#[test]
fn a_passive_sender_tells_its_port() {
    let open = round(
        "03 02 00 01 00 06 00000001 00 6e6f53657269616c0000 1127 00 2523 \
         00000000000000000000000000000000",
        Side::PassiveSender,
    );
    let Message::Open(open) = open else {
        panic!("{open:?}");
    };
    assert_eq!((open.port, open.back), (10001, Some(8997)));
    let listening = round("05 00000001", Side::PassiveSender);
    assert_eq!(listening, Message::Listening { flow: 1 });
    assert_eq!(
        Message::decode(&[5, 0, 0, 0, 1], Side::Sender),
        Err(Error::Unknown(5, Side::Sender))
    );
}

fn udp() -> Open {
    Open {
        flow: 1,
        protocol: Protocol::Udp,
        application: 0,
        meter: Meter::OneWay,
        ds: 0,
        metadata: Metadata::Full,
        serial: None,
        back: None,
        port: 10001,
        address: IpAddr::from([127, 0, 0, 1]),
    }
}

// Captured from ITGSend and ITGRecv 2.8.1 on loopback.
#[test]
fn flows_are_announced_as_captured() {
    let open = |hex| match round(hex, Side::Sender) {
        Message::Open(open) => open,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        open("030200 01000400 00000100 6e6f5365 7269616c 00001127 7f000001"),
        udp()
    );
    let tcp = open("030100 02000400 00000200 6e6f5365 7269616c 00001227 7f000001");
    assert_eq!(
        tcp,
        Open {
            flow: 2,
            protocol: Protocol::Tcp,
            meter: Meter::RoundTrip,
            port: 10002,
            ..udp()
        }
    );
    let six = open(
        "030200 01000600 00000101 6e6f5365 7269616c 00001127 00000000 00000000 00000000 00000001",
    );
    assert_eq!(
        six,
        Open {
            metadata: Metadata::Sequence,
            address: "::1".parse().expect("the address is well formed"),
            ..udp()
        }
    );
    let voip = open("030202 01000400 00000100 6e6f5365 7269616c 00001127 7f000001");
    assert_eq!(
        voip,
        Open {
            application: 2,
            ..udp()
        }
    );
    let marked = open("030200 01200400 00000100 6e6f5365 7269616c 00001127 7f000001");
    assert_eq!(marked, Open { ds: 0x20, ..udp() });
    let serial = open("030200 01000400 00000100 61626364 65666768 696a1127 7f000001");
    assert_eq!(
        serial,
        Open {
            serial: Some(*b"abcdefghij"),
            ..udp()
        }
    );
    let icmp = open("030300 01000400 00000100 6e6f5365 7269616c 00002723 7f000001");
    assert_eq!(
        icmp,
        Open {
            protocol: Protocol::Icmp,
            port: 8999,
            ..udp()
        }
    );
    let bare = open("030100 01000400 00000102 6e6f5365 7269616c 00001127 7f000001");
    assert_eq!(
        bare,
        Open {
            protocol: Protocol::Tcp,
            metadata: Metadata::None,
            ..udp()
        }
    );
}

#[test]
fn short_messages_are_as_captured() {
    assert_eq!(round("01", Side::Sender), Message::Hello);
    assert_eq!(round("02", Side::Receiver), Message::Accept);
    assert_eq!(round("12", Side::Receiver), Message::LogReady);
    assert_eq!(round("0d", Side::Receiver), Message::LogAtReady);
    assert_eq!(
        round("050000 00012711", Side::Receiver),
        Message::Opened {
            flow: 1,
            port: 10001
        }
    );
    assert_eq!(
        round("0f 00000001", Side::Receiver),
        Message::Refused { flow: 1 }
    );
    assert_eq!(round("04 00000002", Side::Sender), Message::End { flow: 2 });
    assert_eq!(
        round("11 00000001", Side::Sender),
        Message::Abort { flow: 1 }
    );
    assert_eq!(
        round("06 00000003", Side::Receiver),
        Message::Ended { flow: 3 }
    );
    assert_eq!(round("0b", Side::Sender), Message::Close);
    assert_eq!(round("07", Side::Receiver), Message::Closed);
    assert_eq!(
        Message::decode(&[0x55], Side::Sender),
        Err(Error::Unknown(0x55, Side::Sender))
    );
}

#[test]
fn wishes_for_logs_are_as_captured() {
    let zeros = |bytes: usize| "00".repeat(bytes);
    let name = LogName::new(b"u0.r.log").expect("short");
    let captured = format!("13 75302e72 2e6c6f67 00656376 2e6c6f67 {}", zeros(185));
    let (message, used) = Message::decode(&bytes(&captured), Side::Sender)
        .expect("the message is whole")
        .expect("whole");
    assert_eq!(
        (message, used),
        (Message::Log(name.clone()), 201),
        "the rest of an older name is left out"
    );
    assert_eq!(
        round(
            &format!("13 75302e72 2e6c6f67 {}", zeros(192)),
            Side::Sender
        ),
        Message::Log(name)
    );
    let at = round(
        &format!("0c000000 027f0000 01000002 786c6f67 {}", zeros(196)),
        Side::Sender,
    );
    let name = LogName::new(b"xlog").expect("short");
    assert_eq!(
        at,
        Message::LogAt {
            server: IpAddr::from([127, 0, 0, 1]),
            protocol: Protocol::Udp,
            name
        }
    );
}

#[test]
fn heads_are_as_captured() {
    let check = |hex: &str, metadata, protocol, head: Head| {
        let captured = bytes(hex);
        assert_eq!(captured.len(), head_length(metadata, protocol));
        assert_eq!(Head::decode(&captured, metadata, protocol), Some(head));
        assert_eq!(Head::decode(&captured[1..], metadata, protocol), None);
        let mut out = vec![0; captured.len()];
        head.encode(&mut out, metadata, protocol);
        assert_eq!(out, captured);
    };
    // 16:44:24.392343 in the log.
    let first = Head {
        flow: 1,
        sequence: 1,
        sent: Some((60264, 392_343)),
        bytes: None,
    };
    check(
        "00000001 00000001 0000eb68 0005fc97",
        Metadata::Full,
        Protocol::Udp,
        first,
    );
    let tcp = Head {
        flow: 2,
        sequence: 10,
        sent: Some((60264, 834_181)),
        bytes: Some(202),
    };
    check(
        "00000002 0000000a 0000eb68 000cba85 000000ca",
        Metadata::Full,
        Protocol::Tcp,
        tcp,
    );
    let bare = Head {
        flow: 1,
        sequence: 2,
        sent: None,
        bytes: None,
    };
    check("00000001 00000002", Metadata::Sequence, Protocol::Udp, bare);
    check(
        "00000001 00000002 0000003c",
        Metadata::Sequence,
        Protocol::Tcp,
        Head {
            bytes: Some(60),
            ..bare
        },
    );
    assert_eq!(Head::decode(&[0; 64], Metadata::None, Protocol::Udp), None);
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>, is_sender: bool) {
        let side = if is_sender { Side::Sender } else { Side::Receiver };
        if let Ok(Some((message, used))) = Message::decode(&bytes, side) {
            prop_assert!(used <= bytes.len());
            let mut out = Vec::new();
            message.encode(&mut out);
            prop_assert_eq!(out.len(), used);
        }
    }
}
