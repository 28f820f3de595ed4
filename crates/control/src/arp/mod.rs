//! ARP's state (RFC 826): the cache, and the packets that wait for an answer.

pub(crate) mod cache;
pub(crate) mod waiting;
