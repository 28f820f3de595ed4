//! Options of D-ITG that need a wire between two hosts, beside its own programs: ICMP, interfaces,
//! the near ends of connections.
//!
//! Over loopback ITGRecv counts the replies to its echo requests as well. Where Debian's `d-itg` or
//! the right to namespaces is missing the tests print that they are skipped.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};
use trammel_io::error::Error;
use trammel_io::netns::{Namespace, veth};

/// Longer than anything here takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// Two hosts and the wire between them: `10.0.0.1`, `fd77::1` on `a`, and `10.0.0.2`, `fd77::2` on
/// `b`.
fn hosts() -> Option<(Namespace, Namespace)> {
    if let Err(why) = Command::new("ITGSend").arg("-h").output() {
        println!("skipped: `ITGSend` cannot be run: {why}; `apt-get install d-itg`");
        return None;
    }
    let (left, right) = match Namespace::new().and_then(|left| Ok((left, Namespace::new()?))) {
        Ok(both) => both,
        Err(Error::NoRight { what, right }) => {
            println!("skipped: no right to {what}: it needs {right}");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    for host in [&left, &right] {
        // An address is had at once, and not when nobody has answered for it for a second.
        let done = host.set_sysctl("ipv6/conf/default/accept_dad", "0");
        done.and_then(|()| host.enable_ipv6()).expect("its own");
    }
    veth(&left, "a", &right, "b").expect("the pair of devices can be made");
    for (host, device, four, six) in [
        (&left, "a", "10.0.0.1/24", "fd77::1/64"),
        (&right, "b", "10.0.0.2/24", "fd77::2/64"),
    ] {
        host.add_address(device, four).expect("the address is free");
        host.add_address(device, six).expect("the address is free");
    }
    Some((left, right))
}

/// A program that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts one of D-ITG's programs on a host.
fn start(host: &Namespace, folder: &Path, program: &str, line: &str) -> Running {
    let mut command = Command::new(program);
    command
        .args(line.split_whitespace())
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Running(host.run(|| command.spawn()).expect("it is installed"))
}

fn trammel(host: &Namespace, folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.args(words).current_dir(folder);
    host.run(|| command.output())
        .expect("the program can be started")
}

/// `trammel recv --itg` that runs on port 9000 of a host of its own.
struct Receiver(Running, BufReader<ChildStderr>);

impl Receiver {
    fn start(host: &Namespace, folder: &Path, words: &[&str]) -> Receiver {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
        command
            .args(["recv", "--listen", "::", "--no-key", "--json"])
            .args(words)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = host
            .run(|| command.spawn())
            .expect("the program can be started");
        let mut said = BufReader::new(child.stderr.take().expect("the stream is piped"));
        let mut line = String::new();
        said.read_line(&mut line)
            .expect("the other end writes a line");
        assert!(line.starts_with("listening"), "{line}");
        Receiver(Running(child), said)
    }

    /// Waits for its end; gives packets of its flows, by protocol and number, and what it said.
    fn end(mut self) -> (Vec<(String, u64)>, String) {
        let (mut printed, mut said) = (String::new(), String::new());
        let mut out = self.0.0.stdout.take().expect("the stream is piped");
        out.read_to_string(&mut printed)
            .expect("the other end writes text");
        self.1
            .read_to_string(&mut said)
            .expect("the other end writes text");
        let all: Value = serde_json::from_str(&printed).expect(&said);
        let rows = all["tables"]["flows"].as_array().expect("a table");
        let of = |row: &Value| {
            let protocol = row["protocol"].as_str().expect("a word").to_owned();
            (
                protocol,
                row["pkts"].as_u64().expect("the value is a number"),
            )
        };
        let mut found: Vec<_> = rows.iter().map(of).collect();
        found.sort_unstable();
        (found, said)
    }
}

/// Packets that `ITGDec` finds in a log, and their bytes.
fn decoded(folder: &Path, log: &str) -> (u64, u64) {
    let out = Command::new("ITGDec").arg(log).current_dir(folder).output();
    let text = String::from_utf8_lossy(&out.expect("it is installed").stdout).into_owned();
    let total = |name: &str| {
        let line = text.lines().rfind(|line| line.starts_with(name));
        let number = line.and_then(|line| line.rsplit('=').next());
        number.map_or(0, |number| {
            number.trim().parse().expect("the text is a number")
        })
    };
    (total("Total packets"), total("Bytes received"))
}

#[test]
fn itgrecv_takes_icmp_interfaces_near_ends_and_bursts_of_lists() {
    let Some(hosts) = hosts() else {
        return;
    };
    let script = "-a 10.0.0.2 -T ICMP -C 500 -c 100 -z 50 -i a\n\
                  -a fd77::2 -T ICMP -C 500 -c 64 -z 30 -i a\n\
                  -a fd77::2 -rp 7001 -T TCP -C 500 -c 64 -z 20 -sa fd77::1 -sp 7002 -Ssa fd77::1 \
                  -Ssp 7003 -Si a\n\
                  -a fd77::2 -rp 7004 -C 500 -c 64 -z 10 -sa fd77::1 -sp 7005 -i a\n\
                  -a 10.0.0.2 -rp 7006 -z 16 -i a -p 1 -Ft gaps -Fs sizes -B C 10 C 20\n";
    let bytes = 50 * 100 + 30 * 64 + 20 * 64 + 10 * 64 + 16 * 150;
    let text = sent_to_itgrecv(&hosts, script, (126, bytes));
    for end in ["fd77::1/7002", "fd77::1/7005"] {
        assert!(text.contains(end), "no packet from {end}: {text}");
    }
    // By itself, since ITGRecv counts every packet of ICMP for each of its flows that is open.
    let script = "-a 10.0.0.2 -T ICMP 13 -C 500 -c 33 -z 40 -sa 10.0.0.1 -b 0x20 -f 9\n";
    sent_to_itgrecv(&hosts, script, (40, 40 * 33));
}

/// Sends a script's flows from the left host to an ITGRecv on the right one: both logs have these
/// packets and bytes. Gives the receiver's as text.
fn sent_to_itgrecv(
    (left, right): &(Namespace, Namespace),
    script: &str,
    all: (u64, u64),
) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    std::fs::write(here.join("gaps"), "1\n2\n").expect("the file can be written");
    std::fs::write(here.join("sizes"), "100\n200\n").expect("the file can be written");
    std::fs::write(here.join("script"), script).expect("the file can be written");
    let running = start(right, here, "ITGRecv", "-l received.log");
    let until = Instant::now() + LONG;
    let words = [
        "send",
        "--itg-script",
        "script",
        "--itg",
        "-l sent.log",
        "--json",
    ];
    let out = loop {
        let out = trammel(left, here, &words);
        // It may not listen yet.
        if out.status.code() != Some(3) || Instant::now() > until {
            break out;
        }
    };
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{said}");
    assert_eq!(decoded(here, "sent.log"), all);
    // ITGRecv writes its log when it likes, some time after a flow has ended.
    let until = Instant::now() + LONG;
    while decoded(here, "received.log").0 < all.0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(decoded(here, "received.log"), all);
    let mut decode = Command::new("ITGDec");
    decode
        .args(["received.log", "-l", "text"])
        .current_dir(here);
    decode.output().expect("the program can be started");
    drop(running);
    std::fs::read_to_string(here.join("text")).expect("the file exists")
}

#[test]
fn itgsend_is_served_over_icmp_and_by_an_interface() {
    let Some((left, right)) = hosts() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let script = "-a 10.0.0.2 -T ICMP -C 500 -c 100 -z 50\n\
                  -a 10.0.0.2 -T ICMP 13 -C 500 -c 33 -z 40\n\
                  -a fd77::2 -T ICMP -C 500 -c 64 -z 30\n\
                  -a fd77::2 -rp 7001 -T TCP -C 500 -c 64 -z 20\n\
                  -a 10.0.0.2 -rp 7002 -C 500 -c 64 -z 10\n";
    std::fs::write(here.join("script"), script).expect("the file can be written");
    let receiver = Receiver::start(&right, here, &["--itg=-i b -Si b", "--flows", "5"]);
    let sending = start(&left, here, "ITGSend", "script");
    let (found, said) = receiver.end();
    let expected = [
        ("icmp", 30),
        ("icmp", 40),
        ("icmp", 50),
        ("tcp", 20),
        ("udp", 10),
    ];
    assert_eq!(
        found,
        expected.map(|(name, count)| (name.to_owned(), count)),
        "{said}"
    );
    drop(sending);
}

#[test]
fn what_comes_by_another_interface_is_not_taken() {
    let Some((left, right)) = hosts() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receiver = Receiver::start(&right, here, &["--itg=-i lo", "--flows", "2"]);
    let script =
        "-a 10.0.0.2 -rp 7001 -C 500 -c 64 -z 10\n-a 10.0.0.2 -T ICMP -C 500 -c 64 -z 10\n";
    std::fs::write(here.join("script"), script).expect("the file can be written");
    let out = trammel(&left, here, &["send", "--itg-script", "script", "--json"]);
    let error = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{error}");
    let (found, said) = receiver.end();
    let none = ["icmp", "udp"].map(|name| (name.to_owned(), 0));
    assert_eq!(found, none, "{said}");
    // And nobody is found by an interface that does not lead there.
    let line = "-a 10.0.0.2 -C 10 -z 1 -s 0.5 -Si lo";
    let out = trammel(&left, here, &["send", "--itg", line]);
    assert_eq!(out.status.code(), Some(3), "{out:?}");
}
