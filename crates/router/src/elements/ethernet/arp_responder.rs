//! Answers ARP requests for given addresses.
//!
//! # What it does
//! A question for an address of one of its prefixes becomes the answer, with the Ethernet address
//! of the longest such prefix. Everything else leaves the second output, if there is one.
//!
//! # Example
//! ```click
//! // It answers for itself and, as a proxy, for a network.
//! FromDevice(eth0) -> c :: Classifier(12/0806 20/0001, -);
//! c[0] -> ARPResponder(10.0.0.1 10.1.0.0/16 2:0:0:0:0:1) -> Queue -> ToDevice(eth0);
//! c[1] -> Discard
//! ```
//!
//! # References
//! RFC 826, RFC 1027.

use crate::args::addresses::{EtherAddress, IpPrefix, parse_ether, parse_ip, parse_ip_prefix};
use crate::args::machine_names::unknown_name;
use crate::args::names::Names;
use crate::args::text::split_words;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::{About, Diagnostics};
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::neighbours::arp::{self, Party};
use crate::reason::Reason;
use std::net::Ipv4Addr;
use trammel_packet::anno;
use trammel_packet::batch::Packets;
use trammel_packet::headers::arp::{OP_REPLY, OP_REQUEST};
use trammel_packet::packet::{Packet, PacketType};
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("ARPResponder", "answers ARP requests", || {
    Box::<ArpResponder>::default()
})
.ports("1/1-2", "a/ah")
.references(&["RFC 826", "RFC 1027"])
.live()
.params(&[param(
    "ENTRIES",
    Need::Rest,
    Kind::Raw,
    "",
    "`IP/MASK [IP/MASK…] ETH`",
)])
.ops("parse(42); deparse(42); work(3 * entries + 75)");

/// A prefix and the address that answers for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answer {
    prefix: IpPrefix,
    ether: [u8; 6],
}

/// Answers, of which one stands before all that cover it.
#[derive(Debug, Default)]
struct ArpResponder {
    answers: Vec<Answer>,
}

/// The answers of one argument.
fn parse(text: &str, names: &dyn Names) -> Result<Vec<Answer>, &'static str> {
    let words = split_words(text);
    let (mut prefixes, mut ether) = (Vec::new(), None);
    for word in &words {
        if let Ok(prefix) = parse_ip_prefix(word, true, names) {
            let address = prefix.address.to_bits() & prefix.mask.to_bits();
            prefixes.push(IpPrefix {
                address: address.into(),
                mask: prefix.mask,
            });
        } else if let Ok(address) = parse_ether(word, names) {
            if ether.replace(address).is_some() {
                return Err("more than one ETH");
            }
        } else {
            return Err("expected IP/MASK ETH");
        }
    }
    // A name may stand for both kinds of address.
    let mut both = words
        .iter()
        .filter_map(|word| parse_ether(word, names).ok());
    let ether = ether.or_else(|| both.next());
    if prefixes.is_empty() {
        return Err("missing IP/MASK");
    }
    let ether = ether.ok_or("missing ETH")?.0;
    let answer = |prefix| Answer { prefix, ether };
    Ok(prefixes.into_iter().map(answer).collect())
}

/// Adds an answer in its place. One for the same prefix is replaced, which is told.
fn add(answers: &mut Vec<Answer>, new: Answer) -> bool {
    if let Some(old) = answers.iter_mut().find(|old| old.prefix == new.prefix) {
        *old = new;
        return true;
    }
    let covers = |old: &Answer| {
        let mask = old.prefix.mask.to_bits();
        new.prefix.mask.to_bits() & mask == mask
            && (new.prefix.address.to_bits() ^ old.prefix.address.to_bits()) & mask == 0
    };
    let at = answers.iter().position(covers).unwrap_or(answers.len());
    answers.insert(at, new);
    false
}

/// `address/length`, or `address/mask` where the mask is no prefix.
fn unparse(prefix: IpPrefix) -> String {
    let mask = prefix.mask.to_bits();
    if mask.leading_ones() == mask.count_ones() {
        format!("{}/{}", prefix.address, mask.count_ones())
    } else {
        format!("{}/{}", prefix.address, prefix.mask)
    }
}

impl ArpResponder {
    fn lookup(&self, ip: [u8; 4]) -> Option<[u8; 6]> {
        let ip = u32::from_be_bytes(ip);
        let found = self.answers.iter().find(|answer| {
            (ip ^ answer.prefix.address.to_bits()) & answer.prefix.mask.to_bits() == 0
        });
        found.map(|answer| answer.ether)
    }

    /// Makes the question in `packet` its answer; says whether it was one that has an answer.
    fn answer(&self, packet: &mut Packet) -> bool {
        let question = arp::read(packet.data()).filter(|arp| arp.op.get() == OP_REQUEST);
        let Some((question, ether)) = question.and_then(|arp| Some((*arp, self.lookup(arp.tpa)?)))
        else {
            return false;
        };
        let me = Party {
            ether,
            ip: question.tpa,
        };
        let them = Party {
            ether: question.sha,
            ip: question.spa,
        };
        let vlan = packet.anno_u16(anno::VLAN_TCI);
        packet.set_data(&arp::frame(them.ether, OP_REPLY, me, them));
        *packet.annotations_mut() = [0; anno::SIZE];
        packet.set_anno_u16(anno::VLAN_TCI, vlan);
        packet.set_timestamp(Timestamp::ZERO);
        packet.set_packet_type(PacketType::Host);
        packet.clear_transport_header();
        arp::mark(packet);
        true
    }
}

impl Element for ArpResponder {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let (mut answers, mut said) = (Vec::new(), Diagnostics::new());
        let mut warnings = Vec::new();
        for (at, text) in args.rest().iter().enumerate() {
            match parse(text, &setup.names()) {
                Ok(more) => {
                    for one in more {
                        if add(&mut answers, one) {
                            let prefix = unparse(one.prefix);
                            warnings.push(format!("multiple entries for {prefix}"));
                        }
                    }
                }
                Err(why) => {
                    let help = unknown_name(Kind::PrefixOrIp, text, &setup.names());
                    let text = format!("argument {at}: {why}");
                    said.error_about(About::Rest(at), text, help);
                }
            }
        }
        if said.has_errors() {
            return Err(said);
        }
        warnings.dedup();
        setup.warnings.extend(warnings);
        self.answers = answers;
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|h| {
            if self.answer(&mut ctx.pool()[&h]) {
                return Some(h);
            }
            ctx.reject(1, h, Reason::NoMatch);
            None
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        [
            ("table", "r"),
            ("lookup", "r+"),
            ("add", "w"),
            ("remove", "w"),
        ]
        .map(|(name, letters)| Handler::new(name, letters))
        .to_vec()
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, parameter: &str) -> Result<String, String> {
        if name == "table" {
            let line = |a: &Answer| format!("{} {}\n", unparse(a.prefix), EtherAddress(a.ether));
            return Ok(self.answers.iter().map(line).collect());
        }
        let ip: Ipv4Addr = parse_ip(parameter.trim(), &ctx.names())
            .map_err(|_| "expected IP address".to_owned())?;
        let found = self.lookup(ip.octets());
        Ok(found.map_or_else(String::new, |ether| EtherAddress(ether).to_string()))
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        if name == "add" {
            for one in parse(value, &ctx.names())? {
                add(&mut self.answers, one);
            }
            return Ok(());
        }
        let prefix = parse_ip_prefix(value.trim(), true, &ctx.names())
            .map_err(|_| "expected IP/MASK".to_owned())?;
        let prefix = IpPrefix {
            address: (prefix.address.to_bits() & prefix.mask.to_bits()).into(),
            mask: prefix.mask,
        };
        let at = self.answers.iter().position(|one| one.prefix == prefix);
        let at = at.ok_or_else(|| format!("{} not found", unparse(prefix)))?;
        self.answers.remove(at);
        Ok(())
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("entries", self.answers.len() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::testing::errors;
    use crate::probe::Probe;

    const THEM: Party = Party {
        ether: [2, 7, 7, 7, 7, 7],
        ip: [10, 9, 9, 9],
    };

    fn question(ip: [u8; 4]) -> Vec<u8> {
        let target = Party { ether: [0; 6], ip };
        arp::frame([0xFF; 6], OP_REQUEST, THEM, target).to_vec()
    }

    #[test]
    fn the_longest_prefix_answers() {
        let mut x = Probe::new(
            "ARPResponder(10.1.0.0/16 2:0:0:0:0:1, 10.1.2.3 10.2.0.0/16 2:0:0:0:0:2)",
            2,
        );
        for (ip, last) in [([10, 1, 9, 9], 1), ([10, 1, 2, 3], 2), ([10, 2, 0, 1], 2)] {
            let me = Party {
                ether: [2, 0, 0, 0, 0, last],
                ip,
            };
            let answer = arp::frame(THEM.ether, OP_REPLY, me, THEM).to_vec();
            assert_eq!(x.send(&question(ip)), [(0, answer)]);
        }
        let other = question([10, 3, 0, 1]);
        assert_eq!(x.send(&other), [(1, other.clone())]);
        for len in 0..42 {
            let cut = &question([10, 1, 2, 3])[..len];
            assert_eq!(x.send(cut), [(1, cut.to_vec())]);
        }
        assert_eq!(x.held(), 0);
    }

    #[test]
    fn handlers_look_up_add_and_remove() {
        let mut x = Probe::new("ARPResponder(10.1.0.0/16 2:0:0:0:0:1)", 1);
        x.run.write("x.add", "10.1.2.3 2:0:0:0:0:2").expect("right");
        assert_eq!(
            x.run.read("x.table"),
            "10.1.2.3/32 02-00-00-00-00-02\n10.1.0.0/16 02-00-00-00-00-01\n"
        );
        x.run.write("x.remove", "10.1.2.3").expect("there");
        assert_eq!(
            x.run.write("x.remove", "10.1.2.3"),
            Err("10.1.2.3/32 not found".to_owned())
        );
    }

    #[test]
    fn what_is_odd_is_told_of_a_new_configuration_too() {
        let mut x = Probe::new("ARPResponder(10.1.2.3 2:0:0:0:0:1)", 1);
        assert_eq!(x.run.ctx.take_remarks(), [""; 0]);
        x.run
            .write("x.config", "1.1.1.1 2:0:0:0:0:1, 1.1.1.1 2:0:0:0:0:2")
            .expect("right");
        assert_eq!(
            x.run.ctx.take_remarks(),
            ["warning: multiple entries for 1.1.1.1/32"]
        );
    }

    #[test]
    fn what_is_missing_is_told() {
        for (config, text) in [
            ("10.1.2.3", "argument 0: missing ETH"),
            ("2:0:0:0:0:1", "argument 0: missing IP/MASK"),
            (
                "1.1.1.1 2:0:0:0:0:1 2:0:0:0:0:2",
                "argument 0: more than one ETH",
            ),
            ("1.1.1.1 2:0:0:0:0:1, x", "argument 1: expected IP/MASK ETH"),
        ] {
            let said = errors(&format!("Idle -> ARPResponder({config}) -> Idle;"));
            assert!(said.contains(text), "{said}");
        }
    }
}
