//! Generates packets as fast as the router runs.
//!
//! # What it does
//! At a push output, each run of its task makes `BURST` packets; at a pull output it makes one when
//! asked. After `LIMIT` packets it is silent, and with `STOP` stops the driver.
//!
//! # Example
//! ```click
//! // A thousand packets of 60 bytes, 32 at a time, and then the end.
//! InfiniteSource(LENGTH 60, LIMIT 1000, BURST 32, STOP true) -> Counter -> Discard
//! ```

use crate::args::handler_call::HandlerCall;
use crate::args::kinds::{INT, UINT};
use crate::args::numbers::parse_bool;
use crate::args::packet_length::{MOST, within_most};
use crate::args::{Args, Kind, flag, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::{self, NotifierId, Provided, Signal};
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::{Ctx, Element, Handler};
use crate::graph::processing::Mode;
use trammel_packet::batch::{CAPACITY, Packets};

/// The class.
pub static ENTRY: Entry = Entry::new("InfiniteSource", "generates packets without end", || {
    Box::<InfiniteSource>::default()
})
.ports("0/1", "a/a")
.params(&[
    positional(
        "DATA",
        Kind::Data,
        "\"Trammel: sixty-nine bytes that mean nothing at all but fill the wire.\"",
        "the bytes of each packet",
    ),
    positional("LIMIT", INT, "-1", "packets in all; -1 is no limit"),
    positional("BURST", INT, "1", "packets of each run"),
    positional("ACTIVE", Kind::Bool, "true", "whether it makes packets"),
    keyword(
        "LENGTH",
        UINT,
        "",
        "bytes of each packet: `DATA` is cut or repeated",
    ),
    flag("TIMESTAMP", "true", "whether packets carry the time"),
    flag(
        "STOP",
        "false",
        "whether it stops the driver after the last packet",
    ),
    keyword(
        "END_CALL",
        Kind::HandlerCall,
        "",
        "handler written after the last packet",
    ),
])
.ops("copy(length); work(75)");

#[derive(Debug, Default)]
struct InfiniteSource {
    data: Vec<u8>,
    limit: i64,
    burst: usize,
    count: i64,
    active: bool,
    stamps: bool,
    stops: bool,
    end_call: Option<HandlerCall>,
    pushes: bool,
    task: Option<TaskId>,
    room: Option<Signal>,
    notifier: Option<NotifierId>,
}

impl InfiniteSource {
    fn left(&self) -> usize {
        match self.limit {
            limit if limit < 0 => usize::MAX,
            limit => usize::try_from(limit - self.count).unwrap_or(0),
        }
    }

    /// Makes up to `count` packets.
    fn make(&mut self, ctx: &mut Ctx, count: usize, into: &mut Packets) {
        let now = self.stamps.then(|| ctx.now());
        let pool = ctx.pool();
        let count = count.min(into.room());
        for _ in 0..count {
            let Some(packet) = pool.alloc_with(&self.data) else {
                break;
            };
            if let Some(now) = now {
                pool[&packet].set_timestamp(now);
            }
            into.push(packet);
            self.count += 1;
        }
    }

    /// What follows the last packet: when the next one would be due, so that what the last one
    /// filled has room again.
    fn finished(&self, ctx: &mut Ctx) {
        if let Some(call) = &self.end_call
            && let Err(why) = ctx.call(call)
        {
            let text = format!("{}: END_CALL: {why}\n", ctx.declaration(ctx.me()));
            ctx.host().say(&text);
        }
        if self.stops {
            ctx.stop();
        }
    }

    fn activate(&self, ctx: &mut Ctx) {
        if !self.active || self.left() == 0 {
            return;
        }
        if let Some(task) = self.task {
            ctx.schedule(task);
        }
        if let Some(notifier) = self.notifier {
            ctx.wake(notifier);
        }
    }
}

impl Element for InfiniteSource {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.data = args.data("DATA").to_vec();
        if let Some(length) = args.opt_uint("LENGTH") {
            let length = within_most("LENGTH", length)?;
            let pattern = std::mem::take(&mut self.data);
            let pattern = if pattern.is_empty() { vec![0] } else { pattern };
            self.data = pattern.into_iter().cycle().take(length).collect();
        }
        self.limit = args.int("LIMIT");
        self.burst = args.int("BURST").max(1) as usize;
        self.active = args.bool("ACTIVE");
        self.stamps = args.bool("TIMESTAMP");
        self.stops = args.bool("STOP");
        self.end_call = args.opt_handler_call("END_CALL").cloned();
        self.pushes = setup.outputs[0] == Mode::Push;
        Ok(())
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        if !self.pushes {
            self.notifier = Some(ctx.new_notifier("empty"));
        }
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        if self.pushes {
            let task = ctx.new_task(0);
            self.room = Some(ctx.downstream_signal(0, Some(task)));
            self.task = Some(task);
            if self.active {
                ctx.schedule(task);
            }
        }
        Ok(())
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        if !self.active {
            return false;
        }
        if let Some(room) = &self.room
            && !ctx.is_active(room)
        {
            return false;
        }
        // The rest of a longer burst follows in the next turns, so that its packets need not all be
        // there at once.
        let mut wanted = self.burst.min(self.left()).min(ctx.most_burst());
        let before = self.count;
        while wanted > 0 {
            let mut batch = ctx.batch();
            self.make(ctx, wanted.min(CAPACITY), &mut batch);
            let made = batch.len();
            ctx.emit_all(0, batch);
            if made == 0 {
                break;
            }
            wanted -= made;
        }
        if self.left() == 0 && self.count == before {
            self.finished(ctx);
        } else if let Some(task) = self.task {
            ctx.schedule(task);
        }
        self.count > before
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        let (wanted, before) = (max.min(into.room()) as i64, self.count);
        if self.active {
            self.make(ctx, max.min(self.left()), into);
        }
        let is_short = self.count - before < wanted;
        if self.active && self.left() == 0 && is_short {
            self.finished(ctx);
        }
        if (!self.active || self.left() == 0 && is_short)
            && let Some(notifier) = self.notifier
        {
            ctx.sleep(notifier);
        }
    }

    fn notifier(&self, kind: notify::Kind, _: usize) -> Provided {
        match (kind, self.notifier) {
            (notify::Kind::Empty, Some(id)) => Provided::Stop(id),
            _ => Provided::None,
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("data", "rw%."),
            Handler::new("limit", "rw."),
            Handler::new("burst", "rw."),
            Handler::new("active", "rwc"),
            Handler::new("count", "r"),
            Handler::new("reset", "wb"),
            Handler::new("length", "rw."),
            Handler::new("burstsize", "rw.D"),
            Handler::new("datasize", "rw.D"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "active" => self.active.to_string(),
            "count" => self.count.to_string(),
            "burst" | "burstsize" => self.burst.to_string(),
            "limit" => self.limit.to_string(),
            "length" | "datasize" => self.data.len().to_string(),
            _ => String::from_utf8_lossy(&self.data).into_owned(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        let number = || crate::args::numbers::parse_int(value, -1, i64::from(i32::MAX));
        match name {
            "active" => self.active = parse_bool(value).map_err(|e| e.to_string())?,
            "reset" => self.count = 0,
            "burst" | "burstsize" => {
                self.burst = number().map_err(|e| e.to_string())?.max(1) as usize;
            }
            "limit" => self.limit = number().map_err(|e| e.to_string())?,
            "length" | "datasize" => {
                let length = number().map_err(|e| e.to_string())?.max(0) as usize;
                if length > MOST {
                    return Err(format!("out of range, bound {MOST}"));
                }
                self.data.resize(length, 0);
            }
            _ => self.data = value.as_bytes().to_vec(),
        }
        self.activate(ctx);
        Ok(())
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("length", self.data.len() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn the_driver_stops_once_there_is_room_behind_the_last_packet() {
        let mut run = loaded(
            "i :: InfiniteSource(LIMIT 2, STOP true) -> q :: FullNoteQueue(1) -> c :: Counter
             -> u :: Unqueue -> Discard; ScheduleInfo(u 1, i 2);",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("c.count"), run.read("q.drops")),
            ("2".into(), "0".into())
        );
    }

    #[test]
    fn what_follows_the_last_packet_follows_it_again_after_a_reset() {
        for way in ["", "-> Unqueue"] {
            let mut run = loaded(&format!(
                "i :: InfiniteSource(LIMIT 2, END_CALL c.reset) -> c :: Counter {way} -> Discard",
            ));
            for _ in 0..2 {
                run.run(0.1);
                let counts = (run.read("i.count"), run.read("c.count"));
                assert_eq!(counts, ("2".into(), "0".into()), "{way}");
                run.write("i.reset", "").unwrap();
            }
        }
    }

    #[test]
    fn no_packet_is_longer_than_ip_has_them() {
        let said = crate::load::testing::errors("InfiniteSource(LENGTH 65536) -> Discard");
        assert!(said.contains("LENGTH: out of range, bound 65535"), "{said}");
        let mut run = loaded("s :: InfiniteSource(LENGTH 65535, LIMIT 1) -> Discard");
        assert!(run.write("s.length", "65536").is_err());
    }
}
