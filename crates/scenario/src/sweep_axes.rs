//! Reads `[sweep]`, `[[sweep.zip]]` and `[matrix]` into axes: keys with the values that they take.

use super::faults::Context;
use super::keys::{MATRIX, PAIRS};
use super::reader::Reader;
use super::sweep_edit::is_sweepable;
use super::tree::{Entry, Extent, Node, Table, Value};
use std::collections::BTreeSet;
use trammel_core::units::Dimension;

/// Values that vary together, one row a step; all rows set the same keys.
#[derive(Debug)]
pub(super) struct Axis {
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Vec<Node>>,
}

/// One key of an axis.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) key: String,
    pub(super) name: String,
    pub(super) span: Extent,
    pub(super) unit: Option<(Dimension, &'static str)>,
}

/// Adds the axes of `[sweep]`.
pub(super) fn sweep_axes(cx: &Context<'_>, node: &Node, axes: &mut Vec<Axis>) {
    let Some(table) = node.as_table() else {
        let help = "write `[sweep]` and lines like `\"path.rate\" = [\"1 Mbit/s\", \"2 Mbit/s\"]`";
        cx.fault(
            &node.span,
            "`sweep` must be a table",
            format!("this is {}", node.noun()),
            help,
        );
        return;
    };
    let (zips, keys): (Vec<&Entry>, Vec<&Entry>) = table.0.iter().partition(|e| e.key == "zip");
    for (key, span, node) in flat(keys) {
        let rows = values(cx, &key, node).unwrap_or_default();
        if !checked(cx, &key, span) {
            continue;
        }
        let rows = rows.into_iter().map(|node| vec![node]).collect();
        axes.push(Axis {
            columns: vec![column(&key, span)],
            rows,
        });
    }
    for entry in zips {
        let groups: Vec<&Node> = match &entry.node.value {
            Value::List(groups) => groups.iter().collect(),
            _ => vec![&entry.node],
        };
        for group in groups {
            axes.extend(zipped(cx, group));
        }
    }
}

/// Keys whose lists have one length and vary together.
fn zipped(cx: &Context<'_>, group: &Node) -> Option<Axis> {
    let Some(table) = group.as_table() else {
        let help = "write `[[sweep.zip]]` and keys with lists of one length";
        let why = format!("this is {}", group.noun());
        cx.fault(&group.span, "`sweep.zip` must be a table", why, help);
        return None;
    };
    let mut axis = Axis {
        columns: Vec::new(),
        rows: Vec::new(),
    };
    for (key, span, node) in flat(table.0.iter().collect()) {
        let values = values(cx, &key, node)?;
        if !checked(cx, &key, span) {
            return None;
        }
        if axis.columns.is_empty() {
            axis.rows = vec![Vec::new(); values.len()];
        }
        if values.len() != axis.rows.len() {
            let why = format!(
                "{} values here, {} in the list before",
                values.len(),
                axis.rows.len()
            );
            let help = "lists that vary together have one length";
            cx.fault(&node.span, "the zipped lists differ in length", why, help);
            return None;
        }
        axis.columns.push(column(&key, span));
        for (row, value) in axis.rows.iter_mut().zip(values) {
            row.push(value);
        }
    }
    (!axis.columns.is_empty()).then_some(axis)
}

/// Notes a value that an axis has more than once: its points would be the same, with one name.
pub(super) fn check_twice(cx: &Context<'_>, axis: &Axis) {
    let mut seen = BTreeSet::new();
    for row in &axis.rows {
        let text: Vec<String> = row.iter().map(spelt).collect();
        if seen.insert(text) {
            continue;
        }
        let Some(value) = row.first() else { return };
        let help = "take one of them out; `repeat` runs every point several times";
        let what = format!("`{}` is swept over this value twice", axis.columns[0].key);
        cx.fault(&value.span, what, "a second point like it", help);
        return;
    }
}

/// A value with all that is in it.
fn spelt(node: &Node) -> String {
    match &node.value {
        Value::List(items) => items.iter().map(|item| spelt(item) + ", ").collect(),
        Value::Table(table) => {
            let entries = table.0.iter();
            entries
                .map(|entry| format!("{} = {}; ", entry.key, spelt(&entry.node)))
                .collect()
        }
        _ => node.brief(),
    }
}

fn column(key: &str, span: &Extent) -> Column {
    Column {
        key: key.to_owned(),
        name: String::new(),
        span: span.clone(),
        unit: None,
    }
}

/// Whether a scenario has the key `key`; notes it if not.
fn checked(cx: &Context<'_>, key: &str, span: &Extent) -> bool {
    let outcome = is_sweepable(cx.root, key);
    let is_known = outcome.is_ok();
    if let Err(help) = outcome {
        cx.fault(
            span,
            format!("`{key}` cannot be swept"),
            "no such key",
            help,
        );
    }
    is_known
}

/// Dotted keys in quotes and nested tables mean the same.
fn flat(entries: Vec<&Entry>) -> Vec<(String, &Extent, &Node)> {
    fn walk<'a>(at: &str, entry: &'a Entry, all: &mut Vec<(String, &'a Extent, &'a Node)>) {
        let key = if at.is_empty() {
            entry.key.clone()
        } else {
            format!("{at}.{}", entry.key)
        };
        match &entry.node.value {
            Value::Table(Table(inner)) => inner.iter().for_each(|entry| walk(&key, entry, all)),
            _ => all.push((key, &entry.span, &entry.node)),
        }
    }
    let mut all = Vec::new();
    for entry in entries {
        walk("", entry, &mut all);
    }
    all
}

fn values(cx: &Context<'_>, key: &str, node: &Node) -> Option<Vec<Node>> {
    let (what, why) = match &node.value {
        Value::List(values) if !values.is_empty() => return Some(values.clone()),
        Value::List(_) => (
            format!("the sweep of `{key}` is empty"),
            "no value".to_owned(),
        ),
        _ => (
            format!("the sweep of `{key}` must be a list"),
            format!("this is {}", node.noun()),
        ),
    };
    cx.fault(
        &node.span,
        what,
        why,
        format!("write `\"{key}\" = [first, second]`"),
    );
    None
}

/// The trees of `kernels` in `[measure]`.
pub(super) fn kernels_axis(cx: &Context<'_>, measure: &Node) -> Option<Axis> {
    const KEY: &str = "measure.source";
    let measure = measure.as_table()?;
    let kernels = measure.get("kernels")?;
    if let Some(source) = measure.get("source") {
        let help = "leave one of them out";
        let what = "`source` and `kernels` both say which kernel is measured";
        cx.fault(&source.node.span, what, "`kernels` is given too", help);
    }
    let rows = values(cx, KEY, &kernels.node)?;
    Some(Axis {
        columns: vec![column(KEY, &kernels.span)],
        rows: rows.into_iter().map(|node| vec![node]).collect(),
    })
}

/// The pairs of `[matrix]`; adds the two flows to `base` where it has fewer.
pub(super) fn matrix_axis(cx: &Context<'_>, node: &Node, base: &mut Node) -> Option<Axis> {
    let r = Reader::new(cx, &MATRIX, node);
    let pairs = r.word("pairs");
    let Some(entry) = r.entry("variants") else {
        r.missing("variants");
        return None;
    };
    let variants = match &entry.node.value {
        Value::List(variants) if variants.len() >= 2 => variants,
        _ => {
            let help = "write `variants = [\"reno\", \"cubic\"]`";
            let what = "`matrix.variants` must be a list of at least two";
            cx.fault(&entry.node.span, what, "there is no pair", help);
            return None;
        }
    };
    let pairs = PAIRS[pairs?];
    if let Value::Table(top) = &mut base.value {
        let mut flows = match top.get("flow").map(|entry| &entry.node.value) {
            Some(Value::List(flows)) => flows.clone(),
            Some(Value::Table(table)) => vec![Node {
                span: node.span.clone(),
                value: Value::Table(table.clone()),
            }],
            _ => Vec::new(),
        };
        // One flow given is the template of both.
        let template = flows.first().cloned().unwrap_or_else(|| Node {
            span: node.span.clone(),
            value: Value::Table(Table::default()),
        });
        while flows.len() < 2 {
            flows.push(template.clone());
        }
        let flows = Value::List(flows);
        top.set(
            "flow",
            Node {
                span: node.span.clone(),
                value: flows,
            },
        );
    }
    let mut rows = Vec::new();
    for (a, first) in variants.iter().enumerate() {
        for (b, second) in variants.iter().enumerate() {
            let is_wanted = match pairs {
                "ordered" => true,
                "distinct" => a < b,
                _ => a <= b,
            };
            if is_wanted {
                rows.push(vec![first.clone(), second.clone()]);
            }
        }
    }
    let column = |key: &str, name: &str| Column {
        name: name.to_owned(),
        ..column(key, &entry.span)
    };
    let columns = vec![
        column("flow.0.variant", "variant_a"),
        column("flow.1.variant", "variant_b"),
    ];
    Some(Axis { columns, rows })
}

#[cfg(test)]
mod tests {
    use crate::File;
    use std::path::Path;

    #[test]
    fn a_value_that_is_swept_twice_is_a_fault() {
        let faults = |sweep: &str| {
            let text = format!(
                "[path]\nrate = '10 Mbit/s'\nrtt = '10 ms'\n[[flow]]\nvariant = 'reno'\n{sweep}\n"
            );
            let read = File::parse("t", &text, Path::new("."));
            read.err().map(|why| why.to_string()).unwrap_or_default()
        };
        let twice = faults("[sweep]\n'path.rtt' = ['10 ms', '20 ms', '10 ms']");
        assert!(
            twice.contains("`path.rtt` is swept over this value twice"),
            "{twice}"
        );
        assert!(twice.contains("t:7:33"), "{twice}");
        let zip = |rtt: &str| {
            faults(&format!(
                "[[sweep.zip]]\n'path.rtt' = {rtt}\n'path.rate' = ['1 Mbit/s', '1 Mbit/s']"
            ))
        };
        assert!(zip("['10 ms', '10 ms']").contains("twice"));
        assert_eq!(zip("['10 ms', '20 ms']"), "");
        // The same value of other keys is another queue.
        let queues = "[{ discipline = 'codel', target = '5 ms' }, \
                      { discipline = 'codel', interval = '5 ms' }]";
        assert_eq!(faults(&format!("[sweep]\n'path.queue' = {queues}")), "");
    }

    #[test]
    fn kernels_are_an_axis_of_sources() {
        let parse = |measure: &str| {
            let text = format!(
                "[path]\nrate = '10 Mbit/s'\nrtt = '10 ms'\n[[flow]]\nvariant = 'reno'\n[measure]\n\
                 {measure}\n"
            );
            File::parse("t", &text, Path::new("."))
        };
        let file = parse("kernels = ['.', '..']").unwrap();
        let source = |at: usize| file.points[at].scenario.measure.clone().unwrap().source;
        assert_eq!(file.points.len(), 2);
        assert_ne!(source(0), source(1));
        // The package's kernel stands beside one's own tree.
        let named = parse("kernels = ['packaged', '.']").unwrap();
        let sources = named.points.iter().map(|point| {
            let measure = point.scenario.measure.clone();
            (point.id.as_str(), measure.unwrap().source)
        });
        assert_eq!(
            sources.collect::<Vec<_>>(),
            [
                ("source=packaged", None),
                ("source=.", Some("./.".to_owned()))
            ]
        );
        let none = parse("kernels = []").unwrap_err().to_string();
        assert!(none.contains("is empty"), "{none}");
        let both = parse("source = '.'\nkernels = ['.']")
            .unwrap_err()
            .to_string();
        assert!(both.contains("both say which kernel"), "{both}");
    }

    #[test]
    fn a_kernel_is_named_with_patches_over_its_source() {
        let parse = |measure: &str| {
            let text = format!(
                "[path]\nrate = '10 Mbit/s'\nrtt = '10 ms'\n[[flow]]\nvariant = 'reno'\n[measure]\n\
                 {measure}\n"
            );
            // Any file that exists is taken; whether it is a patch, its first use tells.
            File::parse("t", &text, Path::new(env!("CARGO_MANIFEST_DIR")))
        };
        let file = parse(
            "patches = ['Cargo.toml']\nkernels = ['packaged', 'packaged+build.rs', \
             'src+build.rs+Cargo.toml']",
        )
        .unwrap();
        let named: Vec<_> = file
            .points
            .iter()
            .map(|point| {
                let measure = point.scenario.measure.clone().unwrap();
                let name = |path: &String| Path::new(path).file_name().map(ToOwned::to_owned);
                let patches = measure.patches.iter().filter_map(name);
                let patches = patches.map(|name| name.into_string().unwrap());
                (
                    point.id.as_str(),
                    measure.source.is_some(),
                    patches.collect::<Vec<_>>().join(" "),
                )
            })
            .collect();
        let row = |id, has_tree, patches: &str| (id, has_tree, patches.to_owned());
        assert_eq!(
            named,
            [
                row("source=packaged", false, "Cargo.toml"),
                row("source=packaged+build.rs", false, "build.rs Cargo.toml"),
                row(
                    "source=src+build.rs+Cargo.toml",
                    true,
                    "build.rs Cargo.toml Cargo.toml"
                ),
            ]
        );
        for (measure, why) in [
            (
                "source = 'packaged+none.patch'",
                "none.patch` does not exist",
            ),
            ("source = 'none+build.rs'", "none` does not exist"),
            ("patches = ['none.patch']", "none.patch` does not exist"),
            ("source = 'packaged+'", "does not exist"),
            (
                "kernel = 'host'\npatches = ['build.rs']",
                "`patches` is for `kernel = \"linux\"`",
            ),
        ] {
            let error = parse(measure).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
