//! Why a packet went no further.

macro_rules! reasons {
    ($($name:ident $text:literal;)*) => {
        /// Why a packet went no further.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[repr(u8)]
        #[non_exhaustive]
        pub enum Reason {
            $(#[doc = $text] $name,)*
        }

        impl Reason {
            /// Every reason, in the order of its number.
            pub const ALL: &'static [Reason] = &[$(Reason::$name),*];

            /// For people: `ttl expired`.
            pub const fn text(self) -> &'static str {
                match self { $(Reason::$name => $text),* }
            }
        }
    };
}

reasons! {
    Discarded "discarded by the configuration";
    Filtered "refused by a rule";
    NoMatch "matched no rule";
    Overflow "queue full";
    Early "dropped early by the queue's law";
    Shaped "beyond the rate";
    Lost "lost by a loss model";
    NoRoute "no route";
    NoNeighbour "neighbour not resolved";
    TtlExpired "time to live expired";
    TooShort "shorter than its header";
    BadVersion "wrong version";
    BadLength "bad length";
    BadChecksum "bad checksum";
    BadSource "bad source address";
    BadHeader "bad header";
    TooBig "too big";
    Fragment "fragment that cannot be used";
    NotForUs "not for this host";
    NoMapping "no mapping";
    TableFull "table full";
    Inactive "switched off";
    NoPort "output not connected";
    PoolFull "no packet buffer left";
    SendFailed "device refused it";
    Loop "went round too often";
    Consumed "consumed";
}

/// How many reasons there are.
pub(crate) const COUNT: usize = Reason::ALL.len();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_stands_at_its_number() {
        for (at, reason) in Reason::ALL.iter().enumerate() {
            assert_eq!(*reason as usize, at);
            assert!(!reason.text().is_empty());
        }
    }
}
