//! The families of plug-ins that a scenario may name: one view of their tables for checks and lists.

use trammel_core::entry::About;
use trammel_core::units::nearest;
use trammel_core::{aqm, dist, loss};
use trammel_tcp::{cc, models};

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
}

impl Family {
    /// Every family, in the order in which help texts name them.
    pub const ALL: [Family; 5] = [
        Family::Variant,
        Family::Model,
        Family::Discipline,
        Family::Loss,
        Family::Distribution,
    ];

    /// One of them, to a person: `queue discipline`.
    pub fn noun(self) -> &'static str {
        match self {
            Family::Variant => "congestion control",
            Family::Model => "analytic model",
            Family::Discipline => "queue discipline",
            Family::Loss => "loss model",
            Family::Distribution => "distribution",
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
        }
    }

    /// What every member says of itself, built-in ones first.
    pub fn members(self) -> Vec<&'static About> {
        match self {
            Family::Variant => cc::all().into_iter().map(|e| &e.about).collect(),
            Family::Model => models::all().into_iter().map(|e| &e.about).collect(),
            Family::Discipline => aqm::all().into_iter().map(|e| &e.about).collect(),
            Family::Loss => loss::all().into_iter().map(|e| &e.about).collect(),
            Family::Distribution => dist::all().into_iter().map(|e| &e.about).collect(),
        }
    }

    /// The member that answers to `name`.
    pub fn find(self, name: &str) -> Option<&'static About> {
        self.members()
            .into_iter()
            .find(|about| about.answers_to(name))
    }

    /// The name nearest to `name`, if it may be a slip of the hand.
    pub fn nearest(self, name: &str) -> Option<String> {
        let members = self.members();
        nearest(
            name,
            members
                .iter()
                .flat_map(|about| std::iter::once(about.name).chain(about.aliases.iter().copied())),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_by_name_and_by_alias_and_suggests() {
        assert_eq!(
            Family::Variant.find("newreno").map(|a| a.name),
            Some("reno")
        );
        assert!(Family::Variant.find("rneo").is_none());
        assert_eq!(Family::Variant.nearest("rneo").as_deref(), Some("reno"));
    }

    #[test]
    fn every_default_obeys_its_own_range() {
        for family in Family::ALL {
            for about in family.members() {
                for param in about.params.iter().filter(|p| !p.default.is_empty()) {
                    let default = trammel_core::entry::Value::Text(param.default.to_owned());
                    assert!(
                        param.check(&default).is_ok(),
                        "{} {}",
                        about.name,
                        param.name
                    );
                }
            }
        }
    }
}
