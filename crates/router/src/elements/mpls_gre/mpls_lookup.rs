//! Switches packets by their MPLS label, and may replace it.
//!
//! # What it does
//! A route is `LABEL [NEWLABEL] OUTPUT`. The uppermost entry's label is looked up in an exact
//! table; a packet without a route ends. The time to live is not touched: `MPLSDecTTL` stands
//! before.
//!
//! # Example
//! ```click
//! // Labels 16 and 17 leave by output 0, 18 by output 1.
//! FromDevice(eth0) -> Strip(14) -> MPLSDecTTL -> l :: MPLSLookup(16 17 0, 18 1);
//! l[0] -> MPLSSwap(20) -> Discard; l[1] -> p :: MPLSPop -> CheckIPHeader -> Discard;
//! p[1] -> Discard
//! ```
//!
//! # References
//! RFC 3031, §3.10; RFC 3032.

use super::shared::mpls_table::{self, Table};
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::{About, Diagnostics};
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Batch;
use trammel_packet::headers::mpls::Mpls;

/// The class.
pub static ENTRY: Entry = Entry::new("MPLSLookup", "switches packets by their MPLS label", || {
    Box::<MplsLookup>::default()
})
.ports("1/-", "h/h")
.references(&["RFC 3031", "RFC 3032"])
.params(&[param(
    "ROUTES",
    Need::Rest,
    Kind::Raw,
    "",
    "`LABEL [NEWLABEL] OUTPUT`",
)])
.ops("parse(4); array_access(8, entries) by 4; deparse(4); work(90)");

#[derive(Debug, Default)]
struct MplsLookup {
    table: Table,
    outputs: usize,
}

impl Element for MplsLookup {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.outputs = setup.outputs.len();
        let mut said = Diagnostics::new();
        for (at, text) in args.rest().iter().enumerate() {
            match mpls_table::parse(text, self.outputs) {
                Ok(route) if self.table.set(route) => {
                    let text = format!("argument {}: label {} twice", at + 1, route.0);
                    said.error_about(About::Rest(at), text, None);
                }
                Ok(_) => {}
                Err(why) => {
                    let text = format!("argument {}: {why}", at + 1);
                    said.error_about(About::Rest(at), text, None);
                }
            }
        }
        if said.has_errors() { Err(said) } else { Ok(()) }
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        for h in batch.drain() {
            let Some(header) = Mpls::read_mut(ctx.pool()[&h].data_mut()) else {
                ctx.drop(h, Reason::TooShort);
                continue;
            };
            let Some(to) = self.table.get(header.label()) else {
                ctx.drop(h, Reason::NoRoute);
                continue;
            };
            if let Some(label) = to.swap {
                header.set_label(label);
            }
            ctx.emit(to.port as usize, h);
        }
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        [
            ("table", "r"),
            ("lookup", "r+"),
            ("add", "w"),
            ("set", "w"),
            ("remove", "w"),
            ("flush", "w"),
        ]
        .map(|(name, letters)| Handler::new(name, letters))
        .to_vec()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, parameter: &str) -> Result<String, String> {
        if name == "table" {
            return Ok(self.table.text());
        }
        let label = mpls_table::parse_label(parameter.trim()).ok_or("expected label")?;
        let found = self
            .table
            .get(label)
            .map(|to| mpls_table::unparse((label, to)));
        Ok(found.unwrap_or_else(|| "-1".to_owned()))
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        match name {
            "flush" => self.table.clear(),
            "remove" => {
                let label = mpls_table::parse_label(value.trim()).ok_or("expected label")?;
                if !self.table.remove(label) {
                    return Err("route not found".to_owned());
                }
            }
            _ => {
                let route = mpls_table::parse(value, self.outputs)?;
                if name == "add" && self.table.get(route.0).is_some() {
                    return Err(format!(
                        "conflict with existing route for label {}",
                        route.0
                    ));
                }
                self.table.set(route);
            }
        }
        Ok(())
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("entries", self.table.len() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::Probe;
    use trammel_packet::headers::mpls::Mpls;

    fn packet(label: u32) -> Vec<u8> {
        [Mpls::new(label, 5, true, 9).bytes(), b"data"].concat()
    }

    #[test]
    fn labels_are_swapped_and_the_rest_of_the_entry_stays() {
        let mut x = Probe::new("MPLSLookup(16 17 1, 1048575 0)", 2);
        assert_eq!(x.send(&packet(16)), [(1, packet(17))]);
        assert_eq!(x.send(&packet(0xF_FFFF)), [(0, packet(0xF_FFFF))]);
        assert_eq!(x.send(&packet(18)), []);
        assert_eq!(x.send(&packet(16)[..3]), []);
        assert_eq!(x.held(), 0);
    }

    #[test]
    fn handlers_change_the_table() {
        let mut x = Probe::new("MPLSLookup(16 17 1)", 2);
        assert!(x.run.write("x.add", "16 1").is_err());
        x.run.write("x.set", "16 1").expect("right");
        x.run.write("x.add", "20 3 0").expect("right");
        assert_eq!(x.run.read("x.table"), "16\t-\t1\n20\t3\t0\n");
        x.run.write("x.remove", "16").expect("there");
        assert!(x.run.write("x.remove", "16").is_err());
        assert!(x.run.write("x.add", "21 2").is_err());
    }

    #[test]
    fn wrong_routes_are_told() {
        let said = errors("x :: MPLSLookup(16 17 1, 9, 16 0, 16 0) -> Idle; Idle -> x;");
        assert!(
            said.contains("argument 1: output port out of range"),
            "{said}"
        );
        assert!(
            said.contains("argument 2: expected LABEL [NEWLABEL] OUTPUT"),
            "{said}"
        );
        assert!(said.contains("argument 4: label 16 twice"), "{said}");
    }
}
