//! Forwarding: the engines of a router as devices under test.

pub mod middlebox;
pub mod simulated;
