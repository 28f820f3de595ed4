//! Dotted keys: whether a scenario has such a key, and setting it in a tree.
//!
//! A part after `flow`, `link`, … is an index, the `name` of a table, or `*` for all of them.

use super::keys_kind::{Kind, Section};
use super::tree::{Extent, Node, Table, Value};
use trammel_core::units::nearest;

/// Keys that say what a sweep is, and so cannot be part of one.
const NOT_SWEPT: &[&str] = &[
    "sweep", "matrix", "subject", "engines", "title", "question", "answer", "host",
];

/// Whether a file whose keys are those of `root` may have the dotted key `key`; if not, what to do.
pub(super) fn is_sweepable(root: &'static Section, key: &str) -> Result<(), String> {
    let mut section = root;
    let mut parts = key.split('.').peekable();
    let mut done = String::new();
    if let Some(first) = parts.peek().filter(|first| NOT_SWEPT.contains(first)) {
        return Err(format!("`{first}` is the same for the whole file"));
    }
    while let Some(part) = parts.next() {
        let Some(found) = section.keys.iter().find(|key| key.name == part) else {
            // The plug-in's own table checks its parameters when the point is read.
            return if section.extra.is_some() && parts.peek().is_none() {
                Ok(())
            } else {
                let name = nearest(part, section.keys.iter().map(|key| key.name));
                Err(match name {
                    Some(name) => format!("did you mean `{done}{name}`?"),
                    None => {
                        format!("`trammel doc scenario` shows the keys of a scenario, not `{part}`")
                    }
                })
            };
        };
        done += part;
        done.push('.');
        if parts.peek().is_none() {
            return Ok(());
        }
        if let Kind::Params(_) = found.kind {
            return Ok(());
        }
        let Some(inner) = found.kind.section() else {
            return Err(format!("`{}` is no table", done.trim_end_matches('.')));
        };
        section = inner;
        if let Kind::Tables(_) = found.kind {
            let index = parts.next().expect("`peek` found a further part");
            let is_known = section.keys.iter().any(|key| key.name == index);
            if parts.peek().is_none() && is_known {
                return Err(format!(
                    "say which: `{done}0.{index}`, or `{done}*.{index}` for all"
                ));
            }
            done += index;
            done.push('.');
        }
    }
    Ok(())
}

/// Sets the dotted key `key` of `root` to `value`, or says why it cannot.
pub(super) fn set(root: &mut Node, key: &str, value: &Node) -> Result<(), String> {
    let parts: Vec<&str> = key.split('.').collect();
    set_in(root, &parts, value)
}

fn set_in(node: &mut Node, parts: &[&str], value: &Node) -> Result<(), String> {
    let Some((part, rest)) = parts.split_first() else {
        *node = value.clone();
        return Ok(());
    };
    match &mut node.value {
        Value::Table(table) => {
            // A table in place of a variant's name gives other keys of the flow as well.
            if let (true, "variant", Value::Table(keys)) = (rest.is_empty(), *part, &value.value) {
                for entry in &keys.0 {
                    table.set(&entry.key, entry.node.clone());
                }
                return Ok(());
            }
            if table.get(part).is_none() {
                table.set(part, empty(&value.span));
            }
            let entry = table.0.iter_mut().find(|entry| entry.key == *part);
            set_in(
                &mut entry.expect("`set` put the entry there").node,
                rest,
                value,
            )
        }
        Value::List(items) => {
            let count = items.len();
            let is_meant = |n: usize, item: &Node| {
                let name = item.as_table().and_then(|table| table.get("name"));
                *part == "*"
                    || part.parse() == Ok(n)
                    || name.and_then(|name| name.node.as_text()) == Some(*part)
            };
            let items = items.iter_mut().enumerate();
            let mut meant: Vec<_> = items.filter(|(n, item)| is_meant(*n, item)).collect();
            if meant.is_empty() {
                return Err(format!(
                    "nothing here is called `{part}`; there are {count}, from 0"
                ));
            }
            meant
                .iter_mut()
                .try_for_each(|(_, item)| set_in(item, rest, value))
        }
        // `path.jitter = "5 ms"` gives way to `path.jitter.mean`.
        _ if !rest.is_empty() || !part.is_empty() => {
            node.value = Value::Table(Table::default());
            node.span = value.span.clone();
            set_in(node, parts, value)
        }
        _ => Ok(()),
    }
}

fn empty(span: &Extent) -> Node {
    Node {
        span: span.clone(),
        value: Value::Table(Table::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::ROOT;
    use super::*;

    #[test]
    fn only_keys_of_a_scenario_are_swept() {
        for key in [
            "path.rate",
            "path.loss.probability",
            "flow.0.params.beta",
            "flow.*.stack",
        ] {
            assert_eq!(is_sweepable(&ROOT, key), Ok(()), "{key}");
        }
        assert_eq!(
            is_sweepable(&ROOT, "path.rtx"),
            Err("did you mean `path.rtt`?".to_owned())
        );
        let error = is_sweepable(&ROOT, "flow.variant").unwrap_err();
        assert_eq!(
            error,
            "say which: `flow.0.variant`, or `flow.*.variant` for all"
        );
        assert!(is_sweepable(&ROOT, "path.rate.fast").is_err());
        assert!(is_sweepable(&ROOT, "title").is_err());
    }
}
