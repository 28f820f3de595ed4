//! A class whose work another class does: its arguments are put into the other's words.
//!
//! Devices of other routers' making (`PollDevice`, `FromDPDKDevice`) are the same to a
//! configuration as `FromDevice` and `ToDevice`; what their arguments say of buffers and queues of
//! their own means nothing here, and is told.

use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::engine::notify::{Kind, Provided};
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Entry, Handler};
use trammel_packet::batch::{Batch, Packets};

/// The arguments of the class that does the work.
pub(crate) type Translate = fn(&Args, &mut Setup) -> Vec<String>;

/// An element that another does the work of.
pub(crate) struct Adapter {
    inner: Box<dyn Element>,
    entry: &'static Entry,
    translate: Translate,
    /// Whether a machine that lacks the device leaves it idle.
    may_lack: bool,
}

impl Adapter {
    /// The element of `entry`, by arguments that `translate` puts into its words.
    pub(crate) fn of(entry: &'static Entry, translate: Translate) -> Box<dyn Element> {
        Box::new(Adapter {
            inner: (entry.make)(),
            entry,
            translate,
            may_lack: false,
        })
    }
}

/// The keyword that leaves an element idle where there is no device.
pub(crate) const ALLOW_NONEXISTENT: &str = "ALLOW_NONEXISTENT";

impl Element for Adapter {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let words = (self.translate)(args, setup);
        let inner = {
            let names = setup.names();
            Args::resolve_list(self.entry.params, &words, &names, None)?
        };
        self.may_lack = args.bool(ALLOW_NONEXISTENT);
        self.inner.configure(setup, &inner)
    }

    fn prepare(&mut self, ctx: &mut Ctx) {
        self.inner.prepare(ctx);
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        match self.inner.initialize(ctx) {
            Err(why) if self.may_lack => {
                let text = format!(
                    "{}: warning: {why}; it stays idle\n",
                    ctx.declaration(ctx.me())
                );
                ctx.host().say(&text);
                Ok(())
            }
            other => other,
        }
    }

    fn start(&mut self, ctx: &mut Ctx) {
        self.inner.start(ctx);
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        self.inner.process(ctx, batch);
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, batch: Batch) {
        self.inner.push(ctx, port, batch);
    }

    fn pull(&mut self, ctx: &mut Ctx, port: usize, max: usize, into: &mut Packets) {
        self.inner.pull(ctx, port, max, into);
    }

    fn run_task(&mut self, ctx: &mut Ctx, token: u32) -> bool {
        self.inner.run_task(ctx, token)
    }

    fn run_timer(&mut self, ctx: &mut Ctx, token: u32) {
        self.inner.run_timer(ctx, token);
    }

    fn ready(&mut self, ctx: &mut Ctx, descriptor: i32) {
        self.inner.ready(ctx, descriptor);
    }

    fn handlers(&self) -> Vec<Handler> {
        self.inner.handlers()
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, parameter: &str) -> Result<String, String> {
        self.inner.read(ctx, name, parameter)
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        self.inner.write(ctx, name, value)
    }

    fn notifier(&self, kind: Kind, port: usize) -> Provided {
        self.inner.notifier(kind, port)
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        self.inner.quantities()
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        self.inner.cleanup(ctx);
    }
}
