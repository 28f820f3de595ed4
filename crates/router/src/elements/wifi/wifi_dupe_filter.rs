//! Removes duplicate 802.11 frames.
//!
//! # What it does
//! A frame that its sender marks as sent again, with the number of the last one of that sender
//! (and, of fragments, of one no later), is dropped. Frames to groups, control frames and those
//! shorter than a header pass. Of at most [`MOST`] senders the number is known.
//!
//! # Handlers
//! - `dupes`: frames that were dropped since they came before
//! - `stats`: what is known of each sender
//!
//! # Example
//! ```click
//! FromDevice(mon0) -> FilterPhyErr -> WifiDupeFilter -> Discard
//! ```

use super::shared::wifi::Header;
use crate::args::addresses::EtherAddress;
use crate::args::{Kind, flag, positional};
use crate::elements::Entry;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use std::collections::BTreeMap;
use std::fmt::Write;
use trammel_packet::batch::Packets;

/// The class.
pub static ENTRY: Entry = Entry::new("WifiDupeFilter", "removes duplicate frames", || {
    Box::<WifiDupeFilter>::default()
})
.references(&["IEEE 802.11-2020, §10.3.2.14"])
.params(&[
    positional("TAG", Kind::Text, "", "has no effect"),
    flag("DEBUG", "false", "has no effect"),
])
.ops("parse(24); work(60)");

/// Senders that are known at a time.
pub const MOST: usize = 4096;

#[derive(Clone, Copy, Debug, Default)]
struct Last {
    sequence: u16,
    fragment: u8,
    packets: u64,
    dupes: u64,
}

#[derive(Debug, Default)]
struct WifiDupeFilter {
    senders: BTreeMap<[u8; 6], Last>,
    dupes: u64,
}

impl WifiDupeFilter {
    /// Whether a frame is one that came before; notes it.
    fn is_known(&mut self, header: Header) -> bool {
        let [to, sender, _] = header.addresses;
        if header.is_control() || to[0] & 1 == 1 {
            return false;
        }
        let (sequence, fragment) = (header.sequence(), header.fragment());
        let is_fragment = fragment > 0 || header.has_more();
        match self.senders.get_mut(&sender) {
            Some(last) => {
                last.packets += 1;
                let is_late = !is_fragment || fragment <= last.fragment;
                if header.is_retry() && sequence == last.sequence && is_late {
                    last.dupes += 1;
                    self.dupes += 1;
                    return true;
                }
                (last.sequence, last.fragment) = (sequence, fragment);
            }
            None => {
                if self.senders.len() >= MOST {
                    self.senders.pop_first();
                }
                let first = Last {
                    sequence,
                    fragment,
                    packets: 1,
                    dupes: 0,
                };
                self.senders.insert(sender, first);
            }
        }
        false
    }
}

impl Element for WifiDupeFilter {
    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let header = Header::read(ctx.pool()[&handle].data());
            if header.is_some_and(|header| self.is_known(header)) {
                ctx.drop(handle, Reason::Filtered);
                return None;
            }
            Some(handle)
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("dupes", "r"),
            Handler::new("stats", "r"),
            Handler::new("reset", "wb"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        if name == "dupes" {
            return Ok(self.dupes.to_string());
        }
        let mut text = String::new();
        for (sender, last) in &self.senders {
            let Last {
                sequence,
                fragment,
                packets,
                dupes,
            } = last;
            let sender = EtherAddress(*sender);
            writeln!(
                text,
                "{sender} packets {packets} dupes {dupes} seq {sequence} frag {fragment}"
            )
            .expect("a string takes any text");
        }
        Ok(text)
    }

    fn write(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<(), String> {
        self.senders.clear();
        self.dupes = 0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::elements::wifi::shared::wifi::testing::frame;
    use crate::probe::Probe;

    #[test]
    fn a_repeated_frame_is_kept_back() {
        let mut probe = Probe::new("WifiDupeFilter", 1);
        let mut passes =
            |flags: u8, sequence: u16| probe.send(&frame(flags, sequence << 4, b"x")).len();
        assert_eq!(passes(0, 7), 1);
        assert_eq!(passes(8, 7), 0);
        assert_eq!(passes(0, 7), 1);
        assert_eq!(passes(8, 8), 1);
        assert_eq!(probe.run.read("x.dupes"), "1");
        assert!(
            probe
                .run
                .read("x.stats")
                .contains("packets 4 dupes 1 seq 8")
        );
        // Frames to a group, and those that are too short, pass.
        let mut group = frame(8, 8 << 4, b"x");
        group[4] |= 1;
        assert_eq!(probe.send(&group).len(), 1);
        assert_eq!(probe.send(b"short").len(), 1);
    }
}
