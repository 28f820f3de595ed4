//! Defines names for ports.
//!
//! # What it does
//! Each argument is a line as in a table of services: `NAME PORT/PROTOCOL ALIASES`.
//!
//! # Example
//! ```click
//! // A name of a port.
//! PortInfo(sip 5060/udp);
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> IPFilter(allow udp dst port sip, deny all)
//!     -> Discard
//! ```

use crate::args::definitions::port_info;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::Element;
use crate::engine::element::PHASE_INFO;
use crate::engine::setup::Setup;

/// The class.
pub static ENTRY: Entry = Entry::new("PortInfo", "defines names for ports", || {
    Box::<PortInfo>::default()
})
.ports("0/0", "a/a")
.phase(PHASE_INFO)
.params(&[param(
    "DEFINITIONS",
    Need::Rest,
    Kind::Raw,
    "",
    "`NAME PORT/PROTOCOL`, any number of times",
)]);

#[derive(Debug, Default)]
struct PortInfo;

impl Element for PortInfo {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        for argument in args.rest() {
            let defined = port_info(argument, &setup.names());
            match defined {
                Err(wrong) => wrong.into_iter().for_each(|text| said.error(None, text)),
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
        loaded("PortInfo(lab 7777/udp)");
        assert!(errors("PortInfo(a)").contains("expected 'NAME PORT/PROTO'"));
    }
}
