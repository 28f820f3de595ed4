//! What elements that check headers do with packets that fail: count, tell, send to output 1.

use crate::args::{Args, Kind, Need, Param};
use crate::engine::{Ctx, Handler};
use crate::reason::Reason;
use std::fmt::Write;
use trammel_packet::pool::Handle;

/// The keyword for printing each fault rather than the first.
pub(crate) const VERBOSE: Param = Param {
    name: "VERBOSE",
    need: Need::Keyword,
    kind: Kind::Bool,
    default: "false",
    help: "whether every fault is printed, not only the first",
};

/// The keyword for a count of each kind of fault.
pub(crate) const DETAILS: Param = Param {
    name: "DETAILS",
    need: Need::Keyword,
    kind: Kind::Bool,
    default: "false",
    help: "whether faults are counted by kind",
};

/// The faults of one element: counts, and how they are told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    texts: &'static [&'static str],
    verbose: bool,
    details: bool,
    drops: u64,
    by_kind: Vec<u64>,
}

impl Faults {
    /// Faults that have these texts, as the arguments want them told.
    pub(crate) fn new(texts: &'static [&'static str], args: &Args) -> Faults {
        Faults {
            texts,
            verbose: args.bool("VERBOSE"),
            details: args.bool("DETAILS"),
            drops: 0,
            by_kind: vec![0; texts.len()],
        }
    }

    /// Sends a packet with fault number `kind` away. What is printed is `introduction` and the
    /// fault's text.
    #[cold]
    pub(crate) fn reject(
        &mut self,
        ctx: &mut Ctx,
        packet: Handle,
        kind: usize,
        reason: Reason,
        introduction: impl FnOnce(&Ctx) -> String,
    ) {
        if self.drops == 0 || self.verbose {
            let text = format!("{}: {}\n", introduction(ctx), self.texts[kind]);
            ctx.host().say(&text);
        }
        self.drops += 1;
        self.by_kind[kind] += 1;
        ctx.reject(1, packet, reason);
    }

    /// The handlers that tell the counts.
    pub(crate) fn handlers(&self) -> Vec<Handler> {
        let mut all = vec![Handler::new("drops", "r")];
        if self.details {
            all.push(Handler::new("drop_details", "r"));
        }
        all
    }

    /// Answers one of the handlers.
    pub(crate) fn read(&self, name: &str) -> String {
        if name == "drops" {
            return self.drops.to_string();
        }
        let mut text = String::new();
        for (count, what) in self.by_kind.iter().zip(self.texts) {
            writeln!(text, "{count}\t{what}").expect("a string takes any text");
        }
        text
    }
}
