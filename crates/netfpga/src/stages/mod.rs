//! The stages of the data path, working on the bytes of frames. One file each.
//!
//! ```text
//! receive ─> arbiter ─> lookup (ethernet, ip, tables, router) ─> output queues ─> transmit
//! ```
//! A stage knows nothing of time: what each does to a frame, and what it counts, is here; when it
//! does so is the engine's.

pub(crate) mod arbiter;
pub(crate) mod cpu_queue;
pub(crate) mod ethernet;
pub(crate) mod found;
pub(crate) mod identity;
pub(crate) mod ip;
pub(crate) mod lookup;
pub(crate) mod mac_group;
pub(crate) mod output_queues;
pub(crate) mod phy;
pub(crate) mod queue;
pub(crate) mod rate_limiter;
pub(crate) mod router;
pub(crate) mod sram;
pub(crate) mod tables;

pub use ethernet::{Fcs, crc32};
pub use queue::{PORTS, Queue, Queues};
