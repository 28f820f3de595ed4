//! A command and what its handler is given.

use super::reply::Reply;
use crate::dataplane::{Dataplane, Mac};
use crate::machine::Machine;
use crate::routing::Routing;
use core::net::Ipv4Addr;

/// What a command works on.
pub(super) struct Context<'a> {
    pub(super) machine: &'a mut Machine,
    pub(super) routing: &'a mut Routing,
    pub(super) dataplane: &'a mut dyn Dataplane,
}

/// A command: how it is written, what it is for, what it does.
pub(super) struct Command {
    /// Words, and names of arguments in capitals.
    pub(super) grammar: &'static str,
    pub(super) help: &'static str,
    /// Answers, or says what is wrong and what to do.
    pub(super) run: fn(&mut Context, &Args) -> Result<Reply, String>,
}

/// A value of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Address(Ipv4Addr),
    Mac(Mac),
    Port(usize),
    Number(u32),
    Switch(bool),
    Words(Vec<String>),
}

/// The arguments of a command that was found, by name.
#[derive(Debug, Clone, Default)]
pub(super) struct Args(pub(super) Vec<(&'static str, Value)>);

/// Makes a reader of one kind. The grammar has decided that the argument is there.
macro_rules! reader {
    ($name:ident, $variant:ident, $type:ty) => {
        pub(super) fn $name(&self, name: &str) -> $type {
            match self.get(name) {
                Some(Value::$variant(value)) => *value,
                other => unreachable!("the grammar has `{name}`, and not {other:?}"),
            }
        }
    };
}

impl Args {
    fn get(&self, name: &str) -> Option<&Value> {
        let found = self.0.iter().find(|(of, _)| *of == name);
        found.map(|(_, value)| value)
    }

    reader!(address, Address, Ipv4Addr);
    reader!(mac, Mac, Mac);
    reader!(port, Port, usize);
    reader!(number, Number, u32);
    reader!(switch, Switch, bool);

    /// The words at the end, or none.
    pub(super) fn words(&self, name: &str) -> Vec<&str> {
        match self.get(name) {
            Some(Value::Words(words)) => words.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }
}
