//! Media that two links share, and devices between links.

use crate::ids::LinkId;
use crate::middlebox::Middlebox;
use crate::packet::Packet;
use crate::wifi::Medium;

/// A medium and the links that are its two directions.
#[derive(Debug)]
pub(crate) struct SharedMedium {
    pub(crate) medium: Medium,
    pub(crate) links: [LinkId; 2],
}

/// A device, the links behind it, and the packets that it holds.
#[derive(Debug)]
pub(crate) struct PlacedMiddlebox {
    pub(crate) middlebox: Box<dyn Middlebox>,
    pub(crate) links: Vec<LinkId>,
    /// By token. A token is used again when its packet has left; those of dropped packets are not.
    pub(crate) held: Vec<Option<Packet>>,
    pub(crate) free: Vec<u32>,
    /// Tokens of the packets that leave now.
    pub(crate) left: Vec<u32>,
    /// Packets that came, and that it let out.
    pub(crate) entered: u64,
    pub(crate) let_out: u64,
}

impl PlacedMiddlebox {
    pub(crate) fn new(middlebox: Box<dyn Middlebox>, links: Vec<LinkId>) -> PlacedMiddlebox {
        PlacedMiddlebox {
            middlebox,
            links,
            held: Vec::new(),
            free: Vec::new(),
            left: Vec::new(),
            entered: 0,
            let_out: 0,
        }
    }
}
