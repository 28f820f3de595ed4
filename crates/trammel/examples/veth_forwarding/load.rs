//! The offered load: as much as the source can, or so many frames a second.

use crate::failed;
use crate::rig::Rig;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_io::afxdp::{self, AfXdp};
use trammel_io::clock;
use trammel_io::error::Result;
use trammel_io::live::Source;
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

/// Frames a call of the source: some two seconds, since nothing is sent in the first 25 ms of each.
const CALL: u32 = 1 << 22;
/// Frames that leave together at a given rate; so many a batch holds.
const BURST: u64 = 32;
/// How long frames of a given rate may be under way.
const UNDER_WAY_NS: i64 = 200_000_000;

/// What the source did: how many frames in which time, and what its thread used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offered {
    pub(crate) frames: u64,
    pub(crate) wall_ns: i64,
    pub(crate) thread_ns: i64,
}

/// A UDP frame of 60 bytes, 64 with FCS, to 10.2.0.9, which lies behind the forwarder.
pub(crate) fn frame(rig: &Rig) -> Result<Vec<u8>> {
    let mut frame = vec![0; 60];
    frame[..6].copy_from_slice(&rig.middle.link("in0")?.mac.unwrap_or_default());
    frame[6..12].copy_from_slice(&rig.source.link("out")?.mac.unwrap_or_default());
    frame[12..14].copy_from_slice(&[8, 0]);
    let header = [
        0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 1, 0, 1, 10, 2, 0, 9,
    ];
    frame[14..34].copy_from_slice(&header);
    let sum: u32 = header
        .chunks(2)
        .map(|w| u32::from(w[0]) << 8 | u32::from(w[1]))
        .sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame[34..42].copy_from_slice(&[0, 9, 0, 9, 0, 26, 0, 0]);
    Ok(frame)
}

/// Sends as much as is taken, until told to stop.
pub(crate) fn most(source: &Source, is_done: &AtomicBool) -> std::io::Result<Offered> {
    clock::pin(1)?;
    let (wall, start) = (clock::monotonic_ns(), clock::thread_cpu_ns());
    let mut frames = 0;
    while !is_done.load(Ordering::Relaxed) {
        source.send(CALL)?;
        frames += u64::from(CALL);
    }
    Ok(Offered {
        frames,
        wall_ns: clock::monotonic_ns() - wall,
        thread_ns: clock::thread_cpu_ns() - start,
    })
}

/// Sends `rate` frames a second out of `out` of the calling thread's namespace for `seconds`, and
/// waits until they have come through.
pub(crate) fn paced(frame: &[u8], rate: f64, seconds: f64) -> Result<Offered> {
    clock::pin(1).map_err(failed)?;
    clock::wake_on_time();
    let mut pool = Pool::new(8192, 8192);
    let options = afxdp::Options {
        receives: false,
        ..afxdp::Options::default()
    };
    let mut device = AfXdp::open("out", &options, &mut pool)?;
    let mut batch = Packets::new();
    let (wall, start) = (clock::monotonic_ns(), clock::thread_cpu_ns());
    let (most, mut frames) = ((rate * seconds) as u64, 0);
    while frames < most {
        let next = (most - frames).min(BURST);
        let due = wall + ((frames + next) as f64 / rate * 1e9) as i64;
        if clock::monotonic_ns() < due {
            clock::sleep_until(due);
        }
        while (batch.len() as u64) < next
            && let Some(packet) = pool.alloc_with(frame)
        {
            batch.push(packet);
        }
        frames += device.transmit(&mut pool, &mut batch).map_err(failed)? as u64;
        device.flush(&mut pool).map_err(failed)?;
    }
    while device.unsent() > 0 {
        device.flush(&mut pool).map_err(failed)?;
    }
    let offered = Offered {
        frames: device.counters().sent,
        wall_ns: clock::monotonic_ns() - wall,
        thread_ns: clock::thread_cpu_ns() - start,
    };
    batch.drain().for_each(|packet| pool.free(packet));
    clock::sleep_until(clock::monotonic_ns() + UNDER_WAY_NS);
    device.close(&mut pool);
    Ok(offered)
}
