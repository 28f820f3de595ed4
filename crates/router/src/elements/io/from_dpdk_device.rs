//! Receives frames from an interface that another router had as a DPDK port.
//!
//! # What it does
//! As `FromDevice`, by AF_XDP where the machine has it and by AF_PACKET otherwise: there is no DPDK
//! here. A `PORT` that is a number *N* means the interface called `dpdkN`, which may be an
//! alternative name. Keywords of DPDK's own are taken and have no effect.
//!
//! # Example
//! ```click
//! FromDPDKDevice(0, PROMISC true) -> Counter -> Queue -> ToDPDKDevice(1)
//! ```

use super::from_device;
use super::shared::adapter::Adapter;
use super::shared::dpdk;
use crate::args::kinds::INT;
use crate::args::{Args, flag, positional};
use crate::elements::Entry;
use crate::engine::setup::Setup;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "FromDPDKDevice",
    "receives frames from an interface, with DPDK's arguments",
    || Adapter::of(&from_device::ENTRY, translate),
)
.ports("0/1-2", "h/h")
.params(&[
    dpdk::PORT,
    dpdk::QUEUE,
    positional("N_QUEUES", INT, "-1", "how many queues; they are one"),
    flag("PROMISC", "false", "whether frames to other hosts come too"),
    flag(
        "TIMESTAMP",
        "true",
        "whether packets carry the time they came",
    ),
    dpdk::BURST,
    dpdk::NDESC,
    dpdk::MAY_LACK,
    dpdk::OTHERS,
    dpdk::PLACES,
])
.ops("0.5 * driver(frame, calls)");

fn translate(args: &Args, setup: &mut Setup) -> Vec<String> {
    let mut words = vec![
        dpdk::interface(args, setup),
        format!("PROMISC {}", args.bool("PROMISC")),
        format!("TIMESTAMP {}", args.bool("TIMESTAMP")),
        format!("BURST {}", args.int("BURST")),
    ];
    if args.int("NDESC") > 0 {
        words.push(format!("RING {}", args.int("NDESC")));
    }
    words
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, load_with};
    use crate::memory::MemoryDevice;
    use crate::memory::MemoryHost;

    #[test]
    fn a_port_is_the_interface_of_its_number() {
        let host = MemoryHost::new();
        let device = MemoryDevice::new("dpdk0", std::iter::repeat_n(vec![1; 60], 3));
        let mut memory = host.memory();
        memory.devices.insert("dpdk0".to_owned(), Box::new(device));
        drop(memory);
        let text = "FromDPDKDevice(0, 2, BURST 8, MAXTHREADS 4, RSS_AGGREGATE 1) -> c :: Counter \
            -> Discard";
        let mut run = load_with(&host, text).expect("it is right");
        run.run(0.1);
        assert_eq!(run.read("c.count"), "3");
    }

    #[test]
    fn a_machine_without_it_is_told_and_may_be_allowed() {
        let said = errors("FromDPDKDevice(3) -> Discard");
        assert!(said.contains("no network interface `dpdk3`"), "{said}");
        let host = MemoryHost::new();
        let text = "FromDPDKDevice(3, ALLOW_NONEXISTENT true) -> Discard";
        assert!(load_with(&host, text).is_ok());
        assert!(host.memory().said.contains("it stays idle"));
    }
}
