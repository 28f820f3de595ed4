//! Puts a class of Python's among the entries of its family, as a crate registers one of its own.

use super::class::{self, Class, DIGEST};
use super::{control, law, loss, queue};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Mutex;
use trammel_core::entry::{About, Kind, Param};
use trammel_core::family::{Catalogue, Refused};
use trammel_core::time::Span;
use trammel_core::units::{Dimension, Quantity};
use trammel_queues::{aqm, loss as loss_models};
use trammel_stats::dist;
use trammel_tcp::cc;

/// An entry that was made of a class.
#[derive(Clone, Copy)]
enum Entry {
    Control(&'static cc::Entry),
    Loss(&'static loss_models::Entry),
    Law(&'static dist::Entry),
    Queue(&'static aqm::Entry),
}

impl Entry {
    fn about(self) -> &'static About {
        match self {
            Entry::Control(entry) => &entry.about,
            Entry::Loss(entry) => &entry.about,
            Entry::Law(entry) => &entry.about,
            Entry::Queue(entry) => &entry.about,
        }
    }
}

/// The entries of classes, one a name and family.
static ENTRIES: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

/// What a class says of itself.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Said {
    family: String,
    name: String,
    summary: String,
    digest: String,
    /// Name, default, least, most.
    params: Vec<(String, f64, f64, f64)>,
    hooks: Vec<String>,
    flags: Vec<String>,
    variables: Vec<String>,
    every: Option<String>,
}

/// Registers `class`, of which `said` is said, in the place of one of the same name.
#[pyfunction]
pub(crate) fn register(class: Py<PyAny>, said: Said) -> PyResult<()> {
    let digest: &'static str = said.digest.leak();
    let name: &'static str = said.name.leak();
    let number = |(name, default, least, most): (String, f64, f64, f64)| Param {
        name: name.leak(),
        kind: Kind::Float(least, most),
        default: default.to_string().leak(),
        unit: "",
        help: "of a class in Python",
    };
    let mut params: Vec<Param> = said.params.into_iter().map(number).collect();
    params.push(Param {
        name: DIGEST,
        // Nothing but itself: a scenario cannot ask for a source that is not there.
        kind: Kind::Choice(Box::leak(Box::new([digest]))),
        default: digest,
        unit: "",
        help: "the source of the class, by its SHA-256; set by the program",
    });
    let about = About {
        name,
        aliases: &[],
        summary: said.summary.leak(),
        references: &[],
        params: params.leak(),
    };
    let mut known = Class::new(class, (name, digest), said.hooks, said.flags);
    let variables = said.variables.into_iter().map(|name| &*name.leak());
    known.variables = variables.collect::<Vec<_>>().leak();
    known.every = said.every.as_deref().map(span).transpose()?;
    let mut entries = ENTRIES.lock().expect("nothing panics while it is held");
    let entry = entry(&said.family, about, known.flags.contains("marks"))?;
    // Before its entry, so that whoever finds the one has the other.
    class::know(known);
    let is_its = |old: &&mut Entry| {
        let is_alike = std::mem::discriminant(*old) == std::mem::discriminant(&entry);
        is_alike && old.about().name == name
    };
    let old = entries.iter_mut().find(is_its);
    let refused = |why: Refused| PyValueError::new_err(why.to_string());
    put(old.as_deref().copied(), entry).map_err(refused)?;
    match old {
        Some(old) => *old = entry,
        None => entries.push(entry),
    }
    Ok(())
}

fn span(text: &str) -> PyResult<Span> {
    let time = Quantity::parse_as(text, &[Dimension::Time]);
    let time = time.map_err(|why| PyValueError::new_err(format!("`every`: {why}")))?;
    if time.value < 1e-6 || time.value > 1e6 {
        let text = "`every` is at least 1 µs and at most 1,000,000 s";
        return Err(PyValueError::new_err(text));
    }
    Ok(Span::from_secs_f64(time.value))
}

/// An entry of `family`, for ever.
fn entry(family: &str, about: About, marks: bool) -> PyResult<Entry> {
    Ok(match family {
        "variant" => Entry::Control(Box::leak(Box::new(cc::Entry {
            about,
            build: control::build,
        }))),
        "loss" => Entry::Loss(Box::leak(Box::new(loss_models::Entry {
            about,
            build: loss::build,
        }))),
        "law" => Entry::Law(Box::leak(Box::new(dist::Entry {
            about,
            build: law::build,
        }))),
        "discipline" => Entry::Queue(Box::leak(Box::new(aqm::Entry {
            about,
            marks,
            limit_pkts: Some(1000),
            build: queue::build,
        }))),
        other => return Err(no_family(other)),
    })
}

/// Puts `new` in the place of `old`, or beside the others.
fn put(old: Option<Entry>, new: Entry) -> Result<(), Refused> {
    match (old, new) {
        (Some(Entry::Control(old)), Entry::Control(new)) => cc::FAMILY.supersede(old, new),
        (Some(Entry::Loss(old)), Entry::Loss(new)) => loss_models::FAMILY.supersede(old, new),
        (Some(Entry::Law(old)), Entry::Law(new)) => dist::FAMILY.supersede(old, new),
        (Some(Entry::Queue(old)), Entry::Queue(new)) => aqm::FAMILY.supersede(old, new),
        (_, Entry::Control(new)) => cc::register(new),
        (_, Entry::Loss(new)) => loss_models::register(new),
        (_, Entry::Law(new)) => dist::register(new),
        (_, Entry::Queue(new)) => aqm::register(new),
    }
}

/// The name and the summary of each entry of a family, the built-in ones first.
#[pyfunction]
pub(crate) fn names(family: &str) -> PyResult<Vec<(&'static str, &'static str)>> {
    let all = match family {
        "variant" => cc::FAMILY.members(),
        "loss" => loss_models::FAMILY.members(),
        "law" => dist::FAMILY.members(),
        "discipline" => aqm::FAMILY.members(),
        other => return Err(no_family(other)),
    };
    let all = all.into_iter();
    Ok(all.map(|about| (about.name, about.summary)).collect())
}

fn no_family(name: &str) -> PyErr {
    PyValueError::new_err(format!(
        "there is no family `{name}`; there are `variant`, `discipline`, `loss` and `law`"
    ))
}
