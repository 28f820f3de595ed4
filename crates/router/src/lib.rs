//! A modular router: Click's language and elements, memory-safe and batched.
//!
//! A configuration is read by `lang` into a flat graph of elements. What surrounds the elements
//! are the types of their arguments (`args`), rule sets (`classify`), route tables (`lookup`) and the text
//! form of packets (`summary`).
#![forbid(unsafe_code)]

pub mod aggregates;
pub mod args;
pub mod arp;
pub mod classic_random;
pub mod classify;
pub mod classifying;
pub mod control;
pub mod copies;
pub mod cost_of;
pub mod crc32;
pub mod device_method;
pub mod diagnostic;
pub mod dpdk;
pub mod draw;
pub mod early_drop;
pub mod element;
pub mod elements;
pub mod engine;
pub mod ether_place;
pub mod flow_export;
pub mod gap_rate;
pub mod graph;
pub mod gre_check;
pub mod handler_help;
pub mod header_faults;
pub mod host;
pub mod icmp_encap;
pub mod ip6_packet;
pub mod ip_check;
pub mod ip_field;
pub mod ip_lookup;
pub mod ip_options;
pub mod ip_packet;
pub mod ip_text;
pub mod kernel_interface;
pub mod kernel_routes;
pub mod lang;
pub mod learning_switch;
pub mod link_header;
pub mod load;
pub mod lookup;
pub mod memory_device;
pub mod memory_host;
pub mod meter;
pub mod mpls_table;
pub mod neighbour_message;
pub mod neighbours;
#[cfg(test)]
pub(crate) mod probe;
pub mod queue_lengths;
pub mod queue_ring;
pub mod rate;
pub mod rate_bucket;
pub mod rate_tree;
pub mod rated_splitter;
pub mod rated_unqueue;
pub mod reason;
pub mod resizing;
pub mod rewriter;
pub mod script;
pub mod shaper;
pub mod siit;
pub mod simulate;
pub mod socket_element;
pub mod socket_transport;
pub mod stand_in;
pub mod store_place;
pub mod strides;
pub mod summary;
pub mod test_frames;
pub mod timed_unqueue;
pub mod trace;
pub mod transform;
pub mod udp_encap;
pub mod vlan;
pub mod voice;
pub mod wep;
pub mod wifi;
pub mod wifi_stations;
