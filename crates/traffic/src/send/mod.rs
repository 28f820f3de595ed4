//! Sending streams: each packet at its time, and what became of the schedule.

pub mod answers;
mod schedule;
pub mod session;
pub mod tcp;
pub mod udp;

use crate::pace::{Calendar, Wait};
use crate::record::Record;
use crate::signal::message::Count;
use crate::stamp::{STAMP_BYTES, Stamp};
use crate::stream::{Late, Stream};
use schedule::{Due, Schedule};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_core::histogram::Histogram;
use trammel_core::time::Time;

/// A packet that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// What it tells.
    pub stamp: Stamp,
    /// Bytes of its payload; at least what its carrier says.
    pub bytes: u32,
}

/// What carries a stream's packets.
pub trait Carrier {
    /// How many packets it takes at a time, and bytes of a packet, at most.
    fn most(&self) -> (usize, u32);

    /// Bytes of a packet, at least.
    fn least(&self) -> u32 {
        STAMP_BYTES as u32
    }

    /// Gives packets to the kernel, all of them; says how many calls failed without ending the stream.
    fn hand_over(&mut self, packets: &[Packet], stop: &AtomicBool) -> io::Result<u64>;
}

/// What became of a stream.
#[derive(Clone, Debug)]
pub struct Sent {
    /// What was sent; lost are packets that were left out because they were late.
    pub count: Count,
    /// When the first and the last were sent, in nanoseconds since 1970; 0 where none was.
    pub first_ns: i64,
    /// See `first_ns`.
    pub last_ns: i64,
    /// Calls that failed: nobody there, no buffers. Their packets count as sent.
    pub errors: u64,
    /// Packets that were handed over after the one that follows was due: where there are any, the sender was the limit.
    pub overdue: u64,
    /// By how much the plan was put off at the end, in nanoseconds.
    pub shift_ns: i64,
    /// How long after it was due each packet was handed to the kernel. It is not when it left.
    pub lateness: Histogram,
}

/// Takes what is known of each packet.
pub type Note<'a> = &'a mut (dyn FnMut(&Record) + Send);

/// Sends `stream` as flow `flow` by `carrier`; its start is at `origin_ns` of the monotonic clock. Ends with the stream,
/// or when `stop` is set.
pub fn send(
    stream: &Stream,
    flow: u32,
    (carrier, wait): (&mut dyn Carrier, Wait),
    origin_ns: i64,
    stop: &AtomicBool,
    note: Note<'_>,
) -> io::Result<Sent> {
    let ((most, most_bytes), least_bytes) = (carrier.most(), carrier.least());
    let calendar = Calendar::now();
    let mut sent = Sent::nothing();
    let mut schedule = Schedule::new(stream.plan(), stream.late);
    let (mut due, mut packets) = (Vec::with_capacity(most), Vec::with_capacity(most));
    while let Some(next) = schedule.next_ns()
        && !stop.load(Ordering::Relaxed)
    {
        let now = wait.until(origin_ns.saturating_add(next), stop);
        schedule.take(now - origin_ns, most, &mut due);
        let sequence = sent.count.packets;
        let date = calendar.date_ns(now);
        packets.clear();
        packets.extend((sequence..).zip(&due).map(|(sequence, due)| Packet {
            stamp: Stamp {
                flow,
                sequence,
                sent_ns: date,
            },
            bytes: due.bytes.clamp(least_bytes, most_bytes),
        }));
        sent.errors += carrier.hand_over(&packets, stop)?;
        sent.account(&due, now - origin_ns, date, stream.late);
        for (due, packet) in due.iter().zip(&packets) {
            note(&Record {
                flow,
                sequence: packet.stamp.sequence,
                bytes: packet.bytes,
                start_ns: calendar.date_ns(origin_ns.saturating_add(due.at_ns)),
                end_ns: date,
            });
            sent.count.bytes += u64::from(packet.bytes);
        }
    }
    sent.count.lost = schedule.skipped;
    sent.overdue += schedule.skipped;
    sent.shift_ns = schedule.shift_ns;
    Ok(sent)
}

impl Sent {
    fn nothing() -> Sent {
        Sent {
            count: Count::default(),
            first_ns: 0,
            last_ns: 0,
            errors: 0,
            overdue: 0,
            shift_ns: 0,
            lateness: Histogram::of_times(),
        }
    }

    fn account(&mut self, due: &[Due], now_ns: i64, date_ns: i64, late: Late) {
        if due.is_empty() {
            return;
        }
        if self.first_ns == 0 {
            self.first_ns = date_ns;
        }
        self.last_ns = date_ns;
        self.count.packets += due.len() as u64;
        // All but the last of a burst were overdue, and so is one that puts the plan off.
        self.overdue += match late {
            Late::Stretch => u64::from(due.len() > 1),
            _ => due.len() as u64 - 1,
        };
        for one in due {
            let late_ns = u64::try_from(now_ns - one.at_ns).unwrap_or(0);
            self.lateness.record_time(Time::from_ns(late_ns));
        }
    }
}
