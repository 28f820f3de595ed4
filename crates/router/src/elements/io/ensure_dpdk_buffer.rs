//! Passes packets on as they are: every buffer is of one kind here.
//!
//! # What it does
//! Where DPDK is, it copies packets into DPDK's buffers. Here `EXTRA_HEADROOM` alone has an effect:
//! that many bytes are free before the packet.
//!
//! # Example
//! ```click
//! FromDump(a.pcap) -> EnsureDPDKBuffer -> ToDPDKDevice(0)
//! ```

use crate::args::kinds::U16;
use crate::args::{Args, Kind, flag, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("EnsureDPDKBuffer", "passes packets on", || {
    Box::<EnsureDpdkBuffer>::default()
})
.params(&[
    positional(
        "FORCE_COPY",
        Kind::Bool,
        "false",
        "whether every packet is copied; it has no effect here",
    ),
    positional(
        "EXTRA_HEADROOM",
        U16,
        "0",
        "bytes that are free before the packet, at least",
    ),
    flag(
        "FAIL",
        "false",
        "whether a copy is a fault; it has no effect here",
    ),
])
.ops("work(4)");

#[derive(Debug, Default)]
struct EnsureDpdkBuffer {
    headroom: usize,
}

/// The most headroom that is made: a page's.
const MOST_HEADROOM: u64 = 4096;

impl Element for EnsureDpdkBuffer {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let wanted = args.uint("EXTRA_HEADROOM");
        if wanted > MOST_HEADROOM {
            return Err(Diagnostics::of("EXTRA_HEADROOM out of range, bound 4096"));
        }
        self.headroom = wanted as usize;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        if self.headroom == 0 {
            return;
        }
        let pool = ctx.pool();
        for handle in batch.iter() {
            let packet = &mut pool[handle];
            if packet.headroom() < self.headroom {
                packet.set_headroom(self.headroom);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn packets_pass_with_room_before_them() {
        let mut probe = Probe::new("EnsureDPDKBuffer(false, 300)", 1);
        let mut seen = 0;
        probe.send_and_look(
            b"abcd",
            |_| (),
            |port, packet| {
                assert_eq!((port, packet.data()), (0, &b"abcd"[..]));
                assert!(packet.headroom() >= 300);
                seen += 1;
            },
        );
        assert_eq!(seen, 1);
        assert_eq!(
            Probe::new("EnsureDPDKBuffer", 1).send(b"ab"),
            [(0, b"ab".to_vec())]
        );
    }
}
