//! What `trammel recv` counts.

use super::Counts;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use trammel_openmetrics::buckets::{Buckets, TIMES_NS};
use trammel_openmetrics::page::Page;
use trammel_streams::receive::Keeper;
use trammel_traffic::receive::hub::Sink;
use trammel_traffic::record::{LoggedFlow, Record};
use trammel_traffic::signal::message::Count;

/// Of all flows together.
#[derive(Debug)]
pub(in crate::cli) struct RecvCounts {
    opened: AtomicU64,
    closed: AtomicU64,
    packets: AtomicU64,
    bytes: AtomicU64,
    lost: AtomicU64,
    below_zero: AtomicU64,
    delays: Buckets,
    variation: Buckets,
}

impl RecvCounts {
    pub(in crate::cli) fn new() -> RecvCounts {
        let zero = || AtomicU64::new(0);
        RecvCounts {
            opened: zero(),
            closed: zero(),
            packets: zero(),
            bytes: zero(),
            lost: zero(),
            below_zero: zero(),
            delays: Buckets::of_ns(TIMES_NS),
            variation: Buckets::of_ns(TIMES_NS),
        }
    }
}

/// A sink that counts what goes to the one within.
pub(in crate::cli) struct Counted {
    within: Keeper,
    counts: Arc<RecvCounts>,
    /// The one-way delay of the packet that came before, by flow, in nanoseconds.
    before: BTreeMap<u32, i64>,
}

impl Counted {
    pub(in crate::cli) fn new(within: Keeper, counts: Arc<RecvCounts>) -> Counted {
        Counted {
            within,
            counts,
            before: BTreeMap::new(),
        }
    }
}

impl Sink for Counted {
    fn flow(&mut self, flow: &LoggedFlow) {
        self.counts.opened.fetch_add(1, Ordering::Relaxed);
        self.within.flow(flow);
    }

    fn record(&mut self, record: &Record) {
        let counts = &self.counts;
        counts.packets.fetch_add(1, Ordering::Relaxed);
        let bytes = u64::from(record.bytes);
        counts.bytes.fetch_add(bytes, Ordering::Relaxed);
        let delay = record.end_ns - record.start_ns;
        match u64::try_from(delay) {
            Ok(delay) => counts.delays.add(delay),
            Err(_) => {
                counts.below_zero.fetch_add(1, Ordering::Relaxed);
            }
        }
        // What clocks are apart is in both delays and falls out.
        if let Some(before) = self.before.insert(record.flow, delay) {
            counts.variation.add(delay.abs_diff(before));
        }
        self.within.record(record);
    }

    fn port_failed(&mut self, port: &str, why: &std::io::Error) {
        self.within.port_failed(port, why);
    }

    fn tested(&mut self, from: SocketAddr, what: &str) {
        self.within.tested(from, what);
    }

    fn closed(&mut self, flow: u32, received: Count, sent: Option<Count>) {
        self.counts.closed.fetch_add(1, Ordering::Relaxed);
        self.before.remove(&flow);
        if let Some(sent) = sent {
            let lost = sent.packets.saturating_sub(received.packets);
            self.counts.lost.fetch_add(lost, Ordering::Relaxed);
        }
        Sink::closed(&mut self.within, flow, received, sent);
    }
}

impl Counts for RecvCounts {
    fn write(&self, page: &mut Page) {
        let one = |value: u64| [(String::new(), value)];
        let of = |count: &AtomicU64| one(count.load(Ordering::Relaxed));
        let closed = self.closed.load(Ordering::Relaxed);
        let open = self.opened.load(Ordering::Relaxed).saturating_sub(closed);
        page.gauge("trammel_recv_flows", "Flows that are open.", one(open));
        page.counter(
            "trammel_recv_closed_flows",
            "Flows that were closed.",
            one(closed),
        );
        page.counter(
            "trammel_recv_packets",
            "Packets that came.",
            of(&self.packets),
        );
        page.counter(
            "trammel_recv_bytes",
            "Bytes of the payloads of packets that came.",
            of(&self.bytes),
        );
        page.counter(
            "trammel_recv_lost_packets",
            "Packets of closed flows that were sent and did not come.",
            of(&self.lost),
        );
        page.histogram(
            "trammel_recv_one_way_delay_seconds",
            "From when a packet was sent, by the sender's clock, until it came, by this one.",
            [(String::new(), &self.delays)],
        );
        page.counter(
            "trammel_recv_negative_delays",
            "Packets that came before they were sent, since the clocks differ; in no bucket.",
            of(&self.below_zero),
        );
        page.histogram(
            "trammel_recv_delay_variation_seconds",
            "By how much the delays of two packets of a flow that came one after the other differ.",
            [(String::new(), &self.variation)],
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::metrics::{page, tests::serves};

    #[test]
    fn delays_below_zero_are_counted_apart_and_vary_all_the_same() {
        let counts = Arc::new(RecvCounts::new());
        let mut sink = Counted::new(Keeper::new(None), Arc::clone(&counts));
        for (sequence, end_ns) in [(0, 3_000), (1, 500), (2, 2_500)] {
            sink.record(&Record {
                flow: 7,
                sequence,
                bytes: 100,
                start_ns: 1_000,
                end_ns,
            });
        }
        serves("recv", counts.as_ref());
        let page = page(counts.as_ref());
        for line in [
            "trammel_recv_packets_total 3",
            "trammel_recv_negative_delays_total 1",
            "trammel_recv_one_way_delay_seconds_count 2",
            "trammel_recv_delay_variation_seconds_sum 4.5e-6",
        ] {
            assert!(page.contains(line), "{line}: {page}");
        }
    }
}
