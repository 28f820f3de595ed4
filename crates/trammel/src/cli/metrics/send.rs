//! What `trammel send` counts.

use super::Counts;
use std::sync::atomic::{AtomicU64, Ordering};
use trammel_openmetrics::buckets::{Buckets, TIMES_NS};
use trammel_openmetrics::page::Page;
use trammel_streams::send::Listener;
use trammel_traffic::record::Record;

/// Of all flows together: a thousand flows would be a thousand histograms.
#[derive(Debug)]
pub(in crate::cli) struct SendCounts {
    flows: u64,
    packets: AtomicU64,
    bytes: AtomicU64,
    lateness: Buckets,
    round_trips: Buckets,
}

impl SendCounts {
    pub(in crate::cli) fn new(flows: usize) -> SendCounts {
        SendCounts {
            flows: flows as u64,
            packets: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            lateness: Buckets::of_ns(TIMES_NS),
            round_trips: Buckets::of_ns(TIMES_NS),
        }
    }
}

/// The time between the record's instants; none below 0 ns.
fn between(record: &Record) -> u64 {
    u64::try_from(record.end_ns - record.start_ns).unwrap_or(0)
}

impl Listener for SendCounts {
    fn sent(&self, record: &Record) {
        self.packets.fetch_add(1, Ordering::Relaxed);
        let bytes = u64::from(record.bytes);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.lateness.add(between(record));
    }

    fn returned(&self, record: &Record) {
        self.round_trips.add(between(record));
    }
}

impl Counts for SendCounts {
    fn write(&self, page: &mut Page) {
        let one = |value| [(String::new(), value)];
        page.gauge(
            "trammel_send_flows",
            "Flows of this command.",
            one(self.flows),
        );
        page.counter(
            "trammel_send_packets",
            "Packets that were given to the kernel.",
            one(self.packets.load(Ordering::Relaxed)),
        );
        page.counter(
            "trammel_send_bytes",
            "Bytes of the payloads of packets that were given to the kernel.",
            one(self.bytes.load(Ordering::Relaxed)),
        );
        page.histogram(
            "trammel_send_lateness_seconds",
            "How long after it was due a packet was given to the kernel.",
            [(String::new(), &self.lateness)],
        );
        page.histogram(
            "trammel_send_round_trip_seconds",
            "From when a packet was sent until its answer came; of flows with `--round-trip`.",
            [(String::new(), &self.round_trips)],
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::metrics::{page, tests::serves};

    #[test]
    fn its_page_has_what_the_dashboard_asks_for() {
        let counts = SendCounts::new(2);
        let record = Record {
            flow: 0,
            sequence: 0,
            bytes: 512,
            start_ns: 1_000,
            end_ns: 4_000,
        };
        counts.sent(&record);
        counts.returned(&record);
        serves("send", &counts);
        let page = page(&counts);
        let late = "trammel_send_lateness_seconds_bucket{le=\"5e-6\"} 1";
        assert!(page.contains(late), "{page}");
        assert!(page.contains("trammel_send_bytes_total 512"), "{page}");
    }
}
