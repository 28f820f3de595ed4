#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod capacity_profile;
pub mod chain;
pub mod device_profile;
pub mod eo;
pub mod estimate;
pub mod expr;
mod expr_reader;
pub mod fit;
pub mod fit_pages;
pub mod fit_share;
pub mod function;
pub mod machine;
pub mod machine_reader;
pub mod machine_writer;
pub mod machines;
pub mod place;
pub mod probes;
pub mod residency;

pub use capacity_profile::CapacityProfile;
pub use device_profile::DeviceProfile;
pub use estimate::{Estimate, Load, estimate};
pub use expr::Expr;
pub use function::{Function, Operation};
pub use machine::Machine;
