//! Lets IPv4 packets pass by rules, or drops them.
//!
//! # What it does
//! Each argument is an action, `allow`, `deny`, `drop` or an output, and a filter such as those of
//! IPClassifier. The first rule that matches decides; a packet that none matches is dropped. Packets need
//! their IP header marked.
//!
//! # Example
//! `IPFilter(deny src net 10.0.0.0/8, allow tcp dst port www, deny all)`

use crate::args::Args;
use crate::args::text::unquote;
use crate::classify::Program;
use crate::classify::names::Declared;
use crate::classifying::{self, PARAMS};
use crate::diagnostic::Diagnostics;
use crate::element::{Element, Handler};
use crate::elements::Entry;
use crate::engine::Ctx;
use crate::engine::setup::Setup;
use crate::engine::study::Study;
use crate::reason::Reason;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::pool::Pool;

/// The class.
pub static ENTRY: Entry = Entry::new("IPFilter", "lets IPv4 packets pass by rules", || {
    Box::<IpFilter>::default()
})
.ports("1/-", "h/h")
.live()
.params(PARAMS)
.ops("classify(steps); work(60 + 28 * ways)");

#[derive(Debug, Default)]
struct IpFilter {
    program: Option<Program>,
}

impl Element for IpFilter {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let rules: Vec<String> = args.rest().iter().map(|rule| unquote(rule)).collect();
        let names = setup.names();
        let program = Program::filter(&rules, setup.outputs.len(), &Declared(&names))?;
        classifying::warn(&program, setup, 0);
        self.program = Some(program);
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, _: usize, mut batch: Batch) {
        match &self.program {
            Some(program) => classifying::push(program, ctx, batch),
            None => {
                ctx.drop_all(&mut batch, Reason::NoMatch);
                ctx.recycle(batch);
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![Handler::new("program", "r")]
    }

    fn read(&mut self, _: &mut Ctx, _: &str, _: &str) -> Result<String, String> {
        let text = self.program.as_ref().map(Program::text);
        Ok(text.unwrap_or_default().to_owned())
    }

    fn study(&self, pool: &Pool, batch: &Packets, study: &mut Study) {
        if let Some(program) = &self.program {
            classifying::study(program, pool, batch, study);
        }
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        classifying::quantities(self.program.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::errors;
    use crate::probe::{Probe, udp};

    #[test]
    fn allows_and_denies_in_order() {
        let mut probe = Probe::new("IPFilter(deny src host 10.0.0.9, allow udp, deny all)", 1);
        assert_eq!(probe.send_ip(&udp(9, b"")).len(), 1);
        let mut packet = udp(9, b"");
        packet[15] = 9;
        assert_eq!(probe.send_ip(&packet), []);
        assert_eq!(probe.held(), 0);
    }

    #[test]
    fn names_of_the_configuration_are_known() {
        let mut probe = Probe::new("IPFilter(\"allow udp && dst port 2000\")", 1);
        assert_eq!(probe.send_ip(&udp(9, b"")).len(), 1);
    }

    #[test]
    fn an_unknown_action_is_told() {
        assert_eq!(
            errors("Idle -> c :: IPFilter(maybe udp) -> Idle"),
            "config:1: While configuring 'c :: IPFilter':\n  pattern 0: unknown slot ID 'maybe'\nRouter could not be initialized!\n"
        );
    }
}
