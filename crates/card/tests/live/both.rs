//! The tests that run on a card and in simulation, on the live card.

#![allow(non_snake_case)] // The tests' own names.

use crate::bench::both::every_both;
use crate::bench::{self, Card};
use crate::lab::Lab;
use trammel_card::live::Method;
use trammel_netfpga::design;

/// The reference router live, with host interfaces and the tables of the tests.
fn live(method: Method) -> Option<Card> {
    let lab = Lab::new(|options, _| options.method = method)?;
    let map = design("reference-router").expect("it is there").map();
    let card: Card = Card::new(Box::new(lab), map);
    Some(card.routing())
}

/// Each function is a test of the live card.
macro_rules! both {
    ($($name:ident)*) => {
        mod by_packet_sockets {
            $(#[test] fn $name() {
                if let Some(card) = super::live(super::Method::AfPacket) {
                    super::bench::both::$name(card);
                }
            })*
        }

        mod by_af_xdp {
            $(#[test] #[ignore = "long: the same as by packet sockets"] fn $name() {
                if let Some(card) = super::live(super::Method::AfXdp) {
                    super::bench::both::$name(card);
                }
            })*
        }
    };
}

every_both!(both);
