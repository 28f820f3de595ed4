//! What is seen of a run while it goes on: each flow's window and what it has delivered, and each
//! queue.

use trammel_core::time::Time;

/// A flow at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowLook<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its congestion window, segments; nothing before it begins and after it is over.
    pub cwnd: Option<u32>,
    /// Payload bytes delivered until now.
    pub delivered_bytes: u64,
}

/// A run at an instant of its virtual time.
#[derive(Clone, Debug, PartialEq)]
pub struct Look<'a> {
    /// The instant.
    pub at: Time,
    /// The end of the run.
    pub end: Time,
    /// Each flow.
    pub flows: Vec<FlowLook<'a>>,
    /// Each queue towards the receivers: its link, and the packets that wait.
    pub queues: Vec<(&'a str, u32)>,
}

/// Whoever looks.
pub(crate) type Eye<'a> = &'a dyn Fn(&Look<'_>);
