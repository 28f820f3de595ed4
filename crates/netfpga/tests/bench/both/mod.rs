//! The tests of the reference router that run on a card and in simulation, under their names there,
//! for whatever is a bench.
//!
//! Each checks its counter, as there, and that every other counter stayed 0.

#![allow(non_snake_case, unused_macros)] // The tests' own names; not each test has them all.

mod lookup;
mod queues;

pub(crate) use lookup::*;
pub(crate) use queues::*;

/// Gives the names of all tests to the macro `$each`.
macro_rules! every_both {
    ($each:ident) => {
        $each! {
            both_packet_forwarding both_lpm_generic both_lpm_nexthop both_lpm_misses
            both_arp_misses both_badipchksum both_invalidttl both_nonip both_nonipv4
            both_wrong_destMAC both_ipdestfilter_hit both_ipdestfilter_generic both_router_table
            both_router_cpusend both_oq_limit both_oq_sramSzMAC both_oq_sramSzCPU hw_lut_forward
            hw_queue_overflow hw_send_receive
        }
    };
}

pub(crate) use every_both;
