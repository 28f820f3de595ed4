//! What elements of the group `transport` share: rewriters, encapsulation and test frames.

pub(crate) mod rewriter;
pub(crate) mod test_frames;
pub(crate) mod udp_encap;
