//! Prints a line about each IPv6 packet.
//!
//! # What it does
//! Addresses, length, next header and hop limit; with `CONTENTS`, the bytes of the packet as well.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIP6Header -> IP6Print(in) -> Discard
//! ```

use crate::args::addresses::unparse_ip6;
use crate::args::kinds::UINT;
use crate::args::{Args, Kind, flag, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::headers::ip6_packet;
use std::fmt::{self, Write as _};
use trammel_packet::batch::Packets;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new("IP6Print", "prints a line about each IPv6 packet", || {
    Box::<Ip6Print>::default()
})
.params(&[
    positional("LABEL", Kind::Text, "", "what each line begins with"),
    flag(
        "CONTENTS",
        "false",
        "whether the packet's bytes are printed",
    ),
    keyword("NBYTES", UINT, "1500", "how many of them at most"),
])
.ops("parse(40); work(300 * length + 6000)");

/// Bytes in a line.
const LINE: usize = 24;

#[derive(Debug, Default)]
struct Ip6Print {
    label: String,
    contents: bool,
    bytes: usize,
}

impl Ip6Print {
    fn describe(&self, text: &mut String, packet: &Packet) -> fmt::Result {
        if !self.label.is_empty() {
            write!(text, "{}: ", self.label)?;
        }
        match ip6_packet::header(packet) {
            Some(ip) => writeln!(
                text,
                "{} -> {} plen {}, next {}, hlim {}",
                unparse_ip6(ip.src.into()),
                unparse_ip6(ip.dst.into()),
                ip.payload_length,
                ip.next_header,
                ip.hop_limit
            )?,
            // Click reads what is not there.
            None => writeln!(text, "(Not an IP6 packet)")?,
        }
        if self.contents {
            text.push_str("  ");
            for (at, byte) in packet.data().iter().take(self.bytes).enumerate() {
                write!(text, "{byte:02x}")?;
                if at % LINE == LINE - 1 {
                    text.push_str("\n  ");
                } else if at % 4 == 3 {
                    text.push(' ');
                }
            }
            text.push('\n');
        }
        Ok(())
    }
}

impl Element for Ip6Print {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.label = args.text("LABEL").to_owned();
        self.contents = args.bool("CONTENTS");
        self.bytes = args.uint("NBYTES") as usize;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for handle in batch.iter() {
            let mut text = String::new();
            self.describe(&mut text, &ctx.pool()[handle])
                .expect("a string takes any text");
            ctx.host().say(&text);
        }
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        let length = if self.contents { self.bytes } else { 0 };
        vec![("length", length as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::headers::ip6_packet::mark;
    use crate::probe::Probe;

    #[test]
    fn addresses_and_bytes_are_printed() {
        let mut packet = vec![0x60, 0, 0, 0, 0, 8, 17, 64, 0x20, 1];
        packet.resize(23, 0);
        packet.extend([1, 0xFE, 0x80]);
        packet.resize(38, 0);
        packet.extend([1, 2, 0, 1, 0, 2, 0, 8, 0, 0]);
        let mut probe = Probe::new("IP6Print(hi, CONTENTS true, NBYTES 30)", 1);
        assert_eq!(probe.send_with(&packet, |p| mark(p, 0)).len(), 1);
        let expected = "hi: 2001::1 -> fe80::102 plen 8, next 17, hlim 64\n  60000000 00081140 \
            20010000 00000000 00000000 00000001\n  fe800000 0000\n";
        assert_eq!(probe.said(), expected);
        probe.send(b"short");
        assert_eq!(
            probe.said()[expected.len()..],
            *"hi: (Not an IP6 packet)\n  73686f72 74\n"
        );
    }
}
