//! Behaviour of the rewriters: reversible, no two flows alike, checksums right, time and room as
//! promised.

use crate::load::testing::{errors, loaded};
use crate::probe::Probe;
use proptest::prelude::*;
use std::collections::BTreeMap;
use trammel_packet::headers::checksum::{Sum, checksum};
use trammel_packet::headers::ipv4;

const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP: u8 = 1;

/// Addresses and ports as they stand in a packet; of an echo the first port is the identifier.
type Ends = ([u8; 4], u16, [u8; 4], u16);

/// A packet with right checksums.
fn packet(protocol: u8, (src, sport, dst, dport): Ends, payload: &[u8]) -> Vec<u8> {
    let mut transport = match protocol {
        TCP => {
            let mut tcp = vec![0; 20];
            (tcp[12], tcp[13]) = (0x50, 0x10);
            tcp
        }
        UDP => vec![0; 8],
        _ => vec![8, 0, 0, 0, 0, 0, 0, 0],
    };
    let sum_at = match protocol {
        TCP => 16,
        UDP => 6,
        _ => 2,
    };
    if protocol == ICMP {
        transport[4..6].copy_from_slice(&sport.to_be_bytes());
    } else {
        transport[..2].copy_from_slice(&sport.to_be_bytes());
        transport[2..4].copy_from_slice(&dport.to_be_bytes());
    }
    transport.extend_from_slice(payload);
    if protocol == UDP {
        let len = transport.len() as u16;
        transport[4..6].copy_from_slice(&len.to_be_bytes());
    }
    let pseudo = Sum::ZERO.pseudo_v4(src, dst, protocol, transport.len() as u16);
    let start = if protocol == ICMP { Sum::ZERO } else { pseudo };
    let sum = match start.bytes(&transport).checksum() {
        0 if protocol == UDP => 0xFFFF,
        sum => sum,
    };
    transport[sum_at..sum_at + 2].copy_from_slice(&sum.to_be_bytes());
    let mut ip = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0];
    ip.extend_from_slice(&src);
    ip.extend_from_slice(&dst);
    ip.extend_from_slice(&transport);
    let len = ip.len() as u16;
    ip[2..4].copy_from_slice(&len.to_be_bytes());
    ipv4::set_checksum(&mut ip);
    ip
}

fn ends(ip: &[u8]) -> Ends {
    let port = |at: usize| u16::from_be_bytes([ip[at], ip[at + 1]]);
    let address = |at: usize| <[u8; 4]>::try_from(&ip[at..at + 4]).unwrap();
    if ip[9] == ICMP {
        (address(12), port(24), address(16), 0)
    } else {
        (address(12), port(20), address(16), port(22))
    }
}

/// Whether both checksums hold.
fn is_sound(ip: &[u8]) -> bool {
    let (header, transport) = ip.split_at(20);
    let address = |at: usize| <[u8; 4]>::try_from(&ip[at..at + 4]).unwrap();
    let pseudo = Sum::ZERO.pseudo_v4(address(12), address(16), ip[9], transport.len() as u16);
    let start = if ip[9] == ICMP { Sum::ZERO } else { pseudo };
    checksum(header) == 0 && start.bytes(transport).checksum() == 0
}

fn answer(protocol: u8, (src, sport, dst, dport): Ends) -> Vec<u8> {
    if protocol != ICMP {
        return packet(protocol, (dst, dport, src, sport), b"answer");
    }
    let mut reply = packet(ICMP, (dst, sport, src, 0), b"answer");
    (reply[20], reply[22], reply[23]) = (0, 0, 0);
    let sum = checksum(&reply[20..]);
    reply[22..24].copy_from_slice(&sum.to_be_bytes());
    reply
}

fn flows() -> impl Strategy<Value = Vec<(u8, u8, u16, u8, u16)>> {
    // Few hosts and ports, so that flows collide and ranges run out.
    prop::collection::vec(
        (0_u8..3, 1_u8..6, 1020_u16..1030, 1_u8..4, 1_u16..4),
        1..120,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_goes_out_comes_back_and_no_two_flows_are_one(
        flows in flows(),
        class in 0_usize..6,
        order in prop::sample::select(vec!["", "#", "?"]),
    ) {
        let (class, pattern, protocols) = [
            ("IPRewriter", format!("1.0.0.1 1024-1040{order} - -"), &[TCP, UDP][..]),
            ("TCPRewriter", format!("1.0.0.1 1024-1040{order} - -"), &[TCP]),
            ("UDPRewriter", format!("1.0.0.1 1024-1040{order} - -"), &[UDP]),
            ("ICMPPingRewriter", format!("1.0.0.1 1024-1040{order} - -"), &[ICMP]),
            ("IPAddrRewriter", format!("1.0.0.1-1.0.0.4{order} -"), &[TCP, UDP]),
            ("IPAddrPairRewriter", format!("1.0.0.1-1.0.0.4{order} -"), &[TCP, UDP]),
        ][class].clone();
        let mut probe = Probe::new(&format!("{class}(pattern {pattern} 0 1)"), 2);
        // What each translated flow was.
        let mut seen: BTreeMap<(u8, Ends), Ends> = BTreeMap::new();
        for (kind, host, sport, server, dport) in flows {
            let protocol = protocols[usize::from(kind) % protocols.len()];
            let dport = if protocol == ICMP { 0 } else { dport };
            let from: Ends = ([10, 0, 0, host], sport, [9, 0, 0, server], dport);
            let left = probe.send_ip(&packet(protocol, from, b"payload"));
            // The range may have run out: then nothing leaves.
            let [(0, out)] = left.as_slice() else {
                prop_assert!(left.is_empty());
                continue;
            };
            prop_assert!(is_sound(out));
            let to = ends(out);
            prop_assert_eq!(to.0[..3].to_vec(), vec![1, 0, 0]);
            let other = seen.insert((protocol, to), from);
            prop_assert!(other.is_none_or(|other| other == from), "{:?} is two flows", to);
            let back = probe.send_ip(&answer(protocol, to));
            prop_assert_eq!(back.len(), 1);
            prop_assert_eq!(back[0].0, 1);
            prop_assert!(is_sound(&back[0].1));
            prop_assert_eq!(&back[0].1, &answer(protocol, from));
        }
        // Every one of them is still known at the end.
        for ((protocol, to), from) in seen {
            let back = probe.send_ip(&answer(protocol, to));
            prop_assert_eq!(back, vec![(1, answer(protocol, from))]);
        }
        prop_assert_eq!(probe.held(), 0);
    }

    #[test]
    fn no_bytes_are_trouble(data: Vec<u8>, class in 0_usize..7) {
        let declaration = [
            "IPRewriter(keep 0 1)",
            "TCPRewriter(keep 0 1)",
            "UDPRewriter(pattern 1.0.0.1 1-9 - - 0 1)",
            "IPAddrRewriter(pattern 1.0.0.1-1.0.0.9 - 0 1)",
            "IPAddrPairRewriter(keep 0 1)",
            "ICMPPingRewriter(pattern 1.0.0.1 1-9 - - 0 1)",
            "ICMPRewriter(r); r :: IPRewriter(keep 0 0); Idle -> r -> Idle",
        ][class];
        let mut probe = Probe::new(declaration, 2);
        let mut ip = packet([TCP, UDP, ICMP][data.len() % 3], ([1; 4], 1, [2; 4], 2), &data);
        let keep = data.first().map_or(0, |byte| usize::from(*byte)).min(ip.len());
        probe.send_ip(&ip);
        probe.send_ip(&data);
        for (at, byte) in data.iter().enumerate() {
            let place = at * 7 % ip.len();
            ip[place] ^= byte;
        }
        probe.send_ip(&ip);
        probe.send_ip(&ip[..keep]);
        prop_assert_eq!(probe.held(), 0);
    }
}

fn tcp(host: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut ip = packet(TCP, ([10, 0, 0, host], 5, [9; 4], 80), payload);
    ip[33] = flags;
    ip
}

#[test]
fn a_full_table_ends_what_nobody_was_promised() {
    let pattern = "pattern 1.0.0.1 1024-65535# - - 0 1";
    let config = format!("UDPRewriter({pattern}, MAPPING_CAPACITY 2, GUARANTEE 0)");
    let mut probe = Probe::new(&config, 2);
    for host in 1..=3 {
        let from = ([10, 0, 0, host], 5, [9; 4], 80);
        assert_eq!(probe.send_ip(&packet(UDP, from, b"")).len(), 1);
    }
    assert_eq!(probe.run.read("x.size"), "2");
    let guarded = format!("UDPRewriter({pattern}, MAPPING_CAPACITY 2)");
    let mut probe = Probe::new(&guarded, 2);
    for (host, left) in [(1, 1), (2, 1), (3, 0)] {
        let from = ([10, 0, 0, host], 5, [9; 4], 80);
        assert_eq!(probe.send_ip(&packet(UDP, from, b"")).len(), left);
    }
    assert_eq!(probe.run.read("x.mapping_failures"), "1");
    assert_eq!(probe.run.read("x.table_size"), "2");
}

#[test]
fn the_table_tells_mappings_outputs_input_and_time() {
    let mut probe = Probe::new("IPRewriter(pattern 1.0.0.1 1024-65535# - - 0 1)", 2);
    probe.send_ip(&tcp(1, 0x10, b"x"));
    assert_eq!(
        probe.run.read("x.tcp_table"),
        "(10.0.0.1, 5, 9.9.9.9, 80) => (1.0.0.1, 1024, 9.9.9.9, 80) [*0 1] i0 exp300\n\
         (9.9.9.9, 80, 1.0.0.1, 1024) => (9.9.9.9, 80, 10.0.0.1, 5) [0 *1] i0 exp300\n"
    );
    assert_eq!(probe.run.read("x.udp_table"), "");
    assert_eq!(probe.run.read("x.patterns"), "1.0.0.1 1024-65535 - - [1]\n");
    let answer = answer(TCP, ([1, 0, 0, 1], 1024, [9; 4], 80));
    probe.send_ip(&answer);
    assert!(probe.run.read("x.tcp_table").contains("exp86400"));
    probe.run.write("x.clear", "").unwrap();
    assert_eq!(probe.run.read("x.table_size"), "0");
}

#[test]
fn a_new_pattern_ends_the_old_ones_mappings() {
    let mut probe = Probe::new("IPRewriter(pattern 1.0.0.1 1024-65535# - - 0 1)", 2);
    probe.send_ip(&tcp(1, 0x10, b""));
    probe
        .run
        .write("x.pattern0", "pattern 1.0.0.2 - - - 0 1")
        .unwrap();
    assert_eq!(probe.run.read("x.size"), "0");
    let left = probe.send_ip(&tcp(1, 0x10, b""));
    assert_eq!(ends(&left[0].1), ([1, 0, 0, 2], 5, [9; 4], 80));
    let refused = probe
        .run
        .write("x.pattern0", "pattern 1.0.0.2 70000 - - 0 1");
    assert_eq!(refused, Err("input spec 0: bad source port".into()));
}

#[test]
fn what_is_wrong_is_said_in_clicks_words() {
    for (spec, said) in [
        ("foo", "input spec 0: unknown specification"),
        ("d", "input spec 0: element is not an IPMapper"),
        ("pass 4", "input spec 0: output port out of range"),
        (
            "pass x",
            "input spec 0: syntax error, expected 'nochange [OUTPUT]'",
        ),
        ("keep x 0", "input spec 0: bad forward port"),
        ("keep 0 x", "input spec 0: bad reply port"),
        ("drop 0", "input spec 0: syntax error, expected 'drop'"),
        ("pattern foo 0 0", "input spec 0: no such pattern 'foo'"),
        ("pattern 0 0", "input spec 0: syntax error"),
        (
            "pattern 1.0.0.1 2 0 0",
            "input spec 0: bad destination address",
        ),
        (
            "pattern 1.0.0.1 9-3 - - 0 0",
            "input spec 0: bad source port",
        ),
        ("drop, MAPPING_CAPACITY d", "bad MAPPING_CAPACITY"),
        ("drop, drop", "need 1 arguments, one per input port"),
    ] {
        let config = format!("rw :: IPRewriter({spec}); Idle -> rw -> d :: Discard");
        let expected = format!(
            "config:1: While configuring 'rw :: IPRewriter':\n  {said}\n\
             Router could not be initialized!\n"
        );
        assert_eq!(errors(&config), expected);
    }
}

#[test]
fn rewriters_that_share_a_capacity_share_it_wholly() {
    let mut run = loaded(
        "a :: UDPRewriter(keep 0 0, MAPPING_CAPACITY b); \
         b :: UDPRewriter(keep 0 0, MAPPING_CAPACITY 7);
         Idle -> a -> Idle; Idle -> b -> Idle",
    );
    assert_eq!(run.read("a.capacity"), "7");
    run.write("a.capacity", "9").unwrap();
    assert_eq!(run.read("b.capacity"), "9");
}

/// Passes a packet through the element called `name`.
fn through(run: &mut crate::load::testing::Run, name: &str, data: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let element = run.ctx.find(name, None).expect("it was declared");
    let handle = run.ctx.pool().alloc_with(data).expect("room");
    crate::headers::ip_packet::mark(&mut run.ctx.pool()[&handle], 0);
    let mut left = Vec::new();
    for (port, handle) in run.ctx.pass(element, vec![handle]) {
        left.push((port, run.ctx.pool()[&handle].data().to_vec()));
        run.ctx.pool().free(handle);
    }
    left
}

#[test]
fn an_error_goes_back_to_the_one_who_sent_the_packet() {
    for (class, protocol) in [
        ("UDPRewriter", UDP),
        ("TCPRewriter", TCP),
        ("ICMPPingRewriter", ICMP),
    ] {
        let mut run = loaded(&format!(
            "r :: {class}(pattern 1.0.0.1 1024-65535# - - 0 0); Idle -> r -> Idle;
             e :: ICMPRewriter(r); Idle -> e -> Idle; e[1] -> Idle"
        ));
        let from = (
            [10, 0, 0, 1],
            5,
            [9; 4],
            if protocol == ICMP { 0 } else { 80 },
        );
        let before = packet(protocol, from, b"question");
        let after = through(&mut run, "r", &before)[0].1.clone();
        assert_ne!(after, before);
        let error = |to: [u8; 4], quoted: &[u8]| {
            let mut error = packet(ICMP, ([7; 4], 0, to, 0), quoted);
            (error[20], error[21]) = (11, 0);
            (error[22], error[23]) = (0, 0);
            let sum = checksum(&error[20..]);
            error[22..24].copy_from_slice(&sum.to_be_bytes());
            error
        };
        let told = through(&mut run, "e", &error([1, 0, 0, 1], &after));
        assert_eq!(told, [(0, error([10, 0, 0, 1], &before))], "{class}");
        // Whoever quotes what nobody sent is not translated.
        let unknown = error(
            [1, 0, 0, 1],
            &packet(UDP, ([1, 0, 0, 1], 9, [9; 4], 9), b""),
        );
        assert_eq!(through(&mut run, "e", &unknown), [(1, unknown.clone())]);
    }
}

/// A segment of FTP's control connection.
fn segment(from: Ends, numbers: (u32, u32), payload: &[u8]) -> Vec<u8> {
    let mut ip = packet(TCP, from, payload);
    ip[24..28].copy_from_slice(&numbers.0.to_be_bytes());
    ip[28..32].copy_from_slice(&numbers.1.to_be_bytes());
    (ip[36], ip[37]) = (0, 0);
    let pseudo = Sum::ZERO.pseudo_v4(from.0, from.2, TCP, (ip.len() - 20) as u16);
    let sum = pseudo.bytes(&ip[20..]).checksum();
    ip[36..38].copy_from_slice(&sum.to_be_bytes());
    ip
}

#[test]
fn a_port_command_is_translated_and_sequence_numbers_follow() {
    let mut run = loaded(
        "IPRewriterPatterns(out 1.0.0.1 1024-65535# - -);
         rw :: TCPRewriter(pattern out 0 0); f :: FTPPortMapper(rw, rw, 0); Idle -> f -> rw \
         -> Idle",
    );
    let mut both = |data: &[u8]| {
        let mapped = through(&mut run, "f", data)[0].1.clone();
        through(&mut run, "rw", &mapped)[0].1.clone()
    };
    let (client, outside): (Ends, Ends) = (
        ([200, 200, 200, 200], 30, [2, 0, 0, 2], 21),
        ([1, 0, 0, 1], 1024, [2, 0, 0, 2], 21),
    );
    let back = |to: Ends| (to.2, to.3, to.0, to.1);
    assert_eq!(
        both(&segment(client, (0, 0), b"x")),
        segment(outside, (0, 0), b"x")
    );
    let command = b"PORT 200,200,200,200,200,200\n";
    let translated = b"PORT 1,0,0,1,4,1\n";
    assert_eq!(
        both(&segment(client, (1, 0), command)),
        segment(outside, (1, 0), translated)
    );
    // A retransmission is the same again.
    assert_eq!(
        both(&segment(client, (1, 0), command)),
        segment(outside, (1, 0), translated)
    );
    let shorter = (command.len() - translated.len()) as u32;
    let after = 1 + command.len() as u32;
    assert_eq!(
        both(&segment(client, (after, 0), b"more")),
        segment(outside, (after - shorter, 0), b"more")
    );
    assert_eq!(
        both(&segment(back(outside), (0, after - shorter), b"")),
        segment(back(client), (0, after), b"")
    );
    assert_eq!(
        both(&segment(back(outside), (0, 1), b"")),
        segment(back(client), (0, 1), b"")
    );
    let lookup = run.ctx.find_handler("rw.lookup", None).unwrap();
    assert_eq!(
        run.ctx
            .read_handler(&lookup, "200.200.200.200 51400 2.0.0.2 20"),
        Ok("1.0.0.1 1025 2.0.0.2 20".into())
    );
    assert!(run.read("rw.table").contains("seq -12"));
}

#[test]
fn a_mapper_takes_its_patterns_in_turn() {
    let mut probe = Probe::new(
        "IPRewriter(m); m :: RoundRobinIPMapper(- - - - 0 0, - - - - 1 0)",
        2,
    );
    let out = |probe: &mut Probe, host| probe.send_ip(&tcp(host, 0x10, b""))[0].0;
    assert_eq!(
        [1, 2, 1, 3, 2].map(|host| out(&mut probe, host)),
        [0, 1, 0, 0, 1]
    );
}

#[test]
fn a_source_keeps_its_server_when_another_is_added() {
    let servers = |count: u8| {
        let all: Vec<String> = (1..=count)
            .map(|id| format!("- - 9.9.9.{id} - 0 0 {id}"))
            .collect();
        Probe::new(
            &format!(
                "IPRewriter(m); m :: SourceIPHashMapper(200 7, {})",
                all.join(", ")
            ),
            1,
        )
    };
    let (mut few, mut more) = (servers(4), servers(5));
    let (mut moved, mut used) = (0, [0; 6]);
    for host in 0..200 {
        let server = |probe: &mut Probe| probe.send_ip(&tcp(host, 0x10, b""))[0].1[19];
        let (before, after) = (server(&mut few), server(&mut more));
        used[usize::from(after)] += 1;
        if before != after {
            assert_eq!(after, 5);
            moved += 1;
        }
    }
    // A fifth of them is expected to move.
    assert!((20..60).contains(&moved), "{moved}");
    assert!(used[1..].iter().all(|count| *count > 15), "{used:?}");
}

#[test]
fn a_mapping_is_made_by_hand() {
    let mut probe = Probe::new("IPRewriter(drop)", 2);
    let packet = tcp(7, 0x10, b"");
    assert_eq!(probe.send_ip(&packet), []);
    let port = |at: usize| u16::from_be_bytes([packet[20 + at], packet[21 + at]]);
    let address = |at: usize| {
        std::net::Ipv4Addr::from([packet[at], packet[at + 1], packet[at + 2], packet[at + 3]])
    };
    let flow = format!("{} {} {} {}", address(12), port(0), address(16), port(2));
    let wish = format!("tcp {flow} 9.9.9.9 99 {} {} 1 0", address(16), port(2));
    probe.run.write("x.add_mapping", &wish).expect("it is free");
    let left = probe.send_ip(&packet);
    assert_eq!(
        (left[0].0, &left[0].1[12..16], &left[0].1[20..22]),
        (1, &[9, 9, 9, 9][..], &[0, 99][..])
    );
    let sum = crate::headers::ip_packet::transport_sum(&left[0].1);
    assert_eq!(sum.map(Sum::checksum), Some(0));
    assert!(
        probe
            .run
            .write("x.add_mapping", &wish)
            .unwrap_err()
            .contains("already")
    );
    let wrong = format!("tcp {flow} 9.9.9.9 99 1.1.1.1 7 5 0");
    assert!(
        probe
            .run
            .write("x.add_mapping", &wrong)
            .unwrap_err()
            .contains("no such output")
    );
    assert!(
        probe
            .run
            .write("x.add_mapping", "tcp 1.1.1.1")
            .unwrap_err()
            .contains("expected")
    );
}
