//! The router on real packets: namespaces joined by the command, by each method.
//!
//! Where the machine does not allow namespaces or AF_XDP, a test prints why it did nothing.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::clock;
use trammel_io::error::{Error, Result};
use trammel_io::netns::{Namespace, veth};
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

const PATIENCE_NS: i64 = 60_000_000_000;
const TRAMMEL: &str = env!("CARGO_BIN_EXE_trammel");

fn or_skip<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error @ (Error::NoRight { .. } | Error::Unsupported { .. })) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A router that runs until this is dropped.
struct Router(Child);

impl Router {
    /// Runs `config` in a namespace; returns once it runs. Nothing where it refuses for lack of a right.
    fn run(namespace: &Namespace, config: &str) -> Option<Router> {
        let config = format!("{config}\nScript(print \"running\");");
        let mut child = namespace.run(|| {
            Command::new(TRAMMEL)
                .args(["router", "-e", &config])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the command starts")
        });
        let mut line = String::new();
        let output = child.stdout.take().expect("it is a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        if line.trim() == "running" {
            return Some(Router(child));
        }
        let ended = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(3), "{said}");
        println!("skipped: {said}");
        None
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Two ends and a middle between them: `left:a - in:middle:out - b:right`.
struct Net {
    left: Namespace,
    middle: Namespace,
    right: Namespace,
}

fn net() -> Option<Net> {
    let net = Net {
        left: or_skip(Namespace::new())?,
        middle: or_skip(Namespace::new())?,
        right: or_skip(Namespace::new())?,
    };
    veth(&net.left, "a", &net.middle, "in").expect("a pair");
    veth(&net.middle, "out", &net.right, "b").expect("a pair");
    for (namespace, name) in [
        (&net.left, "a"),
        (&net.middle, "in"),
        (&net.middle, "out"),
        (&net.right, "b"),
    ] {
        namespace.set_offloads(name, false).expect("offloads off");
    }
    Some(net)
}

/// Forwards both ways by `method`.
fn bridge(method: &str) -> String {
    format!(
        "FromDevice(in, true, METHOD {method}) -> q :: Queue(4000) -> ToDevice(out, METHOD {method}); \
         FromDevice(out, true, METHOD {method}) -> ToDevice(in, METHOD {method});"
    )
}

fn ping(from: &Namespace, to: &str) -> Output {
    from.command("ping", &["-n", "-c", "3", "-i", "0.2", "-W", "20", to])
        .expect("there is ping")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A frame whose bytes tell its number.
fn frame(number: usize, len: usize) -> Vec<u8> {
    let mut frame: Vec<u8> = (0..len).map(|at| (number * 31 + at) as u8).collect();
    frame[..6].fill(0xff);
    frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame
}

/// Sends frames at one end, no more at once than the wire holds, and checks each at the other.
fn every_byte_arrives(net: &Net, count: usize) {
    let mut pool = Pool::new(4096, 4096);
    let open = |name| AfPacket::open(name, &afpacket::Options::default()).expect("a packet socket");
    let mut from = net.left.run(|| open("a"));
    let mut to = net.right.run(|| open("b"));
    let lengths = [64, 65, 128, 333, 512, 1024, 1513, 1514];
    let until = clock::monotonic_ns() + PATIENCE_NS;
    let (mut sent, mut came) = (0, 0);
    let mut batch = Packets::new();
    while came < count {
        while sent < count && sent - came < 128 {
            let frame = frame(sent, lengths[sent % lengths.len()]);
            batch.push(pool.alloc_with(&frame).expect("room"));
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
            let descriptors = [to.descriptor().expect("it has one")];
            clock::wait(&descriptors, Some(left)).expect("waiting works");
        }
    }
}

fn a_bridge_loses_nothing(method: &str) {
    let Some(net) = net() else { return };
    net.left
        .add_address("a", "10.9.0.1/24")
        .expect("an address");
    net.right
        .add_address("b", "10.9.0.2/24")
        .expect("an address");
    let Some(_router) = Router::run(&net.middle, &bridge(method)) else {
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
fn the_kernel_is_pinged_by_a_tap() {
    let Some(middle) = or_skip(Namespace::new()) else {
        return;
    };
    let config = "tap :: KernelTap(10.8.0.1/24, DEVNAME tap8, ETHER 2:0:0:0:0:8) \
         -> c :: Classifier(12/0806 20/0001, 12/0800, -); \
         c[0] -> ARPResponder(10.8.0.0/24 2:0:0:0:0:9) -> tap; \
         c[1] -> Strip(14) -> CheckIPHeader -> ICMPPingResponder \
         -> EtherEncap(0x0800, 2:0:0:0:0:9, 2:0:0:0:0:8) -> tap; c[2] -> Discard;";
    let Some(_router) = Router::run(&middle, config) else {
        return;
    };
    let output = ping(&middle, "10.8.0.77");
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn routes_of_the_kernel_reach_the_table_while_the_router_runs() {
    let Some(net) = net() else { return };
    net.middle
        .add_address("in", "10.5.0.1/24")
        .expect("an address");
    // It prints its table again and again, and ends by itself where the route never comes.
    let config = "FollowKernelRoutes(in, out, TABLE rt, LOCAL 2); Idle -> rt :: RadixIPLookup; \
         rt[0] -> Discard; rt[1] -> Discard; rt[2] -> Discard; Script(wait 30s, stop); \
         Script(label again, print rt.table, wait 20ms, goto again);";
    let mut child = net.middle.run(|| {
        Command::new(TRAMMEL)
            .args(["router", "-e", config])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts")
    });
    let output = child.stdout.take().expect("it is a pipe");
    let _router = Router(child);
    let mut lines = BufReader::new(output)
        .lines()
        .map_while(std::io::Result::ok);
    let mut comes = |route: &str| {
        let parts: Vec<&str> = route.split(' ').collect();
        lines.any(|line| line.split_whitespace().eq(parts.iter().copied()))
    };
    assert!(comes("10.5.0.0/24 - 0"), "the network of an address");
    assert!(comes("10.5.0.1/32 - 2"), "the address itself");
    let add = net.middle.add_route("10.77.0.0/16", Some("10.5.0.9"), "in");
    add.expect("a route");
    assert!(comes("10.77.0.0/16 10.5.0.9 0"), "a route that was added");
}

/// Runs a configuration that cannot run: the exit code and what it said.
fn refused(namespace: Option<&Namespace>, config: &str) -> (Option<i32>, String) {
    let run = || {
        Command::new(TRAMMEL)
            .args(["router", "-e", config])
            .output()
            .expect("the command starts")
    };
    let output = match namespace {
        Some(namespace) => namespace.run(run),
        None => run(),
    };
    (output.status.code(), said(&output))
}

#[test]
fn a_missing_device_is_named_with_what_would_mend_it() {
    for method in ["afpacket", "afxdp"] {
        let config = format!("FromDevice(nowhere0, METHOD {method}) -> Discard");
        let (code, said) = refused(None, &config);
        assert_eq!(code, Some(3), "{said}");
        assert!(said.contains("no network interface `nowhere0`"), "{said}");
        assert!(said.contains("ip link show"), "{said}");
    }
}

#[test]
fn a_used_port_is_a_lack() {
    let used = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = used.local_addr().expect("bound").port();
    let (code, said) = refused(None, &format!("ControlSocket(tcp, {port})"));
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("Address already in use"), "{said}");
}

#[test]
fn without_root_packet_sockets_work_in_a_namespace_of_its_own_and_af_xdp_says_what_it_lacks() {
    let inside = |script: &str| {
        Command::new("unshare")
            .args(["-Urn", "sh", "-c", script])
            .output()
            .expect("there is unshare")
    };
    if !inside("ip link set lo up").status.success() {
        println!("skipped: user namespaces are not allowed");
        return;
    }
    let script = format!(
        "ip link set lo up; {TRAMMEL} router -e 'FromDevice(lo, METHOD afpacket) -> Discard; Script(stop)'"
    );
    let output = inside(&script);
    assert!(output.status.success(), "{}", said(&output));
    let script = format!("{TRAMMEL} router -e 'FromDevice(lo, METHOD afxdp) -> Discard'");
    let output = inside(&script);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    assert!(
        said(&output).contains("METHOD afpacket"),
        "{}",
        said(&output)
    );
}
