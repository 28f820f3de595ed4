//! Cards on real interfaces: namespaces joined by a card that runs in a thread of the test.
//!
//! Where the machine does not allow namespaces or AF_XDP, a test prints why it did nothing.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

#[path = "../../../netfpga/tests/bench/mod.rs"]
mod bench;
mod both;
mod buffer_sizing;
#[path = "../../../control/tests/common/mod.rs"]
mod common;
mod flood;
mod forwarding;
mod frr;
mod gui;
mod lab;
mod mirror;
#[path = "../../../control/tests/ospf/mod.rs"]
mod ospf;
mod packet_generator;
mod rig;
mod ring;
mod scone;
mod software;
mod web;
