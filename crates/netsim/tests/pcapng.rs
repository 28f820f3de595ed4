//! Captures as Wireshark reads them, where its `tshark` is installed.

use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use trammel_core::entry::Params;
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::flow::FlowSpec;
use trammel_netsim::ids::{FlowId, LinkId};
use trammel_netsim::link::{LinkSpec, Queue};
use trammel_netsim::network::Network;
use trammel_netsim::stream::{StreamSpec, sized};
use trammel_netsim::trace::Pace;
use trammel_stats::arrivals::{Renewal, Spans};
use trammel_stats::dist::constant::Constant;
use trammel_tcp::cc;
use trammel_tcp::stack::{EcnMode, Stack};

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .expect("no thread panics while it holds the lock")
            .write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A capture of a finite flow and a stream over a path whose queue holds `limit` packets.
fn captured(limit: u32, ecn: bool) -> (Vec<u8>, Network) {
    let mut net = Network::new();
    let mut bottleneck = LinkSpec::wire("bottleneck", Span::from_ms(10));
    bottleneck.rate = Some(Rate::from_bps(10_000_000));
    bottleneck.queue = Queue::DropTail {
        packets: limit,
        bytes: u64::MAX,
    };
    let there = net.add_link(bottleneck);
    let back = net.add_link(LinkSpec::wire("return", Span::from_ms(10)));
    let out = Shared::default();
    net.capture(&[there, back], Box::new(out.clone()));
    let cubic = cc::find("cubic").expect("the variant is built in");
    let mut stack = Stack::linux_6();
    if ecn {
        stack.ecn = EcnMode::Classic;
    }
    net.add_flow(FlowSpec {
        name: "flow".into(),
        client: stack.clone(),
        server: stack,
        cc: Box::new(|| (cubic.build)(&Params::defaults(&cubic.about))),
        start: Time::from_ms(5),
        stop: Time::MAX,
        bytes: Some(1_000_000),
        forward: vec![there],
        backward: vec![back],
        reader: None,
        overhead_bytes: 14,
        pace: Pace::Off,
        seed: 3,
    });
    net.add_stream(StreamSpec {
        name: "stream".into(),
        plan: sized(
            Renewal::new(
                Time::ZERO,
                Spans::constant_rate(100.0).expect("the rate is above 0"),
                Rng::new(1, "plan"),
            ),
            Box::new(Constant::new(160.0)),
            Rng::new(3, "size"),
            1472,
            42,
        ),
        stop: Time::from_secs(1),
        route: vec![there],
        keeps_arrivals: false,
    });
    net.run_until(Time::from_secs(20));
    assert!(net.flow(FlowId::new(0)).completed.is_some());
    net.finish_captures().expect("memory takes everything");
    let bytes = out
        .0
        .lock()
        .expect("no thread panics while it holds the lock")
        .clone();
    (bytes, net)
}

/// What tshark says of a capture; nothing where it is not installed.
fn tshark(capture: &[u8], arguments: &[&str]) -> Option<String> {
    let mut child = Command::new("tshark")
        .args(["-n", "-r", "-"])
        .args([
            "-o",
            "ip.check_checksum:TRUE",
            "-o",
            "tcp.check_checksum:TRUE",
        ])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take().expect("piped");
    let capture = capture.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&capture));
    let output = child.wait_with_output().expect("tshark ends");
    writer
        .join()
        .expect("the thread does not panic")
        .expect("tshark reads all");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(String::from_utf8(output.stdout).expect("the text is UTF-8"))
}

#[test]
fn blocks_follow_one_another_and_hold_every_packet() {
    let (bytes, net) = captured(1000, false);
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
    let (mut at, mut packets, mut last) = (0, 0, 0);
    while at < bytes.len() {
        let length = word(at + 4) as usize;
        assert!(length.is_multiple_of(4) && length >= 12);
        assert_eq!(word(at + length - 4) as usize, length);
        if word(at) == 6 {
            packets += 1;
            let time = u64::from(word(at + 12)) << 32 | u64::from(word(at + 16));
            assert!(time >= last);
            last = time;
        }
        at += length;
    }
    assert_eq!(at, bytes.len());
    let delivered = |index: usize| net.link(LinkId::new(index)).counters().delivered_pkts;
    assert_eq!(packets, delivered(0) + delivered(1));
}

#[test]
fn wireshark_has_nothing_to_complain_about_without_losses() {
    for ecn in [false, true] {
        let (bytes, _) = captured(1000, ecn);
        let Some(expert) = tshark(&bytes, &["-q", "-z", "expert"]) else {
            return;
        };
        let kinds = expert.lines().filter(|line| line.contains("  TCP  "));
        assert!(kinds.clone().count() > 0, "{expert}");
        for line in kinds {
            // Opening and closing are all that there is to say.
            let is_fine = line.contains("Connection") || line.contains("connection closing");
            assert!(is_fine, "{expert}");
        }
        assert!(
            !expert.contains("Errors") && !expert.contains("Warns"),
            "{expert}"
        );
        let fields = [
            "-T",
            "fields",
            "-e",
            "tcp.len",
            "-Y",
            "tcp.srcport == 40000",
        ];
        let payload = tshark(&bytes, &fields).expect("installed");
        let sum: u64 = payload
            .lines()
            .map(|line| line.parse::<u64>().expect("the text is a number"))
            .sum();
        assert_eq!(sum, 1_000_000);
        let bad = ["-Y", "ip.checksum.status == 0 || _ws.malformed"];
        assert_eq!(tshark(&bytes, &bad).expect("installed"), "");
    }
}

#[test]
fn wireshark_sees_losses_as_losses() {
    let (bytes, mut net) = captured(20, false);
    assert!(net.flow(FlowId::new(0)).sender.retransmissions > 0);
    let Some(expert) = tshark(&bytes, &["-q", "-z", "expert"]) else {
        return;
    };
    assert!(!expert.contains("Errors"), "{expert}");
    assert!(
        expert.contains("Previous segment(s) not captured"),
        "{expert}"
    );
    assert!(
        !expert.contains("ACKed segment that wasn't captured"),
        "{expert}"
    );
}
