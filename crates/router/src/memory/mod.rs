//! A machine and devices in memory: for tests, and for runs that must touch nothing.

mod device;
mod host;

pub use device::{MemoryDevice, Sent};
pub use host::{LISTENER, Memory, MemoryHost, Wire};
