//! Sets a byte of the annotations. Paint does the same under a shorter name.
//!
//! # Example
//! ```click
//! // The byte of the annotations that Paint uses too becomes 1.
//! Idle -> SetAnnoByte(PAINT, 1) -> s :: PaintSwitch; s[0] -> Discard; s[1] -> Discard
//! ```

use crate::args::kinds::U8;
use crate::args::numbers::parse_uint;
use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("SetAnnoByte", "sets a byte of the annotations", || {
    Box::<SetAnnoByte>::default()
})
.live()
.params(&[
    mandatory("ANNO", Kind::Anno { size: 1 }, "which byte"),
    mandatory("VALUE", U8, "what it becomes"),
])
.ops("work(11)");

#[derive(Debug, Default)]
struct SetAnnoByte {
    offset: u8,
    value: u8,
}

impl Element for SetAnnoByte {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let advice = "SetAnnoByte(ANNO, VALUE) is obsolete, use Paint(VALUE, ANNO) instead";
        setup.warnings.push(advice.into());
        self.offset = args.anno("ANNO").offset;
        self.value = args.uint("VALUE") as u8;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            if let Some(byte) = pool[packet]
                .annotations_mut()
                .get_mut(usize::from(self.offset))
            {
                *byte = self.value;
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("anno", "r"), Handler::new("value", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(if name == "anno" {
            self.offset
        } else {
            self.value
        }
        .to_string())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.value = parse_uint(value.trim(), 255).map_err(|why| why.to_string())? as u8;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;
    use trammel_packet::anno;

    #[test]
    fn the_byte_is_set() {
        let mut probe = Probe::new("SetAnnoByte(PAINT, 7)", 1);
        let mut seen = Vec::new();
        probe.send_and_look(
            b"",
            |_| (),
            |_, packet| seen.push(packet.anno_u8(anno::PAINT)),
        );
        probe.run.write("x.value", "9").expect("a byte");
        probe.send_and_look(
            b"",
            |_| (),
            |_, packet| seen.push(packet.anno_u8(anno::PAINT)),
        );
        assert_eq!(seen, [7, 9]);
    }
}
