//! The subscribers of a broadband network gateway: QinQ tags on one side, GRE keys on the other.
//!
//! # What it does
//! A frame at input 0 comes from the access network with a service and a customer tag, which
//! together name a subscriber. Its IP packet leaves output 0 with the subscriber's key in the
//! annotation `AGGREGATE`, and where its source address was seen (tags and Ethernet address) is
//! learnt. A packet at input 1, whose annotation has the key, leaves output 1 in a frame to where
//! its destination was learnt. What belongs to nobody ends.
//!
//! # Example
//! ```click
//! // Two subscribers: outer tag, inner tag, key of the tunnel.
//! g :: SubscriberGateway(2:0:0:0:0:1, 7 100 4711, 7 101 4712);
//! FromDevice(eth0) -> [0] g; FromDevice(eth1) -> Strip(14) -> CheckIPHeader -> [1] g;
//! g[0] -> Discard; g[1] -> Discard
//! ```
//!
//! # References
//! Sapio et al. 2016, §3.2; IEEE 802.1ad.

use crate::args::numbers::parse_uint;
use crate::args::text::split_words;
use crate::args::{Args, Kind, Need, keyword, mandatory, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use std::collections::HashMap;
use trammel_packet::anno;
use trammel_packet::batch::Batch;
use trammel_packet::headers::ether::{Ether, ethertype};
use trammel_packet::headers::ipv4::Ipv4;
use trammel_packet::headers::vlan::VID_MASK;
use trammel_packet::packet::Packet;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "SubscriberGateway",
    "joins QinQ tags and GRE keys of subscribers",
    || Box::<SubscriberGateway>::default(),
)
.ports("2/2", "h/h")
.flow("#/#")
.references(&["Sapio et al. 2016", "IEEE 802.1ad"])
.params(&[
    mandatory(
        "ETH",
        Kind::Ether,
        "the gateway's address in the access network",
    ),
    keyword(
        "LIMIT",
        crate::args::kinds::UINT,
        "65536",
        "addresses that may be learnt",
    ),
    param("SUBSCRIBERS", Need::Rest, Kind::Raw, "", "`SVID CVID KEY`"),
])
.ops(
    "parse(42); 0.5 * ht_lookup(1, 8, 2 * rules, 0) by 4; \
     ht_lookup(2, 20, 2 * entries, 0) by 4; 0.5 * deparse(22); work(300)",
);

/// Bytes of addresses, two tags and type.
const FRAME_LEN: usize = Ether::LEN + 8;

/// Where an address of a subscriber was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    ether: [u8; 6],
    svid: u16,
    cvid: u16,
}

#[derive(Debug, Default)]
struct SubscriberGateway {
    ether: [u8; 6],
    limit: usize,
    keys: HashMap<(u16, u16), u32>,
    places: HashMap<(u32, [u8; 4]), Place>,
}

fn parse(text: &str) -> Option<((u16, u16), u32)> {
    let words = split_words(text);
    let [svid, cvid, key] = &words[..] else {
        return None;
    };
    let number = |text: &str, max: u64| parse_uint(text, max).ok();
    let vid = |text: &str| number(text, u64::from(VID_MASK)).map(|vid| vid as u16);
    Some((
        (vid(svid)?, vid(cvid)?),
        number(key, u64::from(u32::MAX))? as u32,
    ))
}

impl SubscriberGateway {
    /// Takes the frame off; the packet's key is noted and its source learnt.
    fn upstream(&mut self, packet: &mut Packet) -> Result<(), Reason> {
        let frame = packet
            .data()
            .first_chunk::<FRAME_LEN>()
            .ok_or(Reason::TooShort)?;
        let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
        let is_qinq = matches!(word(12), ethertype::QINQ | ethertype::VLAN);
        if !is_qinq || word(16) != ethertype::VLAN || word(20) != ethertype::IP {
            return Err(Reason::BadHeader);
        }
        let (svid, cvid) = (word(14) & VID_MASK, word(18) & VID_MASK);
        let key = *self.keys.get(&(svid, cvid)).ok_or(Reason::NoMapping)?;
        let mut ether = [0; 6];
        ether.copy_from_slice(&frame[6..12]);
        let ip = Ipv4::read(&packet.data()[FRAME_LEN..]).ok_or(Reason::TooShort)?;
        let (at, place) = ((key, ip.src), Place { ether, svid, cvid });
        if self.places.get(&at) != Some(&place) {
            if self.places.len() >= self.limit && !self.places.contains_key(&at) {
                return Err(Reason::TableFull);
            }
            self.places.insert(at, place);
        }
        packet.pull(FRAME_LEN);
        packet.set_anno_u32(anno::AGGREGATE, key);
        Ok(())
    }

    /// Puts the packet into a frame to where its destination was learnt.
    fn to_access(&self, packet: &mut Packet) -> Result<(), Reason> {
        let ip = Ipv4::read(packet.data()).ok_or(Reason::TooShort)?;
        let at = (packet.anno_u32(anno::AGGREGATE), ip.dst);
        let place = self.places.get(&at).ok_or(Reason::NoMapping)?;
        let frame = packet.push(FRAME_LEN);
        frame[..6].copy_from_slice(&place.ether);
        frame[6..12].copy_from_slice(&self.ether);
        let words = [
            ethertype::QINQ,
            place.svid,
            ethertype::VLAN,
            place.cvid,
            ethertype::IP,
        ];
        for (bytes, word) in frame[12..].chunks_exact_mut(2).zip(words) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        packet.set_mac_header(0);
        Ok(())
    }
}

impl Element for SubscriberGateway {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        self.ether = args.ether("ETH").0;
        self.limit = args.uint("LIMIT") as usize;
        for text in args.rest() {
            match parse(text) {
                Some((tags, key)) => drop(self.keys.insert(tags, key)),
                None => said.error(None, format!("'{text}' should be SVID CVID KEY")),
            }
        }
        if said.has_errors() { Err(said) } else { Ok(()) }
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, mut batch: Batch) {
        batch.filter(|h| {
            let packet = &mut ctx.pool()[&h];
            let done = match port {
                0 => self.upstream(packet),
                _ => self.to_access(packet),
            };
            if let Err(reason) = done {
                ctx.drop(h, reason);
                return None;
            }
            Some(h)
        });
        ctx.emit_all(port, batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("count", "r"),
            Handler::new("add", "w"),
            Handler::new("remove", "w"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        Ok(self.places.len().to_string())
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let (tags, key) = parse(value).ok_or("expected SVID CVID KEY")?;
        if name == "add" {
            self.keys.insert(tags, key);
        } else if self.keys.get(&tags) == Some(&key) {
            self.keys.remove(&tags);
            self.places.retain(|at, _| at.0 != key);
        } else {
            return Err("no such subscriber".to_owned());
        }
        Ok(())
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        let (rules, entries) = (self.keys.len(), self.places.len());
        vec![("rules", rules as f64), ("entries", entries as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;
    use crate::probe::udp;
    use trammel_packet::anno;

    #[test]
    fn the_way_back_is_learnt() {
        let mut run = loaded(
            "x :: SubscriberGateway(2:0:0:0:0:1, 7 100 4711); Idle -> x -> Idle; Idle -> [1]x[1] \
             -> Idle;",
        );
        let id = run.ctx.find("x", None).expect("declared");
        let ip = udp(9, b"x");
        let front = b"\x02\x00\x00\x00\x00\x01\x02\x09\x09\x09\x09\x09\
            \x88\xA8\x00\x07\x81\x00\x00\x64\x08\x00";
        let up = [front.as_slice(), &ip].concat();
        let mut back = ip.clone();
        back[12..16].copy_from_slice(&ip[16..20]);
        back[16..20].copy_from_slice(&ip[12..16]);
        let mut send = |port, data: &[u8], key| {
            let h = run.ctx.pool().alloc_with(data).expect("room");
            run.ctx.pool()[&h].set_anno_u32(anno::AGGREGATE, key);
            let mut left = None;
            for (port, h) in run.ctx.pass_to(id, port, vec![h]) {
                let packet = &run.ctx.pool()[&h];
                left = Some((
                    port,
                    packet.data().to_vec(),
                    packet.anno_u32(anno::AGGREGATE),
                ));
                run.ctx.pool().free(h);
            }
            assert_eq!(run.ctx.pool().in_use(), 0);
            left
        };
        assert_eq!(send(1, &back, 4711), None);
        assert_eq!(send(0, &up, 0), Some((0, ip.clone(), 4711)));
        let mut down = [front.as_slice(), &back].concat();
        down[..6].copy_from_slice(&front[6..12]);
        down[6..12].copy_from_slice(&front[..6]);
        assert_eq!(send(1, &back, 4711), Some((1, down, 4711)));
        assert_eq!(send(1, &back, 4712), None);
        for len in 0..42 {
            assert_eq!(send(0, &up[..len], 0), None);
        }
    }
}
