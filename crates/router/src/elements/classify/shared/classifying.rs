//! What elements that send packets by rules have in common: one run of the program a packet, and
//! whole batches passed on where all take one output.

use crate::args::{Kind, Need, Param, param};
use crate::classify::Program;
use crate::diagnostic::Diagnostics;
use crate::engine::Ctx;
use crate::engine::setup::Setup;
use crate::engine::study::Study;
use crate::reason::Reason;
use trammel_packet::batch::{Batch, CAPACITY, Packets};
use trammel_packet::pool::Pool;

/// The arguments of such elements.
pub(crate) const PARAMS: &[Param] = &[param(
    "RULES",
    Need::Rest,
    Kind::Raw,
    "",
    "the rules, of which the first that matches decides",
)];

/// Sends a batch by a program.
#[inline]
pub(crate) fn push(program: &Program, ctx: &mut Ctx, batch: Batch) {
    let mut outputs = [Program::DROPPED; CAPACITY];
    program.classify_batch(ctx.pool(), &batch, &mut outputs);
    ctx.part_by(batch, &outputs, |output| match output {
        Program::DENIED => Reason::Filtered,
        _ => Reason::NoMatch,
    });
}

/// Tells how many steps the packets of a batch take, and whether they part.
pub(crate) fn study(program: &Program, pool: &Pool, batch: &Packets, study: &mut Study) {
    let mut outputs = [Program::DROPPED; CAPACITY];
    program.classify_batch(pool, batch, &mut outputs);
    study.ways(&outputs[..batch.len()]);
    for packet in batch {
        study.mean("steps", program.steps_of(&pool[packet]), 1);
    }
}

/// What the operations of such elements call by names.
pub(crate) fn quantities(program: Option<&Program>) -> Vec<(&'static str, f64)> {
    let (steps, rules) = program.map_or((0.0, 0), |program| (program.steps(), program.rules()));
    vec![("steps", steps), ("rules", rules as f64), ("ways", 0.0)]
}

/// One rule is wanted for each output.
pub(crate) fn one_for_each(rules: &[String], outputs: usize) -> Result<(), Diagnostics> {
    if rules.len() == outputs {
        return Ok(());
    }
    let mut said = Diagnostics::new();
    let text = format!("need {outputs} arguments, one per output port");
    said.error(None, text);
    Err(said)
}

/// Passes on what was said of a good program, and tells of outputs that it never takes.
pub(crate) fn warn(program: &Program, setup: &mut Setup, outputs: usize) {
    let said = program.warnings().iter();
    setup.warnings.extend(said.map(|one| one.text.clone()));
    for output in program.unused_outputs(outputs) {
        setup
            .warnings
            .push(format!("output {output} matches no packets"));
    }
}
