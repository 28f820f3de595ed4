//! How much of its time the machine takes from a program of highest priority that does nothing but
//! ask the clock: `cargo run --release -p trammel-traffic --example stolen_time`.
//!
//! What is due meanwhile is late, whoever sends it: where more than 0.1 % is taken in pieces of a
//! microsecond and more, no sender's 99.9th percentile is below one. Needs the right to run before
//! other programs.

#![allow(clippy::print_stdout, reason = "an example tells what it found")]

use trammel_io::clock::{monotonic_ns, real_time, sleep_until};

/// Short enough that the kernel does not step in for programs that wait.
const ROUND_NS: i64 = 900_000_000;
const REST_NS: i64 = 300_000_000;
const ROUNDS: u32 = 5;

fn main() -> std::io::Result<()> {
    real_time(50)?;
    println!("pieces above 1 us   above 10 us   share of the time   longest, us");
    for _ in 0..ROUNDS {
        let begun = monotonic_ns();
        let (mut last, mut taken, mut longest) = (begun, 0, 0);
        let (mut pieces, mut long_pieces) = (0, 0);
        while last - begun < ROUND_NS {
            let now = monotonic_ns();
            let gap = now - last;
            if gap > 1_000 {
                pieces += 1;
                long_pieces += u32::from(gap > 10_000);
                taken += gap;
                longest = longest.max(gap);
            }
            last = now;
        }
        println!(
            "{pieces:17} {long_pieces:13} {:17.3} % {:13.1}",
            100.0 * taken as f64 / ROUND_NS as f64,
            longest as f64 / 1e3
        );
        sleep_until(last + REST_NS);
    }
    Ok(())
}
