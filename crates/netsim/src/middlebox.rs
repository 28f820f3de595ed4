//! A device between links, which takes packets and decides which of them leaves when.
//!
//! The network knows nothing of what is inside. A packet that would enter one of the links *behind*
//! the device goes into the device instead, and enters that link when the device lets it out. What
//! it never lets out is dropped. A simulated router is such a device.

use crate::ids::LinkId;
use std::fmt::Debug;
use trammel_core::time::Time;

/// A packet as a device sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The link that brought it.
    pub from: LinkId,
    /// The link behind the device that it is on its way to: its place among those of the device.
    pub side: usize,
    /// Bytes that links count.
    pub wire_bytes: u32,
    /// The flow or stream that it belongs to.
    pub flow: u32,
    /// What the device tells it by when it leaves.
    pub token: u32,
}

/// A device between links.
pub trait Middlebox: Debug + Send {
    /// A packet has come at `now`; times never go back.
    fn accept(&mut self, now: Time, packet: Arrival);

    /// When it does something next, or a packet leaves; [`Time::MAX`] for never.
    fn next(&mut self) -> Time;

    /// Lets time pass until `now`, and appends the tokens of the packets that leave by then to
    /// `left`, in their order. A token may be given once.
    fn advance(&mut self, now: Time, left: &mut Vec<u32>);

    /// What does not balance in its own books, in words.
    ///
    /// # Errors
    /// The first account that does not.
    fn audit(&mut self) -> Result<(), String> {
        Ok(())
    }
}
