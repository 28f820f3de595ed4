//! How much a terminal shows, for pictures on it.

use std::sync::Arc;

/// A terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Letters of a line.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
    /// Whether it shows colours, and the user wants them.
    pub has_colours: bool,
}

/// The lines of a picture for a terminal. A line is no longer than the terminal's.
pub type Picture = Arc<dyn Fn(Screen) -> Vec<String> + Send + Sync>;

impl Screen {
    /// That of standard error; where nobody knows its size, a small one.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn of_stderr() -> Screen {
        const SMALL: (u16, u16) = (24, 80);
        let (rows, columns) = console::Term::stderr().size_checked().unwrap_or(SMALL);
        Screen {
            columns: columns.into(),
            rows: rows.into(),
            has_colours: console::colors_enabled_stderr(),
        }
    }
}
