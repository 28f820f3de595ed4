//! The controls of a page beside a scenario's text: what they show, and how a new value gets into
//! the text. Comments and the rest of the text stay as they are.

use serde_json::{Value, json};
use toml_edit::{DocumentMut, InlineTable, Item, Table};
use trammel_core::time::Time;
use trammel_queues::aqm;
use trammel_scenario::model::Scenario;
use trammel_scenario::path::{Limit, Line};
use trammel_scenario::topology::Topology;

/// What the controls show of `scenario`, the first point of the file `text`: `duration_s`; of a
/// path `rate_mbps`, `rtt_ms`, `queue` (`discipline`, `limit`, `unit`: `bdp`, `pkts` or `bytes`)
/// and `loss` (a probability; nothing where losses follow another law than a coin); `flows`, one a
/// table of the file (`variant`, `count`, `start_s`); `swept`, the keys that a sweep sets.
pub(crate) fn of(text: &str, scenario: &Scenario) -> Value {
    let Ok(document) = text.parse::<DocumentMut>() else {
        return Value::Null;
    };
    let swept = document.get("sweep").and_then(Item::as_table_like);
    let swept: Vec<String> = swept
        .map(|table| table.iter().map(|(key, _)| key.to_owned()).collect())
        .unwrap_or_default();
    let mut controls = json!({
        "duration_s": scenario.duration.as_secs_f64(),
        "flows": flows(&document, scenario),
        "swept": swept,
    });
    if let Topology::Path(path) = &scenario.topology {
        controls["rate_mbps"] = (path.line.rate.as_bps() as f64 / 1e6).into();
        controls["rtt_ms"] = (path.rtt.as_secs_f64() * 1e3).into();
        controls["queue"] = queue(&path.line);
        controls["loss"] = loss(&path.line);
        controls["is_fixed"] = path.line.trace.is_none().into();
    }
    controls
}

fn queue(line: &Line) -> Value {
    let (limit, unit) = match line.queue.limit {
        Limit::Packets(packets) => (f64::from(packets), "pkts"),
        Limit::Bytes(bytes) => (bytes as f64, "bytes"),
        Limit::Bdp(bdp) => (bdp, "bdp"),
    };
    let name = &line.queue.discipline.name;
    let proper = aqm::find(name).map_or(name.as_str(), |entry| entry.about.name);
    json!({ "discipline": proper, "limit": limit, "unit": unit })
}

fn loss(line: &Line) -> Value {
    let Some(loss) = &line.loss else {
        return json!(0.0);
    };
    let given = |name: &str| loss.model.given.iter().find(|(key, _)| key == name);
    match (loss.model.name.as_str(), given("probability")) {
        ("bernoulli", Some((_, value))) => json!(value.to_string().parse::<f64>().ok()),
        _ => Value::Null,
    }
}

/// The tables `[[flow]]` of the file.
fn flows(document: &DocumentMut, scenario: &Scenario) -> Vec<Value> {
    let Some(tables) = document.get("flow").and_then(Item::as_array_of_tables) else {
        return Vec::new();
    };
    let mut at = 0;
    let mut all = Vec::new();
    for table in tables {
        let count = table.get("count").and_then(Item::as_integer).unwrap_or(1);
        let count = usize::try_from(count).unwrap_or(1).max(1);
        let flow = scenario.flows.get(at);
        at += count;
        all.push(json!({
            "variant": flow.map(|flow| flow.variant.name.as_str()),
            "count": count,
            "start_s": flow.and_then(|flow| flow.start).map(Time::as_secs_f64),
        }));
    }
    all
}

/// Sets the dotted keys of `changes` in `text`, a list of pairs of a key and a value: a text, a
/// number, or null to remove the key. A number in a key is the place of a table `[[flow]]`; one
/// beyond the last adds a table like it, and null as a table's own value removes it. A sweep of a
/// key that is set ends.
pub fn edit(text: &str, changes: &Value) -> Result<String, String> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|why: toml_edit::TomlError| why.to_string())?;
    let changes = changes.as_array().ok_or("the changes are no list")?;
    for change in changes {
        let (Some(key), Some(value)) = (change[0].as_str(), change.get(1)) else {
            return Err("a change is a key and a value".to_owned());
        };
        set(&mut document, key, value)?;
    }
    Ok(document.to_string())
}

fn set(document: &mut DocumentMut, key: &str, value: &Value) -> Result<(), String> {
    if let Some(sweep) = document.get_mut("sweep").and_then(Item::as_table_like_mut) {
        sweep.remove(key);
        if sweep.is_empty() {
            document.remove("sweep");
        }
    }
    let mut parts: Vec<&str> = key.split('.').collect();
    let last = parts.pop().filter(|last| !last.is_empty());
    let last = last.ok_or("a key has a name")?;
    let root = document.as_item_mut();
    if let (["flow"], Ok(at)) = (&parts[..], last.parse::<usize>()) {
        if value.is_null() {
            let tables = root.get_mut("flow").and_then(Item::as_array_of_tables_mut);
            let tables = tables.ok_or("there is no `[[flow]]`")?;
            if at < tables.len() {
                tables.remove(at);
            }
            return Ok(());
        }
        return Err(format!("`{key}` is a table"));
    }
    let mut at = root;
    let mut parts = parts.into_iter();
    while let Some(part) = parts.next() {
        if at.get(part).is_none() && part == "flow" {
            return Err("there is no `[[flow]]`".to_owned());
        }
        at = &mut at[part];
        if let Some(tables) = at.as_array_of_tables_mut() {
            let place = parts.next().and_then(|part| part.parse::<usize>().ok());
            let place = place.ok_or_else(|| format!("`{key}` does not say which `[[{part}]]`"))?;
            if place == tables.len() {
                let like = tables.get(tables.len().saturating_sub(1)).cloned();
                tables.push(like.unwrap_or_else(Table::new));
            }
            let table = tables.get_mut(place);
            let table = table.ok_or_else(|| format!("there is no `[[{part}]]` {place}"))?;
            return match parts.next() {
                None => put(table, last, value),
                Some(_) => Err(format!("`{key}` is too deep")),
            };
        }
        if at.is_none() {
            *at = Item::Value(InlineTable::new().into());
        }
    }
    let table = at.as_table_like_mut();
    put(
        table.ok_or_else(|| format!("`{key}` lies in no table"))?,
        last,
        value,
    )
}

fn put(table: &mut dyn toml_edit::TableLike, key: &str, value: &Value) -> Result<(), String> {
    let new = match value {
        Value::Null => {
            table.remove(key);
            return Ok(());
        }
        Value::String(text) => toml_edit::Value::from(text.as_str()),
        Value::Bool(flag) => toml_edit::Value::from(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => toml_edit::Value::from(whole),
            None => toml_edit::Value::from(number.as_f64().ok_or("a number beyond 64 bits")?),
        },
        Value::Object(of) => {
            let mut inner = InlineTable::new();
            for (key, value) in of {
                put(&mut inner, key, value)?;
            }
            toml_edit::Value::from(inner)
        }
        Value::Array(_) => return Err(format!("`{key}` takes no list here")),
    };
    // What stands around the old value, such as a comment behind it, stays.
    if let Some(old) = table.get_mut(key).and_then(Item::as_value_mut) {
        let decor = old.decor().clone();
        *old = new;
        *old.decor_mut() = decor;
    } else {
        table.insert(key, Item::Value(new));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a question
duration = \"2 s\" # short
[path]
rate = \"10 Mbit/s\" # slow
rtt = \"20 ms\"
[[flow]]
variant = \"reno\"
[sweep]
\"path.rtt\" = [\"1 ms\"]
";

    fn edited(key: &str, value: &Value) -> String {
        edit(TEXT, &json!([[key, value]])).unwrap()
    }

    #[test]
    fn a_value_changes_and_comments_stay() {
        let text = edited("path.rate", &json!("20 Mbit/s"));
        assert!(text.contains("rate = \"20 Mbit/s\" # slow\n"), "{text}");
        assert!(text.starts_with("# a question\n"), "{text}");
    }

    #[test]
    fn a_table_is_made_where_there_is_none() {
        let text = edited("path.queue.limit", &json!("2 bdp"));
        assert!(text.contains("queue = { limit = \"2 bdp\" }"), "{text}");
        let text = edited(
            "path.loss",
            &json!({ "model": "bernoulli", "probability": 0.01 }),
        );
        assert!(
            text.contains("loss = { model = \"bernoulli\", probability = 0.01 }"),
            "{text}"
        );
    }

    #[test]
    fn a_flow_is_added_changed_and_removed() {
        let text = edited("flow.1.variant", &json!("bbr"));
        assert!(
            text.contains("\"reno\"") && text.contains("\"bbr\""),
            "{text}"
        );
        let text = edit(&text, &json!([["flow.0", null]])).unwrap();
        assert!(!text.contains("reno") && text.contains("bbr"), "{text}");
    }

    #[test]
    fn a_sweep_of_a_key_that_is_set_ends() {
        assert!(!edited("path.rtt", &json!("30 ms")).contains("sweep"));
        assert!(edited("path.rate", &json!("30 Mbit/s")).contains("sweep"));
    }

    #[test]
    fn wrong_changes_are_refused() {
        for (key, value) in [
            ("", json!(1)),
            ("flow.5.variant", json!("bbr")),
            ("flow.variant", json!("bbr")),
            ("duration.x", json!(1)),
            ("flow.0", json!("bbr")),
        ] {
            assert!(
                edit(TEXT, &json!([[key, value]])).is_err(),
                "`{key}` is refused"
            );
        }
        assert!(edit("= 1", &json!([])).is_err());
        assert!(edit(TEXT, &json!(3)).is_err());
    }
}
