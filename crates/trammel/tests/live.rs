//! `--live` of a subject that is not flows: the page fills itself as runs end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// More runs than any test waits for.
const STREAMS: &str = "subject = 'traffic'\nduration = '600 s'\nrepeat = 4000\n[path]\n\
                       rate = '8 Mbit/s'\ndelay = '20 ms'\n[[stream]]\nname = 'poisson'\n\
                       rate = 800\ngap = 'exponential'\nsize = 958\n";

/// A run that is killed with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the page at `url` answers below it at `path`.
fn get(url: &str, path: &str) -> String {
    let at = url.trim_start_matches("http://");
    let (address, root) = at.split_once('/').expect("the address has a token");
    let mut stream = TcpStream::connect(address).expect("it listens");
    let request = format!("GET /{root}{path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
    body.to_owned()
}

#[test]
fn a_report_of_traffic_fills_itself_as_runs_end() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("s.toml");
    std::fs::write(&file, STREAMS).expect("the file can be written");
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.args(["run", "--live", "--threads", "1", "--engine", "simulate"]);
    command
        .arg(&file)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program can be started");
    let said = BufReader::new(child.stderr.take().expect("it is piped"));
    let _running = Running(child);
    let mut lines = said.lines().map_while(Result::ok);
    let url = lines.find_map(|line| line.strip_prefix("live report: ").map(str::to_owned));
    let url = url.expect("it says where its page is");
    assert!(!get(&url, "").contains("<table"), "nothing has come yet");
    let begun = Instant::now();
    while !get(&url, "").contains("<table") {
        let waited = begun.elapsed();
        assert!(waited < Duration::from_secs(60), "it stays empty");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(get(&url, "state").ends_with(" running"));
}
