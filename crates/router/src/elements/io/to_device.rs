//! Sends frames to a network interface.
//!
//! # What it does
//! Pulls frames, or takes what is pushed, and sends them out of `DEVNAME` by `METHOD` (see
//! `FromDevice`; without one, that of a `FromDevice` of the same name). Frames are handed over 128
//! at a time, or at once when no more are waiting; with `METHOD pcap`, a capture file is written.
//! Where the device is full nothing is pulled until it has room again: first its descriptor is
//! waited on, and where that says room though there is none, a timer that doubles. Frames that are
//! pushed to a full device wait up to a batch; more are dropped, or leave by output 1: a warning
//! says so, and Click refuses it. With output 0, copies of what was sent leave by it.
//!
//! # Handlers
//! - `pulls`: how often it asked for packets
//! - `q`: whether frames wait for room in the device
//!
//! # Example
//! ```click
//! RatedSource(LENGTH 60, RATE 1000) -> Queue(1000) -> ToDevice(eth1, METHOD afpacket)
//! ```

use super::shared::device_method::{BAD_METHOD, device_method};
use crate::args::kinds::{INT, U16, UINT};
use crate::args::{Args, Kind, flag, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::devices::DeviceId;
use crate::engine::notify::Signal;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use crate::graph::processing::Mode;
use crate::host::DeviceRequest;
use crate::reason::Reason;
use trammel_packet::batch::{Batch, CAPACITY};
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("ToDevice", "sends frames to an interface", || {
    Box::<ToDevice>::default()
})
.ports("1/0-2", "a/h")
.params(&[
    mandatory("DEVNAME", Kind::Text, "the interface"),
    flag("DEBUG", "false", "whether waiting for room is told"),
    keyword("METHOD", Kind::Word, "", "how frames go"),
    keyword(
        "BURST",
        INT,
        "32",
        "frames that are pulled in a run, up to a batch of 32",
    ),
    keyword(
        "OFFLOAD",
        Kind::Word,
        "segment",
        "whether super-packets are cut here (`segment`) or \
         by the kernel (`carry`), by METHOD afpacket",
    ),
    keyword("QUEUE", U16, "0", "the queue, for METHOD afxdp"),
    keyword("RING", UINT, "", "frames that the device's ring holds"),
])
.ops("0.5 * driver(frame, calls)");

/// Frames that are gathered before the device is told: what telling costs is then small beside
/// them.
const GATHER: usize = 128;
/// The longest time between two attempts at a full device, in microseconds.
const MOST_BACKOFF_US: i64 = 256;

#[derive(Debug, Default)]
struct ToDevice {
    wish: DeviceRequest,
    burst: usize,
    debug: bool,
    pulls: bool,
    device: Option<DeviceId>,
    task: Option<TaskId>,
    timer: Option<TimerId>,
    signal: Option<Signal>,
    descriptor: Option<i32>,
    /// What the device had no room for.
    waiting: Batch,
    /// Given to the device since it was told last.
    gathered: usize,
    backoff_us: i64,
    is_blocked: bool,
    asked: u64,
}

impl ToDevice {
    /// Gives `waiting` to the device; says how many it took.
    fn give(&mut self, ctx: &mut Ctx) -> usize {
        let Some(device) = self.device else { return 0 };
        let copies: Batch = if ctx.outputs() > 0 {
            let mut copies = ctx.batch();
            for packet in self.waiting.iter() {
                if let Some(copy) = ctx.pool().duplicate(packet) {
                    copies.push(copy);
                }
            }
            copies
        } else {
            Batch::default()
        };
        let mut taken = match ctx.transmit(device, &mut self.waiting) {
            Ok(taken) => taken,
            Err(why) => return self.failed(ctx, &why, copies),
        };
        self.gathered += taken;
        if self.gathered >= GATHER || !self.waiting.is_empty() {
            self.flush(ctx);
            if !self.waiting.is_empty() {
                // The flush may have made room.
                let more = ctx.transmit(device, &mut self.waiting).unwrap_or(0);
                self.gathered += more;
                taken += more;
            }
        }
        if ctx.outputs() > 0 {
            let mut copies = copies;
            let mut place = 0;
            copies.filter(|copy| {
                place += 1;
                if place <= taken {
                    return Some(copy);
                }
                ctx.pool().free(copy);
                None
            });
            ctx.emit_all(0, copies);
        }
        taken
    }

    /// The device is gone: what waits is lost, and nothing more is tried.
    #[cold]
    fn failed(&mut self, ctx: &mut Ctx, why: &std::io::Error, copies: Batch) -> usize {
        let mut copies = copies;
        for copy in copies.drain() {
            ctx.pool().free(copy);
        }
        let text = format!("{}: {why}\n", ctx.declaration(ctx.me()));
        ctx.host().say(&text);
        let mut lost = std::mem::take(&mut self.waiting);
        for packet in lost.drain() {
            ctx.reject(1, packet, Reason::SendFailed);
        }
        self.device = None;
        0
    }

    /// Has the device send; where it cannot send all, waits for room.
    fn flush(&mut self, ctx: &mut Ctx) {
        let Some(device) = self.device else { return };
        self.gathered = 0;
        match ctx.flush(device) {
            Ok(0) => {
                self.backoff_us = 0;
            }
            // AF_XDP sends in the background; only where nothing can be given any more is it full.
            Ok(_) => self.gathered = usize::from(self.waiting.is_empty()),
            Err(why) => {
                self.failed(ctx, &why, Batch::default());
            }
        }
    }

    /// Waits until the device has room.
    fn block(&mut self, ctx: &mut Ctx) {
        self.is_blocked = true;
        let (Some(timer), first) = (self.timer, self.backoff_us == 0) else {
            return;
        };
        match self.descriptor {
            Some(descriptor) if first => ctx.watch(descriptor, true),
            _ => {
                let after = Timestamp(self.backoff_us.max(1) * 1000);
                ctx.set_timer_after(timer, after);
            }
        }
        self.backoff_us = (self.backoff_us * 2).clamp(1, MOST_BACKOFF_US);
        if self.debug {
            let text = format!(
                "{} waits for room, {} us\n",
                ctx.declaration(ctx.me()),
                self.backoff_us
            );
            ctx.host().say(&text);
        }
    }

    fn unblock(&mut self, ctx: &mut Ctx) {
        self.is_blocked = false;
        if let Some(task) = self.task {
            ctx.schedule(task);
        }
    }
}

impl Element for ToDevice {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        let method = device_method(args.text("METHOD"), args.text("DEVNAME"));
        if method.is_none() {
            said.error(None, BAD_METHOD);
        }
        if args.text("DEVNAME").is_empty() {
            said.error(None, "interface not set");
        }
        if !matches!(args.text("OFFLOAD"), "segment" | "carry") {
            said.error(None, "bad OFFLOAD: expected segment or carry");
        }
        if args.int("BURST") <= 0 {
            said.error(None, "bad BURST");
        }
        if said.has_errors() {
            return Err(said);
        }
        let mut options = vec![("WRITES".to_owned(), "true".to_owned())];
        if args.given("OFFLOAD") {
            options.push(("OFFLOAD".to_owned(), args.text("OFFLOAD").to_owned()));
        }
        for key in ["QUEUE", "RING"] {
            if let Some(value) = args.opt_uint(key) {
                options.push((key.to_owned(), value.to_string()));
            }
        }
        self.wish = DeviceRequest {
            name: args.text("DEVNAME").to_owned(),
            method: method.unwrap_or_default().to_owned(),
            options,
            ..DeviceRequest::default()
        };
        self.burst = (args.int("BURST") as usize).min(CAPACITY);
        self.debug = args.bool("DEBUG");
        self.pulls = setup.inputs[0] == Mode::Pull;
        if !self.pulls {
            let name = args.text("DEVNAME");
            setup.warnings.push(format!(
                "frames are pushed to `{name}`: while it is full, \
                 more than {CAPACITY} are dropped; Click wants a Queue before it"
            ));
        }
        Ok(())
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        self.device = Some(ctx.want_device(self.wish.clone()));
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let Some(device) = self.device else {
            return Ok(());
        };
        ctx.open_wanted(device)?;
        self.descriptor = ctx
            .device(device)
            .and_then(trammel_packet::device::Device::send_descriptor);
        let task = ctx.new_task(0);
        self.task = Some(task);
        self.timer = Some(ctx.new_timer(0));
        if self.pulls {
            self.signal = Some(ctx.upstream_signal(0, Some(task)));
            ctx.schedule(task);
        }
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        if self.waiting.is_empty() {
            std::mem::swap(&mut self.waiting, &mut batch);
        } else {
            let mut left = batch.len().min(self.waiting.room());
            batch.drain_front(left, |packet| self.waiting.push(packet));
            left = batch.len();
            if left > 0 {
                let mut lost = std::mem::take(&mut batch);
                for packet in lost.drain() {
                    ctx.reject(1, packet, Reason::SendFailed);
                }
            }
        }
        ctx.recycle(batch);
        if self.is_blocked {
            return;
        }
        let task = self.task;
        self.give(ctx);
        match task {
            Some(task) if !self.waiting.is_empty() || self.gathered > 0 => ctx.schedule(task),
            _ => {}
        }
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        if self.device.is_none() || self.is_blocked {
            return false;
        }
        let before = (self.waiting.len(), self.gathered);
        let mut came = 0;
        if self.pulls {
            let max = self.burst.saturating_sub(self.waiting.len());
            came = ctx.pull(0, max, &mut self.waiting);
            self.asked += 1;
        }
        let taken = if self.waiting.is_empty() {
            0
        } else {
            self.give(ctx)
        };
        if !self.waiting.is_empty() && taken == 0 {
            self.block(ctx);
            return false;
        }
        // Nothing came since the last run: no more is to be waited for.
        if taken == 0 && self.gathered > 0 && before.1 == self.gathered {
            self.flush(ctx);
            if self.gathered > 0 {
                self.block(ctx);
                return true;
            }
        }
        let is_on = self
            .signal
            .as_ref()
            .is_some_and(|signal| ctx.is_active(signal));
        if let Some(task) = self.task
            && (is_on || self.gathered > 0 || !self.waiting.is_empty())
        {
            ctx.schedule(task);
        }
        came > 0 || taken > 0
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        self.unblock(ctx);
    }

    fn ready(&mut self, ctx: &mut Ctx, descriptor: i32) {
        ctx.unwatch(descriptor, true);
        self.unblock(ctx);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("debug", "rwx"),
            Handler::new("pulls", "r"),
            Handler::new("signal", "r"),
            Handler::new("q", "r"),
            Handler::new("count", "r"),
            Handler::new("drops", "r"),
        ]
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        let counters = self
            .device
            .map(|id| ctx.device_counters(id))
            .unwrap_or_default();
        Ok(match name {
            "debug" => self.debug.to_string(),
            "pulls" => self.asked.to_string(),
            "signal" => {
                let is_on = self
                    .signal
                    .as_ref()
                    .is_some_and(|signal| ctx.is_active(signal));
                is_on.to_string()
            }
            "q" => (!self.waiting.is_empty()).to_string(),
            "count" => counters.sent.to_string(),
            _ => counters.send_errors.to_string(),
        })
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.debug = crate::args::numbers::parse_bool(value.trim()).map_err(|e| e.to_string())?;
        Ok(())
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        if self.gathered > 0 {
            self.flush(ctx);
        }
        for packet in self.waiting.drain() {
            ctx.pool().free(packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{Run, load_with};
    use crate::memory::MemoryHost;
    use crate::memory::{MemoryDevice, Sent};

    fn run(room: usize, config: &str) -> (Run, Sent) {
        let host = MemoryHost::new();
        let device = MemoryDevice::new("eth1", std::iter::empty()).with_room(room);
        let sent = device.sent();
        host.memory()
            .devices
            .insert("eth1".into(), Box::new(device));
        let mut run = load_with(&host, config).expect("it loads");
        run.run(1.0);
        (run, sent)
    }

    #[test]
    fn all_that_is_pulled_is_sent_in_order() {
        let config = "InfiniteSource(LIMIT 1000, ACTIVE true) -> t :: ToDevice(eth1)";
        for room in [1, 7, usize::MAX] {
            let (mut run, sent) = run(room, config);
            assert_eq!(sent.frames().len(), 1000, "room {room}");
            assert_eq!(run.read("t.count"), "1000");
            assert_eq!(run.ctx.pool().in_use(), 0);
        }
    }

    #[test]
    fn what_is_sent_leaves_by_output_0() {
        let (mut run, sent) = run(
            5,
            "InfiniteSource(LIMIT 100) -> t :: ToDevice(eth1) -> d :: Discard",
        );
        assert_eq!(
            (sent.frames().len(), run.read("d.count")),
            (100, "100".into())
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
    }
}
