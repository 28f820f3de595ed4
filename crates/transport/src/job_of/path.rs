//! One bottleneck that all flows share; those of a longer round trip have a delay of their own
//! before it.

use super::layout::{Layout, Row, parties};
use super::line::Placed;
use super::nanoseconds::ns;
use super::refusal::refused;
use crate::network_of::{ACCESS_QUEUE_PKTS, BACK_QUEUE_PKTS, base_delay, elsewhere};
use std::collections::BTreeMap;
use trammel_core::time::Span;
use trammel_io::qdisc::{Kind, Netem};
use trammel_kernel::job::{Host, Way};
use trammel_scenario::path::{Access, Path};

/// Lays the path; the row of routers of each flow.
pub(super) fn lay(layout: &mut Layout<'_>, path: &Path) -> Vec<Row> {
    let scenario = layout.scenario;
    if path.wifi.is_some() {
        let fault = refused(
            "path.wifi",
            "an 802.11 cell cannot be measured",
            "the kernel has no queue that is one",
        );
        layout.faults.push(fault);
        return Vec::new();
    }
    let (base, extra) = base_delay(scenario, path);
    let limit = path.line.queue_packets(path.rtt);
    let [left, right] = [0, 1].map(|_| layout.host(Host::default()));
    let bottleneck = Placed {
        name: "bottleneck",
        place: "path",
        line: &path.line,
        delay: base,
        elsewhere: elsewhere(path),
        limit_packets: limit,
        back_packets: Some(limit.max(BACK_QUEUE_PKTS)),
    };
    let bottleneck = bottleneck.add(layout, [left, right]);
    let mut detours: BTreeMap<Span, Row> = BTreeMap::new();
    let mut rows = Vec::with_capacity(scenario.flows.len());
    for party in parties(scenario) {
        let extra = extra(party.flow.rtt.unwrap_or(path.rtt));
        let mut row = if extra > Span::ZERO {
            detours
                .entry(extra)
                .or_insert_with(|| detour(layout, left, extra, path.line.mtu))
                .clone()
        } else {
            Row::from(left)
        };
        row.join(&bottleneck);
        if let Some(access) = path.access {
            row = attached(layout, &row, party.name, path, access);
        }
        rows.push(row);
    }
    rows
}

/// Routers between which packets take `delay` to the host `to`, and as long back.
fn detour(layout: &mut Layout<'_>, to: usize, delay: Span, mtu: u32) -> Row {
    let way = || Way {
        queue: Some(Kind::Netem(Netem {
            delay_ns: ns(delay).cast_unsigned(),
            limit: u32::MAX,
            ..Netem::default()
        })),
        ..Way::default()
    };
    let from = layout.host(Host::default());
    layout.wire([from, to], mtu, [way(), way()])
}

/// The row with a link of the flow's own at each end.
fn attached(layout: &mut Layout<'_>, row: &Row, name: &str, path: &Path, access: Access) -> Row {
    let line = access.line(path);
    let (Some(first), Some(last)) = (row.hosts.first(), row.hosts.last()) else {
        return row.clone();
    };
    let ends = [0, 1].map(|_| layout.host(Host::default()));
    let mut add = |end: &str, ends: [usize; 2]| {
        let access = Placed {
            name: &format!("{name}:{end}"),
            place: "path.access",
            line: &line,
            delay: access.delay,
            elsewhere: Span::ZERO,
            limit_packets: ACCESS_QUEUE_PKTS,
            back_packets: None,
        };
        access.add(layout, ends)
    };
    let mut all = add("source", [ends[0], *first]);
    let sink = add("sink", [*last, ends[1]]);
    all.join(row);
    all.join(&sink);
    all
}
