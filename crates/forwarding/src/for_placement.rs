//! What functions cost that a placement names only: those of a paper, and Click configurations.

use std::path::Path;
use trammel_core::units::nearest;
use trammel_cost::estimate::Range;
use trammel_cost::function::Function;
use trammel_cost::machine::Machine;
use trammel_cost::place::model::{Interval, Table, Work};
use trammel_library as library;
use trammel_scenario::placement::{Estimated, Estimator, NoAnswer, Question};
use trammel_workbench::bench::{Bench, Refused};
use trammel_workbench::estimate::{Conditions, Error, Subject, functions};
use trammel_workbench::samples;
use trammel_workbench::traffic::Traffic;

/// The machine of servers that name none.
const MACHINE: &str = trammel_workbench::machines::DATA_SHEET;
/// Where a paper has its functions.
const FUNCTIONS: &str = "functions.toml";

/// Estimates on the machine that a server names.
#[derive(Clone, Copy, Debug, Default)]
pub struct ForPlacement;

impl Estimator for ForPlacement {
    fn work(&self, question: &Question<'_>) -> Result<Work, NoAnswer> {
        let name = question.machine.unwrap_or(MACHINE);
        let machine = trammel_workbench::machines::find(name).map_err(|why| NoAnswer {
            why: format!("{why:#}"),
            help: "`trammel list machines` shows those that there are".to_owned(),
        })?;
        let subject = match question.function {
            Estimated::Paper(name) => Subject::List(of_paper(name, &machine)?),
            Estimated::Click(path) => Subject::Configuration(Box::new(of_click(path)?)),
        };
        let under = Conditions {
            traffic: Traffic {
                flows: u32::try_from(question.flows).unwrap_or(u32::MAX),
                ..Traffic::default()
            },
            values: vec![("routes".to_owned(), question.routes as f64)],
            ..Conditions::default()
        };
        let under = match question.routes {
            // What the configuration itself has.
            0 | 1 => Conditions {
                values: Vec::new(),
                ..under
            },
            _ => under,
        };
        let at = subject
            .at(f64::from(question.frame_bytes), &machine, &under)
            .map_err(|error| no_answer(said(error)))?;
        if let Some(one) = at.undeclared.first() {
            return Err(NoAnswer {
                why: format!("'{} :: {}' declares no operations", one.name, one.class),
                help: "measure it (`trammel estimate --measure`) and give its `cycles`".to_owned(),
            });
        }
        Ok(work(&at.estimate, &machine))
    }
}

/// Cycles with the tables in the last level, and what is looked up there.
fn work(estimate: &trammel_cost::estimate::Estimate, machine: &Machine) -> Work {
    let core: f64 = estimate.rows.iter().map(|row| row.core).sum();
    let last = machine.levels.last().map_or(0.0, |level| level.cycles);
    let waited = |in_flight: &dyn Fn(f64) -> f64| -> f64 {
        // A machine of the paper's accounting charges accesses nothing.
        if machine.memory.is_counted_only {
            return 0.0;
        }
        let each = estimate.tables.iter();
        each.map(|table| table.accesses * last / in_flight(table.in_flight))
            .sum()
    };
    let parallel = machine.memory.parallel;
    let table = |table: &trammel_cost::estimate::TableUse| Table {
        accesses: table.accesses,
        hot_bytes: table.hot_bytes,
    };
    let waited = Range {
        low: waited(&|_| parallel),
        centre: waited(&|in_flight| in_flight.clamp(1.0, parallel)),
        high: waited(&|_| 1.0),
    };
    let Range { low, centre, high } = Range::of(core, 0.0, waited, machine);
    Work {
        cycles: Interval { low, centre, high },
        tables: estimate.tables.iter().map(table).collect(),
        memory_bytes: estimate.tables.iter().map(|table| table.bytes).sum(),
    }
}

/// A function of a paper: `bng_access`, or `baldi-2018:bng_access` where several papers have one of
/// that name.
fn of_paper(name: &str, machine: &Machine) -> Result<Function, NoAnswer> {
    let (wanted, name) = match name.split_once(':') {
        Some((paper, name)) => (Some(paper), name),
        None => (None, name),
    };
    let mut known = Vec::new();
    for (key, folder) in library::folders() {
        let path = folder.join(FUNCTIONS);
        if wanted.is_some_and(|wanted| wanted != key) || !path.is_file() {
            continue;
        }
        let file = path.display().to_string();
        let text =
            std::fs::read_to_string(&path).map_err(|why| no_answer(format!("{file}: {why}")))?;
        let all = functions(&text, &file, machine).map_err(|error| no_answer(said(error)))?;
        for function in all {
            if function.name == name {
                return Ok(function);
            }
            known.push(function.name);
        }
    }
    let names = known.iter().map(String::as_str);
    Err(NoAnswer {
        why: format!("no paper has a function `{name}`"),
        help: match nearest(name, names) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there are {}", known.join(", ")),
        },
    })
}

fn of_click(path: &Path) -> Result<Bench, NoAnswer> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|why| no_answer(format!("{file}: {why}")))?;
    Bench::new(&text, &file, &[], &[samples::plain()]).map_err(|why| no_answer(said(why.into())))
}

fn no_answer(why: String) -> NoAnswer {
    NoAnswer {
        why,
        help: "`trammel estimate` shows what it makes of the function".to_owned(),
    }
}

fn said(error: Error) -> String {
    match error {
        Error::Refused(Refused::Configuration(said)) => said.click().trim().to_owned(),
        Error::Refused(Refused::Other(text)) | Error::Other(text) => text,
    }
}
