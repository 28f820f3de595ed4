//! Diverts packets whose annotated rate is too high.
//!
//! # What it does
//! A packet with more in the annotation FWD_RATE than `THRESH` leaves by output 1, any other by
//! output 0. A threshold of 0 lets all pass.
//!
//! # Example
//! ```click
//! // Packets whose rate of failed connections is above 100 leave by output 1.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPRateMonitor(PACKETS, 0.5, 256)
//!     -> b :: Block(100) -> Discard; b[1] -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::numbers::parse_int;
use crate::args::{Args, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::anno;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("Block", "diverts packets of flows with a high rate", || {
    Box::<Block>::default()
})
.ports("1/2", "h/h")
.live()
.params(&[mandatory(
    "THRESH",
    INT,
    "the highest annotation that passes; 0 lets all pass",
)])
.ops("work(20)");

#[derive(Debug, Default)]
struct Block {
    threshold: i64,
}

impl Element for Block {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.threshold = args.int("THRESH");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        if self.threshold == 0 {
            return;
        }
        batch.filter(|packet| {
            // The annotation counts as a number with a sign.
            let rate = ctx.pool()[&packet].anno_u32(anno::FWD_RATE) as i32;
            if i64::from(rate) <= self.threshold {
                return Some(packet);
            }
            ctx.emit(1, packet);
            None
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("thresh", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.threshold.to_string())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let number = parse_int(value.trim(), i64::from(i32::MIN), i64::from(i32::MAX));
        self.threshold = number.map_err(|_| "not an integer".to_owned())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn a_high_annotation_blocks_unless_the_threshold_is_nothing() {
        let mut run = loaded(
            "i :: InfiniteSource(LIMIT 2) -> b :: Block(5) -> a :: Counter -> Discard;
             i2 :: InfiniteSource(LIMIT 3) -> SetAnnoByte(20, 6) -> b; b [1] -> c :: Counter \
             -> Discard;",
        );
        run.run(0.1);
        assert_eq!(
            (run.read("a.count"), run.read("c.count")),
            ("2".into(), "3".into())
        );
        run.write("b.thresh", "0").expect("a number");
        run.write("i2.reset", "").expect("a button");
        run.run(0.1);
        assert_eq!(
            (run.read("a.count"), run.read("c.count")),
            ("5".into(), "3".into())
        );
    }
}
