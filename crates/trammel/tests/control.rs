//! Scripts of flows, senders under orders and log servers, as their users run them, over loopback.
#![cfg(target_os = "linux")]

use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn trammel(folder: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.current_dir(folder).args(words);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn output(folder: &Path, words: &[&str]) -> Output {
    trammel(folder, words)
        .output()
        .expect("the program can be started")
}

fn said(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// A program that runs until it is told to end, and the address that it said first.
struct Running {
    child: Child,
    address: String,
    said: BufReader<ChildStderr>,
}

impl Running {
    fn start(folder: &Path, words: &[&str]) -> Running {
        let mut child = trammel(folder, words)
            .spawn()
            .expect("the program can be started");
        let mut said = BufReader::new(child.stderr.take().expect("the stream is piped"));
        let mut line = String::new();
        said.read_line(&mut line)
            .expect("the other end writes a line");
        let address = line.trim_end().rsplit(' ').next().expect("the last word");
        assert!(address.contains(':'), "{line}");
        Running {
            address: address.to_owned(),
            child,
            said,
        }
    }

    fn receiver(folder: &Path, more: &[&str]) -> Running {
        Running::start(folder, &[&["recv", "--port", "0"], more].concat())
    }

    fn daemon(folder: &Path, more: &[&str]) -> Running {
        let words = ["send", "--daemon", "--listen", "127.0.0.1:0"];
        Running::start(folder, &[&words, more].concat())
    }

    fn log_server(folder: &Path, path: &str) -> Running {
        Running::start(folder, &["log", "--listen", "127.0.0.1:0", path])
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let done = Command::new("kill").args([name, &id]).status();
        assert!(done.expect("it is there").success());
    }

    /// Waits for its end: the exit code, what it printed and what it said.
    fn end(mut self) -> (Option<i32>, String, String) {
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
        (status.code(), printed, said)
    }

    fn interrupt(self) -> (Option<i32>, String, String) {
        self.signal("-INT");
        self.end()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tables(text: &[u8]) -> Value {
    let all: Value = serde_json::from_slice(text).expect("the text is JSON");
    all["tables"].clone()
}

fn decoded(folder: &Path, log: &Path) -> Value {
    let log = log.to_string_lossy();
    let out = output(folder, &["decode", &log, "--json"]);
    assert!(out.status.success(), "{}", said(&out));
    tables(&out.stdout)["flows"].clone()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("a file").path())
        .collect();
    paths.sort();
    paths
}

/// A key file that nobody but its owner reads.
fn write_key(path: &Path, key: &str) {
    std::fs::write(path, key).expect("the file can be written");
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(path, mode).expect("the file belongs to this user");
}

/// Waits until `is` or for ten seconds.
fn wait_until(what: &str, is: impl Fn() -> bool) {
    let started = Instant::now();
    while !is() {
        assert!(started.elapsed() < Duration::from_secs(10), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_script_sends_its_flows_at_once_to_several_receivers() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let first = Running::receiver(here, &["--flows", "3", "--json"]);
    let second = Running::receiver(here, &["--flows", "1", "--json"]);
    let script = format!(
        "# two of UDP, a pause, one of TCP, one elsewhere\n\
         --rate 500 --size 100 --packets 200 --name 'a flow'\n\
         --rate 500 --gap exponential --packets 150 --start 50ms --name second\n\n\
         \t--rate 1000 -T tcp --packets 100 --name tcp # comment\n\
         --to {} --app voip --packets 20 --name voice\n",
        second.address
    );
    std::fs::write(here.join("flows"), script).expect("the file can be written");
    let started = Instant::now();
    let out = output(
        here,
        &["send", &first.address, "--script", "flows", "--json"],
    );
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    // Each takes up to 0.4 s.
    assert!(started.elapsed() < Duration::from_secs(5));
    let all = tables(&out.stdout);
    let rows = all["streams"].as_array().expect("rows");
    let of = |key: &str| -> Vec<Value> { rows.iter().map(|row| row[key].clone()).collect() };
    assert_eq!(of("stream"), ["a flow", "second", "tcp", "voice"]);
    assert_eq!(of("sent_pkts"), [200, 150, 100, 20]);
    assert_eq!(of("received_pkts"), [200, 150, 100, 20]);
    let total = &all["total"][0];
    assert_eq!(
        (&total["sent_pkts"], &total["lost_pkts"]),
        (&470.into(), &0.into())
    );
    let (code, printed, _) = first.end();
    assert_eq!(code, Some(0));
    assert_eq!(
        tables(printed.as_bytes())["flows"].as_array().map(Vec::len),
        Some(3)
    );
    let (code, printed, _) = second.end();
    assert_eq!(
        (code, &tables(printed.as_bytes())["flows"][0]["name"]),
        (Some(0), &"voice".into())
    );
}

#[test]
fn a_thousand_flows_of_a_script_share_a_session() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receiver = Running::receiver(here, &["--flows", "1000"]);
    let script = "--rate 20 --packets 10 --size 64\n".repeat(1000);
    std::fs::write(here.join("flows"), script).expect("the file can be written");
    let out = output(
        here,
        &["send", &receiver.address, "--script", "flows", "--json"],
    );
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    let all = tables(&out.stdout);
    assert_eq!(all["streams"].as_array().map(Vec::len), Some(1000));
    assert_eq!(all["total"][0]["received_pkts"], 10_000);
    assert_eq!(receiver.end().0, Some(0));
}

#[test]
fn what_is_wrong_with_a_script_is_told_with_file_and_line_before_anything_is_sent() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let script = "--rate 5\n--rat 5\n--rate 'x\n--size 100\n--rate 5 -T tcp --ttl 0\n";
    std::fs::write(here.join("flows"), script).expect("the file can be written");
    std::fs::write(here.join("quotes"), "--rate 5 '\n").expect("the file can be written");
    std::fs::write(here.join("none"), "# nothing\n").expect("the file can be written");
    let out = output(here, &["send", "127.0.0.1:1", "--script", "quotes"]);
    assert!(
        out.status.code() == Some(2) && said(&out).contains("quotes:1: "),
        "{}",
        said(&out)
    );
    std::fs::write(here.join("flows"), script.replace('\'', "")).expect("the file can be written");
    let out = output(here, &["send", "127.0.0.1:1", "--script", "flows"]);
    let error = said(&out);
    assert_eq!(out.status.code(), Some(2), "{error}");
    let lines: Vec<_> = error.lines().collect();
    assert_eq!(lines.len(), 4, "{error}");
    for (line, (place, what)) in lines.iter().zip([
        ("flows:2: ", "--rate"),
        ("flows:3: ", "x"),
        ("flows:4: ", "--rate 1000"),
        ("flows:5: ", "--ttl"),
    ]) {
        assert!(line.contains(place) && line.contains(what), "{line}");
    }
    for (words, what) in [
        (&["send", "127.0.0.1:1", "--script", "none"][..], "no flow"),
        (&["send", "127.0.0.1:1", "--script", "missing"], "missing"),
        (
            &["send", "127.0.0.1:1", "--script", "none", "--rate", "5"],
            "--rate",
        ),
        (&["send", "--rate", "5"], "HOST"),
    ] {
        let out = output(here, words);
        assert!(
            out.status.code() == Some(2) && said(&out).contains(what),
            "{}",
            said(&out)
        );
    }
}

#[test]
fn a_sender_under_orders_sends_and_tells_what_came() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receiver = Running::receiver(here, &["--flows", "5"]);
    let daemon = Running::daemon(here, &["--most-time", "60s"]);
    let from = ["--from", &daemon.address];
    let words = ["--rate", "1000", "--packets", "300", "--name", "an 'order'"];
    let out = output(
        here,
        &[&["send", &receiver.address, "--json"], &from[..], &words].concat(),
    );
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    let row = &tables(&out.stdout)["streams"][0];
    assert_eq!(
        (&row["sent_pkts"], &row["received_pkts"]),
        (&300.into(), &300.into())
    );
    assert_eq!(row["stream"], "an 'order'");
    // Round trips are measured there, and told here; two clients at once.
    let words = ["--rate", "1000", "--packets", "300", "--round-trip"];
    let words = [&["send", &receiver.address], &from[..], &words].concat();
    let others: Vec<_> = (0..2)
        .map(|_| {
            trammel(here, &words)
                .spawn()
                .expect("the program can be started")
        })
        .collect();
    for other in others {
        let out = other
            .wait_with_output()
            .expect("the child process can be waited for");
        let printed = String::from_utf8_lossy(&out.stdout).into_owned();
        assert_eq!(out.status.code(), Some(0), "{}", said(&out));
        assert!(printed.contains("sent      300 packets"), "{printed}");
        assert!(printed.contains("delay"), "{printed}");
    }
    let script = "--rate 1000 --packets 50\n--rate 1000 --packets 60 -T tcp\n";
    std::fs::write(here.join("flows"), script).expect("the file can be written");
    let words = ["--script", "flows", "--json"];
    let out = output(
        here,
        &[&["send", &receiver.address], &from[..], &words].concat(),
    );
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    assert_eq!(tables(&out.stdout)["total"][0]["received_pkts"], 110);
    // What is refused is refused to this client alone.
    for (words, code, what) in [
        (&["--rate", "5", "--duration", "2h"][..], 2, "60 s at most"),
        (&["--rate", "5", "--packets", "1"], 3, "trammel recv"),
    ] {
        let out = output(here, &[&["send", "127.0.0.1:1"], &from[..], words].concat());
        assert_eq!(out.status.code(), Some(code), "{}", said(&out));
        assert!(said(&out).contains(what), "{}", said(&out));
    }
    let (code, _, told) = daemon.interrupt();
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("2 flows are sent"), "{told}");
    assert_eq!(receiver.end().0, Some(0));
}

#[test]
fn flows_end_with_their_client_or_when_it_says_so_or_with_the_sender() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receiver = Running::receiver(here, &["--flows", "3", "--log", "r.log"]);
    let mut daemon = Running::daemon(here, &[]);
    let words = ["--rate", "500", "--duration", "50s", "--name"];
    let base = [
        "send",
        &receiver.address,
        "--from",
        &daemon.address,
        "--json",
    ];
    let mut clients = Vec::new();
    for name in ["killed", "interrupted", "left"] {
        let child = trammel(here, &[&base[..], &words, &[name]].concat()).spawn();
        clients.push(child.expect("it starts"));
        let mut line = String::new();
        daemon
            .said
            .read_line(&mut line)
            .expect("the other end writes a line");
        assert!(line.contains("1 flows are sent"), "{line}");
    }
    std::thread::sleep(Duration::from_millis(300));
    let started = Instant::now();
    clients[0].kill().expect("the process has not ended");
    let _ = clients[0].wait();
    let mut line = String::new();
    daemon
        .said
        .read_line(&mut line)
        .expect("the other end writes a line");
    assert!(line.contains("the client is lost"), "{line}");
    let id = clients[1].id().to_string();
    let done = Command::new("kill").args(["-INT", &id]).status();
    assert!(done.expect("it is there").success());
    let out = clients
        .remove(1)
        .wait_with_output()
        .expect("the child process can be waited for");
    assert_eq!(out.status.code(), Some(130), "{}", said(&out));
    let sent = tables(&out.stdout)["streams"][0]["sent_pkts"].as_u64();
    assert!(
        sent.is_some_and(|sent| (50..10_000).contains(&sent)),
        "{sent:?}"
    );
    // The third goes on, and ends in order when the sender does.
    let (code, _, told) = daemon.interrupt();
    assert_eq!(code, Some(0), "{told}");
    let out = clients
        .remove(1)
        .wait_with_output()
        .expect("the child process can be waited for");
    assert_eq!(out.status.code(), Some(130), "{}", said(&out));
    assert!(
        said(&out).contains("the sender was interrupted"),
        "{}",
        said(&out)
    );
    assert!(tables(&out.stdout)["streams"][0]["lost_pkts"] == 0);
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(receiver.end().0, Some(0));
}

#[test]
fn a_key_that_others_can_read_or_change_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let key = here.join("key");
    for (mode, what) in [
        (0o666, "change"),
        (0o644, "read"),
        (0o640, "read"),
        (0o620, "change"),
    ] {
        write_key(&key, "this is the right key");
        let rights = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&key, rights).expect("the file belongs to this user");
        for words in [
            &["recv", "--key", "key", "--port", "0"][..],
            &["log", "--key", "key", "--listen", "127.0.0.1:0", "x/"],
            &["send", "127.0.0.1:9", "--key", "key", "--rate", "5"],
            &[
                "send",
                "--daemon",
                "--listen",
                "127.0.0.1:0",
                "--key",
                "key",
            ],
        ] {
            let out = output(here, words);
            assert_eq!(out.status.code(), Some(2), "{words:?}: {}", said(&out));
            let said = said(&out);
            assert!(
                said.contains(what) && said.contains("chmod 600 key"),
                "{mode:o}: {said}"
            );
        }
    }
    assert!(!here.join("x").exists());
}

#[test]
fn who_others_reach_needs_a_key_and_limits_hold() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    write_key(&here.join("key"), "this is the right key");
    for words in [
        &["send", "--daemon", "--listen", "0.0.0.0:0"][..],
        &["log", "--listen", "[::]:0", "x/"],
        &["log", "--itg", "--listen", "0.0.0.0:0", "x/"],
        &["recv", "--listen", "0.0.0.0", "--port", "0"],
        &["recv", "--listen", "::", "--port", "0"],
        &["recv", "--listen", "192.0.2.1", "--port", "0"],
        &["recv", "--itg", "--listen", "0.0.0.0", "--port", "0"],
        &["recv", "--itg=-a 0.0.0.0", "--port", "0"],
        &["send", "--itg", "-H -a 192.0.2.1"],
        &["send", "--itg", "-Q", "--listen", "0.0.0.0:0"],
    ] {
        let out = output(here, words);
        assert_eq!(out.status.code(), Some(2), "{words:?}: {}", said(&out));
        let (said, printed) = (said(&out), String::from_utf8_lossy(&out.stdout));
        assert!(
            said.contains("without a key") && said.contains("--no-key"),
            "{words:?}: {said}"
        );
        assert!(!here.join("x").exists() && printed.is_empty(), "{words:?}");
    }
    let receiver = Running::receiver(here, &["--flows", "1"]);
    let daemon = Running::daemon(here, &["--key", "key", "--most-flows", "2"]);
    let base = ["send", &receiver.address, "--from", &daemon.address];
    let words = ["--rate", "1000", "--packets", "5"];
    let out = output(here, &[&base[..], &words].concat());
    assert!(
        out.status.code() == Some(2) && said(&out).contains("--key"),
        "{}",
        said(&out)
    );
    let script = "--rate 1000 --packets 5\n".repeat(3);
    std::fs::write(here.join("flows"), script).expect("the file can be written");
    let out = output(
        here,
        &[&base[..], &["--key", "key", "--script", "flows"]].concat(),
    );
    assert!(
        out.status.code() == Some(2) && said(&out).contains("2 flows"),
        "{}",
        said(&out)
    );
    // Those that were refused take no room.
    let out = output(here, &[&base[..], &["--key", "key"], &words].concat());
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    assert_eq!(daemon.interrupt().0, Some(0));
    assert_eq!(receiver.end().0, Some(0));
}

#[test]
fn logs_of_both_ends_are_kept_elsewhere_and_decoded() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let server = Running::log_server(here, "logs/");
    let receiver = Running::receiver(here, &["--flows", "1", "--log-to", &server.address]);
    let words = [
        "--rate",
        "20000",
        "--packets",
        "10000",
        "--log-to",
        &server.address,
    ];
    let out = output(here, &[&["send", &receiver.address], &words[..]].concat());
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    assert!(!said(&out).contains("warning"), "{}", said(&out));
    assert_eq!(receiver.end().0, Some(0));
    let (code, _, told) = server.interrupt();
    assert_eq!(
        (code, told.matches("is complete").count()),
        (Some(0), 2),
        "{told}"
    );
    let logs = files(&here.join("logs"));
    let mut instants: Vec<String> = Vec::new();
    for log in &logs {
        let flow = &decoded(here, log)[0];
        assert_eq!(flow["pkts"], 10_000);
        instants.push(flow["instants"].as_str().expect("a text").to_owned());
    }
    instants.sort();
    assert_eq!(instants, ["due to sent", "sent to received"]);
}

#[test]
fn a_log_server_that_is_killed_costs_what_came_after_and_stops_no_flow() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let server = Running::log_server(here, "all.log");
    let receiver = Running::receiver(here, &["--flows", "1"]);
    let words = [
        "--rate",
        "2000",
        "--duration",
        "5s",
        "--log-to",
        &server.address,
    ];
    let sender = trammel(here, &[&["send", &receiver.address], &words[..]].concat()).spawn();
    let sender = sender.expect("it starts");
    // Written after a second, though no block is full by then.
    let log = here.join("all.log");
    let bytes = || std::fs::metadata(&log).map_or(0, |about| about.len());
    wait_until("a second's records", || bytes() > 24 * 1500);
    server.signal("-KILL");
    assert_eq!(server.end().0, None);
    let out = sender
        .wait_with_output()
        .expect("the child process can be waited for");
    // The flow is whole, and the log that was asked for is not.
    assert_eq!(out.status.code(), Some(2), "{}", said(&out));
    let warning = "the log lacks everything after that";
    assert_eq!(said(&out).matches(warning).count(), 1, "{}", said(&out));
    let kept = decoded(here, &log)[0]["pkts"].as_u64();
    assert!(
        kept.is_some_and(|kept| (1400..10_000).contains(&kept)),
        "{kept:?}"
    );
    assert_eq!(receiver.end().0, Some(0));
}

#[test]
fn who_is_killed_while_it_logs_loses_a_second_at_most() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let server = Running::log_server(here, "logs/");
    for remote in [false, true] {
        let log_to = ["--log-to", &server.address];
        let more: &[&str] = if remote { &log_to } else { &["--log", "r.log"] };
        let receiver = Running::receiver(here, more);
        let words = [
            "send",
            &receiver.address,
            "--rate",
            "2000",
            "--duration",
            "8s",
        ];
        let mut sender = trammel(here, &words)
            .spawn()
            .expect("the program can be started");
        std::thread::sleep(Duration::from_millis(3500));
        receiver.signal("-KILL");
        assert_eq!(receiver.end().0, None);
        sender.kill().expect("the process has not ended");
        let _ = sender.wait();
        let log = if remote {
            files(&here.join("logs"))[0].clone()
        } else {
            here.join("r.log")
        };
        // Three seconds at least were received by then, and two of them are older than a second.
        let kept = decoded(here, &log)[0]["pkts"].as_u64();
        assert!(kept.is_some_and(|kept| kept >= 4000), "{remote}: {kept:?}");
    }
    let (code, _, told) = server.interrupt();
    assert!(
        code == Some(0) && told.contains("bytes of its log are kept"),
        "{told}"
    );
}

#[test]
fn a_log_servers_file_holds_one_log_at_a_time_and_a_full_disk_is_told_once() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let server = Running::log_server(here, "one.log");
    let receiver = Running::receiver(here, &["--log-to", &server.address]);
    let words = [
        "--rate",
        "1000",
        "--packets",
        "5",
        "--log-to",
        &server.address,
    ];
    let out = output(here, &[&["send", &receiver.address], &words[..]].concat());
    assert_eq!(out.status.code(), Some(2), "{}", said(&out));
    assert!(said(&out).contains("one log at a time"), "{}", said(&out));
    assert_eq!(receiver.interrupt().0, Some(0));
    assert_eq!(server.interrupt().0, Some(0));
    assert_eq!(decoded(here, &here.join("one.log"))[0]["pkts"], 5);
    // Linux has a disk that is always full.
    let out = output(here, &["log", "--listen", "127.0.0.1:0", "/dev/full"]);
    assert_ne!(out.status.code(), Some(0));
}

#[test]
fn a_receiver_that_nobody_reaches_comes_to_its_sender() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    write_key(&here.join("key"), "this is the right key");
    let script = "--rate 1000 --packets 200\n--rate 1000 --packets 100 -T tcp\n";
    std::fs::write(here.join("flows"), script).expect("the file can be written");
    let words = ["send", "--wait", "--listen", "127.0.0.1:0", "--key", "key"];
    let more = ["--script", "flows", "--json"];
    let sender = Running::start(here, &[&words[..], &more].concat());
    let to = &sender.address;
    // Who does not hold the key is not served, and waited for no more.
    let stranger = trammel(here, &["recv", "--connect", to]).spawn();
    let mut stranger = stranger.expect("it starts");
    std::thread::sleep(Duration::from_millis(200));
    let words = [
        "recv",
        "--connect",
        to,
        "--key",
        "key",
        "--flows",
        "2",
        "--log",
        "r.log",
    ];
    let receiver = output(here, &words);
    assert_eq!(receiver.status.code(), Some(0), "{}", said(&receiver));
    stranger.kill().expect("the process has not ended");
    let _ = stranger.wait();
    let (code, printed, told) = sender.end();
    assert_eq!(code, Some(0), "{told}");
    let all = tables(printed.as_bytes());
    assert_eq!(all["total"][0]["received_pkts"], 300);
    let flows = decoded(here, &here.join("r.log"));
    assert_eq!(
        (&flows[0]["pkts"], &flows[1]["pkts"]),
        (&200.into(), &100.into())
    );
    for (words, what) in [
        (
            &["send", "--wait", "--listen", "0.0.0.0:0", "--rate", "5"][..],
            "--no-key",
        ),
        (
            &[
                "send",
                "127.0.0.1",
                "--listen",
                "127.0.0.1:0",
                "--rate",
                "5",
            ],
            "--wait",
        ),
        (&["send", "--wait", "--rate", "5", "--by", "xdp"], "--by"),
    ] {
        let out = output(here, words);
        assert!(
            out.status.code() == Some(2) && said(&out).contains(what),
            "{}",
            said(&out)
        );
    }
}
