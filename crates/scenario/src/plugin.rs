//! A plug-in as a scenario names it: its name and the parameters that are given.
//!
//! The name is resolved late, so that a variant of another crate may be registered after the
//! scenario was built.

use crate::registry::Family;
use trammel_core::entry::{About, Params, Value};
use trammel_netsim::apps::{self, App};
use trammel_queues::aqm::{self, Discipline, LinkFacts};
use trammel_queues::loss::{self, LossModel};
use trammel_stats::dist::{self, Distribution};

/// A plug-in's name with the parameters that differ from its defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Plugin {
    /// The name or alias, as the user wrote it.
    pub name: String,
    /// The parameters given; numbers of a distribution are in its user's base unit (seconds,
    /// bytes).
    pub given: Vec<(String, Value)>,
}

impl From<&str> for Plugin {
    fn from(name: &str) -> Plugin {
        Plugin {
            name: name.to_owned(),
            given: Vec::new(),
        }
    }
}

impl Plugin {
    /// The plug-in called `name` with its defaults.
    pub fn new(name: &str) -> Plugin {
        name.into()
    }

    /// Sets the parameter `key`.
    pub fn with(mut self, key: &str, value: Value) -> Plugin {
        self.given.push((key.to_owned(), value));
        self
    }

    /// What the plug-in says of itself, or why there is none of this name.
    pub fn about(&self, family: Family) -> Result<&'static About, String> {
        let found = family.catalogue().describe(&self.name);
        found.map_err(|unknown| format!("{}; {}", unknown.what(), family.remedy(&unknown)))
    }

    /// All its parameters, the defaults filled in.
    pub fn params(&self, family: Family) -> Result<Params, String> {
        Params::resolve(self.about(family)?, &self.given).map_err(|errors| {
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            errors.join("; ")
        })
    }

    /// The queue discipline of this name, made anew for a link.
    pub fn discipline(&self, facts: &LinkFacts) -> Result<Box<dyn Discipline>, String> {
        let params = self.params(Family::Discipline)?;
        let entry = aqm::find(&self.name);
        (entry.expect("its parameters were found").build)(&params, facts)
    }

    /// The loss model of this name, made anew.
    pub fn loss_model(&self) -> Result<Box<dyn LossModel>, String> {
        let params = self.params(Family::Loss)?;
        let entry = loss::find(&self.name);
        (entry.expect("its parameters were found").build)(&params)
    }

    /// The application of this name, made anew for a user.
    pub fn app(&self) -> Result<Box<dyn App>, String> {
        let params = self.params(Family::App)?;
        let entry = apps::find(&self.name);
        (entry.expect("its parameters were found").build)(&params)
    }

    /// The distribution of this name.
    pub fn distribution(&self) -> Result<Box<dyn Distribution>, String> {
        let params = self.params(Family::Distribution)?;
        let entry = dist::find(&self.name);
        (entry.expect("its parameters were found").build)(&params)
    }
}

/// A random quantity in seconds or bytes: always the same, or drawn from a distribution.
#[derive(Clone, Debug, PartialEq)]
pub enum Random {
    /// Always this value.
    Always(f64),
    /// Drawn anew each time.
    Drawn(Plugin),
}

impl From<Plugin> for Random {
    fn from(law: Plugin) -> Random {
        Random::Drawn(law)
    }
}

impl Random {
    /// The mean, where it exists and the distribution can be made.
    pub fn mean(&self) -> Option<f64> {
        match self {
            Random::Always(value) => Some(*value),
            Random::Drawn(plugin) => plugin.distribution().ok()?.mean(),
        }
    }

    /// Whether its law exists and can be made.
    pub(super) fn is_known(&self) -> bool {
        match self {
            Random::Always(_) => true,
            Random::Drawn(plugin) => plugin.distribution().is_ok(),
        }
    }

    /// Whether as good as no draw is above 0, so that a sum of many goes nowhere.
    pub(super) fn stands_still(&self) -> bool {
        const AS_GOOD_AS_ALWAYS: f64 = 0.999;
        match self {
            Random::Always(value) => *value <= 0.0,
            Random::Drawn(plugin) => {
                let law = plugin.distribution();
                law.is_ok_and(|law| law.cdf(0.0) > AS_GOOD_AS_ALWAYS)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_resolves_late_and_a_slip_is_named() {
        assert!(Plugin::new("newreno").params(Family::Variant).is_ok());
        let error = Plugin::new("renoo").params(Family::Variant).unwrap_err();
        assert_eq!(
            error,
            "no congestion control is called `renoo`; did you mean `reno`?"
        );
    }
}
