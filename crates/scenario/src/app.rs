//! Applications whose users' experience is the result.

use super::flow::Flow;
use super::plugin::Plugin;
use trammel_core::time::Time;

/// An application.
#[derive(Clone, Debug, PartialEq)]
pub struct App {
    /// Its name in the results.
    pub name: String,
    /// What its users do.
    pub kind: Plugin,
    /// What its connections and packets are like; `start`, `stop` and `bytes` are not used.
    pub flow: Flow,
    /// Users alike.
    pub users: u32,
    /// When they begin, each at a time of its own within a second.
    pub start: Time,
    /// When they leave; without it, at the end of the run.
    pub stop: Option<Time>,
}

impl App {
    /// One user of an application of this kind from the start of the run to its end, over CUBIC
    /// where TCP carries it.
    pub fn new(kind: impl Into<Plugin>) -> App {
        let kind = kind.into();
        App {
            name: kind.name.clone(),
            kind,
            flow: Flow::new("cubic"),
            users: 1,
            start: Time::ZERO,
            stop: None,
        }
    }

    /// Sets the name.
    pub fn name(mut self, name: &str) -> App {
        name.clone_into(&mut self.name);
        self
    }

    /// Sets how many users there are.
    pub fn users(mut self, users: u32) -> App {
        self.users = users;
        self
    }
}
