//! Filters IPv4 packets by rules.
//!
//! # What it does
//! Each argument is an action, `allow`, `deny`, `drop` or an output, and a filter such as those of
//! IPClassifier. The first rule that matches decides; a packet that none matches is dropped.
//! Packets need their IP header marked.
//!
//! # Grammar
//! ```text
//! rule       := (allow | deny | drop | OUTPUT) (all | expression)
//! expression := any [? expression : expression]
//! any        := every ((or | ||) every)*
//! every      := factor ([and | &&] factor)*
//! factor     := (not | !) factor | ( expression ) | true | false | clause
//! clause     := qualifier* [& mask] [= | == | != | > | < | >= | <=] [value]
//! ```
//! | clause | matches |
//! | --- | --- |
//! | `src host 10.0.0.1`, `dst host web`, `host 10.0.0.1` | an address, or a name of AddressInfo; without `src` or `dst`, either |
//! | `src net 10.0.0.0/8`, `net 10.0.0.0 mask 255.0.0.0` | a network |
//! | `src and dst net lan`, `src or dst port 53` | both ends, or one of them |
//! | `ip proto 6`, `tcp`, `udp`, `icmp`, `igmp`, `gre`, `sctp`, `ipip`, `dccp` | a protocol; `tcpudp` is either of two, `transp` any |
//! | `tcp port 80`, `udp dst port dns`, `port > 1023` | a port by number or name |
//! | `tcp opt syn`, `syn`, `ack`, `fin`, `rst`, `psh`, `urg` | a flag of TCP |
//! | `tcp win < 1000` | the window of TCP |
//! | `icmp type echo`, `icmp type 8` | a type of ICMP by number or name |
//! | `ip ttl < 3`, `ip tos 0x10`, `ip dscp 46`, `ip id 7`, `ip len > 1000`, `ip hl 5`, `ip vers 4` | a field of the IP header |
//! | `ip ect`, `ip ce` | congestion notification (RFC 3168): the sender knows of it; congestion was met |
//! | `ip frag`, `ip unfrag` | a fragment; a whole packet |
//! | `ether src 2:0:0:0:0:1`, `ether host 2:0:0:0:0:1` | an Ethernet address |
//! | `ip[8] < 3`, `transp[0:2] = 53`, `tcp[13] & 2 != 0` | bytes of a header: position, and how many |
//!
//! A clause may leave out what its value tells (`syn`, `www`, `10.0.0.0/8`), and what the clause
//! before said (`src port 80 or 81`). Ports, flags and types are asked of the first fragment of a
//! packet of the protocol: `tcp port != 5` is false for UDP.
//!
//! # Example
//! ```click
//! // Nothing from one network; of the rest, only to web servers.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader
//!     -> IPFilter(deny src net 10.0.0.0/8, allow tcp dst port 80 or 443, deny all) -> Discard
//! ```

use super::shared::classifying::{self, PARAMS};
use crate::args::Args;
use crate::args::text::{is_space, uncomment, unquote};
use crate::classify::Program;
use crate::classify::names::Declared;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::study::Study;
use crate::engine::{Ctx, Element, Handler};
use crate::host::reason;
use crate::reason::Reason;
use std::io::Read;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::pool::Pool;

/// The class.
pub static ENTRY: Entry = Entry::new("IPFilter", "filters IPv4 packets by rules", || {
    Box::<IpFilter>::default()
})
.ports("1/-", "h/h")
.live()
.params(PARAMS)
.ops("classify(steps); work(60 + 28 * ways)");

#[derive(Debug, Default)]
struct IpFilter {
    program: Option<Program>,
    /// The rules, where files are to be read among them.
    rules: Vec<String>,
    outputs: usize,
}

/// The most bytes of a file of rules.
const MOST_BYTES: u64 = 64 << 20;

/// The file that a rule `file NAME` means.
fn file_of(rule: &str) -> Option<&str> {
    let name = rule.trim().strip_prefix("file")?;
    let is_word = name.starts_with(is_space);
    is_word
        .then_some(name.trim())
        .filter(|name| !name.is_empty())
}

impl IpFilter {
    /// The rules with those of files in the place of the files: a line is a rule, `//` and `#`
    /// begin a comment.
    fn read_files(&self, ctx: &mut Ctx) -> Result<Vec<String>, String> {
        let mut all = Vec::new();
        for rule in &self.rules {
            let Some(name) = file_of(rule) else {
                all.push(rule.clone());
                continue;
            };
            let name = unquote(name);
            let told = |why: &std::io::Error| format!("file {name}: {}", reason(why));
            let file = ctx.host().open(&name).map_err(|why| told(&why))?;
            let mut bytes = Vec::new();
            let read = file.take(MOST_BYTES).read_to_end(&mut bytes);
            read.map_err(|why| told(&why))?;
            let text = String::from_utf8_lossy(&bytes);
            let lines = text.lines().map(uncomment);
            let rules = lines.map(|line| line.trim_end_matches([',', ';']).to_owned());
            all.extend(rules.filter(|line| !line.is_empty() && !line.starts_with('#')));
        }
        Ok(all)
    }
}

impl Element for IpFilter {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let rules: Vec<String> = args.rest().iter().map(|rule| unquote(rule)).collect();
        self.outputs = setup.outputs.len();
        if rules.iter().any(|rule| file_of(rule).is_some()) {
            self.rules = rules;
            self.program = None;
            return Ok(());
        }
        self.rules.clear();
        let names = setup.names();
        let program = Program::filter(&rules, setup.outputs.len(), &Declared(&names))?;
        classifying::warn(&program, setup, 0);
        self.program = Some(program);
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        if self.rules.is_empty() {
            return Ok(());
        }
        let rules = self.read_files(ctx)?;
        let names = ctx.names();
        let program = Program::filter(&rules, self.outputs, &Declared(&names));
        self.program = Some(program.map_err(|said| said.click().trim_end().to_owned())?);
        Ok(())
    }

    fn reconfigured(&mut self, ctx: &mut Ctx) {
        if let Err(why) = self.initialize(ctx) {
            let text = format!("{}: {why}\n", ctx.declaration(ctx.me()));
            ctx.host().say(&text);
        }
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
    use crate::load::testing::{errors, load_with};
    use crate::memory::MemoryHost;
    use crate::probe::{Probe, udp};
    use crate::reason::Reason;

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
    fn who_is_refused_by_a_rule_and_who_by_none_are_told_apart() {
        let rules = "deny src host 10.0.0.9, allow udp && dst port 2000";
        let mut probe = Probe::new(&format!("IPFilter({rules})"), 1);
        for (source, port, reason) in [
            (9, 2000_u16, Some(Reason::Filtered)),
            (1, 2000, None),
            (1, 2001, Some(Reason::NoMatch)),
            (9, 2001, Some(Reason::Filtered)),
        ] {
            let mut packet = udp(9, b"");
            packet[15] = source;
            packet[22..24].copy_from_slice(&port.to_be_bytes());
            let before = probe.drops();
            assert_eq!(probe.send_ip(&packet).len(), usize::from(reason.is_none()));
            let after = probe.drops();
            for (at, of) in Reason::ALL.iter().enumerate() {
                let grown = after[at] - before[at];
                assert_eq!(
                    grown,
                    u64::from(Some(*of) == reason),
                    "{} {source} {port}",
                    of.text()
                );
            }
        }
    }

    #[test]
    fn names_of_the_configuration_are_known() {
        let mut probe = Probe::new("IPFilter(\"allow udp && dst port 2000\")", 1);
        assert_eq!(probe.send_ip(&udp(9, b"")).len(), 1);
    }

    #[test]
    fn rules_may_stand_in_a_file() {
        let host = MemoryHost::new();
        let rules = b"# hosts\ndeny src host 10.0.0.9\n\nallow udp, // the rest\n".to_vec();
        host.memory().files.insert("acl".to_owned(), rules);
        let text = "Idle -> x :: IPFilter(deny dst port 7, file acl, deny all) -> Discard";
        let mut run = load_with(&host, text).expect("it is right");
        let x = run.ctx.find("x", None).expect("it is declared");
        for (last, passes) in [(1, 1), (9, 0)] {
            let mut packet = udp(9, b"");
            packet[15] = last;
            let handle = run.ctx.pool().alloc_with(&packet).expect("room");
            crate::headers::ip_packet::mark(&mut run.ctx.pool()[&handle], 0);
            let left = run.ctx.pass(x, vec![handle]);
            assert_eq!(left.len(), passes);
            for (_, handle) in left {
                run.ctx.pool().free(handle);
            }
        }
        let why = load_with(&MemoryHost::new(), text)
            .err()
            .unwrap_or_default();
        assert!(why.contains("file acl: No such file"), "{why}");
    }

    #[test]
    fn an_unknown_action_is_told() {
        assert_eq!(
            errors("Idle -> c :: IPFilter(maybe udp) -> Idle"),
            "config:1: While configuring 'c :: IPFilter':\n  pattern 0: unknown slot ID 'maybe'\n\
             Router could not be initialized!\n"
        );
    }
}
