//! Measuring routers on systems without Linux's network namespaces: not possible, and said so.

use trammel_control::network::Report;
use trammel_scenario::routing::Routing;

/// What was measured.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) report: Report,
    /// What a reader should know of this run.
    pub(crate) remarks: Vec<String>,
}

/// Why nothing was measured.
#[derive(Debug)]
#[allow(dead_code)] // Elsewhere nothing begins that could go wrong.
pub(crate) enum Unmeasured {
    /// The machine lacks something, or the scenario is none to be measured.
    Lack(String),
    /// It went wrong on the way.
    Failed(String),
}

/// Says what is missing.
pub(crate) fn measure(_: &Routing, _: &dyn Fn() -> bool) -> Result<Option<Measured>, Unmeasured> {
    Err(Unmeasured::Lack(
        "routers are measured in network namespaces, which only Linux has: \
         `--engine predict,simulate` runs here"
            .to_owned(),
    ))
}

/// Nothing to prepare.
pub(crate) fn prepare() {}
