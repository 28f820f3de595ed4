//! Declares the alignment of elements' packets.
//!
//! # What it does
//! It is written by `click-align` for machines that cannot read across words; it is checked and not
//! needed here.
//!
//! # Example
//! ```click
//! // Accepted for old configurations; nothing needs it here.
//! AlignmentInfo(check 4 2);
//! Idle -> check :: CheckIPHeader -> Discard
//! ```

use crate::args::names::Names;
use crate::args::numbers::parse_int;
use crate::args::text::split_words;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::Element;
use crate::engine::setup::Setup;

/// The class.
pub static ENTRY: Entry = Entry::new("AlignmentInfo", "declares the alignment of packets", || {
    Box::<AlignmentInfo>::default()
})
.ports("0/0", "a/a")
.params(&[param(
    "ELEMENTS",
    Need::Rest,
    Kind::Raw,
    "",
    "`ELEMENT CHUNK OFFSET…`, any number of times",
)]);

#[derive(Debug, Default)]
struct AlignmentInfo;

impl Element for AlignmentInfo {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        let mut known: Vec<(usize, Vec<String>)> = Vec::new();
        for (at, argument) in args.rest().iter().enumerate() {
            let words = split_words(argument);
            let Some((name, numbers)) = words.split_first() else {
                setup
                    .warnings
                    .push(format!("empty configuration argument {at}"));
                continue;
            };
            // What is said of elements that there are no more does no harm.
            let Some(element) = setup.names().element(name) else {
                continue;
            };
            if numbers.len() % 2 != 0 {
                said.error(
                    None,
                    "expected 'ELEMENTNAME CHUNK OFFSET [CHUNK OFFSET...]'",
                );
            }
            for pair in numbers.chunks_exact(2) {
                for (text, what) in pair.iter().zip(["CHUNK", "OFFSET"]) {
                    if parse_int(text, i64::from(i32::MIN), i64::from(i32::MAX)).is_err() {
                        said.error(None, format!("expected {what}"));
                    }
                }
            }
            match known.iter().find(|(other, _)| *other == element) {
                Some((_, before)) if before.as_slice() != numbers => {
                    said.error(None, format!("conflicting AlignmentInfo for '{name}'"));
                }
                _ => known.push((element, numbers.to_vec())),
            }
        }
        if said.has_errors() { Err(said) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn what_is_said_is_checked() {
        loaded("n :: Idle -> Discard; AlignmentInfo(n 4 0, gone x)");
        assert!(
            errors("n :: Idle -> Discard; AlignmentInfo(n 4)")
                .contains("expected 'ELEMENTNAME CHUNK")
        );
        assert!(
            errors("n :: Idle -> Discard; AlignmentInfo(n 4 0, n 4 2)")
                .contains("conflicting AlignmentInfo for 'n'")
        );
    }
}
