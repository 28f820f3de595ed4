//! Patterns with names, for several rewriters.

use super::pattern::{MOST_NAMED, Pattern};
use crate::args::Args;
use crate::args::names::{Named, Names, Space};
use crate::args::text::split_words;
use crate::diagnostic::Diagnostics;
use crate::engine::Element;
use crate::engine::setup::Setup;

/// The element `IPRewriterPatterns`. Rewriters that use one of its patterns share the place in its
/// range.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    /// The patterns in the order in which they were written.
    pub all: Vec<Pattern>,
}

impl Element for Patterns {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::new();
        for arg in args.rest() {
            let words = split_words(arg);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let Some((name, words)) = words.split_first() else {
                continue;
            };
            if setup.names().find(Space::RewriterPattern, name).is_some() {
                errors.error(None, format!("pattern '{name}' already defined"));
                continue;
            }
            let number = setup
                .id
                .checked_mul(MOST_NAMED)
                .map(|first| first + self.all.len());
            let number = number.and_then(|number| u32::try_from(number).ok());
            match (Pattern::parse(words, &setup.names()), number) {
                (Ok(pattern), Some(number)) if self.all.len() < MOST_NAMED => {
                    self.all.push(pattern);
                    let value = Named::Number(number);
                    let me = setup.name;
                    setup
                        .definitions
                        .define(me, Space::RewriterPattern, name, value);
                }
                (Ok(_), _) => errors.error(None, "too many patterns"),
                (Err(text), _) => errors.error(None, text),
            }
        }
        if errors.has_errors() {
            Err(errors)
        } else {
            Ok(())
        }
    }
}
