//! The `trammel` command, and the crates behind it under one name for programs of your own.
//!
//! A scenario comes from a file ([`scenario::File`]) or from Rust ([`Scenario::dumbbell`]).
#![forbid(unsafe_code)]

pub mod cli;
#[cfg(target_os = "linux")]
mod click;
mod compare_runs;
mod import;
mod sweep_plan;

#[cfg(target_os = "linux")]
pub use trammel_driver as driver;
pub use trammel_forwarding as forwarding;
pub use trammel_ground as ground;
pub use trammel_papers as papers;
pub use trammel_report as report;
pub use trammel_routing as routing;
pub use trammel_scenario as scenario;
pub use trammel_streams as streams;
#[cfg(target_os = "linux")]
pub use trammel_testbeds as testbeds;
pub use trammel_transport as transport;
pub use trammel_workbench as workbench;

pub use trammel_scenario::{DelayedAck, Flow, Limit, Queue, Scenario, Stack};
pub use trammel_transport::points::RunScenario;
