//! What a run leaves behind over time: samples of each flow and queue, completions of each
//! workload, as tables when wanted.
//!
//! Samples are kept as the simulator made them; a table of cells would take five times the memory.

use trammel_core::time::{Span, Time};
use trammel_netsim::trace::Sample;
use trammel_netsim::workload::Completion;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Cell, Table};
use trammel_tcp::cc::{INFINITE_SSTHRESH, PathModel, Phase};

/// The samples of one flow, queue or workload.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityTrace {
    /// The flow, link or workload.
    pub entity: String,
    /// The samples.
    pub samples: Samples,
}

/// Samples of one kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Samples {
    /// Of a flow's sender.
    Flow(Vec<Sample>),
    /// Of a queue: when, packets, bytes.
    Queue(Vec<(Time, u32, u64)>),
    /// What a workload completed.
    Completions(Vec<Completion>),
    /// Payload bytes of a workload or a stream that were delivered by an instant.
    Delivered(Vec<(Time, u64)>),
}

const STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];

impl EntityTrace {
    /// The samples as a table, one a row.
    pub(crate) fn to_table(&self) -> Table {
        match &self.samples {
            Samples::Flow(samples) => flow_table(samples),
            Samples::Completions(all) => completion_table(all),
            Samples::Delivered(all) => {
                let columns = [("time_s", Float), ("delivered_bytes", Int)];
                let mut table = Table::with("delivered", &columns);
                for (time, bytes) in all {
                    let cells = vec![time.as_secs_f64().into(), (*bytes).into()];
                    table
                        .push(cells)
                        .expect("the row has a cell for each column");
                }
                table
            }
            Samples::Queue(samples) => {
                let columns = [("time_s", Float), ("queue_pkts", Int), ("queue_bytes", Int)];
                let mut table = Table::with("queue", &columns);
                for (time, packets, bytes) in samples {
                    let cells = vec![
                        time.as_secs_f64().into(),
                        (*packets).into(),
                        (*bytes).into(),
                    ];
                    table
                        .push(cells)
                        .expect("the row has a cell for each column");
                }
                table
            }
        }
    }

    /// The samples as whole numbers, for a file that is read back.
    pub fn to_numbers(&self) -> Vec<Vec<u64>> {
        match &self.samples {
            Samples::Flow(samples) => samples.iter().map(numbers_of).collect(),
            Samples::Completions(all) => {
                let times = |c: &Completion| [c.start.as_ps(), c.time.as_ps(), c.ideal.as_ps()];
                let row = |c: &Completion| times(c).into_iter().chain([c.bytes]).collect();
                all.iter().map(row).collect()
            }
            Samples::Delivered(all) => {
                let row = |(time, bytes): &(Time, u64)| vec![time.as_ps(), *bytes];
                all.iter().map(row).collect()
            }
            Samples::Queue(samples) => {
                let rows = samples.iter();
                rows.map(|(time, packets, bytes)| vec![time.as_ps(), u64::from(*packets), *bytes])
                    .collect()
            }
        }
    }

    /// The samples of `entity` from [`EntityTrace::to_numbers`]; nothing where they are no such
    /// thing.
    pub(crate) fn from_numbers(entity: &str, rows: &[Vec<u64>]) -> Option<EntityTrace> {
        let width = rows.first().map_or(3, Vec::len);
        let samples = if width == 2 {
            let rows = rows.iter().map(|row| match row[..] {
                [ps, bytes] => Some((Time::from_ps(ps), bytes)),
                _ => None,
            });
            Samples::Delivered(rows.collect::<Option<_>>()?)
        } else if width == 4 {
            let rows = rows.iter().map(|row| completion_of(row));
            Samples::Completions(rows.collect::<Option<_>>()?)
        } else if width == 3 {
            let rows = rows.iter().map(|row| match row[..] {
                [ps, packets, bytes] => {
                    Some((Time::from_ps(ps), u32::try_from(packets).ok()?, bytes))
                }
                _ => None,
            });
            Samples::Queue(rows.collect::<Option<_>>()?)
        } else {
            Samples::Flow(
                rows.iter()
                    .map(|row| sample_of(row))
                    .collect::<Option<_>>()?,
            )
        };
        Some(EntityTrace {
            entity: entity.to_owned(),
            samples,
        })
    }
}

fn completion_table(all: &[Completion]) -> Table {
    let columns = [
        ("start_s", Float),
        ("fct_s", Float),
        ("ideal_s", Float),
        ("slowdown", Float),
        ("bytes", Int),
    ];
    let mut table = Table::with("completions", &columns);
    for one in all {
        let cells: Vec<Cell> = vec![
            one.start.as_secs_f64().into(),
            one.time.as_secs_f64().into(),
            one.ideal.as_secs_f64().into(),
            one.slowdown().into(),
            one.bytes.into(),
        ];
        table
            .push(cells)
            .expect("the row has a cell for each column");
    }
    table
}

fn completion_of(row: &[u64]) -> Option<Completion> {
    let [start, time, ideal, bytes] = row else {
        return None;
    };
    Some(Completion {
        start: Time::from_ps(*start),
        time: Span::from_ps(*time),
        ideal: Span::from_ps(*ideal),
        bytes: *bytes,
    })
}

fn flow_table(samples: &[Sample]) -> Table {
    // Columns of a model come where the variant has one.
    let has_model = samples
        .iter()
        .any(|sample| sample.model.phase != Phase::None);
    let mut columns = vec![
        ("time_s", Float),
        ("cwnd_pkts", Int),
        ("ssthresh_pkts", Int),
        ("srtt_us", Int),
        ("rtt_min_us", Int),
        ("in_flight_pkts", Int),
        ("state", Text),
        ("retransmissions_pkts", Int),
        ("acked_bytes", Int),
        ("pacing_bps", Float),
        ("delivery_bps", Float),
    ];
    if has_model {
        columns.extend([
            ("phase", Text),
            ("bw_bps", Float),
            ("inflight_hi_pkts", Int),
            ("inflight_lo_pkts", Int),
            ("alpha", Float),
        ]);
    }
    let mut table = Table::with("flow", &columns);
    for sample in samples {
        let known = |value: u32, unknown: u32| (value != unknown).then_some(value);
        let pacing = sample.pacing_bytes_per_s;
        let mut cells: Vec<Cell> = vec![
            sample.time.as_secs_f64().into(),
            sample.cwnd.into(),
            known(sample.ssthresh, INFINITE_SSTHRESH).into(),
            known(sample.srtt_us, 0).into(),
            known(sample.min_rtt_us, 0).into(),
            sample.in_flight.into(),
            STATES
                .get(usize::from(sample.state))
                .copied()
                .unwrap_or_default()
                .into(),
            sample.retransmissions.into(),
            sample.bytes_acked.into(),
            (pacing != u64::MAX).then_some(pacing as f64 * 8.0).into(),
            (sample.delivery_bytes_per_s as f64 * 8.0).into(),
        ];
        if has_model {
            let model = &sample.model;
            cells.extend([
                model.phase.name().into(),
                (model.bw as f64 * 8.0).into(),
                known(model.inflight_hi, 0).into(),
                known(model.inflight_lo, 0).into(),
                (f64::from(model.alpha) / 1024.0).into(),
            ]);
        }
        table
            .push(cells)
            .expect("the row has a cell for each column");
    }
    table
}

fn numbers_of(sample: &Sample) -> Vec<u64> {
    vec![
        sample.time.as_ps(),
        u64::from(sample.cwnd),
        u64::from(sample.ssthresh),
        u64::from(sample.srtt_us),
        u64::from(sample.min_rtt_us),
        u64::from(sample.in_flight),
        u64::from(sample.state),
        sample.retransmissions,
        sample.bytes_acked,
        sample.pacing_bytes_per_s,
        sample.delivery_bytes_per_s,
        sample.model.phase as u64,
        sample.model.bw,
        u64::from(sample.model.inflight_hi),
        u64::from(sample.model.inflight_lo),
        u64::from(sample.model.alpha),
        sample.model.bw_hi,
        sample.model.bw_lo,
        u64::from(sample.model.pacing_gain),
        u64::from(sample.model.cwnd_gain),
        u64::from(sample.model.extra_acked),
    ]
}

fn sample_of(row: &[u64]) -> Option<Sample> {
    let [
        ps,
        cwnd,
        ssthresh,
        srtt,
        min_rtt,
        flight,
        state,
        retrans,
        acked,
        pacing,
        delivery,
        phase,
        bw,
        inflight_hi,
        inflight_lo,
        alpha,
        bw_hi,
        bw_lo,
        pacing_gain,
        cwnd_gain,
        extra_acked,
    ] = row
    else {
        return None;
    };
    let small = |value: &u64| u32::try_from(*value).ok();
    Some(Sample {
        time: Time::from_ps(*ps),
        cwnd: small(cwnd)?,
        ssthresh: small(ssthresh)?,
        srtt_us: small(srtt)?,
        min_rtt_us: small(min_rtt)?,
        in_flight: small(flight)?,
        state: u8::try_from(*state).ok()?,
        retransmissions: *retrans,
        bytes_acked: *acked,
        pacing_bytes_per_s: *pacing,
        delivery_bytes_per_s: *delivery,
        model: PathModel {
            phase: *Phase::ALL.get(usize::try_from(*phase).ok()?)?,
            bw: *bw,
            inflight_hi: small(inflight_hi)?,
            inflight_lo: small(inflight_lo)?,
            alpha: u16::try_from(*alpha).ok()?,
            bw_hi: *bw_hi,
            bw_lo: *bw_lo,
            pacing_gain: u16::try_from(*pacing_gain).ok()?,
            cwnd_gain: u16::try_from(*cwnd_gain).ok()?,
            extra_acked: small(extra_acked)?,
        },
    })
}
