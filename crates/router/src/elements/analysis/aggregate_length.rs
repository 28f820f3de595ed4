//! Sets the aggregate to the length of the packet.
//!
//! # What it does
//! The annotation AGGREGATE becomes the packet's length with what was not captured of it; with `IP`
//! from the IP header on, and packets without one leave by output 1, or end here.
//!
//! # Example
//! ```click
//! // How many packets there are of each length.
//! FromDump(a.pcap, STOP true) -> AggregateLength -> a :: AggregateCounter -> Discard;
//! DriverManager(wait_stop, write a.write_text_file -, stop)
//! ```

use crate::args::{Args, flag};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::anno;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "AggregateLength",
    "sets the aggregate to the length of the packet",
    || Box::<AggregateLength>::default(),
)
.ports("1/1-2", "a/ah")
.params(&[flag(
    "IP",
    "false",
    "whether the length counts from the IP header",
)])
.ops("work(13)");

#[derive(Debug, Default)]
struct AggregateLength {
    ip: bool,
}

impl Element for AggregateLength {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.ip = args.bool("IP");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            if self.ip && !packet.has_network_header() {
                ctx.reject(1, handle, Reason::BadHeader);
                return None;
            }
            let len = if self.ip {
                packet.network_header().len()
            } else {
                packet.len()
            };
            let extra = packet.anno_u32(anno::EXTRA_LENGTH);
            packet.set_anno_u32(anno::AGGREGATE, (len as u32).wrapping_add(extra));
            Some(handle)
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn the_length_counts_what_was_not_captured() {
        let mut run = loaded(
            "FromIPSummaryDump(DATA \"!data ip_src ip_len eth_src\n\
             1.1.1.1 100 00-00-00-00-00-01\", STOP true) \
             -> AggregateLength -> ToIPSummaryDump(-, HEADER false, FIELDS aggregate) \
             -> AggregateLength(IP true) -> ToIPSummaryDump(-, HEADER false, FIELDS aggregate)",
        );
        run.run(1.0);
        assert_eq!(run.host.memory().printed, "114\n100\n");
        let mut run = loaded(
            "InfiniteSource(LIMIT 3, STOP true) -> a :: AggregateLength(IP true) -> Discard; a[1] \
             -> c :: Counter -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("c.count").as_str(), run.ctx.pool().in_use()),
            ("3", 0)
        );
    }
}
