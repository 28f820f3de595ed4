//! Tests of network devices over one trait, `Trial`: what is tested, this crate does not know.
#![forbid(unsafe_code)]
