//! Devices over real interfaces: what is sent arrives byte for byte, by every method and both ways.

mod common;

use common::{forward, frame, has, or_skip, receive_until, send, wire};
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::afxdp::{self, AfXdp};
use trammel_io::error::{Error, Result};
use trammel_io::netns::{Namespace, veth};
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

/// A way to open an interface.
type Method = fn(&Namespace, &str, &mut Pool) -> Result<Box<dyn Device>>;

fn afpacket(namespace: &Namespace, name: &str, _: &mut Pool) -> Result<Box<dyn Device>> {
    let device = namespace.run(|| AfPacket::open(name, &afpacket::Options::default()))?;
    Ok(Box::new(device))
}

fn afxdp(namespace: &Namespace, name: &str, pool: &mut Pool) -> Result<Box<dyn Device>> {
    let options = afxdp::Options {
        ring: 256,
        ..afxdp::Options::default()
    };
    Ok(Box::new(
        namespace.run(|| AfXdp::open(name, &options, pool))?,
    ))
}

fn both_ways(method: Method) {
    let Some((left, right)) = wire() else { return };
    let mut pool = Pool::new(1024, 1024);
    let Some(mut a) = or_skip(method(&left, "a", &mut pool)) else {
        return;
    };
    let mut b = method(&right, "b", &mut pool).unwrap();
    assert_eq!(a.mac(), left.link("a").unwrap().mac);
    // One byte of payload, the usual sizes, and the longest; fewer than any ring holds.
    let sizes = [15, 60, 64, 65, 576, 1513, 1514];
    let sent: Vec<Vec<u8>> = (0..200)
        .map(|n| frame(n, sizes[n as usize % sizes.len()]))
        .collect();
    send(a.as_mut(), &mut pool, &sent);
    assert!(receive_until(b.as_mut(), &mut pool, |came| came.len() >= sent.len()) == sent);
    send(b.as_mut(), &mut pool, &sent);
    assert!(receive_until(a.as_mut(), &mut pool, |came| came.len() >= sent.len()) == sent);
    assert_eq!((a.counters().sent, a.counters().received), (200, 200));
    assert_eq!(
        (b.counters().receive_drops, b.counters().send_errors),
        (0, 0)
    );
    a.close(&mut pool);
    b.close(&mut pool);
    assert_eq!(pool.in_use(), 0, "slots that did not come back");
}

#[test]
fn afpacket_both_ways() {
    both_ways(afpacket);
}

/// Two kernels ping each other through a forwarder of ours between them, in a namespace of its own.
fn pings_through(method: Method) {
    if !has("ping") {
        return;
    }
    let (Some(left), Some(middle), Some(right)) = (
        or_skip(Namespace::new()),
        or_skip(Namespace::new()),
        or_skip(Namespace::new()),
    ) else {
        return;
    };
    veth(&left, "a", &middle, "a").unwrap();
    veth(&middle, "b", &right, "b").unwrap();
    left.add_address("a", "10.0.0.1/24").unwrap();
    right.add_address("b", "10.0.0.2/24").unwrap();
    let mut pool = Pool::new(4096, 4096);
    let Some(a) = or_skip(method(&middle, "a", &mut pool)) else {
        return;
    };
    let b = method(&middle, "b", &mut pool).unwrap();
    let mut ends = [a, b];
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| forward(&mut ends, &mut pool, || is_done.load(Ordering::Relaxed)));
        // Without a deadline, the last answer has two round trips' time: too little where the
        // machine is busy.
        let pinged = left.command("ping", &["-c5", "-i0.002", "-s1400", "-w10", "10.0.0.2"]);
        is_done.store(true, Ordering::Relaxed);
        let pinged = pinged.unwrap();
        let said = String::from_utf8(pinged.stdout).unwrap();
        assert!(pinged.status.success(), "{said}");
    });
    assert!(ends[0].counters().received >= 5);
}

#[test]
fn kernels_ping_through_afpacket() {
    pings_through(afpacket);
}

/// Frames that nobody reads are counted, and those that were kept come in order.
fn counts_overflow(method: Method, at_most: usize) {
    let Some((left, right)) = wire() else { return };
    let mut pool = Pool::new(4096, 4096);
    let mut a = afpacket(&left, "a", &mut pool).unwrap();
    let Some(mut b) = or_skip(method(&right, "b", &mut pool)) else {
        return;
    };
    let sent: Vec<Vec<u8>> = (0..at_most as u64 + 3000).map(|n| frame(n, 1514)).collect();
    send(a.as_mut(), &mut pool, &sent);
    // On a busy machine the last frames arrive while the first are read, and find room again.
    let mut came: Vec<Vec<u8>> = Vec::new();
    while came.len() + (b.counters().receive_drops as usize) < sent.len() {
        came.extend(receive_until(b.as_mut(), &mut pool, |came| {
            !came.is_empty()
        }));
    }
    let lost = b.counters().receive_drops as usize;
    assert_eq!(came.len() + lost, sent.len());
    assert!(lost > 0, "nothing was lost");
    let mut rest = sent.iter();
    assert!(
        came.iter().all(|frame| rest.any(|sent| sent == frame)),
        "in order, byte for byte"
    );
    let again = b.counters().receive_drops as usize;
    assert_eq!(again, lost, "told twice, counted once");
}

#[test]
fn afpacket_counts_overflow() {
    counts_overflow(afpacket, 1400);
}

fn sees_removal(method: Method) {
    let Some((left, right)) = wire() else { return };
    let mut pool = Pool::new(1024, 1024);
    let Some(mut b) = or_skip(method(&right, "b", &mut pool)) else {
        return;
    };
    let mut batch = Packets::new();
    // Down is not gone.
    right.set_up("b", false).unwrap();
    for _ in 0..100 {
        assert_eq!(b.receive(&mut pool, &mut batch).unwrap(), 0);
    }
    right.set_up("b", true).unwrap();
    let mut a = afpacket(&left, "a", &mut pool).unwrap();
    send(a.as_mut(), &mut pool, &[frame(1, 64)]);
    assert!(receive_until(b.as_mut(), &mut pool, |came| came.contains(&frame(1, 64))).len() == 1);
    right.delete_link("b").unwrap();
    let error = (0..100)
        .find_map(|_| b.receive(&mut pool, &mut batch).err())
        .expect("a removed interface is an error");
    assert_eq!(error.to_string(), "no network interface `b`");
    b.close(&mut pool);
}

#[test]
fn afpacket_sees_removal() {
    sees_removal(afpacket);
}

#[test]
fn a_missing_interface_is_named() {
    let mut pool = Pool::new(16, 16);
    let Some(namespace) = or_skip(Namespace::new()) else {
        return;
    };
    let error = afpacket(&namespace, "none0", &mut pool).unwrap_err();
    assert!(
        matches!(&error, Error::NoInterface { name } if name == "none0"),
        "{error}"
    );
}

#[test]
fn a_frame_the_kernel_refuses_is_counted() {
    let Some((left, _right)) = wire() else { return };
    let mut pool = Pool::new(16, 16);
    let mut a = afpacket(&left, "a", &mut pool).unwrap();
    send(
        a.as_mut(),
        &mut pool,
        &[vec![1], frame(1, 64), frame(2, 1600)],
    );
    assert_eq!((a.counters().sent, a.counters().send_errors), (1, 2));
    assert_eq!(pool.in_use(), 0);
}

/// The kernel takes a frame's outer tag out before a packet socket sees it.
fn keeps_tags(method: Method) {
    let Some((left, right)) = wire() else { return };
    let mut pool = Pool::new(1024, 1024);
    let mut a = afpacket(&left, "a", &mut pool).unwrap();
    let Some(mut b) = or_skip(method(&right, "b", &mut pool)) else {
        return;
    };
    let plain = frame(3, 100);
    let tags: [&[u8]; 3] = [
        &[0x81, 0x00, 0xe0, 7],
        &[0x88, 0xa8, 0x00, 9],
        &[0x88, 0xa8, 0x00, 9, 0x81, 0x00, 0x00, 0x00],
    ];
    let sent = tags.map(|tag| [&plain[..12], tag, &plain[12..]].concat());
    send(a.as_mut(), &mut pool, &sent);
    assert_eq!(
        receive_until(b.as_mut(), &mut pool, |came| came.len() >= 3),
        sent
    );
    b.close(&mut pool);
}

#[test]
fn afpacket_keeps_tags() {
    keeps_tags(afpacket);
}

/// A TCP stream of the kernel's, sent in super-packets, arrives as packets of the interface's size
/// whose checksums are right; the counters and a remark say so.
#[test]
fn super_packets_are_cut() {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    let (Some(left), Some(middle), Some(right)) = (
        or_skip(Namespace::new()),
        or_skip(Namespace::new()),
        or_skip(Namespace::new()),
    ) else {
        return;
    };
    veth(&left, "a", &middle, "a").unwrap();
    veth(&middle, "b", &right, "b").unwrap();
    left.add_address("a", "10.0.0.1/24").unwrap();
    right.add_address("b", "10.0.0.2/24").unwrap();
    // The receiver computes the checksums itself.
    right.set_offloads("b", false).unwrap();
    let mut pool = Pool::new(8192, 8192);
    let mut devices = ["a", "b"].map(|name| {
        middle
            .run(|| AfPacket::open(name, &afpacket::Options::default()))
            .unwrap()
    });
    let is_done = AtomicBool::new(false);
    let total = 4 << 20;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut batch = Packets::new();
            while !is_done.load(Ordering::Relaxed) {
                for (from, to) in [(0, 1), (1, 0)] {
                    devices[from].receive(&mut pool, &mut batch).unwrap();
                    assert!(batch.iter().all(|packet| pool[packet].len() <= 1514));
                    devices[to].transmit(&mut pool, &mut batch).unwrap();
                    devices[to].flush(&mut pool).unwrap();
                    batch.drain().for_each(|packet| pool.free(packet));
                }
            }
        });
        let listener = right.run(|| TcpListener::bind("10.0.0.2:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let reader = scope.spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            std::io::copy(&mut stream, &mut std::io::sink()).unwrap()
        });
        let mut stream = left.run(|| TcpStream::connect(address)).unwrap();
        stream.write_all(&vec![7; total]).unwrap();
        drop(stream);
        let came = reader.join().unwrap();
        is_done.store(true, Ordering::Relaxed);
        assert_eq!(came as usize, total);
    });
    let offloads = devices[0].offloads();
    assert!(
        offloads.super_packets > 0 && offloads.segments > offloads.super_packets,
        "{offloads:?}"
    );
    assert!(
        offloads.checksums > 0 && offloads.refused == 0,
        "{offloads:?}"
    );
    assert!(devices[0].remarks()[0].contains("super-packets cut"));
}

#[test]
fn afxdp_both_ways() {
    both_ways(afxdp);
}

#[test]
fn kernels_ping_through_afxdp() {
    pings_through(afxdp);
}

#[test]
fn afxdp_counts_overflow() {
    counts_overflow(afxdp, 256);
}

#[test]
fn afxdp_sees_removal() {
    sees_removal(afxdp);
}

#[test]
fn afxdp_keeps_tags() {
    keeps_tags(afxdp);
}

#[test]
fn afxdp_refuses_the_packets_of_another_pool() {
    let Some((left, _right)) = wire() else { return };
    let (mut pool, mut other) = (Pool::new(1024, 1024), Pool::new(1024, 1024));
    let Some(mut a) = or_skip(afxdp(&left, "a", &mut pool)) else {
        return;
    };
    let error = a.receive(&mut other, &mut Packets::new()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    a.close(&mut pool);
    assert_eq!(pool.in_use(), 0);
}

/// A pool that has grown has packets that the kernel does not know; they are sent all the same.
#[test]
fn afxdp_sends_packets_from_anywhere_in_the_pool() {
    let Some((left, right)) = wire() else { return };
    let mut pool = Pool::new(512, 4096);
    let Some(mut a) = or_skip(afxdp(&left, "a", &mut pool)) else {
        return;
    };
    let mut b = afpacket(&right, "b", &mut pool).unwrap();
    // The last slots of the first block are taken, so that the next come from the second.
    let taken: Vec<_> = (0..200).map(|_| pool.alloc().unwrap()).collect();
    let mut batch = Packets::new();
    let sent: Vec<Vec<u8>> = (0..32).map(|n| frame(n, 700)).collect();
    let mut beyond: Vec<_> = (0..100).map(|_| pool.alloc().unwrap()).collect();
    for frame in &sent {
        let packet = beyond.pop().unwrap();
        assert!(packet.slot() >= 512);
        pool[&packet].set_data(frame);
        batch.push(packet);
    }
    for packet in taken.into_iter().chain(beyond) {
        pool.free(packet);
    }
    assert_eq!(a.transmit(&mut pool, &mut batch).unwrap(), 32);
    a.flush(&mut pool).unwrap();
    assert!(receive_until(b.as_mut(), &mut pool, |came| came.len() >= 32) == sent);
    assert_eq!(a.counters().send_errors, 0);
    // Longer than a slot: refused, counted, and its slot comes back.
    let long = pool.alloc_with(&vec![1; 3000]).unwrap();
    batch.push(long);
    a.transmit(&mut pool, &mut batch).unwrap();
    assert_eq!(a.counters().send_errors, 1);
    a.close(&mut pool);
    assert_eq!(pool.in_use(), 0);
}
