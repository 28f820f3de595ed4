//! Reads tables of TOML key by key; what is left over is a fault.

use std::collections::BTreeSet;
use toml_edit::{Item, Table, TableLike, Value};

/// A fault of a case file: where, and what.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Fault {
    /// The keys that lead there.
    pub place: String,
    /// What is wrong, and what to do.
    pub what: String,
}

/// A table that is read key by key.
pub(crate) struct Reader<'a> {
    table: &'a dyn TableLike,
    place: String,
    read: BTreeSet<&'static str>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(table: &'a dyn TableLike, place: &str) -> Reader<'a> {
        Reader {
            table,
            place: place.to_owned(),
            read: BTreeSet::new(),
        }
    }

    pub(crate) fn fault(&self, key: &str, what: &str) -> Fault {
        Fault {
            place: format!("{}.{key}", self.place),
            what: what.to_owned(),
        }
    }

    pub(crate) fn item(&mut self, key: &'static str) -> Option<&'a Item> {
        self.read.insert(key);
        self.table.get(key)
    }

    pub(crate) fn text(&mut self, key: &'static str) -> Result<Option<String>, Fault> {
        let Some(item) = self.item(key) else {
            return Ok(None);
        };
        let text = item.as_str().map(|text| Some(text.trim().to_owned()));
        text.ok_or_else(|| self.fault(key, "must be a text"))
    }

    pub(crate) fn needed(&mut self, key: &'static str) -> Result<String, Fault> {
        self.text(key)?
            .ok_or_else(|| self.fault(key, "is missing; each case says it"))
    }

    pub(crate) fn number(&mut self, key: &'static str) -> Result<Option<f64>, Fault> {
        let Some(item) = self.item(key) else {
            return Ok(None);
        };
        let number = item
            .as_float()
            .or_else(|| item.as_integer().map(|whole| whole as f64));
        number
            .map(Some)
            .ok_or_else(|| self.fault(key, "must be a number"))
    }

    pub(crate) fn switch(&mut self, key: &'static str) -> Result<bool, Fault> {
        match self.item(key) {
            None => Ok(false),
            Some(item) => item
                .as_bool()
                .ok_or_else(|| self.fault(key, "must be `true` or `false`")),
        }
    }

    pub(crate) fn texts(&mut self, key: &'static str) -> Result<Vec<String>, Fault> {
        let Some(item) = self.item(key) else {
            return Ok(Vec::new());
        };
        let texts = item.as_array().and_then(|array| {
            let texts = array.iter().map(|one| one.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<_>>>()
        });
        texts.ok_or_else(|| self.fault(key, "must be a list of texts"))
    }

    /// The tables of a list, each with its place.
    pub(crate) fn tables(&mut self, key: &'static str) -> Result<Vec<Reader<'a>>, Fault> {
        let place = format!("{}.{key}", self.place);
        let numbered = |(at, table): (usize, &'a dyn TableLike)| {
            Reader::new(table, &format!("{place}[{}]", at + 1))
        };
        match self.item(key) {
            None => Ok(Vec::new()),
            Some(Item::ArrayOfTables(all)) => {
                let all = all.iter().map(|table: &Table| table as &dyn TableLike);
                Ok(all.enumerate().map(numbered).collect())
            }
            Some(_) => Err(self.fault(key, "must be tables, each under `[[…]]`")),
        }
    }

    /// A table within the table.
    pub(crate) fn table(&mut self, key: &'static str) -> Result<Option<Reader<'a>>, Fault> {
        let Some(item) = self.item(key) else {
            return Ok(None);
        };
        let place = format!("{}.{key}", self.place);
        let table = item.as_table_like();
        table
            .map(|table| Some(Reader::new(table, &place)))
            .ok_or_else(|| self.fault(key, "must be a table"))
    }

    /// A time such as `"20 ms"`, seconds.
    pub(crate) fn time(&mut self, key: &'static str) -> Result<Option<f64>, Fault> {
        let Some(text) = self.text(key)? else {
            return Ok(None);
        };
        seconds(&text)
            .map(Some)
            .ok_or_else(|| self.fault(key, "must be a time such as `\"20 ms\"`"))
    }

    /// All that was not read is a fault.
    pub(crate) fn finish(self) -> Result<(), Fault> {
        let unknown = self.table.iter().find(|(key, _)| !self.read.contains(key));
        match unknown {
            None => Ok(()),
            Some((key, _)) => {
                let near = trammel_core::units::nearest(key, self.read.iter().copied());
                let help =
                    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                Err(self.fault(key, &format!("is no key here{help}")))
            }
        }
    }
}

/// Seconds of a time such as `20 ms`.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    let at = text.find(|c: char| c.is_alphabetic())?;
    let number: f64 = text[..at].trim().parse().ok()?;
    let unit = match text[at..].trim() {
        "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        _ => return None,
    };
    Some(number * unit)
}

/// The value `text` as TOML has it, or a text.
pub(crate) fn value(text: &str) -> Value {
    text.parse().unwrap_or_else(|_| Value::from(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_a_fault_with_the_nearest() {
        let table: toml_edit::DocumentMut = "title = \"a\"\natleast = 3".parse().unwrap();
        let mut reader = Reader::new(table.as_table(), "case");
        assert_eq!(reader.text("title").unwrap().as_deref(), Some("a"));
        assert_eq!(reader.number("at_least").unwrap(), None);
        let fault = reader.finish().unwrap_err().to_string();
        assert_eq!(
            fault,
            "case.atleast: is no key here; did you mean `at_least`?"
        );
    }

    #[test]
    fn a_time_has_a_unit() {
        assert_eq!(seconds("20 ms"), Some(0.02));
        assert_eq!(seconds("1.5s"), Some(1.5));
        assert_eq!(seconds("3"), None);
        assert_eq!(seconds("3 h"), None);
    }
}
