//! Decrypts WEP frames.
//!
//! # What it does
//! Frames that are not encrypted, or with a key of another number, pass as they are; so do those
//! whose checksum is wrong, which are told.
//!
//! # Handlers
//! - `key`, `keyid`: as the arguments
//!
//! # Example
//! ```click
//! FromDevice(wlan0) -> ExtraDecap -> Classifier(0/08%0c) -> WepDecap("12345", 0) -> WifiDecap
//!     -> Discard
//! ```

use super::shared::wep;
use super::wep_encap::{KEY, digits, key, written};
use crate::args::kinds::U8;
use crate::args::numbers::parse_uint;
use crate::args::{Args, flag, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("WepDecap", "decrypts WEP frames", || {
    Box::<WepDecap>::default()
})
.references(&["IEEE 802.11-2020, §12.3.2"])
.params(&[
    KEY,
    positional("KEYID", U8, "0", "the key's number"),
    flag("DEBUG", "false", "has no effect"),
    flag("STRICT", "false", "has no effect"),
])
.ops("parse(24); copy(frame); work(3000)");

#[derive(Debug, Default)]
struct WepDecap {
    key: Vec<u8>,
    number: u8,
}

impl Element for WepDecap {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.key = key(args.data("KEY"))?;
        self.number = args.uint("KEYID") as u8;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        for handle in batch.iter() {
            let packet = &mut ctx.pool()[handle];
            if wep::decrypt(packet, &self.key, self.number) == Some(false) {
                let text = format!("crc failed keyid {}\n", self.number);
                ctx.host().say(&text);
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("key", "rw"), Handler::new("keyid", "rw")]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "key" => digits(&self.key),
            _ => self.number.to_string(),
        })
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        if name == "key" {
            self.key = written(value)?;
        } else {
            let number = parse_uint(value.trim(), 255);
            self.number = number.map_err(|_| "keyid parameter must be unsigned")? as u8;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::testing::frame;
    use crate::probe::Probe;

    #[test]
    fn a_wrong_key_is_told_and_changes_nothing() {
        let secret = Probe::new("WepEncap(right)", 1).send(&frame(0, 0, b"data"))[0]
            .1
            .clone();
        let mut probe = Probe::new("WepDecap(wrong)", 1);
        assert_eq!(probe.send(&secret), [(0, secret.clone())]);
        assert_eq!(probe.said(), "crc failed keyid 0\n");
        probe.run.write("x.key", "right").expect("right");
        assert_eq!(probe.send(&secret), [(0, frame(0, 0, b"data"))]);
    }
}
