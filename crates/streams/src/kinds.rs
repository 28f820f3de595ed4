//! What people are told of each kind of two instants.

use trammel_traffic::record::Instants;

/// A kind, in words.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Which.
    pub instants: Instants,
    /// Short, in the names of figures.
    pub key: &'static str,
    /// What the difference of the two is called.
    pub delay: &'static str,
    /// What its packets did.
    pub did: &'static str,
    /// What the difference is, in a sentence.
    pub meaning: &'static str,
}

/// All of them: what was received says most, what was due least.
pub const KINDS: &[Kind] = &[
    Kind {
        instants: Instants::SentReceived,
        key: "received",
        delay: "one-way delay",
        did: "came",
        meaning: "From sending, by the sender's clock, to arrival, by the receiver's clock.",
    },
    Kind {
        instants: Instants::SentReturned,
        key: "returned",
        delay: "round trip",
        did: "came back",
        meaning: "From sending to the arrival of the answer, by the sender's clock.",
    },
    Kind {
        instants: Instants::DueLeft,
        key: "left",
        delay: "lateness",
        did: "left",
        meaning: "From being due to leaving the kernel: the sender's schedule and its kernel, not \
                  the network.",
    },
    Kind {
        instants: Instants::DueSent,
        key: "due",
        delay: "lateness",
        did: "were sent",
        meaning: "From being due to being given to the kernel: the sender's schedule, not the \
                  network.",
    },
];
