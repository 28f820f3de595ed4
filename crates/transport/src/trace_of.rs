//! What a run leaves behind over time: samples of each flow and queue, completions of each
//! workload, as tables when wanted.
//!
//! Samples are kept as the simulator made them; a table of cells would take five times the memory.

use trammel_core::time::{Span, Time};
use trammel_netsim::trace::Sample;
use trammel_netsim::workload::Completion;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Cell, CellType, Column, Table};
use trammel_tcp::cc::{INFINITE_SSTHRESH, PathModel, Phase};

/// The samples of one flow, queue or workload.
#[derive(Clone, Debug, PartialEq)]
pub struct EntityTrace {
    /// The flow, link or workload.
    pub entity: String,
    /// The samples.
    pub samples: Samples,
}

/// Behind the name of a workload or a stream: what was delivered of it.
pub(super) const DELIVERIES: &str = ":delivered";
/// Behind a flow's name: the distribution of its round trips.
pub(super) const ROUND_TRIPS: &str = ":rtt";

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
    /// Round trips of a flow, us, and how many were at most so long: a distribution, for a report.
    RoundTrips(Vec<(u64, u64)>),
}

const STATES: [&str; 5] = ["open", "disorder", "cwr", "recovery", "loss"];

/// A column of a kind of samples: its name, its type, and the cell of a sample.
type Field<T> = (&'static str, CellType, fn(&T) -> Cell);

/// A column of a trace, and its cells one after the other.
pub type TraceColumn<'a> = (Column, Box<dyn Iterator<Item = Cell> + 'a>);

fn columns_of<'a, T>(fields: &[Field<T>], samples: &'a [T]) -> Vec<TraceColumn<'a>> {
    let column = |&(name, of, cell): &Field<T>| {
        let cells: Box<dyn Iterator<Item = Cell>> = Box::new(samples.iter().map(cell));
        (Column::new(name, of), cells)
    };
    fields.iter().map(column).collect()
}

impl EntityTrace {
    /// Whose samples they are: the flow, link, workload or stream.
    pub(crate) fn owner(&self) -> &str {
        let ending = match self.samples {
            Samples::Delivered(_) => DELIVERIES,
            Samples::RoundTrips(_) => ROUND_TRIPS,
            _ => "",
        };
        self.entity.strip_suffix(ending).unwrap_or(&self.entity)
    }

    /// How many samples there are.
    pub fn len(&self) -> usize {
        match &self.samples {
            Samples::Flow(all) => all.len(),
            Samples::Queue(all) => all.len(),
            Samples::Completions(all) => all.len(),
            Samples::Delivered(all) => all.len(),
            Samples::RoundTrips(all) => all.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What a sample is of: the name of the table.
    pub fn kind(&self) -> &'static str {
        match self.samples {
            Samples::Flow(_) => "flow",
            Samples::Queue(_) => "queue",
            Samples::Completions(_) => "completions",
            Samples::Delivered(_) => "delivered",
            Samples::RoundTrips(_) => "round_trips",
        }
    }

    /// The columns of the table, which needs five times their memory.
    pub fn columns(&self) -> Vec<TraceColumn<'_>> {
        match &self.samples {
            Samples::Flow(all) => {
                let mut columns = columns_of(FLOW, all);
                // Columns of a model come where the variant has one.
                if all.iter().any(|sample| sample.model.phase != Phase::None) {
                    columns.extend(columns_of(MODEL, all));
                }
                columns
            }
            Samples::Queue(all) => columns_of(QUEUE, all),
            Samples::Completions(all) => columns_of(COMPLETION, all),
            Samples::Delivered(all) => columns_of(DELIVERED, all),
            Samples::RoundTrips(all) => columns_of(ROUND_TRIP, all),
        }
    }

    /// The samples as a table, one a row.
    pub fn to_table(&self) -> Table {
        let (columns, mut cells): (Vec<_>, Vec<_>) = self.columns().into_iter().unzip();
        let mut table = Table::new(self.kind(), columns);
        for _ in 0..self.len() {
            let row = cells
                .iter_mut()
                .map(|cells| cells.next().unwrap_or_default());
            table
                .push(row.collect())
                .expect("the row has a cell for each column");
        }
        table
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
            Samples::RoundTrips(all) => all.iter().map(|(us, n)| vec![*us, *n]).collect(),
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
        let samples = if width == 2 && entity.ends_with(ROUND_TRIPS) {
            let rows = rows.iter().map(|row| match row[..] {
                [us, n] => Some((us, n)),
                _ => None,
            });
            Samples::RoundTrips(rows.collect::<Option<_>>()?)
        } else if width == 2 {
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

/// A number, and nothing where it stands for an unknown one.
fn known(value: u32, unknown: u32) -> Cell {
    (value != unknown).then_some(value).into()
}

fn state(sample: &Sample) -> Cell {
    let name = STATES.get(usize::from(sample.state)).copied();
    name.unwrap_or_default().into()
}

fn pacing(sample: &Sample) -> Cell {
    let rate = sample.pacing_bytes_per_s;
    (rate != u64::MAX).then_some(rate as f64 * 8.0).into()
}

const FLOW: &[Field<Sample>] = &[
    ("time_s", Float, |it| it.time.as_secs_f64().into()),
    ("cwnd_pkts", Int, |it| it.cwnd.into()),
    ("ssthresh_pkts", Int, |it| {
        known(it.ssthresh, INFINITE_SSTHRESH)
    }),
    ("srtt_us", Int, |it| known(it.srtt_us, 0)),
    ("rtt_min_us", Int, |it| known(it.min_rtt_us, 0)),
    ("in_flight_pkts", Int, |it| it.in_flight.into()),
    ("state", Text, state),
    ("retransmissions_pkts", Int, |it| it.retransmissions.into()),
    ("acked_bytes", Int, |it| it.bytes_acked.into()),
    ("pacing_bps", Float, pacing),
    ("delivery_bps", Float, |it| {
        (it.delivery_bytes_per_s as f64 * 8.0).into()
    }),
];

const MODEL: &[Field<Sample>] = &[
    ("phase", Text, |it| it.model.phase.name().into()),
    ("bw_bps", Float, |it| (it.model.bw as f64 * 8.0).into()),
    ("inflight_hi_pkts", Int, |it| known(it.model.inflight_hi, 0)),
    ("inflight_lo_pkts", Int, |it| known(it.model.inflight_lo, 0)),
    ("alpha", Float, |it| {
        (f64::from(it.model.alpha) / 1024.0).into()
    }),
];

const QUEUE: &[Field<(Time, u32, u64)>] = &[
    ("time_s", Float, |(time, _, _)| time.as_secs_f64().into()),
    ("queue_pkts", Int, |(_, packets, _)| (*packets).into()),
    ("queue_bytes", Int, |(_, _, bytes)| (*bytes).into()),
];

const DELIVERED: &[Field<(Time, u64)>] = &[
    ("time_s", Float, |(time, _)| time.as_secs_f64().into()),
    ("delivered_bytes", Int, |(_, bytes)| (*bytes).into()),
];

const ROUND_TRIP: &[Field<(u64, u64)>] = &[
    ("rtt_us", Int, |(us, _)| (*us).into()),
    ("at_most", Int, |(_, n)| (*n).into()),
];

const COMPLETION: &[Field<Completion>] = &[
    ("start_s", Float, |it| it.start.as_secs_f64().into()),
    ("fct_s", Float, |it| it.time.as_secs_f64().into()),
    ("ideal_s", Float, |it| it.ideal.as_secs_f64().into()),
    ("slowdown", Float, |it| it.slowdown().into()),
    ("bytes", Int, |it| it.bytes.into()),
];

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
