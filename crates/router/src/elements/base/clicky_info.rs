//! Accepts styles for Clicky, the graphical program that draws configurations.
//!
//! # What it does
//! Nothing: its arguments are styles of drawings.
//!
//! # Example
//! ```click
//! ClickyInfo(STYLE #x { color: red }); Idle -> x :: Counter -> Discard
//! ```

use crate::args::{Kind, Need, param};
use crate::elements::Entry;
use crate::engine::Element;

/// The class.
pub static ENTRY: Entry = Entry::new("ClickyInfo", "accepts styles for drawings", || {
    Box::<ClickyInfo>::default()
})
.ports("0/0", "a/a")
.params(&[param(
    "STYLES",
    Need::Rest,
    Kind::Raw,
    "",
    "styles, for the program that draws",
)]);

#[derive(Debug, Default)]
struct ClickyInfo;

impl Element for ClickyInfo {}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn any_style_is_taken() {
        loaded("ClickyInfo(STYLE #x { color: red }, * { a: \"b, c\" }); Idle -> Discard");
    }
}
