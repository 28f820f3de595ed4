//! TAP and TUN against the kernel's own stack.

mod common;

use common::{has, or_skip, receive_until, send};
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_io::error::Error;
use trammel_io::netns::Namespace;
use trammel_io::tap::{Options, Tap};
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

/// A namespace whose kernel has 10.0.0.1 at interface `t` and believes 10.0.0.2 behind it.
fn tap(options: Options) -> Option<(Namespace, Tap)> {
    let namespace = or_skip(Namespace::new())?;
    let tap = or_skip(namespace.run(|| Tap::open("t%d", &options)))?;
    assert_eq!(tap.name(), "t0");
    namespace.set_up("t0", true).unwrap();
    namespace.add_address("t0", "10.0.0.1/24").unwrap();
    if !options.is_tun {
        namespace
            .add_neighbour("t0", "10.0.0.2", [2, 0, 0, 0, 0, 2])
            .unwrap();
    }
    Some((namespace, tap))
}

/// The payload of a UDP packet in a frame whose IP header starts at `network`.
fn payload(frame: &[u8], network: usize) -> Option<&[u8]> {
    (frame.get(network)? == &0x45 && frame[network + 9] == 17).then(|| &frame[network + 28..])
}

fn carries(options: Options) {
    let network = if options.is_tun { 0 } else { 14 };
    let Some((namespace, mut tap)) = tap(options) else {
        return;
    };
    assert_eq!(tap.mac().is_some(), !options.is_tun);
    let mut pool = Pool::new(256, 256);
    let socket = namespace.run(|| UdpSocket::bind("10.0.0.1:0")).unwrap();
    let sizes = [1, 64, 1472];
    for size in sizes {
        socket
            .send_to(&vec![size as u8; size], "10.0.0.2:9")
            .unwrap();
    }
    let datagrams = |came: &[Vec<u8>]| {
        came.iter()
            .filter(|frame| payload(frame, network).is_some())
            .count()
    };
    let came = receive_until(&mut tap, &mut pool, |came| datagrams(came) >= 3);
    let mut answers: Vec<Vec<u8>> = came
        .into_iter()
        .filter(|frame| payload(frame, network).is_some())
        .collect();
    for (frame, size) in answers.iter_mut().zip(sizes) {
        assert_eq!(payload(frame, network), Some(&vec![size as u8; size][..]));
        // Back to where it came from: addresses and ports change places, the checksums stay right.
        if network > 0 {
            frame[..12].rotate_left(6);
        }
        frame[network + 12..network + 20].rotate_left(4);
        frame[network + 20..network + 24].rotate_left(2);
    }
    send(&mut tap, &mut pool, &answers);
    socket.connect("10.0.0.2:9").unwrap();
    socket
        .set_read_timeout(Some(std::time::Duration::from_secs(20)))
        .unwrap();
    let mut buffer = [0; 2000];
    for size in sizes {
        assert_eq!(socket.recv(&mut buffer).unwrap(), size);
        assert!(buffer[..size].iter().all(|&byte| byte == size as u8));
    }
    assert_eq!(tap.counters().sent, 3);
    assert_eq!(tap.offloads().checksums > 0, options.has_offloads);
    assert_eq!(pool.in_use(), 0);
}

#[test]
fn tap_carries_frames_both_ways() {
    carries(Options::default());
}

#[test]
fn tap_with_offloads_computes_checksums() {
    carries(Options {
        has_offloads: true,
        ..Options::default()
    });
}

#[test]
fn tun_carries_packets_both_ways() {
    carries(Options {
        is_tun: true,
        has_offloads: false,
    });
}

#[test]
fn kernels_ping_through_two_taps() {
    if !has("ping") {
        return;
    }
    let (Some((left, a)), Some(right)) = (tap(Options::default()), or_skip(Namespace::new()))
    else {
        return;
    };
    let b = right.run(|| Tap::open("u", &Options::default())).unwrap();
    right.set_up("u", true).unwrap();
    right.set_mac("u", [2, 0, 0, 0, 0, 2]).unwrap();
    right.add_address("u", "10.0.0.2/24").unwrap();
    let mut ends: [Box<dyn Device>; 2] = [Box::new(a), Box::new(b)];
    let mut pool = Pool::new(256, 256);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| common::forward(&mut ends, &mut pool, || is_done.load(Ordering::Relaxed)));
        let pinged = left.command("ping", &["-c5", "-i0.002", "-s1400", "-W10", "10.0.0.2"]);
        is_done.store(true, Ordering::Relaxed);
        let said = String::from_utf8(pinged.unwrap().stdout).unwrap();
        assert!(said.contains(" 0% packet loss"), "{said}");
    });
}

#[test]
fn a_name_in_use_and_a_removed_interface_are_told() {
    let Some((namespace, mut tap)) = tap(Options::default()) else {
        return;
    };
    let error = namespace
        .run(|| Tap::open("t0", &Options::default()))
        .unwrap_err();
    assert!(
        matches!(&error, Error::Busy { name, .. } if name == "t0"),
        "{error}"
    );
    assert_eq!(error.mend().as_deref(), Some("ip link delete t0"));
    namespace.delete_link("t0").unwrap();
    let mut pool = Pool::new(16, 16);
    let error = tap.receive(&mut pool, &mut Packets::new()).unwrap_err();
    assert_eq!(error.to_string(), "no network interface `t0`");
}
