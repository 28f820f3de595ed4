//! Frames of 64 bytes through the tables of a router, and how many a CPU second.
//!
//! ```console
//! $ cargo run --release -p trammel-netfpga --example contents                 all of them
//! $ cargo run --release -p trammel-netfpga --example contents pass 1000000    one, so many frames
//! ```
//! `card` is in virtual time, `device` without time; `pass` hands frames through where they lie, as
//! a live card does; `streams` is the timing engine for frames without contents.

#![allow(clippy::print_stdout)] // It is what an example is for.

use trammel_core::time::{Span, Time};
use trammel_netfpga::error::Error;
use trammel_netfpga::registers::Registers;
use trammel_netfpga::stages::{Fcs, Queue, Queues};
use trammel_netfpga::tables::{self, ArpRow, RouteRow};
use trammel_netfpga::{Card, Device, Params, Router, Stream, design};

/// Frames of a measurement unless it is said.
const FRAMES: u64 = 4_000_000;

/// What is measured: a name, what that is, and what runs so many frames.
type Case = (&'static str, &'static str, fn(u64) -> Result<u64, Error>);

const CASES: [Case; 4] = [
    ("card", "in virtual time, four ports at 90 %", card),
    ("device", "the device alone", device),
    ("pass", "the device, frames in place", pass),
    ("streams", "without contents, four ports at 95 %", streams),
];

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let wanted = arguments.next();
    let frames = arguments.next().and_then(|text| text.parse().ok());
    for (name, what, run) in CASES {
        if wanted.as_deref().is_none_or(|wanted| wanted == name) {
            let begin = cpu_ns();
            let forwarded = run(frames.unwrap_or(FRAMES))?;
            let ns = (cpu_ns() - begin).max(1);
            let rate = forwarded as f64 / ns as f64 * 1e3;
            println!("{what}: {forwarded} frames of 64 bytes, {rate:.1} million a CPU second");
            println!("run case={name} data_packets={forwarded}");
        }
    }
    Ok(())
}

/// Four ports at 90 % in virtual time.
fn card(wanted: u64) -> Result<u64, Error> {
    let params = Params::REFERENCE_1G;
    let mut card = Card::new(design("reference-router")?, &params)?;
    fill(&mut card);
    let gap = Span::from_ps(params.line_ps(64) * 10 / 9);
    let frames: Vec<_> = (0..4).map(frame).collect();
    let (mut buffer, mut forwarded) = (Vec::new(), 0);
    for n in 0..wanted / 4 {
        let at = Time::from_ps(gap.as_ps() * n);
        for (port, frame) in frames.iter().enumerate() {
            card.offer(at, Queue::mac(port), frame, Fcs::Good);
        }
        if n % 256 == 255 {
            card.advance(at);
            while card.take(&mut buffer).is_some() {
                forwarded += 1;
            }
        }
    }
    card.advance(card.now() + Span::from_ms(100));
    while card.take(&mut buffer).is_some() {
        forwarded += 1;
    }
    Ok(forwarded)
}

/// In by one port and out by the next, through the output queue.
fn device(wanted: u64) -> Result<u64, Error> {
    let mut device = Device::new(design("reference-router")?);
    fill(&mut device);
    let frames: Vec<_> = (0..4).map(frame).collect();
    let (mut buffer, mut forwarded) = (Vec::new(), 0);
    for n in 0..wanted {
        let port = n as usize % 4;
        device.receive(Queue::mac(port), &frames[port], Fcs::Good);
        forwarded += u64::from(device.transmit(Queue::mac((port + 1) % 4), &mut buffer));
    }
    Ok(forwarded)
}

/// The same where the frame lies.
fn pass(wanted: u64) -> Result<u64, Error> {
    let mut device = Device::new(design("reference-router")?);
    fill(&mut device);
    let frames: Vec<_> = (0..4).map(frame).collect();
    let (mut place, mut forwarded) = (frames[0].clone(), 0);
    for n in 0..wanted {
        let port = n as usize % 4;
        place.copy_from_slice(&frames[port]);
        let out = device.pass(Queue::mac(port), &mut place, Queues(u8::MAX));
        forwarded += u64::from(out.is_some());
    }
    Ok(forwarded)
}

/// Streams of equal frames, each to the next port. Their rates differ so little that no state comes
/// again soon, so all frames are simulated.
fn streams(wanted: u64) -> Result<u64, Error> {
    let params = Params::REFERENCE_1G;
    let streams = (0..4).map(|port| {
        let ends = (port, (port + 1) % 4);
        let stream = Stream::of_line(&params, ends, 64, 0.95, Span::from_secs(60));
        Stream {
            gap: Span::from_ps(stream.gap.as_ps() + port as u64),
            frames: wanted / 4,
            ..stream
        }
    });
    let outcome = Router::new(&params)?.run(&streams.collect::<Vec<_>>())?;
    Ok(outcome.simulated)
}

/// Nanoseconds that this process had of a processor, on Linux.
fn cpu_ns() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let first = text.split(' ').next().and_then(|ns| ns.parse().ok());
    first.unwrap_or(0)
}

/// 10.0.`i`.0/24 behind port `i`, in tables that are full.
fn fill(card: &mut impl Registers) {
    for row in 0..tables::ROWS {
        let (port, octet) = (row % 4, row as u8);
        let route = RouteRow {
            network: [10, 0, octet, 0].into(),
            mask: [255, 255, 255, 0].into(),
            next_hop: [192, 168, octet, 1].into(),
            queues: 1 << (2 * port),
        };
        tables::write_route(card, row, &route);
        let address = route.next_hop;
        let mac = [2, 0, 0, 0, 1, octet];
        tables::write_arp(card, row, &ArpRow { address, mac });
        tables::write_filter(card, row, [192, 168, octet, 254].into());
    }
}

/// From port `port` to the next one: the MAC address is the one that the card begins with.
fn frame(port: u8) -> Vec<u8> {
    let mut frame = vec![0xca, 0xfe, 0xf0, 0x0d, 0, port + 1, 2, 0, 0, 0, 0, 1, 8, 0];
    let mut header = [
        0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 9, 9, 9, 10, 0, 28, 1,
    ];
    header[18] += (port + 1) % 4;
    let words = header.as_chunks::<2>().0.iter();
    let sum: u32 = words.map(|word| u32::from(u16::from_be_bytes(*word))).sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    frame.extend(header);
    frame.resize(60, 0);
    frame
}
