//! What a card of `trammel netfpga run` counts: its registers.

use super::Counts;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use trammel_netfpga::device::Design;
use trammel_netfpga::registers::{Access, Registers};
use trammel_openmetrics::buckets::Buckets;
use trammel_openmetrics::page::{Page, labels};

/// Bounds of words in an output queue; one is 8 bytes.
const WORDS: &[u64] = &[
    0, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536,
];

/// A register, and what it said last.
#[derive(Debug)]
struct Seen {
    name: String,
    address: u32,
    value: u32,
}

/// Of one card.
#[derive(Debug)]
pub(in crate::cli) struct CardCounts {
    counters: Mutex<Vec<Seen>>,
    queues: Mutex<Vec<Seen>>,
    words: BTreeMap<String, Buckets>,
}

impl CardCounts {
    pub(in crate::cli) fn new(design: &Design) -> CardCounts {
        let map = design.map();
        let seen = |name: String, address| Seen {
            name,
            address,
            value: 0,
        };
        let counters = map
            .all()
            .filter(|named| named.register.access == Access::Counter)
            .map(|named| seen(named.name.clone(), named.address));
        let counters = counters.collect();
        let queues: Vec<Seen> = map
            .all()
            .filter_map(|named| {
                let queue = named.name.strip_prefix("OQ_QUEUE_")?;
                let queue = queue.strip_suffix("_NUM_WORDS_IN_Q_REG")?;
                Some(seen(queue.to_owned(), named.address))
            })
            .collect();
        let buckets = |queue: &Seen| (queue.name.clone(), Buckets::new(WORDS, 1.0));
        CardCounts {
            counters: Mutex::new(counters),
            words: queues.iter().map(buckets).collect(),
            queues: Mutex::new(queues),
        }
    }

    /// Reads the registers as they are.
    pub(in crate::cli) fn look(&self, registers: &mut impl Registers) {
        for all in [&self.counters, &self.queues] {
            let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
            for seen in all.iter_mut() {
                seen.value = registers.read(seen.address);
            }
        }
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        for queue in queues.iter() {
            if let Some(words) = self.words.get(&queue.name) {
                words.add(u64::from(queue.value));
            }
        }
    }
}

impl Counts for CardCounts {
    fn write(&self, page: &mut Page) {
        let rows = |all: &Mutex<Vec<Seen>>, label| {
            let all = all.lock().unwrap_or_else(PoisonError::into_inner);
            let row = |seen: &Seen| (labels(&[(label, &seen.name)]), u64::from(seen.value));
            all.iter().map(row).collect::<Vec<_>>()
        };
        page.counter(
            "trammel_netfpga_register",
            "What a counter of the card says, modulo 2^32; a program may set it to 0.",
            rows(&self.counters, "register"),
        );
        page.gauge(
            "trammel_netfpga_queue_words",
            "Words of 8 bytes in an output queue.",
            rows(&self.queues, "queue"),
        );
        let words = self.words.iter();
        page.histogram(
            "trammel_netfpga_queue_occupancy_words",
            "Words of 8 bytes in an output queue, looked at ten times a second.",
            words.map(|(queue, words)| (labels(&[("queue", queue)]), words)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::metrics::{page, tests::serves};
    use trammel_netfpga::{Device, design};

    #[test]
    fn a_card_at_rest_has_all_its_counters_and_queues() {
        let design = design("reference-router").expect("it is built in");
        let counts = CardCounts::new(design);
        let mut device = Device::new(design);
        counts.look(&mut device);
        serves("netfpga", &counts);
        let page = page(&counts);
        let queues = page.matches("trammel_netfpga_queue_words{").count();
        assert_eq!(queues, 8, "{page}");
        assert!(page.contains("queue_occupancy_words_bucket{queue=\"0\",le=\"0.0\"} 1"));
    }

    #[test]
    fn the_dashboard_counts_a_frame_of_a_port_once() {
        let page = page(&CardCounts::new(
            design("reference-router").expect("it is built in"),
        ));
        let path = "/../../share/grafana/netfpga.json";
        let dashboard = std::fs::read_to_string(env!("CARGO_MANIFEST_DIR").to_owned() + path);
        let dashboard = dashboard.expect("it is there");
        let asked = dashboard.split("register=~\\\"").skip(1);
        let asked = asked.filter_map(|rest| rest.split_once('\\'));
        let of_ports = asked.filter(|(pattern, _)| pattern.starts_with("MAC_GRP_"));
        let patterns: Vec<&str> = of_ports.map(|(pattern, _)| pattern).collect();
        assert_eq!(patterns.len(), 2, "{patterns:?}");
        for pattern in patterns {
            let (begin, end) = pattern.split_once(".*").expect("it is of all ports");
            let names = page.split("register=\"").skip(1);
            let names = names.filter_map(|rest| rest.split('"').next());
            let of_pattern = names.filter(|name| name.starts_with(begin) && name.ends_with(end));
            assert_eq!(of_pattern.count(), 4, "{pattern}: one for each port");
        }
    }
}
