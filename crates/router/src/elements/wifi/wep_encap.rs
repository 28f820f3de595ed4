//! Encrypts frames with WEP.
//!
//! # What it does
//! Data and the frames of authentication are encrypted where it is active; others pass as they are.
//! WEP protects nobody: use it for networks that have nothing else.
//!
//! # Handlers
//! - `active`, `key`, `keyid`: as the arguments
//!
//! # Example
//! ```click
//! FromDevice(eth0) -> WifiEncap(1, 2:0:0:0:0:1) -> WepEncap("12345", KEYID 0) -> ExtraEncap
//!     -> Queue -> ToDevice(wlan0)
//! ```

use super::shared::wep;
use crate::args::kinds::U8;
use crate::args::numbers::{parse_bool, parse_uint};
use crate::args::{Args, Kind, Param, flag, keyword, positional};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("WepEncap", "encrypts frames with WEP", || {
    Box::<WepEncap>::default()
})
.references(&["IEEE 802.11-2020, §12.3.2"])
.params(&[
    KEY,
    keyword("KEYID", U8, "0", "the key's number"),
    flag("ACTIVE", "true", "whether it encrypts"),
    flag("DEBUG", "false", "has no effect"),
    flag("STRICT", "false", "has no effect"),
])
.ops("parse(24); copy(frame); work(3000)");

/// The secret key, as both elements of WEP take it.
pub(super) const KEY: Param =
    positional("KEY", Kind::Data, "", "the secret key, of 16 bytes at most");

/// The key that the argument gives, or what is wrong with it.
pub(super) fn key(bytes: &[u8]) -> Result<Vec<u8>, Diagnostics> {
    if bytes.len() <= wep::MOST_KEY {
        return Ok(bytes.to_vec());
    }
    let mut said = Diagnostics::new();
    let text = format!(
        "KEY has {} bytes, {} are the most",
        bytes.len(),
        wep::MOST_KEY
    );
    said.error(None, text);
    Err(said)
}

/// A key in hexadecimal digits, as its handler gives it.
pub(super) fn digits(key: &[u8]) -> String {
    let digits: String = key.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("\\<{digits}>")
}

/// A key as it is written to the handler.
pub(super) fn written(value: &str) -> Result<Vec<u8>, String> {
    let bytes = value.trim().trim_matches('"').as_bytes();
    if bytes.len() > wep::MOST_KEY {
        return Err(format!(
            "key has {} bytes, {} are the most",
            bytes.len(),
            wep::MOST_KEY
        ));
    }
    Ok(bytes.to_vec())
}

#[derive(Debug, Default)]
struct WepEncap {
    key: Vec<u8>,
    number: u8,
    active: bool,
}

/// Three bytes that give away the key make no frame: those that Fluhrer, Mantin and Shamir call
/// weak.
fn is_weak(changing: [u8; 3]) -> bool {
    changing[1] == 0xFF && (3..16).contains(&changing[2])
}

impl Element for WepEncap {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.key = key(args.data("KEY"))?;
        self.number = args.uint("KEYID") as u8;
        self.active = args.bool("ACTIVE");
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        if !self.active {
            return;
        }
        for handle in batch.iter() {
            if !wep::is_encrypted_kind(ctx.pool()[handle].data()) {
                continue;
            }
            let [mut one, mut two, mut three] = [0; 3];
            while one == 0 || is_weak([one, two, three]) {
                let [a, b, c, _] = (1 + ctx.rng().below(0xFF_FFFF) as u32).to_le_bytes();
                (one, two, three) = (a.max(1), b, c);
            }
            wep::encrypt(
                &mut ctx.pool()[handle],
                &self.key,
                self.number,
                [one, two, three],
            );
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("active", "rw"),
            Handler::new("key", "rw"),
            Handler::new("keyid", "rw"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "active" => self.active.to_string(),
            "key" => digits(&self.key),
            _ => self.number.to_string(),
        })
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        match name {
            "active" => {
                let active = parse_bool(value.trim());
                self.active = active.map_err(|_| "active parameter must be boolean")?;
            }
            "key" => self.key = written(value)?,
            _ => {
                let number = parse_uint(value.trim(), 255);
                self.number = number.map_err(|_| "keyid parameter must be unsigned")? as u8;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::testing::frame;
    use crate::load::testing::errors;
    use crate::probe::Probe;

    #[test]
    fn what_one_encrypts_the_other_decrypts() {
        let plain = frame(1, 0, b"a payload that nobody shall read");
        let mut encap = Probe::new("WepEncap(\\<0102030405>, KEYID 2)", 1);
        let secret = encap.send(&plain)[0].1.clone();
        assert_eq!(secret.len(), plain.len() + 8);
        assert_eq!((secret[1], secret[27]), (0x41, 2));
        assert!(!secret.windows(7).any(|part| part == b"payload"));
        let mut decap = Probe::new("WepDecap(\\<0102030405>, 2)", 1);
        assert_eq!(decap.send(&secret), [(0, plain.clone())]);
        // Another number, another key, a changed byte: it passes as it came.
        for other in ["WepDecap(\\<0102030405>, 1)", "WepDecap(\\<01020304>, 2)"] {
            assert_eq!(Probe::new(other, 1).send(&secret), [(0, secret.clone())]);
        }
        let mut changed = secret.clone();
        changed[40] ^= 1;
        assert_eq!(decap.send(&changed), [(0, changed)]);
        for len in 0..secret.len() {
            decap.send(&secret[..len]);
            encap.send(&plain[..len.min(plain.len())]);
        }
        assert_eq!(encap.held() + decap.held(), 0);
    }

    #[test]
    fn what_is_no_data_passes_and_so_does_all_where_it_is_not_active() {
        let mut beacon = frame(0, 0, b"x");
        beacon[0] = 0x80;
        let mut probe = Probe::new("WepEncap(abc)", 1);
        assert_eq!(probe.send(&beacon), [(0, beacon.clone())]);
        probe.run.write("x.active", "false").expect("right");
        let data = frame(0, 0, b"x");
        assert_eq!(probe.send(&data), [(0, data)]);
        assert_eq!(probe.run.read("x.key"), "\\<616263>");
        let said = errors("Idle -> WepEncap(12345678901234567) -> Discard");
        assert!(said.contains("KEY has 17 bytes, 16 are the most"), "{said}");
    }
}
