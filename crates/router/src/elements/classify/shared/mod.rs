//! What elements of the group `classify` share: an element around a rule set.

pub(crate) mod classifying;
