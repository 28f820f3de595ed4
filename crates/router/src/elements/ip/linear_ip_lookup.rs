//! Looks up routes in a list.
//!
//! # What it does
//! As RadixIPLookup, for few routes; the table is printed in the order in which routes came.
//!
//! # Example
//! ```click
//! rt :: LinearIPLookup(10.0.0.0/8 0, 0.0.0.0/0 10.0.0.1 1);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> rt; rt[0] -> Discard; rt[1] -> Discard
//! ```

use crate::elements::Entry;
use crate::lookup::ip_lookup::{IpLookup, OPS, PARAMS, PORTS, Style};
use crate::lookup::linear::Linear;

/// The class.
pub static ENTRY: Entry = Entry::new("LinearIPLookup", "looks up routes in a list", || {
    let style = Style {
        tells: true,
        flushes: false,
        changes: true,
    };
    Box::new(IpLookup::new(Linear::new, style))
})
.aliases(&["LookupIPRouteMP", "LookupIPRoute", "SortedIPLookup"])
.ports(PORTS.0, PORTS.1)
.params(PARAMS)
.ops(OPS);
