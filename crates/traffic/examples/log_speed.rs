//! How fast a log is written, read and decoded, in memory: `cargo run --release -p trammel-traffic
//! --example log_speed`.
//!
//! One flow of records in order every microsecond, with some jitter, and no losses. A number as
//! argument says how many are decoded as they are made, in no log: memory does not grow with it. A
//! file's name as second argument keeps the log, for `trammel decode`.
#![allow(clippy::print_stdout)]

use std::time::Instant;
use trammel_traffic::decode::{Decoder, Options, decode};
use trammel_traffic::log::{Reader, Session, Writer};
use trammel_traffic::record::{Instants, Record};

fn record(sequence: u64) -> Record {
    let start_ns = sequence as i64 * 1000;
    Record {
        flow: 0,
        sequence,
        bytes: 1000,
        start_ns,
        end_ns: start_ns + 20_000 + (sequence * 7919 % 1009) as i64,
    }
}

fn told(what: &str, records: u64, since: Instant) {
    let ns = since.elapsed().as_nanos() as f64 / records as f64;
    println!("{what}: {ns:.1} ns a record of {records}");
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = Session {
        instants: Instants::SentReceived,
        date_ns: 0,
        host: String::new(),
        clock: String::new(),
        program: String::new(),
        seed: 0,
    };
    let records = 10_000_000;
    let mut file = Vec::with_capacity(records as usize * 25);

    let start = Instant::now();
    let mut writer = Writer::new(&mut file);
    writer.session(&session)?;
    for sequence in 0..records {
        writer.record(&record(sequence))?;
    }
    drop(writer);
    told("written", records, start);

    let start = Instant::now();
    let read = Reader::new(&*file).count() as u64 - 1;
    told("read", records, start);
    assert_eq!(read, records);

    let start = Instant::now();
    let report = decode(Reader::new(&*file), Options::default())?;
    told("read and decoded", records, start);
    let bytes = file.len() as f64 / records as f64;
    println!("{bytes:.3} bytes a record");
    assert_eq!(report.flows[0].summary.pkts, records);
    if let Some(path) = std::env::args().nth(2) {
        std::fs::write(path, &file)?;
    }
    drop(file);

    if let Some(many) = std::env::args().nth(1) {
        let many = many.parse()?;
        let start = Instant::now();
        let mut decoder = Decoder::new(Options::default());
        decoder.session(session);
        for sequence in 0..many {
            decoder.record(&record(sequence));
        }
        let report = decoder.finish();
        told("decoded", many, start);
        assert_eq!(report.flows[0].summary.pkts, many);
    }
    Ok(())
}
