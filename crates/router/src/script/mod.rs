//! Scripts: the language in which `Script` and `DriverManager` steer a running configuration.
//!
//! A [`program::Program`] is what the arguments say; a [`Script`] runs it. While it runs, the element stands
//! in its slot (`Ctx::within_reach`), so that a script may read and write any handler, its own included, and
//! those may call the script again: such a call moves the place where it goes on, and nothing recurses.

pub mod format;
pub mod functions;
pub mod machine;
pub mod program;
pub mod signals;
pub mod voice;

pub use machine::Script;
