//! What ours writes for D-ITG, and counts as it does, against `ITGDec` itself.
//!
//! Needs Debian's `d-itg`; without it the tests print that they are skipped.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use trammel_core::rng::Rng;
use trammel_traffic::itg::binary_log::{self, Order};
use trammel_traffic::itg::line::{DAY_US, Line};
use trammel_traffic::itg::summary::Summary;
use trammel_traffic::itg::text_log;

/// What `ITGDec` prints, without the two lines of its version; none if it is not installed.
fn decoded(arguments: &[&str], directory: &Path) -> Option<String> {
    let run = Command::new("ITGDec")
        .args(arguments)
        .current_dir(directory)
        .stderr(Stdio::null())
        .output();
    let Ok(output) = run else {
        eprintln!("skipped: `ITGDec` is not installed; `apt-get install d-itg`");
        return None;
    };
    let text = String::from_utf8(output.stdout).expect("the text is UTF-8");
    Some(
        text.splitn(3, '\n')
            .nth(2)
            .expect("two lines of version")
            .to_owned(),
    )
}

fn host(six: bool, port: u64) -> SocketAddr {
    let address = if six { "2001:db8::12:3456" } else { "10.1.2.3" };
    SocketAddr::new(
        address.parse().expect("the address is well formed"),
        u16::try_from(port).expect("a port"),
    )
}

/// A log of several flows with loss, in the order of receiving; unless it is orderly, with packets
/// that come late or twice.
fn log(seed: u64, is_orderly: bool) -> Vec<Line> {
    let mut rng = Rng::new(seed, "a log");
    let mut lines = Vec::new();
    let begin = rng.below(DAY_US / 2);
    for flow in 1..=4 {
        for sequence in 1..=300 {
            if rng.below(10) == 0 {
                continue;
            }
            let sent_us = begin + u64::from(sequence) * 700 + u64::from(flow) * 13;
            let received_us = sent_us + 20 + rng.below(if is_orderly { 600 } else { 2_000 });
            let line = Line {
                flow,
                sequence,
                from: host(flow == 3, 40_000 + u64::from(flow)),
                to: host(flow == 3, 8999),
                sent_us,
                received_us,
                bytes: 16 + u32::try_from(rng.below(1400)).expect("small"),
            };
            lines.extend(std::iter::repeat_n(
                line,
                1 + usize::from(!is_orderly && rng.below(40) == 0),
            ));
        }
    }
    lines.sort_by_key(|line| line.received_us);
    lines
}

fn same_lines(ours: &str, theirs: &str) {
    for (number, (ours, theirs)) in ours.lines().zip(theirs.lines()).enumerate() {
        assert_eq!(ours, theirs, "line {}", number + 1);
    }
    assert_eq!(ours, theirs);
}

#[test]
fn itgdec_reads_what_ours_writes() {
    let directory = tempfile::tempdir().expect("a temporary folder can be made");
    for seed in 1..=10 {
        let lines = log(seed, false);
        let (mut binary, mut text) = (Vec::new(), String::new());
        for line in &lines {
            binary_log::write(line, Order::Little, &mut binary);
            text_log::write(line, &mut text);
        }
        std::fs::write(directory.path().join("ours.log"), &binary)
            .expect("the file can be written");
        if decoded(&["ours.log", "-l", "theirs.txt"], directory.path()).is_none() {
            return;
        }
        let theirs =
            std::fs::read_to_string(directory.path().join("theirs.txt")).expect("the file exists");
        same_lines(&text, &theirs);
        for ((line, text), number) in lines.iter().zip(theirs.lines()).zip(1..) {
            assert_eq!(text_log::read(text, number).as_ref(), Ok(line));
        }
        let again: Result<Vec<Line>, _> = binary_log::read_all(&binary).collect();
        assert_eq!(again.expect("a log"), lines);
    }
}

#[test]
fn summaries_are_the_same_to_the_byte() {
    let directory = tempfile::tempdir().expect("a temporary folder can be made");
    for seed in 0..=20 {
        // The first is empty, the second of a single packet.
        let mut lines = log(seed, true);
        match seed {
            0 => lines.clear(),
            1 => lines.truncate(1),
            _ => {}
        }
        let mut binary = Vec::new();
        for line in &lines {
            binary_log::write(line, Order::Little, &mut binary);
        }
        std::fs::write(directory.path().join("ours.log"), &binary)
            .expect("the file can be written");
        let Some(theirs) = decoded(&["ours.log"], directory.path()) else {
            return;
        };
        same_lines(&Summary::of(&lines, 0).text(), &theirs);
    }
}

#[test]
fn summaries_of_disorder_are_the_same_but_for_losses() {
    let directory = tempfile::tempdir().expect("a temporary folder can be made");
    for seed in 0..10 {
        let lines = log(seed, false);
        let mut binary = Vec::new();
        for line in &lines {
            binary_log::write(line, Order::Little, &mut binary);
        }
        std::fs::write(directory.path().join("ours.log"), &binary)
            .expect("the file can be written");
        let Some(theirs) = decoded(&["ours.log"], directory.path()) else {
            return;
        };
        let without = |text: &str| -> String {
            let kept = text
                .lines()
                .filter(|line| !line.starts_with("Average loss-burst"));
            kept.map(|line| format!("{line}\n")).collect()
        };
        same_lines(&without(&Summary::of(&lines, 0).text()), &without(&theirs));
    }
}
