//! How fast a log is written, read and decoded, in memory: `cargo run --release -p trammel-traffic --example log_speed`.
//!
//! One flow of records in order every microsecond, with some jitter, and no losses.
#![allow(clippy::print_stdout)]

use std::time::Instant;
use trammel_traffic::decode::{Options, decode};
use trammel_traffic::log::{Reader, Session, Writer};
use trammel_traffic::record::{Instants, Record};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let records: u64 = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 10_000_000,
    };
    let mut file = Vec::with_capacity(records as usize * 25);
    let told = |what: &str, since: Instant| {
        let ns = since.elapsed().as_nanos() as f64 / records as f64;
        println!("{what}: {ns:.1} ns a record");
    };

    let start = Instant::now();
    let mut writer = Writer::new(&mut file);
    writer.session(&Session {
        instants: Instants::SentReceived,
        date_ns: 0,
        host: String::new(),
        clock: String::new(),
        program: String::new(),
        seed: 0,
    })?;
    for sequence in 0..records {
        let start_ns = sequence as i64 * 1000;
        writer.record(&Record {
            flow: 0,
            sequence,
            bytes: 1000,
            start_ns,
            end_ns: start_ns + 20_000 + (sequence * 7919 % 1009) as i64,
        })?;
    }
    drop(writer);
    told("written", start);

    let start = Instant::now();
    let read = Reader::new(&*file).count() as u64 - 1;
    told("read", start);
    assert_eq!(read, records);

    let start = Instant::now();
    let report = decode(Reader::new(&*file), Options::default())?;
    told("read and decoded", start);
    let bytes = file.len() as f64 / records as f64;
    let mean = report.flows[0].summary.delay.map(|delay| delay.mean_ns);
    println!("{bytes:.3} bytes a record; mean delay {mean:?} ns");
    Ok(())
}
