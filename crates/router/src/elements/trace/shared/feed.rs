//! How the packets of a file leave: which of them, when, and in what bursts.

use crate::args::handler_call::HandlerCall;
use crate::args::kinds::UINT;
use crate::args::numbers::{parse_bool, unparse_fixed};
use crate::args::{Args, Kind, Param, keyword};
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Handler};
use crate::graph::processing::Mode;
use crate::reason::Reason;
use crate::trace::input::Input;
use crate::trace::pace::Pace;
use trammel_packet::batch::Packets;
use trammel_packet::pool::Handle;

/// Binary digits of the sampling probability.
const SAMPLE_BITS: u8 = 28;
const ALWAYS: u32 = 1 << SAMPLE_BITS;

/// The probability of packets.
pub(crate) const SAMPLE: Param = keyword(
    "SAMPLE",
    Kind::Fixed(SAMPLE_BITS),
    "1",
    "probability that a packet is emitted",
);

/// The length of bursts.
pub(crate) const BURST: Param = keyword("BURST", UINT, "1", "packets of each run of its task");

/// What comes of asking for a packet.
pub(crate) enum Next {
    /// This one leaves.
    Packet(Handle),
    /// None now: none is due, or the pool is full.
    Later {
        /// It is worth while to ask again at once.
        is_full: bool,
    },
    /// The file has ended.
    End,
}

/// An element that reads packets from a file.
pub(crate) trait Fed {
    /// How they leave.
    fn feed(&mut self) -> &mut Feed;

    /// Gives the next packet.
    fn next(&mut self, ctx: &mut Ctx) -> Next;

    /// The file has ended.
    fn ended(&mut self, ctx: &mut Ctx);

    /// A run of its task.
    fn push_burst(&mut self, ctx: &mut Ctx) -> bool {
        if !self.feed().pace.active {
            return false;
        }
        for made in 0..self.feed().burst.min(ctx.most_burst()) {
            match self.next(ctx) {
                Next::Packet(packet) => ctx.emit(0, packet),
                Next::Later { is_full } => {
                    if is_full {
                        self.feed().pace.go_on(ctx);
                    }
                    return made > 0;
                }
                Next::End => {
                    self.ended(ctx);
                    return made > 0;
                }
            }
        }
        self.feed().pace.go_on(ctx);
        true
    }

    /// Up to `max` packets for one that pulls, while it is active.
    fn pull_burst(&mut self, ctx: &mut Ctx, max: usize, into: &mut Packets) {
        for _ in 0..max {
            match self.next(ctx) {
                Next::Packet(packet) => into.push(packet),
                Next::Later { .. } => return,
                Next::End => return self.ended(ctx),
            }
        }
        self.feed().pace.go_on(ctx);
    }
}

/// A file, and how its packets leave.
#[derive(Debug, Default)]
pub(crate) struct Feed {
    pub(crate) input: Input,
    pub(crate) pace: Pace,
    /// A packet that was read and has not left.
    pub(crate) waiting: Option<Handle>,
    /// Whether the driver stops at the end.
    pub(crate) stops: bool,
    /// The handler that is written at the end.
    pub(crate) end_call: Option<HandlerCall>,
    timed: bool,
    sample: u32,
    burst: usize,
}

impl Feed {
    /// As `args` say, of the file that is set apart.
    pub(crate) fn configure(&mut self, setup: &mut Setup, args: &Args) {
        self.sample = args.uint("SAMPLE") as u32;
        if self.sample > ALWAYS {
            setup
                .warnings
                .push("SAMPLE probability reduced to 1".into());
            self.sample = ALWAYS;
        } else if self.sample == 0 {
            let text = "SAMPLE probability is 0; emitting no packets";
            setup.warnings.push(text.into());
        }
        self.timed = args.bool("TIMING");
        self.stops = args.bool("STOP");
        self.burst = args.uint("BURST").max(1) as usize;
        self.end_call = args.opt_handler_call("END_CALL").cloned();
        self.pace.active = args.bool("ACTIVE");
        self.pace.pushes = setup.outputs[0] == Mode::Push;
    }

    /// Whether chance lets a packet through.
    pub(crate) fn is_sampled(&self, ctx: &mut Ctx) -> bool {
        self.sample >= ALWAYS || ctx.draw_bits(SAMPLE_BITS.into()) < self.sample
    }

    /// The packet if it is due; it waits otherwise.
    pub(crate) fn due(&mut self, ctx: &mut Ctx, packet: Handle) -> Option<Handle> {
        if self.timed {
            let time = ctx.pool()[&packet].timestamp();
            if !self.pace.is_due(ctx, time) {
                self.waiting = Some(packet);
                return None;
            }
        }
        Some(packet)
    }

    /// Says why the handler at the end was not written.
    pub(crate) fn call_failed(ctx: &mut Ctx, why: &str) {
        let text = format!("{}: END_CALL: {why}\n", ctx.declaration(ctx.me()));
        ctx.host().say(&text);
    }

    /// The handlers, besides those of the file.
    pub(crate) fn handlers() -> [Handler; 4] {
        [
            Handler::new("sampling_prob", "r"),
            Handler::new("active", "rwx"),
            Handler::new("encap", "r"),
            Handler::new("stop", "wb"),
        ]
    }

    /// Answers a handler of the file or its packets, but `encap`.
    pub(crate) fn read(&self, name: &str) -> Result<String, String> {
        match name {
            "sampling_prob" => Ok(unparse_fixed(i64::from(self.sample), SAMPLE_BITS)),
            "active" => Ok(self.pace.active.to_string()),
            name => self.input.read(name),
        }
    }

    /// Writes `active`.
    pub(crate) fn write_active(&mut self, ctx: &mut Ctx, value: &str) -> Result<(), String> {
        let active = parse_bool(value.trim()).map_err(|_| "type mismatch".to_owned())?;
        self.pace.set_active(ctx, active);
        Ok(())
    }

    /// Gives back the packet that waits.
    pub(crate) fn cleanup(&mut self, ctx: &mut Ctx) {
        if let Some(packet) = self.waiting.take() {
            ctx.drop(packet, Reason::Discarded);
        }
    }
}
