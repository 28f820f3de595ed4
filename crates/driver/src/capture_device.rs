//! A capture file as a device: what comes is read from it, or what goes is written to it.
//!
//! Reading, frames come as fast as they are asked for, with the times the file tells, and the
//! device is exhausted at its end. Writing makes a pcap with nanoseconds, or compressed where the
//! name ends in `.gz`.

use super::written::Written;
use std::fs::File;
use std::io::{self, BufReader, BufWriter};
use trammel_packet::anno::EXTRA_LENGTH;
use trammel_packet::batch::Packets;
use trammel_packet::capture::{Reader, Sink, pcap};
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;
use trammel_router::host::Refusal;

#[derive(Debug)]
enum Side {
    Reads(Reader),
    Writes(pcap::Writer),
    Over,
}

/// A capture file.
#[derive(Debug)]
pub struct CaptureDevice {
    name: String,
    side: Side,
    counters: DeviceCounters,
    remarks: Vec<String>,
}

impl CaptureDevice {
    /// Opens `name` to read, or makes it to write.
    pub fn open(name: &str, is_written: bool) -> Result<CaptureDevice, Refusal> {
        let side = if is_written {
            writer(name).map(Side::Writes).map_err(|why| Refusal {
                text: format!(
                    "cannot write `{name}`: {}",
                    trammel_router::host::reason(&why)
                ),
                mend: Some("give a name in a directory that may be written".to_owned()),
                is_lack: true,
            })
        } else {
            reader(name).map(Side::Reads)
        };
        Ok(CaptureDevice {
            name: name.to_owned(),
            side: side?,
            counters: DeviceCounters::default(),
            remarks: Vec::new(),
        })
    }
}

fn reader(name: &str) -> Result<Reader, Refusal> {
    let file = File::open(name).map_err(|why| Refusal {
        text: format!(
            "cannot read `{name}`: {}",
            trammel_router::host::reason(&why)
        ),
        mend: Some(format!("ls -l {name}")),
        is_lack: true,
    })?;
    Reader::new(BufReader::new(file)).map_err(|why| Refusal {
        text: format!("`{name}` is not a capture: {why}"),
        mend: Some(format!("file {name}")),
        is_lack: false,
    })
}

fn writer(name: &str) -> io::Result<pcap::Writer> {
    // Whoever uses the device tells of a write that fails; here it fails the command.
    let file = BufWriter::new(Written::file(name, File::create(name)?, true));
    let is_compressed = std::path::Path::new(name)
        .extension()
        .is_some_and(|extension| extension == "gz");
    let sink = if is_compressed {
        Sink::gz(file)
    } else {
        Sink::plain(file)
    };
    pcap::Writer::new(sink, pcap::Options::default())
}

impl Device for CaptureDevice {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, pool: &mut Pool, into: &mut Packets) -> io::Result<usize> {
        let mut count = 0;
        while let (Side::Reads(reader), false) = (&mut self.side, into.is_full()) {
            match reader.next_frame() {
                Ok(Some(frame)) => {
                    let Some(packet) = pool.alloc_with(frame.data) else {
                        self.counters.receive_drops += 1;
                        break;
                    };
                    let inner = &mut pool[&packet];
                    inner.set_timestamp(frame.timestamp);
                    let cut = (frame.wire_len as usize).saturating_sub(frame.data.len());
                    inner.set_anno_u32(EXTRA_LENGTH, cut as u32);
                    into.push(packet);
                    count += 1;
                }
                Ok(None) => self.side = Side::Over,
                Err(why) => {
                    // What stood before it is good; the rest is lost, and told.
                    self.remarks.push(format!("`{}`: {why}", self.name));
                    self.side = Side::Over;
                }
            }
        }
        self.counters.received += count as u64;
        Ok(count)
    }

    fn transmit(&mut self, pool: &mut Pool, from: &mut Packets) -> io::Result<usize> {
        let count = from.len();
        let mut result = Ok(count);
        from.drain_front(count, |packet| {
            let inner = &pool[&packet];
            let written = match &mut self.side {
                Side::Writes(writer) => {
                    let cut = inner.anno_u32(EXTRA_LENGTH);
                    let wire_len = (inner.len() as u32).saturating_add(cut);
                    writer.write(inner.timestamp(), wire_len, inner.data())
                }
                _ => Err(io::Error::from(io::ErrorKind::NotConnected)),
            };
            pool.free(packet);
            match written {
                Ok(()) => self.counters.sent += 1,
                Err(why) => {
                    self.counters.send_errors += 1;
                    result = Err(why);
                }
            }
        });
        if result.is_err() {
            self.side = Side::Over;
        }
        result
    }

    fn flush(&mut self, _: &mut Pool) -> io::Result<()> {
        match &mut self.side {
            Side::Writes(writer) => {
                let result = writer.flush();
                if result.is_err() {
                    self.side = Side::Over;
                }
                result
            }
            _ => Ok(()),
        }
    }

    fn is_exhausted(&self) -> bool {
        matches!(self.side, Side::Over)
    }

    fn close(&mut self, _: &mut Pool) {
        if let Side::Writes(writer) = std::mem::replace(&mut self.side, Side::Over)
            && let Err(why) = writer.finish()
        {
            self.remarks.push(format!("`{}`: {why}", self.name));
        }
    }

    fn counters(&self) -> DeviceCounters {
        self.counters
    }

    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }
}
