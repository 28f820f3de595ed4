//! A policer: drops what exceeds a rate and delays nothing.
//!
//! # What it does
//! A bucket of `burst` bytes fills at `rate`. A packet for which it holds enough tokens takes them
//! and goes on at once; any other is dropped. There is no queue for it to wait in: the FIFO behind
//! the policer is that of the link, of `limit` packets or bytes, and stays short where the link is
//! faster than the policer's rate.
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "100 Mbit/s"
//! rtt = "40 ms"
//! queue = { discipline = "policer", rate = "20 Mbit/s", burst = "100 KB" }
//! [[flow]]
//! variant = "cubic"
//! [[flow]]
//! variant = "bbr"
//! ```
//!
//! # Parameters
//! `rate` (0 for that of the link) and `burst`.
//!
//! # References
//! `tc-police(8)`; Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016.

use super::{Discipline, Drop, Entry, Item, LinkFacts};
use crate::fifo::Fifo;
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_core::units::{Rate, TxTime};

/// The policer in the table of disciplines.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "policer",
        aliases: &["police"],
        summary: "a token bucket without a queue: drops what exceeds a rate",
        references: &["tc-police(8)", "Flach et al., SIGCOMM 2016"],
        params: &[
            Param {
                name: "rate",
                kind: Kind::Rate,
                default: "0 bit/s",
                unit: "bit/s",
                help: "rate that the bucket fills at; 0 is that of the link",
            },
            Param {
                name: "burst",
                kind: Kind::Bytes,
                default: "20 KB",
                unit: "B",
                help: "bytes that may exceed the rate at once",
            },
        ],
    },
    marks: false,
    limit_pkts: None,
    build: |params, facts| Ok(Box::new(Policer::new(params, facts)?)),
};

#[derive(Debug)]
struct Policer {
    queue: Fifo,
    /// What a byte costs; nothing where there is no rate to police.
    tx: Option<TxTime>,
    /// The depth of the bucket, as the time in which it fills.
    depth: Span,
    /// When the bucket will be full.
    full_at: Time,
}

impl Policer {
    fn new(params: &Params, facts: &LinkFacts) -> Result<Policer, String> {
        let bps = match params.rate("rate").as_bps() {
            0 => facts.rate_bps,
            bps => bps,
        };
        let burst = params.bytes("burst");
        let largest = u64::from(facts.mtu) + u64::from(facts.overhead);
        if burst < largest {
            return Err(format!(
                "`burst` is {burst} B: a packet of {largest} B would never pass"
            ));
        }
        let tx = (bps > 0).then(|| TxTime::new(Rate::from_bps(bps)));
        Ok(Policer {
            queue: Fifo::new(facts),
            tx,
            depth: tx.map_or(Span::ZERO, |tx| tx.of(burst)),
            full_at: Time::ZERO,
        })
    }

    /// Takes the tokens for `bytes` bytes, if there are enough.
    fn conforms(&mut self, now: Time, bytes: u32) -> bool {
        let Some(tx) = self.tx else {
            return true;
        };
        let tokens = tx.of(u64::from(bytes));
        let full_at = self.full_at.max(now).saturating_add(tokens);
        let conforms = full_at - now <= self.depth;
        if conforms {
            self.full_at = full_at;
        }
        conforms
    }
}

impl Discipline for Policer {
    fn enqueue(
        &mut self,
        now: Time,
        item: Item,
        _rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) {
        if self.conforms(now, item.bytes) {
            self.queue.push(now, item, dropped);
        } else {
            dropped(item, Drop::Early);
        }
    }

    fn dequeue(
        &mut self,
        _now: Time,
        _rng: &mut Rng,
        _dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item> {
        self.queue.pop()
    }

    fn packets(&self) -> u32 {
        self.queue.packets()
    }

    fn bytes(&self) -> u64 {
        self.queue.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::{FACTS, item, params};
    use trammel_core::entry::Value;

    /// When packets of 1500 bytes, offered one a millisecond, pass 1.2 Mbit/s with this burst.
    fn passed(burst: u64, ms: std::ops::Range<u64>) -> Vec<u64> {
        let given = [
            ("rate", Value::Rate(Rate::from_bps(1_200_000))),
            ("burst", Value::Bytes(burst)),
        ];
        let mut policer = Policer::new(&params(&ENTRY, &given), &FACTS).expect("possible");
        let mut rng = Rng::new(1, "policer");
        let mut passed = Vec::new();
        for ms in ms {
            let now = Time::from_ms(ms);
            policer.enqueue(now, item(0), &mut rng, &mut |_, why| {
                assert_eq!(why, Drop::Early);
            });
            let sent = policer.dequeue(now, &mut rng, &mut |_, _| {});
            passed.extend(sent.map(|_| ms));
        }
        passed
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        // A packet is 10 ms of the rate: three at once, of which tokens for 0.2 are back by then.
        assert_eq!(passed(4500, 0..40), [0, 1, 2, 10, 20, 30]);
    }

    #[test]
    fn tokens_gather_in_idle_times_up_to_the_burst() {
        assert_eq!(passed(4500, 1000..1013), [1000, 1001, 1002, 1010]);
    }

    #[test]
    fn a_bucket_that_no_packet_fits_into_is_refused() {
        let given = [("burst", Value::Bytes(1499))];
        let refused = Policer::new(&params(&ENTRY, &given), &FACTS).expect_err("too small");
        assert!(refused.contains("1500 B"), "{refused}");
    }
}
