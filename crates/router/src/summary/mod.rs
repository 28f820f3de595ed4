//! IP summary dumps: packets as lines of text, or as short binary records.
//!
//! A dump names its fields in a line `!data`, then has one line a packet with the values of these
//! fields, `-` where a packet has none. [`fields`] is the table: a row says how a field is taken
//! from a packet, printed, parsed and put into a packet. [`writer::Writer`] goes from packets to
//! lines by way of a view of the packet's headers; [`reader::Reader`] goes from lines to packets by
//! way of a builder, which makes up the headers that a field stands in. Version 1.3 of the format,
//! as Click's manual pages of ToIPSummaryDump and FromIPSummaryDump describe it.
//!
//! Differs from Click 2.1: a payload whose length would be negative is missing, not 2³² less that;
//! `ts_usec1` is in µs, its halves not exchanged; a binary `ip_opt` or `tcp_opt` stands once in its
//! record, and missing digests are zero; metadata records count their own length; `!flowid` sets
//! the addresses that it names; where a TCP header grows to fill `ip_len`, the payload follows the
//! header; the pseudo-header of a packet whose source route is used up has the packet's
//! destination; writing a packet leaves its annotations.

mod builder;
pub mod fields;
mod ip_options;
mod md5;
mod names;
pub mod reader;
mod row;
mod scan;
mod table;
mod tcp_options;
mod text;
mod view;
pub mod writer;

/// The version of the format: what is written, and the newest that is read.
pub const VERSION: (u32, u32) = (1, 3);
