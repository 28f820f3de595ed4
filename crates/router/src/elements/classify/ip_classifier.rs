//! Classifies IPv4 packets by filters.
//!
//! # What it does
//! Each argument is the filter of one output, in the words of tcpdump: `tcp dst port www`,
//! `src net 10.0.0.0/8 and not icmp`, `ip ttl < 3`. The first that matches decides; a packet that
//! none matches is dropped. Packets need their IP header marked. Writing a handler `pattern0`,
//! `pattern1` … replaces a filter while the router runs. The grammar of filters is that of IPFilter
//! (`trammel doc element IPFilter`).
//!
//! # Example
//! ```click
//! // Pings, the beginnings of TCP connections, DNS, and all else, each by an output of its own.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader
//!     -> c :: IPClassifier(icmp type echo, tcp syn, udp dst port 53, -);
//! c[0] -> Discard; c[1] -> Discard; c[2] -> Discard; c[3] -> Discard
//! ```

use super::shared::classifying::{self, PARAMS};
use crate::args::Args;
use crate::args::names::Names;
use crate::args::text::unquote;
use crate::classify::names::Declared;
use crate::classify::{Action, Program};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::study::Study;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::pool::Pool;

/// The class.
pub static ENTRY: Entry = Entry::new("IPClassifier", "classifies IPv4 packets by filters", || {
    Box::<IpClassifier>::default()
})
.ports("1/-", "h/h")
.live()
.params(PARAMS)
.ops("classify(steps); work(60 + 28 * ways)");

#[derive(Debug, Default)]
struct IpClassifier {
    patterns: Vec<String>,
    program: Option<Program>,
}

/// The program of filters, the number of each being its output.
fn compile(patterns: &[String], names: &dyn Names) -> Result<Program, Diagnostics> {
    let rules: Vec<(Action, String)> = (0..)
        .zip(patterns)
        .map(|(output, pattern)| (Action::Output(output), unquote(pattern)))
        .collect();
    Program::ip(&rules, &Declared(names))
}

impl Element for IpClassifier {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let outputs = setup.outputs.len();
        classifying::one_for_each(args.rest(), outputs)?;
        let program = compile(args.rest(), &setup.names())?;
        classifying::warn(&program, setup, outputs);
        self.patterns = args.rest().to_vec();
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
        let patterns = 0..self.patterns.len();
        let mut all = vec![Handler::new("program", "r")];
        all.extend(patterns.map(|at| Handler::new(format!("pattern{at}"), "rw")));
        all
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        if let Some(at) = place(name) {
            return Ok(self.patterns.get(at).cloned().unwrap_or_default());
        }
        let text = self.program.as_ref().map(Program::text);
        Ok(text.unwrap_or_default().to_owned())
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let mut patterns = self.patterns.clone();
        let at = place(name).filter(|at| *at < patterns.len());
        patterns[at.ok_or("no such pattern")?] = value.trim().to_owned();
        let program = compile(&patterns, &ctx.names()).map_err(|said| said.click())?;
        (self.patterns, self.program) = (patterns, Some(program));
        Ok(())
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

/// The number in `pattern3`.
fn place(name: &str) -> Option<usize> {
    name.strip_prefix("pattern")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use crate::probe::{Probe, udp};

    #[test]
    fn each_filter_has_its_output() {
        let mut probe = Probe::new("IPClassifier(tcp, udp and dst port 2000, -)", 3);
        assert_eq!(probe.send_ip(&udp(9, b""))[0].0, 1);
        let mut packet = udp(9, b"");
        packet[9] = 1;
        assert_eq!(probe.send_ip(&packet)[0].0, 2);
    }

    #[test]
    fn a_filter_is_replaced_while_the_router_runs() {
        let mut probe = Probe::new("IPClassifier(tcp, -)", 2);
        assert_eq!(probe.send_ip(&udp(9, b""))[0].0, 1);
        probe.run.write("x.pattern0", "udp").expect("a good filter");
        assert_eq!(probe.run.read("x.pattern0"), "udp");
        assert_eq!(probe.send_ip(&udp(9, b""))[0].0, 0);
        assert!(probe.run.write("x.pattern0", "no such word").is_err());
        assert_eq!(probe.send_ip(&udp(9, b""))[0].0, 0, "the old one stays");
    }
}
