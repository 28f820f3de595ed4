//! The study as tables: the targets, every finding, and the misses with their mechanisms.

use super::finding::{Finding, Rule};
use super::mechanism::{self, Mechanisms};
use super::target::Target;
use trammel_stats::table::{Cell, CellType, Table};

/// `fidelity_targets`: a row a target.
pub fn of_targets(targets: &[Target]) -> Table {
    let mut table = Table::with(
        "fidelity_targets",
        &[
            ("set", CellType::Text),
            ("target", CellType::Text),
            ("reached", CellType::Float),
            ("needed", CellType::Float),
            ("of", CellType::Int),
            ("is_met", CellType::Bool),
            ("is_main", CellType::Bool),
            ("missing", CellType::Text),
        ],
    );
    for target in targets {
        let row = vec![
            target.set.into(),
            target.what.clone().into(),
            target.reached.into(),
            target.needed.into(),
            target.of.into(),
            target.is_met().into(),
            target.is_main.into(),
            target.missing.join(" ").into(),
        ];
        table.push(row).expect("the row has a cell for each column");
    }
    table
}

/// `fidelity`: a row a finding.
pub(crate) fn of_findings(findings: &[Finding]) -> Table {
    let number = |name| (name, CellType::Float);
    let columns = [
        ("set", CellType::Text),
        ("variant", CellType::Text),
        ("flow", CellType::Int),
        ("cc", CellType::Text),
        ("metric", CellType::Text),
        ("unit", CellType::Text),
        number("linux_vt"),
        number("linux_vt_sd"),
        number("linux_vt_half_ci"),
        ("linux_vt_n", CellType::Int),
        number("linux_vt_alike"),
        number("simulated"),
        number("simulated_sd"),
        number("simulated_p5"),
        number("simulated_p95"),
        ("simulated_n", CellType::Int),
        number("error"),
        number("allowed"),
        ("is_within", CellType::Bool),
        ("is_target", CellType::Bool),
        number("null_model"),
        number("null_error"),
        number("skill"),
        ("has_room", CellType::Bool),
    ];
    let mut table = Table::with("fidelity", &columns);
    for finding in findings {
        let (kernel, ours) = (&finding.kernel, &finding.ours);
        let allowed = match finding.rule {
            Rule::Near(allowed) => Some(allowed),
            Rule::Inside => None,
        };
        let row: Vec<Cell> = vec![
            finding.set.into(),
            finding.variant.clone().into(),
            finding.flow.into(),
            finding.cc.clone().into(),
            finding.metric.key().into(),
            finding.metric.unit().into(),
            kernel.mean.into(),
            kernel.sd.into(),
            kernel.half_ci.into(),
            kernel.count.into(),
            kernel.alike.into(),
            ours.mean.into(),
            ours.sd.into(),
            ours.range.map(|range| range.0).into(),
            ours.range.map(|range| range.1).into(),
            ours.count.into(),
            finding.error().into(),
            allowed.into(),
            finding.is_within().into(),
            finding.is_target.into(),
            finding.null.into(),
            finding.null_error().into(),
            finding.skill().into(),
            finding.has_room.into(),
        ];
        table.push(row).expect("the row has a cell for each column");
    }
    table
}

/// `fidelity_misses`: a row a miss, with what explains it.
pub(crate) fn of_misses(findings: &[Finding], mechanisms: &Mechanisms) -> Table {
    let columns = [
        ("set", CellType::Text),
        ("variant", CellType::Text),
        ("flow", CellType::Int),
        ("metric", CellType::Text),
        ("unit", CellType::Text),
        ("linux_vt", CellType::Float),
        ("simulated", CellType::Float),
        ("null_model", CellType::Float),
        ("mechanism", CellType::Text),
    ];
    let mut table = Table::with("fidelity_misses", &columns);
    for finding in findings.iter().filter(|finding| finding.is_miss()) {
        let row: Vec<Cell> = vec![
            finding.set.into(),
            finding.variant.clone().into(),
            finding.flow.into(),
            finding.metric.key().into(),
            finding.metric.unit().into(),
            finding.kernel.mean.into(),
            finding.ours.mean.into(),
            finding.null.into(),
            mechanisms
                .of(&mechanism::key(finding))
                .unwrap_or_default()
                .into(),
        ];
        table.push(row).expect("the row has a cell for each column");
    }
    table
}
