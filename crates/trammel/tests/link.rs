//! `trammel link` as its users run it: both ends over loopback, what the document shows, and
//! iperf3's JSON beside ours.
#![cfg(target_os = "linux")]

mod listening;

use listening::listening;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::net::Ipv4Addr;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use trammel_io::held::Held;

fn trammel() -> Command {
    Command::new(env!("CARGO_BIN_EXE_trammel"))
}

/// A receiver that runs until it is dropped.
struct Receiver {
    child: Child,
    port: String,
    said: BufReader<ChildStderr>,
}

impl Receiver {
    fn start(more: &[&str]) -> Receiver {
        let mut command = trammel();
        command.args(["recv", "--port", "0"]).args(more);
        let (child, address, said) = listening(command.stdout(Stdio::null()));
        let port = address.port().to_string();
        Receiver { child, port, said }
    }

    fn link(&self, words: &[&str]) -> Command {
        let mut command = trammel();
        command
            .args(["link", &format!("127.0.0.1:{}", self.port)])
            .args(words);
        command
    }

    fn tested(&self, words: &[&str]) -> Output {
        self.link(words)
            .output()
            .expect("the program can be started")
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn signal(child: &Child, name: &str) {
    let done = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(done.expect("it is there").success());
}

/// Whether `line` is what `pattern` shows, in which `[..]` stands for any text.
fn fits(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split("[..]");
    let first = parts.next().expect("a split has a first part");
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    for part in parts {
        match rest.find(part) {
            Some(_) if part.is_empty() => rest = "",
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

#[test]
fn what_the_document_shows_is_what_comes() {
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/traffic.md");
    let document = std::fs::read_to_string(document).expect("the file exists");
    let receiver = Receiver::start(&[]);
    let mut runs = 0;
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        let Some(words) = line.strip_prefix("$ trammel link 127.0.0.1 ") else {
            continue;
        };
        let shown: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let script = format!("exec \"$TRAMMEL\" link 127.0.0.1:{} {words}", receiver.port);
        let out = Command::new("sh")
            .args(["-c", &script])
            .env("TRAMMEL", env!("CARGO_BIN_EXE_trammel"))
            .output()
            .expect("the program can be started");
        let text = String::from_utf8([out.stdout, out.stderr].concat()).expect("the text is UTF-8");
        let text = text.replace(&receiver.port, "9310");
        let came: Vec<&str> = text.lines().collect();
        assert_eq!(out.status.code(), Some(0), "{text}");
        assert_eq!(came.len(), shown.len(), "{text}");
        for (pattern, line) in shown.iter().zip(&came) {
            assert!(fits(pattern, line), "shown:\n{pattern}\ncame:\n{line}");
        }
        runs += 1;
    }
    assert_eq!(runs, 2);
}

/// What iperf3 tells and we have nothing of: sockets' buffers, its own cookie, and how processor
/// time is split.
const NOT_OURS: &[&str] = &[
    "cookie",
    "fq_rate",
    "fqrate",
    "host_system",
    "host_user",
    "rcvbuf_actual",
    "remote_system",
    "remote_user",
    "sndbuf_actual",
    "sock_bufsize",
    "system_info",
    "tcp_mss_default",
    "time",
];

/// What of `theirs` has no counterpart of the same kind in `ours`.
fn missing(ours: &Value, theirs: &Value, place: &str, into: &mut Vec<String>) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            for (key, value) in theirs {
                let place = format!("{place}.{key}");
                match ours.get(key) {
                    Some(own) => missing(own, value, &place, into),
                    None if NOT_OURS.contains(&key.as_str()) => {}
                    None => into.push(place),
                }
            }
        }
        (Value::Array(ours), Value::Array(theirs)) => match (ours.first(), theirs.first()) {
            (Some(own), Some(one)) => missing(own, one, place, into),
            (None, Some(_)) => into.push(format!("{place}[]")),
            _ => {}
        },
        (Value::Number(_), Value::Number(_))
        | (Value::String(_), Value::String(_))
        | (Value::Bool(_), Value::Bool(_)) => {}
        (own, one) => into.push(format!("{place}: {own} and {one}")),
    }
}

/// A port that nobody else is given.
fn free_port() -> Held {
    Held::at(Ipv4Addr::LOCALHOST.into()).expect("loopback has a free port")
}

/// What the client of iperf3 writes of such a test; none where there is no iperf3.
fn of_iperf3(words: &[&str]) -> Option<Value> {
    let held = free_port();
    let port = held.port().to_string();
    let mut server = Command::new("iperf3")
        .args(["-s", "-1", "-p", &port, "--forceflush"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .inspect_err(|why| eprintln!("skipped: no `iperf3`: {why}"))
        .ok()?;
    let mut said = BufReader::new(server.stdout.take().expect("the stream is piped"));
    let mut line = String::new();
    while !line.contains("listening") && said.read_line(&mut line).is_ok_and(|read| read > 0) {}
    let out = Command::new("iperf3")
        .args(["-c", "127.0.0.1", "-J", "-p", &port])
        .args(if words.contains(&"-n") {
            &[][..]
        } else {
            &["-t", "1"]
        })
        .args(words)
        .output()
        .expect("the program can be started");
    let _ = server.kill();
    let _ = server.wait();
    Some(serde_json::from_slice(&out.stdout).expect("the text is JSON"))
}

#[test]
fn what_iperf3_tells_as_json_is_told_under_the_same_names() {
    let receiver = Receiver::start(&[]);
    for words in [
        &["-P", "2"][..],
        &["-R"],
        &["--bidir"],
        &["-u", "-b", "5M"],
        &["-u", "-b", "5M", "-R"],
        &["-O", "1", "-S", "0x20"],
        &["-n", "300K", "-S", "184"],
        &["-n", "300K", "-R"],
        &["-n", "300K", "-u", "-b", "20M"],
    ] {
        let Some(theirs) = of_iperf3(words) else {
            return;
        };
        let time = if words.contains(&"-n") {
            &[][..]
        } else {
            &["-t", "1"]
        };
        let out = receiver.tested(&[words, time, &["-J"]].concat());
        assert_eq!(out.status.code(), Some(0), "{words:?}");
        let ours: Value = serde_json::from_slice(&out.stdout).expect("the text is JSON");
        let mut lacks = Vec::new();
        missing(&ours, &theirs, "", &mut lacks);
        assert!(lacks.is_empty(), "{words:?} lacks {lacks:?} in {ours:#}");
        let asked = |of: &Value, key: &str| of["start"]["test_start"][key].as_f64();
        for key in ["omit", "duration", "bytes", "tos"] {
            assert_eq!(asked(&ours, key), asked(&theirs, key), "{words:?}: {key}");
        }
        let omitted = |of: &Value| {
            let intervals = of["intervals"].as_array().expect("a list");
            let omitted = intervals.iter().map(|one| one["sum"]["omitted"].clone());
            omitted.collect::<Vec<_>>()
        };
        let left_out = omitted(&ours).iter().filter(|one| **one == true).count();
        assert_eq!(left_out, usize::from(words.contains(&"-O")), "{words:?}");
        if words.contains(&"-n") && !words.contains(&"-u") {
            let all = |end: &str| ours["end"][end]["bytes"].as_u64();
            assert_eq!(all("sum_sent"), Some(300 << 10), "{words:?}");
            assert_eq!(all("sum_received"), Some(300 << 10), "{words:?}");
        }
        let received = &ours["end"]["sum_received"];
        assert!(received["bytes"].as_u64().is_some_and(|bytes| bytes > 0));
        assert!(
            received["bits_per_second"]
                .as_f64()
                .is_some_and(|bits| bits > 0.0)
        );
    }
}

#[test]
fn a_hundred_streams_are_tested_at_once() {
    let receiver = Receiver::start(&["--flows", "1"]);
    let out = receiver.tested(&["-P", "100", "-t", "3", "-b", "1M", "--json"]);
    let json: Value = serde_json::from_slice(&out.stdout).expect("the text is JSON");
    assert_eq!(out.status.code(), Some(0), "{json:#}");
    let streams = json["end"]["streams"].as_array().expect("a list");
    assert_eq!(streams.len(), 100);
    for stream in streams {
        assert!(stream["receiver"]["bytes"].as_u64() > Some(0), "{stream}");
    }
}

#[test]
fn trouble_has_its_exit_code_and_says_what_to_do() {
    let nobody = free_port();
    let out = trammel()
        .args(["link", &nobody.address().to_string()])
        .output()
        .expect("the program can be started");
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(3), "{said}");
    assert!(said.contains("`trammel recv`"), "{said}");

    let mut receiver = Receiver::start(&[]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let full = full.expect("Linux has it");
    let out = receiver.link(&["-t", "30"]).stdout(full).output();
    let out = out.expect("it starts");
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains("standard output"), "{said}");

    // Who is interrupted, and who loses the receiver, tells of what was tested by then.
    for (is_receiver, code) in [(false, 130), (true, 1)] {
        let mut command = receiver.link(&["-t", "3600", "-i", "0.2"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut client = command.spawn().expect("the program can be started");
        let mut printed = BufReader::new(client.stdout.take().expect("the stream is piped"));
        let mut text = String::new();
        while !text.contains("0.0 - 0.2") {
            let read = printed
                .read_line(&mut text)
                .expect("the other end writes a line");
            assert!(read > 0, "{text}");
        }
        if is_receiver {
            receiver.child.kill().expect("the process has not ended");
        } else {
            signal(&client, "-INT");
        }
        printed
            .read_to_string(&mut text)
            .expect("the other end writes text");
        let status = client.wait().expect("the child process can be waited for");
        assert_eq!(status.code(), Some(code), "{text}");
        assert!(text.contains("\ngoodput  "), "{text}");
        assert_eq!(text.contains("stopped  "), is_receiver, "{text}");
    }
    let mut said = String::new();
    receiver
        .said
        .read_to_string(&mut said)
        .expect("the other end writes text");
    assert!(said.contains("the other end has stopped it"), "{said}");
}

/// A network namespace of this test's own, removed when it is dropped.
struct Namespace(String);

impl Namespace {
    /// One with its loopback up in which `words` succeeded too; nothing where there is none to be
    /// had.
    fn with(kind: &str, words: &[&str]) -> Option<Namespace> {
        let namespace = Namespace(format!("li-{kind}-{}", std::process::id()));
        let is_made = ip(&["netns", "add", &namespace.0])
            && namespace.has_run(&["ip", "link", "set", "lo", "up"])
            && namespace.has_run(words);
        is_made.then_some(namespace)
    }

    fn has_run(&self, words: &[&str]) -> bool {
        ip(&[&["netns", "exec", &self.0][..], words].concat())
    }

    /// What a shell does in it, a minute at most.
    fn shell(&self, script: &str) -> Output {
        Command::new("ip")
            .args([
                "netns", "exec", &self.0, "timeout", "60", "sh", "-c", script,
            ])
            .env("TRAMMEL", env!("CARGO_BIN_EXE_trammel"))
            .stderr(Stdio::null())
            .output()
            .expect("the program can be started")
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = ip(&["netns", "del", &self.0]);
    }
}

fn ip(words: &[&str]) -> bool {
    let done = Command::new("ip").args(words).output();
    done.is_ok_and(|done| done.status.success())
}

/// One datagram in ten is dropped by the kernel's filter; skipped where it cannot.
#[test]
fn losses_of_a_path_are_told_by_sequence() {
    let rules = "add table inet t; add chain inet t i { type filter hook input priority 0; }; \
         add rule inet t i meta l4proto udp numgen random mod 10 == 0 drop";
    let Some(namespace) = Namespace::with("nft", &["nft", rules]) else {
        eprintln!("skipped: no namespace with `nft`");
        return;
    };
    let out = namespace.shell(
        "\"$TRAMMEL\" recv --flows 1 2>/dev/null >/dev/null & \
         until \"$TRAMMEL\" link 127.0.0.1 -u -b 4M -l 500 -t 2 --json; do :; done; wait",
    );
    let json: Value = serde_json::from_slice(&out.stdout).expect("the text is JSON");
    let sum = &json["end"]["sum"];
    let number = |key: &str| sum[key].as_f64().expect(key);
    // 2,000 datagrams: five standard deviations about 10 %.
    assert!((number("lost_percent") - 10.0).abs() < 3.4, "{sum:#}");
    let came = json["end"]["streams"][0]["udp"]["bytes"].as_f64();
    let came = came.expect("a number") / 500.0;
    let all = came + number("lost_packets");
    assert!((all - number("packets")).abs() < 0.5, "{json:#}");
}

/// Only datagrams of one type of service pass; skipped where the kernel's filter cannot tell.
#[test]
fn the_type_of_service_is_that_of_every_packet() {
    let rules = "add table inet t; add chain inet t i { type filter hook input priority 0; }; \
         add rule inet t i meta l4proto udp ip dscp != ef drop";
    let Some(namespace) = Namespace::with("nft", &["nft", rules]) else {
        eprintln!("skipped: no namespace with `nft`");
        return;
    };
    let out = namespace.shell(
        "\"$TRAMMEL\" recv --flows 2 2>/dev/null >/dev/null & \
         until \"$TRAMMEL\" link 127.0.0.1 -t 0.2; do :; done; \
         \"$TRAMMEL\" link 127.0.0.1 -u -R -S 0xb8 -b 1M -t 0.5 --json; wait",
    );
    let text = String::from_utf8_lossy(&out.stdout);
    let json = text.get(text.find('{').expect("an account")..);
    let json: Value = serde_json::from_str(json.expect("its place")).expect("the text is JSON");
    let sum = &json["end"]["sum"];
    assert_eq!(sum["lost_packets"], 0, "{sum:#}");
    assert!(
        sum["bytes"].as_u64().is_some_and(|bytes| bytes > 0),
        "{sum:#}"
    );
}

/// An address of one link only is reached and listened on with its interface; skipped where there
/// is no namespace to be had.
#[test]
fn an_address_of_one_link_is_reached_by_its_zone() {
    let address = ["ip", "addr", "add", "fe80::1/64", "dev", "lo", "nodad"];
    let Some(namespace) = Namespace::with("zone", &address) else {
        eprintln!("skipped: no namespace with an address `fe80::1`");
        return;
    };
    let out = namespace.shell(
        "\"$TRAMMEL\" recv --listen 'fe80::1%lo' --no-key --flows 3 >/dev/null 2>&1 & \
         until \"$TRAMMEL\" link 'fe80::1%lo' -t 0.2; do :; done; \
         for by in udp tcp; do \
         \"$TRAMMEL\" send '[fe80::1%lo]:9310' -T $by --rate 100 -n 5 --json || exit 9; done; \
         wait; \"$TRAMMEL\" recv --itg --listen :: --no-key --flows 2 >/dev/null 2>&1 & \
         until \"$TRAMMEL\" send --itg '-a fe80::1%lo -C 100 -c 100 -z 5'; do :; done; \
         \"$TRAMMEL\" send --itg '-a fe80::1%lo -sa fe80::1%lo -T TCP -C 100 -c 100 -z 5' || exit \
         8; wait",
    );
    let text = String::from_utf8_lossy(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{text}");
    assert!(text.contains("[fe80::1%1]:9310"), "{text}");
}
