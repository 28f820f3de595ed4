//! Following single packets: where they come, and why they end.

mod follow;

use super::ids::ElementId;
use crate::reason::Reason;
use trammel_packet::timestamp::Timestamp;

/// What became of a followed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It was pushed to this input.
    Pushed(usize),
    /// It was pulled from this output.
    Pulled(usize),
    /// It ended there.
    Ended(Reason),
}

/// One step of a followed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The packet's number, from 1.
    pub trace: u16,
    /// At which element.
    pub element: ElementId,
    /// What.
    pub step: Step,
    /// When.
    pub at: Timestamp,
    /// Its bytes before the element touched them.
    pub data: &'a [u8],
}

/// Who is told of each step.
pub type Tell = Box<dyn FnMut(Event<'_>) + Send>;

/// A trace in progress.
pub(super) struct Trace {
    /// Packets still to be followed from where they are first seen.
    left: u16,
    next: u16,
    tell: Tell,
}
