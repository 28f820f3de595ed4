//! Lets packets pass up to a length; longer ones leave by output 1, or are dropped.
//!
//! # Example
//! ```click
//! // What is longer than an Ethernet frame may be leaves by output 1.
//! FromDevice(eth0) -> c :: CheckLength(1514) -> Queue -> ToDevice(eth1);
//! c[1] -> Print(long) -> Discard
//! ```

use crate::args::kinds::UINT;
use crate::args::numbers::parse_uint;
use crate::args::{Args, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "CheckLength",
    "separates packets longer than a limit",
    || Box::<CheckLength>::default(),
)
.ports("1/1-2", "a/ah")
.params(&[mandatory("LENGTH", UINT, "the most bytes that pass")])
.ops("work(20)");

#[derive(Debug, Default)]
struct CheckLength {
    most: usize,
}

impl Element for CheckLength {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.most = args.uint("LENGTH") as usize;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|packet| {
            if ctx.pool()[&packet].len() <= self.most {
                return Some(packet);
            }
            ctx.reject(1, packet, Reason::TooBig);
            None
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("length", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.most.to_string())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let most = parse_uint(value.trim(), u64::from(u32::MAX));
        self.most = most.map_err(|why| why.to_string())? as usize;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn long_packets_leave_by_output_1() {
        let mut probe = Probe::new("CheckLength(2)", 2);
        assert_eq!(probe.send(b"ab")[0].0, 0);
        assert_eq!(probe.send(b"abc")[0].0, 1);
        let mut probe = Probe::new("CheckLength(2)", 1);
        assert_eq!(probe.send(b"abc"), []);
        assert_eq!(probe.held(), 0);
    }
}
