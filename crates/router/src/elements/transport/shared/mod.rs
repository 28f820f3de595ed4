//! What elements of the group `transport` share: rewriters, encapsulation and test frames.

pub mod rewriter;
pub mod test_frames;
pub mod udp_encap;
