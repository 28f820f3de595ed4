//! Step marking: packets that find more than K packets waiting are marked (the switch of DCTCP).
//!
//! # What it does
//! An ECN-capable packet that arrives while more than `threshold` packets wait is marked; there is
//! no average and no randomness. Packets that are not ECN-capable queue up to the limit, or are
//! dropped where they would be marked, as the RED of most switches does.
//!
//! # Example
//! ```toml
//! duration = "5 s"
//! [path]
//! rate = "100 Mbit/s"
//! rtt = "2 ms"
//! queue = { discipline = "threshold", threshold = 20, limit = "200 packets" }
//! [[flow]]
//! variant = "dctcp"
//! [[flow]]
//! variant = "dctcp"
//! ```
//!
//! # Parameters
//! `threshold`: K. DCTCP's authors use 20 packets at 1 Gbit/s and 65 at 10 Gbit/s; K > RTT · C / 7
//! is their bound against underflow. `ecn`: off, every packet counts as not ECN-capable.
//! `not_capable`: what becomes of those.
//!
//! # References
//! Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010, §3.1; RFC 8257 §3.1.

use super::{Discipline, Drop, Entry, Item};
use crate::fifo::Fifo;
use trammel_core::entry::{About, Kind, Param};
use trammel_core::rng::Rng;
use trammel_core::time::Time;

/// Step marking in the table of disciplines.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "threshold",
        aliases: &["step", "dctcp"],
        summary: "marks packets that find more than K waiting, as DCTCP requires",
        references: &["Alizadeh et al., SIGCOMM 2010, §3.1", "RFC 8257 §3.1"],
        params: &[
            Param {
                name: "threshold",
                kind: Kind::Int(0, u32::MAX as i64),
                default: "65",
                unit: "packets",
                help: "a packet that finds more than so many waiting is marked",
            },
            Param {
                name: "ecn",
                kind: Kind::Bool,
                default: "true",
                unit: "",
                help: "mark ECN-capable packets",
            },
            Param {
                name: "not_capable",
                kind: Kind::Choice(&["queue", "drop"]),
                default: "queue",
                unit: "",
                help: "what to do with packets above the threshold that cannot be marked",
            },
        ],
    },
    marks: true,
    limit_pkts: None,
    build: |params, facts| {
        Ok(Box::new(Threshold {
            queue: Fifo::new(facts),
            mark_above: params.int("threshold") as u32,
            is_ecn: params.bool("ecn"),
            drops_others: params.text("not_capable") == "drop",
        }))
    },
};

#[derive(Debug)]
struct Threshold {
    queue: Fifo,
    mark_above: u32,
    is_ecn: bool,
    drops_others: bool,
}

impl Discipline for Threshold {
    fn enqueue(
        &mut self,
        now: Time,
        mut item: Item,
        _rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) {
        // A packet that does not fit is lost whatever the threshold says.
        let is_above = self.queue.packets() > self.mark_above && self.queue.has_room(item.bytes);
        if is_above && !(self.is_ecn && item.mark()) && self.drops_others {
            dropped(item, Drop::Early);
        } else {
            self.queue.push(now, item, dropped);
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
    use trammel_core::ecn::Ecn;
    use trammel_core::entry::Value;

    fn fates(not_capable: &str, ecn_capable: bool) -> (Vec<u32>, Vec<u32>) {
        let given = [
            ("threshold", Value::Int(2)),
            ("not_capable", Value::Text(not_capable.into())),
        ];
        let mut queue = (ENTRY.build)(&params(&ENTRY, &given), &FACTS).unwrap();
        let mut rng = Rng::new(1, "queue");
        let mut lost = Vec::new();
        for id in 0..5 {
            let packet = Item {
                ecn: if ecn_capable { Ecn::Ect0 } else { Ecn::NotEct },
                ..item(id)
            };
            queue.enqueue(Time::ZERO, packet, &mut rng, &mut |item, why| {
                assert_eq!(why, Drop::Early);
                lost.push(item.id);
            });
        }
        let marked = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut rng, &mut |_, _| {}))
            .filter(|item| item.marked)
            .map(|item| item.id)
            .collect();
        (marked, lost)
    }

    #[test]
    fn marks_those_that_find_more_than_the_threshold() {
        assert_eq!(fates("queue", true), (vec![3, 4], vec![]));
        assert_eq!(fates("drop", true), (vec![3, 4], vec![]));
    }

    #[test]
    fn others_queue_or_are_dropped() {
        assert_eq!(fates("queue", false), (vec![], vec![]));
        assert_eq!(fates("drop", false), (vec![], vec![3, 4]));
    }
}
