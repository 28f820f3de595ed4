//! Answers solicitations of neighbours.
//!
//! # What it does
//! A solicitation, as a whole frame, becomes the advertisement that answers it, where one of the
//! arguments covers its target; the longest prefix decides. All else ends here.
//!
//! # Example
//! ```click
//! // It answers for itself and, as a proxy, for a network.
//! FromDevice(eth0) -> Classifier(12/86dd 20/3a 54/87)
//!     -> IP6NDAdvertiser(2001:db8::5/128 2:0:0:0:0:1, 2001:db8:1::/64 2:0:0:0:0:1) -> Queue
//!     -> ToDevice(eth0)
//! ```
//!
//! # References
//! RFC 4861, §7.2.4.

use super::shared::neighbour_message::{ALL_NODES, Ends, Told, frame, link_group, mark, read};
use crate::args::addresses::{parse_ether, parse_ip6_prefix};
use crate::args::machine_names::unknown_name;
use crate::args::text::split_words;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::{About, Diagnostics};
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::headers::icmp6::{flag, kind};

/// The class.
pub static ENTRY: Entry = Entry::new(
    "IP6NDAdvertiser",
    "answers solicitations of neighbours",
    || Box::<Ip6NdAdvertiser>::default(),
)
.references(&["RFC 4861, §7.2.4"])
.params(&[param(
    "ENTRIES",
    Need::Rest,
    Kind::Raw,
    "",
    "`IP6/MASK [IP6/MASK…] ETH`",
)])
.ops("parse(78); 2 * checksum(72); deparse(86); work(5 * entries + 250)");

#[derive(Clone, Copy, Debug)]
struct Answer {
    address: u128,
    len: u8,
    ether: [u8; 6],
}

/// Answers, the longest prefixes first.
#[derive(Debug, Default)]
struct Ip6NdAdvertiser {
    answers: Vec<Answer>,
}

fn mask(len: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0)
}

impl Ip6NdAdvertiser {
    fn answer(
        &self,
        told: &Told,
    ) -> Option<[u8; crate::elements::ip6::shared::neighbour_message::FRAME_LEN]> {
        let target = u128::from_be_bytes(told.target);
        let covers = |answer: &&Answer| (target ^ answer.address) & mask(answer.len) == 0;
        let answer = self.answers.iter().find(covers)?;
        // Who has no address yet is answered through the group of all nodes.
        let is_nobody = told.src == [0; 16];
        let (dst, to) = if is_nobody {
            (ALL_NODES, link_group(ALL_NODES))
        } else {
            (told.src, told.from)
        };
        let solicited = if is_nobody { 0 } else { flag::SOLICITED };
        let ends = Ends {
            from: answer.ether,
            to,
            src: told.target,
            dst,
        };
        let flags = flag::ROUTER | solicited;
        Some(frame(
            kind::NEIGHBOR_ADVERTISEMENT,
            ends,
            flags,
            told.target,
        ))
    }
}

impl Element for Ip6NdAdvertiser {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let (mut said, names) = (Diagnostics::new(), setup.names());
        for (at, text) in args.rest().iter().enumerate() {
            let (first, mut ether) = (self.answers.len(), None);
            for word in split_words(text) {
                if let Ok(prefix) = parse_ip6_prefix(&word, true, &names) {
                    self.answers.push(Answer {
                        address: prefix.address.to_bits(),
                        len: prefix.len,
                        ether: [0; 6],
                    });
                } else if let Ok(address) = parse_ether(&word, &names) {
                    if ether.replace(address.0).is_some() {
                        let text = format!("argument {at} has more than one Ethernet address");
                        said.error_about(About::Rest(at), text, None);
                    }
                } else {
                    let text = format!("argument {at} should be `IP6/MASK ETHADDR'");
                    let help = unknown_name(Kind::Ip6, &word, &names);
                    said.error_about(About::Rest(at), text, help);
                    break;
                }
            }
            if self.answers.len() == first {
                let text = format!("argument {at} had no IP6 address and masks");
                said.error_about(About::Rest(at), text, None);
            }
            for answer in &mut self.answers[first..] {
                answer.ether = ether.unwrap_or_default();
            }
        }
        self.answers
            .sort_by_key(|answer| std::cmp::Reverse(answer.len));
        if said.has_errors() { Err(said) } else { Ok(()) }
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let packet = &mut ctx.pool()[&handle];
            let question = read(packet.data(), kind::NEIGHBOR_SOLICITATION);
            let Some(answer) = question.and_then(|told| self.answer(&told)) else {
                ctx.drop(handle, Reason::Discarded);
                return None;
            };
            packet.set_data(&answer);
            mark(packet);
            Some(handle)
        });
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

    fn question(src: [u8; 16], last: u8) -> Vec<u8> {
        let mut target = [0; 16];
        (target[0], target[1], target[15]) = (0x20, 1, last);
        let ends = Ends {
            from: [2, 0, 0, 0, 0, 9],
            to: [0x33, 0x33, 0xFF, 0, 0, last],
            src,
            dst: crate::elements::ip6::shared::neighbour_message::solicited_node(target),
        };
        frame(kind::NEIGHBOR_SOLICITATION, ends, 0, target).to_vec()
    }

    #[test]
    fn the_longest_prefix_answers() {
        let mut probe = Probe::new(
            "IP6NDAdvertiser(2001::/64 2:0:0:0:0:1, 2001::5 2:0:0:0:0:2)",
            1,
        );
        for (last, ether) in [(4, 1), (5, 2)] {
            let answer = probe.send(&question([7; 16], last)).remove(0).1;
            let told = read(&answer, kind::NEIGHBOR_ADVERTISEMENT).expect("an advertisement");
            assert_eq!(told.address, Some([2, 0, 0, 0, 0, ether]));
            assert_eq!((told.flags, told.target[15]), (0xC000_0000, last));
            assert_eq!(
                (&answer[..6], &answer[38..54]),
                (&[2, 0, 0, 0, 0, 9][..], &[7; 16][..])
            );
        }
        let mut other = question([7; 16], 5);
        other[70] ^= 1;
        assert_eq!(probe.send(&other), []);
        assert_eq!(probe.held(), 0);
    }

    #[test]
    fn a_prefix_that_covers_nothing_asked_for_stays_silent() {
        let mut probe = Probe::new("IP6NDAdvertiser(2001::5 2:0:0:0:0:2)", 1);
        assert_eq!(probe.send(&question([7; 16], 6)), []);
    }

    #[test]
    fn what_is_no_entry_is_told() {
        let said = errors("Idle -> IP6NDAdvertiser(2:0:0:0:0:2, 2001::1 x) -> Idle");
        assert!(
            said.contains("argument 0 had no IP6 address and masks"),
            "{said}"
        );
        assert!(
            said.contains("argument 1 should be `IP6/MASK ETHADDR'"),
            "{said}"
        );
    }
}
