//! Classifies packets by the bytes that they contain.
//!
//! # What it does
//! Each argument is the pattern of one output: clauses `offset/value` or `offset/value%mask` in
//! hexadecimal, `?` for any digit, `!` before a clause for its opposite; `-` matches every packet.
//! The first pattern that matches decides; a packet that none matches is dropped. All patterns
//! become one decision graph, so that their number hardly matters.
//!
//! # Example
//! ```click
//! // ARP requests, ARP replies, IP, and all else.
//! FromDevice(eth0) -> c :: Classifier(12/0806 20/0001, 12/0806 20/0002, 12/0800, -);
//! c[0] -> Discard; c[1] -> Discard; c[2] -> Strip(14) -> CheckIPHeader -> Discard; c[3] -> Discard
//! ```

use super::shared::classifying::{self, PARAMS};
use crate::args::Args;
use crate::classify::Program;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::study::Study;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::pool::Pool;

/// The class.
pub static ENTRY: Entry = Entry::new("Classifier", "classifies packets by their bytes", || {
    Box::<Classifier>::default()
})
.ports("1/-", "h/h")
.live()
.params(PARAMS)
.ops("classify(steps); work(35 + 28 * ways)");

#[derive(Debug, Default)]
struct Classifier {
    program: Option<Program>,
}

impl Element for Classifier {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let outputs = setup.outputs.len();
        classifying::one_for_each(args.rest(), outputs)?;
        let program = Program::classifier(args.rest())?;
        classifying::warn(&program, setup, outputs);
        self.program = Some(program);
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        match &self.program {
            Some(program) => classifying::push(program, ctx, batch),
            None => {
                ctx.drop_all(&mut batch, Reason::NoMatch);
                ctx.recycle(batch);
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("program", "r.")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        let text = self.program.as_ref().map(Program::text);
        Ok(text.unwrap_or_default().to_owned())
    }

    fn study(&self, pool: &Pool, batch: &Packets, study: &mut Study) {
        if let Some(program) = &self.program {
            classifying::study(program, pool, batch, study);
        }
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        classifying::quantities(self.program.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::Probe;

    #[test]
    fn the_first_pattern_that_matches_decides() {
        let mut probe = Probe::new("Classifier(0/61 2/63, 0/61, 1/62)", 3);
        assert_eq!(probe.send(b"abc")[0].0, 0);
        assert_eq!(probe.send(b"abx")[0].0, 1);
        assert_eq!(probe.send(b"xbx")[0].0, 2);
        assert_eq!(probe.send(b"xxx"), []);
        assert_eq!(probe.held(), 0);
    }

    #[test]
    fn each_output_wants_a_pattern() {
        assert_eq!(
            errors("Idle -> c :: Classifier(-); c[0] -> Idle; c[1] -> Idle"),
            "config:1: While configuring 'c :: Classifier':\n  need 2 arguments, \
             one per output port\nRouter could not be initialized!\n"
        );
    }
}
