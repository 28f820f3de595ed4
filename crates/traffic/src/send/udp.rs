//! A stream as datagrams of UDP.

use super::schedule::{Due, Schedule};
use super::{Mechanism, Note, Sent, Settings};
use crate::pace::Calendar;
use crate::record::Record;
use crate::stamp::{STAMP_BYTES, Stamp};
use crate::stream::{Late, Stream};
use std::io;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_core::time::Time;
use trammel_io::datagrams::{
    self, HEAD_BYTES, MOST_SEGMENTED_BYTES, MOST_SEGMENTS, Outgoing, Sender,
};

/// Datagrams a call, at most: what a call costs is then a small part of what they cost.
const BATCH: usize = 64;
/// The longest payload of a datagram.
pub const MOST_BYTES: u32 = 65_507;
/// Errors one after the other after which nobody is thought to be there.
const PATIENCE: u32 = 10_000;

const _: () = assert!(STAMP_BYTES == HEAD_BYTES);

/// Has `socket` be as `stream` wants it.
pub fn configure(socket: &UdpSocket, stream: &Stream) -> io::Result<()> {
    let options = datagrams::Options {
        send_bytes: Some(4 << 20),
        ds: stream.ds,
        ttl: stream.ttl,
        ..datagrams::Options::default()
    };
    datagrams::configure(socket, &options)
}

/// Sends `stream` as flow `flow` by a connected socket; its start is at `origin_ns` of the monotonic clock. Ends with the stream,
/// or when `stop` is set.
pub fn send(
    stream: &Stream,
    flow: u32,
    (socket, settings): (&UdpSocket, Settings),
    origin_ns: i64,
    stop: &AtomicBool,
    note: Note<'_>,
) -> io::Result<Sent> {
    let most = match settings.mechanism {
        Mechanism::Calls => BATCH,
        Mechanism::Segments => MOST_SEGMENTS,
    };
    let calendar = Calendar::now();
    let mut run = Run {
        socket,
        sender: Sender::new(most),
        filler: vec![0; MOST_BYTES as usize],
        sent: Sent::nothing(),
        in_vain: 0,
    };
    let mut schedule = Schedule::new(stream.plan(), stream.late);
    let (mut due, mut batch) = (Vec::with_capacity(most), Vec::with_capacity(most));
    while let Some(next) = schedule.next_ns()
        && !stop.load(Ordering::Relaxed)
    {
        let now = settings.wait.until(origin_ns.saturating_add(next), stop);
        schedule.take(now - origin_ns, most, &mut due);
        let sequence = run.sent.count.packets;
        let date = calendar.date_ns(now);
        batch.clear();
        batch.extend((sequence..).zip(&due).map(|(sequence, due)| {
            let stamp = Stamp {
                flow,
                sequence,
                sent_ns: date,
            };
            Outgoing {
                head: stamp.write(),
                bytes: due.bytes.clamp(STAMP_BYTES as u32, MOST_BYTES) as usize,
            }
        }));
        run.hand_over(&batch, settings.mechanism)?;
        run.account(&due, now - origin_ns, date, stream.late);
        for ((sequence, due), outgoing) in (sequence..).zip(&due).zip(&batch) {
            note(&Record {
                flow,
                sequence,
                bytes: outgoing.bytes as u32,
                start_ns: calendar.date_ns(origin_ns.saturating_add(due.at_ns)),
                end_ns: date,
            });
            run.sent.count.bytes += outgoing.bytes as u64;
        }
    }
    run.sent.count.lost = schedule.skipped;
    run.sent.overdue += schedule.skipped;
    run.sent.shift_ns = schedule.shift_ns;
    Ok(run.sent)
}

/// A stream that is being sent.
struct Run<'a> {
    socket: &'a UdpSocket,
    sender: Sender,
    filler: Vec<u8>,
    sent: Sent,
    /// Errors since the last call that sent anything.
    in_vain: u32,
}

impl Run<'_> {
    /// Gives all of `batch` to the kernel.
    fn hand_over(&mut self, batch: &[Outgoing], mechanism: Mechanism) -> io::Result<()> {
        let mut done = 0;
        while done < batch.len() {
            let left = &batch[done..];
            let result = match mechanism {
                Mechanism::Calls => self.sender.send(self.socket, left, &self.filler),
                Mechanism::Segments => {
                    let alike = alike(left);
                    let result =
                        self.sender
                            .send_segments(self.socket, &left[..alike], &self.filler);
                    result.map(|()| alike)
                }
            };
            match result {
                Ok(count) => {
                    done += count;
                    self.in_vain = 0;
                }
                Err(error) => done += self.survive(error)?,
            }
        }
        Ok(())
    }

    /// After an error, says how many packets are given up; or that the stream cannot go on.
    fn survive(&mut self, error: io::Error) -> io::Result<usize> {
        use io::ErrorKind::{
            ConnectionRefused, HostUnreachable, Interrupted, NetworkUnreachable, WouldBlock,
        };
        if error.kind() == Interrupted {
            return Ok(0);
        }
        self.sent.errors += 1;
        self.in_vain += 1;
        let is_passing = matches!(
            error.kind(),
            ConnectionRefused | HostUnreachable | NetworkUnreachable | WouldBlock
        ) || error.raw_os_error() == Some(NO_BUFFERS);
        if !is_passing || self.in_vain > PATIENCE {
            return Err(error);
        }
        // What the kernel tells of a packet before has been told; this one was not tried.
        Ok(usize::from(error.kind() != ConnectionRefused))
    }

    fn account(&mut self, due: &[Due], now_ns: i64, date_ns: i64, late: Late) {
        if due.is_empty() {
            return;
        }
        if self.sent.first_ns == 0 {
            self.sent.first_ns = date_ns;
        }
        self.sent.last_ns = date_ns;
        self.sent.count.packets += due.len() as u64;
        // All but the last of a burst were overdue, and so is one that puts the plan off.
        self.sent.overdue += match late {
            Late::Stretch => u64::from(due.len() > 1),
            _ => due.len() as u64 - 1,
        };
        for one in due {
            let late_ns = u64::try_from(now_ns - one.at_ns).unwrap_or(0);
            self.sent.lateness.record_time(Time::from_ns(late_ns));
        }
    }
}

/// `ENOBUFS` of Linux: the queue of the interface is full.
const NO_BUFFERS: i32 = 105;

/// How many of the first are of one length and fit into one call.
fn alike(batch: &[Outgoing]) -> usize {
    let bytes = batch.first().map_or(1, |first| first.bytes);
    let most = MOST_SEGMENTS.min(MOST_SEGMENTED_BYTES / bytes.max(1));
    let count = batch
        .iter()
        .take_while(|other| other.bytes == bytes)
        .count();
    count.min(most.max(1))
}
