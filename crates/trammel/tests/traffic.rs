//! `trammel send`, `recv` and `decode` as their users run them, over loopback.
#![cfg(target_os = "linux")]

mod listening;

use listening::listening;
use serde_json::Value;
use std::io::{BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

fn trammel() -> Command {
    Command::new(env!("CARGO_BIN_EXE_trammel"))
}

/// A receiver that runs.
struct Receiver {
    child: Child,
    port: String,
    said: BufReader<ChildStderr>,
}

impl Receiver {
    /// Starts one at any free port, in `folder`.
    fn start(folder: &Path, more: &[&str]) -> Receiver {
        let mut command = trammel();
        command.current_dir(folder).args(["recv", "--port", "0"]);
        let (child, address, said) = listening(command.args(more).stdout(Stdio::piped()));
        let port = address.port().to_string();
        Receiver { child, port, said }
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

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let done = Command::new("kill").args([name, &id]).status();
        assert!(done.expect("it is there").success());
    }

    /// Sends to it.
    fn send(&self, folder: &Path, words: &[&str]) -> Output {
        let to = format!("127.0.0.1:{}", self.port);
        let mut command = trammel();
        command.current_dir(folder).args(["send", &to]).args(words);
        command.output().expect("the program can be started")
    }
}

fn tables(text: &[u8]) -> Value {
    let all: Value = serde_json::from_slice(text).expect("the text is JSON");
    all["tables"].clone()
}

fn decoded(folder: &Path, log: &str) -> Value {
    let mut command = trammel();
    let out = command
        .current_dir(folder)
        .args(["decode", log, "--json"])
        .output();
    let out = out.expect("it starts");
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    tables(&out.stdout)
}

#[test]
fn what_is_sent_is_received_logged_and_decoded_and_a_second_run_is_appended() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    for run in 1..=2 {
        let receiver = Receiver::start(here, &["--flows", "3", "--log", "r.log", "--json"]);
        let words = ["--rate", "5 kpps", "--size", "100", "--packets", "500"];
        let out = receiver.send(here, &[&words[..], &["--json", "--log", "s.log"]].concat());
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(0), "{said}");
        let row = &tables(&out.stdout)["streams"][0];
        assert_eq!(
            (&row["sent_pkts"], &row["received_pkts"]),
            (&500.into(), &500.into())
        );
        assert_eq!(
            (&row["sent_bytes"], &row["lost_pkts"]),
            (&50_000.into(), &0.into())
        );
        let tcp = [
            "-T",
            "tcp",
            "--rate",
            "2000",
            "--packets",
            "100",
            "--size",
            "3000",
        ];
        assert_eq!(receiver.send(here, &tcp).status.code(), Some(0));
        let app = [
            "--app",
            "voip:codec=g711.1",
            "--packets",
            "20",
            "--name",
            "voice",
        ];
        assert_eq!(receiver.send(here, &app).status.code(), Some(0));
        let (code, printed, said) = receiver.end();
        assert_eq!(code, Some(0), "{said}");
        let live = &tables(printed.as_bytes())["flows"];
        assert_eq!(
            (&live[0]["pkts"], &live[2]["pkts"]),
            (&500.into(), &20.into())
        );
        assert_eq!(live[2]["name"], "voice");
        assert_eq!(
            (&live[1]["protocol"], &live[1]["payload_bytes"]),
            (&"tcp".into(), &300_000.into())
        );
        assert!(said.contains("flow 0: 500 of 500 packets"), "{said}");
        let flows = &decoded(here, "r.log")["flows"];
        assert_eq!(flows.as_array().map(Vec::len), Some(3 * run));
        let last = &flows[3 * run - 3];
        assert_eq!(
            (&last["pkts"], &last["lost_pkts"]),
            (&500.into(), &0.into())
        );
        assert_eq!(last["instants"], "sent to received");
        let sent = &decoded(here, "s.log")["flows"];
        assert_eq!(sent.as_array().map(Vec::len), Some(run));
        assert_eq!(sent[run - 1]["instants"], "due to sent");
    }
}

/// Notes the type of every column of `tables`, and holds it against that of the columns of its
/// name.
fn one_type_each(
    of: &str,
    tables: &Value,
    types: &mut std::collections::BTreeMap<String, (&'static str, String)>,
) {
    for (table, rows) in tables.as_object().expect("tables") {
        for (column, value) in rows
            .as_array()
            .expect("rows")
            .iter()
            .flat_map(|row| row.as_object().expect("a row").iter())
        {
            let kind = match value {
                Value::Number(_) => "a number",
                Value::String(_) => "a text",
                Value::Bool(_) => "true or false",
                _ => continue,
            };
            let here = (kind, format!("{of}, table {table}"));
            let known = types.entry(column.clone()).or_insert_with(|| here.clone());
            assert_eq!(known.0, kind, "`{column}` of {} and of {}", known.1, here.1);
        }
    }
}

#[test]
fn a_column_has_one_type_in_the_tables_of_all_commands() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receivers = [1, 2].map(|_| Receiver::start(here, &["--flows", "2", "--json"]));
    let line = |receiver: &Receiver, more: &str| {
        let to = &receiver.port;
        format!("--to 127.0.0.1:{to} --rate 1000 --packets 50 --size 100 {more}\n")
    };
    let script: String = (receivers.iter())
        .map(|one| line(one, "--round-trip") + &line(one, "-T tcp --round-trip --name '7'"))
        .collect();
    std::fs::write(here.join("flows"), script).expect("the file can be written");
    let mut command = trammel();
    command
        .current_dir(here)
        .args(["send", "--script", "flows"]);
    let out = command.args(["--log", "s.log", "--json"]).output();
    let out = out.expect("it starts");
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{said}");
    let sent = tables(&out.stdout);
    // What came back to each session: of two receivers, both.
    let flows = sent["flows"].as_array().expect("a table");
    let session = |row: &Value| row["session"].as_u64().expect("the value is a number");
    let sessions: Vec<u64> = flows.iter().map(session).collect();
    assert_eq!(sessions, [0, 0, 1, 1]);
    let mut types = std::collections::BTreeMap::new();
    one_type_each("send", &sent, &mut types);
    for receiver in receivers {
        let (code, printed, said) = receiver.end();
        assert_eq!(code, Some(0), "{said}");
        one_type_each("recv", &tables(printed.as_bytes()), &mut types);
    }
    one_type_each("decode", &decoded(here, "s.log"), &mut types);
    for (column, kind) in [
        ("session", "a number"),
        ("flow", "a number"),
        ("pkts", "a number"),
        ("name", "a text"),
    ] {
        assert_eq!(types[column].0, kind, "{column}");
    }
}

/// How often the threads of a process have slept.
fn sleeps(id: u32) -> (u64, u64) {
    let (mut threads, mut all) = (0, 0);
    for thread in std::fs::read_dir(format!("/proc/{id}/task")).expect("the folder exists") {
        let status = thread.expect("it is listed").path().join("status");
        // One may end meanwhile.
        let status = std::fs::read_to_string(status).unwrap_or_default();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        threads += u64::from(line.is_some());
        all += line.map_or(0, |count| {
            count.trim().parse::<u64>().expect("the text is a number")
        });
    }
    (threads, all)
}

#[test]
fn a_receiver_whose_flows_are_silent_hardly_wakes() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receiver = Receiver::start(here, &[]);
    // A packet each 20 s, of three flows of each protocol.
    let senders = ["udp", "tcp"].map(|protocol| {
        let mut command = trammel();
        command
            .current_dir(here)
            .args(["send", &format!("127.0.0.1:{}", receiver.port)]);
        let words = [
            "--rate",
            "0.05",
            "--duration",
            "60s",
            "--flows",
            "3",
            "-T",
            protocol,
        ];
        let quiet = command
            .args(words)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        quiet.spawn().expect("the program can be started")
    });
    let id = receiver.child.id();
    let begun = std::time::Instant::now();
    // Two sessions, and a port or connection each.
    while sleeps(id).0 < 8 {
        assert!(begun.elapsed().as_secs() < 60, "{:?}", sleeps(id));
        std::thread::yield_now();
    }
    // Waits have grown to a quarter of a second within one.
    let second = std::time::Duration::from_secs(1);
    std::thread::sleep(2 * second);
    let (before, since) = (sleeps(id).1, std::time::Instant::now());
    std::thread::sleep(2 * second);
    let (threads, after) = sleeps(id);
    let each = (after - before) as f64 / threads as f64 / since.elapsed().as_secs_f64();
    for mut sender in senders {
        sender.kill().and_then(|()| sender.wait()).expect("it runs");
    }
    receiver.signal("-INT");
    let (code, ..) = receiver.end();
    assert_eq!(code, Some(0));
    // Twenty times a second before.
    assert!(
        each < 6.0,
        "{threads} threads wake {each} times a second each"
    );
}

#[test]
fn a_receiver_that_is_killed_leaves_a_log_that_is_whole_to_its_last_flow() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receiver = Receiver::start(here, &["--log", "r.log"]);
    let words = ["--rate", "10000", "--size", "64", "--packets", "300"];
    assert_eq!(receiver.send(here, &words).status.code(), Some(0));
    receiver.signal("-KILL");
    let (code, ..) = receiver.end();
    assert_eq!(code, None);
    assert_eq!(decoded(here, "r.log")["flows"][0]["pkts"], 300);
}

#[test]
fn what_comes_back_is_measured_by_one_clock() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receiver = Receiver::start(here, &["--flows", "2"]);
    for (protocol, log) in [("udp", "udp.log"), ("tcp", "tcp.log")] {
        let words = [
            "--rate",
            "2000",
            "--packets",
            "200",
            "--json",
            "--round-trip",
        ];
        let out = receiver.send(
            here,
            &[&words[..], &["-T", protocol, "--log", log]].concat(),
        );
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(0), "{said}");
        for flows in [&tables(&out.stdout)["flows"], &decoded(here, log)["flows"]] {
            let flow = &flows[0];
            assert_eq!(flow["instants"], "sent to returned");
            assert_eq!(
                (&flow["pkts"], &flow["lost_pkts"]),
                (&200.into(), &0.into())
            );
            assert_eq!(flow["negative_delays_pkts"], 0);
            assert!(flow["delay_min_us"].as_f64().is_some_and(|us| us > 0.0));
        }
    }
    assert_eq!(receiver.end().0, Some(0));
}

#[test]
fn the_mechanism_is_chosen_by_the_rate_and_told_with_its_reason() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receiver = Receiver::start(here, &["--flows", "6"]);
    // A whole number of Poisson's law is mostly 0: some fifty packets are due at once, then there
    // is a gap.
    let bursts = "--rate 1000kpps --gap poisson:mean=0.02 --size 100 --packets 5000";
    for (words, flows, mechanism, why) in [
        (
            "--rate 5000 --packets 50",
            1,
            "calls",
            "and 5000 are wanted",
        ),
        (bursts, 1, "segments", "due together and alike"),
        (&format!("{bursts} --by calls"), 1, "calls", "requested"),
        ("--rate 5000 --packets 50 -T tcp", 1, "tcp", "waits"),
        (
            "--rate 300kpps --packets 50 --threads 2 --flows 2",
            2,
            "calls",
            "asked for",
        ),
    ] {
        let words: Vec<&str> = words.split(' ').chain(["--json"]).collect();
        let out = receiver.send(here, &words);
        // What a busy receiver lost is not looked at.
        assert!(matches!(out.status.code(), Some(0 | 1)), "{words:?}");
        for row in tables(&out.stdout)["streams"]
            .as_array()
            .expect("a row each")
        {
            assert_eq!(row["mechanism"], mechanism, "{words:?}: {row}");
            assert_eq!(row["threads"], flows, "{row}");
            assert!(
                row["why"].as_str().is_some_and(|told| told.contains(why)),
                "{row}"
            );
        }
    }
    assert!(matches!(receiver.end().0, Some(0 | 1)));
}

#[test]
fn when_packets_left_is_told_and_logged() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receiver = Receiver::start(here, &["--flows", "3"]);
    let words = ["--rate", "5000", "--packets", "500", "--flows", "3"];
    let more = ["--departures", "--log", "left.log", "--json"];
    let out = receiver.send(here, &[&words[..], &more].concat());
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{said}");
    for flows in [
        &tables(&out.stdout)["flows"],
        &decoded(here, "left.log")["flows"],
    ] {
        let flows = flows.as_array().expect("a row for each");
        assert_eq!(flows.len(), 3);
        for flow in flows {
            assert_eq!(flow["instants"], "due to left");
            assert_eq!(
                (&flow["pkts"], &flow["lost_pkts"]),
                (&500.into(), &0.into())
            );
            // None leaves before it is due.
            assert_eq!(flow["negative_delays_pkts"], 0);
        }
    }
    assert_eq!(receiver.end().0, Some(0));
}

#[test]
fn who_is_interrupted_says_what_came() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    // Without a number of flows an interrupt is the only end there is, and so no failure.
    for (more, expected) in [(&[][..], 0), (&["--flows", "7"][..], 130)] {
        let receiver = Receiver::start(here, more);
        let words = ["--rate", "10000", "--packets", "50"];
        assert_eq!(receiver.send(here, &words).status.code(), Some(0));
        receiver.signal("-INT");
        let (code, printed, _) = receiver.end();
        assert_eq!(code, Some(expected));
        let is_told = |line: &str| line.starts_with("packets ") && line.ends_with(" 50");
        assert!(printed.lines().any(is_told), "{printed}");
    }
}

#[test]
fn who_does_not_hold_the_key_sends_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    for (name, text) in [
        ("right", "this is the right key"),
        ("wrong", "this is a wrong key"),
        ("short", "short"),
    ] {
        std::fs::write(here.join(name), text).expect("the file can be written");
        let mode = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(here.join(name), mode).expect("the file belongs to this user");
    }
    let receiver = Receiver::start(here, &["--key", "right", "--flows", "1"]);
    for (key, said) in [
        (None, "--key"),
        (Some("wrong"), "could not prove that it holds the key"),
        (Some("short"), "16 bytes"),
    ] {
        let mut words = vec!["--rate", "1000", "--packets", "5"];
        words.extend(key.iter().flat_map(|key| ["--key", key]));
        let out = receiver.send(here, &words);
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(
            out.status.code() == Some(2) && error.contains(said),
            "{error}"
        );
    }
    let words = ["--rate", "1000", "--packets", "5", "--key", "right"];
    assert_eq!(receiver.send(here, &words).status.code(), Some(0));
    assert_eq!(receiver.end().0, Some(0));
}

#[test]
fn what_is_wrong_is_one_line_that_says_what_to_do_and_nothing_is_left() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    std::fs::write(here.join("no.log"), "this is no log").expect("the file can be written");
    for (words, code, said) in [
        (
            &["send", "127.0.0.1:9", "--packets", "1"][..],
            2,
            "--rate 1000",
        ),
        (
            &["send", "no host", "--rate", "1", "--log", "new.log"],
            2,
            "not a known host",
        ),
        (
            &["send", "127.0.0.1:1", "--rate", "1", "--log", "new.log"],
            3,
            "trammel recv",
        ),
        (&["send", "127.0.0.1:1", "--app", "viop"], 2, "voip"),
        (
            &[
                "send",
                "127.0.0.1:1",
                "--rate",
                "1",
                "-T",
                "tcp",
                "--by",
                "segments",
            ],
            2,
            "for UDP",
        ),
        (&["recv", "--log", "no.log"], 2, "nothing is appended"),
        (
            &["recv", "--listen", "192.0.2.1", "--no-key"],
            3,
            "--listen",
        ),
        (&["decode", "no.log"], 2, "neither a Trammel log"),
        (&["decode", "missing.log"], 2, "missing.log"),
    ] {
        let out = trammel()
            .current_dir(here)
            .args(words)
            .output()
            .expect("the program can be started");
        let error = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(out.status.code(), Some(code), "{words:?}: {error}");
        assert!(
            error.contains(said) && error.lines().count() == 1,
            "{words:?}: {error}"
        );
    }
    let left = std::fs::read_dir(here).expect("the folder exists").count();
    assert_eq!(left, 1, "only the file that was there");
    assert_eq!(
        std::fs::read(here.join("no.log")).expect("the file exists"),
        b"this is no log"
    );
}
