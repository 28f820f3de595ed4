//! Packets: a pool of them, batches, annotations, and the trait of a device.
//!
//! A packet is a slot of a [`pool::Pool`]; who has its [`pool::Handle`] owns it. Handles are neither
//! copied nor cloned, so a packet is in one place at a time: in a batch, in a queue, in a ring. Packets
//! share no bytes: a clone is a copy, and every element may write where it stands.
//!
//! Unsafe code is confined to `pool`, `packet` and `cpu`.

pub mod anno;
pub mod batch;
pub mod capture;
pub mod cpu;
pub mod device;
pub mod headers;
pub mod packet;
pub mod parcel;
pub mod pool;
pub mod timestamp;
