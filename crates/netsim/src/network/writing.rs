//! Applications that write at a rate of their own: whole segments, once a millisecond at most.

use super::Network;
use super::parts::event::Event;
use crate::ids::{End, FlowId};
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_tcp::connection::Connection;

/// From one write to the next at least.
const TICK: Span = Span::from_ms(1);

/// An application that writes at a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writer {
    rate: Rate,
    /// When it began, once it has.
    begun: Time,
    written: u64,
}

impl Writer {
    /// Bytes that are to be written by `now`, in segments of `segment` bytes: the first at once.
    fn due(&self, now: Time, segment: u64) -> u64 {
        let ps = u128::from(now.saturating_since(self.begun).as_ps());
        let bits = u128::from(self.rate.as_bps()) * ps / 1_000_000_000_000;
        let segments = bits as u64 / 8 / segment + 1;
        segments.saturating_mul(segment)
    }
}

/// From one write to the next: the time of a segment, a millisecond at least.
pub fn write_interval(rate: Rate, segment: u64) -> Span {
    let bps = rate.as_bps().max(1) as f64;
    Span::from_secs_f64(segment as f64 * 8.0 / bps).max(TICK)
}

impl Network {
    /// The sending application of `flow` writes at `rate` instead of as fast as TCP sends.
    pub fn write_at(&mut self, flow: FlowId, rate: Rate) {
        let begun = Time::MAX;
        let writer = Writer {
            rate,
            begun,
            written: 0,
        };
        self.traffic.writers.insert(flow, writer);
    }

    /// The application of a flow that starts writes for the first time, where it has a rate;
    /// whether it has.
    pub(super) fn begin_writing(&mut self, flow: FlowId, sender: &mut Connection) -> bool {
        let now = self.now;
        let Some(writer) = self.traffic.writers.get_mut(&flow) else {
            return false;
        };
        writer.begun = now;
        self.write_on(flow, sender);
        true
    }

    /// Writes what is due, and asks for the next time.
    fn write_on(&mut self, flow: FlowId, sender: &mut Connection) {
        let of = &self.traffic.flows[flow];
        let Some(writer) = self.traffic.writers.get_mut(&flow) else {
            return;
        };
        let segment = u64::from(sender.tp().mss).max(1);
        let all = of.spec.bytes.unwrap_or(u64::MAX);
        let due = writer.due(self.now, segment).min(all);
        if due > writer.written {
            sender.write(due - writer.written);
            writer.written = due;
        }
        if writer.written == all {
            sender.close_when_written();
            return;
        }
        let next = self.now + write_interval(writer.rate, segment);
        self.events.push(next, Event::Write(flow));
    }

    /// The time of the next write has come.
    pub(super) fn on_write(&mut self, flow: FlowId) {
        let of = &mut self.traffic.flows[flow];
        if of.stopped {
            return;
        }
        let Some(mut ends) = of.ends.take() else {
            return;
        };
        self.write_on(flow, &mut ends[End::Client]);
        self.traffic.flows[flow].ends = Some(ends);
        self.drain(flow, End::Client);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_is_whole_segments_at_the_rate() {
        let writer = Writer {
            rate: Rate::from_bps(8_000_000),
            begun: Time::from_secs(1),
            written: 0,
        };
        let due = |us: u64| writer.due(Time::from_secs(1) + Span::from_us(us), 1000);
        assert_eq!(
            (due(0), due(999), due(1000), due(2500)),
            (1000, 1000, 2000, 3000)
        );
        assert_eq!(due(1_000_000), 1_001_000);
        let interval = |bps| write_interval(Rate::from_bps(bps), 1000);
        assert_eq!(interval(80_000_000), TICK);
        assert_eq!(interval(800_000), Span::from_ms(10));
    }
}
