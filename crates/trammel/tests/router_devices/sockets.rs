//! Elements that speak by sockets of this machine.

use crate::rig::{Control, Router, TRAMMEL, has, or_skip, ping, said};
use std::io::BufRead;
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Command;
use trammel_io::netns::Namespace;

#[test]
fn a_raw_socket_answers_pings_of_an_address_that_nobody_has() {
    if !has("ping") {
        return;
    }
    let (Some(left), Some(right)) = (or_skip(Namespace::new()), or_skip(Namespace::new())) else {
        return;
    };
    trammel_io::netns::veth(&left, "a", &right, "b").expect("the pair of devices can be made");
    left.add_address("a", "10.3.0.1/24")
        .expect("the address is free");
    right
        .add_address("b", "10.3.0.2/24")
        .expect("the address is free");
    // The kernel itself is told to be silent.
    right
        .set_sysctl("ipv4/icmp_echo_ignore_all", "1")
        .expect("a switch");
    let config = "RawSocket(ICMP) -> IPClassifier(icmp type echo) -> ICMPPingResponder -> Queue -> \
                  RawSocket(ICMP);";
    let Some(_router) = Router::run(&right, config) else {
        return;
    };
    let output = ping(&left, "10.3.0.2");
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn a_server_takes_whom_allow_has_and_of_the_others_whom_deny_has_not() {
    let Some(middle) = or_skip(Namespace::new()) else {
        return;
    };
    // In a namespace of its own every port is free.
    let config = "allow :: RadixIPLookup(127.0.0.2/32 0); deny :: RadixIPLookup(127.0.0.0/29 0); \
         Idle -> allow -> Discard; Idle -> deny -> Discard; \
         Socket(UDP, 127.0.0.1, 7777, ALLOW allow, DENY deny) -> c :: Counter -> Discard; \
         Script(label again, wait 1ms, goto again $(lt $(c.count) 2), print $(c.byte_count), \
         stop);";
    let Some(mut router) = Router::run(&middle, config) else {
        return;
    };
    // The first is denied, the second allowed though denied too, of the third nobody says anything.
    for (from, bytes) in [("127.0.0.3", 100), ("127.0.0.2", 2), ("127.0.0.9", 9)] {
        let socket = middle.run(|| UdpSocket::bind((from, 0)).expect("loopback has a free port"));
        let sent = socket.send_to(&vec![0; bytes], "127.0.0.1:7777");
        assert_eq!(sent.expect("it goes"), bytes);
    }
    let mut line = String::new();
    router
        .output
        .read_line(&mut line)
        .expect("the other end writes a line");
    assert_eq!(line.trim(), "11");
}

#[test]
fn to_socket_speaks_to_from_socket() {
    let Some(middle) = or_skip(Namespace::new()) else {
        return;
    };
    let config = "FromSocket(UDP, 127.0.0.1, 7777) -> c :: Counter -> Discard; \
         InfiniteSource(LIMIT 10, LENGTH 100, STOP false) -> Queue -> ToSocket(UDP, 127.0.0.1, \
         7777); Script(label again, wait 1ms, goto again $(lt $(c.count) 10), print \
         $(c.byte_count), stop);";
    let Some(mut router) = Router::run(&middle, config) else {
        return;
    };
    let mut line = String::new();
    router
        .output
        .read_line(&mut line)
        .expect("the other end writes a line");
    assert_eq!(line.trim(), "1000");
}

#[test]
fn the_control_protocol_is_spoken_on_a_descriptor_that_was_given() {
    let (ours, theirs) = UnixStream::pair().expect("a pair of sockets can be made");
    let mut child = Command::new(TRAMMEL)
        .args([
            "router",
            "-e",
            "Idle -> c :: Counter -> Discard",
            "--socket",
            "0",
        ])
        .stdin(OwnedFd::from(theirs))
        .spawn()
        .expect("the program can be started");
    let mut control = Control::of(ours);
    assert_eq!(control.read("c.count"), "0");
    assert_eq!(control.write("stop", "").0, 200);
    assert!(
        child
            .wait()
            .expect("the child process can be waited for")
            .success()
    );
}

#[test]
fn a_table_that_is_none_is_refused() {
    let (code, said) = crate::rig::ends(
        None,
        &[
            "-e",
            "x :: Idle; x -> Discard; Socket(UDP, 127.0.0.1, 0, ALLOW x) -> Discard",
        ],
    );
    assert_ne!(code, Some(0));
    assert!(said.contains("x is not an IPRouteTable"), "{said}");
}
