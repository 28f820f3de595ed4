//! Reads plug-ins: a name, and parameters beside it or in a table of their own.

use crate::faults::Context;
use crate::keys::{LONGEST_S, MOST_BYTES};
use crate::keys_kind::Kind;
use crate::plugin::{Plugin, Random};
use crate::reader::Reader;
use crate::registry::Family;
use crate::tree::{Entry, Extent, Node, Value};
use trammel_core::entry::{About, Kind as ParamKind, ParamError, Params, Value as Given};
use trammel_core::family::Unknown;
use trammel_core::units::{Dimension, Quantity, nearest};

/// A plug-in that was found, as the file names it.
struct Named<'a> {
    family: Family,
    about: &'static About,
    name: &'a str,
    /// Where a missing parameter is missed.
    span: &'a Extent,
}

/// The plug-in that the key `name_key` names, with the table's other keys as its parameters. A
/// number with a unit of `base` means that many base units.
pub(super) fn beside(r: &Reader<'_>, name_key: &str, base: Option<Dimension>) -> Option<Plugin> {
    let family = r.section.extra.expect("the section takes parameters");
    let name = r.text(name_key)?;
    let Some(about) = known(r, name_key, family, &name) else {
        return Some(Plugin::new(&name));
    };
    let listed = |key: &str| r.section.keys.iter().any(|listed| listed.name == key);
    let declared = |key: &str| about.params.iter().any(|param| param.name == key);
    let entries: Vec<_> = r.table.0.iter().collect();
    let entries = entries
        .into_iter()
        .filter(|e| !listed(&e.key) || declared(&e.key));
    let also: Vec<_> = r.section.keys.iter().map(|key| key.name).collect();
    let named = Named {
        family,
        about,
        name: &name,
        span: &r.span,
    };
    let entries = entries.collect();
    Some(resolve(r.cx, &named, entries, &also, base))
}

/// The congestion control of a flow or workload, with its parameters in `params`.
pub(super) fn variant(r: &Reader<'_>) -> Option<Plugin> {
    let name = match r.entry("variant") {
        Some(entry) if entry.node.as_table().is_some() => library(r, &entry.node)?.to_owned(),
        _ => r.text("variant")?,
    };
    let Some(about) = known(r, "variant", Family::Variant, &name) else {
        return Some(Plugin::new(&name));
    };
    let entries = match r.entry("params") {
        None => Vec::new(),
        Some(entry) => {
            if entry.node.as_table().is_none() {
                r.wrong("params", &entry.node);
            }
            let table = entry.node.as_table().into_iter();
            table.flat_map(|table| &table.0).collect()
        }
    };
    let named = Named {
        family: Family::Variant,
        about,
        name: &name,
        span: &r.span,
    };
    Some(resolve(r.cx, &named, entries, &[], None))
}

/// The name of the congestion control in the library that `node` names.
fn library(r: &Reader<'_>, node: &Node) -> Option<&'static str> {
    let inner = Reader::new(r.cx, &crate::keys::LIBRARY, node);
    let path = inner.text("library")?;
    let loaded = (r.cx.libraries)(&r.cx.dir.join(path));
    let refused = |why: String| {
        let what = "the library is not used";
        let help = "docs/own-variant.md has a library to begin with";
        r.cx.fault(&node.span, what, why, help);
    };
    loaded.map_err(refused).ok()
}

/// The random quantity `name`: a plain value or a distribution.
pub(super) fn random(r: &Reader<'_>, name: &str) -> Option<Random> {
    let &Kind::Distribution(base) = kind_of(r, name) else {
        unreachable!("`{name}` is listed as another kind")
    };
    let from_default;
    let node = match r.entry(name) {
        Some(entry) => &entry.node,
        None => match r.section.key(name).fallback {
            crate::keys_kind::Fallback::Is(text) => {
                from_default = Node {
                    span: r.span.clone(),
                    value: Value::Text(text.to_owned()),
                };
                &from_default
            }
            crate::keys_kind::Fallback::Required => {
                r.missing(name);
                return None;
            }
            _ => return None,
        },
    };
    if let Value::Table(_) = node.value {
        let inner = Reader::new(r.cx, &crate::keys::RANDOM, node);
        return beside(&inner, "distribution", Some(base)).map(Random::Drawn);
    }
    let value = r.measured(name, node, &[base])?.value;
    let what = format!("`{}` cannot be `{}`", r.dotted(name), node.brief());
    if let Some((most, said)) = most(base).filter(|(most, _)| value > *most) {
        let why = format!("must be at most {most} {said}");
        r.cx.fault(&node.span, what, why, "");
        return None;
    }
    if value > 0.0 || (value == 0.0 && base == Dimension::Time) {
        return Some(Random::Always(value));
    }
    r.cx.fault(&node.span, what, "must be more than zero", "");
    None
}

/// The most that a random quantity may be, and its unit: what the keys of plain times and sizes
/// allow.
fn most(base: Dimension) -> Option<(f64, &'static str)> {
    match base {
        Dimension::Time => Some((LONGEST_S, "s")),
        Dimension::Bytes => Some((MOST_BYTES, "bytes")),
        _ => None,
    }
}

/// The parameters of distributions that are in the unit of what is drawn; the others are shapes and
/// probabilities.
const SCALED: [&str; 9] = [
    "value", "mean", "std_dev", "min", "max", "location", "scale", "bound", "values",
];
/// A law of which more than this part lies above what is possible is not meant; of the rest each
/// draw is cut.
const BEYOND: f64 = 0.01;

/// Refuses a law whose draws would be beyond what simulated time or a flow's bytes can be.
fn refuse_beyond(
    cx: &Context<'_>,
    plugin: &Plugin,
    (span, places): (&Extent, &[(String, &Entry)]),
    base: Dimension,
) {
    let Some((most, unit)) = most(base) else {
        return;
    };
    let beyond = |value: &Given| match value {
        Given::Float(v) => v.abs() > most,
        Given::Int(v) => *v as f64 > most,
        Given::Floats(all) => all.iter().any(|v| v.abs() > most),
        _ => false,
    };
    let why = format!("must be at most {most} {unit}");
    let mut is_possible = true;
    for (key, value) in &plugin.given {
        let place = places.iter().find(|(placed, _)| placed == key);
        if let Some((_, entry)) = place.filter(|_| SCALED.contains(&key.as_str()) && beyond(value))
        {
            let what = format!("`{}` cannot be `{}`", entry.key, entry.node.brief());
            let help = format!("it is in {unit} here");
            cx.fault(&entry.node.span, what, &why, help);
            is_possible = false;
        }
    }
    if let Ok(law) = plugin.distribution()
        && is_possible
        && law.cdf(most) < 1.0 - BEYOND
    {
        let what = format!("`{}` draws values that are too large", plugin.name);
        cx.fault(span, what, why, format!("its draws are in {unit} here"));
    }
}

/// The plug-in called `name`. A default that this build lacks is left to the engine.
fn known(r: &Reader<'_>, key: &str, family: Family, name: &str) -> Option<&'static About> {
    let found = family.catalogue().describe(name);
    if let (Err(fault), Some(entry)) = (&found, r.entry(key)) {
        unknown(r.cx, family, fault, &entry.node.span);
    }
    found.ok()
}

/// Notes that no plug-in has a name.
pub(super) fn unknown(cx: &Context<'_>, family: Family, fault: &Unknown, span: &Extent) {
    cx.fault(span, fault.what(), "unknown name", family.remedy(fault));
}

/// Checks the parameters `entries` of the plug-in; `also` are keys that the table takes besides.
fn resolve(
    cx: &Context<'_>,
    named: &Named<'_>,
    entries: Vec<&Entry>,
    also: &[&str],
    base: Option<Dimension>,
) -> Plugin {
    let Named {
        family,
        about,
        name,
        span,
    } = *named;
    let mut given = Vec::new();
    let mut places: Vec<(String, &Entry)> = Vec::new();
    for entry in entries {
        if let Some((key, value)) = value(about, entry, base) {
            places.push((key.clone(), entry));
            given.push((key, value));
            continue;
        }
        let what = format!("`{}` takes no such value", entry.key);
        let why = format!("this is {}", entry.node.noun());
        let param = about.params.iter().find(|p| p.name == entry.key);
        let help = param.map(|p| format!("give {}", p.kind.describe()));
        cx.fault(&entry.node.span, what, why, help.unwrap_or_default());
        // The fault is noted; the place keeps the parameter from being missed as well.
        places.push((entry.key.clone(), entry));
    }
    let given_count = given.len();
    let errors = match Params::resolve(about, &given) {
        // With the defaults filled in, in the entry's order, equal scenarios have equal hashes. A
        // dialect that is not named is the stack's, which is not known here.
        Ok(params) => {
            given = params
                .iter()
                .filter(|(key, _)| {
                    *key != "dialect" || places.iter().any(|(place, _)| place == key)
                })
                .map(|(key, value)| (key.to_owned(), value.clone()))
                .collect();
            Vec::new()
        }
        Err(errors) => errors,
    };
    let is_sound = errors.is_empty() && places.len() == given_count;
    for error in errors {
        let place = places.iter().find(|(key, _)| key == error.key());
        let what = error.to_string();
        match (&error, place) {
            (ParamError::Unknown { key, .. }, Some((_, entry))) => {
                let names = about
                    .params
                    .iter()
                    .map(|p| p.name)
                    .chain(also.iter().copied());
                let what = format!("`{}` has no parameter `{key}`", about.name);
                let help = match nearest(key, names) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None if about.params.is_empty() => format!("`{}` has none", about.name),
                    None => {
                        let names: Vec<_> = about.params.iter().map(|p| p.name).collect();
                        format!("it has `{}`", names.join("`, `"))
                    }
                };
                cx.fault(&entry.span, what, "unknown parameter", help);
            }
            (ParamError::Value { wanted, .. }, Some((_, entry))) => {
                let params = about.params.iter();
                let help: String = params
                    .filter(|p| p.name == entry.key)
                    .map(|p| p.help)
                    .collect();
                let help = format!("meaning: {help}");
                cx.fault(&entry.node.span, what, format!("must be {wanted}"), help);
            }
            (ParamError::Missing { key, .. }, None) => {
                let help = format!(
                    "add `{key}`; `trammel doc {} {}` shows all",
                    family.plural(),
                    about.name
                );
                cx.fault(span, what, format!("`{key}` is missing"), help);
            }
            (ParamError::Missing { .. }, Some(_)) => {}
            (_, None) => cx.fault(span, what, "", ""),
        }
    }
    let plugin = Plugin {
        name: name.to_owned(),
        given,
    };
    if is_sound && let Err(error) = built(&plugin, family) {
        cx.fault(span, error, "this combination is impossible", "");
    } else if let Some(base) = base.filter(|_| is_sound) {
        refuse_beyond(cx, &plugin, (span, &places), base);
    }
    plugin
}

/// Whether the parameters, each allowed, make sense together; a discipline needs to know its link
/// for that.
fn built(plugin: &Plugin, family: Family) -> Result<(), String> {
    match family {
        Family::Distribution => plugin.distribution().map(|_| ()),
        Family::Loss => plugin.loss_model().map(|_| ()),
        Family::App => plugin.app().map(|_| ()),
        Family::Variant
        | Family::Model
        | Family::Discipline
        | Family::Application
        | Family::Test
        | Family::Operation => Ok(()),
    }
}

/// A parameter's key and value; a quantity of `base` becomes a number, a rate of packets a gap.
fn value(about: &About, entry: &Entry, base: Option<Dimension>) -> Option<(String, Given)> {
    let key = entry.key.clone();
    let param = |name: &str| about.params.iter().find(|param| param.name == name);
    let is_number = |name| param(name).is_some_and(|p| matches!(p.kind, ParamKind::Float(..)));
    let value = match &entry.node.value {
        Value::Int(v) => Given::Int(*v),
        Value::Float(v) => Given::Float(*v),
        Value::Bool(v) => Given::Bool(*v),
        Value::List(items) => Given::Floats(
            items
                .iter()
                .map(|item| match &item.value {
                    Value::Int(v) => Some(*v as f64),
                    Value::Float(v) => Some(*v),
                    Value::Text(text) => number_of(text, base?),
                    _ => None,
                })
                .collect::<Option<_>>()?,
        ),
        Value::Text(text) => {
            if base == Some(Dimension::Time) && key == "rate" && param("rate").is_none() {
                // `rate = "10 kpps"` of a law that is told its mean gap.
                let per_second = number_of(text, Dimension::PacketRate).filter(|v| *v > 0.0);
                let mean = ["mean", "value"]
                    .into_iter()
                    .find(|name| param(name).is_some());
                if let (Some(per_second), Some(mean)) = (per_second, mean) {
                    return Some((mean.to_owned(), Given::Float(1.0 / per_second)));
                }
            }
            let dimensions = base.into_iter().chain(base.map(|_| Dimension::PacketRate));
            let number = dimensions.into_iter().find_map(|d| number_of(text, d));
            match number {
                Some(number) if is_number(&key) => Given::Float(number),
                _ => Given::Text(text.clone()),
            }
        }
        Value::Table(_) | Value::Date => return None,
    };
    Some((key, value))
}

fn number_of(text: &str, dimension: Dimension) -> Option<f64> {
    let quantity = Quantity::parse_as(text, &[dimension]).ok()?;
    Some(quantity.value)
}

/// The kind of a key, for the places that read it by hand.
pub(super) fn kind_of(r: &Reader<'_>, name: &str) -> &'static Kind {
    &r.section.key(name).kind
}
