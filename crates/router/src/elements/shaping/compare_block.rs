//! Sends packets of flows with traffic mostly in one direction to output 1.
//!
//! # What it does
//! By the annotations FWD_RATE and REV_RATE, as `IPRateMonitor` sets them: where either is above
//! `THRESH` and FWD_WEIGHT · forward > REV_WEIGHT · reverse, the packet leaves by output 1, else by
//! output 0.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPRateMonitor(PACKETS, 1, 100)
//!     -> b :: CompareBlock(1, 8, 1000) -> Discard; b[1] -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::numbers::parse_int;
use crate::args::{Args, Param, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::anno;
use trammel_packet::batch::Batch;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "CompareBlock",
    "separates flows with traffic mostly in one direction",
    || Box::<CompareBlock>::default(),
)
.ports("1/2", "h/h")
.params(&[
    number("FWD_WEIGHT", "weight of the forward rate"),
    number("REV_WEIGHT", "weight of the reverse rate"),
    number("THRESH", "rate above which they are compared"),
])
.ops("work(90)");

const fn number(name: &'static str, help: &'static str) -> Param {
    mandatory(name, INT, help)
}

#[derive(Debug, Default)]
struct CompareBlock {
    forward_weight: i64,
    reverse_weight: i64,
    threshold: i64,
}

impl Element for CompareBlock {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.forward_weight = args.int("FWD_WEIGHT");
        self.reverse_weight = args.int("REV_WEIGHT");
        self.threshold = args.int("THRESH");
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        for handle in batch.drain() {
            let packet = &ctx.pool()[&handle];
            let rate = |annotation| i64::from(packet.anno_u32(annotation) as i32).max(1);
            let (forward, reverse) = (rate(anno::FWD_RATE), rate(anno::REV_RATE));
            let is_busy = forward > self.threshold || reverse > self.threshold;
            let is_one_way = self.forward_weight * forward > self.reverse_weight * reverse;
            ctx.emit(usize::from(is_busy && is_one_way), handle);
        }
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("fwd_weight", "rw"),
            Handler::new("rev_weight", "rw"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "fwd_weight" => self.forward_weight.to_string(),
            _ => self.reverse_weight.to_string(),
        })
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let weight = parse_int(value.trim(), i64::from(i32::MIN), i64::from(i32::MAX));
        let weight = weight.map_err(|_| "weight must be an integer".to_owned())?;
        match name {
            "fwd_weight" => self.forward_weight = weight,
            _ => self.reverse_weight = weight,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;
    use trammel_packet::anno;

    #[test]
    fn busy_one_way_flows_leave_by_output_1() {
        let mut probe = Probe::new("CompareBlock(5, 2, 100)", 2);
        let mut output = |forward, reverse| {
            let left = probe.send_with(b"x", |packet| {
                packet.set_anno_u32(anno::FWD_RATE, forward);
                packet.set_anno_u32(anno::REV_RATE, reverse);
            });
            left[0].0
        };
        assert_eq!(output(101, 101), 1);
        assert_eq!(output(100, 100), 0);
        assert_eq!(output(40, 101), 0);
        assert_eq!(output(41, 101), 1);
        assert_eq!(output(101, u32::MAX), 1);
        probe.run.write("x.rev_weight", "9").expect("it is one");
        assert_eq!(probe.run.read("x.rev_weight"), "9");
    }
}
