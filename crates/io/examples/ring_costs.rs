//! What the in-memory wire costs a call, a frame and a byte, in cycles of the time-stamp counter:
//! minima of many short samples, each a sum of calls, as the counter may step by tens of cycles.
//! The device profile `memory-ring` comes from here.

#![allow(clippy::print_stdout)]

use trammel_io::ring;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::cpu::cycles;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

const SAMPLES: usize = 2_000;
const CALLS: usize = 64;

/// The least cycles of a receive and of a transmit of `count` frames of `bytes` bytes.
fn least(count: usize, bytes: usize) -> Result<(f64, f64), std::io::Error> {
    let (mut here, mut there) = ring::pair("wire", 1024);
    let mut pool = Pool::new(256, 256);
    let frame = vec![0; bytes];
    let (mut receive, mut transmit) = (u64::MAX, u64::MAX);
    let mut batch = Batch::default();
    for _ in 0..SAMPLES {
        let mut sums = (0, 0);
        for _ in 0..CALLS {
            for _ in 0..count {
                let handle = pool.alloc_with(&frame);
                batch.push(handle.ok_or(std::io::ErrorKind::OutOfMemory)?);
            }
            let start = cycles();
            here.transmit(&mut pool, &mut batch)?;
            let between = cycles();
            let into: &mut Packets = &mut batch;
            there.receive(&mut pool, into)?;
            let end = cycles();
            sums = (sums.0 + end - between, sums.1 + between - start);
            for handle in batch.drain() {
                pool.free(handle);
            }
        }
        (receive, transmit) = (receive.min(sums.0), transmit.min(sums.1));
    }
    Ok((
        receive as f64 / CALLS as f64,
        transmit as f64 / CALLS as f64,
    ))
}

fn main() -> Result<(), std::io::Error> {
    let mut clock = u64::MAX;
    for _ in 0..SAMPLES {
        let mut sum = 0;
        for _ in 0..CALLS {
            let start = cycles();
            sum += cycles() - start;
        }
        clock = clock.min(sum);
    }
    let clock = clock as f64 / CALLS as f64;
    println!("reading the counter: {clock:.1} cycles, taken off below");
    for (count, bytes) in [
        (0, 60),
        (1, 60),
        (8, 60),
        (32, 60),
        (1, 1514),
        (8, 1514),
        (32, 1514),
    ] {
        let (receive, transmit) = least(count, bytes)?;
        println!(
            "{count} frames of {bytes} bytes: receive {:.1}, transmit {:.1}",
            receive - clock,
            transmit - clock
        );
    }
    println!("a poll in vain, of a thousand: {:.1}", poll()?);
    Ok(())
}

/// The least cycles of a poll in vain, one of a thousand in a row.
fn poll() -> Result<f64, std::io::Error> {
    let (_here, mut there) = ring::pair("wire", 1024);
    let (mut pool, mut into) = (Pool::new(1, 1), Batch::default());
    let mut least = u64::MAX;
    for _ in 0..SAMPLES {
        let start = cycles();
        for _ in 0..1000 {
            there.receive(&mut pool, std::hint::black_box(&mut into))?;
        }
        least = least.min(cycles() - start);
    }
    Ok(least as f64 / 1000.0)
}
