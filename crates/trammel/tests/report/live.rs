//! `run --live`: the page fills itself while runs go on, and is the report at the end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(120);

const SCENARIO: &str = "question = 'Who gets more?'\nduration = '40 s'\nrepeat = 6\n\
    [path]\nrate = '50 Mbit/s'\nrtt = '20 ms'\nqueue = { limit = '1 bdp' }\n\
    [[flow]]\nvariant = 'cubic'\n[[flow]]\nvariant = 'reno'\n\
    [sweep]\n'path.queue.limit' = ['0.5 bdp', '1 bdp', '2 bdp', '4 bdp']\n";

/// The body of what the page answers at `path`; nothing where it answers no more.
fn get(address: &str, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    Some(body.to_owned())
}

#[test]
fn a_page_fills_itself_and_is_the_report_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("s.toml"), SCENARIO).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_trammel"))
        .args(["run", "s.toml", "-o", "out", "--live", "--threads", "1"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("live report: ") {
        line.clear();
        assert_ne!(
            said.read_line(&mut line).unwrap(),
            0,
            "no address is printed"
        );
    }
    let url = line.split("live report: http://").nth(1).unwrap().trim();
    let (address, path) = url.split_once('/').unwrap();
    let (state, page) = (format!("/{path}state"), format!("/{path}"));
    let began = Instant::now();
    let (mut pages, mut last) = (Vec::new(), String::new());
    while let Some(seen) = get(address, &state) {
        if seen != last {
            pages.extend(get(address, &page));
            last = seen;
        }
        if last.ends_with(" ended") {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "it does not end: {last}");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(child.wait().unwrap().success());
    assert!(get(address, &state).is_none(), "it ends with the run");
    let whole = std::fs::read_to_string(folder.path().join("out/report.html")).unwrap();
    let shown = pages.last().unwrap();
    assert!(last.ends_with(" ended"), "{last}");
    assert!(shown.contains("connect-src 'self'") && !whole.contains("connect-src"));
    // All but the links to files beside it, and what asks for more.
    let answer = |page: &str| {
        let from = page
            .find("<div class=\"answer\">")
            .expect("there is an answer");
        let to = page.find("<h2>Tables</h2>").expect("there are tables");
        let lines = page[from..to].lines();
        let own = lines.filter(|line| !line.contains("class=\"file\""));
        own.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(answer(shown), answer(&whole));
    let going_on = pages
        .iter()
        .filter(|page| page.contains("The run goes on: "));
    assert!(
        going_on.count() > 0,
        "of {} pages none is of a part",
        pages.len()
    );
}
