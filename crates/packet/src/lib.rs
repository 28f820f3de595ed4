#![doc = include_str!("../README.md")]

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

pub use anno::Anno;
pub use batch::Packets;
pub use capture::{Frame, Reader};
pub use device::{Device, DeviceCounters};
pub use packet::Packet;
pub use parcel::Parcel;
pub use pool::{Handle, Pool};
pub use timestamp::Timestamp;
