//! What the elements of address translation share: flows, patterns, the table, and how packets
//! change.
//!
//! A rewriter looks a packet's flow up in a [`table::Table`]. A flow has two entries, one for each
//! direction, and each is the key of what the other rewrites to: `ids[0]` comes in and leaves as
//! the reverse of `ids[1]`, and `ids[1]` comes in and leaves as the reverse of `ids[0]`. So a
//! mapping is reversible by its form. A packet without an entry is handled by what is said of its
//! input ([`spec::Spec`]), which may add a flow.
//!
//! Rewriters that share a capacity share one table, which lies in the element whose capacity it is;
//! the others take it out of there for the time of a batch.

pub(crate) mod apply;
pub(crate) mod arguments;
pub(crate) mod element;
pub(crate) mod expiry;
pub(crate) mod flow;
pub(crate) mod index;
pub(crate) mod mapper;
pub(crate) mod pattern;
pub(crate) mod patterns;
pub(crate) mod sequence;
pub(crate) mod spec;
pub(crate) mod table;
#[cfg(test)]
mod tests;
