//! Accepts DPDK's memory parameters.
//!
//! # What it does
//! Nothing: there is no DPDK here, whose buffers it would size. Packets have one pool, which grows.
//!
//! # Example
//! ```click
//! DPDKInfo(NB_MBUF 65536, MBUF_SIZE 4096); FromDPDKDevice(0) -> Discard
//! ```

use super::shared::dpdk;
use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::Element;
use crate::engine::element::PHASE_INFO;
use crate::engine::setup::Setup;

/// The class.
pub static ENTRY: Entry = Entry::new("DPDKInfo", "accepts DPDK's parameters", || {
    Box::<DpdkInfo>::default()
})
.ports("0/0", "a/a")
.phase(PHASE_INFO)
.params(&[dpdk::OTHERS, dpdk::PLACES]);

#[derive(Debug, Default)]
struct DpdkInfo;

impl Element for DpdkInfo {
    fn configure(&mut self, setup: &mut Setup, _: &Args) -> Result<(), Diagnostics> {
        let text = "there is no DPDK here: its parameters have no effect";
        setup.notes.push(text.to_owned());
        Ok(())
    }
}
