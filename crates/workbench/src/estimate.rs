//! Estimates of a configuration or of a list of operations, at several frame sizes and under
//! what-ifs.

use super::bench::{Bench, Refused};
use super::ring::{Passed, Tally};
use super::traffic::Traffic;
use trammel_cost::estimate::{self, Estimate, Load, Ports};
use trammel_cost::expr::Values;
use trammel_cost::function::{self, Function};
use trammel_cost::machine::Machine;
use trammel_cost::residency::Locality;
use trammel_router::engine::Ctx;
use trammel_router::estimate::{CostOf, Undeclared, Visits, cost_of, visits};

/// Packets of the short run that tells how often packets visit which element, and how many more
/// there are for many flows, so that tables fill.
const SAMPLED: u64 = 4096;
const MOST_SAMPLED: u64 = 1 << 17;

/// What is to be estimated.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A Click configuration on the workbench.
    Configuration(Box<Bench>),
    /// A function of a file of lists.
    List(Function),
}

/// Under what.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// What comes in; its frame is replaced by each size.
    pub traffic: Traffic,
    /// Cores that run it.
    pub cores: f64,
    /// The ways in and out.
    pub ports: Ports,
    /// The share of packets that are in the other socket's last level.
    pub remote: f64,
    /// What names in formulas stand for, whatever the configuration says.
    pub values: Vec<(String, f64)>,
}

impl Default for Conditions {
    fn default() -> Conditions {
        Conditions {
            traffic: Traffic::default(),
            cores: 1.0,
            ports: Ports::default(),
            remote: 0.0,
            values: Vec::new(),
        }
    }
}

/// An estimate at one frame size.
#[derive(Clone, Debug)]
pub struct At {
    /// Bytes of a frame, its FCS included.
    pub frame: f64,
    /// What it costs.
    pub estimate: Estimate,
    /// Elements whose own work is not in it.
    pub undeclared: Vec<Undeclared>,
}

/// Why there is no estimate.
#[derive(Debug)]
pub enum Error {
    /// The configuration does not run.
    Refused(Refused),
    /// A sentence.
    Other(String),
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        Error::Refused(refused)
    }
}

/// The functions of a file of lists, for a machine's profile.
pub fn functions(text: &str, name: &str, machine: &Machine) -> Result<Vec<Function>, Error> {
    function::read(text, &machine.profile).map_err(|faults| {
        let each = faults.iter().map(|fault| format!("{name}: {fault}"));
        Error::Other(each.collect::<Vec<_>>().join("\n"))
    })
}

/// A short run of a configuration, which tells how often packets visit which element.
pub struct Sampled {
    /// How often.
    pub(super) visits: Visits,
    /// What left it, where that was asked for.
    pub(super) passed: Passed,
    /// How many frames left it.
    sent: u64,
}

impl Sampled {
    /// Runs `bench` under `traffic`.
    pub fn of(bench: &Bench, traffic: &Traffic) -> Result<Sampled, Refused> {
        Sampled::from(bench, traffic, Bench::study)
    }

    /// The same, with the bytes counted that come to each element, and frames kept that leave.
    pub(super) fn with_bytes(bench: &Bench, traffic: &Traffic) -> Result<Sampled, Refused> {
        Sampled::from(bench, traffic, Bench::count)
    }

    fn from(
        bench: &Bench,
        traffic: &Traffic,
        run: impl FnOnce(&Bench, &Traffic, u64) -> Result<(Ctx, Tally), Refused>,
    ) -> Result<Sampled, Refused> {
        let flows = u64::from(traffic.flows);
        let packets = (4 * flows).clamp(SAMPLED, MOST_SAMPLED);
        let (ctx, tally) = run(bench, traffic, packets)?;
        let seen = packets as f64;
        // Of so many draws among the flows, these differ; the tables of a long run have them all.
        let differ = flows as f64 * -f64::exp_m1(-seen / flows as f64);
        Ok(Sampled {
            visits: visits(&ctx, &tally.each, flows as f64 / differ),
            passed: tally.passed,
            sent: tally.sent,
        })
    }

    /// What its elements do; `values` stand for names whatever the elements say.
    pub fn cost(&self, name: &str, values: &Values) -> CostOf {
        cost_of(name, &self.visits, values)
    }
}

impl Subject {
    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Subject::Configuration(bench) => &bench.name,
            Subject::List(function) => &function.name,
        }
    }

    /// What it costs on `machine` for frames of `frame` bytes.
    pub fn at(&self, frame: f64, machine: &Machine, under: &Conditions) -> Result<At, Error> {
        let (function, undeclared) = self.function(frame, under)?;
        self.cost(&function, undeclared, frame, machine, under)
    }

    /// Whether any frame leaves it; of a list, that is taken for granted.
    pub fn forwards(&self, under: &Conditions) -> Result<bool, Error> {
        match self {
            Subject::List(_) => Ok(true),
            Subject::Configuration(bench) => Ok(Sampled::of(bench, &under.traffic)?.sent > 0),
        }
    }

    /// The elements that no frame comes to, of those that frames may come to and that cost
    /// something; and how many of these there are in all. What they cost is in no estimate.
    pub fn unvisited(
        &self,
        frame: f64,
        under: &Conditions,
    ) -> Result<(Vec<Undeclared>, usize), Error> {
        let Subject::Configuration(bench) = self else {
            return Ok((Vec::new(), 0));
        };
        let traffic = Traffic {
            frame: frame as usize,
            ..under.traffic.clone()
        };
        let sampled = Sampled::of(bench, &traffic)?;
        let takes_frames = |class: &str| {
            let entry = trammel_router::elements::find(class);
            entry.is_some_and(|entry| entry.ops.is_some() && !entry.ports.starts_with('0'))
        };
        let all = sampled.visits.elements.iter();
        let all: Vec<_> = all.filter(|one| takes_frames(&one.class)).collect();
        let missed = all.iter().filter(|one| one.packets <= 0.0);
        let missed = missed.map(|one| Undeclared {
            name: one.name.clone(),
            class: one.class.clone(),
        });
        Ok((missed.collect(), all.len()))
    }

    /// What `function` costs on `machine`, which is this one as somebody found it to be.
    pub(super) fn cost(
        &self,
        function: &Function,
        undeclared: Vec<Undeclared>,
        frame: f64,
        machine: &Machine,
        under: &Conditions,
    ) -> Result<At, Error> {
        let load = self.load(frame, under);
        let estimate = estimate::estimate(function, machine, &load)
            .map_err(|error| Error::Other(format!("{}: {error}", self.name())))?;
        Ok(At {
            frame,
            estimate,
            undeclared,
        })
    }

    /// What it does to frames of `frame` bytes, and the elements of which that is not known.
    pub(super) fn function(
        &self,
        frame: f64,
        under: &Conditions,
    ) -> Result<(Function, Vec<Undeclared>), Error> {
        let values = under.values.iter().cloned().collect();
        match self {
            Subject::List(function) => Ok((function.clone(), Vec::new())),
            Subject::Configuration(bench) => {
                let traffic = Traffic {
                    frame: frame as usize,
                    ..under.traffic.clone()
                };
                let sampled = Sampled::of(bench, &traffic)?;
                let cost = sampled.cost(&bench.name, &values);
                Ok((cost.function, cost.undeclared))
            }
        }
    }

    /// What comes to it, in frames of `frame` bytes.
    pub fn load(&self, frame: f64, under: &Conditions) -> Load {
        Load {
            frame,
            flows: match self {
                // A list says how large its tables are; how many keys come, the caller.
                Subject::List(_) => of_lists(under),
                Subject::Configuration(_) => f64::from(under.traffic.flows),
            },
            locality: under.traffic.locality,
            remote: under.remote,
            cores: under.cores,
            ports: under.ports,
            values: under.values.iter().cloned().collect(),
        }
    }
}

/// Keys that come to the tables of a list: as many as they hold, unless flows are given.
pub(super) fn of_lists(under: &Conditions) -> f64 {
    match under.traffic.flows {
        0 | 1 => f64::INFINITY,
        flows => f64::from(flows),
    }
}

/// Conditions with one thing changed: `frame=128`, `flows=100K`, `zipf=1.0`, `cores=4`,
/// `rate=40Gbit/s`, `remote=0.5`, or a name of the operations such as `routes=1M`. Gives the frame
/// too, where that is changed. The error is a sentence.
pub fn changed(under: &Conditions, what: &str) -> Result<(Conditions, Option<f64>), String> {
    let (name, value) = what
        .split_once('=')
        .ok_or_else(|| format!("`{what}` is not a change; write it as frame=128 or routes=1M"))?;
    let (name, mut new) = (name.trim(), under.clone());
    if name == "rate" {
        let rate =
            trammel_core::units::Quantity::parse_as(value, &[trammel_core::units::Dimension::Rate]);
        new.ports.bits_per_s = rate.map_err(|why| why.to_string())?.value;
        return Ok((new, None));
    }
    let number = trammel_cost::expr::Expr::parse(value)
        .ok()
        .and_then(|expr| expr.number())
        .filter(|number| *number >= 0.0)
        .ok_or_else(|| format!("`{value}` in `{what}` is not a number of at least 0"))?;
    match name {
        "frame" => return Ok((new, Some(number))),
        "flows" => new.traffic.flows = number as u32,
        "zipf" => new.traffic.locality = Locality::Zipf(number),
        "cores" => new.cores = number,
        "remote" => new.remote = number,
        "" => return Err(format!("`{what}` names nothing")),
        name => new.values.push((name.to_owned(), number)),
    }
    Ok((new, None))
}
