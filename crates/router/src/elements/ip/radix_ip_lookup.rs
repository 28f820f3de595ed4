//! Looks up routes in a compressed trie.
//!
//! # What it does
//! A packet's destination annotation is looked up; the longest prefix decides. Where its route has
//! a gateway, the annotation becomes the gateway; the packet leaves by the route's output.
//!
//! # Example
//! ```click
//! // Two networks, nothing to a third, and all else by a router.
//! rt :: RadixIPLookup(10.0.0.0/8 0, 10.66.0.0/16 drop, 0.0.0.0/0 10.0.0.1 1);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> rt; rt[0] -> Discard; rt[1] -> Discard
//! ```

use crate::elements::Entry;
use crate::lookup::ip_lookup::{IpLookup, OPS, PARAMS, PORTS, Style};
use crate::lookup::radix::Radix;

/// The class.
pub static ENTRY: Entry = Entry::new("RadixIPLookup", "looks up routes in a trie", || {
    let style = Style {
        tells: true,
        flushes: true,
        changes: true,
    };
    Box::new(IpLookup::new(Radix::new, style))
})
.ports(PORTS.0, PORTS.1)
.params(PARAMS)
.ops(OPS);
