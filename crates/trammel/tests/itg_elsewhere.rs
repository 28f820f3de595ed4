//! D-ITG's logs kept elsewhere and its passive mode, ours in each role beside its own programs in
//! the other.
//!
//! ITGLog and both ends of the passive mode have fixed ports: each test has a host of its own, a
//! network namespace. Where Debian's `d-itg` or the right to namespaces is missing the tests print
//! that they are skipped.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};
use trammel_io::error::Error;
use trammel_io::netns::Namespace;

/// Longer than anything here takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);
/// Between two looks.
const LOOK: Duration = Duration::from_millis(50);

/// A host with a loopback of its own.
fn host() -> Option<Namespace> {
    if let Err(why) = Command::new("ITGSend").arg("-h").output() {
        println!("skipped: `ITGSend` cannot be run: {why}; `apt-get install d-itg`");
        return None;
    }
    match Namespace::new() {
        Ok(host) => {
            host.enable_ipv6().expect("its own");
            Some(host)
        }
        Err(Error::NoRight { what, right }) => {
            println!("skipped: no right to {what}: it needs {right}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A program that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Running {
    /// Starts one of D-ITG's programs.
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

    fn wait(mut self) {
        let until = Instant::now() + LONG;
        while self
            .0
            .try_wait()
            .expect("the child process can be waited for")
            .is_none()
        {
            assert!(Instant::now() < until, "it does not end");
            std::thread::sleep(LOOK);
        }
    }
}

/// One of ours that runs, and what it says after its first line.
struct Ours(Running, BufReader<ChildStderr>);

impl Ours {
    /// Starts it, and waits until it says something: where it listens, waits or goes to.
    fn start(host: &Namespace, folder: &Path, words: &[&str]) -> Ours {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
        command
            .args(words)
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = host
            .run(|| command.spawn())
            .expect("the program can be started");
        let mut said = BufReader::new(child.stderr.take().expect("the stream is piped"));
        let mut line = String::new();
        while !["listening", "waiting", "coming"]
            .iter()
            .any(|word| line.starts_with(word))
        {
            line.clear();
            let count = said
                .read_line(&mut line)
                .expect("the other end writes a line");
            assert!(count > 0, "it ends before it says where it is");
        }
        Ours(Running(child), said)
    }

    /// Waits for its end; gives the tables that it printed and what it said.
    fn end(mut self) -> (Value, String) {
        let (mut printed, mut said) = (String::new(), String::new());
        let mut out = self.0.0.stdout.take().expect("the stream is piped");
        out.read_to_string(&mut printed)
            .expect("the other end writes text");
        self.1
            .read_to_string(&mut said)
            .expect("the other end writes text");
        let all: Value = serde_json::from_str(&printed).expect(&said);
        (all["tables"].clone(), said)
    }
}

fn trammel(host: &Namespace, folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.args(words).current_dir(folder);
    host.run(|| command.output())
        .expect("the program can be started")
}

/// Waits until a port of TCP is listened on, without coming to it: who waits for one receiver would
/// take this for it.
fn wait_for(host: &Namespace, port: u16) {
    let (until, end) = (Instant::now() + LONG, format!(":{port:04X}"));
    let is_listening = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let (local, state) = (words.next(), words.nth(1));
        local.is_some_and(|local| local.ends_with(&end)) && state == Some("0A")
    };
    loop {
        let tables = host.run(|| {
            ["tcp", "tcp6"]
                .map(|table| std::fs::read_to_string(format!("/proc/thread-self/net/{table}")))
        });
        let mut tables = tables.into_iter().flatten();
        if tables.any(|table| table.lines().any(is_listening)) {
            return;
        }
        assert!(
            Instant::now() < until,
            "nobody listens on port {port} of TCP"
        );
        std::thread::sleep(LOOK);
    }
}

/// Packets that `ITGDec` finds in a log.
fn decoded(folder: &Path, log: &str) -> u64 {
    let out = Command::new("ITGDec").arg(log).current_dir(folder).output();
    let text = String::from_utf8_lossy(&out.expect("it is installed").stdout).into_owned();
    let total = text.lines().rfind(|line| line.starts_with("Total packets"));
    let number = total.and_then(|line| line.rsplit('=').next());
    number.map_or(0, |number| {
        number.trim().parse().expect("the text is a number")
    })
}

/// Waits until ITGDec finds so many packets in a log; servers write as they like.
fn has(folder: &Path, log: &str, packets: u64) {
    comes_to(folder, log, packets);
    assert_eq!(decoded(folder, log), packets, "{log}");
}

/// Whether ITGDec finds so many packets in a log before long.
fn comes_to(folder: &Path, log: &str, packets: u64) -> bool {
    let until = Instant::now() + LONG;
    while decoded(folder, log) < packets && Instant::now() < until {
        std::thread::sleep(LOOK);
    }
    decoded(folder, log) == packets
}

/// Packets of all flows of a receiver.
fn received(tables: &Value) -> u64 {
    let rows = tables["flows"].as_array().expect("a table");
    rows.iter()
        .map(|row| row["pkts"].as_u64().expect("the value is a number"))
        .sum()
}

#[test]
fn the_original_logs_to_our_server() {
    let Some(host) = host() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let words = ["log", "--itg", "--listen", "127.0.0.1:9001", "logs/"];
    let server = Ours::start(&host, here, &words);
    for way in ["UDP", "TCP"] {
        let line = format!("-L a:127.0.0.1 p:9001 P:{way} -l /somewhere/received{way}");
        let receiver = Running::start(&host, here, "ITGRecv", &line);
        wait_for(&host, 9000);
        let line = format!("-a 127.0.0.1 -C 1000 -c 100 -z 120 -L 127.0.0.1 {way} -l sent{way}");
        Running::start(&host, here, "ITGSend", &line).wait();
        has(here, &format!("logs/received{way}"), 120);
        has(here, &format!("logs/sent{way}"), 120);
        drop(receiver);
        // What a sender wishes, of the original and of ours.
        let receiver = Running::start(&host, here, "ITGRecv", "");
        wait_for(&host, 9000);
        let line = |log: &str| {
            format!("-a 127.0.0.1 -C 1000 -c 100 -z 70 -X 127.0.0.1 {way} -x {log}{way}")
        };
        // On a busy machine the original's receiver ends a flow before it has read its last packet,
        // now and then: then it is asked again.
        let is_whole = ["wished", "wished_again", "wished_at_last"]
            .iter()
            .any(|log| {
                Running::start(&host, here, "ITGSend", &line(log)).wait();
                comes_to(here, &format!("logs/{log}{way}"), 70)
            });
        assert!(is_whole, "{way}");
        let line = line("by_ours");
        let out = trammel(&host, here, &["send", "--itg", &line]);
        assert_eq!(out.status.code(), Some(0), "{out:?}");
        has(here, &format!("logs/by_ours{way}"), 70);
        drop(receiver);
    }
    drop(server);
}

#[test]
fn ours_log_to_the_original_server() {
    let Some(host) = host() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let server = Running::start(&host, here, "ITGLog", "");
    wait_for(&host, 9001);
    for way in ["UDP", "TCP"] {
        let logs = format!("--itg=-L P:{way} -l received{way}");
        let words = ["recv", &logs, "--flows", "1", "--json"];
        let receiver = Ours::start(&host, here, &words);
        let line = format!("-a 127.0.0.1 -C 1000 -c 100 -z 120 -L 127.0.0.1 {way} -l sent{way}");
        let out = trammel(&host, here, &["send", "--itg", &line]);
        assert_eq!(out.status.code(), Some(0), "{out:?}");
        let (tables, said) = receiver.end();
        assert_eq!(received(&tables), 120, "{said}");
        has(here, &format!("received{way}"), 120);
        has(here, &format!("sent{way}"), 120);
        // A wish is heard by who was told to hear such.
        for (folder, packets) in [(&["--itg-logs", "."][..], 70), (&[], 0)] {
            let words = [&["recv", "--itg", "--flows", "1", "--json"], folder].concat();
            let receiver = Ours::start(&host, here, &words);
            let line = format!(
                "-a 127.0.0.1 -C 1000 -c 100 -z 70 -X 127.0.0.1 {way} -x wished{way}{packets}"
            );
            Running::start(&host, here, "ITGSend", &line).wait();
            let (tables, said) = receiver.end();
            assert_eq!(received(&tables), 70, "{said}");
            has(here, &format!("wished{way}{packets}"), packets);
            assert_eq!(said.contains("no folder is given"), packets == 0, "{said}");
        }
    }
    drop(server);
}

#[test]
fn the_original_comes_to_our_passive_sender() {
    let Some(host) = host() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    for (address, options) in [
        ("127.0.0.1", "-T UDP"),
        ("127.0.0.1", "-T TCP"),
        ("::1", "-T UDP -m rttm"),
        ("::1", "-T TCP -Ssp 9100 -sp 9200"),
    ] {
        let line = format!("-H -a {address} -C 1000 -c 100 -z 120 {options}");
        let sender = Ours::start(&host, here, &["send", "--itg", &line, "--json"]);
        let port = if options.contains("-Ssp") {
            "-Sp 9100"
        } else {
            ""
        };
        let line = format!("-H {address} -l received.log {port}");
        Running::start(&host, here, "ITGRecv", &line).wait();
        let (tables, said) = sender.end();
        assert_eq!(tables["streams"][0]["sent_pkts"], 120, "{said}");
        if options.contains("rttm") {
            assert_eq!(received(&tables), 120, "{said}");
        }
        has(here, "received.log", 120);
    }
}

#[test]
fn ours_comes_to_a_passive_sender() {
    let Some(host) = host() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    // The original's, whose passive mode is of IPv6 only: it binds a socket of IPv4 to `::`.
    for options in ["-T UDP", "-T TCP", "-T UDP -m rttm", "-T TCP -m rttm"] {
        let line = format!("-H -a ::1 -C 1000 -c 100 -z 120 {options} -l sent.log");
        let sender = Running::start(&host, here, "ITGSend", &line);
        wait_for(&host, 9000);
        let receiver = Ours::start(&host, here, &["recv", "--itg=-H ::1", "--json"]);
        let (tables, said) = receiver.end();
        assert_eq!(received(&tables), 120, "{options}: {said}");
        sender.wait();
        assert_eq!(decoded(here, "sent.log"), 120, "{options}");
    }
    // Ours, several flows at once.
    let script =
        "-H -a 127.0.0.1 -C 1000 -c 100 -z 80\n-H -a 127.0.0.1 -C 1000 -c 100 -z 90 -T TCP\n";
    std::fs::write(here.join("script"), script).expect("the file can be written");
    let words = ["send", "--itg-script", "script", "--json"];
    let sender = Ours::start(&host, here, &words);
    let receiver = Ours::start(&host, here, &["recv", "--itg=-H 127.0.0.1", "--json"]);
    let (tables, said) = receiver.end();
    assert_eq!(received(&tables), 170, "{said}");
    let (tables, said) = sender.end();
    assert_eq!(tables["streams"][1]["sent_pkts"], 90, "{said}");
}

/// Orders a flow as libITG does, and gives what is answered, to the end of the flow.
fn orders(host: &Namespace, line: &str) -> Vec<Vec<u8>> {
    host.run(|| {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
        socket
            .set_read_timeout(Some(LONG))
            .expect("the time-out is above 0");
        socket
            .send_to(line.as_bytes(), "127.0.0.1:8998")
            .expect("the datagram can be sent");
        let (mut answers, mut bytes) = (Vec::new(), [0; 2000]);
        while answers.len() < 2 {
            let count = socket.recv(&mut bytes).expect("it is answered");
            answers.push(bytes[..count].to_vec());
        }
        answers
    })
}

#[test]
fn orders_of_libitg_are_carried_out_and_answered_as_by_the_original() {
    let Some(host) = host() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receiver = Running::start(&host, here, "ITGRecv", "-l received.log");
    wait_for(&host, 9000);
    let lines = [
        "-a 127.0.0.1 -rp 9101 -C 1000 -c 100 -z 50",
        "-a 127.0.0.1 -rp 9102 -C 1000 -c 100 -z 60 -T TCP",
    ];
    let original = Running::start(&host, here, "ITGSend", "-Q -l theirs.log");
    let until = Instant::now() + LONG;
    let has_port = || {
        let table = host.run(|| std::fs::read_to_string("/proc/thread-self/net/udp"));
        table.is_ok_and(|table| table.contains(":2326 "))
    };
    while !has_port() {
        assert!(Instant::now() < until, "ITGSend does not listen");
        std::thread::sleep(LOOK);
    }
    let theirs = lines.map(|line| orders(&host, line));
    drop(original);
    has(here, "received.log", 110);
    let daemon = Ours::start(&host, here, &["send", "--itg", "-Q -l ours.log"]);
    let ours = lines.map(|line| orders(&host, line));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        // The end is told alike, byte for byte; of the beginning theirs has only the first byte as
        // documented.
        assert_eq!(ours[1], theirs[1]);
        assert_eq!((ours[0][0], theirs[0][0]), (1, 1));
        assert_eq!(ours[0][1..4], [0; 3]);
        assert_eq!(ours[0][4..], ours[1][4..]);
    }
    // What is no order, what would read a file, and what has no receiver: ours says so and goes on.
    let stranger = host.run(|| UdpSocket::bind("127.0.0.1:0")).expect("a port");
    for nonsense in [
        "-bogus 5",
        "-C 1 -Fp /etc/hostname",
        "-C 1 -l x",
        "script",
        "",
    ] {
        let sent = stranger.send_to(nonsense.as_bytes(), "127.0.0.1:8998");
        sent.expect("it has a loopback");
    }
    let answers = orders(&host, "-a 127.0.0.1 -Sdp 9777 -C 100 -z 5");
    assert_eq!((answers[0][0], answers[1][0]), (1, 2));
    orders(&host, lines[0]);
    has(here, "received.log", 110 + 110 + 50);
    has(here, "ours.log", 110 + 50);
    drop((receiver, daemon));
}

#[test]
fn where_nobody_is_there_or_writes_nonsense_is_said() {
    let Some(host) = host() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    std::fs::write(here.join("file"), "").expect("the file can be written");
    for (words, code, said) in [
        (
            &["recv", "--itg=-L a:127.0.0.1"][..],
            3,
            "no log server of D-ITG answers",
        ),
        (&["recv", "--itg=-L 127.0.0.1"], 2, "-L a:10.0.0.9"),
        (
            &["recv", "--itg=-H 127.0.0.1"],
            3,
            "no passive sender of D-ITG waits",
        ),
        (&["log", "--itg", "file"], 2, "give a folder, `file/`"),
        (
            &["send", "--itg", "-H -T ICMP -s 0.5"],
            3,
            "no receiver comes for packets of ICMP",
        ),
    ] {
        let out = trammel(&host, here, words);
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(code), "{words:?}: {error}");
        assert!(error.contains(said), "{words:?}: {error}");
    }
}
