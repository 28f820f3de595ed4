//! A switch that learns, with an output that sees every packet.
//!
//! # What it does
//! As `EtherSwitch`; the last output, beyond those that belong to inputs, gets a copy of all.
//!
//! # Example
//! ```click
//! // A switch whose last output has a copy of every frame.
//! s :: ListenEtherSwitch;
//! FromDevice(eth0, PROMISC true) -> [0] s; s[0] -> Queue -> ToDevice(eth0);
//! FromDevice(eth1, PROMISC true) -> [1] s; s[1] -> Queue -> ToDevice(eth1);
//! s[2] -> ToDump(b.pcap)
//! ```
//!
//! # References
//! IEEE 802.1D.

use super::shared::learning_switch::{self, Switch};
use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::study::Study;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::pool::Pool;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ListenEtherSwitch",
    "a switch that learns, with a port to listen",
    || Box::<ListenEtherSwitch>::default(),
)
.ports("-/=+", "h/h")
.flow("#/[^#]")
.references(&["IEEE 802.1D"])
.params(&[learning_switch::TIMEOUT])
.ops(
    "parse(14); ct_insertion(1, 16, 3 * entries, 0) by 8; \
     ht_lookup(1, 16, 3 * destinations, 0) by 8; copy(frame); work(300)",
);

#[derive(Debug, Default)]
struct ListenEtherSwitch {
    switch: Switch,
}

impl Element for ListenEtherSwitch {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.switch.configure(args, setup.inputs.len(), true)
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, batch: Batch) {
        self.switch.forward(ctx, port, batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        Switch::handlers()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(self.switch.read(name))
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.switch.write(value)
    }

    fn study(&self, pool: &Pool, batch: &Packets, study: &mut Study) {
        Switch::study(pool, batch, study);
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        self.switch.quantities()
    }
}
