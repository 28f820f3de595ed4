//! Ends packets.
//!
//! # What it does
//! Packets that are pushed in end here. At a pull input it asks for packets as fast as they come.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Discard
//! ```

use crate::args::kinds::UINT;
use crate::args::{Args, flag, keyword};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::notify::Signal;
use crate::engine::setup::Setup;
use crate::engine::task::TaskId;
use crate::engine::{Ctx, Element, Handler};
use crate::graph::processing::Mode;
use crate::reason::Reason;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new("Discard", "ends packets", || Box::<Discard>::default())
    .aliases(&["DiscardNoFree"])
    .ports("1/0", "a/a")
    .params(&[
        flag(
            "ACTIVE",
            "true",
            "whether it pulls; pushed packets always end here",
        ),
        keyword("BURST", UINT, "1", "packets pulled at a time"),
    ])
    .ops("work(20)");

#[derive(Debug, Default)]
struct Discard {
    active: bool,
    burst: usize,
    pulls: bool,
    count: u64,
    input: Option<(TaskId, Signal)>,
}

impl Element for Discard {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.active = args.bool("ACTIVE");
        self.burst = args.uint("BURST").max(1) as usize;
        self.pulls = setup.inputs[0] == Mode::Pull;
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        if self.pulls {
            let task = ctx.new_task(0);
            let signal = ctx.upstream_signal(0, Some(task));
            if self.active {
                ctx.schedule(task);
            }
            self.input = Some((task, signal));
        }
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        self.count += batch.len() as u64;
        ctx.drop_all(&mut batch, Reason::Discarded);
        ctx.recycle(batch);
    }

    fn run_task(&mut self, ctx: &mut Ctx, _: u32) -> bool {
        let Some((task, signal)) = &self.input else {
            return false;
        };
        let mut batch = ctx.batch();
        let count = ctx.pull(0, self.burst, &mut batch);
        self.count += count as u64;
        ctx.drop_all(&mut batch, Reason::Discarded);
        ctx.recycle(batch);
        if self.active && (count > 0 || ctx.is_active(signal)) {
            ctx.schedule(*task);
        }
        count > 0
    }

    fn handlers(&self) -> Vec<Handler> {
        let mut all = vec![
            Handler::new("count", "r"),
            Handler::new("reset_counts", "wb"),
        ];
        if self.pulls {
            all.push(Handler::new("active", "rwc"));
        }
        all
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "count" => self.count.to_string(),
            _ => self.active.to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        if name == "reset_counts" {
            self.count = 0;
            return Ok(());
        }
        self.active = crate::args::numbers::parse_bool(value.trim()).map_err(|e| e.to_string())?;
        if let Some((task, _)) = self.input.as_ref().filter(|_| self.active) {
            ctx.schedule(*task);
        }
        Ok(())
    }
}
