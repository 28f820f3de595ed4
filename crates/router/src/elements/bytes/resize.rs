//! Adds bytes to packets at the front and the end, or removes them.
//!
//! # Example
//! ```click
//! // Four bytes are taken off the front.
//! FromDump(a.pcap, STOP true) -> Resize(-4) -> Discard
//! ```

use crate::args::kinds::INT;
use crate::args::numbers::parse_int;
use crate::args::packet_length::{MOST, within_most};
use crate::args::{Args, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("Resize", "adds or removes bytes at both ends", || {
    Box::<Resize>::default()
})
.live()
.params(&[
    positional(
        "HEAD",
        INT,
        "0",
        "bytes added at the front; removed where negative",
    ),
    positional(
        "TAIL",
        INT,
        "0",
        "bytes added at the end; removed where negative",
    ),
])
.ops("work(55)");

#[derive(Debug, Default)]
struct Resize {
    head: i64,
    tail: i64,
}

impl Element for Resize {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        for (name, field) in [("HEAD", &mut self.head), ("TAIL", &mut self.tail)] {
            *field = args.int(name);
            within_most(name, u64::try_from(*field).unwrap_or(0))?;
        }
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        let (head, tail) = (
            self.head.unsigned_abs() as usize,
            self.tail.unsigned_abs() as usize,
        );
        for packet in batch.iter() {
            let packet = &mut pool[packet];
            if self.head >= 0 {
                packet.push(head);
            } else {
                packet.pull(head);
            }
            if self.tail >= 0 {
                packet.put(tail);
            } else {
                packet.take(tail);
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("head", "rw"), Handler::new("tail", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(if name == "head" { self.head } else { self.tail }.to_string())
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let number = parse_int(value.trim(), i64::from(i32::MIN), MOST as i64);
        let number = number.map_err(|why| why.to_string())?;
        *if name == "head" {
            &mut self.head
        } else {
            &mut self.tail
        } = number;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::probe::Probe;

    #[test]
    fn both_ends_grow_and_shrink() {
        assert_eq!(
            Probe::new("Resize(-1, 2)", 1).send(b"abc"),
            [(0, b"bc\0\0".to_vec())]
        );
        assert_eq!(
            Probe::new("Resize(-9, -9)", 1).send(b"abc"),
            [(0, Vec::new())]
        );
        let left = Probe::new("Resize(3)", 1).send(b"abc");
        assert_eq!((left[0].1.len(), &left[0].1[3..]), (6, &b"abc"[..]));
    }
}
