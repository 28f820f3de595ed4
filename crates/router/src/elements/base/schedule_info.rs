//! Sets the elements' shares of the processor.
//!
//! # What it does
//! Each argument is the name of an element or compound and a factor; 1 is the usual share. Factors
//! of a compound and of what is inside it multiply.
//!
//! # Example
//! ```click
//! // The first source gets twice as many turns as the second.
//! ScheduleInfo(a 2, b 1);
//! a :: InfiniteSource(LIMIT 1000) -> Discard; b :: InfiniteSource(LIMIT 1000) -> Discard
//! ```

use crate::args::numbers::parse_fixed;
use crate::args::text::split_words;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::element::PHASE_INFO;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ScheduleInfo",
    "sets the scheduling shares of elements",
    || Box::<ScheduleInfo>::default(),
)
.ports("0/0", "a/a")
.phase(PHASE_INFO)
.params(&[param(
    "SHARES",
    Need::Rest,
    Kind::Raw,
    "",
    "`ELEMENT FACTOR`, any number of times",
)]);

/// Factors have so many bits of fraction: the usual tickets are 1.
const BITS: u8 = 10;

#[derive(Debug, Default)]
struct ScheduleInfo {
    factors: Vec<(String, u64)>,
}

impl Element for ScheduleInfo {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        let scope = setup.name.rfind('/').map_or("", |at| &setup.name[..=at]);
        for argument in args.rest() {
            match split_words(argument).as_slice() {
                [] => {}
                [name, factor] if parse_fixed(factor, BITS).is_ok() => {
                    let factor = parse_fixed(factor, BITS).map_or(0, u64::from);
                    self.factors.push((format!("{scope}{name}"), factor));
                }
                _ => said.error(None, "expected 'ELEMENTNAME PARAM'"),
            }
        }
        if said.has_errors() { Err(said) } else { Ok(()) }
    }

    fn start(&mut self, ctx: &mut Ctx) {
        for element in 0..ctx.elements() {
            let name = ctx.name(element);
            let is_of = |outer: &str| {
                name.strip_prefix(outer)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            let own = self.factors.iter().filter(|(outer, _)| is_of(outer));
            let all: Vec<u64> = own.map(|(_, factor)| *factor).collect();
            if !all.is_empty() {
                let share = all
                    .iter()
                    .fold(u64::from(ctx.share(element)), |share, factor| {
                        (share * factor).min(u64::from(u32::MAX)) >> BITS
                    });
                ctx.set_share(element, share as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn shares_multiply_from_outside_in() {
        let mut run = loaded(
            "elementclass C { s :: InfiniteSource -> Discard; ScheduleInfo(s 0.5) } c :: C; \
             t :: InfiniteSource -> Discard; ScheduleInfo(c 3)",
        );
        assert_eq!(
            (run.read("c/s.tickets"), run.read("t.tickets")),
            ("1536".into(), "1024".into())
        );
        assert!(errors("ScheduleInfo(a 1 2)").contains("expected 'ELEMENTNAME PARAM'"));
    }
}
