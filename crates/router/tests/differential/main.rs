//! Every element that handles headers against etherparse: packets that it builds, some of them
//! damaged, go through an element, and what leaves is what etherparse finds right.
//!
//! A failure prints its case, which proptest has made as small as it can, and the seed to run it
//! again.

mod check;
mod encap;
mod errors;
mod ethernet;
mod fragments;
mod gateway;
mod graph;
mod packets;
mod rewrite;
