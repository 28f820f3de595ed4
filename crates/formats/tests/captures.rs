//! A capture of a flow of the real kernel gives what the kernel's own counters say.
//!
//! `files/kernel.*` are of one flow of CUBIC over 8 Mbit/s: Linux 6.18, three namespaces with a
//! token bucket (`tbf rate 8mbit burst 3200 limit 50000`) between them, captured at both ends.
//! `kernel.csv` is `TCP_INFO` of the sender's socket, every 8 ms, by the same clock.
#![allow(clippy::print_stdout)]

use std::fs;
use std::path::Path;
use trammel_formats::{Format, Imported, read};
use trammel_stats::table::Table;

/// How far a capture may be from the kernel.
const WITHIN: f64 = 0.02;

fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    fs::read(path.join(name)).expect("the file is part of the repository")
}

fn import(name: &str) -> Imported {
    read(Box::new(std::io::Cursor::new(file(name))), None).expect("it is a capture")
}

/// What the kernel said: columns by name.
fn kernel() -> Table {
    Table::read_csv_inferring("kernel", &file("kernel.csv")[..]).expect("it is CSV")
}

/// The mean over the time from the first to the last but one row of a column that holds until the
/// next row.
fn mean_over_time(rows: &[(f64, f64)]) -> f64 {
    let pairs = rows.windows(2);
    let sums = pairs.fold((0.0, 0.0), |(area, time), pair| {
        let s = pair[1].0 - pair[0].0;
        (area + pair[0].1 * s, time + s)
    });
    sums.0 / sums.1
}

fn near(what: &str, got: f64, wanted: f64) {
    let error = got / wanted - 1.0;
    println!(
        "{what}: {got} beside the kernel's {wanted}, {:.2} %",
        error * 100.0
    );
    assert!(
        error.abs() <= WITHIN,
        "{what}: {got}, the kernel says {wanted}"
    );
}

#[test]
fn window_round_trip_and_loss_are_the_kernel_s_at_both_ends() {
    let kernel = kernel();
    let last = kernel.rows().last().expect("there are rows");
    let series = |column: &str| -> Vec<(f64, f64)> {
        let rows = kernel
            .rows()
            .filter_map(|row| Some((row.float("time_s")?, row.float(column)?)));
        // The last row is of after the flow.
        let mut all: Vec<_> = rows.collect();
        all.pop();
        all
    };
    for (place, label) in [("sender", "measured"), ("receiver", "inferred")] {
        let imported = import(&format!("kernel.{place}.pcap.gz"));
        assert_eq!(imported.format, Format::Capture);
        assert_eq!(imported.by, format!("packets seen at the {place}"));
        let run = &imported.runs[0];
        let flows = run.table("flows").expect("there are flows");
        assert_eq!(flows.len(), 1);
        let flow = flows.rows().next().expect("there is one");
        assert_eq!(flow.text("rtt_label"), label);
        assert_eq!(flow.text("cwnd_label"), "inferred");
        let number = |column: &str| flow.float(column).expect("it is known");
        let wanted = mean_over_time(&series("cwnd_pkts"));
        near(
            &format!("window at the {place}"),
            number("cwnd_mean_pkts"),
            wanted,
        );
        // The kernel tells what it smoothed; so do the samples.
        let samples = &run.traces[0].samples;
        let smoothed: Vec<(f64, f64)> = samples
            .rows()
            .filter_map(|row| Some((row.float("time_s")?, row.float("srtt_us")?)))
            .collect();
        let wanted = mean_over_time(&series("srtt_us"));
        near(
            &format!("round trip at the {place}"),
            mean_over_time(&smoothed),
            wanted,
        );
        // Losses are known to the packet.
        let retransmissions = last.float("retransmissions_pkts").expect("it is known");
        assert_eq!(number("retransmissions_pkts"), retransmissions);
        assert_eq!(number("lost_pkts"), retransmissions);
        let loss = retransmissions / number("sent_pkts");
        assert!((number("loss") / loss - 1.0).abs() < 1e-6);
        // The kernel counts SYN and FIN.
        let acked = last.float("acked_bytes").expect("it is known");
        assert_eq!(number("delivered_bytes"), acked - 2.0);
        assert_eq!(number("mss_bytes"), 1460.0);
        assert_eq!(flow.text("sack"), "yes");
    }
}

/// `bytes` with some taken out of the middle, from `from` on.
fn cut(bytes: &[u8], from: usize) -> Vec<u8> {
    bytes[..from].to_vec()
}

fn plain() -> Vec<u8> {
    use std::io::Read;
    let source = trammel_packet::capture::source::decompressed(Box::new(std::io::Cursor::new(
        file("kernel.sender.pcap.gz"),
    )));
    let mut bytes = Vec::new();
    let read = source.expect("it is compressed").read_to_end(&mut bytes);
    read.expect("it is whole");
    bytes
}

fn refusal(bytes: Vec<u8>) -> String {
    match read(Box::new(std::io::Cursor::new(bytes)), None) {
        Ok(_) => panic!("it is refused"),
        Err(why) => why.to_string(),
    }
}

#[test]
fn what_is_no_capture_of_tcp_is_refused_with_a_reason() {
    let whole = plain();
    assert!(refusal(Vec::new()).contains("empty"));
    let text = refusal(b"hello, world".to_vec());
    assert!(
        text.contains("`hello, world`") && text.contains("--as"),
        "{text}"
    );
    // The head of a file alone, and one packet without payload.
    assert!(refusal(cut(&whole, 24)).contains("none of its 0 frames is TCP"));
    let text = refusal(cut(&whole, 24 + 16 + 74));
    assert!(text.contains("no payload"), "{text}");
    let text = refusal(cut(&whole, 20));
    assert!(text.contains("at byte"), "{text}");
}

#[test]
fn a_capture_that_was_stopped_within_a_record_counts_up_to_it() {
    let whole = plain();
    let half = cut(&whole, whole.len() / 2 + 7);
    let imported = read(Box::new(std::io::Cursor::new(half)), None).unwrap();
    let flows = imported.runs[0].table("flows").unwrap();
    let bytes = flows.rows().next().unwrap().int("delivered_bytes").unwrap();
    assert!((1_000_000..2_000_000).contains(&bytes), "{bytes}");
    assert!(
        imported
            .notes
            .iter()
            .any(|note| note.contains("damaged at byte"))
    );
}

/// The header of the sender's capture, and its records.
fn records() -> (Vec<u8>, Vec<Vec<u8>>) {
    let packed = std::io::Cursor::new(file("kernel.sender.pcap.gz"));
    let mut bytes = Vec::new();
    let mut whole = trammel_packet::capture::source::decompressed(Box::new(packed)).unwrap();
    std::io::Read::read_to_end(&mut whole, &mut bytes).unwrap();
    let mut rest = bytes.split_off(24);
    let mut records = Vec::new();
    while rest.len() > 16 {
        let length = u32::from_le_bytes(rest[8..12].try_into().unwrap()) as usize;
        let after = rest.split_off(16 + length);
        records.push(std::mem::replace(&mut rest, after));
    }
    (bytes, records)
}

fn of_records(header: &[u8], records: &[Vec<u8>]) -> Imported {
    let bytes = [header, &records.concat()].concat();
    read(Box::new(std::io::Cursor::new(bytes)), None).expect("it is a capture")
}

#[test]
fn packets_that_were_captured_twice_count_once() {
    let (header, records) = records();
    let twice: Vec<Vec<u8>> = records
        .iter()
        .flat_map(|one| [one.clone(), one.clone()])
        .collect();
    let imported = of_records(&header, &twice);
    let once = import("kernel.sender.pcap.gz");
    for name in ["flows", "groups"] {
        assert_eq!(
            imported.runs[0].table(name),
            once.runs[0].table(name),
            "{name}"
        );
    }
    let note = imported.notes.concat();
    assert!(note.contains("captured more than once"), "{note}");
    assert!(!once.notes.concat().contains("more than once"));
}

#[test]
fn a_capture_that_begins_in_the_middle_counts_segments() {
    let (header, records) = records();
    let imported = of_records(&header, &records[records.len() / 4..]);
    let flow = imported.runs[0]
        .table("flows")
        .unwrap()
        .rows()
        .next()
        .unwrap();
    let segments = flow.int("delivered_bytes").unwrap() as f64 / 1448.0;
    near("packets", flow.int("sent_pkts").unwrap() as f64, segments);
    // The whole capture over the same time.
    near("window", flow.float("cwnd_mean_pkts").unwrap(), 28.57);
    let note = imported.notes.concat();
    assert!(note.contains("segments of 1448 bytes"), "{note}");
}
