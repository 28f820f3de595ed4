//! What is judged, and how it is run: a variant of the simulator, a kernel in a guest, a foreign
//! stack's log.

use crate::case::Case;
use crate::measure::Observation;
use crate::mutant::{self, Mutation, StackChange};
use crate::reader::value;
use crate::record::{NAME, recorded};
use crate::series::{STATES, Series};
use anyhow::{Context, anyhow, bail};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table as TomlTable, Value};
use trammel_core::units::nearest;
use trammel_packetdrill::{ScriptOutcome, Tested, run_on};
use trammel_scenario::File;
use trammel_scenario::check::Fault;
use trammel_scenario::flow::Flow;
use trammel_scenario::model::{Engine, Scenario};
use trammel_stats::table::Table;
use trammel_tcp::cc::Phase;
use trammel_transport::points::{RunOptions, Watch, run_points};
use trammel_transport::refusals::refusals;
use trammel_transport::simulate::simulate;
use trammel_transport::trace_of::{EntityTrace, Samples};

/// Payload of a full segment of a case, bytes.
const FULL_BYTES: f64 = 1448.0;
/// The flow of a scenario that is judged, where several have names.
const SUBJECT: &str = "subject";

/// Who is judged.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The congestion control.
    pub variant: Variant,
    /// What runs it.
    pub source: Source,
}

/// What runs the subject.
#[derive(Clone, Debug)]
pub enum Source {
    /// The simulator.
    Simulator,
    /// The real kernel in virtual time: the package's, or a source tree's.
    Kernel(Option<String>),
    /// Nothing: what it did was read from a log.
    Log(Arc<Series>),
}

/// A congestion control by name, with its parameters and with rules that it violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Parameters as they were written.
    pub given: Vec<(String, String)>,
    /// Rules that it violates, and keys of its flow: `no-undo`, `initial_window=20`.
    pub violates: Vec<String>,
}

impl Variant {
    /// Reads `cubic`, `cubic:beta=922,hystart=false`, `cubic+no-undo`.
    pub fn read(text: &str) -> anyhow::Result<Variant> {
        let mut parts = text.split('+');
        let first = parts.next().unwrap_or_default();
        let (name, given) = first.split_once(':').unwrap_or((first, ""));
        let given = given.split([',', ':']).filter(|one| !one.is_empty());
        let given = given.map(|one| {
            let pair = one.split_once('=');
            pair.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
                .ok_or_else(|| anyhow!("`{one}` is no parameter: write `{name}:NAME=VALUE`"))
        });
        let known = trammel_tcp::cc::find(name);
        if known.is_none() {
            let all = trammel_tcp::cc::all();
            let names = all.iter().map(|entry| entry.about.name);
            let help = nearest(name, names)
                .map_or_else(String::new, |near| format!(" did you mean `{near}`?"));
            bail!(
                "no congestion control is called `{name}`;{help} `trammel list variants` has all"
            );
        }
        let violates: Vec<String> = parts.map(str::to_owned).collect();
        for one in &violates {
            let is_known =
                one.contains('=') || Mutation::find(one).is_some() || mutant::stack(one).is_some();
            if !is_known {
                let all: Vec<_> = mutant::names().collect();
                bail!("no rule is called `{one}`; rules are {}", all.join(", "));
            }
        }
        Ok(Variant {
            name: name.to_owned(),
            given: given.collect::<anyhow::Result<_>>()?,
            violates,
        })
    }

    fn mutation(&self) -> Option<Mutation> {
        self.violates.iter().find_map(|one| Mutation::find(one))
    }

    fn stack(&self) -> Option<StackChange> {
        self.violates.iter().find_map(|one| mutant::stack(one))
    }
}

impl std::fmt::Display for Variant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        for (at, (key, value)) in self.given.iter().enumerate() {
            write!(f, "{}{key}={value}", if at == 0 { ":" } else { "," })?;
        }
        self.violates.iter().try_for_each(|one| write!(f, "+{one}"))
    }
}

impl Subject {
    /// A variant of the simulator.
    pub fn simulated(variant: Variant) -> Subject {
        Subject {
            variant,
            source: Source::Simulator,
        }
    }

    /// What it is called.
    pub fn name(&self) -> String {
        match &self.source {
            Source::Simulator => self.variant.to_string(),
            Source::Kernel(None) => format!("kernel packaged {}", self.variant),
            Source::Kernel(Some(tree)) => format!("kernel {tree} {}", self.variant),
            Source::Log(_) => "qlog".to_owned(),
        }
    }

    /// Whether `who` of a case file means it: `*`, `cubic`, `cubic:beta=922`, `kernel:bbr`, `qlog`.
    pub fn is(&self, who: &str) -> bool {
        let (source, who) = match who.split_once(':') {
            Some(("kernel", rest)) => (matches!(self.source, Source::Kernel(_)), rest),
            _ if who == "*" => return true,
            _ if who == "qlog" => return matches!(self.source, Source::Log(_)),
            _ => (matches!(self.source, Source::Simulator), who),
        };
        let (name, given) = who.split_once(':').unwrap_or((who, ""));
        let has = |pair: &str| {
            let mut all = self.variant.given.iter();
            all.any(|(key, value)| format!("{key}={value}") == pair)
        };
        source
            && (name == "*" || name == self.variant.name)
            && given.split(',').filter(|one| !one.is_empty()).all(has)
    }

    /// What it does in `case`, or why that cannot be seen. `variant` is its own, or that of the
    /// reference run.
    pub fn observe(
        &self,
        case: &Case,
        variant: &Variant,
        watch: &dyn Watch,
    ) -> anyhow::Result<Result<Observation, String>> {
        if let Source::Log(series) = &self.source {
            return Ok(Ok(Observation {
                series: Series::clone(series),
                ..Observation::default()
            }));
        }
        let mut seen = Observation::default();
        if let Some(text) = &case.scenario {
            let name = format!("{}/{}", case.suite, case.name);
            seen = match &self.source {
                Source::Kernel(tree) => {
                    match in_guest(&name, text, variant, tree.as_deref(), watch)? {
                        Ok(seen) => seen,
                        Err(why) => return Ok(Err(why)),
                    }
                }
                _ => simulated(&name, text, variant)?,
            };
        }
        // A guest has no packetdrill.
        if let (Some(script), Source::Simulator) = (&case.script, &self.source) {
            seen.script = Some(drilled(script, variant)?);
        }
        Ok(Ok(seen))
    }
}

/// The scenario file of a case for `variant`.
pub fn scenario_of(
    name: &str,
    text: &str,
    variant: &Variant,
    tree: Option<Option<&str>>,
) -> anyhow::Result<String> {
    let mut document: DocumentMut = text.parse().with_context(|| name.to_owned())?;
    let is_workload = document.contains_key("workload") && !document.contains_key("flow");
    let kind = if is_workload { "workload" } else { "flow" };
    if !document.contains_key(kind) {
        let mut flow = TomlTable::new();
        flow.insert("start", Item::from("0 s"));
        let mut flows = ArrayOfTables::new();
        flows.push(flow);
        document.insert("flow", Item::ArrayOfTables(flows));
    }
    let flows = document[kind]
        .as_array_of_tables_mut()
        .with_context(|| format!("{name}: `{kind}` must be `[[scenario.{kind}]]`"))?;
    let is_subject = |flow: &&mut TomlTable| {
        let name = flow.get("name").and_then(Item::as_str);
        name.is_none_or(|name| name == SUBJECT) && !flow.contains_key("variant")
    };
    let flow = flows.iter_mut().find(is_subject);
    let flow = flow.with_context(|| format!("{name}: no flow of the scenario is the subject's"))?;
    flow.insert("name", Item::from(SUBJECT));
    flow.insert("variant", Item::from(variant.name.as_str()));
    if !variant.given.is_empty() {
        let pairs = variant.given.iter().map(|(key, text)| (key, value(text)));
        let params: toml_edit::InlineTable = pairs.collect();
        flow.insert("params", Item::Value(Value::InlineTable(params)));
    }
    for (key, text) in variant
        .violates
        .iter()
        .filter_map(|one| one.split_once('='))
    {
        flow.insert(key, Item::Value(value(text)));
    }
    if let Some(tree) = tree {
        document.insert("trace", Item::from("1 ms"));
        document.insert("engines", value("[\"measure\"]").into());
        if let Some(tree) = tree {
            let mut measure = TomlTable::new();
            measure.insert("source", Item::from(tree));
            document.insert("measure", Item::Table(measure));
        }
    }
    Ok(document.to_string())
}

fn read(name: &str, text: &str) -> anyhow::Result<File> {
    File::parse(name, text, Path::new("")).map_err(|why| anyhow!("{why}"))
}

fn simulated(name: &str, text: &str, variant: &Variant) -> anyhow::Result<Observation> {
    let file = read(name, &scenario_of(name, text, variant, None)?)?;
    let mut scenario: Scenario = file.points[0].scenario.clone();
    let flows = scenario
        .flows
        .iter_mut()
        .filter(|flow| flow.name == SUBJECT);
    let workloads = scenario.workloads.iter_mut();
    let workloads = workloads.filter(|workload| workload.name == SUBJECT);
    let mut subjects = flows.chain(workloads.map(|workload| &mut workload.flow));
    let subject = subjects.next().expect("the subject's name was written");
    let own = subject.congestion_control().map_err(|why| anyhow!(why))?;
    subject.variant = Flow::new(NAME).variant;
    let seed = scenario.seed;
    let (run, series) = recorded(own, variant.mutation(), || simulate(&scenario, seed, false));
    let run = run.with_context(|| name.to_owned())?;
    Ok(Observation {
        flow: row(&run.flows, Some(("flow", SUBJECT))),
        link: row(&run.links, None),
        series,
        script: None,
    })
}

/// The row of `table` where `of` is so, or the first, by columns.
fn row(table: &Table, of: Option<(&str, &str)>) -> BTreeMap<String, f64> {
    let is_it = |row: &trammel_stats::table::Row<'_>| {
        of.is_none_or(|(column, name)| row.text(column) == name)
    };
    let Some(row) = table.rows().find(is_it) else {
        return BTreeMap::new();
    };
    let names = table.columns().iter().map(|column| &column.name);
    let known = names.filter_map(|name| Some((name.clone(), row.float(name)?)));
    known.collect()
}

fn in_guest(
    name: &str,
    text: &str,
    variant: &Variant,
    tree: Option<&str>,
    watch: &dyn Watch,
) -> anyhow::Result<Result<Observation, String>> {
    let text = scenario_of(name, text, variant, Some(tree))?;
    let file = read(name, &text)?;
    let faults = refusals(&file.points[0].scenario, &[Engine::Measure]);
    if let Some(fault) = faults.first() {
        let Fault { place, what, .. } = fault;
        return Ok(Err(format!("the kernel's guest has no `{place}`: {what}")));
    }
    let options = RunOptions {
        engines: vec![Engine::Measure],
        needs_all: true,
        threads: Some(1),
        ..RunOptions::default()
    };
    let outcome = run_points(&file, &options, watch)?;
    if let Some(failure) = outcome.failures.first() {
        bail!("{name}: {}", failure.why);
    }
    let traces = outcome.traces.iter();
    let series = traces
        .filter(|one| one.trace.entity == SUBJECT)
        .find_map(|one| series_of(&one.trace));
    Ok(Ok(Observation {
        flow: row(&outcome.flows, Some(("flow", SUBJECT))),
        link: row(&outcome.links, None),
        series: series.unwrap_or_default(),
        script: None,
    }))
}

/// The samples of a flow as a series.
fn series_of(trace: &EntityTrace) -> Option<Series> {
    let Samples::Flow(samples) = &trace.samples else {
        return None;
    };
    let mut series = Series::default();
    let mut rounds = Rounds::default();
    for one in samples {
        let known = |value: u32, is: bool| if is { f64::from(value) } else { f64::NAN };
        let has_threshold = one.ssthresh != trammel_tcp::cc::INFINITE_SSTHRESH;
        let mut values = vec![
            ("cwnd_pkts", f64::from(one.cwnd)),
            ("ssthresh_pkts", known(one.ssthresh, has_threshold)),
            ("srtt_us", known(one.srtt_us, one.srtt_us > 0)),
            ("in_flight_pkts", f64::from(one.in_flight)),
            ("acked_bytes", one.bytes_acked as f64),
            ("delivery_bps", one.delivery_bytes_per_s as f64 * 8.0),
        ];
        values.push(("rtt_min_us", known(one.min_rtt_us, one.min_rtt_us > 0)));
        // What was found lost was sent again.
        values.push(("lost_pkts", one.retransmissions as f64));
        values.push((
            "round_count",
            f64::from(rounds.count(one.bytes_acked, one.in_flight)),
        ));
        if one.pacing_bytes_per_s != u64::MAX {
            values.push(("pacing_bps", one.pacing_bytes_per_s as f64 * 8.0));
        }
        let model = &one.model;
        let bound = |segments: u32| known(segments, segments > 0);
        let pps = |rate: u64| rate as f64 / FULL_BYTES;
        let mut phase = model.phase.name();
        if model.pacing_gain > 0 {
            values.push(("pacing_gain", f64::from(model.pacing_gain) / 256.0));
            values.push(("cwnd_gain", f64::from(model.cwnd_gain) / 256.0));
        }
        if model.phase != Phase::None {
            values.push(("bw_pps", pps(model.bw)));
            values.push(("bw_hi_pps", pps(model.bw_hi)));
            let lo = if model.bw_lo > 0 {
                pps(model.bw_lo)
            } else {
                f64::NAN
            };
            values.push(("bw_lo_pps", lo));
            values.push(("bounded", f64::from(u8::from(model.bw_lo > 0))));
            values.push(("inflight_hi", bound(model.inflight_hi)));
            values.push(("inflight_lo", bound(model.inflight_lo)));
            values.push(("extra_acked", f64::from(model.extra_acked)));
        } else if model.pacing_gain > 0 {
            phase = phase_by_gains(model.pacing_gain, model.cwnd_gain);
        }
        let state = STATES.get(usize::from(one.state)).copied();
        series.push(
            one.time.as_secs_f64(),
            &values,
            phase,
            state.unwrap_or_default(),
        );
    }
    series.close();
    Some(series)
}

/// What BBR version 1 does, which tells no more of it than its gains, of 256.
fn phase_by_gains(pacing: u16, window: u16) -> &'static str {
    match pacing {
        513.. => "startup",
        0..128 => "drain",
        257.. => "probe-up",
        128..256 => "probe-down",
        256 if window <= 256 => "probe-rtt",
        256 => "cruise",
    }
}

/// Counts round trips by what is acknowledged: one ends when all is that was sent as it began.
#[derive(Debug, Default)]
struct Rounds {
    count: u32,
    end_bytes: u64,
}

impl Rounds {
    fn count(&mut self, acked_bytes: u64, in_flight: u32) -> u32 {
        if acked_bytes >= self.end_bytes && in_flight > 0 {
            self.count += 1;
            self.end_bytes = acked_bytes + u64::from(in_flight) * FULL_BYTES as u64;
        }
        self.count
    }
}

/// What a script expected and got, where it did not pass.
fn drilled(script: &str, variant: &Variant) -> anyhow::Result<Option<String>> {
    let entry = trammel_tcp::cc::find(&variant.name).expect("names are checked when read");
    let given = variant.given.iter().map(|(key, text)| {
        let value = match value(text) {
            Value::Integer(one) => trammel_core::entry::Value::Int(*one.value()),
            Value::Float(one) => trammel_core::entry::Value::Float(*one.value()),
            Value::Boolean(one) => trammel_core::entry::Value::Bool(*one.value()),
            _ => trammel_core::entry::Value::Text(text.clone()),
        };
        (key.clone(), value)
    });
    let given: Vec<_> = given.collect();
    let params = trammel_core::entry::Params::resolve(&entry.about, &given).map_err(|all| {
        let all: Vec<_> = all.iter().map(ToString::to_string).collect();
        anyhow!("`{}`: {}", variant.name, all.join("; "))
    })?;
    let (report, _) = recorded((entry, params), variant.mutation(), || {
        let tested = Tested {
            congestion_control: NAME,
            stack: variant.stack().unwrap_or(|_| {}),
        };
        run_on(script, &|_| None, &tested)
    });
    Ok(match report.map_err(|why| anyhow!("{why}"))?.outcome {
        ScriptOutcome::Passed => None,
        ScriptOutcome::Skipped { place, what } => {
            bail!("line {}: the interpreter does not model {what}", place.line)
        }
        ScriptOutcome::Failed(failure) => Some(format!(
            "line {} after {:.3} s: expected {}, got {}",
            failure.place.line,
            failure.at.as_secs_f64(),
            failure.expected,
            failure.got
        )),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_read_as_it_is_written() {
        let text = "cubic:beta=922,hystart=false+no-undo";
        let variant = Variant::read(text).unwrap();
        assert_eq!(variant.to_string(), text);
        assert_eq!(variant.given.len(), 2);
        for (wrong, what) in [
            ("cubik", "did you mean `cubic`?"),
            ("cubic:beta", "write `cubic:NAME=VALUE`"),
            ("cubic+no-reducing", "rules are no-reduction"),
        ] {
            let told = Variant::read(wrong).unwrap_err().to_string();
            assert!(told.contains(what), "{told}");
        }
    }

    #[test]
    fn who_is_meant_is_told_by_name_parameters_and_source() {
        let subject = Subject::simulated(Variant::read("cubic:beta=922").unwrap());
        for who in ["*", "cubic", "cubic:beta=922"] {
            assert!(subject.is(who), "{who}");
        }
        for who in ["reno", "cubic:beta=900", "kernel:cubic", "qlog"] {
            assert!(!subject.is(who), "{who}");
        }
        let kernel = Subject {
            source: Source::Kernel(None),
            ..subject
        };
        assert!(kernel.is("kernel:cubic") && !kernel.is("cubic"));
    }
}
