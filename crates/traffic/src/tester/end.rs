//! A port at work: one thread that sends what is due and checks what has come, and answers for its
//! addresses.
//!
//! One thread a port serves one direction as well as both: with two processors one sends and the
//! other checks.

use super::checker::{Checker, Verdict};
use super::frame;
use super::neighbours::{Heard, Host};
use super::port::Port;
use super::query;
use super::sender::Sender;
use super::threads::Threads;
use crate::pace::Calendar;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;
use trammel_io::clock::{Waiter, monotonic_ns, pin, real_time, thread_cpu_ns, wake_on_time};
use trammel_io::error::Result;
use trammel_io::stamper::Stamper;
use trammel_packet::batch::Packets;
use trammel_packet::device::{Device, DeviceCounters};
use trammel_packet::pool::Pool;

/// How long before a frame is due sleeping ends, as in [`crate::pace`].
const AHEAD_NS: i64 = 60_000;
/// The same of a thread that runs before all others: it is woken at once.
const AHEAD_FIRST_NS: i64 = 10_000;
/// And its shortest sleep before it looks what is due: one that never sleeps keeps all others from
/// the processor, so that the kernel takes it away for a twentieth of each second.
const LEAST_SLEEP_NS: i64 = 20_000;
/// The longest sleep: so often is looked whether to stop.
const SLICE_NS: i64 = 10_000_000;
/// So long after a frame came a port that polls does not sleep.
const POLL_NS: i64 = 50_000;
/// A port that sends and checks nothing looks for questions so often.
const LISTEN_NS: i64 = 100_000;

/// What the threads of a run share.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub(crate) stop: &'a AtomicBool,
    /// Set where a thread has failed.
    pub(crate) has_failed: AtomicBool,
    /// Ports that are still sending.
    pub(crate) sending: AtomicUsize,
    /// When the run is over, by the monotonic clock.
    pub(crate) over_ns: AtomicI64,
    /// When each port had sent all, by the monotonic clock.
    pub(crate) ended_ns: [AtomicI64; 2],
    /// How long is waited for residual frames.
    pub(crate) residual_ns: i64,
    pub(crate) threads: Threads,
}

impl Shared<'_> {
    fn is_over(&self, now_ns: i64) -> bool {
        now_ns >= self.over_ns.load(Ordering::Relaxed)
            || self.stop.load(Ordering::Relaxed)
            || self.has_failed.load(Ordering::Relaxed)
    }

    /// Gives the calling thread its place.
    pub(crate) fn settle(&self, processor: Option<usize>) -> io::Result<()> {
        processor.map_or(Ok(()), pin)?;
        wake_on_time();
        self.threads.priority.map_or(Ok(()), real_time)
    }

    /// Notes that a port has sent all, the last frame at `last_ns`; the last one ends the run after
    /// the residual time.
    pub(crate) fn has_sent(&self, port: usize, last_ns: i64) {
        self.ended_ns[port].store(last_ns, Ordering::Relaxed);
        if self.sending.fetch_sub(1, Ordering::AcqRel) == 1 {
            let over_ns = monotonic_ns().saturating_add(self.residual_ns);
            self.over_ns.store(over_ns, Ordering::Release);
        }
    }
}

/// An open port.
#[derive(Debug)]
pub(crate) struct End {
    device: Box<dyn Device>,
    pool: Pool,
    incoming: Packets,
    outgoing: Packets,
    waiter: Waiter,
    pub(crate) host: Host,
    /// The device's Ethernet address, once it is known.
    pub(crate) device_mac: Option<[u8; 6]>,
    pub(crate) most_bytes: usize,
    /// The processor that its thread runs on, if it is to stay on one.
    pub(crate) processor: Option<usize>,
    /// What times tagged frames here, where it is not the tester.
    pub(crate) stamper: Option<Stamper>,
    answers: u64,
}

impl Drop for End {
    fn drop(&mut self) {
        self.device.close(&mut self.pool);
    }
}

impl End {
    pub(crate) fn open(port: &Port) -> Result<End> {
        port.check()?;
        let link = port.link()?;
        let host = port.host(&link)?;
        let most_bytes = port.most_bytes(&link);
        let (device, pool) = port.open()?;
        let mut waiter = Waiter::new();
        waiter.set(&device.descriptor().into_iter().collect::<Vec<_>>());
        Ok(End {
            device,
            pool,
            incoming: Packets::new(),
            outgoing: Packets::new(),
            waiter,
            host,
            device_mac: None,
            most_bytes,
            processor: port.processor,
            stamper: None,
            answers: 0,
        })
    }

    pub(crate) fn name(&self) -> &str {
        self.device.name()
    }

    pub(crate) fn counters(&self) -> DeviceCounters {
        let mut counters = self.device.counters();
        counters.send_errors += self.stamper.as_ref().map_or(0, Stamper::refused);
        counters
    }

    pub(crate) fn remarks(&self) -> Vec<String> {
        self.device.remarks()
    }

    /// Appends a frame to those that are handed over next; false where there is no room.
    #[inline]
    pub(crate) fn enqueue(&mut self, frame: &[u8]) -> bool {
        if self.outgoing.is_full() {
            return false;
        }
        let packet = self.pool.alloc_with(frame);
        packet.map(|packet| self.outgoing.push(packet)).is_some()
    }

    /// Sends a frame that the stamper times, if there is one; false where it has no room now.
    pub(crate) fn send_timed(&mut self, frame: &[u8]) -> io::Result<bool> {
        match &mut self.stamper {
            Some(stamper) => stamper.send(frame),
            None => Ok(self.enqueue(frame)),
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.outgoing.is_full()
    }

    /// Whether frames wait that the device had no room for.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.outgoing.is_empty()
    }

    /// Frames that have not left yet.
    pub(crate) fn unsent(&self) -> usize {
        self.outgoing.len() + self.device.unsent()
    }

    pub(crate) fn transmit(&mut self) -> io::Result<()> {
        self.device
            .transmit(&mut self.pool, &mut self.outgoing)
            .map(drop)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if !self.outgoing.is_empty() {
            self.transmit()?;
        }
        self.device.flush(&mut self.pool)
    }

    /// Sends its learning frame.
    pub(crate) fn learn(&mut self) -> io::Result<()> {
        let frame = self.host.learning_frame();
        self.enqueue(&frame);
        self.flush()
    }

    /// Reads what has come, and answers; says how many frames came.
    pub(crate) fn listen(
        &mut self,
        mut checker: Option<&mut Checker>,
        calendar: Calendar,
    ) -> io::Result<usize> {
        let came = self.device.receive(&mut self.pool, &mut self.incoming)?;
        // As both clocks differed at the run's start: an observation tells if one was set since.
        let offset = calendar.date_ns(0);
        let mut has_answered = false;
        for packet in self.incoming.drain() {
            let data = &self.pool[&packet];
            let at_ns = data.timestamp().0 - offset;
            let verdict = checker
                .as_mut()
                .map(|checker| checker.check(data.data(), at_ns));
            if verdict != Some(Verdict::Counted) {
                let bytes = data.data();
                match self.host.hear(bytes) {
                    Heard::Asked(answer) => {
                        if let Some(answer) = self.pool.alloc_with(&answer) {
                            if self.outgoing.is_full() {
                                self.pool.free(answer);
                            } else {
                                self.outgoing.push(answer);
                                has_answered = true;
                            }
                        }
                    }
                    Heard::Told(mac) => self.device_mac = Some(mac),
                    Heard::Idle => {}
                    Heard::Nothing if frame::payload(bytes).and_then(query::answered).is_some() => {
                        self.answers += 1;
                    }
                    Heard::Nothing => {
                        if let Some(checker) = &mut checker {
                            checker.others += 1;
                        }
                    }
                }
            }
            self.pool.free(packet);
        }
        if has_answered {
            self.flush()?;
        }
        Ok(came)
    }

    /// Management queries that were answered since this was asked last.
    pub(crate) fn take_answers(&mut self) -> u64 {
        std::mem::take(&mut self.answers)
    }

    /// Throws away what has come before the run.
    pub(crate) fn drain(&mut self, calendar: Calendar) -> io::Result<()> {
        while self.listen(None, calendar)? > 0 {}
        Ok(())
    }

    /// Waits until a frame comes or until `until_ns`, a slice at most.
    pub(crate) fn wait(&mut self, until_ns: i64) -> io::Result<()> {
        let now = monotonic_ns();
        let left = until_ns.saturating_sub(now).clamp(0, SLICE_NS);
        self.waiter.wait(Some(left)).map(drop)
    }

    /// Sends and checks as port `port` until the run is over.
    pub(crate) fn work(
        &mut self,
        port: usize,
        mut sender: Option<&mut Sender>,
        mut checker: Option<&mut Checker>,
        calendar: Calendar,
        shared: &Shared<'_>,
    ) -> io::Result<()> {
        shared.settle(self.processor)?;
        let cpu_ns = thread_cpu_ns();
        let (mut listen_ns, mut came_ns) = (0, 0);
        let polls = shared.threads.poll && checker.is_some();
        let mut is_sending = sender.is_some();
        let is_first = shared.threads.priority.is_some();
        let ahead_ns = if is_first { AHEAD_FIRST_NS } else { AHEAD_NS };
        loop {
            let now = monotonic_ns();
            if shared.is_over(now) {
                return Ok(());
            }
            let mut due_ns = i64::MAX;
            if let Some(sender) = sender.as_mut().filter(|_| is_sending) {
                if sender.due_ns() <= now || self.unsent() > 0 {
                    sender.step(self, now)?;
                }
                due_ns = sender.due_ns();
                if sender.is_done(self) {
                    sender.cpu_ns = thread_cpu_ns() - cpu_ns;
                    is_sending = false;
                    shared.has_sent(port, sender.last_ns());
                }
            } else if self.unsent() > 0 {
                // Answers that the device had no room for.
                self.flush()?;
            }
            let is_busy = due_ns <= now || self.unsent() > 0;
            // Who only sends looks for questions now and then: an empty ring costs a call.
            if is_busy && checker.is_none() && now < listen_ns {
                continue;
            }
            listen_ns = now + LISTEN_NS;
            if let Some(checker) = &mut checker {
                checker.ended_ns = shared.ended_ns[1 - port].load(Ordering::Relaxed);
            }
            let came = self.listen(checker.as_deref_mut(), calendar)?;
            if came > 0 {
                came_ns = now;
            }
            let is_busy = is_busy || came > 0 || polls && now - came_ns < POLL_NS;
            let mut next = due_ns.saturating_sub(ahead_ns);
            if is_first {
                next = next.max(now + LEAST_SLEEP_NS);
            }
            let next = next.min(shared.over_ns.load(Ordering::Relaxed));
            if !is_busy && next > now {
                self.wait(next)?;
            }
        }
    }
}

/// Waits for threads to end, and says what went wrong first; a panic goes on.
pub(crate) fn join(threads: Vec<ScopedJoinHandle<'_, io::Result<()>>>) -> io::Result<()> {
    let joined = threads.into_iter().map(|thread| match thread.join() {
        Ok(worked) => worked,
        Err(panic) => std::panic::resume_unwind(panic),
    });
    joined.fold(Ok(()), io::Result::and)
}
