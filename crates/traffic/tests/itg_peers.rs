//! Ours as one side of the signalling, the real ITGSend or ITGRecv as the other, over loopback.
//!
//! Needs Debian's `d-itg`; without it the tests print that they are skipped.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use trammel_io::held::Held;
use trammel_traffic::itg::command::Metadata;
use trammel_traffic::itg::session::{Received, Receiver, Sender, Sent};
use trammel_traffic::itg::signalling::{Head, LogName, Open};
use trammel_traffic::itg::{binary_log, line::Line};
use trammel_traffic::record::Protocol;
use trammel_traffic::stream::Meter;

const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

/// Ends the program that it holds.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(program: &str, arguments: &[String]) -> Option<Running> {
    let started = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if started.is_err() {
        eprintln!("skipped: `{program}` is not installed; `apt-get install d-itg`");
    }
    started.ok().map(Running)
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

/// A port that nobody else is given.
fn hold() -> Held {
    Held::at(LOOPBACK).expect("a port")
}

/// Waits until somebody has the port `port` of UDP and nothing waits there: ITGRecv says that a
/// flow may start before its socket is there, and at a flow's end it leaves unread what waits.
fn wait_for_port(port: u16) {
    let local = format!(":{port:04X}");
    let is_idle = |file: &str| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        text.lines().any(|line| {
            let mut fields = line.split_whitespace().skip(1);
            let has_it = fields.next().is_some_and(|one| one.ends_with(&local));
            has_it
                && fields
                    .nth(2)
                    .is_some_and(|queues| queues.ends_with(":00000000"))
        })
    };
    let started = Instant::now();
    while !["/proc/net/udp", "/proc/net/udp6"].into_iter().any(is_idle) {
        let waited = started.elapsed();
        assert!(waited < Duration::from_secs(10), "nobody reads port {port}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn itgsend_sends_to_ours() {
    let listener = TcpListener::bind((LOOPBACK, 0)).expect("loopback has a free port");
    let socket = UdpSocket::bind((LOOPBACK, 0)).expect("loopback has a free port");
    socket
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("the time-out is above 0");
    let (signalling, port) = (
        listener
            .local_addr()
            .expect("a bound socket has an address")
            .port(),
        socket
            .local_addr()
            .expect("a bound socket has an address")
            .port(),
    );
    let line = format!("-a 127.0.0.1 -Sdp {signalling} -rp {port} -C 200 -c 100 -z 20 -x ours.log");
    let Some(_running) = start("ITGSend", &words(&line)) else {
        return;
    };
    let (mut stream, _) = listener.accept().expect("a client connects");
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("the time-out is above 0");
    let mut receiver = Receiver::new();
    let (mut heads, mut log, mut bytes) = (Vec::new(), None, [0; 4096]);
    'channel: loop {
        let count = stream.read(&mut bytes).expect("bytes");
        assert!(count > 0, "ITGSend closed the channel before it was over");
        for told in receiver
            .receive(&bytes[..count])
            .expect("a message arrives")
        {
            match told {
                Received::Log(name) => log = Some(name),
                Received::Open(open) => {
                    assert_eq!((open.flow, open.port, open.address), (1, port, LOOPBACK));
                    receiver.opened(1, port);
                }
                Received::End { flow } => {
                    while heads.len() < 20 {
                        let count = socket.recv(&mut bytes).expect("a packet arrives");
                        assert_eq!(count, 100);
                        heads.push(
                            Head::decode(&bytes[..count], Metadata::Full, Protocol::Udp)
                                .expect("the head is whole"),
                        );
                    }
                    receiver.ended(flow);
                }
                Received::Abort { flow } => panic!("ITGSend gave up flow {flow}"),
                other @ (Received::LogAt { .. } | Received::Listening { .. }) => {
                    panic!("ITGSend was not told to say {other:?}")
                }
                Received::Done => {
                    stream
                        .write_all(&receiver.take_outgoing())
                        .expect("the other end reads");
                    break 'channel;
                }
            }
        }
        stream
            .write_all(&receiver.take_outgoing())
            .expect("the other end reads");
    }
    assert_eq!(log, LogName::new(b"ours.log"));
    for (head, sequence) in heads.iter().zip(1..) {
        assert_eq!((head.flow, head.sequence), (1, sequence));
    }
}

#[test]
fn ours_sends_to_itgrecv() {
    let held = hold();
    // ITGRecv does not say `SO_REUSEADDR` for a flow's port, which cannot be held for it.
    let (signalling, port) = (held.port(), hold().port());
    let directory = tempfile::tempdir().expect("a temporary folder can be made");
    let log = directory.path().join("recv.log");
    let line = format!("-Sp {signalling} -l {}", log.display());
    let Some(running) = start("ITGRecv", &words(&line)) else {
        return;
    };
    let mut stream = (0..100)
        .find_map(|_| {
            std::thread::sleep(Duration::from_millis(50));
            TcpStream::connect((LOOPBACK, signalling)).ok()
        })
        .expect("ITGRecv listens");
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("the time-out is above 0");
    let open = Open {
        flow: 1,
        protocol: Protocol::Udp,
        application: 0,
        meter: Meter::OneWay,
        ds: 0,
        metadata: Metadata::Full,
        serial: None,
        back: None,
        port,
        address: LOOPBACK,
    };
    let mut sender = Sender::new([open], None);
    let socket = UdpSocket::bind((LOOPBACK, 0)).expect("loopback has a free port");
    let mut bytes = [0; 4096];
    'channel: loop {
        stream
            .write_all(&sender.take_outgoing())
            .expect("the other end reads");
        let count = stream.read(&mut bytes).expect("bytes");
        assert!(count > 0, "ITGRecv closed the channel before it was over");
        for told in sender.receive(&bytes[..count]).expect("a message arrives") {
            match told {
                Sent::Start { flow, port } => {
                    wait_for_port(port);
                    for sequence in 1..=20 {
                        let mut payload = [0; 120];
                        let head = Head {
                            flow,
                            sequence,
                            sent: Some((3_661, sequence)),
                            bytes: None,
                        };
                        head.encode(&mut payload, Metadata::Full, Protocol::Udp);
                        socket
                            .send_to(&payload, (LOOPBACK, port))
                            .expect("the datagram can be sent");
                    }
                    wait_for_port(port);
                    sender.finish(flow);
                }
                Sent::Refused { flow } => panic!("ITGRecv refused flow {flow}"),
                Sent::Ended { flow } => assert_eq!(flow, 1),
                Sent::Done => break 'channel,
            }
        }
    }
    drop(stream);
    // ITGRecv writes its log when it likes, some time after a flow has ended.
    let started = Instant::now();
    let lines = loop {
        let log = std::fs::read(&log).expect("the file exists");
        let lines: Vec<Line> = binary_log::read_all(&log).map_while(Result::ok).collect();
        if lines.len() >= 20 || started.elapsed() > Duration::from_secs(20) {
            break lines;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    drop(running);
    assert_eq!(lines.len(), 20);
    for (line, sequence) in lines.iter().zip(1..) {
        let sent_us = 3_661 * 1_000_000 + u64::from(sequence);
        assert_eq!(
            (line.flow, line.sequence, line.bytes, line.sent_us),
            (1, sequence, 120, sent_us)
        );
    }
}

#[test]
fn itgsend_sends_the_flows_of_a_script_to_ours() {
    let listener = TcpListener::bind((LOOPBACK, 0)).expect("loopback has a free port");
    let signalling = listener
        .local_addr()
        .expect("a bound socket has an address")
        .port();
    let stream_listener = TcpListener::bind((LOOPBACK, 0)).expect("loopback has a free port");
    let socket = UdpSocket::bind((LOOPBACK, 0)).expect("loopback has a free port");
    socket
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("the time-out is above 0");
    let port = socket
        .local_addr()
        .expect("a bound socket has an address")
        .port();
    let stream_port = stream_listener
        .local_addr()
        .expect("a bound socket has an address")
        .port();
    let directory = tempfile::tempdir().expect("a temporary folder can be made");
    let script = directory.path().join("script");
    let lines = format!(
        "-a 127.0.0.1 -Sdp {signalling} -rp {port} -C 100 -c 90 -z 10 -p 1\n\
         -a 127.0.0.1 -Sdp {signalling} -rp {stream_port} -C 100 -c 80 -z 10 -T TCP -b 0x20\n"
    );
    std::fs::write(&script, &lines).expect("the file can be written");
    let commands = trammel_traffic::itg::arguments::script(&lines).expect("a script");
    let Some(_running) = start("ITGSend", &[script.display().to_string()]) else {
        return;
    };
    let (mut stream, _) = listener.accept().expect("a client connects");
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("the time-out is above 0");
    let mut receiver = Receiver::new();
    let (mut heads, mut bytes) = (Vec::new(), [0; 4096]);
    'channel: loop {
        let count = stream.read(&mut bytes).expect("bytes");
        assert!(count > 0, "ITGSend closed the channel before it was over");
        for told in receiver
            .receive(&bytes[..count])
            .expect("a message arrives")
        {
            match told {
                Received::Open(open) => {
                    // What is signalled is what ours read in the script.
                    let command = &commands[open.flow as usize - 1];
                    assert_eq!((open.port, open.protocol), (command.port, command.protocol));
                    assert_eq!(
                        (open.metadata, open.meter),
                        (command.metadata, command.meter)
                    );
                    assert_eq!(open.ds, command.ds.unwrap_or(0));
                    receiver.opened(open.flow, open.port);
                }
                Received::End { flow: 1 } => {
                    for _ in 0..10 {
                        let count = socket.recv(&mut bytes).expect("a packet arrives");
                        assert_eq!(count, 90);
                        heads.push(
                            Head::decode(&bytes, Metadata::Sequence, Protocol::Udp)
                                .expect("the head is whole"),
                        );
                    }
                    receiver.ended(1);
                }
                Received::End { flow } => {
                    let (mut data, _) = stream_listener.accept().expect("a client connects");
                    let mut all = [0; 800];
                    data.read_exact(&mut all).expect("ten packets");
                    for packet in all.chunks_exact(80) {
                        let head = Head::decode(packet, Metadata::Full, Protocol::Tcp)
                            .expect("the head is whole");
                        assert_eq!(head.bytes, Some(80));
                        heads.push(head);
                    }
                    receiver.ended(flow);
                }
                Received::Done => {
                    stream
                        .write_all(&receiver.take_outgoing())
                        .expect("the other end reads");
                    break 'channel;
                }
                other => panic!("{other:?}"),
            }
        }
        stream
            .write_all(&receiver.take_outgoing())
            .expect("the other end reads");
    }
    for flow in [1, 2] {
        let sequences: Vec<u32> = heads
            .iter()
            .filter(|head| head.flow == flow)
            .map(|head| head.sequence)
            .collect();
        assert_eq!(sequences, (1..=10).collect::<Vec<_>>());
    }
}
