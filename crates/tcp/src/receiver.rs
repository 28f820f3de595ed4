//! The receiving half: reassembly, SACK blocks, the window that is offered, and when to
//! acknowledge.
//!
//! Payload is ranges of sequence numbers. Memory is accounted as the kernel does it: the first
//! segment of a buffer costs its bytes and a descriptor, those that follow it in the same buffer
//! their bytes alone, and the window offered is the part of the free memory that payload can use,
//! in units of the window scale. Units matter: where the application reads in intervals, the window
//! cannot move until a whole unit is free, and no ACK leaves meanwhile.
//!
//! When it acknowledges stands in [`acknowledge`].

mod acknowledge;
mod blocks;

use crate::segment::{Flags, SackBlock, Segment};
use crate::seq::{after, before, earlier, later};
use crate::stack::{AckPolicy, Stack};
use acknowledge::{MAX_QUICK_ACKS, longest_delay_us};
use blocks::Blocks;
use trammel_core::time::{Span, Time};

/// Descriptor and headroom of a network buffer, bytes (measured on veth).
pub(crate) const DESCRIPTOR_BYTES: u64 = 832;
/// Page fragments in a buffer at most.
const FRAGMENTS: u32 = 17;
/// SACK blocks that a header with timestamps has room for beside a duplicate's.
const BLOCKS_EXPECTED: usize = 2;
/// Interrupt moderation: packets that come within this time are handed up together, ns.
const BATCH_NS: u64 = 50_000;
/// Largest super-segment that GRO makes, bytes.
const BATCH_BYTES: u32 = 65_536;
/// Bytes of a page.
const PAGE: u32 = 4096;
/// Payload per 256 bytes of memory before any segment was seen.
const FIRST_RATIO: u64 = 128;
/// The peer's segment before any was seen, at most and at least, bytes (`TCP_MSS_DEFAULT`,
/// `TCP_MIN_MSS`).
const FIRST_MSS: u32 = 536;
const LEAST_MSS: u32 = 88;
/// The largest window that a header can tell, without its scale.
const LARGEST_FIELD: u64 = 65_535;
/// The largest window scale (RFC 7323 §2.3).
const LARGEST_SCALE: u32 = 14;

/// A range of bytes received out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    start: u32,
    end: u32,
}

/// The receiving half of a connection.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// Next sequence number expected.
    pub(crate) rcv_nxt: u32,
    /// `rcv_nxt` when the window was last advertised.
    pub(crate) rcv_wup: u32,
    /// Window advertised then, bytes.
    rcv_wnd: u32,
    /// Sequence number up to which the application has read.
    copied: u32,
    /// Shift of the windows that we advertise.
    pub(crate) wscale: u8,
    /// Ranges received above `rcv_nxt`, in order, apart from each other.
    gaps: Vec<Range>,
    /// Blocks to report.
    sacks: Blocks,
    /// A duplicate to report with the next ACK.
    duplicate: Option<SackBlock>,
    /// Our timestamp that the peer last echoed.
    pub(crate) last_echo: u32,
    /// Peer's timestamp to echo.
    pub(crate) ts_recent: u32,
    /// Where the peer's FIN is, once it was seen.
    pub(crate) fin: Option<u32>,

    policy: AckPolicy,
    compress: bool,
    hz: u32,
    mss: u32,
    dsack: bool,
    /// Quick ACKs left.
    quick: u32,
    /// The connection answers as much as it listens: no quick ACKs.
    pub(crate) interactive: bool,
    /// Adaptive delayed-ACK time, µs; 0 before the first data.
    ato_us: u64,
    /// What the connection knows of the path: smoothed round trip (0 before any sample) and
    /// timeout, µs.
    srtt_us: u64,
    rto_us: u64,
    /// The longest that an ACK may be delayed, µs.
    ato_max_us: u64,
    /// When data last came, µs.
    last_data_us: u64,
    /// An ACK is owed.
    pub(crate) owed: bool,
    /// It is owed at once.
    pub(crate) now: bool,
    /// When the delayed ACK is due.
    pub(crate) delayed: Time,
    /// When the kernel's timer of the last delayed ACK fires: an ACK that leaves earlier does not
    /// stop it.
    delack: Time,
    /// When the compressed ACK is due.
    pub(crate) compressed_due: Time,
    compressed: u32,
    duplicates: u32,
    duplicates_at: u32,

    /// GRO: segments in order are merged until this instant, bytes so far; [`Time::MAX`] outside a
    /// batch.
    pub(crate) batch_due: Time,
    batch_bytes: u32,
    merges: bool,

    /// Round trip that the receiver estimates, µs × 8.
    rtt_eighths: u64,
    /// Memory of the receive buffer, bytes.
    buffer: u64,
    max_buffer: u64,
    /// Memory of what waits in order for the application, bytes, and fragments of its last buffer.
    queued: u64,
    /// Whether the application reads whatever comes.
    reads_at_once: bool,
    fragments: u32,
    /// Payload of the first buffer that waits, bytes, and whether it is the last one too.
    head_bytes: u32,
    is_head_last: bool,
    /// Memory of what came out of order, bytes.
    held: u64,
    /// Payload bytes per 256 bytes of memory.
    ratio: u64,
    /// Upper bound of the window, bytes.
    clamp: u64,
    /// The largest segment seen, bytes.
    rcv_mss: u32,
    /// First payload byte, to know where pages end.
    origin: u32,
    /// The segment being processed has been answered already.
    answered: bool,
    /// Something has come or been read since the window was last computed.
    changed: bool,
    /// Upper bound of the window that is slowly raised as segments prove to be large.
    ssthresh: u32,
    /// Auto-tuning: bytes read in this round trip are counted from here.
    space_seq: u32,
    space_us: u64,
    space_bytes: u64,
}

/// The shift of the windows that `stack` offers: what the largest window that its buffer may come
/// to needs. One that the application has set has its window from the start, else auto-tuning's
/// limit and what the application may set count.
pub(crate) fn window_scale(stack: &Stack) -> u8 {
    if !stack.window_scaling {
        return 0;
    }
    let window = (stack.receive_buffer * FIRST_RATIO) >> 8;
    let largest = if stack.is_receive_buffer_set {
        window
    } else {
        window.max(stack.max_receive_buffer).max(stack.rmem_max)
    };
    let largest = largest.clamp(1, LARGEST_FIELD << LARGEST_SCALE);
    largest.ilog2().saturating_sub(15).min(LARGEST_SCALE) as u8
}

/// The largest window that `stack` comes to offer, bytes: as full segments fill its memory, and as
/// a header can tell it.
pub(crate) fn largest_window(stack: &Stack) -> u64 {
    let payload = u64::from(stack.mss);
    let buffer = stack.max_receive_buffer.max(stack.receive_buffer);
    let held = u128::from(buffer) * u128::from(payload) / u128::from(payload + DESCRIPTOR_BYTES);
    (LARGEST_FIELD << window_scale(stack)).min(held as u64)
}

impl Receiver {
    pub(crate) fn new(stack: &Stack) -> Receiver {
        let mut receiver = Receiver {
            rcv_nxt: 0,
            rcv_wup: 0,
            rcv_wnd: 0,
            copied: 0,
            wscale: window_scale(stack),
            gaps: Vec::with_capacity(64),
            sacks: Blocks::new(),
            duplicate: None,
            last_echo: 0,
            ts_recent: 0,
            fin: None,
            policy: stack.ack_policy,
            compress: stack.compress_sack,
            hz: stack.hz,
            mss: u32::from(stack.mss),
            dsack: stack.dsack,
            quick: 0,
            interactive: false,
            ato_us: 0,
            srtt_us: 0,
            rto_us: stack.initial_rto.as_us(),
            ato_max_us: longest_delay_us(stack),
            last_data_us: 0,
            owed: false,
            now: false,
            delayed: Time::MAX,
            delack: Time::ZERO,
            compressed_due: Time::MAX,
            compressed: 0,
            duplicates: 0,
            duplicates_at: 0,
            batch_due: Time::MAX,
            batch_bytes: 0,
            merges: stack.offload,
            rtt_eighths: 0,
            buffer: stack.receive_buffer,
            max_buffer: stack.max_receive_buffer.max(stack.receive_buffer),
            queued: 0,
            reads_at_once: false,
            fragments: 0,
            head_bytes: 0,
            is_head_last: false,
            held: 0,
            ratio: FIRST_RATIO,
            clamp: 0,
            rcv_mss: FIRST_MSS,
            origin: 0,
            answered: false,
            changed: true,
            ssthresh: 0,
            space_seq: 0,
            space_us: 0,
            space_bytes: 0,
        };
        receiver.size_first_window();
        receiver
    }

    /// The window before any data: half of the buffer, in whole segments.
    fn size_first_window(&mut self) {
        let full = self.window_of(self.buffer).min(u64::from(u32::MAX >> 1));
        let mss = u64::from(self.mss);
        let largest = LARGEST_FIELD << self.wscale;
        let space = full.min(LARGEST_FIELD << LARGEST_SCALE);
        self.rcv_wnd = (space / mss * mss).max(space.min(mss)) as u32;
        self.clamp = largest.min(full);
        if self.clamp > 2 * mss && self.clamp + mss > full {
            // A segment is kept in reserve.
            self.clamp = (full - mss).max(2 * mss);
        }
        self.ssthresh = u64::from(self.rcv_wnd).min(self.clamp) as u32;
    }

    /// The peer's first sequence number after its SYN is known.
    /// Its segments have `mss` bytes; ours have `own_mss`, and the first window is sized by them.
    pub(crate) fn start(&mut self, rcv_nxt: u32, mss: u32, own_mss: u32) {
        self.changed = true;
        self.rcv_nxt = rcv_nxt;
        self.rcv_wup = rcv_nxt;
        self.copied = rcv_nxt;
        self.origin = rcv_nxt;
        self.space_seq = rcv_nxt;
        self.mss = own_mss;
        self.size_first_window();
        self.mss = mss;
        // Two segments fit the first window, as far as is known.
        self.rcv_mss = (self.rcv_wnd / 2).min(mss).clamp(LEAST_MSS, FIRST_MSS);
        self.space_bytes = u64::from(self.rcv_wnd).min(u64::from(mss) * 10);
    }

    /// The handshake is over: what the application reads counts from here.
    pub(crate) fn established(&mut self, now_us: u64) {
        self.space_us = now_us;
        self.last_data_us = now_us;
    }

    /// The connection's estimate of the path: smoothed round trip and timeout, µs.
    pub(crate) fn learn_path(&mut self, srtt_us: u64, rto_us: u64) {
        (self.srtt_us, self.rto_us) = (srtt_us, rto_us);
    }

    /// When data last came, µs; when the handshake ended where none did.
    pub(crate) fn last_data_us(&self) -> u64 {
        self.last_data_us
    }

    /// The largest segment seen, payload bytes.
    pub(crate) fn largest_segment(&self) -> u32 {
        self.rcv_mss
    }

    /// Payload that `memory` bytes of buffer can hold.
    fn window_of(&self, memory: u64) -> u64 {
        (memory * self.ratio) >> 8
    }
    /// Payload that the free memory can hold.
    fn space(&self) -> u64 {
        self.window_of(self.buffer.saturating_sub(self.queued + self.held))
    }

    /// Page fragments of a segment's payload, from where it lies in the stream.
    fn fragments_of(&self, start: u32, bytes: u32) -> u32 {
        (start.wrapping_sub(self.origin) % PAGE + bytes - 1) / PAGE + 1
    }

    /// Charges a segment in order to the memory: into the last buffer while it has room.
    fn charge(&mut self, start: u32, bytes: u32) {
        let fragments = self.fragments_of(start, bytes);
        if self.queued > 0 && self.fragments + fragments <= FRAGMENTS {
            self.fragments += fragments;
            self.queued += u64::from(bytes);
            if self.is_head_last {
                self.head_bytes += bytes;
            }
        } else {
            self.is_head_last = self.queued == 0;
            if self.is_head_last {
                self.head_bytes = bytes;
            }
            self.fragments = fragments;
            self.queued += u64::from(bytes) + DESCRIPTOR_BYTES;
        }
    }

    /// Right edge of the window already offered.
    #[inline]
    pub(crate) fn right_edge(&self) -> u32 {
        self.rcv_wup.wrapping_add(self.rcv_wnd)
    }

    /// Bytes that the application may read.
    #[inline]
    pub(crate) fn readable(&self) -> u32 {
        let end = match self.fin {
            Some(fin) if !before(self.rcv_nxt, fin) => fin,
            _ => self.rcv_nxt,
        };
        end.wrapping_sub(self.copied)
    }

    /// An application that reads at once has read what came before this instant. Not sooner: the
    /// ACK of a segment leaves before the application wakes, and where a gap was filled, it says a
    /// smaller window for all that then waits.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if self.reads_at_once {
            self.queued = 0;
        }
    }

    /// Takes a segment's payload at `now`. The segment has been found acceptable.
    pub(crate) fn on_data(&mut self, now: Time, segment: &Segment, auto_read: bool) {
        let start = segment.seq;
        let end = start.wrapping_add(segment.len);
        self.owed = true;
        self.changed = true;
        self.reads_at_once = auto_read;
        self.settle();
        if !after(end, self.rcv_nxt) {
            self.report_duplicate(start, end);
            self.enter_quick(MAX_QUICK_ACKS);
            //= rfc9293 §3.10.7.4
            //# If an incoming segment is not acceptable, an acknowledgment should be sent in reply
            self.now |= self.policy != AckPolicy::Linux;
            self.decide(now);
            return;
        }
        self.measure(segment.len);
        if after(start, self.rcv_nxt) {
            // A FIN is a byte of its own among what came out of order.
            let fin = u32::from(segment.flags.has(Flags::FIN));
            self.store(start, end.wrapping_add(fin));
            if std::mem::take(&mut self.answered) {
                self.owed = false;
                return;
            }
            self.decide(now);
            return;
        }
        if before(start, self.rcv_nxt) {
            self.report_duplicate(start, self.rcv_nxt);
        }
        let from = self.rcv_nxt;
        self.rcv_nxt = end;
        let bytes = end.wrapping_sub(from);
        if auto_read {
            // Nothing waits before it.
            self.queued = u64::from(bytes) + DESCRIPTOR_BYTES;
        } else {
            self.charge(from, bytes);
        }
        self.adapt(now.as_us());
        self.grow(segment.len);
        if !self.gaps.is_empty() {
            self.join();
            // RFC 5681 §4.2: at once when a gap was filled; Linux waits for the last one.
            if self.gaps.is_empty() {
                self.now = true;
            }
        }
        if auto_read {
            self.copied = self.rcv_nxt;
            self.autotune(now.as_us());
            // Of a small buffer Linux would tell twice: less room, and room again once the
            // application has read. One ACK tells the latter.
            if 4 * self.window_of(self.queued) > self.clamp {
                self.queued = 0;
            }
        }
        if self.merges && self.gaps.is_empty() && !self.now {
            self.batch_bytes += segment.len;
            if self.batch_bytes < BATCH_BYTES {
                self.batch_due = self.batch_due.min(now + Span::from_ns(BATCH_NS));
                return;
            }
        }
        self.end_batch(now);
    }

    /// The batch that GRO has merged goes up the stack as one segment.
    pub(crate) fn end_batch(&mut self, now: Time) {
        self.batch_due = Time::MAX;
        self.batch_bytes = 0;
        self.decide(now);
    }

    /// Learns the size of the peer's segments, and with it how much payload the memory holds.
    #[inline]
    fn measure(&mut self, bytes: u32) {
        if bytes > self.rcv_mss {
            self.rcv_mss = bytes.min(self.mss);
            let payload = u64::from(bytes);
            self.ratio = (payload * 256 / (payload + DESCRIPTOR_BYTES)).max(1);
            self.clamp = self.window_of(self.buffer);
            self.space_bytes = self.space_bytes.min(self.clamp);
        }
    }

    /// Lifts the window's cap by two segments for each that comes, as far as memory allows.
    fn grow(&mut self, bytes: u32) {
        let cap = u64::from(self.ssthresh);
        if cap >= self.clamp {
            return;
        }
        let room = self.clamp.min(self.space()).min(u64::from(u32::MAX >> 1));
        if bytes >= 128 && cap < room {
            let step = u64::from(2 * self.mss).max(2 * u64::from(bytes));
            self.ssthresh = (cap + step).min(room) as u32;
            self.quick |= 1;
        }
    }

    fn report_duplicate(&mut self, start: u32, end: u32) {
        if self.dsack {
            self.duplicate = Some(SackBlock {
                start,
                end: earlier(end, self.rcv_nxt),
            });
        }
    }

    /// Keeps a range that came above a gap.
    fn store(&mut self, start: u32, end: u32) {
        let first = self.gaps.partition_point(|range| before(range.end, start));
        let mut merged = Range { start, end };
        let mut last = first;
        while last < self.gaps.len() && !after(self.gaps[last].start, end) {
            let old = self.gaps[last];
            if !before(start, old.start) && !after(end, old.end) {
                if self.dsack {
                    self.duplicate = Some(SackBlock { start, end });
                }
                // RFC 2883 §4: the block that holds the duplicate comes next.
                self.sacks.report(SackBlock { start, end });
                return;
            }
            merged.start = earlier(merged.start, old.start);
            merged.end = later(merged.end, old.end);
            last += 1;
        }
        let bytes = end.wrapping_sub(start);
        if last == first {
            self.gaps.insert(first, merged);
            self.grow(bytes);
            self.held += u64::from(bytes) + DESCRIPTOR_BYTES;
        } else {
            self.gaps[first] = merged;
            self.gaps.drain(first + 1..last);
            self.grow(bytes);
            // Neighbours share buffers of about a dozen segments.
            self.held += u64::from(bytes) + DESCRIPTOR_BYTES / 12;
        }
        self.sacks.report(SackBlock { start, end });
    }

    /// Whether the ACK that is held back for compression must leave before `segment` changes the
    /// SACK blocks: a header has room for few, and the one it would push out has not been reported.
    #[inline]
    pub(crate) fn must_flush(&self, segment: &Segment) -> bool {
        self.compressed > 0 && self.pushes_out_a_block(segment)
    }

    fn pushes_out_a_block(&self, segment: &Segment) -> bool {
        if !after(segment.seq, self.rcv_nxt) || self.gaps.is_empty() {
            return false;
        }
        let newest = SackBlock {
            start: segment.seq,
            end: segment.seq.wrapping_add(segment.len),
        };
        let touched = self.sacks.touched(newest);
        touched.unwrap_or(self.sacks.len()) >= BLOCKS_EXPECTED
    }

    /// The segment that follows has been answered by the flush.
    pub(crate) fn flushed(&mut self) {
        self.answered = true;
    }

    /// Payload bytes that came out of order and wait for what lies before them.
    pub(crate) fn bytes_held(&self) -> u64 {
        let bytes = |range: &Range| u64::from(range.end.wrapping_sub(range.start));
        self.gaps.iter().map(bytes).sum()
    }

    /// Moves ranges that are in order now out of the gaps' list.
    fn join(&mut self) {
        let in_order = self.rcv_nxt;
        // Ranges are in order, so only the first can begin before it.
        let covered = self.gaps.first();
        let covered = covered.filter(|range| before(range.start, in_order));
        if let Some(range) = covered
            && self.duplicate.is_none()
        {
            // What came in order had come before (RFC 2883 §4).
            self.report_duplicate(range.start, earlier(range.end, in_order));
        }
        let bytes = |range: &Range| u64::from(range.end.wrapping_sub(range.start));
        let (mut joined, mut payload) = (0, 0);
        for range in &self.gaps {
            if after(range.start, self.rcv_nxt) {
                break;
            }
            if after(range.end, self.rcv_nxt) {
                self.rcv_nxt = range.end;
            }
            joined += 1;
            payload += bytes(range);
        }
        self.gaps.drain(..joined);
        if joined > 0 {
            // What joins takes its share of the memory along.
            let rest: u64 = self.gaps.iter().map(bytes).sum();
            let share = u128::from(self.held) * u128::from(payload) / u128::from(payload + rest);
            self.queued += share as u64;
            self.held -= share as u64;
            self.is_head_last = false;
        }
        if let Some(fin) = self.fin {
            // The FIN itself is taken by the state machine.
            self.rcv_nxt = earlier(self.rcv_nxt, fin);
        }
        self.sacks.forget_before(self.rcv_nxt);
    }

    /// Lets the application read up to `most` bytes. Returns the bytes read.
    pub(crate) fn read(&mut self, now: Time, most: u32) -> u32 {
        let bytes = self.readable().min(most);
        if bytes == 0 {
            return 0;
        }
        // The copy goes buffer by buffer and is measured after each: what a measurement sees of a
        // long read is its first buffer.
        let first = bytes.min(self.head_bytes.max(1));
        self.copied = self.copied.wrapping_add(first);
        self.autotune(now.as_us());
        self.copied = self.copied.wrapping_add(bytes - first);
        self.changed = true;
        let waiting = self.readable();
        self.head_bytes = waiting.min(FRAGMENTS * PAGE);
        self.is_head_last = false;
        self.queued = if waiting == 0 {
            0
        } else {
            u64::from(waiting + waiting / 12) + DESCRIPTOR_BYTES
        };
        bytes
    }

    /// After a read: whether an ACK is due because a full segment waits for its own, or because the
    /// window has at least doubled.
    pub(crate) fn after_read(&mut self) {
        if self.owed && self.rcv_nxt.wrapping_sub(self.rcv_wup) > self.rcv_mss {
            self.now = true;
            return;
        }
        let left = u64::from(self.window_left());
        if 2 * left <= self.clamp && u64::from(self.offer()) >= (2 * left).max(1) {
            self.owed = true;
            self.now = true;
        }
    }

    /// What is left of the window already offered, bytes.
    fn window_left(&self) -> u32 {
        let left = self.right_edge().wrapping_sub(self.rcv_nxt);
        if (left as i32) < 0 { 0 } else { left }
    }

    /// Dynamic right-sizing: the buffer follows twice what the application reads in a round trip,
    /// less what still waits for it then.
    fn autotune(&mut self, now_us: u64) {
        let rtt_us = self.rtt_eighths >> 3;
        if rtt_us == 0 || now_us - self.space_us < rtt_us {
            return;
        }
        let copied = u64::from(self.copied.wrapping_sub(self.space_seq));
        let copied = copied.saturating_sub(u64::from(self.rcv_nxt.wrapping_sub(self.copied)));
        if copied > self.space_bytes {
            let mut window = 2 * copied + 16 * u64::from(self.mss);
            window += 2 * window * (copied - self.space_bytes) / self.space_bytes.max(1);
            let buffer = (window * 256 / self.ratio).min(self.max_buffer);
            if buffer > self.buffer {
                self.buffer = buffer;
                self.clamp = self.window_of(buffer);
            }
            self.space_bytes = copied;
        }
        self.space_seq = self.copied;
        self.space_us = now_us;
    }

    /// The receiver's own estimate of the round trip, from echoed timestamps, µs.
    /// It falls at once and rises smoothly.
    pub(crate) fn rtt_sample(&mut self, rtt_us: u64) {
        let old = self.rtt_eighths;
        self.rtt_eighths = if old == 0 || 8 * rtt_us < old {
            8 * rtt_us
        } else {
            old - (old >> 3) + rtt_us
        };
    }

    /// Whether `bytes` are a full segment, as far as is known.
    pub(crate) fn is_full(&self, bytes: u32) -> bool {
        bytes >= self.rcv_mss
    }

    /// The window that could be offered now, bytes; a header may have room for less.
    fn offer(&mut self) -> u32 {
        let full = self.window_of(self.buffer);
        let grain = 1_u64 << self.wscale;
        let mut free = self.space();
        if free < full.min(self.clamp) / 2 {
            self.quick = 0;
            free &= !(grain - 1);
            if free < full >> 4 || free < u64::from(self.rcv_mss) {
                return 0;
            }
        }
        let window = free.min(u64::from(self.ssthresh));
        if self.wscale > 0 {
            return ((window + grain - 1) & !(grain - 1)) as u32;
        }
        self.whole_segments(window, full.min(self.clamp).min(self.ssthresh.into()))
    }

    /// Without a scale the window moves by whole segments, as far as `free` bytes hold some.
    fn whole_segments(&self, free: u64, full: u64) -> u32 {
        let mss = u64::from(self.rcv_mss).min(full).max(1);
        let old = u64::from(self.rcv_wnd);
        let window = if old + mss <= free || old > free {
            free / mss * mss
        } else if mss == full && free > old + full / 2 {
            free
        } else {
            old
        };
        window as u32
    }

    /// The window field for a segment that is about to be sent; it never moves the right edge back.
    #[inline]
    pub(crate) fn advertise(&mut self) -> u16 {
        if self.changed {
            self.changed = false;
            let grain = 1_u32 << self.wscale;
            let left = self.window_left();
            let window = self.offer().max((left + grain - 1) & !(grain - 1));
            self.rcv_wnd = window;
            self.rcv_wup = self.rcv_nxt;
        }
        (self.rcv_wnd >> self.wscale).min(65_535) as u16
    }

    /// The window field of a SYN, which is never scaled (RFC 7323 §2.2).
    pub(crate) fn advertise_unscaled(&self) -> u16 {
        self.rcv_wnd.min(65_535) as u16
    }

    /// A segment outside the window: the peer is told where we are.
    pub(crate) fn answer_duplicate(&mut self, start: u32, end: u32, has_data: bool) {
        if has_data && before(start, self.rcv_nxt) {
            self.enter_quick(MAX_QUICK_ACKS);
            self.report_duplicate(start, end);
        }
        self.owed = true;
        self.now = true;
    }

    /// The peer's FIN is next in order: it takes a sequence number.
    pub(crate) fn take_fin(&mut self) {
        self.rcv_nxt = self.rcv_nxt.wrapping_add(1);
        // Nothing that could be lost follows.
        self.duplicate = None;
        self.changed = true;
    }

    /// The SACK blocks of the next ACK: a duplicate first, then the newest, `room` at most.
    pub(crate) fn sack_blocks(&mut self, room: usize, blocks: &mut [SackBlock; 4]) -> u8 {
        let mut used = 0;
        for block in self.duplicate.take().into_iter().chain(self.sacks.iter()) {
            if used == room {
                break;
            }
            blocks[used] = block;
            used += 1;
        }
        used as u8
    }

    /// How many [SACK blocks](Self::sack_blocks) the next ACK has, `room` at most.
    pub(crate) fn sack_count(&self, room: usize) -> usize {
        (usize::from(self.duplicate.is_some()) + self.sacks.len()).min(room)
    }

    /// Where the duplicate begins that the next ACK reports.
    #[inline]
    pub(crate) fn duplicate(&self) -> Option<u32> {
        self.duplicate.map(|block| block.start)
    }

    /// Whether an ACK would carry SACK blocks.
    #[inline]
    pub(crate) fn has_sack(&self) -> bool {
        self.duplicate.is_some() || !self.sacks.is_empty()
    }
}

#[cfg(test)]
mod tests;
