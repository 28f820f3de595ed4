//! Sets the bits for explicit congestion notification of IPv4 packets.
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> SetIPECN(ect1) -> Discard
//! ```
//!
//! # References
//! RFC 3168.

use crate::args::{Args, Kind, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet::set_tos;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("SetIPECN", "sets the ECN bits", || {
    Box::<SetIpEcn>::default()
})
.references(&["RFC 3168"])
.live()
.params(&[mandatory(
    "ECN",
    Kind::Raw,
    "0 to 3, `no`, `ect1`, `ect2`, `ce`",
)])
.ops("parse(2); inc_checksum(2); deparse(3); work(40)");

#[derive(Debug, Default)]
struct SetIpEcn {
    ecn: u8,
    text: String,
}

/// The words for each value.
const WORDS: [&[&str]; 4] = [
    &["0", "no", "-"],
    &["1", "ect1", "ECT(1)"],
    &["2", "ect2", "ECT(0)"],
    &["3", "ce", "CE"],
];

impl SetIpEcn {
    fn set(&mut self, text: &str) -> Result<(), &'static str> {
        let found = (0..).zip(WORDS).find(|(_, words)| words.contains(&text));
        self.ecn = found.ok_or("bad ECN argument")?.0;
        self.text = text.to_owned();
        Ok(())
    }
}

impl Element for SetIpEcn {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.set(args.text("ECN")).map_err(|why| {
            let mut said = Diagnostics::new();
            said.error(None, why);
            said
        })
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        let pool = ctx.pool();
        for packet in batch.iter() {
            set_tos(&mut pool[packet], |old| old & !3 | self.ecn);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("ecn", "rw.")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.text.clone())
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.set(value.trim()).map_err(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::{Probe, udp};

    #[test]
    fn each_word_has_its_value() {
        for (word, value) in [("no", 0), ("ect1", 1), ("ECT(0)", 2), ("3", 3)] {
            let left = Probe::new(&format!("SetIPECN({word})"), 1).send_ip(&udp(9, b""));
            assert_eq!(left[0].1[1], value);
            assert_eq!(
                trammel_packet::headers::checksum::checksum(&left[0].1[..20]),
                0
            );
        }
        assert!(errors("Idle -> SetIPECN(4) -> Idle").contains("bad ECN argument"));
    }
}
