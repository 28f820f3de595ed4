//! Summary dumps: each field out of and into packets, text and binary, and bytes that lie.

use proptest::prelude::*;
use trammel_packet::anno;
use trammel_packet::headers::checksum::{Sum, checksum};
use trammel_packet::headers::ipv4::Ipv4;
use trammel_packet::packet::Packet;
use trammel_packet::pool::{Handle, Pool};
use trammel_router::summary::fields::{self, Fields};
use trammel_router::summary::reader::{self, Reader};
use trammel_router::summary::writer::{self, Writer, write_line};

fn fields_of(names: &str) -> Fields {
    let (fields, unknown) = Fields::parse(names);
    assert!(unknown.is_empty(), "{unknown:?}");
    fields
}

fn read_with(dump: &[u8], options: reader::Options) -> (Pool, Vec<Handle>, Vec<String>) {
    let mut pool = Pool::new(16, 10_000);
    let mut reader = Reader::new(options);
    let mut from = dump;
    reader.begin(&mut from).unwrap();
    let mut packets = Vec::new();
    while let Some(packet) = reader.next(&mut from, &mut pool).unwrap() {
        packets.push(packet);
    }
    let complaints = reader.take_complaints().into_iter();
    let complaints = complaints
        .map(|c| format!("{}: {}", c.number, c.text))
        .collect();
    (pool, packets, complaints)
}

fn read(dump: &str) -> (Pool, Vec<Handle>, Vec<String>) {
    read_with(dump.as_bytes(), reader::Options::default())
}

fn line(packet: &Packet, names: &str) -> String {
    let mut out = Vec::new();
    write_line(packet, &fields_of(names), &mut out);
    String::from_utf8(out).unwrap()
}

/// The lines that come out with fields `outward` where `lines` go in with fields `inward`.
fn through(inward: &str, lines: &str, outward: &str) -> String {
    let (pool, packets, complaints) = read(&format!("!data {inward}\n{lines}\n"));
    assert!(complaints.is_empty(), "{complaints:?}");
    let out: Vec<_> = packets
        .iter()
        .map(|packet| line(&pool[packet], outward))
        .collect();
    out.join("\n")
}

/// Fields in, a line, fields out, and what comes out.
const CASES: &[(&str, &str, &str, &str)] = &[
    // Annotations.
    (
        "timestamp",
        "7.25",
        "timestamp ts_sec ts_usec ts_usec1",
        "7.250000 7 250000 7250000",
    ),
    (
        "ntimestamp",
        "7.000000001",
        "ntimestamp ts_usec",
        "7.000000001 0",
    ),
    ("ts_usec ts_sec", "5 6", "ts", "6.000005"),
    ("ts_usec1", "6000005", "ts", "6.000005"),
    (
        "first_timestamp",
        "1.5",
        "first_timestamp first_ntimestamp timestamp",
        "1.500000 1.500000 0.000000",
    ),
    ("count", "4", "count pkt_count", "4 4"),
    ("count", "0", "count", "1"),
    ("direction", "<", "direction link paint", "< 1 1"),
    ("link", "7", "direction", "7"),
    ("paint", ">", "direction", ">"),
    ("aggregate", "4000000000", "agg", "4000000000"),
    (
        "ip_src wire_len",
        "1.2.3.4 300",
        "ip_len wire_len",
        "300 40",
    ),
    // Link.
    (
        "eth_src eth_dst ip_src",
        "0:1:2:3:4:5 aA-bb-cc-dd-ee-ff 1.2.3.4",
        "eth_src eth_dst eth_type ip_src",
        "00-01-02-03-04-05 AA-BB-CC-DD-EE-FF 0800 1.2.3.4",
    ),
    (
        "eth_type eth_src",
        "0806 1:1:1:1:1:1",
        "eth_type ip_src wire_len",
        "0806 - 14",
    ),
    ("ip_src", "1.2.3.4", "eth_src eth_type", "- -"),
    // IP.
    (
        "src dst",
        "1.2.3.4 5.6.7.8",
        "ip_dst ip_src ip_proto ip_ttl",
        "5.6.7.8 1.2.3.4 T 100",
    ),
    ("ip_tos", "185", "ip_tos ip_dscp ip_ecn", "185 46 ect1"),
    ("ip_dscp ip_ecn", "46 ce", "ip_tos ip_ecn", "187 ce"),
    ("ip_ecn", "ECT(0)", "ip_ecn ip_tos", "ect2 2"),
    ("ip_ttl", "3", "ip_ttl", "3"),
    ("ip_id", "0x10", "ip_id", "16"),
    ("ip_sum", "48879", "ip_sum", "48879"),
    ("ip_proto", "47", "ip_proto ip_len sport", "47 20 -"),
    ("ip_frag", "f", "ip_frag ip_fragoff", "f 800"),
    ("ip_frag", "F", "ip_frag ip_fragoff", "F 0+"),
    ("ip_fragoff", "16+", "ip_frag ip_fragoff sport", "f 16+ -"),
    ("ip_fragoff", "0!", "ip_frag ip_fragoff", "! 0!"),
    ("ip_hl", "24", "ip_hl ip_opt ip_len", "24 . 44"),
    (
        "ip_len",
        "1500",
        "ip_len ip_capture_len payload_len",
        "1500 40 1460",
    ),
    (
        "ip_opt",
        "ssrr{1.0.0.1,^1.0.0.2}",
        "ip_opt ip_hl",
        "ssrr{1.0.0.1^1.0.0.2} 32",
    ),
    (
        "ip_opt",
        "rr{1.2.3.4}+2;nop;99=7:8",
        "ip_opt",
        "rr{1.2.3.4}+2;99=7:8",
    ),
    (
        "ip_opt",
        "lsrr{1.0.0.1,1.0.0.2}",
        "ip_opt",
        "lsrr{1.0.0.1,1.0.0.2^}",
    ),
    ("ip_opt", "ts{1,!2}+1++3", "ip_opt", "ts{1,!2}+1++3"),
    ("ip_opt", "ts{1.0.0.1=5}", "ip_opt", "ts.ip{1.0.0.1=5^}"),
    (
        "ip_opt",
        "ts{1.0.0.1=5^1.0.0.2}",
        "ip_opt",
        "ts.preip{1.0.0.1=5^1.0.0.2}",
    ),
    // TCP.
    (
        "sport dport",
        "65535 1",
        "sport dport ip_proto tcp_off",
        "65535 1 T 20",
    ),
    (
        "tcp_seq tcp_ack",
        "4294967295 7",
        "tcp_seq tcp_ack",
        "4294967295 7",
    ),
    ("tcp_flags", "SA", "tcp_flags", "SA"),
    ("tcp_flags", "AP", "tcp_flags", "PA"),
    ("tcp_flags", "NWX", "tcp_flags", "ECN"),
    ("tcp_flags", "2", "tcp_flags", "S"),
    ("tcp_flags", ".", "tcp_flags", "."),
    (
        "tcp_window tcp_urp",
        "1000 2",
        "tcp_window tcp_urp",
        "1000 2",
    ),
    ("tcp_off", "22", "tcp_off tcp_opt ip_len", "24 . 44"),
    (
        "tcp_opt",
        "mss1400;wscale10;sackok;ts1:2",
        "tcp_opt tcp_ntopt tcp_sack",
        "mss1400;wscale10;sackok;ts1:2 mss1400;wscale10;sackok sackok",
    ),
    (
        "tcp_opt",
        "sack1-2,sack3:4",
        "tcp_sack tcp_off",
        "sack1-2;sack3-4 40",
    ),
    ("tcp_ntopt", "mss1", "tcp_opt", "mss1"),
    // The later in the order of fields replaces the earlier; the header stays as long as it was.
    (
        "tcp_sack tcp_opt",
        "sack1-2 mss1",
        "tcp_opt tcp_off",
        "mss1 32",
    ),
    ("tcp_sack", "sack1-2", "tcp_opt", "sack1-2"),
    ("tcp_opt", "ts1:2", "tcp_ntopt tcp_off", ". 32"),
    // UDP.
    (
        "proto sport payload",
        "U 9 \"abc\"",
        "udp_len ip_len payload_len",
        "11 31 3",
    ),
    ("proto udp_len", "U 99", "udp_len sport", "99 0"),
    // ICMP.
    (
        "proto icmp_type icmp_flowid icmp_seq",
        "I echo 5 6",
        "icmp_type icmp_flowid icmp_seq",
        "8 5 6",
    ),
    (
        "proto icmp_type icmp_code icmp_nextmtu",
        "I unreachable needfrag 1400",
        "icmp_type_name icmp_code_name icmp_code icmp_nextmtu icmp_seq",
        "unreachable needfrag 4 1400 -",
    ),
    (
        "proto icmp_type_name icmp_code_name",
        "I redirect host",
        "icmp_type icmp_code ip_len",
        "5 1 28",
    ),
    (
        "proto icmp_type",
        "I timestamp-reply",
        "icmp_type ip_len",
        "14 40",
    ),
    ("icmp_type", "8", "icmp_type ip_proto", "- T"),
    // Payload.
    (
        "payload",
        "\"a \\\"b\\\"\\n\\001$\"",
        "payload payload_len ip_len payload_md5_hex",
        "\"a \\\"b\\\"\\n\\001\\$\" 8 48 ",
    ),
    (
        "payload",
        "\"\"",
        "payload payload_md5",
        "\"\" u3bJz@iaYsq6aMaMSJVq_b",
    ),
    (
        "payload_len",
        "100",
        "ip_len payload_len wire_len payload",
        "140 100 40 -",
    ),
];

#[test]
fn each_field_goes_in_and_out() {
    for (inward, text, outward, expected) in CASES {
        let out = through(inward, text, outward);
        // A digest cannot be written by hand: the case ends where it begins.
        if expected.ends_with(' ') {
            assert_eq!(out.len(), expected.len() + 32, "{inward}: {out}");
            assert!(out.starts_with(expected), "{inward}: {out}");
        } else {
            assert_eq!(&out, expected, "{inward} {text}");
        }
    }
    for name in fields::all() {
        assert!(
            CASES
                .iter()
                .any(|(_, _, outward, _)| fields_of(outward).has(name)),
            "{name} has no case"
        );
    }
}

#[test]
fn values_that_do_not_fit_are_left_out() {
    let lines = "70000 1.2.3 300 mss70000 Q\n- - - - 4096\n5 1.2.3.4 1 mss5 S";
    let (pool, packets, complaints) = read(&format!(
        "!data sport ip_src ip_ttl tcp_opt tcp_flags\n{lines}\n"
    ));
    assert_eq!(complaints, ["2: packet parse error"]);
    assert_eq!(packets.len(), 1);
    assert_eq!(
        line(&pool[&packets[0]], "sport ip_src ip_ttl tcp_opt"),
        "5 1.2.3.4 1 mss5"
    );
}

#[test]
fn lengths_and_checksums_are_filled_in() {
    let options = reader::Options {
        checksum: true,
        ..reader::Options::default()
    };
    let dump = b"!data src dst proto sport ip_len ip_opt\n1.2.3.4 5.6.7.8 T 9 100 .\n\
        1.2.3.4 5.6.7.8 U 9 100 .\n1.2.3.4 5.6.7.8 I - 100 rr{}+1\n\
        1.2.3.4 5.6.7.8 T 9 100 ssrr{1.1.1.1^9.9.9.9}\n";
    let (pool, packets, complaints) = read_with(dump, options);
    assert!(complaints.is_empty(), "{complaints:?}");
    for (packet, dst) in packets
        .iter()
        .zip([[5, 6, 7, 8], [5, 6, 7, 8], [0; 4], [9; 4]])
    {
        let data = pool[packet].data();
        assert_eq!(data.len(), 100);
        let ip = Ipv4::read(data).unwrap();
        assert_eq!(checksum(&data[..ip.header_len()]), 0);
        let segment = &data[ip.header_len()..];
        let sum = match ip.protocol {
            1 => Sum::ZERO,
            protocol => Sum::ZERO.pseudo_v4(ip.src, dst, protocol, segment.len() as u16),
        };
        assert_eq!(sum.bytes(segment).checksum(), 0, "protocol {}", ip.protocol);
        assert_eq!(pool[packet].anno_bytes::<4>(anno::DST_IP), [5, 6, 7, 8]);
    }
}

#[test]
fn packets_shorter_than_their_length_have_the_rest_in_an_annotation() {
    let (pool, packets, _) = read("!data ip_src ip_len\n1.2.3.4 1000\n");
    let packet = &pool[&packets[0]];
    assert_eq!(
        (packet.len(), packet.anno_u32(anno::EXTRA_LENGTH)),
        (40, 960)
    );
    let options = writer::Options {
        bad_packets: true,
        extra_length: false,
        ..Default::default()
    };
    let writer = Writer::new(fields_of("ip_len"), options).unwrap();
    let mut out = Vec::new();
    writer.packet(packet, &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "1000\n");
}

#[test]
fn lines_of_the_dump_are_obeyed() {
    let dump = "!IPSummaryDump 1.0\n!creator \"me\"\n# a comment\n\n!data ip_fragoff\n2+\n\
        !proto udp\n\
        !flowid 1.2.3.4 5 6.7.8.9 10\n!contents ip_ttl\n7\n!flowid - - 9.9.9.9 80 T\n!host x\n8\n\
        !proto nonsense\n!flowid 1 2\n9\n";
    let (pool, packets, complaints) = read(dump);
    let all: Vec<_> = packets
        .iter()
        .map(|packet| {
            line(
                &pool[packet],
                "ip_src sport ip_dst dport ip_proto ip_ttl ip_fragoff",
            )
        })
        .collect();
    // Version 1.0 counts eight bytes.
    assert_eq!(all[0], "0.0.0.0 - 0.0.0.0 - T 100 16+");
    assert_eq!(all[1], "1.2.3.4 5 6.7.8.9 10 U 7 0");
    assert_eq!(all[2], "0.0.0.0 0 9.9.9.9 80 T 8 0");
    assert_eq!(all[3], "0.0.0.0 0 0.0.0.0 0 T 9 0");
    assert_eq!(
        complaints,
        [
            "14: bad protocol in !proto",
            "15: bad !flowid specification"
        ]
    );
}

#[test]
fn what_is_wrong_with_a_dump_is_told_once() {
    let told = |dump: &str| read(dump).2;
    assert_eq!(
        told("1.2.3.4\n5.6.7.8\n"),
        [
            "1: missing banner line; is this an IP summary dump?",
            "1: no '!data' provided"
        ]
    );
    assert_eq!(
        told("!IPSummaryDump 2.7\n"),
        ["1: unexpected IPSummaryDump version 2.7"]
    );
    assert_eq!(
        told("!data src colour payload_md5\n1.2.3.4 red x\n"),
        [
            "1: unknown content type 'colour'",
            "1: unknown content type 'payload_md5'"
        ]
    );
    assert_eq!(told("!data\n"), ["1: no contents specified"]);
}

#[test]
fn a_full_pool_is_not_the_end_of_a_dump() {
    let mut pool = Pool::new(1, 1);
    let mut reader = Reader::new(reader::Options::default());
    let mut from = &b"!data ip_ttl\n1\n2\n3\n"[..];
    reader.begin(&mut from).unwrap();
    let first = reader.next(&mut from, &mut pool).unwrap().unwrap();
    let error = reader.next(&mut from, &mut pool).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::OutOfMemory);
    pool.free(first);
    let third = reader.next(&mut from, &mut pool).unwrap().unwrap();
    assert_eq!(line(&pool[&third], "ip_ttl"), "3");
    assert!(reader.next(&mut from, &mut pool).unwrap().is_none());
}

#[test]
fn the_head_names_the_fields() {
    let options = writer::Options::default();
    let writer = Writer::new(fields_of("ts ntimestamp src"), options).unwrap();
    let mut out = Vec::new();
    writer.header("a \"b\"", "!host here\n", &mut out);
    writer.note("remark", &mut out);
    let expected = "!IPSummaryDump 1.3\n!creator \"a \\\"b\\\"\"\n!host here\n\
        !data timestamp timestamp ip_src\n#remark\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    let options = writer::Options {
        is_binary: true,
        ..Default::default()
    };
    assert_eq!(
        Writer::new(fields_of("src payload"), options).unwrap_err(),
        ["payload"]
    );
}

/// A packet of `data` whose network header is at `at`.
fn packet(data: &[u8], at: usize) -> (Pool, Handle) {
    let mut pool = Pool::new(1, 1);
    let handle = pool.alloc_with(data).unwrap();
    let packet = &mut pool[&handle];
    packet.set_mac_header(0);
    packet.set_network_header(at as isize);
    let header_len = data.get(at).map_or(0, |byte| usize::from(byte & 15) * 4);
    packet.set_transport_header((at + header_len) as isize);
    (pool, handle)
}

#[test]
fn what_is_bad_is_said_before_the_packet() {
    let whole = [
        0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 9, 0, 80, 0, 0, 0, 0,
        0, 0, 0, 0, 0x50, 2, 0, 0, 0, 0, 0, 0,
    ];
    let bad = |change: &[(usize, u8)], len: usize, names: &str| {
        let mut data = whole.to_vec();
        for (at, byte) in change {
            data[*at] = *byte;
        }
        data.truncate(len);
        let (pool, handle) = packet(&data, 0);
        let options = writer::Options {
            bad_packets: true,
            ..Default::default()
        };
        let mut out = Vec::new();
        Writer::new(fields_of(names), options)
            .unwrap()
            .packet(&pool[&handle], &mut out);
        String::from_utf8(out).unwrap()
    };
    assert_eq!(bad(&[], 40, "sport tcp_flags"), "9 S\n");
    assert_eq!(bad(&[(0, 0x65)], 40, "sport"), "!bad IP version 6\n-\n");
    assert_eq!(bad(&[(0, 0x44)], 40, "src"), "!bad IP header length 4\n-\n");
    assert_eq!(bad(&[(3, 19)], 40, "src"), "!bad IP length 19\n-\n");
    assert_eq!(bad(&[], 3, "src"), "!bad truncated IP header\n-\n");
    assert_eq!(
        bad(&[], 30, "sport tcp_urp"),
        "!bad truncated IP missing 10\n9 -\n"
    );
    assert_eq!(
        bad(&[(32, 0x40)], 40, "sport tcp_seq"),
        "!bad TCP header length 4\n9 -\n"
    );
    assert_eq!(bad(&[(9, 17)], 40, "tcp_seq sport"), "- 9\n");
    assert_eq!(
        bad(&[(7, 1)], 40, "tcp_seq"),
        "!bad fragmented TCP header\n-\n"
    );
    assert_eq!(
        bad(&[(3, 30)], 40, "tcp_seq tcp_ack"),
        "!bad truncated TCP header\n0 -\n"
    );
    assert_eq!(bad(&[], 40, "eth_src"), "!bad Ethernet header\n-\n");
}

#[test]
fn stripped_headers_and_padding() {
    let (mut pool, packets, _) =
        read("!data eth_src ip_src proto payload\n1:2:3:4:5:6 1.2.3.4 U \"hi\"\n");
    let packet = &mut pool[&packets[0]];
    packet.put(9);
    packet.pull(14);
    let names = "eth_src ip_src udp_len payload payload_len ip_capture_len wire_len";
    assert_eq!(
        line(packet, names),
        "01-02-03-04-05-06 1.2.3.4 10 \"hi\" 2 30 39"
    );
    packet.pull(28);
    assert_eq!(line(packet, "ip_src payload"), "1.2.3.4 \"hi\"");
}

/// Fields that make and show whole packets, for going there and back.
fn dump_line() -> impl Strategy<Value = String> {
    let address = any::<[u8; 4]>().prop_map(|[a, b, c, d]| format!("{a}.{b}.{c}.{d}"));
    let transport = prop_oneof![
        (any::<u16>(), any::<u16>(), any::<u32>(), 0_u16..0x200).prop_map(
            |(sport, dport, seq, flags)| {
                let letters: String = "FSRPAUECN"
                    .chars()
                    .enumerate()
                    .filter(|(bit, _)| flags >> bit & 1 != 0)
                    .map(|(_, letter)| letter)
                    .collect();
                let letters = match letters.as_str() {
                    "" => ".",
                    all => all,
                };
                format!("T {sport} {dport} {seq} {letters} mss{sport};sack{seq}-7 - - -")
            }
        ),
        (any::<u16>(), any::<u16>())
            .prop_map(|(sport, dport)| format!("U {sport} {dport} - - - - - -")),
        (any::<u16>(), any::<u16>()).prop_map(|(id, seq)| format!("I - - - - - 8 {id} {seq}")),
    ];
    let payload = prop::collection::vec(any::<u8>(), 0..40).prop_map(|bytes| {
        let escapes: Vec<_> = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
        escapes.concat()
    });
    let rest = (
        0_u32..2_000_000_000,
        0_u32..1_000_000,
        any::<u8>(),
        any::<u16>(),
    );
    (rest, address.clone(), address, transport, payload).prop_map(
        |((secs, us, ttl, id), src, dst, transport, payload)| {
            format!("{secs}.{us:06} {src} {dst} {ttl} {id} {transport} \"{payload}\"")
        },
    )
}

const WHOLE: &str = "timestamp ip_src ip_dst ip_ttl ip_id ip_proto sport dport tcp_seq tcp_flags \
    tcp_opt \
    icmp_type icmp_flowid icmp_seq payload";

proptest! {
    #[test]
    fn a_packet_survives_its_own_line(text in dump_line()) {
        // ICMP's payload begins with its header, which the other fields tell as well.
        let is_icmp = text.contains(" I ");
        let names = if is_icmp { WHOLE.replace(" payload", "") } else { WHOLE.to_owned() };
        let (pool, packets, _) = read(&format!("!data {names}\n{text}\n"));
        let first = line(&pool[&packets[0]], &names);
        let (again, packets_again, _) = read(&format!("!data {names}\n{first}\n"));
        prop_assert_eq!(pool[&packets[0]].data(), again[&packets_again[0]].data());
        prop_assert_eq!(line(&again[&packets_again[0]], &names), first);
    }

    #[test]
    fn a_packet_survives_its_own_record(texts in prop::collection::vec(dump_line(), 1..4)) {
        let names = WHOLE.replace(" payload", " ntimestamp ip_frag ip_fragoff ip_opt payload_len");
        let (pool, packets, _) = read(&format!("!data {WHOLE}\n{}\n", texts.join("\n")));
        let options = writer::Options { is_binary: true, ..Default::default() };
        let writer = Writer::new(fields_of(&names), options).unwrap();
        let mut dump = Vec::new();
        writer.header("", "", &mut dump);
        writer.line(b"!proto U\n", &mut dump);
        for packet in &packets {
            writer.packet(&pool[packet], &mut dump);
        }
        let (again, packets_again, complaints) = read_with(&dump, reader::Options::default());
        prop_assert!(complaints.is_empty(), "{:?}", complaints);
        prop_assert_eq!(packets.len(), packets_again.len());
        for (a, b) in packets.iter().zip(&packets_again) {
            // Binary records have eight flags of TCP.
            let names = names.replace("tcp_flags ", "");
            prop_assert_eq!(line(&pool[a], &names), line(&again[b], &names));
        }
    }

    /// Whatever the bytes, every field prints something, in text and binary.
    #[test]
    fn bytes_that_lie(
        mut data in prop::collection::vec(any::<u8>(), 0..120), at in 0_usize..40, is_ip in 0..4_u8,
        stripped in 0_usize..60, protocol in 0_usize..4,
    ) {
        if is_ip > 0 && data.len() > at + 10 {
            data[at] = 0x40 | data[at] & 15;
            data[at + 2] = 0;
            data[at + 6] = 0;
            data[at + 7] = 0;
            data[at + 9] = [1, 6, 17, 33][protocol];
        }
        let (mut pool, handle) = packet(&data, at);
        pool[&handle].pull(stripped);
        let names: Vec<_> = fields::all().collect();
        let out = line(&pool[&handle], &names.join(" "));
        let out = String::from_utf8(out.into_bytes()).unwrap();
        prop_assert!(out.split(' ').count() >= names.len(), "{}", out);
        let names: Vec<_> = names.into_iter().filter(|name| *name != "payload").collect();
        let options = writer::Options { is_binary: true, bad_packets: true, ..Default::default() };
        let writer = Writer::new(fields_of(&names.join(" ")), options);
        writer.unwrap().packet(&pool[&handle], &mut Vec::new());
    }

    /// Whatever the lines, reading ends, and what was made can be written.
    #[test]
    fn lines_that_lie(
        text in "[-!0-9a-z .{}=^+:;,\"\\\\\n]{0,200}",
        order in any::<prop::sample::Index>(),
        binary: bool,
        more: Vec<u8>,
    ) {
        let names: Vec<_> = fields::all().collect();
        let (front, back) = names.split_at(order.index(names.len()));
        let names = [back, front].concat().join(" ");
        let mark = if binary { "!binary\n" } else { "" };
        let dump = [format!("!data {names}\n{mark}{text}").as_bytes(), &more].concat();
        let options = reader::Options { checksum: binary, ..reader::Options::default() };
        let (pool, packets, _) = read_with(&dump, options);
        for packet in &packets {
            line(&pool[packet], &names);
        }
    }

    /// Values that are right each for itself, in every combination.
    #[test]
    fn fields_in_any_combination(
        order in any::<prop::sample::Index>(),
        picks in prop::collection::vec(any::<u16>(), 45),
        checksum: bool,
    ) {
        const VALUES: &[&str] = &[
            "-", "0", "5", "60", "255", "65535", "4294967295", "T", "U", "I", "f", "F+", "1.2.3.4",
            "1:2:3:4:5:6", "0806", "rr{1.2.3.4}+5", "ts{1}++5", "mss5;ts1:2", "sack1-2",
            "\"payload\"", "\"\"", "unreachable",
            "needfrag", "13",
        ];
        let names: Vec<_> = fields::all().filter(|name| !name.starts_with("payload_md5")).collect();
        let value = |pick: &u16| VALUES[usize::from(*pick) % VALUES.len()];
        let values: Vec<_> = names.iter().zip(&picks).map(|(_, pick)| value(pick)).collect();
        let turn = order.index(values.len());
        let names = [&names[turn..], &names[..turn]].concat();
        let names = &names[..values.len()];
        let dump = format!("!data {}\n{}\n", names.join(" "), values.join(" "));
        let options = reader::Options { checksum, ..Default::default() };
        let (pool, packets, _) = read_with(dump.as_bytes(), options);
        for packet in &packets {
            line(&pool[packet], &fields::all().collect::<Vec<_>>().join(" "));
        }
    }
}
