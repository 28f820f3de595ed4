//! Keeps the router from running.
//!
//! # What it does
//! Its initialization fails; its arguments do not matter.
//!
//! # Example
//! ```click
//! // The load ends here, and whoever reads it sees why.
//! Error("set n to at least 1")
//! ```

use crate::args::{Kind, Need, param};
use crate::elements::Entry;
use crate::engine::{Ctx, Element};

/// The class.
pub static ENTRY: Entry = Entry::new("Error", "keeps the router from running", || {
    Box::<Error>::default()
})
.ports("0/0", "a/a")
.params(&[param(
    "WHATEVER",
    Need::Rest,
    Kind::Raw,
    "",
    "not looked at",
)]);

#[derive(Debug, Default)]
struct Error;

impl Element for Error {
    fn initialize(&mut self, _: &mut Ctx) -> Result<(), String> {
        Err(String::new())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;

    #[test]
    fn it_always_fails() {
        assert_eq!(errors("Error(x, y)"), "Router could not be initialized!\n");
    }
}
