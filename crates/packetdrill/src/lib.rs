//! packetdrill scripts against the TCP of `trammel-tcp`, in virtual time.
#![forbid(unsafe_code)]

pub mod script;
