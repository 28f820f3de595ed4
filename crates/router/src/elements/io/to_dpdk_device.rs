//! Sends frames to an interface that another router had as a DPDK port.
//!
//! # What it does
//! As `ToDevice`, by AF_XDP where the machine has it and by AF_PACKET otherwise: there is no DPDK
//! here. A `PORT` that is a number *N* means the interface called `dpdkN`, which may be an
//! alternative name. Keywords of DPDK's own are taken and have no effect.
//!
//! # Example
//! ```click
//! FromDPDKDevice(0) -> Queue -> ToDPDKDevice(1, BLOCKING false)
//! ```

use super::shared::adapter::Adapter;
use super::shared::dpdk;
use super::to_device;
use crate::args::{Args, flag, positional};
use crate::elements::Entry;
use crate::engine::setup::Setup;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ToDPDKDevice",
    "sends frames to an interface, with DPDK's arguments",
    || Adapter::of(&to_device::ENTRY, translate),
)
.ports("1/0-2", "a/h")
.params(&[
    dpdk::PORT,
    dpdk::QUEUE,
    positional(
        "N_QUEUES",
        crate::args::kinds::INT,
        "-1",
        "how many queues; they are one",
    ),
    flag(
        "BLOCKING",
        "true",
        "whether it waits for room; the device's ring decides here",
    ),
    dpdk::BURST,
    dpdk::NDESC,
    dpdk::MAY_LACK,
    dpdk::OTHERS,
    dpdk::PLACES,
])
.ops("0.5 * driver(frame, calls)");

fn translate(args: &Args, setup: &mut Setup) -> Vec<String> {
    vec![dpdk::interface(args, setup)]
}

#[cfg(test)]
mod tests {
    use crate::load::testing::load_with;
    use crate::memory::MemoryDevice;
    use crate::memory::MemoryHost;

    #[test]
    fn it_sends_by_the_interface_of_its_number() {
        let host = MemoryHost::new();
        let device = MemoryDevice::new("dpdk1", std::iter::empty());
        let mut memory = host.memory();
        memory.devices.insert("dpdk1".to_owned(), Box::new(device));
        drop(memory);
        let text =
            "InfiniteSource(LIMIT 5) -> x :: ToDPDKDevice(1, BLOCKING true, TCO 1, IQUEUE 1024)";
        let mut run = load_with(&host, text).expect("it is right");
        run.run(0.1);
        let x = run.ctx.find("x", None).expect("it is declared");
        let counters = run.ctx.counters(x);
        assert_eq!(
            (counters.packets, counters.drops.iter().sum::<u64>()),
            (5, 0)
        );
    }
}
