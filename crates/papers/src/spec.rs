//! `paper.toml`: what a paper claims, and the experiments that answer its tables.
//!
//! An experiment runs a scenario of the folder under one hypothesis. Its answers say which cells of
//! `expected.csv` it gives and by which expression; rows and columns are a swept parameter, a list
//! of names with an expression each, or one name.

use super::expression::Expression;
use trammel_core::label::Label;
use trammel_scenario::tree::Value;
use trammel_traffic::record::Protocol;

/// A paper.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Its title.
    pub title: String,
    /// Who wrote it.
    pub authors: String,
    /// Where and when it appeared.
    pub venue: String,
    /// What it claims, in a sentence or two.
    pub claim: String,
    /// The question that its reproduction answers.
    pub question: String,
    /// What reproduces it.
    pub engine: Engine,
    /// Its tables, in the order of the report.
    pub tables: Vec<TableText>,
    /// Its experiments.
    pub experiments: Vec<Experiment>,
    /// Its figures over time.
    pub figures: Vec<Figure>,
    /// Its figures over a parameter: estimates, measurements and printed numbers in one.
    pub plots: Vec<Plot>,
    /// Sentences with numbers of the run.
    pub findings: Vec<Finding>,
}

/// A sentence with numbers of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The sentence, with names between braces.
    pub text: String,
    /// What the names stand for.
    pub values: Vec<FindingValue>,
}

/// A number in a sentence: a cell of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingValue {
    /// Its name in the sentence.
    pub name: String,
    /// The experiment.
    pub experiment: String,
    /// The row.
    pub row: String,
    /// The column.
    pub column: String,
    /// Digits behind the point.
    pub digits: usize,
}

/// What reproduces a paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// The scenarios of its folder.
    Scenarios,
    /// The comparison with traces of the Linux kernel.
    Fidelity,
}

/// What the report says of one table.
#[derive(Clone, Debug, Default)]
pub struct TableText {
    /// Its name in `expected.csv`.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// What to know to read it.
    pub text: String,
    /// Who gives the numbers, where it is not the paper.
    pub source: String,
    /// Whether these are of the kernel's TCP in virtual time; otherwise, of a simulator.
    pub is_of_kernel: bool,
}

/// One run of a scenario under one hypothesis.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its name, unique in the paper.
    pub id: String,
    /// The scenario file in the paper's folder.
    pub scenario: String,
    /// What is assumed; as stated in the paper where it is empty.
    pub hypothesis: String,
    /// Whose numbers it gives.
    pub label: Label,
    /// What this build must have, by the name of a key of scenarios.
    pub requires: Option<String>,
    /// The model, where it is predicted.
    pub model: Option<String>,
    /// What is estimated in place of a scenario.
    pub estimate: Option<Estimated>,
    /// The streams that are sent, or computed, in place of a scenario.
    pub streams: Option<Streams>,
    /// The device that is tested in place of a scenario.
    pub tested: Option<Tested>,
    /// The files that are transferred in place of a scenario.
    pub transfers: Option<Transfers>,
    /// Keys of the scenario that are set.
    pub set: Vec<(String, Value)>,
    /// Keys that are set for the two-minute choice.
    pub quick: Vec<(String, Value)>,
    /// Keys that are set with `--full`.
    pub full: Vec<(String, Value)>,
    /// Whether it runs with `--full` only.
    pub needs_full: bool,
    /// Whether it runs only in a kernel that is given.
    pub needs_kernel: bool,
    /// Which cells it gives.
    pub answers: Vec<Answer>,
}

/// Functions, estimated or measured on a machine at some frame sizes: an experiment that needs no
/// scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimated {
    /// What they are.
    pub functions: Functions,
    /// The machine and its profile.
    pub machine: String,
    /// Whether they are run on this machine, on rings in memory, and timed.
    pub is_measured: bool,
    /// Frame sizes in bytes, with FCS.
    pub frames: Vec<f64>,
    /// Flows, each number of them tried.
    pub flows: Vec<f64>,
    /// What flows differ in, where there are several.
    pub vary: String,
    /// Cores that run each function.
    pub cores: f64,
    /// Ports that receive.
    pub ports: f64,
    /// Gigabits a second of each port; infinite where links do not limit.
    pub gbps: f64,
    /// The share of packets that arrive at the other socket.
    pub remote: f64,
}

/// A device under tests of `trammel bench`: an experiment that needs no scenario. Its settings are
/// keys such as `throughput.width`.
#[derive(Clone, Debug, PartialEq)]
pub struct Tested {
    /// The device.
    pub device: Device,
    /// Names of tests.
    pub tests: Vec<String>,
    /// Frame sizes in bytes, with FCS.
    pub frames: Vec<f64>,
    /// Gigabits a second of each port, where the device does not say.
    pub gbps: f64,
    /// A file beside the paper with what it says of its devices.
    pub published: Option<String>,
}

/// A device; files lie beside the paper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Device {
    /// One that is not here, as `--model` has it.
    Model(String),
    /// A Click file between rings in memory.
    Ring(String),
    /// One that is built in a namespace, as `--dut` has it.
    Built(String),
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Device::Model(name) => write!(f, "model {name}"),
            Device::Ring(file) => write!(f, "{file} between rings in memory"),
            Device::Built(name) => write!(f, "{name} between namespaces"),
        }
    }
}

/// Files transferred through devices on this machine: an experiment that needs no scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfers {
    /// `ftp`, `http`.
    pub protocols: Vec<String>,
    /// Devices as `--dut` has them; Click files lie beside the paper.
    pub through: Vec<String>,
    /// Bytes of the file in the two-minute choice, and in full.
    pub bytes: (u64, u64),
    /// How often each is transferred, in the two-minute choice and in full.
    pub times: (u32, u32),
    /// A file beside the paper with what it says of its transfers.
    pub published: Option<String>,
}

/// Streams of packets at equal gaps, one for each protocol, size and rate: an experiment that needs
/// no scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Streams {
    /// What carries them, with bytes of payload.
    pub kinds: Vec<(Protocol, u32)>,
    /// The rates that are imposed.
    pub imposed: Imposed,
    /// Whether they are sent and received on this machine; computed otherwise.
    pub is_measured: bool,
    /// A file beside the paper with what its devices attained.
    pub published: Option<String>,
    /// Megabits a second of the Ethernet that is to carry them; infinite where nothing is said of
    /// it.
    pub link_mbps: f64,
    /// Seconds of each, in the two-minute choice and in full.
    pub seconds: (f64, f64),
}

/// Rates that are imposed on streams.
#[derive(Clone, Debug, PartialEq)]
pub enum Imposed {
    /// Packets a second.
    Pps(Vec<f64>),
    /// Megabits of payload a second.
    Mbps(Vec<f64>),
}

impl Imposed {
    /// The key in `paper.toml` and the numbers.
    pub fn sweep(&self) -> (&'static str, &[f64]) {
        match self {
            Imposed::Pps(rates) => ("pps", rates),
            Imposed::Mbps(rates) => ("mbps", rates),
        }
    }

    /// Packets a second of the rate at `at`, with `bytes` of payload.
    pub fn pps(&self, at: usize, bytes: u32) -> f64 {
        match self {
            Imposed::Pps(rates) => rates[at],
            Imposed::Mbps(rates) => rates[at] * 1e6 / (8.0 * f64::from(bytes)),
        }
    }
}

/// The functions of an experiment; files lie beside the paper.
#[derive(Clone, Debug, PartialEq)]
pub enum Functions {
    /// All of a file of lists of operations.
    List(String),
    /// A Click configuration for each name.
    Files(Vec<(String, String)>),
}

impl std::fmt::Display for Functions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Functions::List(file) => write!(f, "{file}"),
            Functions::Files(each) => {
                let files: Vec<_> = each.iter().map(|(_, file)| file.as_str()).collect();
                write!(f, "{}", files.join(", "))
            }
        }
    }
}

/// Cells of one table.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The table.
    pub table: String,
    /// The rows.
    pub rows: Names,
    /// The columns.
    pub columns: Names,
    /// The value, where neither rows nor columns bring one.
    pub value: Option<Expression>,
    /// How many points become one cell.
    pub gather: Gather,
    /// Whether the verdicts are about these cells; others are shown beside.
    pub is_judged: bool,
}

/// The rows or the columns of an answer.
#[derive(Clone, Debug)]
pub enum Names {
    /// One.
    One(String),
    /// One for each value of a swept key; without names, the values themselves.
    Swept(String, Vec<String>),
    /// One for each expression.
    Each(Vec<(String, Expression)>),
}

impl Names {
    /// The names at a point, each with its own expression; `swept` names the value that a swept key
    /// has there.
    pub fn at(
        &self,
        swept: impl FnOnce(&str, &[String]) -> anyhow::Result<String>,
    ) -> anyhow::Result<Vec<(String, Option<&Expression>)>> {
        Ok(match self {
            Names::One(name) => vec![(name.clone(), None)],
            Names::Each(each) => each
                .iter()
                .map(|(name, value)| (name.clone(), Some(value)))
                .collect(),
            Names::Swept(key, names) => vec![(swept(key, names)?, None)],
        })
    }
}

/// How many points become one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gather {
    /// A point is a cell.
    None,
    /// Their mean.
    Mean,
    /// The rank correlation, over the values of a swept key, with a printed column of another
    /// table.
    Spearman {
        /// The swept key whose values are the rows of that table.
        over: String,
        /// That table.
        table: String,
        /// That column.
        column: String,
    },
}

/// A figure over time from an experiment's trace.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its file's stem.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// What to see.
    pub text: String,
    /// The experiment.
    pub experiment: String,
    /// The point of the sweep, from 0.
    pub point: usize,
    /// What is drawn.
    pub curve: Curve,
    /// Level lines that a model predicts: the flow and what the model says of its share.
    pub predicted: Option<String>,
}

/// What a figure shows over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// The congestion window.
    Cwnd,
    /// Acknowledged payload a second.
    Throughput,
    /// Each flow's part of all that was acknowledged.
    Share,
}

/// A figure over frame size or flows.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Its file's stem.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// What to see.
    pub text: String,
    /// What is along the horizontal axis.
    pub over: Over,
    /// What is along the vertical axis, and its unit.
    pub of: (String, String),
    /// Whether the vertical axis is divided by factors.
    pub is_log: bool,
    /// The curves.
    pub series: Vec<PlotSeries>,
}

/// What a figure is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Bytes of a frame.
    Frame,
    /// Flows.
    Flows,
    /// Packets a second that are imposed on streams.
    Pps,
    /// Megabits of payload a second that are imposed on streams.
    Mbps,
}

/// A curve of a figure.
#[derive(Clone, Debug)]
pub struct PlotSeries {
    /// What it is, for the legend.
    pub name: String,
    /// Whose number it is.
    pub label: Label,
    /// Where it is from.
    pub from: PlotSource,
}

/// Where a curve is from.
#[derive(Clone, Debug)]
pub enum PlotSource {
    /// Numbers as the paper gives them, each with what it may be.
    Points(Vec<PlotPoint>),
    /// An experiment of functions: the value and the ends of its interval, at each of its points.
    Experiment {
        /// The experiment.
        id: String,
        /// The value.
        value: Expression,
        /// The ends of its interval.
        ends: Option<Box<(Expression, Expression)>>,
    },
    /// A capacity profile in the paper's folder, which may not be there.
    Profile(String),
    /// An experiment of streams: a curve for each system and size of payload.
    Streams {
        /// The experiment.
        id: String,
        /// What carries them.
        protocol: Protocol,
        /// The column that is shown.
        column: String,
    },
}

/// A number as the paper gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlotPoint {
    /// Along the horizontal axis.
    pub x: f64,
    /// Along the vertical axis.
    pub y: f64,
    /// What it may be; the number itself where that is not said.
    pub range: (f64, f64),
}

impl Spec {
    /// The experiment called `id`.
    pub fn experiment(&self, id: &str) -> Option<&Experiment> {
        self.experiments
            .iter()
            .find(|experiment| experiment.id == id)
    }
}
