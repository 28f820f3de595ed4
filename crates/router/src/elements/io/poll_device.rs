//! Polls an interface for frames.
//!
//! # What it does
//! As `FromDevice` with `BUSY_POLL true` and `SNIFFER false`: it asks without end, and the kernel's
//! own stack does not see the frames where the machine can have it so. `LENGTH`, `QUIET` and the
//! calls at the link's changes, which a kernel's driver would need, have no effect.
//!
//! # Example
//! ```click
//! PollDevice(eth0) -> Counter -> Queue -> ToDevice(eth1)
//! ```

use super::from_device;
use super::shared::adapter::Adapter;
use super::shared::dpdk;
use crate::args::kinds::{INT, UINT};
use crate::args::{Args, Kind, Need, param};
use crate::elements::Entry;
use crate::engine::setup::Setup;

/// The class.
pub static ENTRY: Entry = Entry::new("PollDevice", "polls an interface for frames", || {
    Adapter::of(&from_device::ENTRY, translate)
})
.ports("0/1", "h/h")
.params(&[
    param("DEVNAME", Need::Mandatory, Kind::Text, "", "the interface"),
    param(
        "PROMISC",
        Need::Positional,
        Kind::Bool,
        "false",
        "whether frames to other hosts come too",
    ),
    param("BURST", Need::Positional, INT, "8", "frames of each run"),
    param(
        "TIMESTAMP",
        Need::Keyword,
        Kind::Bool,
        "true",
        "whether packets carry the time they came",
    ),
    param(
        "HEADROOM",
        Need::Keyword,
        UINT,
        "64",
        "bytes free before the frame, at least",
    ),
    dpdk::MAY_LACK,
    param("QUIET", Need::Keyword, Kind::Bool, "false", "no effect"),
    param("LENGTH", Need::Keyword, UINT, "0", "no effect"),
    param("UP_CALL", Need::Keyword, Kind::Raw, "", "no effect"),
    param("DOWN_CALL", Need::Keyword, Kind::Raw, "", "no effect"),
])
.ops("0.5 * driver(frame, calls)");

fn translate(args: &Args, _: &mut Setup) -> Vec<String> {
    vec![
        args.text("DEVNAME").to_owned(),
        format!("PROMISC {}", args.bool("PROMISC")),
        format!("BURST {}", args.int("BURST")),
        format!("TIMESTAMP {}", args.bool("TIMESTAMP")),
        format!("HEADROOM {}", args.uint("HEADROOM")),
        "BUSY_POLL true".to_owned(),
        "SNIFFER false".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, load_with};
    use crate::memory::MemoryDevice;
    use crate::memory::MemoryHost;

    #[test]
    fn frames_come() {
        let host = MemoryHost::new();
        let device = MemoryDevice::new("eth0", std::iter::repeat_n(vec![1; 60], 40));
        let mut memory = host.memory();
        memory.devices.insert("eth0".to_owned(), Box::new(device));
        drop(memory);
        let text = "PollDevice(eth0, true, 8, QUIET true) -> c :: Counter -> Discard";
        let mut run = load_with(&host, text).expect("it is right");
        run.run(0.1);
        assert_eq!(run.read("c.count"), "40");
        let said = errors("PollDevice(eth0, BURST 0) -> Discard");
        assert!(said.contains("BURST out of range"), "{said}");
    }
}
