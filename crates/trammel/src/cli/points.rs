//! `trammel points`: the runs of a scenario, for whoever hands them out.

use super::options::Which;
use super::output::out;
use std::process::ExitCode;
use trammel_core::time::Span;
use trammel_ground::DONE;
use trammel_stats::table::CellType::{Float, Int, Text};
use trammel_stats::table::{Table, round_to, write_json};
use trammel_transport::points::ListedRun;

/// List the runs of a scenario, so that others can make them
///
/// Each run has a key: a hash of all that decides its result. `trammel point` makes runs by their
/// keys and puts them into a store; `trammel gather` makes a run folder of a store that has all.
/// Any program that starts commands can hand them out: xargs, make, a batch system.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  trammel points s.toml --batch 10s | xargs -P 8 -L 1 trammel point s.toml --store runs
  trammel gather s.toml --store runs -o out")]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
    /// Write lines of arguments for `trammel point`: each has runs that take this long together
    #[arg(
        long,
        value_name = "TIME",
        value_parser = super::durations::parse,
        conflicts_with = "json"
    )]
    batch: Option<Span>,
    /// Write the list to standard output as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let runs = args.which.transport()?.list()?;
    if let Some(batch) = args.batch {
        return match batches(&runs, batch.as_secs_f64()).join("\n") {
            none if none.is_empty() => Ok(ExitCode::from(DONE)),
            lines => out(&lines),
        };
    }
    let table = table(&runs)?;
    if args.json {
        write_json([&table], &mut trammel_ground::stdout())?;
        return Ok(ExitCode::from(DONE));
    }
    out(table.to_string().trim_end())
}

fn table(runs: &[ListedRun]) -> anyhow::Result<Table> {
    const DIGITS: usize = 2;
    let columns = [
        ("key", Text),
        ("engine", Text),
        ("point", Text),
        ("repeat", Int),
        ("seed", Int),
        ("expected_s", Float),
    ];
    let mut table = Table::with("points", &columns);
    for run in runs {
        table.push(vec![
            run.key.as_str().into(),
            run.label.engine().into(),
            run.point.as_str().into(),
            run.repeat.into(),
            run.seed.into(),
            round_to(run.expected_s, DIGITS).into(),
        ])?;
    }
    Ok(table)
}

/// Lines of arguments: the runs in order, as many in a line as take `batch_s` seconds together, at
/// least one.
fn batches(runs: &[ListedRun], batch_s: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut room_s = 0.0;
    for run in runs {
        match lines.last_mut() {
            Some(line) if run.expected_s <= room_s => {
                line.push(',');
                line.push_str(&run.key);
            }
            _ => {
                lines.push(format!("--key {}", run.key));
                room_s = batch_s;
            }
        }
        room_s -= run.expected_s;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::label::Label;

    #[test]
    fn a_line_has_runs_of_about_its_time() {
        let run = |key: &str, expected_s| ListedRun {
            key: key.to_owned(),
            label: Label::Simulated,
            point: "base".to_owned(),
            repeat: 0,
            seed: 1,
            expected_s,
        };
        let runs = [run("a", 1.0), run("b", 2.0), run("c", 9.0), run("d", 0.5)];
        assert_eq!(batches(&runs, 3.0), ["--key a,b", "--key c", "--key d"]);
        assert_eq!(batches(&runs, 0.0).len(), 4);
        assert_eq!(batches(&[], 3.0), [""; 0]);
    }
}
