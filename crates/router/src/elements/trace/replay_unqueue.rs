//! Stores the packets of its inputs and replays them repeatedly.
//!
//! # What it does
//! First it pulls all packets that its inputs give, up to `LIMIT`, until they give none. Then it
//! pushes them, those of each input out of the output of its number, `STOP` times over, and stops
//! the driver; `STOP` below 0 goes on for ever. With `TIMING` the distances are those of the
//! packets' times, in percent of the pace they came at: 100 keeps it, 200 is twice as fast; 0 is as
//! fast as can be.
//!
//! # Handlers
//! - `kept`: packets that it keeps
//!
//! # Example
//! ```click
//! // A capture is sent three times, at its own pace.
//! FromDump(a.pcap) -> ReplayUnqueue(STOP 3, TIMING 100) -> Queue -> ToDevice(eth0)
//! ```

use crate::args::kinds::INT;
use crate::args::numbers::parse_bool;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::Signal;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::CAPACITY;
use trammel_packet::pool::Handle;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("ReplayUnqueue", "replays packets repeatedly", || {
    Box::<ReplayUnqueue>::default()
})
.aliases(&["MultiReplayUnqueue"])
.references(&["Barbette et al. 2015, Fast userspace packet processing"])
.ports("1-/=", "l/h")
.flow("#/#")
.params(&[
    param(
        "STOP",
        Need::Positional,
        INT,
        "1",
        "how often; below 0 for ever",
    ),
    param(
        "STOP_TIME",
        Need::Keyword,
        INT,
        "0",
        "seconds after which it ends too; 0 for none",
    ),
    param(
        "QUICK_CLONE",
        Need::Keyword,
        Kind::Bool,
        "false",
        "has no effect",
    ),
    param("BURST", Need::Keyword, INT, "32", "packets of each run"),
    param(
        "VERBOSE",
        Need::Keyword,
        INT,
        "0",
        "whether what was kept is told",
    ),
    param(
        "FREEONTERMINATE",
        Need::Keyword,
        Kind::Bool,
        "true",
        "has no effect: no packet is left",
    ),
    param(
        "LIMIT",
        Need::Keyword,
        INT,
        "-1",
        "the most packets that are kept; below 0 for all",
    ),
    param(
        "ACTIVE",
        Need::Keyword,
        Kind::Bool,
        "true",
        "whether it sends",
    ),
    param(
        "USE_SIGNAL",
        Need::Keyword,
        Kind::Bool,
        "true",
        "has no effect",
    ),
    param("QUEUE", Need::Keyword, INT, "0", "has no effect"),
    param(
        "TIMING",
        Need::Keyword,
        INT,
        "0",
        "percent of the pace that the packets came at",
    ),
    param(
        "TIMING_FNT",
        Need::Keyword,
        Kind::Text,
        "",
        "not supported: TIMING is constant",
    ),
])
.ops("copy(frame); work(60)");

/// Looks in vain at the inputs before what came is taken for all: a reader of a file may need a
/// turn.
const PATIENCE: u32 = 16;

#[derive(Debug, Default)]
struct ReplayUnqueue {
    rounds: i64,
    seconds: i64,
    burst: usize,
    limit: usize,
    active: bool,
    percent: i64,
    tells: bool,
    /// The packets, each with its input.
    kept: Vec<(usize, Handle)>,
    is_full: bool,
    vain: u32,
    /// The packet that is next, and when this round and the first one began.
    next: usize,
    began: Option<Timestamp>,
    started: Option<Timestamp>,
    sent: u64,
    inputs: Vec<Signal>,
    task: Option<TaskId>,
    timer: Option<TimerId>,
}

impl ReplayUnqueue {
    /// Pulls what there is; whether anything came.
    fn keep(&mut self, ctx: &mut Ctx) -> bool {
        let before = self.kept.len();
        for input in 0..self.inputs.len() {
            let room = self.limit.saturating_sub(self.kept.len());
            let mut batch = ctx.batch();
            ctx.pull(input, room.min(CAPACITY), &mut batch);
            for packet in batch.drain() {
                self.kept.push((input, packet));
            }
            ctx.recycle(batch);
        }
        self.kept.len() > before
    }

    fn first(&mut self, ctx: &mut Ctx) -> bool {
        if self.keep(ctx) {
            self.vain = 0;
        } else {
            self.vain += 1;
        }
        let is_whole =
            self.kept.len() >= self.limit || (self.vain > PATIENCE && !self.kept.is_empty());
        if is_whole {
            self.is_full = true;
            if self.tells {
                let text = format!(
                    "{}: {} packets kept\n",
                    ctx.declaration(ctx.me()),
                    self.kept.len()
                );
                ctx.host().say(&text);
            }
        }
        self.vain == 0 || is_whole
    }

    /// When the next packet is to leave.
    fn due(&self, ctx: &mut Ctx, began: Timestamp) -> Timestamp {
        let (_, first) = &self.kept[0];
        let (_, next) = &self.kept[self.next];
        let pool = ctx.pool();
        let after = (pool[next].timestamp() - pool[first].timestamp()).0.max(0);
        let scaled = i128::from(after) * 100 / i128::from(self.percent);
        began + Timestamp(i64::try_from(scaled).unwrap_or(i64::MAX))
    }

    /// Sends up to a burst of packets; whether any went.
    fn send(&mut self, ctx: &mut Ctx) -> bool {
        let now = ctx.now();
        let started = *self.started.get_or_insert(now);
        let mut sent = 0;
        while sent < self.burst {
            let is_over = self.seconds > 0 && now - started >= Timestamp::from_secs(self.seconds);
            if self.rounds == 0 || is_over {
                self.active = false;
                self.free(ctx);
                ctx.stop();
                break;
            }
            let began = *self.began.get_or_insert(now);
            if self.percent > 0 {
                let due = self.due(ctx, began);
                if due > now {
                    if let Some(timer) = self.timer {
                        ctx.set_timer(timer, due);
                    }
                    return sent > 0;
                }
            }
            let (port, packet) = &self.kept[self.next];
            let Some(copy) = ctx.pool().duplicate(packet) else {
                break;
            };
            ctx.emit(*port, copy);
            sent += 1;
            self.sent += 1;
            self.next += 1;
            if self.next == self.kept.len() {
                self.next = 0;
                self.began = None;
                self.rounds -= i64::from(self.rounds > 0);
            }
        }
        if self.active
            && let Some(task) = self.task
        {
            ctx.schedule(task);
        }
        sent > 0
    }

    fn free(&mut self, ctx: &mut Ctx) {
        for (_, packet) in self.kept.drain(..) {
            ctx.pool().free(packet);
        }
        self.next = 0;
    }
}

impl Element for ReplayUnqueue {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.rounds = args.int("STOP");
        self.seconds = args.int("STOP_TIME");
        self.burst = usize::try_from(args.int("BURST")).unwrap_or(0);
        self.limit = usize::try_from(args.int("LIMIT")).unwrap_or(usize::MAX);
        self.active = args.bool("ACTIVE");
        self.percent = args.int("TIMING");
        self.tells = args.int("VERBOSE") > 0;
        if self.burst == 0 || self.limit == 0 {
            return Err(Diagnostics::of("BURST and LIMIT must not be 0"));
        }
        if self.percent < 0 {
            return Err(Diagnostics::of("TIMING must be >= 0"));
        }
        if !args.text("TIMING_FNT").is_empty() {
            return Err(Diagnostics::of(
                "TIMING_FNT is not supported: give TIMING, which is constant",
            ));
        }
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let task = ctx.new_task(0);
        self.inputs = (0..ctx.inputs())
            .map(|input| ctx.upstream_signal(input, Some(task)))
            .collect();
        self.timer = Some(ctx.new_timer(0));
        self.task = Some(task);
        if self.active {
            ctx.schedule(task);
        }
        Ok(())
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        if !self.active {
            return false;
        }
        if self.is_full {
            return self.send(ctx);
        }
        let came = self.first(ctx);
        // Where nothing has come yet, the inputs' signals wake it.
        let waits = self.kept.is_empty() && !self.inputs.iter().any(|signal| ctx.is_active(signal));
        if !waits && let Some(task) = self.task {
            ctx.schedule(task);
        }
        came
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        if self.active && self.is_full {
            self.send(ctx);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("active", "rwx"),
            Handler::new("count", "r"),
            Handler::new("kept", "r"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "active" => self.active.to_string(),
            "count" => self.sent.to_string(),
            _ => self.kept.len().to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.active = parse_bool(value.trim()).map_err(|_| "syntax error".to_owned())?;
        if self.active
            && self.rounds != 0
            && let Some(task) = self.task
        {
            ctx.schedule(task);
        }
        Ok(())
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        self.free(ctx);
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::driver::Progress;
    use crate::load::testing::{errors, loaded};

    #[test]
    fn packets_go_as_often_as_wanted() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 7) -> Queue -> x :: ReplayUnqueue(STOP 3) -> c :: Counter \
             -> Discard",
        );
        assert_eq!(run.run(1.0), Progress::Stopped);
        assert_eq!(
            (run.read("c.count"), run.read("x.count")),
            ("21".into(), "21".into())
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
    }

    #[test]
    fn their_times_are_kept_or_halved() {
        let dump = "FromIPSummaryDump(STOP false, DATA \"!data timestamp ip_src\n1 1.1.1.1\n\
            2 1.1.1.1\n5 1.1.1.1\")";
        for (percent, counts) in [(100, [1, 2, 2, 3]), (200, [2, 2, 3, 3])] {
            let mut run = loaded(&format!(
                "{dump} -> x :: ReplayUnqueue(STOP 1, TIMING {percent}) -> c :: Counter -> Discard"
            ));
            let mut seen = Vec::new();
            for seconds in [0.7, 1.0, 1.0, 1.5] {
                run.run(seconds);
                seen.push(run.read("c.count").parse::<u32>().expect("a number"));
            }
            assert_eq!(seen, counts, "{percent} %");
        }
    }

    #[test]
    fn inputs_have_outputs_of_their_own() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 2) -> Queue -> x :: MultiReplayUnqueue(STOP 2) -> a :: Counter \
             -> Discard; \
             InfiniteSource(LIMIT 3) -> Queue -> [1] x [1] -> b :: Counter -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("4".into(), "6".into())
        );
        assert!(
            errors("Idle -> ReplayUnqueue(TIMING_FNT \"x\") -> Discard").contains("not supported")
        );
    }
}
