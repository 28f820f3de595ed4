//! `pcap` with the real kernel: what captures of a guest prove about the kernel's own counters.
//!
//! The importer sees packets alone. What it says of a flow is held against what the kernel says of
//! the same flow: `TCP_INFO` every millisecond in its trace, and its row of `flows`.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use trammel_stats::table::Table;

/// How far a capture may be from the kernel.
const WITHIN: f64 = 0.02;

const DROP_TAIL: &str = "queue = { limit = '60 packets' }\n";
const RANDOM: &str = "queue = { limit = '400 packets' }\nloss = { model = 'bernoulli', probability \
                      = 0.002, direction = 'data' }\n";

fn trammel(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trammel"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A flow of the kernel that ends within the run, all of it captured into `out`; nothing, with the
/// reason printed, where this machine has no kernel.
fn captured(folder: &Path, variant: &str, path: &str, megabytes: u32, out: &str) -> Option<()> {
    let scenario = format!(
        "duration = '12 s'\nengines = ['measure']\ntrace = 'ack'\npcap = true\n\
         [path]\nrate = '20 Mbit/s'\nrtt = '40 ms'\n{path}\
         [[flow]]\nname = 'f'\nvariant = '{variant}'\nbytes = '{megabytes} MB'\n"
    );
    fs::write(folder.join("s.toml"), scenario).unwrap();
    let output = trammel(folder, &["run", "s.toml", "-o", out, "--force"]);
    if output.status.code() == Some(3) {
        println!("skipped: {}", said(&output).trim());
        return None;
    }
    assert!(output.status.success(), "{}", said(&output));
    Some(())
}

fn table(path: &Path) -> Table {
    let bytes = fs::read(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    Table::read_csv_inferring("table", &bytes[..]).unwrap()
}

/// The mean over time of a column that holds until the next row, up to an instant.
fn mean(samples: &Table, column: &str, until_s: f64) -> f64 {
    let rows = samples
        .rows()
        .filter_map(|row| Some((row.float("time_s")?, row.float(column)?)));
    let rows: Vec<(f64, f64)> = rows.filter(|(at, _)| *at <= until_s).collect();
    let sums = rows.windows(2).fold((0.0, 0.0), |(area, time), pair| {
        let s = pair[1].0 - pair[0].0;
        (area + pair[0].1 * s, time + s)
    });
    sums.0 / sums.1
}

fn near(what: &str, got: f64, wanted: f64) {
    let error = got / wanted - 1.0;
    println!(
        "{what}: {got:.2}, the kernel says {wanted:.2}: {:+.2} %",
        error * 100.0
    );
    assert!(
        error.abs() <= WITHIN,
        "{what}: {got}, the kernel says {wanted}"
    );
}

/// Holds the captures of both ends of a flow against its kernel.
fn held(variant: &str, path: &str, megabytes: u32) {
    let lab = tempfile::tempdir().unwrap();
    let folder = lab.path();
    if captured(folder, variant, path, megabytes, "known").is_none() {
        return;
    }
    let known = table(&folder.join("known/flows.csv"));
    let known = known.rows().next().unwrap();
    let samples = table(&folder.join("known/traces/base.linux_vt.f.csv"));
    // Until its last byte was acknowledged.
    let acked = |row: trammel_stats::table::Row<'_>| row.int("acked_bytes").unwrap();
    let most = samples.rows().map(acked).max().unwrap();
    let end = samples.rows().find(|row| acked(*row) == most).unwrap();
    let end = end.float("time_s").unwrap();
    for place in ["sender", "receiver"] {
        let capture = format!("known/pcap/base.linux_vt.{place}s.pcapng");
        let args = ["import", &capture, "--name", "f", "-o", place];
        let output = trammel(folder, &args);
        assert!(output.status.success(), "{}", said(&output));
        let seen = table(&folder.join(place).join("flows.csv"));
        let seen = seen.rows().next().unwrap();
        let number = |column: &str| seen.float(column).unwrap();
        assert_eq!(seen.text("captured_at"), place);
        let what = |metric: &str| format!("{variant}, {metric} at the {place}");
        let of_kernel = |column: &str| mean(&samples, column, end);
        near(
            &what("packets in flight"),
            number("in_flight_mean_pkts"),
            of_kernel("in_flight_pkts"),
        );
        if variant == "bbr" {
            // It spaces its segments and does not fill its window, which nobody sees then.
            assert_eq!(seen.text("cwnd_label"), "used");
            assert!(number("cwnd_mean_pkts") < of_kernel("cwnd_pkts"));
        } else {
            assert_eq!(seen.text("cwnd_label"), "inferred");
            near(
                &what("window"),
                number("cwnd_mean_pkts"),
                of_kernel("cwnd_pkts"),
            );
        }
        let trace = table(&folder.join(place).join("traces/base.f.csv"));
        near(
            &what("round trip"),
            mean(&trace, "srtt_us", f64::INFINITY),
            of_kernel("srtt_us"),
        );
        // To the packet and the byte.
        for column in ["retransmissions_pkts", "sent_pkts", "delivered_bytes"] {
            assert_eq!(seen.int(column), known.int(column), "{}", what(column));
        }
        assert!(known.int("retransmissions_pkts") > Some(5));
    }
}

#[test]
fn cubic_with_a_full_queue_is_as_its_kernel_says() {
    held("cubic", DROP_TAIL, 16);
}

#[test]
fn cubic_with_random_losses_is_as_its_kernel_says() {
    held("cubic", RANDOM, 8);
}

#[test]
fn reno_with_a_full_queue_is_as_its_kernel_says() {
    held("reno", DROP_TAIL, 16);
}

#[test]
fn reno_with_random_losses_is_as_its_kernel_says() {
    held("reno", RANDOM, 8);
}

#[test]
fn bbr_with_a_full_queue_is_as_its_kernel_says() {
    held("bbr", DROP_TAIL, 16);
}

#[test]
fn bbr_with_random_losses_is_as_its_kernel_says() {
    held("bbr", RANDOM, 16);
}

#[test]
fn captures_of_a_guest_are_the_same_twice_and_called_as_those_of_the_simulator() {
    let lab = tempfile::tempdir().unwrap();
    let folder = lab.path();
    for out in ["one", "two"] {
        if captured(folder, "cubic", RANDOM, 2, out).is_none() {
            return;
        }
    }
    let names = |out: &str| -> Vec<String> {
        let all = fs::read_dir(folder.join(out).join("pcap")).unwrap();
        let mut names: Vec<_> = all
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let expected = ["bottleneck", "receivers", "senders"];
    let expected = expected.map(|name| format!("base.linux_vt.{name}.pcapng"));
    assert_eq!(names("one"), expected);
    for name in &expected {
        let read = |out: &str| fs::read(folder.join(out).join("pcap").join(name)).unwrap();
        let (one, two) = (read("one"), read("two"));
        assert!(one == two, "{name}");
        assert!(one.len() > 100_000, "{name}");
    }
    // A simulated run of the same file: the same link, without the engine in its name.
    let simulate = ["run", "s.toml", "--engine", "simulate", "-o", "three"];
    assert!(trammel(folder, &simulate).status.success());
    assert_eq!(names("three"), ["base.bottleneck.pcapng"]);
    // Without a folder nothing is captured, which is said.
    let output = trammel(folder, &["run", "s.toml"]);
    assert!(output.status.success());
    assert!(said(&output).contains("captures and logs need a folder"));
}
