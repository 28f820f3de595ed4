//! What a router counts: packets, and refusals by reason.

macro_rules! refusals {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        /// Why a packet was refused. Each refused packet counts for exactly one reason.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Refusal {
            $($(#[$doc])* $variant,)*
        }

        impl Refusal {
            /// All reasons, in the order in which a packet is checked.
            pub const ALL: &'static [Refusal] = &[$(Refusal::$variant,)*];

            /// The reason in words.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Refusal::$variant => $name,)*
                }
            }
        }
    };
}

refusals! {
    /// The interface does not exist or is down.
    InterfaceDown => "interface down",
    /// The packet is shorter than its header, than its length field or than its type, or the number
    /// of adverts does not fit its length.
    Length => "length",
    /// The version is not 2.
    Version => "version",
    /// The checksum is wrong.
    Checksum => "checksum",
    /// The authentication type is not 0.
    AuType => "authentication type",
    /// The type is neither HELLO nor LSU.
    Type => "type",
    /// The area is another.
    Area => "area",
    /// The source address is not another host's of the interface's subnet.
    Source => "source address",
    /// The router id is 0.0.0.0, which in an advert stands for no router.
    NoId => "no router id",
    /// A HELLO carries this router's own id.
    OwnId => "own router id",
    /// A HELLO's mask is not the interface's.
    Mask => "mask",
    /// A HELLO's interval is not this router's.
    HelloInterval => "hello interval",
    /// The interface has as many neighbours as it may.
    TooManyNeighbours => "too many neighbours",
    /// An update carries more adverts than it may.
    TooManyAdverts => "too many adverts",
    /// An update's TTL is 0.
    Ttl => "ttl",
    /// This router's own update came back.
    OwnLsu => "own update",
    /// An update is the one that the database has.
    Duplicate => "duplicate",
    /// An update is older than the one that the database has.
    StaleSequence => "stale sequence",
    /// The database has as many routers as it may.
    DatabaseFull => "database full",
}

/// What a router counted since its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// HELLOs sent.
    pub hellos_sent: u64,
    /// HELLOs accepted.
    pub hellos_accepted: u64,
    /// Updates of its own that the router made; each goes to all neighbours.
    pub lsus_originated: u64,
    /// Packets with updates, own and passed on, that were sent.
    pub lsus_sent: u64,
    /// Updates accepted into the database.
    pub lsus_accepted: u64,
    /// Updates accepted but not passed on, since their TTL was used up.
    pub lsus_expired: u64,
    /// Times that the router heard an update of its own from before a restart and continued above
    /// its sequence.
    pub sequence_jumps: u64,
    /// Neighbours lost, by silence or with their interface.
    pub neighbours_lost: u64,
    /// Database entries that aged out.
    pub entries_aged: u64,
    /// Computations of paths.
    pub spf_runs: u64,
    /// Packets that found the transmit queue full.
    pub queue_drops: u64,
    /// Adverts that did not fit into an own update.
    pub adverts_cut: u64,
    refused: [u64; Refusal::ALL.len()],
}

impl Counters {
    /// Packets refused for `reason`.
    pub fn refused(&self, reason: Refusal) -> u64 {
        self.refused[reason as usize]
    }

    pub(super) fn refuse(&mut self, reason: Refusal) {
        self.refused[reason as usize] += 1;
    }
}
