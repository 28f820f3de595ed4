//! A network function as the operations that it performs on a packet, and reading lists of them.
//!
//! ```toml
//! [[function]]
//! name = "l2-basic"
//! title = "L2 switch, static table"
//! operations = ["io_mem(30, frame - 30)", "parse(6)", "ht_lookup(2, 12, 2M, 0)", "deparse(6)", "mem_io(30, frame - 30)"]
//!
//! [function.profile.printed]                 # where a machine's profile has another list
//! operations = ["io_mem(30, frame - 30)", "…"]
//! ```

use crate::eo::{self, Entry};
use crate::expr::{Expr, Values};
use crate::expr_reader::Reader;
use toml_edit::{Document, Item, TableLike};

/// An operation with its parameters.
#[derive(Clone)]
pub struct Operation {
    /// Which.
    pub eo: &'static Entry,
    /// Its parameters, in the order of the entry's.
    pub args: Vec<Expr>,
    /// How often a packet that comes here has it done.
    pub times: Expr,
    /// Accesses of it to memory that are under way at once: 1 where each waits for the one before.
    pub in_flight: f64,
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

impl std::fmt::Display for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let args: Vec<String> = self.args.iter().map(ToString::to_string).collect();
        write!(f, "{}({})", self.eo.about.name, args.join(", "))
    }
}

impl PartialEq for Operation {
    fn eq(&self, other: &Operation) -> bool {
        std::ptr::eq(self.eo, other.eo)
            && (&self.args, &self.times, self.in_flight)
                == (&other.args, &other.times, other.in_flight)
    }
}

impl Operation {
    /// An operation of this name with these parameters, once a packet.
    ///
    /// # Panics
    /// Where there is no such operation or it has another number of parameters: for names in code.
    pub fn new(name: &str, args: &[Expr]) -> Operation {
        let eo = eo::find(name).unwrap_or_else(|| panic!("no operation is called `{name}`"));
        assert_eq!(args.len(), eo.about.params.len(), "parameters of `{name}`");
        Operation {
            eo,
            args: args.to_vec(),
            times: Expr::Number(1.0),
            in_flight: 1.0,
        }
    }

    /// So many times a packet.
    #[must_use]
    pub fn times(mut self, times: f64) -> Operation {
        self.times = Expr::Number(times);
        self
    }

    /// With so many accesses under way at once.
    #[must_use]
    pub fn in_flight(mut self, in_flight: f64) -> Operation {
        self.in_flight = in_flight;
        self
    }

    /// With numbers for the names that `values` knows.
    #[must_use]
    pub fn with(mut self, values: &Values) -> Operation {
        for arg in &mut self.args {
            *arg = arg.with(values);
        }
        self.times = self.times.with(values);
        self
    }

    /// Reads operations separated by semicolons; the error is a sentence.
    pub fn parse_all(text: &str) -> Result<Vec<Operation>, String> {
        let each = text.split(';').map(str::trim);
        each.filter(|one| !one.is_empty())
            .map(Operation::parse)
            .collect()
    }

    /// Reads `parse(6)`, `3 * parse(6)` or `pieces * parse(6)` for so many times, or
    /// `trie_lookup(levels, bytes) by 8` where eight accesses are under way at once; the error is a
    /// sentence.
    pub fn parse(text: &str) -> Result<Operation, String> {
        let mut reader = Reader::new(text);
        let times = reader.times()?;
        let (name, args) = reader.call()?;
        let in_flight = reader.by()?;
        reader.end()?;
        let eo = eo::FAMILY
            .get(name)
            .map_err(|unknown| unknown.to_string())?;
        let wanted: Vec<&str> = eo.about.params.iter().map(|param| param.name).collect();
        if args.len() != wanted.len() {
            return Err(format!(
                "`{name}` has {} parameters ({}), not {}",
                wanted.len(),
                wanted.join(", "),
                args.len()
            ));
        }
        Ok(Operation {
            eo,
            args,
            times,
            in_flight,
        })
    }
}

/// A part of a function that has a name: an element of a configuration, or a whole list.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The element's name.
    pub name: String,
    /// Its class; empty where it is none.
    pub class: String,
    /// How often a packet that comes to the function comes here.
    pub visits: f64,
    /// What is done at each visit.
    pub operations: Vec<Operation>,
    /// Cycles that a live run counted inside it at each visit: they stand for those of its
    /// operations and for what these wait for. Being handed packets (`call`) is apart.
    pub counted: Option<f64>,
}

/// A network function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// A line for people.
    pub title: String,
    /// Its parts.
    pub steps: Vec<Step>,
}

/// Reads the functions of a file for a machine's profile; the errors are one line each, with the
/// number of the line.
pub fn read(text: &str, profile: &str) -> Result<Vec<Function>, Vec<String>> {
    let document = Document::parse(text.to_owned())
        .map_err(|error| vec![at(text, error.span().map(|s| s.start), error.message())])?;
    let Some(tables) = document.get("function").and_then(Item::as_array_of_tables) else {
        return Err(vec![
            "there is no function; begin one with [[function]]".to_owned(),
        ]);
    };
    let (mut functions, mut faults) = (Vec::new(), Vec::new());
    for table in tables {
        let word = |key: &str| table.get(key).and_then(Item::as_str).map(str::to_owned);
        let name = word("name").unwrap_or_default();
        if name.is_empty() {
            let start = table.span().map(|span| span.start);
            faults.push(at(text, start, "the function has no `name`"));
        }
        let own = table.get("profile").and_then(|item| item.get(profile));
        let own = own.and_then(Item::as_table_like);
        let list = own.unwrap_or(table as &dyn TableLike).get("operations");
        let Some(list) = list.and_then(Item::as_array) else {
            let start = table.span().map(|span| span.start);
            faults.push(at(text, start, "the function has no list of `operations`"));
            continue;
        };
        let mut operations = Vec::new();
        for value in list {
            let start = value.span().map(|span| span.start);
            match value.as_str().map(Operation::parse) {
                Some(Ok(operation)) => operations.push(operation),
                Some(Err(fault)) => faults.push(at(text, start, &fault)),
                None => faults.push(at(text, start, "an operation is a text: \"parse(6)\"")),
            }
        }
        functions.push(Function {
            title: word("title").unwrap_or_else(|| name.clone()),
            steps: vec![Step {
                name: name.clone(),
                class: String::new(),
                visits: 1.0,
                operations,
                counted: None,
            }],
            name,
        });
    }
    if faults.is_empty() {
        Ok(functions)
    } else {
        Err(faults)
    }
}

/// A fault with its line.
fn at(text: &str, start: Option<usize>, fault: &str) -> String {
    match start {
        Some(start) => {
            let line = 1 + text[..start.min(text.len())].matches('\n').count();
            format!("line {line}: {fault}")
        }
        None => fault.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_may_have_a_list_of_its_own() {
        let text = "[[function]]\nname = \"f\"\noperations = [\"parse(6)\"]\n\
                    [function.profile.printed]\noperations = [\"parse(8)\", \"sum(2)\"]\n";
        let lengths = |profile: &str| {
            let functions = read(text, profile).expect("it is right");
            functions[0].steps[0].operations.len()
        };
        assert_eq!((lengths("paper-totals"), lengths("printed")), (1, 2));
    }

    #[test]
    fn operations_may_be_repeated_and_overlap() {
        let read = Operation::parse_all("0.5 * parse(1); array_access(4, 16M) by 8;").unwrap();
        let numbers = |o: &Operation| (o.times.number(), o.in_flight);
        let numbers: Vec<_> = read.iter().map(numbers).collect();
        assert_eq!(numbers, [(Some(0.5), 1.0), (Some(1.0), 8.0)]);
        let open = Operation::parse("summed * checksum(frame - 30)").unwrap();
        assert_eq!(open.times, Expr::name("summed"));
        let never = Values::from([("summed".to_owned(), 0.0)]);
        assert_eq!(open.with(&never).times, Expr::Number(0.0));
        assert!(Operation::parse_all("parse(1) by").is_err());
        assert!(Operation::parse_all("2 parse(1)").is_err());
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let text = "[[function]]\nname = \"f\"\n\
                    operations = [\"pars(6)\", \"parse()\",\n \"parse(1 +)\", 6]\n[[function]]\n";
        assert_eq!(
            read(text, "").unwrap_err(),
            [
                "line 3: no elementary operation is called `pars`; did you mean `parse`?",
                "line 3: `parse` has 1 parameters (b), not 0",
                "line 4: a number or a name is missing before `)`",
                "line 4: an operation is a text: \"parse(6)\"",
                "line 5: the function has no `name`",
                "line 5: the function has no list of `operations`",
            ]
        );
        assert_eq!(
            read("", "").unwrap_err(),
            ["there is no function; begin one with [[function]]"]
        );
    }
}
