//! `trammel send --itg` and `trammel recv --itg` beside D-ITG's own programs, and beside peers that
//! lie, stall or vanish.
//!
//! Where Debian's `d-itg` is not installed the tests that need it print that they are skipped.
#![cfg(target_os = "linux")]

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};
use trammel_io::held::Held;

/// Longer than anything here takes on a busy machine.
const LONG: Duration = Duration::from_secs(60);

fn trammel(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.current_dir(folder).args(words);
    command
}

fn output(folder: &Path, words: &[&str]) -> Output {
    trammel(folder, words)
        .output()
        .expect("the program can be started")
}

fn is_installed(program: &str) -> bool {
    let found = Command::new(program)
        .arg("-h")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match found {
        Ok(mut child) => {
            let _ = child.kill();
            let _ = child.wait();
            true
        }
        Err(_) => {
            eprintln!("skipped: `{program}` is not installed; `apt-get install d-itg`");
            false
        }
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

fn start(folder: &Path, program: &str, line: &str) -> Running {
    let child = Command::new(program)
        .args(line.split_whitespace())
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Running(child.expect("it is installed"))
}

impl Running {
    fn wait(mut self) {
        let until = Instant::now() + LONG;
        while self
            .0
            .try_wait()
            .expect("the child process can be waited for")
            .is_none()
        {
            assert!(Instant::now() < until, "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// `trammel recv --itg` that runs.
struct Receiver {
    child: Child,
    port: u16,
    said: BufReader<ChildStderr>,
}

impl Receiver {
    fn start(folder: &Path, words: &[&str]) -> Receiver {
        let all = [&["recv", "--port", "0"], words].concat();
        let mut command = trammel(folder, &all);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program can be started");
        let mut said = BufReader::new(child.stderr.take().expect("the stream is piped"));
        let mut line = String::new();
        said.read_line(&mut line)
            .expect("the other end writes a line");
        let port = line.trim_end().rsplit(':').next().expect("the last part");
        Receiver {
            port: port.parse().expect(&line),
            child,
            said,
        }
    }

    /// Waits for its end: the exit code, what it printed and what it said.
    fn end(mut self) -> (Option<i32>, Vec<u8>, String) {
        let (mut printed, mut said) = (Vec::new(), String::new());
        let mut out = self.child.stdout.take().expect("the stream is piped");
        out.read_to_end(&mut printed).expect("it is read");
        self.said
            .read_to_string(&mut said)
            .expect("the other end writes text");
        let status = self
            .child
            .wait()
            .expect("the child process can be waited for");
        (status.code(), printed, said)
    }
}

/// Ports of an address that nobody else is given.
fn hold<const N: usize>(address: &str) -> [Held; N] {
    let address = address.parse().expect("the address is well formed");
    std::array::from_fn(|_| Held::at(address).expect("loopback has a free port"))
}

/// Their numbers.
fn numbers<const N: usize>(held: &[Held; N]) -> [u16; N] {
    held.each_ref().map(Held::port)
}

fn tables(text: &[u8]) -> Value {
    let all: Value = serde_json::from_slice(text).expect("the text is JSON");
    all["tables"].clone()
}

/// Packets that `ITGDec` finds in a log, of all flows together.
fn decoded_by_itgdec(folder: &Path, log: &str) -> u64 {
    let out = Command::new("ITGDec").arg(log).current_dir(folder).output();
    let out = out.expect("it is installed");
    let text = String::from_utf8_lossy(&out.stdout);
    let total = text.lines().rfind(|line| line.starts_with("Total packets"));
    let number = total.and_then(|line| line.rsplit('=').next());
    number.map_or(0, |number| {
        number.trim().parse().expect("the text is a number")
    })
}

/// What was received, by the receiver's tables: packets, and packets lost, of each flow.
fn flows(printed: &[u8]) -> Vec<(u64, u64)> {
    let all = tables(printed);
    let rows = all["flows"].as_array().expect("a table").clone();
    rows.iter()
        .map(|row| {
            let of = |name: &str| row[name].as_u64().expect(name);
            (of("pkts"), of("lost_pkts"))
        })
        .collect()
}

#[test]
fn itgsend_is_served_with_many_flows_and_senders() {
    if !is_installed("ITGSend") {
        return;
    }
    for address in ["127.0.0.1", "::1"] {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let here = folder.path();
        let options = [
            "--itg=-l theirs.log",
            "--listen",
            address,
            "--itg-logs",
            ".",
        ];
        let words = [
            &options[..],
            &["--flows", "5", "--log", "ours.log", "--json"],
        ]
        .concat();
        let receiver = Receiver::start(here, &words);
        let held = hold(address);
        let [a, b, c, d, e] = numbers(&held);
        let to = format!("-a {address} -Sdp {}", receiver.port);
        let script = format!(
            "{to} -rp {a} -C 1000 -c 100 -z 300\n\
             {to} -rp {b} -C 1000 -c 200 -z 200 -T TCP\n\
             {to} -rp {c} -C 500 -c 64 -z 100 -m rttm\n\
             {to} -rp {d} -C 500 -c 64 -z 100 -T TCP -m rttm\n"
        );
        std::fs::write(here.join("script"), script).expect("the file can be written");
        let first = start(here, "ITGSend", "script -l sent.log");
        let line = format!("{to} -rp {e} -C 1000 -c 80 -z 250 -p 1 -l more.log -x wish.log");
        let second = start(here, "ITGSend", &line);
        let (code, printed, said) = receiver.end();
        first.wait();
        second.wait();
        assert_eq!(code, Some(0), "{said}");
        let mut found = flows(&printed);
        found.sort_unstable();
        assert_eq!(
            found,
            [(100, 0), (100, 0), (200, 0), (250, 0), (300, 0)],
            "{said}"
        );
        // The senders' logs have one-way packets as they were sent, and round trips as they came
        // back.
        assert_eq!(decoded_by_itgdec(here, "sent.log"), 700);
        assert_eq!(decoded_by_itgdec(here, "more.log"), 250);
        assert_eq!(decoded_by_itgdec(here, "theirs.log"), 950);
        assert_eq!(decoded_by_itgdec(here, "wish.log"), 250);
        let out = output(here, &["decode", "ours.log", "--json"]);
        assert_eq!(flows(&out.stdout).len(), 5);
    }
}

#[test]
fn itgrecv_takes_what_ours_sends() {
    if !is_installed("ITGRecv") {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let held = hold("127.0.0.1");
    let [signalling] = numbers(&held);
    // ITGRecv does not say `SO_REUSEADDR` for the ports of flows: they cannot be held for it.
    let [a, b, c, d, e, f, g, h] = numbers(&hold("127.0.0.1"));
    let running = start(
        here,
        "ITGRecv",
        &format!("-Sp {signalling} -l received.log"),
    );
    let until = Instant::now() + LONG;
    while TcpStream::connect(("127.0.0.1", signalling)).is_err() {
        assert!(Instant::now() < until, "ITGRecv does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    let (four, six) = (
        format!("-a 127.0.0.1 -Sdp {signalling}"),
        format!("-a ::1 -Sdp {signalling}"),
    );
    let script = format!(
        "# two versions of IP, two carriers, both meters\n\
         {four} -rp {a} -C 1000 -c 100 -z 300\n\
         {four} -rp {b} -C 1000 -c 200 -z 200 -T TCP -D\n\
         {four} -rp {c} -C 500 -c 64 -z 100 -m rttm\n\
         {four} -rp {d} -C 500 -c 64 -z 100 -T TCP -m rttm\n\
         {six} -rp {e} -C 1000 -c 100 -z 150 -b 0x20 -f 32\n\
         {six} -rp {f} -C 1000 -c 100 -z 150 -T TCP -p 1\n\
         {four} -rp {g} -C 500 -c 20 -z 100 -T TCP\n\
         {four} -rp {h} -T TCP -z 50 Telnet\n"
    );
    std::fs::write(here.join("script"), script).expect("the file can be written");
    let words = [
        "send",
        "--itg-script",
        "script",
        "--itg",
        "-l sent.log",
        "--json",
    ];
    let out = output(here, &words);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{said}");
    let all = tables(&out.stdout);
    let sent = |at: usize| all["streams"][at]["sent_pkts"].as_u64();
    assert_eq!(
        [0, 1, 2, 3, 4, 5, 6, 7].map(|at| sent(at).expect("a number")),
        [300, 200, 100, 100, 150, 150, 100, 50]
    );
    let returned: Vec<_> = flows(&out.stdout);
    assert_eq!(returned, [(100, 0), (100, 0)], "{said}");
    assert_eq!(decoded_by_itgdec(here, "sent.log"), 1150);
    // ITGRecv writes its log when it likes, some time after a flow has ended.
    let until = Instant::now() + LONG;
    while decoded_by_itgdec(here, "received.log") < 1150 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(decoded_by_itgdec(here, "received.log"), 1150);
    drop(running);
}

#[test]
fn flows_of_a_script_go_to_ours_in_either_language() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    for is_native in [false, true] {
        let serve = if is_native { &[][..] } else { &["--itg"] };
        let words = [serve, &["--flows", "2", "--json"]].concat();
        let receiver = Receiver::start(here, &words);
        let held = hold("127.0.0.1");
        let [a, b] = numbers(&held);
        let to = format!("-a 127.0.0.1 -Sdp {}", receiver.port);
        let script = format!(
            "{to} -rp {a} -C 1000 -c 100 -z 300\n{to} -rp {b} -E 1000 -u 40 400 -z 200 -T TCP\n"
        );
        std::fs::write(here.join("script"), script).expect("the file can be written");
        let language = if is_native { &["--native"][..] } else { &[] };
        let words = [&["send", "--itg-script", "script", "--json"], language].concat();
        let out = output(here, &words);
        let error = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(0), "{error}");
        let (code, printed, said) = receiver.end();
        assert_eq!(code, Some(0), "{said}");
        let mut found = flows(&printed);
        found.sort_unstable();
        assert_eq!(found, [(200, 0), (300, 0)], "{said}");
        let received = &tables(&out.stdout)["streams"][0]["received_pkts"];
        // D-ITG's receivers do not tell what came.
        assert_eq!(received.as_u64(), is_native.then_some(300));
    }
}

/// A receiver of signalling that accepts, says `answer` to whatever is said, and goes.
fn liar(answer: &'static [u8]) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let port = listener
        .local_addr()
        .expect("a bound socket has an address")
        .port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client connects");
        let _ = stream.read(&mut [0; 100]);
        let _ = stream.write_all(answer);
        let _ = stream.set_read_timeout(Some(Duration::from_millis(300)));
        let _ = stream.read(&mut [0; 100]);
    });
    port
}

#[test]
fn a_receiver_that_lies_or_vanishes_ends_its_flows_and_no_others() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receiver = Receiver::start(here, &["--itg", "--flows", "1"]);
    let held = hold("127.0.0.1");
    let [port] = numbers(&held);
    // Nothing, no message, one out of turn, one for a flow that was not asked for; a flow is opened
    // and the channel lost.
    let answers: [&[u8]; 5] = [
        b"",
        b"\x99",
        b"\x07",
        b"\x02\x05\0\0\0\x63\0\x09",
        b"\x02\x05\0\0\0\x05\0\x09",
    ];
    let mut script: String = answers
        .iter()
        .map(|answer| format!("-a 127.0.0.1 -Sdp {} -C 100 -t 20000\n", liar(answer)))
        .collect();
    script += &format!(
        "-a 127.0.0.1 -Sdp {} -rp {port} -C 1000 -z 300\n",
        receiver.port
    );
    std::fs::write(here.join("script"), script).expect("the file can be written");
    let started = Instant::now();
    let out = output(here, &["send", "--itg-script", "script", "--json"]);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(
        started.elapsed() < Duration::from_secs(15),
        "its flows go on"
    );
    let (code, _, said) = receiver.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("300 packets"), "{said}");
}

#[test]
fn a_sender_that_lies_stalls_or_vanishes_ends_its_flows_and_no_others() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receiver = Receiver::start(here, &["--itg", "--flows", "2", "--json"]);
    let held = hold("127.0.0.1");
    let [port, other] = numbers(&held);
    let connect =
        || TcpStream::connect(("127.0.0.1", receiver.port)).expect("the other end listens");
    let mut held = Vec::new();
    // Not a word; half a message; no message at all; a close before anything.
    for said in [&b""[..], b"\x01\x03\x02", b"\x99\x99", b"\x0b", b"\x01\x0b"] {
        let mut stream = connect();
        stream.write_all(said).expect("it listens");
        held.push(stream);
    }
    // A flow is opened, and its sender is gone with its end unsaid.
    let mut open = b"\x01\x03\x02\x00\x01\x00\x04\x00\x00\x00\x01\x00noSerial\0\0".to_vec();
    open.extend(other.to_le_bytes());
    open.extend([127, 0, 0, 1]);
    let mut stream = connect();
    stream.write_all(&open).expect("it listens");
    let mut answer = [0; 8];
    stream.read_exact(&mut answer).expect("it answers");
    assert_eq!(answer[..2], [2, 5]);
    let packets = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
    packets
        .send_to(b"too short", ("127.0.0.1", other))
        .expect("the datagram can be sent");
    drop(stream);
    let line = format!(
        "-a 127.0.0.1 -Sdp {} -rp {port} -C 1000 -z 300",
        receiver.port
    );
    let out = output(here, &["send", "--itg", &line]);
    let error = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{error}");
    let (code, printed, said) = receiver.end();
    assert_eq!(code, Some(0), "{said}");
    let mut found = flows(&printed);
    found.sort_unstable();
    assert_eq!(found, [(0, 0), (300, 0)], "{said}");
    assert!(
        said.contains("closed the channel before its flows had ended"),
        "{said}"
    );
    assert!(said.contains("begins no message that a D-ITG"), "{said}");
}

/// `localhost` has an address of each version of IP on most machines, of which the receiver listens
/// on one.
#[test]
fn all_addresses_of_a_name_are_tried() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receiver = Receiver::start(here, &["--itg", "--flows", "2", "--json"]);
    let port = receiver.port;
    for protocol in ["UDP", "TCP"] {
        let flow = format!("-a localhost -Sdp {port} -rp 0 -T {protocol} -C 100 -c 100 -z 5");
        let out = output(here, &["send", "--itg", &flow, "--json"]);
        let said = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(0), "{said}");
        let row = &tables(&out.stdout)["streams"][0];
        assert_eq!(row["sent_pkts"], 5, "{said}");
    }
    let (_, printed, _) = receiver.end();
    let packets: Vec<u64> = flows(&printed)
        .iter()
        .map(|(packets, _)| *packets)
        .collect();
    assert_eq!(packets, [5, 5]);
}

#[test]
fn what_is_wrong_is_one_line_that_says_what_to_do() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    std::fs::write(here.join("bad"), "-C 10\n-C fast\n").expect("the file can be written");
    for (words, code, said) in [
        (&["send", "--itg", ""][..], 2, "no flow"),
        (&["send", "--itg", "-C fast"], 2, "packets per second"),
        (
            &["send", "--itg", "-Q", "--log", "x"],
            2,
            "leave `--native`",
        ),
        (
            &["send", "--itg", "-Q", "--listen", "0.0.0.0:0"],
            2,
            "`--no-key`",
        ),
        (&["send", "--itg-script", "bad"], 2, "line 2"),
        (&["send", "--itg-script", "nowhere"], 2, "nowhere"),
        (&["send", "--itg", "-a 127.0.0.1 -Sdp 1"], 3, "ITGRecv"),
        (&["send", "--itg", "-T SCTP 1 1"], 3, "-T UDP"),
        (&["send", "--itg", "-T ICMP -m rttm"], 3, "--native"),
        (
            &["send", "--itg", "-i nowhere0"],
            3,
            "no network interface `nowhere0`",
        ),
        (
            &["send", "--itg", "-Si nowhere0"],
            3,
            "no network interface `nowhere0`",
        ),
        (&["send", "--itg", "-sk ttyS0"], 3, "leave `-sk` out"),
        (
            &["recv", "--itg=-Si nowhere0"],
            3,
            "no network interface `nowhere0`",
        ),
        (&["send", "--itg", "-C 10 -s 0.5 -Ft nowhere"], 2, "nowhere"),
        (
            &["send", "--itg", "-s 0.5 -l x", "--native"],
            2,
            "--log FILE",
        ),
        (&["recv", "--itg=-rp 9"], 2, "not an option of ITGRecv"),
        (&["recv", "--itg", "--itg-logs", "nowhere"], 2, "mkdir"),
    ] {
        let out = output(here, words);
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(code), "{words:?}: {error}");
        let last = error.lines().last().unwrap_or_default();
        assert!(last.contains(said), "{words:?}: {error}");
        // What is understood otherwise than by the original is said before.
        assert!(
            error
                .lines()
                .rev()
                .skip(1)
                .all(|line| line.starts_with("note:")),
            "{error}"
        );
    }
    let left = std::fs::read_dir(here).expect("the folder exists").count();
    assert_eq!(left, 1, "no log is begun where nobody is there");
}
