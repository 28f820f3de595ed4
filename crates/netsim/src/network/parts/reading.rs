//! An application that reads in intervals.

use crate::flow::Reader;
use crate::ids::{FlowId, LinkId};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

/// A receiving application that reads in intervals. One process serves all flows of one interval,
/// as a traffic tool's server does: it reads all of its connections when it wakes.
#[derive(Debug)]
pub(crate) struct ReadingApp {
    pub(crate) reader: Reader,
    pub(crate) flows: Vec<FlowId>,
    /// From when on its timer may go off, and when it must. The latter is [`Time::MAX`] before it
    /// has accepted a connection; the former is while it is awake, and the latter then the time of
    /// its read.
    pub(crate) due: (Time, Time),
    /// The next packet to leave a queue within the slack: when, and which link's.
    pub(crate) departure: (Time, LinkId),
    pub(crate) rng: Rng,
}

impl ReadingApp {
    /// One that reads for no flow yet.
    pub(crate) fn new(reader: Reader, rng: Rng) -> ReadingApp {
        ReadingApp {
            reader,
            flows: Vec::new(),
            due: (Time::ZERO, Time::MAX),
            departure: (Time::ZERO, LinkId::new(0)),
            rng,
        }
    }

    /// Whether its timer goes by those of the links, so that packets must cross these one by one.
    pub(crate) fn watches_links(&self) -> bool {
        self.reader.slack > Span::ZERO
    }
}
