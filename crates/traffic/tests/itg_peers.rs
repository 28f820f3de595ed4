//! Ours as one side of the signalling, the real ITGSend or ITGRecv as the other, over loopback.
//!
//! Needs Debian's `d-itg`; without it the tests print that they are skipped.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
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

/// A port that nobody has just now.
fn free_port() -> u16 {
    TcpListener::bind((LOOPBACK, 0))
        .and_then(|free| free.local_addr())
        .expect("a port")
        .port()
}

#[test]
fn itgsend_sends_to_ours() {
    let listener = TcpListener::bind((LOOPBACK, 0)).expect("a port");
    let socket = UdpSocket::bind((LOOPBACK, 0)).expect("a port");
    socket
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("a timeout");
    let (signalling, port) = (
        listener.local_addr().expect("it").port(),
        socket.local_addr().expect("it").port(),
    );
    let line = format!("-a 127.0.0.1 -Sdp {signalling} -rp {port} -C 200 -c 100 -z 20 -x ours.log");
    let Some(_running) = start("ITGSend", &words(&line)) else {
        return;
    };
    let (mut stream, _) = listener.accept().expect("ITGSend");
    stream
        .set_read_timeout(Some(Duration::from_secs(10)))
        .expect("a timeout");
    let mut receiver = Receiver::new();
    let (mut heads, mut log, mut bytes) = (Vec::new(), None, [0; 4096]);
    'channel: loop {
        let count = stream.read(&mut bytes).expect("bytes");
        assert!(count > 0, "ITGSend closed the channel before it was over");
        for told in receiver.receive(&bytes[..count]).expect("a message") {
            match told {
                Received::Log(name) => log = Some(name),
                Received::Open(open) => {
                    assert_eq!((open.flow, open.port, open.address), (1, port, LOOPBACK));
                    receiver.opened(1, port);
                }
                Received::End { flow } => {
                    while heads.len() < 20 {
                        let count = socket.recv(&mut bytes).expect("a packet");
                        assert_eq!(count, 100);
                        heads.push(
                            Head::decode(&bytes[..count], Metadata::Full, Protocol::Udp)
                                .expect("a head"),
                        );
                    }
                    receiver.ended(flow);
                }
                Received::Abort { flow } => panic!("ITGSend gave up flow {flow}"),
                Received::Done => {
                    stream.write_all(&receiver.take_outgoing()).expect("sent");
                    break 'channel;
                }
            }
        }
        stream.write_all(&receiver.take_outgoing()).expect("sent");
    }
    assert_eq!(log, LogName::new(b"ours.log"));
    for (head, sequence) in heads.iter().zip(1..) {
        assert_eq!((head.flow, head.sequence), (1, sequence));
    }
}

#[test]
fn ours_sends_to_itgrecv() {
    let (signalling, port) = (free_port(), free_port());
    let directory = tempfile::tempdir().expect("a directory");
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
        .expect("a timeout");
    let open = Open {
        flow: 1,
        protocol: Protocol::Udp,
        application: 0,
        meter: Meter::OneWay,
        ds: 0,
        metadata: Metadata::Full,
        serial: None,
        port,
        address: LOOPBACK,
    };
    let mut sender = Sender::new([open], None);
    let socket = UdpSocket::bind((LOOPBACK, 0)).expect("a port");
    let mut bytes = [0; 4096];
    'channel: loop {
        stream.write_all(&sender.take_outgoing()).expect("sent");
        let count = stream.read(&mut bytes).expect("bytes");
        assert!(count > 0, "ITGRecv closed the channel before it was over");
        for told in sender.receive(&bytes[..count]).expect("a message") {
            match told {
                Sent::Start { flow, port } => {
                    for sequence in 1..=20 {
                        let mut payload = [0; 120];
                        let head = Head {
                            flow,
                            sequence,
                            sent: Some((3_661, sequence)),
                            bytes: None,
                        };
                        head.encode(&mut payload, Metadata::Full, Protocol::Udp);
                        socket.send_to(&payload, (LOOPBACK, port)).expect("sent");
                    }
                    sender.finish(flow);
                }
                Sent::Refused { flow } => panic!("ITGRecv refused flow {flow}"),
                Sent::Ended { flow } => assert_eq!(flow, 1),
                Sent::Done => break 'channel,
            }
        }
    }
    drop(stream);
    // ITGRecv writes the rest of its log when a flow ends.
    std::thread::sleep(Duration::from_millis(300));
    drop(running);
    let log = std::fs::read(log).expect("the log of ITGRecv");
    let lines: Result<Vec<Line>, _> = binary_log::read_all(&log).collect();
    let lines = lines.expect("a log");
    assert_eq!(lines.len(), 20);
    for (line, sequence) in lines.iter().zip(1..) {
        let sent_us = 3_661 * 1_000_000 + u64::from(sequence);
        assert_eq!(
            (line.flow, line.sequence, line.bytes, line.sent_us),
            (1, sequence, 120, sent_us)
        );
    }
}
