//! What elements that send packets by rules have in common: one run of the program a packet, and whole
//! batches passed on where all take one output.

use crate::args::{Kind, Need, Param};
use crate::classify::Program;
use crate::diagnostic::Diagnostics;
use crate::engine::Ctx;
use crate::engine::setup::Setup;
use crate::reason::Reason;
use trammel_packet::batch::{Batch, CAPACITY};

/// The arguments of such elements.
pub const PARAMS: &[Param] = &[Param {
    name: "RULES",
    need: Need::Rest,
    kind: Kind::Raw,
    default: "",
    help: "the rules, of which the first that matches decides",
}];

/// Sends a batch by a program.
#[inline]
pub fn push(program: &Program, ctx: &mut Ctx, mut batch: Batch) {
    let count = batch.len();
    let mut outputs = [Program::DROPPED; CAPACITY];
    program.classify_batch(ctx.pool(), &batch, &mut outputs);
    let first = outputs[0];
    let differing = outputs[..count].iter();
    if differing.fold(0, |all, output| all | (output ^ first)) == 0 {
        if first == Program::DROPPED {
            ctx.drop_all(&mut batch, Reason::NoMatch);
            ctx.recycle(batch);
        } else {
            ctx.emit_all(first as usize, batch);
        }
        return;
    }
    for (packet, output) in batch.drain().zip(outputs) {
        match output {
            Program::DROPPED => ctx.drop(packet, Reason::NoMatch),
            output => ctx.emit(output as usize, packet),
        }
    }
    ctx.recycle(batch);
}

/// What the operations of such elements call by names.
pub fn quantities(program: Option<&Program>) -> Vec<(&'static str, f64)> {
    let (steps, rules) = program.map_or((0.0, 0), |program| (program.steps(), program.rules()));
    vec![("steps", steps), ("rules", rules as f64)]
}

/// One rule is wanted for each output.
pub fn one_for_each(rules: &[String], outputs: usize) -> Result<(), Diagnostics> {
    if rules.len() == outputs {
        return Ok(());
    }
    let mut said = Diagnostics::new();
    let text = format!("need {outputs} arguments, one per output port");
    said.error(None, text);
    Err(said)
}

/// Passes on what was said of a good program, and tells of outputs that it never takes.
pub fn warn(program: &Program, setup: &mut Setup, outputs: usize) {
    let said = program.warnings().iter();
    setup.warnings.extend(said.map(|one| one.text.clone()));
    for output in program.unused_outputs(outputs) {
        setup
            .warnings
            .push(format!("output {output} matches no packets"));
    }
}
