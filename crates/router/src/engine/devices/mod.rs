//! Devices that elements share: `FromDevice` and `ToDevice` of one interface use one.
//!
//! Elements say in `prepare` what they want; wishes for one interface become one device, which the
//! first that opens it opens for all. A device may lie in the packets' own memory, so the pool is
//! made as large as the devices need before the first is opened, when there are no packets yet.

mod access;

use crate::host::DeviceRequest;
use std::io;
use trammel_packet::device::Device;

/// A device of the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceId(usize);

/// Slots that each device's rings may hold, and as many again for packets on their way.
const PACKETS_A_DEVICE: usize = 4096;

/// A device that several elements may use.
#[derive(Debug)]
struct Shared {
    request: DeviceRequest,
    device: Option<Box<dyn Device>>,
    /// Remarks that were said, without their numbers.
    said: Vec<String>,
}

/// All devices.
#[derive(Debug, Default)]
pub(super) struct Devices {
    all: Vec<Shared>,
    is_pool_ready: bool,
}

/// A remark without its numbers: the same remark comes with other numbers later.
fn kind_of(remark: &str) -> String {
    remark.chars().filter(|c| !c.is_ascii_digit()).collect()
}

fn not_open() -> io::Error {
    io::Error::from(io::ErrorKind::NotConnected)
}
