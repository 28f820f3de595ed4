//! The families of plug-ins that a scenario or a command may name: one view of their tables for
//! checks and lists.

use trammel_bench::procedures;
use trammel_core::family::{Catalogue, Unknown};
use trammel_cost::eo;
use trammel_netsim::apps as user_apps;
use trammel_queues::{aqm, loss};
use trammel_stats::dist;
use trammel_tcp::{cc, models};
use trammel_traffic::apps;

/// A family of plug-ins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Congestion controls.
    Variant,
    /// Analytic models.
    Model,
    /// Queue disciplines.
    Discipline,
    /// Loss models.
    Loss,
    /// Probability distributions.
    Distribution,
    /// Applications whose users' experience is the result.
    App,
    /// Models of the packets that applications send.
    Application,
    /// Tests of a device.
    Test,
    /// Elementary operations, of which costs are made.
    Operation,
}

impl Family {
    /// The families that scenario files name, in the order in which help texts name them.
    pub const ALL: [Family; 6] = [
        Family::Variant,
        Family::Model,
        Family::Discipline,
        Family::Loss,
        Family::Distribution,
        Family::App,
    ];

    /// Its entries, built-in ones first.
    pub fn catalogue(self) -> &'static dyn Catalogue {
        match self {
            Family::Variant => &cc::FAMILY,
            Family::Model => &models::FAMILY,
            Family::Discipline => &aqm::FAMILY,
            Family::Loss => &loss::FAMILY,
            Family::Distribution => &dist::FAMILY,
            Family::App => &user_apps::FAMILY,
            Family::Application => &apps::FAMILY,
            Family::Test => &procedures::FAMILY,
            Family::Operation => &eo::FAMILY,
        }
    }

    /// The word after `trammel list`.
    pub fn plural(self) -> &'static str {
        match self {
            Family::Variant => "variants",
            Family::Model => "models",
            Family::Discipline => "disciplines",
            Family::Loss => "losses",
            Family::Distribution => "distributions",
            Family::App => "apps",
            Family::Application => "applications",
            Family::Test => "tests",
            Family::Operation => "operations",
        }
    }

    /// What to do about a name that it does not have.
    pub fn remedy(self, unknown: &Unknown) -> String {
        match &unknown.nearest {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("`trammel list {}` shows all", self.plural()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_by_name_and_by_alias_and_suggests() {
        let variants = Family::Variant.catalogue();
        assert_eq!(variants.describe("newreno").map(|a| a.name), Ok("reno"));
        let remedy = |name| Family::Variant.remedy(&variants.describe(name).unwrap_err());
        assert_eq!(remedy("rneo"), "did you mean `reno`?");
        assert_eq!(remedy("submarine"), "`trammel list variants` shows all");
    }
}
