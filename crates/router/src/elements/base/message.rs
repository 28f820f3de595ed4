//! Prints a message when configured.
//!
//! # What it does
//! A message, a warning, or an error, which keeps the router from running.
//!
//! # Example
//! ```click
//! Message("this configuration is for tests only", WARNING); Idle -> Discard
//! ```

use crate::args::{Args, Kind, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::Element;
use crate::engine::setup::Setup;

/// The class.
pub static ENTRY: Entry = Entry::new("Message", "prints a message when configured", || {
    Box::<Message>::default()
})
.ports("0/0", "a/a")
.params(&[
    mandatory("MESSAGE", Kind::Text, "what to say"),
    positional(
        "TYPE",
        Kind::Keyword,
        "MESSAGE",
        "`MESSAGE`, `WARNING` or `ERROR`",
    ),
]);

#[derive(Debug, Default)]
struct Message;

impl Element for Message {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let text = args.text("MESSAGE").to_owned();
        match args.text("TYPE") {
            "MESSAGE" => setup.notes.push(text),
            // Differs from Click 2.1: there a warning keeps the router from running.
            "WARNING" => setup.warnings.push(text),
            "ERROR" => return Err(Diagnostics::of(text)),
            _ => return Err(Diagnostics::of("unrecognized message type")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn only_an_error_keeps_the_router_from_running() {
        loaded("Message(hello); Message(careful, WARNING)");
        assert_eq!(
            errors("Message(\"no way\", ERROR); Message(x, SHOUT)"),
            "config:1: While configuring 'Message@1 :: Message':\n  no way\n\
             config:1: While configuring 'Message@2 :: Message':\n  unrecognized message type\n\
             Router could not be initialized!\n"
        );
    }
}
