//! Maps IP addresses to Ethernet addresses, for several `ARPQuerier`s.
//!
//! # What it does
//! It has no ports. Queriers that name it by `TABLE` look addresses up here, and leave packets here
//! that wait for an address.
//!
//! # Example
//! ```click
//! // Two interfaces of one network share what they learn.
//! t :: ARPTable(TIMEOUT 60s);
//! q :: ARPQuerier(10.0.0.1, 2:0:0:0:0:1, TABLE t) -> Queue -> ToDevice(eth0); Idle -> q;
//! Idle -> [1] q
//! ```

use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::element::cast;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use crate::neighbours::Neighbours;
use crate::neighbours::arp;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "ARPTable",
    "maps IP addresses to Ethernet addresses",
    || Box::<ArpTable>::default(),
)
.ports("0/0", "a/a")
.references(&["RFC 826"])
.params(&[
    arp::CAPACITY,
    arp::ENTRY_CAPACITY,
    arp::ENTRY_PACKET_CAPACITY,
    arp::CAPACITY_SLIM_FACTOR,
    arp::TIMEOUT,
]);

/// The element; queriers reach its table.
#[derive(Debug, Default)]
pub struct ArpTable {
    /// The table.
    pub neighbours: Neighbours<u32>,
    timer: Option<TimerId>,
}

/// When a table is slimmed first: after its timeout, in whole seconds.
pub(super) fn first_slimming(table: &Neighbours<u32>) -> Option<Timestamp> {
    let ms = table.limits.timeout_ms;
    (ms != 0).then(|| Timestamp::from_secs(ms / 1000))
}

/// How long it then goes without being slimmed: a second more.
pub(super) fn interval(table: &Neighbours<u32>) -> Option<Timestamp> {
    Some(first_slimming(table)? + Timestamp::from_secs(1))
}

impl Element for ArpTable {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        arp::set_limits(&mut self.neighbours.limits, args).map_err(|why| {
            let mut said = Diagnostics::new();
            said.error(None, why);
            said
        })
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        if let Some(after) = first_slimming(&self.neighbours) {
            let timer = ctx.new_timer(0);
            ctx.set_timer_after(timer, after);
            self.timer = Some(timer);
        }
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        let now = arp::now_ms(ctx);
        self.neighbours.slim(ctx, now);
        if let (Some(timer), Some(after)) = (self.timer, interval(&self.neighbours)) {
            ctx.set_timer_after(timer, after);
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        [
            ("table", "r"),
            ("drops", "r"),
            ("count", "r"),
            ("length", "r"),
            ("insert", "w"),
            ("delete", "w"),
            ("clear", "w"),
        ]
        .map(|(name, letters)| Handler::new(name, letters))
        .to_vec()
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "table" => arp::table_text(&self.neighbours, arp::now_ms(ctx)),
            "drops" => self.neighbours.drops().to_string(),
            "count" => self.neighbours.count().to_string(),
            _ => self.neighbours.waiting().to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        arp::write(&mut self.neighbours, ctx, name, value)
    }

    fn take_state(&mut self, _: &mut Ctx, old: &mut dyn Element) {
        if let Some(old) = cast::<ArpTable>(old) {
            self.neighbours.take(&mut old.neighbours);
        }
    }

    fn cleanup(&mut self, ctx: &mut Ctx) {
        self.neighbours.clear(ctx);
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn handlers_insert_delete_and_clear() {
        let mut run = loaded("t :: ARPTable; Idle -> Discard;");
        run.write("t.insert", "1.0.0.1 2:1:0:0:1:f").expect("right");
        run.write("t.insert", "1.0.0.2 2:1:0:0:2:f").expect("right");
        run.write("t.delete", "1.0.0.1").expect("right");
        assert!(run.write("t.insert", "1.0.0.2").is_err());
        let table = run.read("t.table");
        let lines: Vec<&str> = table.lines().collect();
        assert!(
            lines[0].starts_with("1.0.0.2 1 02-01-00-00-02-0F 0."),
            "{table}"
        );
        assert!(
            lines[1].starts_with("1.0.0.1 0 FF-FF-FF-FF-FF-FF 0."),
            "{table}"
        );
        run.write("t.clear", "").expect("right");
        assert_eq!(run.read("t.count"), "0");
    }

    #[test]
    fn entries_end_when_their_time_is_over() {
        let mut run = loaded("t :: ARPTable(TIMEOUT 2s); Idle -> Discard;");
        run.write("t.insert", "1.0.0.1 2:1:0:0:1:f").expect("right");
        run.run(7.0);
        assert_eq!(run.read("t.table"), "");
    }

    #[test]
    fn silent_entries_go_when_the_table_is_slimmed() {
        // That is after 4 seconds, and then every 5.
        let mut run = loaded(
            "t :: ARPTable(TIMEOUT 4s); Idle -> Discard; \
             Script(wait 1s, write t.insert 1.0.0.1 2:1:0:0:1:f)",
        );
        run.run(8.9);
        assert_eq!(run.read("t.count"), "1");
        run.run(0.2);
        assert_eq!(run.read("t.count"), "0");
    }

    #[test]
    fn a_slim_factor_of_zero_is_refused() {
        let said = errors("t :: ARPTable(CAPACITY_SLIM_FACTOR 0); Idle -> Discard;");
        assert!(
            said.contains("CAPACITY_SLIM_FACTOR cannot be zero"),
            "{said}"
        );
    }
}
