//! Paints packets with a colour.
//!
//! # What it does
//! Sets the paint annotation of each packet.
//!
//! # Example
//! ```click
//! // The colour tells later elements which interface a packet came by.
//! FromDevice(eth0) -> Paint(1) -> s :: PaintSwitch; FromDevice(eth1) -> Paint(2) -> s;
//! s[0] -> Discard; s[1] -> Print(eth0) -> Discard; s[2] -> Print(eth1) -> Discard
//! ```

use crate::args::kinds::U8;
use crate::args::numbers::parse_uint;
use crate::args::{Args, Kind, mandatory, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("Paint", "paints packets", || Box::<Paint>::default())
    .live()
    .params(&[
        mandatory("COLOR", U8, "the colour, 0 to 255"),
        positional(
            "ANNO",
            Kind::Anno { size: 1 },
            "PAINT",
            "the annotation that holds it",
        ),
    ])
    .ops("work(10)");

#[derive(Debug, Default)]
struct Paint {
    color: u8,
    anno: usize,
}

impl Element for Paint {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.color = args.uint("COLOR") as u8;
        self.anno = usize::from(args.anno("ANNO").offset);
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            pool[packet].annotations_mut()[self.anno] = self.color;
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("color", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.color.to_string())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        let color = parse_uint(value.trim(), 255).map_err(|_| "expected uint8_t".to_owned())?;
        self.color = color as u8;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn packets_carry_the_colour() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 3, STOP true) -> p :: Paint(2) -> s :: PaintSwitch -> Discard; \
             s [1] -> Discard; s [2] -> c :: Counter -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("c.count"), run.read("p.color")),
            ("3".into(), "2".into())
        );
        assert_eq!(run.write("p.color", "256"), Err("expected uint8_t".into()));
    }
}
