//! The heat map of a matrix of variants: the share that each takes beside each other one.

use super::axis::{Matrix, value, values};
use super::numbers::{Number, Numbers};
use super::words::INTERVALS;
use trammel_report::Block;
use trammel_report::heat_map::{Colours, HeatMap};
use trammel_scenario::File;
use trammel_scenario::sweep::Point;

/// The variants, in the order of the file.
pub(super) fn variants(file: &File, matrix: &Matrix) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for point in &file.points {
        for at in [matrix.first, matrix.second] {
            let name = value(point, at);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// The share of `row` beside `column` at `point`, if it is of this pair.
pub(super) fn share(
    numbers: &Numbers,
    matrix: &Matrix,
    point: &Point,
    row: &str,
    column: &str,
) -> Option<Number> {
    let (first, second) = (value(point, matrix.first), value(point, matrix.second));
    let flow = if first == row && second == column {
        0
    } else if first == column && second == row {
        1
    } else {
        return None;
    };
    numbers.steady(&point.id, &point.scenario.flows.get(flow)?.name, "share")
}

/// One map for each combination of what is swept beside the variants.
pub(super) fn heat_maps(file: &File, numbers: &Numbers, matrix: &Matrix) -> Vec<Block> {
    let names = variants(file, matrix);
    let mut groups: Vec<(String, Vec<&Point>)> = Vec::new();
    for point in &file.points {
        let name = values(point, &matrix.others);
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(point),
            None => groups.push((name, vec![point])),
        }
    }
    let spread = |n| format!(" Point at a cell for its 95 % interval over {n} runs ({INTERVALS}).");
    let spread = numbers.repeats().map_or_else(String::new, spread);
    let maps = groups.into_iter().enumerate().map(|(n, (group, points))| {
        let cell = |row: &String, column: &String| {
            points
                .iter()
                .find_map(|point| share(numbers, matrix, point, row, column))
        };
        let cells: Vec<Vec<Option<Number>>> = names
            .iter()
            .map(|row| names.iter().map(|column| cell(row, column)).collect())
            .collect();
        let title = match group.as_str() {
            "" => "Who takes from whom".to_owned(),
            group => format!("Who takes from whom, {group}"),
        };
        Block::HeatMap(HeatMap {
            id: match numbers.labels.first() {
                Some(first) if *first != numbers.label => {
                    format!("matrix-{}-{}", n + 1, numbers.label.key())
                }
                _ => format!("matrix-{}", n + 1),
            },
            title,
            caption: format!(
                "Share of the goodput that the variant of the row takes beside the variant of the \
                 column: blue more than half, orange less.{spread}"
            ),
            row_title: "variant".to_owned(),
            column_title: "beside".to_owned(),
            rows: names.clone(),
            columns: names.clone(),
            value_title: "share of the goodput".to_owned(),
            intervals: cells
                .iter()
                .map(|row| {
                    row.iter()
                        .map(|cell| cell.and_then(|one| one.interval))
                        .collect()
                })
                .collect(),
            values: cells
                .iter()
                .map(|row| row.iter().map(|cell| cell.map(|one| one.mean)).collect())
                .collect(),
            colours: Colours::Diverging(0.0, 0.5, 1.0),
            label: Some(numbers.label),
        })
    });
    maps.collect()
}
