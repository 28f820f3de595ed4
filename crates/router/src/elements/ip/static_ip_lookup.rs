//! Looks up routes in a fixed table.
//!
//! # What it does
//! As RadixIPLookup, but handlers change nothing.
//!
//! # Example
//! ```click
//! rt :: StaticIPLookup(10.0.0.0/8 0, 0.0.0.0/0 10.0.0.1 1);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> rt; rt[0] -> Discard; rt[1] -> Discard
//! ```

use crate::elements::Entry;
use crate::lookup::ip_lookup::{IpLookup, OPS, PARAMS, PORTS, Style};
use crate::lookup::radix::Radix;

/// The class.
pub static ENTRY: Entry = Entry::new("StaticIPLookup", "looks up routes in a fixed table", || {
    let style = Style {
        tells: true,
        flushes: false,
        changes: false,
    };
    Box::new(IpLookup::new(Radix::new, style))
})
.ports(PORTS.0, PORTS.1)
.params(PARAMS)
.ops(OPS);
