//! Tests of network devices over one trait, [`trial::Trial`]: what is tested, this crate does not know.
#![forbid(unsafe_code)]

pub mod search;
pub mod trial;
