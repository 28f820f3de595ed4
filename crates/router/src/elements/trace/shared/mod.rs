//! What elements of traces share.

pub(crate) mod feed;
