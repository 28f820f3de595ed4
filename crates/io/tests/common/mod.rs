//! What the system tests share: namespaces where the machine allows, and waiting without sleeping.
#![allow(dead_code, clippy::print_stdout)]

use trammel_io::clock;
use trammel_io::error::{Error, Result};
use trammel_io::netns::{Namespace, veth};
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

/// How long anything may take before a test gives up.
pub(crate) const PATIENCE_NS: i64 = 20_000_000_000;

/// The value, or `None` with the reason printed where the machine lacks something.
pub(crate) fn or_skip<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error @ (Error::NoRight { .. } | Error::Unsupported { .. })) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Whether a program of others is installed; it is said where not.
pub(crate) fn has(program: &str) -> bool {
    let is_there = trammel_io::program::find(program).is_some();
    if !is_there {
        println!("skipped: `{program}` is not installed");
    }
    is_there
}

/// Two namespaces with a wire between `a` and `b`, whose frames are left as they are.
pub(crate) fn wire() -> Option<(Namespace, Namespace)> {
    let (left, right) = (or_skip(Namespace::new())?, or_skip(Namespace::new())?);
    veth(&left, "a", &right, "b").expect("the pair of devices can be made");
    for (namespace, name) in [(&left, "a"), (&right, "b")] {
        namespace.set_offloads(name, false).expect("offloads off");
    }
    Some((left, right))
}

/// A frame of `len` bytes with a local experimental type, whose bytes tell its number.
pub(crate) fn frame(number: u64, len: usize) -> Vec<u8> {
    let mut frame = vec![0; len];
    frame[..6].fill(0xff);
    frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    for (at, byte) in frame.iter_mut().enumerate().skip(14) {
        *byte = (number as usize * 31 + at) as u8;
    }
    frame
}

/// Sends all frames, with flushes until the device has taken them.
pub(crate) fn send(device: &mut dyn Device, pool: &mut Pool, frames: &[Vec<u8>]) {
    let mut batch = Packets::new();
    let until = clock::monotonic_ns() + PATIENCE_NS;
    for frame in frames {
        batch.push(pool.alloc_with(frame).expect("the pool has a free slot"));
        while !batch.is_empty() {
            device
                .transmit(pool, &mut batch)
                .expect("the device takes it");
            device.flush(pool).expect("the device sends it");
            assert!(clock::monotonic_ns() < until, "the device takes nothing");
        }
    }
}

/// Receives until `enough` says so of what has come.
pub(crate) fn receive_until(
    device: &mut dyn Device,
    pool: &mut Pool,
    enough: impl Fn(&[Vec<u8>]) -> bool,
) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut batch = Packets::new();
    let until = clock::monotonic_ns() + PATIENCE_NS;
    while !enough(&frames) {
        device
            .receive(pool, &mut batch)
            .expect("the device is there");
        for packet in batch.drain() {
            frames.push(pool[&packet].data().to_vec());
            pool.free(packet);
        }
        let left = until - clock::monotonic_ns();
        assert!(left > 0, "only {} frames came", frames.len());
        if !enough(&frames) {
            let fds: Vec<i32> = device.descriptor().into_iter().collect();
            clock::wait(&fds, Some(left.min(10_000_000))).expect("the clock can be waited for");
        }
    }
    frames
}

/// Moves frames between two devices until `is_done`: the router of ten lines.
pub(crate) fn forward(
    ends: &mut [Box<dyn Device>; 2],
    pool: &mut Pool,
    is_done: impl Fn() -> bool,
) {
    let mut batch = Packets::new();
    while !is_done() {
        for (from, to) in [(0, 1), (1, 0)] {
            ends[from]
                .receive(pool, &mut batch)
                .expect("a device that is there");
            ends[to]
                .transmit(pool, &mut batch)
                .expect("a device that is there");
            ends[to].flush(pool).expect("a device that is there");
            batch.drain().for_each(|packet| pool.free(packet));
        }
        let fds: Vec<i32> = ends.iter().filter_map(|end| end.descriptor()).collect();
        clock::wait(&fds, Some(1_000_000)).expect("the clock can be waited for");
    }
}
