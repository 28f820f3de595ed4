//! Defines names for addresses.
//!
//! # What it does
//! Each argument is a name and its addresses: Ethernet, IP, IPv6, prefixes. Elements in the same
//! compound and those inside it may use the name for any of them.
//!
//! # Example
//! ```click
//! // `web` is an address of IP and of Ethernet, `lan` a network.
//! AddressInfo(web 10.0.0.80 2:0:0:0:0:50, lan 10.0.0.0/24);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader
//!     -> IPFilter(allow dst web && src net lan, deny all) -> Discard
//! ```

use crate::args::definitions::address_info;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::{About, Diagnostics};
use crate::elements::Entry;
use crate::engine::Element;
use crate::engine::element::PHASE_INFO;
use crate::engine::setup::Setup;

/// The class.
pub static ENTRY: Entry = Entry::new("AddressInfo", "defines names for addresses", || {
    Box::<AddressInfo>::default()
})
.ports("0/0", "a/a")
.phase(PHASE_INFO)
.params(&[param(
    "DEFINITIONS",
    Need::Rest,
    Kind::Raw,
    "",
    "`NAME ADDRESS…`, any number of times",
)]);

#[derive(Debug, Default)]
struct AddressInfo;

impl Element for AddressInfo {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        for (at, argument) in args.rest().iter().enumerate() {
            let defined = address_info(argument, &setup.names());
            match defined {
                Err(wrong) => {
                    for text in wrong {
                        said.error_about(About::Rest(at), text, None);
                    }
                }
                Ok(all) => {
                    for (space, name, value) in all {
                        setup.definitions.define(setup.name, space, &name, value);
                    }
                }
            }
        }
        if said.has_errors() { Err(said) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn names_are_defined_for_others() {
        loaded(
            "AddressInfo(lab 10.1.0.0/16 00:01:02:03:04:05); Idle -> SetRandIPAddress(lab) \
             -> Discard",
        );
        assert!(errors("AddressInfo(a)").contains("expected 'NAME [ADDRS]'"));
    }
}
