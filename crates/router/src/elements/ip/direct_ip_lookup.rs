//! Looks up routes in a table of all prefixes of 24 bits.
//!
//! # What it does
//! As RadixIPLookup, with one access to memory for most addresses, and 64 MB of it.
//!
//! # Example
//! ```click
//! rt :: DirectIPLookup(10.0.0.0/8 0, 0.0.0.0/0 10.0.0.1 1);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> rt; rt[0] -> Discard; rt[1] -> Discard
//! ```

use crate::elements::Entry;
use crate::lookup::direct::Direct;
use crate::lookup::ip_lookup::{IpLookup, OPS, PARAMS, PORTS, Style};

/// The class.
pub static ENTRY: Entry = Entry::new("DirectIPLookup", "looks up routes in a large table", || {
    let style = Style {
        tells: false,
        flushes: true,
        changes: true,
    };
    Box::new(IpLookup::new(Direct::new, style))
})
.ports(PORTS.0, PORTS.1)
.params(PARAMS)
.ops(OPS);
