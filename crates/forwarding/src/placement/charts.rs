//! The charts of a placement: how full each server is, and how busy the cores of each replica are.

use trammel_core::label::Label;
use trammel_report::Block;
use trammel_report::dots::{DotPlot, DotSeries};
use trammel_report::heat_map::{Colours, HeatMap};
use trammel_stats::table::Table;

/// Rows of one chart at most.
const MOST_ROWS: usize = 60;

/// The charts of the tables `servers` and `replicas`.
pub(super) fn of(servers: &Table, replicas: &Table) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !servers.is_empty() {
        blocks.push(Block::HeatMap(fullness(servers)));
    }
    if !replicas.is_empty() {
        blocks.push(Block::Dots(busy(replicas)));
    }
    blocks
}

/// Each server's resources, the share of each that is used.
fn fullness(servers: &Table) -> HeatMap {
    let names = servers.columns().iter().map(|column| column.name.as_str());
    let resources: Vec<&str> = names.filter(|name| name.ends_with("_%")).collect();
    let rows = || servers.rows().take(MOST_ROWS);
    let of_row = |row: trammel_stats::table::Row<'_>| {
        let values = resources.iter().map(|name| row.float(name));
        values.collect::<Vec<_>>()
    };
    HeatMap {
        id: "servers".to_owned(),
        title: "How full each server is".to_owned(),
        caption: "Use of each resource in per cent, over all nodes of a server; 100 is full. A \
                  last-level cache above 100 cannot hold all hot data, so accesses go to \
                  memory."
            .to_owned(),
        row_title: "server".to_owned(),
        column_title: "resource".to_owned(),
        rows: rows().map(|row| row.text("server").to_owned()).collect(),
        columns: resources
            .iter()
            .map(|name| name.trim_end_matches("_%").replace('_', " "))
            .collect(),
        value_title: "used (%)".to_owned(),
        values: rows().map(of_row).collect(),
        intervals: Vec::new(),
        colours: Colours::Sequential(0.0, 100.0),
        label: Some(Label::Predicted),
    }
}

/// The cores of each replica: at the centre of its costs and at their high end.
fn busy(replicas: &Table) -> DotPlot {
    let rows = || replicas.rows().take(MOST_ROWS);
    let series = |name: &str, column: &str| DotSeries {
        name: name.to_owned(),
        label: Label::Predicted,
        values: rows().map(|row| row.float(column)).collect(),
    };
    let name = |row: trammel_stats::table::Row<'_>| {
        let replica = row.int("replica").unwrap_or_default();
        let (chain, server) = (row.text("chain"), row.text("server"));
        format!("{chain} {replica} on {server}")
    };
    DotPlot {
        id: "busy".to_owned(),
        title: "How busy the cores of each replica are".to_owned(),
        unit: "%".to_owned(),
        rows: rows().map(name).collect(),
        series: vec![
            series("centre of the costs", "busy_%"),
            series("high end of the costs", "busy_high_%"),
        ],
    }
}
