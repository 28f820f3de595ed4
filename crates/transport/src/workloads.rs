//! Results of workloads: completion times and slowdowns, of all flows and by their size.
//!
//! What counts began after the warm-up. Flows that the run has not completed are counted beside:
//! where they are many, the completed ones are the fast ones.

use super::network_of::BuiltWorkload;
use super::observe::TrafficSeen;
use super::run_times::{RunTimes, mbps};
use super::trace_of::{EntityTrace, Samples};
use trammel_core::time::Time;
use trammel_netsim::workload::{Completed, SizeBucket, Spread};
use trammel_stats::table::{Cell, Table};

/// Where ranges of sizes meet, bytes: by the initial window, the round trips of slow start, and
/// beyond.
const EDGES: [u64; 3] = [10_000, 100_000, 1_000_000];
/// What the ranges between [`EDGES`] are called.
const RANGES: [&str; 4] = [
    "below 10 kB",
    "10 kB to 100 kB",
    "100 kB to 1 MB",
    "from 1 MB",
];
/// What the row of all sizes is called.
pub(crate) const ALL_SIZES: &str = "all";

/// The name of a row in a summary: `web`, or `web, below 10 kB`.
pub(super) fn entity(workload: &str, flow_size: &str) -> String {
    if flow_size == ALL_SIZES {
        workload.to_owned()
    } else {
        format!("{workload}, {flow_size}")
    }
}

/// Whether the entity of a summary is a range of sizes.
pub(super) fn is_range(entity: &str) -> bool {
    entity
        .rsplit_once(", ")
        .is_some_and(|(_, size)| RANGES.contains(&size))
}

/// What a workload got through, where that is known: goodput over the whole run and after the
/// warm-up, Mbit/s, and segments retransmitted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Carried {
    pub(super) goodput_mbps: Option<f64>,
    pub(super) late_goodput_mbps: Option<f64>,
    pub(super) retransmissions: Option<u64>,
}

impl Carried {
    pub(super) fn of(seen: &TrafficSeen, times: &RunTimes) -> Carried {
        let late = seen.bytes.saturating_sub(seen.warm_bytes);
        let has_warm = times.warmup > Time::ZERO;
        Carried {
            goodput_mbps: mbps(seen.bytes, times.end.since_start()),
            late_goodput_mbps: mbps(late, times.end - times.warmup).filter(|_| has_warm),
            retransmissions: Some(seen.retransmissions),
        }
    }
}

/// The rows of one workload: all sizes, then the ranges in which flows began. Bursts complete
/// nothing, and of cross traffic nobody asks when it does: theirs is one row, of what they got
/// through.
pub(super) fn rows(
    table: &mut Table,
    (built, of): (&BuiltWorkload, &Completed),
    carried: Carried,
    warmup: Time,
) {
    let mut push = |size: &str, bucket: &SizeBucket, carried: Carried| {
        let known = |count: usize| built.is_measured.then_some(count);
        let mut row = vec![
            Cell::from(built.name.as_str()),
            built.variant.as_str().into(),
            size.into(),
            carried.goodput_mbps.into(),
            carried.retransmissions.into(),
            known(bucket.count).into(),
            known(bucket.unfinished).into(),
        ];
        for Spread {
            mean,
            p50,
            p95,
            p99,
        } in [bucket.time_s, bucket.slowdown]
        {
            let is_known = built.is_measured && bucket.count > 0;
            let known = [mean, p50, p95, p99].map(|value| is_known.then_some(value));
            row.extend(known.map(Cell::from));
        }
        row.push(carried.late_goodput_mbps.into());
        table
            .push(row)
            .expect("the row has the columns of `WORKLOADS`");
    };
    of.by_size(&[], warmup)
        .iter()
        .for_each(|all| push(ALL_SIZES, all, carried));
    if !built.is_measured {
        return;
    }
    for (name, bucket) in RANGES.iter().zip(of.by_size(&EDGES, warmup)) {
        if bucket.count + bucket.unfinished > 0 {
            push(name, &bucket, Carried::default());
        }
    }
}

/// What every measured workload completed of what began after the warm-up.
pub(super) fn traces<'a>(
    workloads: impl Iterator<Item = (&'a BuiltWorkload, &'a Completed)>,
    warmup: Time,
) -> Vec<EntityTrace> {
    let traces = workloads
        .filter(|(workload, _)| workload.is_measured)
        .map(|(workload, of)| {
            let late = of
                .completions
                .iter()
                .filter(|one| one.start >= warmup)
                .copied();
            EntityTrace {
                entity: workload.name.clone(),
                samples: Samples::Completions(late.collect()),
            }
        });
    // A file of samples tells their kind by the first one.
    traces
        .filter(|trace| !matches!(&trace.samples, Samples::Completions(all) if all.is_empty()))
        .collect()
}
