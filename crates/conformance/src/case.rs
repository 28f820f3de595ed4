//! A case as its file says it: source, scenario or script, conditions, and what must fail it.

use crate::reader::{Fault, Reader};
use toml_edit::DocumentMut;

/// A case.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its suite: `bbr`.
    pub suite: String,
    /// Its name in the suite: `01-startup-plateau`.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Where the requirement stands: `RFC 5681 §3.1`.
    pub source: String,
    /// The requirement's own words.
    pub quote: String,
    /// The scenario, without the subject's variant.
    pub scenario: Option<String>,
    /// A script of packetdrill.
    pub script: Option<String>,
    /// The variant of a second run that checks may compare with.
    pub reference: Option<String>,
    /// The conditions; all must hold.
    pub checks: Vec<Check>,
    /// Subjects known to depart from it.
    pub departs: Vec<Known>,
    /// Subjects to which it does not apply.
    pub excused: Vec<Known>,
    /// What is missing before it can be judged.
    pub waits_for: Option<String>,
    /// Subjects that violate the requirement, each of which must fail the case.
    pub mutants: Vec<String>,
}

/// A subject, or several, of which something is known in advance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// Which subjects: `bbr`, `bbr3:dialect=linux`, `kernel:bbr`, `*`.
    pub who: String,
    /// The reason.
    pub why: String,
}

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What it says, in words.
    pub says: String,
    /// What is measured.
    pub measure: Measure,
    /// The measure is divided by this one.
    pub over: Option<Measure>,
    /// The least that passes.
    pub at_least: Option<f64>,
    /// The most that passes.
    pub at_most: Option<f64>,
    /// It holds on any path, so that a foreign log of any run can be judged by it.
    pub anywhere: bool,
}

/// Something that is measured of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// What.
    pub what: What,
    /// From when.
    pub from: Option<Instant>,
    /// Until when.
    pub until: Option<Instant>,
    /// Only while in this phase or state.
    pub during: Option<String>,
    /// Of the second run.
    pub of_reference: bool,
}

/// The closed vocabulary of measures.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A column of the subject's row in table `flows`.
    Flow(String),
    /// A column of the first link's row in table `links`.
    Link(String),
    /// A variable of the trace.
    Value {
        /// Its name.
        variable: String,
        /// What of its samples.
        statistic: Statistic,
    },
    /// When an event comes, seconds from `from`.
    Time(Event),
    /// How often an event comes.
    Count(Event),
    /// How long the n-th stay in a phase lasts, seconds.
    Lasts(String, usize),
    /// Whether phases come in this order, with nothing between: 1 or 0.
    Visits(Vec<String>),
    /// Whether the case's script passes: 1 or 0.
    Script,
}

/// What is taken of a variable's samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statistic {
    /// The first sample.
    First,
    /// The last one.
    Last,
    /// The mean of the samples.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// The last less the first.
    Rise,
    /// The largest factor by which it grows within so many seconds.
    Growth(f64),
}

/// An event of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// What happens.
    pub kind: EventKind,
    /// Which one, from 1.
    pub nth: usize,
}

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// A phase or state is entered.
    Enters(String),
    /// A phase or state is left.
    Leaves(String),
    /// A variable rises to a value.
    Reaches(String, f64),
    /// A variable falls to a value.
    Falls(String, f64),
}

/// An instant of a window.
#[derive(Clone, Debug, PartialEq)]
pub enum Instant {
    /// Seconds from the start.
    At(f64),
    /// So many seconds after an event.
    After(Event, f64),
}

impl Case {
    /// Reads the file of case `suite/name`.
    pub fn read(suite: &str, name: &str, text: &str) -> Result<Case, Fault> {
        let place = format!("{suite}/{name}");
        let document: DocumentMut = text.parse().map_err(|why: toml_edit::TomlError| Fault {
            place: place.clone(),
            what: why.message().to_owned(),
        })?;
        let mut reader = Reader::new(document.as_table(), &place);
        let scenario = match reader.item("scenario") {
            None => None,
            Some(item) => {
                let table = item.as_table().cloned();
                let table = table.ok_or_else(|| reader.fault("scenario", "must be a table"))?;
                Some(written(table))
            }
        };
        let script = match reader.item("script") {
            None => None,
            Some(item) => Some(
                item.as_str()
                    .ok_or_else(|| reader.fault("script", "must be a text"))?
                    .to_owned(),
            ),
        };
        let checks = reader.tables("check")?;
        let mut checks = checks
            .into_iter()
            .map(check)
            .collect::<Result<Vec<_>, _>>()?;
        if script.is_some() {
            checks.push(Check {
                says: "the script passes".to_owned(),
                measure: Measure {
                    what: What::Script,
                    from: None,
                    until: None,
                    during: None,
                    of_reference: false,
                },
                over: None,
                at_least: Some(1.0),
                at_most: None,
                anywhere: false,
            });
        }
        let case = Case {
            suite: suite.to_owned(),
            name: name.to_owned(),
            title: reader.needed("title")?,
            source: reader.needed("source")?,
            quote: reader.needed("quote")?,
            reference: reader.text("reference")?,
            departs: known(reader.tables("departs")?)?,
            excused: known(reader.tables("not_applicable")?)?,
            waits_for: reader.text("waits_for")?,
            mutants: reader.texts("mutants")?,
            scenario,
            script,
            checks,
        };
        let lack = match &case {
            Case { checks, .. } if checks.is_empty() => Some(("check", "a case needs a condition")),
            Case {
                scenario: None,
                script: None,
                ..
            } => Some(("scenario", "a case needs a scenario or a script")),
            Case { mutants, .. } if mutants.is_empty() => {
                Some(("mutants", "a case needs a subject that fails it"))
            }
            _ => None,
        };
        if let Some((key, what)) = lack {
            return Err(reader.fault(key, what));
        }
        reader.finish()?;
        Ok(case)
    }

    /// The number with which its name begins, or 0.
    pub fn number(&self) -> u32 {
        let digits = self.name.split('-').next().unwrap_or_default();
        digits.parse().unwrap_or(0)
    }
}

/// A table `[scenario]` as a scenario file.
fn written(mut table: toml_edit::Table) -> String {
    table.set_implicit(false);
    let mut document = DocumentMut::new();
    for (key, item) in &table {
        document[key] = item.clone();
    }
    // Positions are those in the case's file; without them tables go in the order of their keys.
    let text = document.to_string();
    text.trim_start().to_owned()
}

fn known(all: Vec<Reader<'_>>) -> Result<Vec<Known>, Fault> {
    let one = |mut reader: Reader<'_>| {
        let known = Known {
            who: reader.needed("who")?,
            why: reader.needed("why")?,
        };
        reader.finish()?;
        Ok(known)
    };
    all.into_iter().map(one).collect()
}

fn check(mut reader: Reader<'_>) -> Result<Check, Fault> {
    let says = reader.needed("says")?;
    let over = match reader.table("over")? {
        None => None,
        Some(mut inner) => {
            let over = measure(&mut inner)?;
            inner.finish()?;
            Some(over)
        }
    };
    let mut check = Check {
        says,
        measure: measure(&mut reader)?,
        over,
        at_least: reader.number("at_least")?,
        at_most: reader.number("at_most")?,
        anywhere: reader.switch("anywhere")?,
    };
    if let Some(value) = reader.number("exactly")? {
        (check.at_least, check.at_most) = (Some(value), Some(value));
    }
    if matches!(check.measure.what, What::Visits(_)) && check.at_least.or(check.at_most).is_none() {
        check.at_least = Some(1.0);
    }
    if check.at_least.is_none() && check.at_most.is_none() {
        return Err(reader.fault("at_least", "a check needs a bound"));
    }
    reader.finish()?;
    Ok(check)
}

fn measure(reader: &mut Reader<'_>) -> Result<Measure, Fault> {
    let what = what(reader)?;
    Ok(Measure {
        what,
        from: instant(reader, "from")?,
        until: instant(reader, "until")?,
        during: reader.text("during")?,
        of_reference: reader.switch("of_reference")?,
    })
}

fn what(reader: &mut Reader<'_>) -> Result<What, Fault> {
    let mut found = Vec::new();
    if let Some(column) = reader.text("flow")? {
        found.push(What::Flow(column));
    }
    if let Some(column) = reader.text("link")? {
        found.push(What::Link(column));
    }
    if let Some(variable) = reader.text("value")? {
        let statistic = statistic(reader)?;
        found.push(What::Value {
            variable,
            statistic,
        });
    }
    if let Some(mut inner) = reader.table("time")? {
        let event = event(&mut inner)?;
        inner.finish()?;
        found.push(What::Time(event));
    }
    if let Some(mut inner) = reader.table("count")? {
        let event = event(&mut inner)?;
        inner.finish()?;
        found.push(What::Count(event));
    }
    if let Some(phase) = reader.text("lasts")? {
        let nth = reader.number("nth")?.unwrap_or(1.0).max(1.0) as usize;
        found.push(What::Lasts(phase, nth));
    }
    if let Some(item) = reader.item("visits") {
        let _ = item;
        found.push(What::Visits(reader.texts("visits")?));
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(reader.fault(
            "value",
            "a measure is one of `flow`, `link`, `value`, `time`, `count`, `lasts`, `visits`",
        )),
        _ => Err(reader.fault("value", "a check measures one thing; make two of it")),
    }
}

fn statistic(reader: &mut Reader<'_>) -> Result<Statistic, Fault> {
    let name = reader.needed("statistic")?;
    let span = reader.time("span")?;
    Ok(match (name.as_str(), span) {
        ("first", None) => Statistic::First,
        ("last", None) => Statistic::Last,
        ("mean", None) => Statistic::Mean,
        ("min", None) => Statistic::Min,
        ("max", None) => Statistic::Max,
        ("rise", None) => Statistic::Rise,
        ("growth", Some(span)) => Statistic::Growth(span),
        _ => {
            return Err(reader.fault(
                "statistic",
                "is one of `first`, `last`, `mean`, `min`, `max`, `rise`, and `growth` with `span`",
            ));
        }
    })
}

fn event(reader: &mut Reader<'_>) -> Result<Event, Fault> {
    let nth = reader.number("nth")?.unwrap_or(1.0).max(1.0) as usize;
    let variable = reader.text("value")?;
    let kind = if let Some(phase) = reader.text("enters")? {
        EventKind::Enters(phase)
    } else if let Some(phase) = reader.text("leaves")? {
        EventKind::Leaves(phase)
    } else {
        match (variable, reader.number("above")?, reader.number("below")?) {
            (Some(variable), Some(bound), None) => EventKind::Reaches(variable, bound),
            (Some(variable), None, Some(bound)) => EventKind::Falls(variable, bound),
            _ => {
                return Err(reader.fault(
                    "enters",
                    "an event is `enters`, `leaves`, or a `value` with `above` or `below`",
                ));
            }
        }
    };
    Ok(Event { kind, nth })
}

fn instant(reader: &mut Reader<'_>, key: &'static str) -> Result<Option<Instant>, Fault> {
    match reader.item(key) {
        None => Ok(None),
        Some(item) if item.is_str() => Ok(reader.time(key)?.map(Instant::At)),
        Some(_) => {
            let Some(mut inner) = reader.table(key)? else {
                return Ok(None);
            };
            let plus = inner.time("plus")?.unwrap_or(0.0);
            let event = event(&mut inner)?;
            inner.finish()?;
            Ok(Some(Instant::After(event, plus)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "title = \"t\"\nsource = \"s\"\nquote = \"q\"\nmutants = [\"reno\"]\n";

    fn fault(rest: &str) -> String {
        let text = format!("{HEAD}{rest}");
        Case::read("tcp", "01-a", &text).unwrap_err().to_string()
    }

    #[test]
    fn a_fault_says_where_and_what() {
        for (rest, what) in [
            ("", "tcp/01-a.check: a case needs a condition"),
            (
                "[[check]]\nsays = \"a\"",
                "tcp/01-a.check[1].value: a measure is one of",
            ),
            (
                "[[check]]\nsays = \"a\"\nflow = \"goodput_mbps\"",
                "tcp/01-a.check[1].at_least: a check needs a bound",
            ),
            (
                "[[check]]\nsays = \"a\"\nflow = \"goodput_mbps\"\natleast = 1\nat_most = 2",
                "did you mean `at_least`?",
            ),
            (
                "[[check]]\nsays = \"a\"\nflow = \"a\"\nat_least = 1",
                "tcp/01-a.scenario: a case needs a scenario or a script",
            ),
            (
                "[[check]]\nsays = \"a\"\ntime = { enters = \"drain\", from = 3 }\nat_least = 1",
                "tcp/01-a.check[1].time.from: is no key here",
            ),
        ] {
            let told = fault(rest);
            assert!(told.contains(what), "{told}");
        }
    }

    #[test]
    fn a_scenario_in_a_case_is_a_scenario_file() {
        let text = format!(
            "{HEAD}[scenario]\nduration = \"3 s\"\n[scenario.path]\nrate = \"10 Mbit/s\"\n\
             rtt = \"40 ms\"\n[[scenario.flow]]\nname = \"subject\"\n[[check]]\nsays = \"a\"\n\
             flow = \"goodput_mbps\"\nat_least = 1\n"
        );
        let case = Case::read("tcp", "01-a", &text).unwrap();
        let scenario: DocumentMut = case.scenario.unwrap().parse().unwrap();
        assert_eq!(scenario["path"]["rtt"].as_str(), Some("40 ms"));
        assert_eq!(scenario["flow"][0]["name"].as_str(), Some("subject"));
    }
}
