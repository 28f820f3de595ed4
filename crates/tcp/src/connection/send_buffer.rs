//! The send buffer: how much of what the application writes the socket takes, and when it asks for
//! more.
//!
//! What counts is memory: a segment that waits or is not acknowledged costs its bytes and a
//! descriptor. Those that were SACKed have been merged with their neighbours and cost their bytes
//! alone. A write goes on while the memory is below the buffer's size, so the last segment may lie
//! beyond it. Then the application sleeps until a third of the buffer is free: a sender that is
//! limited by its buffer sends in bursts of a third of it, and has between two thirds and all of it
//! on the way.
//!
//! A buffer that the application has not set (`SO_SNDBUF`) grows: while the congestion window is
//! not full, to twice that window in segments of the worst case, up to `tcp_wmem[2]`.
//!
//! Source: `tcp_wmem` in tcp(7); observed of Linux 6.12 in virtual time.

use super::Connection;
use crate::receiver::DESCRIPTOR_BYTES;

/// What the kernel keeps beside the payload of a segment whose header and payload lie in one block:
/// the block, of a power of two, has room for headers and the shared descriptor, and the other
/// descriptor is apart.
const BLOCK_OVERHEAD_BYTES: u64 = 512;
const APART_BYTES: u64 = 256;
/// Segments that a buffer has room for in any case (`TCP_INIT_CWND`).
const LEAST_SEGMENTS: u32 = 10;
/// Segments of a super-segment that has not begun to leave.
const SUPER_SEGMENTS: u64 = 45;

impl Connection {
    /// Bytes that the socket holds and has not sent; [`u64::MAX`] for a source without end whose
    /// buffer has no limit.
    #[inline]
    pub(super) fn queued(&self) -> u64 {
        if self.app.written == u64::MAX {
            u64::MAX
        } else {
            self.app.written - self.app.sent
        }
    }

    /// The application has more to write than the socket has taken, so it sleeps until there is
    /// room.
    pub(super) fn application_waits(&self) -> bool {
        self.app.offered == u64::MAX || self.app.written < self.app.offered
    }

    /// The application has offered more: it writes until the buffer is full. Before the connection
    /// is open nothing is taken.
    pub(super) fn take_from_application(&mut self) {
        if !self.send_buffer.is_limited() {
            self.app.written = self.app.offered;
        } else if self.is_synchronised() && !self.send_buffer.is_full {
            self.fill();
        }
    }

    /// The connection is open: the buffer has its first size, and the application begins.
    pub(super) fn open_send_buffer(&mut self) {
        if self.send_buffer.is_limited() {
            self.expand();
            self.fill();
        }
    }

    /// What came may have freed memory: wakes the application where a third of the buffer is free.
    /// Returns whether it has written.
    pub(super) fn make_space(&mut self) -> bool {
        if !self.send_buffer.is_full {
            return false;
        }
        if self.tp.packets_in_flight() < self.tp.snd_cwnd && self.expand() {
            self.usage.stamp_us = self.tp.now_us;
        }
        let memory = self.memory();
        if self.send_buffer.size.saturating_sub(memory) < memory / 2 {
            return false;
        }
        let before = self.app.written;
        self.fill();
        self.app.written > before
    }

    /// Auto-tuning: room for twice the window (more where the variant says so). Returns whether the
    /// buffer may grow.
    fn expand(&mut self) -> bool {
        let buffer = self.send_buffer;
        if buffer.size >= buffer.most {
            return false;
        }
        let mss = u64::from(self.stack.mss).max(u64::from(self.tp.mss));
        let block = (mss + BLOCK_OVERHEAD_BYTES).next_power_of_two() + APART_BYTES;
        let segments = self
            .tp
            .snd_cwnd
            .max(LEAST_SEGMENTS)
            .max(self.recovery.reordering + 1);
        let wanted = u64::from(self.cc.sndbuf_expand()) * u64::from(segments) * block;
        self.send_buffer.size = buffer.size.max(wanted.min(buffer.most));
        true
    }

    /// The application writes until the buffer is full or it has nothing more.
    fn fill(&mut self) {
        let mss = u64::from(self.tp.mss);
        let queued = self.queued();
        // The last segment is filled up whatever the memory.
        let tail = queued.div_ceil(mss) * mss - queued;
        let memory = self.memory() + tail;
        let room = self.send_buffer.size.saturating_sub(memory);
        let per_buffer = self.segments_of_a_new_buffer();
        let buffers = room.div_ceil(per_buffer * mss + DESCRIPTOR_BYTES);
        let left = self.app.offered - self.app.written;
        self.app.written += left.min(tail + buffers * per_buffer * mss);
        self.send_buffer.is_full = self.app.written < self.app.offered;
    }

    fn segments_of_a_new_buffer(&self) -> u64 {
        if self.stack.offload {
            SUPER_SEGMENTS
        } else {
            1
        }
    }

    /// Memory of what the socket holds, bytes.
    fn memory(&self) -> u64 {
        let mss = u64::from(self.tp.mss);
        let queued = self.queued();
        let sacked = if self.handshake.sack {
            self.tp.sacked_out
        } else {
            0
        };
        let on_the_way = u64::from(self.tp.packets_out - sacked);
        let per_sent = if self.stack.offload {
            u64::from(self.burst_goal()).max(1)
        } else {
            1
        };
        let buffers =
            on_the_way.div_ceil(per_sent) + queued.div_ceil(self.segments_of_a_new_buffer() * mss);
        let sent = u64::from(self.tp.snd_nxt.wrapping_sub(self.tp.snd_una));
        sent + queued + buffers * DESCRIPTOR_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc;
    use crate::segment::{Flags, Options, Segment};
    use crate::stack::Stack;
    use trammel_core::Span;
    use trammel_core::entry::Params;
    use trammel_core::rng::Rng;
    use trammel_core::time::Time;

    const MSS: u64 = 1448;
    const SEGMENT: u64 = MSS + DESCRIPTOR_BYTES;

    /// A Reno that has sent all that it may, over a path of 100 ms to a peer with a window of a
    /// gigabyte.
    struct Sender {
        connection: Connection,
        now: Time,
    }

    impl Sender {
        fn new(stack: &Stack, initial_window: u32) -> Sender {
            let stack = Stack {
                initial_window,
                random_timestamps: false,
                ..stack.clone()
            };
            let reno = cc::find("reno").expect("the variant is built in");
            let control = (reno.build)(&Params::defaults(&reno.about));
            let mut connection = Connection::client(&stack, control, Rng::new(1, "client"));
            connection.connect(Time::ZERO);
            connection.write_forever();
            let syn = connection.poll_transmit(Time::ZERO).expect("a SYN");
            let mut sender = Sender {
                connection,
                now: Time::from_ms(100),
            };
            sender.take(Segment {
                ack: syn.seq.wrapping_add(1),
                flags: Flags::SYN.with(Flags::ACK),
                mss: 1460,
                ts_ecr: syn.ts_val,
                options: Options {
                    timestamps: true,
                    sack_permitted: true,
                    wscale_plus_1: 15,
                },
                ..Segment::default()
            });
            // The window of a SYN is not scaled.
            sender.take(sender.ack(0));
            sender
        }

        /// An ACK of so many segments more.
        fn ack(&self, segments: u32) -> Segment {
            let una = self.connection.tp().snd_una;
            Segment {
                ack: una.wrapping_add(segments * MSS as u32),
                flags: Flags::ACK,
                options: Options {
                    timestamps: true,
                    ..Options::default()
                },
                ..Segment::default()
            }
        }

        fn take(&mut self, segment: Segment) {
            let segment = Segment {
                seq: u32::from(!segment.flags.has(Flags::SYN)),
                window: 65_535,
                ts_val: 1,
                ..segment
            };
            self.connection.on_segment(self.now, &segment);
        }

        /// Segments with data that leave now.
        fn send(&mut self) -> u64 {
            let now = self.now;
            let segments = std::iter::from_fn(|| self.connection.poll_transmit(now));
            segments.filter(|segment| segment.len > 0).count() as u64
        }

        /// So many segments more are acknowledged, one by one and a millisecond later; what leaves
        /// for each.
        fn acknowledge(&mut self, segments: u32) -> Vec<u64> {
            let mut sent = Vec::new();
            for _ in 0..segments {
                self.now += Span::from_ms(1);
                self.take(self.ack(1));
                sent.push(self.send());
            }
            sent
        }
    }

    #[test]
    fn a_buffer_that_is_set_lets_a_third_go_when_a_third_is_free() {
        let mut stack = Stack::linux_6();
        // 90 segments of memory.
        stack.set_send_buffer(45 * SEGMENT);
        let mut sender = Sender::new(&stack, 1000);
        assert_eq!(sender.send(), 90);
        let sent = sender.acknowledge(60);
        let bursts: Vec<_> = sent.iter().filter(|&&burst| burst > 0).collect();
        assert_eq!(bursts, [&30, &30]);
        assert_eq!((sent[29], sent[59]), (30, 30));
    }

    #[test]
    fn the_last_segment_may_lie_beyond_the_buffer() {
        let mut stack = Stack::linux_6();
        stack.set_send_buffer(5 * SEGMENT + 1);
        assert_eq!(Sender::new(&stack, 1000).send(), 11);
    }

    #[test]
    fn a_window_that_the_buffer_limits_does_not_decay() {
        let mut stack = Stack::linux_6();
        stack.set_send_buffer(15 * SEGMENT);
        let mut sender = Sender::new(&stack, 100);
        sender.send();
        sender.acknowledge(2000);
        assert_eq!(sender.connection.tp().snd_cwnd, 100);
    }

    #[test]
    fn linux_s_own_buffer_follows_the_window_up_to_its_limit() {
        let stack = Stack::linux_6().with_linux_buffers();
        let mut sender = Sender::new(&stack, 10);
        // tcp_init_buffer_space: twice ten segments of 2304 bytes.
        assert_eq!(sender.connection.send_buffer.size, 46_080);
        assert_eq!(sender.send(), 10);
        for _ in 0..7 {
            let window = sender.connection.tp().snd_cwnd;
            let sent: u64 = sender.acknowledge(window).iter().sum();
            assert_eq!(sent, u64::from(2 * window), "slow start is not held back");
        }
        sender.acknowledge(2560);
        assert_eq!(sender.connection.send_buffer.size, 4 << 20);
        let held = u64::from(sender.connection.tp().packets_out) * SEGMENT;
        assert!(
            ((2 << 22) / 3..(4 << 20) + SEGMENT).contains(&held),
            "{held}"
        );
    }

    #[test]
    fn a_fin_follows_the_last_byte_that_was_offered() {
        let mut stack = Stack::linux_6();
        stack.set_send_buffer(3 * SEGMENT);
        let mut sender = Sender::new(&stack, 1000);
        sender.connection.stop_writing();
        sender.connection.write(20 * MSS);
        sender.connection.close_when_written();
        let mut sent = sender.send();
        assert!(!sender.connection.is_idle());
        while sent < 20 {
            sent += sender.acknowledge(1)[0];
        }
        sender.acknowledge(3);
        assert_eq!(
            sender.connection.state(),
            crate::connection::State::FinWait1
        );
        assert_eq!(sent, 20);
    }
}
