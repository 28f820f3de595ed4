//! What elements of the group `base` share: copies for several outputs.

pub(crate) mod copies;
