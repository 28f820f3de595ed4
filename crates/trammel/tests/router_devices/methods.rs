//! Each way to a device carries every byte.

use crate::rig::{Net, PATIENCE_NS, Router, ends, frame, has, open, ping, said};
use std::fs::File;
use std::io::BufReader;
use trammel_io::clock;
use trammel_packet::batch::Packets;
use trammel_packet::capture::{Reader, Sink, pcap};
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;

/// Forwards both ways by `method`.
fn bridge(method: &str) -> String {
    format!(
        "FromDevice(in, true, METHOD {method}) -> q :: Queue(4000) -> ToDevice(out, METHOD \
         {method}); FromDevice(out, true, METHOD {method}) -> ToDevice(in, METHOD {method});"
    )
}

/// Sends frames at one end, no more at once than the wire holds, and checks each at the other.
fn every_byte_arrives(net: &Net, count: usize) {
    let mut pool = Pool::new(4096, 4096);
    let (mut from, mut to) = (open(&net.left, "a"), open(&net.right, "b"));
    let lengths = [64, 65, 128, 333, 512, 1024, 1513, 1514];
    let until = clock::monotonic_ns() + PATIENCE_NS;
    let (mut sent, mut came) = (0, 0);
    let mut batch = Packets::new();
    while came < count {
        while sent < count && sent - came < 128 {
            let frame = frame(sent, lengths[sent % lengths.len()]);
            batch.push(pool.alloc_with(&frame).expect("the pool has a free slot"));
            from.transmit(&mut pool, &mut batch).expect("sent");
            assert!(batch.is_empty());
            sent += 1;
        }
        from.flush(&mut pool).expect("sent");
        to.receive(&mut pool, &mut batch)
            .expect("the device is there");
        for packet in batch.drain() {
            let data = pool[&packet].data();
            if data[12..14] == [0x88, 0xb5] {
                assert!(
                    data == frame(came, lengths[came % lengths.len()]),
                    "frame {came}"
                );
                came += 1;
            }
            pool.free(packet);
        }
        let left = until - clock::monotonic_ns();
        assert!(left > 0, "{came} of {sent} frames came");
        if came < sent {
            let descriptors = [to.descriptor().expect("the device has one")];
            clock::wait(&descriptors, Some(left)).expect("the clock can be waited for");
        }
    }
}

fn a_bridge_loses_nothing(method: &str) {
    loses_nothing(&bridge(method), &[]);
}

fn loses_nothing(config: &str, options: &[&str]) {
    if !has("ping") {
        return;
    }
    let Some(net) = Net::new() else { return };
    net.left
        .add_address("a", "10.9.0.1/24")
        .expect("the address is free");
    net.right
        .add_address("b", "10.9.0.2/24")
        .expect("the address is free");
    let Some(_router) = Router::with(&net.middle, config, options) else {
        return;
    };
    let output = ping(&net.left, "10.9.0.2");
    assert!(output.status.success(), "{}", said(&output));
    every_byte_arrives(&net, 10_000);
}

#[test]
fn frames_pass_by_packet_sockets() {
    a_bridge_loses_nothing("afpacket");
}

#[test]
fn frames_pass_by_af_xdp() {
    a_bridge_loses_nothing("afxdp");
}

#[test]
fn frames_pass_from_thread_to_thread() {
    // Each thread has one interface, both ways.
    for method in ["afpacket", "afxdp"] {
        let config = format!(
            "StaticThreadSched(fi 0, ti 0, fo 1, to 1); \
             fi :: FromDevice(in, true, METHOD {method}) -> Queue(4000) -> to :: ToDevice(out, \
             METHOD {method}); fo :: FromDevice(out, true, METHOD {method}) -> Queue(4000) -> ti \
             :: ToDevice(in, METHOD {method});"
        );
        loses_nothing(&config, &["-j", "2"]);
    }
}

#[test]
fn frames_pass_a_wire_in_memory() {
    let config = "InfiniteSource(LIMIT 100000, LENGTH 77, BURST 32, STOP false) -> q :: \
                  FullNoteQueue(2000) -> ToDevice(w.0, METHOD ring); \
         FromDevice(w.1, METHOD ring) -> l :: CheckLength(76) -> wrong :: Counter -> Discard; \
         l[1] -> c :: Counter -> Discard; \
         Script(label again, wait 1ms, goto again $(lt $(c.count) 100000), stop);";
    let (code, said) = ends(None, &["-e", config, "-h", "c.count", "-h", "wrong.count"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("c.count:\n100000\n"), "{said}");
    assert!(said.contains("wrong.count:\n0\n"), "{said}");
}

#[test]
fn a_capture_file_is_read_and_written_as_a_device() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (from, to) = (path("in.pcap"), path("out.pcap.gz"));
    let file = File::create(&from).expect("the file can be written");
    let mut writer = pcap::Writer::new(Sink::plain(file), pcap::Options::default()).expect("it");
    let sent: Vec<(Timestamp, Vec<u8>)> = (0..1000)
        .map(|n| (Timestamp(1_000_000_007 * n as i64), frame(n, 60 + n)))
        .collect();
    for (at, data) in &sent {
        writer.write(*at, 0, data).expect("written");
    }
    writer.finish().expect("written");
    let config = format!(
        "FromDevice({from}, METHOD pcap) -> Queue(1000) -> c :: Counter -> ToDevice({to}, METHOD \
         pcap); Script(label again, wait 1ms, goto again $(lt $(c.count) 1000), stop);"
    );
    let (code, said) = ends(None, &["-e", &config]);
    assert_eq!(code, Some(0), "{said}");
    let mut reader =
        Reader::new(BufReader::new(File::open(&to).expect("the file exists"))).expect("a pcap");
    let mut came = Vec::new();
    while let Some(frame) = reader.next_frame().expect("it is right") {
        came.push((frame.timestamp, frame.data.to_vec()));
    }
    assert!(came == sent, "{} of {} came", came.len(), sent.len());
}

#[test]
fn the_end_of_a_capture_stops_the_router_where_asked() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("in.pcap").display().to_string();
    let file = File::create(&path).expect("the file can be written");
    let mut writer = pcap::Writer::new(Sink::plain(file), pcap::Options::default()).expect("it");
    for n in 0..100 {
        writer
            .write(Timestamp(n), 0, &frame(n as usize, 60))
            .expect("written");
    }
    writer.finish().expect("written");
    let config = format!("FromDevice({path}, STOP true) -> c :: Counter -> Discard");
    let (code, said) = ends(None, &["-e", &config, "-h", "c.count"]);
    assert_eq!((code, said.trim()), (Some(0), "100"));
}

#[test]
fn a_file_that_is_no_capture_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("x.pcap").display().to_string();
    let config = format!("FromDevice({path}) -> Discard");
    let (code, said) = ends(None, &["-e", &config]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains(&format!("cannot read `{path}`")), "{said}");
    std::fs::write(&path, "nonsense").expect("the file can be written");
    let (code, said) = ends(None, &["-e", &config]);
    assert_ne!(code, Some(0), "{said}");
    assert!(said.contains("is not a capture"), "{said}");
}

#[test]
fn what_a_router_that_never_sleeps_prints_is_seen_at_once() {
    let Some(namespace) = crate::rig::or_skip(trammel_io::netns::Namespace::new()) else {
        return;
    };
    // It ends by being killed; nothing would be seen of it if its words waited for its end.
    let config = "InfiniteSource -> Discard; FromDevice(w.0, METHOD ring) -> Discard; \
         Idle -> ToDevice(w.1, METHOD ring);";
    assert!(Router::run(&namespace, config).is_some());
}
