//! What carries the packets of `trammel send`, as its users choose it: over loopback, and over a
//! wire between two hosts.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use trammel_io::error::Error;
use trammel_io::netns::{Namespace, veth};

fn trammel() -> Command {
    Command::new(env!("CARGO_BIN_EXE_trammel"))
}

/// A receiver that runs until so many flows are closed.
struct Receiver {
    child: Child,
    address: String,
    said: BufReader<ChildStderr>,
}

impl Receiver {
    fn start(listen: &str, flows: &str, more: &[&str]) -> Receiver {
        let mut command = trammel();
        command.args(["recv", "--listen", listen, "--port", "0", "--flows", flows]);
        command.arg("--no-key");
        command
            .args(more)
            .args(["--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be started");
        let mut said = BufReader::new(child.stderr.take().expect("the stream is piped"));
        let mut line = String::new();
        said.read_line(&mut line)
            .expect("the other end writes a line");
        let address = line.trim_end().strip_prefix("listening on ");
        Receiver {
            address: address.expect("it says so").to_owned(),
            child,
            said,
        }
    }

    fn kill(mut self) {
        self.child.kill().expect("the process has not ended");
        self.child
            .wait()
            .expect("the child process can be waited for");
    }

    /// Waits for its end; gives its exit code, its flows and what it said.
    fn end(mut self) -> (Option<i32>, Value, String) {
        let (mut printed, mut said) = (String::new(), String::new());
        let mut out = self.child.stdout.take().expect("the stream is piped");
        out.read_to_string(&mut printed)
            .expect("the other end writes text");
        self.said
            .read_to_string(&mut said)
            .expect("the other end writes text");
        let status = self
            .child
            .wait()
            .expect("the child process can be waited for");
        (status.code(), flows(printed.as_bytes(), "flows"), said)
    }
}

fn flows(text: &[u8], table: &str) -> Value {
    let all: Value = serde_json::from_slice(text).unwrap_or_default();
    all["tables"][table].clone()
}

fn send(to: &str, words: &[&str]) -> Output {
    let sent = trammel().args(["send", to]).args(words).output();
    sent.expect("it starts")
}

fn said(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// Whether this user may have raw sockets; says so where he may not.
fn has_right(out: &Output) -> bool {
    let lacks = out.status.code() == Some(3) && said(out).contains("CAP_NET_RAW");
    if lacks {
        println!("skipped: {}", said(out));
    }
    !lacks
}

#[test]
fn echo_requests_are_a_stream_like_any_other() {
    let receiver = Receiver::start("127.0.0.1", "2", &[]);
    let words = ["-T", "icmp", "--rate", "5000", "-n", "300", "--json"];
    for more in [&[][..], &["--round-trip"]] {
        let out = send(&receiver.address, &[&words[..], more].concat());
        if !has_right(&out) {
            return;
        }
        assert_eq!(out.status.code(), Some(0), "{}", said(&out));
        let row = &flows(&out.stdout, "streams")[0];
        let counts = (&row["sent_pkts"], &row["received_pkts"], &row["lost_pkts"]);
        assert_eq!(counts, (&300.into(), &300.into(), &0.into()));
        if !more.is_empty() {
            let back = &flows(&out.stdout, "flows")[0];
            let counts = (&back["pkts"], &back["lost_pkts"], &back["duplicate_pkts"]);
            assert_eq!(counts, (&300.into(), &0.into(), &0.into()));
        }
    }
    let (code, came, said) = receiver.end();
    assert_eq!(code, Some(0), "{said}");
    for flow in 0..2 {
        assert_eq!(
            (&came[flow]["pkts"], &came[flow]["protocol"]),
            (&300.into(), &"icmp".into())
        );
    }
}

#[test]
fn several_flows_have_seeds_of_their_own_and_share_threads() {
    let receiver = Receiver::start("127.0.0.1", "3", &[]);
    let words = "--rate 5000 --gap exponential --size uniform:min=16,max=1000 -n 200 --flows 3 \
                 --threads 2 --json";
    let words: Vec<&str> = words.split(' ').collect();
    let out = send(&receiver.address, &words);
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    let rows = flows(&out.stdout, "streams");
    let bytes: Vec<&Value> = (0..3).map(|at| &rows[at]["sent_bytes"]).collect();
    assert!(bytes[0] != bytes[1] && bytes[1] != bytes[2], "{bytes:?}");
    let (code, came, said) = receiver.end();
    assert_eq!(code, Some(0), "{said}");
    for flow in 0..3 {
        assert_eq!(came[flow]["pkts"], 200);
    }
}

#[test]
fn frames_cross_a_wire_to_an_ordinary_receiver() {
    let made = Namespace::new().and_then(|left| Ok((left, Namespace::new()?)));
    let (left, right) = match made {
        Ok(both) => both,
        Err(Error::NoRight { what, right }) => {
            println!("skipped: no right to {what}: it needs {right}");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    veth(&left, "a", &right, "b").expect("the pair of devices can be made");
    left.add_address("a", "10.0.0.1/24")
        .expect("the address is free");
    right
        .add_address("b", "10.0.0.2/24")
        .expect("the address is free");
    for (by, more) in [("packet", &[][..]), ("xdp", &[]), ("xdp", &["--xdp", "b"])] {
        let receiver = right.run(|| Receiver::start("10.0.0.2", "1", more));
        let words = [
            "--rate", "20 kpps", "-n", "500", "--size", "2000", "--by", by, "--json",
        ];
        let out = left.run(|| send(&receiver.address, &words));
        let why = said(&out);
        if by == "xdp" && (why.contains("no AF_XDP") || why.contains("CAP_BPF")) {
            println!("skipped: {why}");
            receiver.kill();
            continue;
        }
        assert_eq!(out.status.code(), Some(0), "{}", said(&out));
        let row = &flows(&out.stdout, "streams")[0];
        assert_eq!(
            (&row["received_pkts"], &row["errors"]),
            (&500.into(), &0.into())
        );
        // 2,000 bytes do not fit, which is told.
        assert_eq!(
            (&row["resized_pkts"], &row["sent_bytes"]),
            (&500.into(), &736_000.into())
        );
        let (code, came, said) = receiver.end();
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(came[0]["pkts"], 500);
    }
}

#[test]
fn what_cannot_be_had_is_one_line_that_says_what_to_do() {
    for (words, code, part) in [
        (&["--threads", "2"][..], 2, "`--flows 2`"),
        (&["--interface", "lo"], 2, "`--by packet`"),
        (
            &["--by", "packet", "--interface", "nowhere"],
            3,
            "ip link show",
        ),
        (&["--by", "xdp", "-T", "tcp"], 2, "for UDP"),
        (&["--to-mac", "02:00:00:00:00:01"], 2, "`--by packet`"),
    ] {
        let out = send("127.0.0.1:1", &[&["--rate", "1"], words].concat());
        let error = said(&out);
        assert_eq!(out.status.code(), Some(code), "{words:?}: {error}");
        assert!(
            error.contains(part) && error.lines().count() == 1,
            "{words:?}: {error}"
        );
    }
    // Either the kernel has no such sockets, or we do not use them: told before anybody is asked.
    for (protocol, name) in [("sctp", "SCTP"), ("dccp", "DCCP")] {
        let out = send("127.0.0.1:1", &["--rate", "1", "-T", protocol]);
        let (error, code) = (said(&out), out.status.code());
        let is_lack =
            code == Some(3) && error.contains("this kernel has no") && error.contains(';');
        let is_ours = code == Some(2) && error.contains("is not supported yet");
        assert!((is_lack || is_ours) && error.contains(name), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}
