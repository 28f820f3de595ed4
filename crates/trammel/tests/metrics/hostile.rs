//! Clients that mean no good: each command goes on, answers who asks rightly, and ends when it is
//! told to.

use crate::running::Running;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Connections of each kind: several times those that a command serves at once.
const MANY: usize = 100;

/// A sweep that lasts longer than any test.
const SWEEP: &str = "duration = '600 s'\nrepeat = 400\n[path]\nrate = '50 Mbit/s'\nrtt = '20 ms'\n\
                     [[flow]]\nvariant = 'reno'\n";

/// Has `test` run with each command that can be started anywhere.
fn with_each(test: impl Fn(&str, Running)) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let sweep = folder.path().join("s.toml");
    std::fs::write(&sweep, SWEEP).expect("the file can be written");
    let router = folder.path().join("r.click");
    let text = "a :: TimedSource(0.01) -> Counter -> Discard";
    std::fs::write(&router, text).expect("the file can be written");
    let [sweep, router] = [&sweep, &router].map(|path| path.to_str().expect("it is UTF-8"));
    for words in [
        &["recv", "--port", "0"][..],
        &["sweep", sweep, "--engine", "simulate", "--threads", "1"],
        &["run", sweep, "--engine", "simulate", "--threads", "1"],
        &["bench", "--model", "reference-1g"],
        &["router", router],
    ] {
        test(words[0], Running::start(words));
    }
    let recv = Running::start(&["recv", "--port", "0"]);
    let mut recv = recv;
    let at = crate::line(&mut recv.said, "listening on ");
    let send = ["send", &at, "--rate", "10", "--duration", "600s", "--sleep"];
    test("send", Running::start(&send));
}

fn connected(running: &Running) -> TcpStream {
    TcpStream::connect(running.address).expect("it listens")
}

/// The status line of the answer to `request`, of which parts may be refused before it is sent.
fn status(running: &Running, request: &[u8]) -> String {
    let mut client = connected(running);
    let _ = client.write_all(request);
    let mut answer = Vec::new();
    let _ = client.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_page_is_whole_from_the_first_on() {
    with_each(|command, running| {
        let families = running.families();
        assert!(families.contains_key("trammel_build"), "{command}");
    });
}

#[test]
fn what_is_no_question_of_this_machine_is_refused() {
    with_each(|command, running| {
        let long = format!("GET / HTTP/1.1\r\nX: {}", "a".repeat(100_000));
        let host = running.address;
        for (request, expected) in [
            (&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], "400"),
            (b"\0\0\0\x13\x01\0\x02\x07\x07", "400"),
            (long.as_bytes(), "431"),
            (b"GET /metrics HTTP/1.1\r\n\r\n", "403"),
            (
                b"GET /metrics HTTP/1.1\r\nHost: rebound.example\r\n\r\n",
                "403",
            ),
            (
                format!("GET / HTTP/1.1\r\nHost: {host}\r\nSec-Fetch-Site: cross-site\r\n\r\n")
                    .as_bytes(),
                "403",
            ),
            (
                format!("GET / HTTP/1.1\r\nHost: {host}\r\nOrigin: http://a.example\r\n\r\n")
                    .as_bytes(),
                "403",
            ),
            (
                format!("POST /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes(),
                "405",
            ),
            (
                format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes(),
                "200",
            ),
        ] {
            let status = status(&running, request);
            let shown = String::from_utf8_lossy(&request[..request.len().min(80)]);
            assert_eq!(status.get(9..12), Some(expected), "{command}: {shown:?}");
        }
    });
}

#[test]
fn silent_and_slow_clients_keep_nobody_waiting_and_no_command_from_its_end() {
    with_each(|command, running| {
        let question = format!("GET /metrics HTTP/1.1\r\nHost: {}\r\n\r\n", running.address);
        let mut clients: Vec<TcpStream> = (0..3 * MANY).map(|_| connected(&running)).collect();
        for (number, client) in clients.iter_mut().enumerate() {
            // Those who came first may be closed by now.
            let _ = match number % 3 {
                0 => Ok(()),
                1 => client.write_all(&question.as_bytes()[..20]),
                // It asks, and never reads.
                _ => client.write_all(question.as_bytes()),
            };
        }
        let begun = Instant::now();
        running.families();
        let waited = begun.elapsed();
        assert!(waited < Duration::from_secs(5), "{command}: {waited:?}");
        let (code, said) = running.end("-INT");
        assert!(code.is_some(), "{command}: it was killed: {said}");
        assert!(!said.contains("panicked"), "{command}: {said}");
        drop(clients);
    });
}

#[test]
fn a_port_that_another_process_has_is_said() {
    let first = Running::start(&["recv", "--port", "0"]);
    let taken = first.address.to_string();
    let folder = tempfile::tempdir().expect("a folder can be made");
    let router = folder.path().join("r.click");
    std::fs::write(&router, "Idle -> Discard").expect("the file can be written");
    let router = router.to_str().expect("it is UTF-8");
    for words in [&["recv", "--port", "0"][..], &["router", router]] {
        let mut second = Command::new(env!("CARGO_BIN_EXE_trammel"));
        second.args(words).args(["--metrics", &taken]);
        second.stdout(Stdio::null()).stdin(Stdio::null());
        let ended = second.output().expect("the program can be started");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(!ended.status.success(), "{words:?}: {said}");
        assert!(said.contains("--metrics"), "{words:?}: {said}");
        assert!(said.contains(&taken), "{words:?}: {said}");
        assert!(said.contains("in use"), "{words:?}: {said}");
    }
    first.families();
}
