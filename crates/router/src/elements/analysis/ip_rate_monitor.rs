//! Measures the rates from and to addresses and networks.
//!
//! # What it does
//! Packets at input 0 count for their source, those at input 1 for their destination: rates are
//! kept of the 256 networks of the first byte, and within a network whose rate is `THRESH` or more,
//! of its parts, down to hosts. Packets get the annotations FWD_RATE and REV_RATE of the smallest
//! network that is watched.
//!
//! # Handlers
//! - `look`: what is watched, with rates
//! - `mem`: bytes of memory in use
//! - `memmax`: the most bytes of memory
//! - `anno_level`: has a network be watched no deeper than a level: `ADDR LEVEL SECONDS`
//!
//! # Example
//! ```click
//! // The parts of networks are watched from which more than 256 packets a second come, in 600 KB.
//! FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> m :: IPRateMonitor(PACKETS, 0.5, 256, 600)
//!     -> Discard
//! ```

use super::shared::rate_tree::{RateTree, Way};
use crate::args::addresses::parse_ip;
use crate::args::kinds::{INT, UINT};
use crate::args::numbers::{parse_int, parse_uint};
use crate::args::text::split_words;
use crate::args::{Args, Kind, Need, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::element::cast;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::headers::ip_packet;
use trammel_packet::anno;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "IPRateMonitor",
    "measures the rates from and to addresses",
    || Box::<IpRateMonitor>::default(),
)
.ports("1-2/1-2", "a/a")
.params(&[
    param(
        "TYPE",
        Need::Mandatory,
        Kind::Word,
        "",
        "`PACKETS` or `BYTES`",
    ),
    param(
        "RATIO",
        Need::Mandatory,
        Kind::Fixed(16),
        "",
        "the part of all packets that is counted",
    ),
    param(
        "THRESH",
        Need::Mandatory,
        INT,
        "",
        "rate at which the parts of a network are watched",
    ),
    param(
        "MEMORY",
        Need::Positional,
        UINT,
        "0",
        "kilobytes to use, at least 100; 0 is no bound",
    ),
    param(
        "ANNO",
        Need::Positional,
        Kind::Bool,
        "true",
        "whether packets are annotated",
    ),
])
.ops("random(); parse(8); array_access(8, 256); array_access(80, entries); work(465)");

/// A part of one in the unit of `RATIO`.
const ALL: u32 = 1 << 16;
/// The least bound on memory, in kilobytes.
const LEAST_KB: u64 = 100;

#[derive(Debug, Default)]
struct IpRateMonitor {
    tree: RateTree,
    counts_bytes: bool,
    annotates: bool,
    ratio: u32,
}

/// A bound in bytes; 0 KB is none.
fn bound(kilobytes: u64) -> Option<usize> {
    let bytes = kilobytes.max(LEAST_KB).saturating_mul(1024);
    (kilobytes > 0).then(|| usize::try_from(bytes).unwrap_or(usize::MAX))
}

impl IpRateMonitor {
    fn count(&mut self, ctx: &mut Ctx, batch: &Packets, way: Way) {
        if batch.is_empty() {
            return;
        }
        let now = ctx.now();
        for handle in batch {
            let sample = (ctx.draw_bits(31) >> 5) & (ALL - 1) <= self.ratio;
            let Some(ip) = ip_packet::header(&ctx.pool()[handle]) else {
                continue;
            };
            let address = if way == Way::From { ip.src } else { ip.dst };
            let amount = if self.counts_bytes {
                u64::from(ip.total_length.get())
            } else {
                1
            };
            let choose = || ctx.draw(2) == 1;
            let rates = self.tree.count(address, way, amount, sample, now, choose);
            if let Some((from, to)) = rates.filter(|_| self.annotates) {
                let packet = &mut ctx.pool()[handle];
                packet.set_anno_u32(anno::FWD_RATE, from);
                packet.set_anno_u32(anno::REV_RATE, to);
            }
        }
    }
}

fn way(port: usize) -> Way {
    if port == 0 { Way::From } else { Way::To }
}

impl Element for IpRateMonitor {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.counts_bytes = match args.text("TYPE").to_ascii_uppercase().as_str() {
            "PACKETS" => false,
            "BYTES" => true,
            _ => {
                return Err(Diagnostics::of(
                    "monitor type should be \"PACKETS\" or \"BYTES\"",
                ));
            }
        };
        self.ratio = args.uint("RATIO") as u32;
        if self.ratio > ALL {
            return Err(Diagnostics::of("ratio must be between 0 and 1"));
        }
        // As if all packets were counted.
        self.tree.threshold = (args.int("THRESH") * i64::from(self.ratio)) >> 16;
        self.tree.memory_bound = bound(args.uint("MEMORY"));
        self.annotates = args.bool("ANNO");
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let now = ctx.now();
        self.tree.reset(now);
        Ok(())
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, batch: Batch) {
        self.count(ctx, &batch, way(port));
        ctx.emit_all(port, batch);
    }

    fn pull(&mut self, ctx: &mut Ctx, port: usize, max: usize, into: &mut Packets) {
        let mut batch = ctx.batch();
        ctx.pull(port, max.min(into.room()), &mut batch);
        self.count(ctx, &batch, way(port));
        for handle in batch.drain() {
            into.push(handle);
        }
        ctx.recycle(batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        let all = [
            ("thresh", "r"),
            ("look", "r"),
            ("mem", "r"),
            ("memmax", "rw"),
            ("anno_level", "w"),
            ("reset", "wb"),
        ];
        all.map(|(name, letters)| Handler::new(name, letters))
            .into()
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "thresh" => self.tree.threshold.to_string(),
            "mem" => self.tree.memory().to_string(),
            "memmax" => self.tree.memory_bound.unwrap_or(0).to_string(),
            _ => {
                let now = ctx.now();
                self.tree.text(now)
            }
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let now: Timestamp = ctx.now();
        match name {
            "reset" => self.tree.reset(now),
            "memmax" => {
                let kilobytes = parse_uint(value.trim(), u64::from(u32::MAX));
                let kilobytes = kilobytes.map_err(|_| "not an integer")?;
                let oldest_first = ctx.draw(2) == 1;
                self.tree.bound_memory(bound(kilobytes), now, oldest_first);
            }
            _ => {
                let words = split_words(&value.replace(',', " "));
                let [address, level, secs] = &words[..] else {
                    return Err("expecting 3 arguments".to_owned());
                };
                let address = parse_ip(address, &ctx.names()).map_err(|_| "not an IP address")?;
                let level = parse_int(level, 0, 3)
                    .map_err(|_| "2nd argument specifies a level, between 0 and 3, to annotate")?;
                let secs = parse_int(secs, 1, i64::from(i32::MAX))
                    .map_err(|_| "3rd argument specifies when this rule expires, must be > 0")?;
                self.tree
                    .close_below(address.octets(), level as usize, secs, now);
            }
        }
        Ok(())
    }

    fn take_state(&mut self, _: &mut Ctx, old: &mut dyn Element) {
        if let Some(old) = cast::<IpRateMonitor>(old) {
            let (threshold, bound) = (self.tree.threshold, self.tree.memory_bound);
            self.tree = std::mem::take(&mut old.tree);
            (self.tree.threshold, self.tree.memory_bound) = (threshold, bound);
        }
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        vec![("entries", self.tree.counters() as f64)]
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn sources_and_destinations_are_measured_and_annotated() {
        let mut run = loaded(
            "RatedSource(RATE 1000, LENGTH 40) -> IPEncap(udp, 10.1.2.3, 20.4.5.6) \
             -> m :: IPRateMonitor(PACKETS, 1, 100) -> t :: Tee -> Discard; \
             t [1] -> [1] m; m [1] -> c :: Classifier(0/45) -> Discard",
        );
        run.run(3.0);
        let text = run.read("m.look");
        let names: Vec<&str> = text
            .lines()
            .skip(1)
            .map(|line| line.trim_start().split('\t').next().unwrap_or(""))
            .collect();
        assert_eq!(
            names,
            [
                "10", "10.1", "10.1.2", "10.1.2.3", "20", "20.4", "20.4.5", "20.4.5.6"
            ]
        );
        assert!(text.starts_with("37"), "{text}");
        run.write("m.anno_level", "10.0.0.0 0 60")
            .expect("it is one");
        run.write("m.memmax", "100").expect("it is one");
        assert!(!run.read("m.look").contains("10.1"));
        assert_eq!(
            (run.read("m.memmax"), run.read("m.thresh")),
            ("102400".into(), "100".into())
        );
        run.write("m.reset", "").expect("it is reset");
        assert_eq!(run.read("m.look"), "0\n");
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (arguments, why) in [
            ("FOO, 1, 1", "monitor type"),
            ("PACKETS, 2, 1", "between 0 and 1"),
            ("BYTES, 1", "THRESH"),
        ] {
            let text = errors(&format!("Idle -> IPRateMonitor({arguments}) -> Discard"));
            assert!(text.contains(why), "{text}");
        }
        let mut run = loaded("Idle -> m :: IPRateMonitor(BYTES, 1, 1) -> Discard");
        for (value, why) in [
            ("1.2.3.4 1", "3 arguments"),
            ("x 1 1", "IP address"),
            ("1.2.3.4 4 1", "level"),
            ("1.2.3.4 1 0", "expires"),
        ] {
            assert!(
                run.write("m.anno_level", value).unwrap_err().contains(why),
                "{value}"
            );
        }
    }
}
