//! Frames that a port captured, with the card's time stamps.

use super::{Generator, bit};
use crate::error::Error;
use std::io::{BufWriter, Write};
use trammel_core::Time;
use trammel_io::afpacket::{AfPacket, Options};
use trammel_io::clock;
use trammel_packet::batch::Packets;
use trammel_packet::capture::{Sink, pcap};
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;
use trammel_packet::timestamp::Timestamp;

/// Bytes of the time stamp behind a frame.
const STAMP_BYTES: usize = 8;
/// Frames that are looked at together.
const FEW_PACKETS: usize = 1024;
/// The longest wait, in nanoseconds: a signal may come just before it.
const MOST_WAIT_NS: i64 = 100_000_000;

/// A capture at a port.
#[derive(Debug)]
pub struct Capture<'a> {
    generator: &'a mut Generator,
    port: usize,
    device: AfPacket,
    pool: Pool,
    came: Packets,
}

impl Generator {
    /// Begins to capture what comes in by `port`, 0 to 3.
    ///
    /// # Errors
    /// Where the host interface cannot be used, or the card cannot be reached.
    pub fn capture(&mut self, port: usize) -> Result<Capture<'_>, Error> {
        self.set_capture(port, true)?;
        let device = AfPacket::open(&self.interface(port), &Options::default());
        let device = match device {
            Ok(device) => device,
            Err(why) => {
                self.set_capture(port, false)?;
                return Err(why.into());
            }
        };
        Ok(Capture {
            generator: self,
            port,
            device,
            pool: Pool::new(FEW_PACKETS, FEW_PACKETS),
            came: Packets::new(),
        })
    }

    fn set_capture(&mut self, port: usize, is_on: bool) -> Result<(), Error> {
        let before = self.read(port, "CTRL")? & !bit::CAPTURE;
        let value = before | if is_on { bit::CAPTURE } else { 0 };
        self.client
            .write_many(&[(self.address(port, "CTRL"), value)])
    }
}

impl Capture<'_> {
    /// Gives `each` what has come: the instant on the card's clock at which the frame began to come
    /// in, and the frame without FCS. Waits up to a tenth of a second where nothing has.
    ///
    /// # Errors
    /// Where the host interface is gone.
    pub fn receive(&mut self, mut each: impl FnMut(Time, &[u8])) -> Result<(), Error> {
        let of = |what: &str| Error::of(format!("{what} `{}`", self.device.name()));
        let (failed, waited) = (of("receive from"), of("wait for"));
        let count = self.device.receive(&mut self.pool, &mut self.came);
        for packet in self.came.drain() {
            let bytes = self.pool[&packet].data();
            if let Some((frame, stamp)) = bytes.split_last_chunk::<STAMP_BYTES>() {
                each(Time::from_ns(u64::from_be_bytes(*stamp)), frame);
            }
            self.pool.free(packet);
        }
        if count.map_err(failed)? == 0
            && let Some(descriptor) = self.device.descriptor()
        {
            clock::wait(&[descriptor], Some(MOST_WAIT_NS)).map_err(waited)?;
        }
        Ok(())
    }

    /// Writes `most` frames to `out` as a pcap file, times on the card's clock; fewer where
    /// `is_over`, which is asked at least each tenth of a second. How many it wrote.
    ///
    /// # Errors
    /// As [`Self::receive`], and where `out` cannot be written.
    pub fn write(
        &mut self,
        out: impl Write + Send + 'static,
        most: u64,
        is_over: &dyn Fn() -> bool,
    ) -> Result<u64, Error> {
        let unwritten = || Error::of("write the capture");
        let sink = Sink::plain(BufWriter::new(out));
        let writer = pcap::Writer::new(sink, pcap::Options::default());
        let mut writer = writer.map_err(unwritten())?;
        let (mut written, mut wrote) = (0, Ok(()));
        while written < most && wrote.is_ok() && !is_over() {
            self.receive(|at, frame| {
                if written < most && wrote.is_ok() {
                    let at = Timestamp(at.as_ns().cast_signed());
                    wrote = writer.write(at, frame.len() as u32, frame);
                    written += 1;
                }
            })?;
        }
        wrote.and_then(|()| writer.finish()).map_err(unwritten())?;
        Ok(written)
    }

    /// Ends it.
    ///
    /// # Errors
    /// Where the card cannot be reached.
    pub fn end(mut self) -> Result<(), Error> {
        self.device.close(&mut self.pool);
        self.generator.set_capture(self.port, false)
    }
}
