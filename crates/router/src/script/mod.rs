//! Scripts: the language in which `Script` and `DriverManager` steer a running configuration.
//!
//! A [`program::Program`] is what the arguments say; a [`Script`] runs it. While it runs, the
//! element stands in its slot (`Ctx::within_reach`), so that a script may read and write any
//! handler, its own included, and those may call the script again: such a call moves the place
//! where it goes on, and nothing recurses.

pub(crate) mod errors;
pub(crate) mod format;
pub(crate) mod functions;
pub(crate) mod machine;
pub(crate) mod program;
pub(crate) mod signals;

pub(crate) use machine::Script;
