//! What elements of the group `classify` share: an element around a rule set.

pub mod classifying;
