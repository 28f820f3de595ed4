//! Families of plug-ins: one table of entries, found by name, to which other crates add without a
//! fork.
//!
//! A family is a folder whose `mod.rs` has a trait, an `Entry` with a field `about`, and two lines:
//!
//! ```text
//! include!(concat!(env!("OUT_DIR"), "/dist.rs"));   // modules, `ALL`, `DOCS`, by build.rs
//! trammel_core::family!("distribution");            // `FAMILY`, `register`, `all`, `find` and their test
//! ```
//!
//! The order is that of the file names, then of registration, so that lists are the same in every
//! run. A name means one entry for ever: one that is taken is refused, not hidden.

use crate::doc::Doc;
use crate::entry::{About, Param, Value};
use crate::units::nearest;
use std::sync::RwLock;

/// A row of a family's table.
pub trait Described: Sync {
    /// What it says of itself.
    fn about(&self) -> &About;
}

/// The entries of one kind: the built-in ones, then those of other crates.
#[derive(Debug)]
pub struct Family<E: 'static> {
    noun: &'static str,
    built_in: &'static [&'static E],
    /// What the files of the built-in entries say, in the same order.
    docs: &'static [&'static str],
    registered: RwLock<Vec<&'static E>>,
}

/// No entry of a family answers to a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}{}",
    self.what(),
    nearest.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default()
)]
pub struct Unknown {
    /// What was looked for: `queue discipline`.
    pub noun: &'static str,
    /// The name given.
    pub name: String,
    /// The name that may have been meant.
    pub nearest: Option<String>,
}

impl Unknown {
    /// The fault without the remedy.
    pub fn what(&self) -> String {
        format!("no {} is called `{}`", self.noun, self.name)
    }
}

/// Why an entry is not registered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// Another entry answers to its name or to one of its aliases.
    #[error("the {noun} `{name}` is refused: `{taken}` already means `{by}`")]
    NameTaken {
        /// What the family consists of.
        noun: &'static str,
        /// The entry's name.
        name: &'static str,
        /// The name or alias that is taken.
        taken: &'static str,
        /// The entry that has it.
        by: &'static str,
    },
    /// It could not be made from its own defaults.
    #[error("the {noun} `{name}` is refused: {fault}")]
    Parameter {
        /// What the family consists of.
        noun: &'static str,
        /// The entry's name.
        name: &'static str,
        /// What is wrong with a parameter.
        fault: String,
    },
}

impl<E: Described> Family<E> {
    /// A family of `built_in` entries with what their files say, in the same order; `noun` is one
    /// of them, to a person: `queue discipline`.
    pub const fn new(
        noun: &'static str,
        built_in: &'static [&'static E],
        docs: &'static [&'static str],
    ) -> Family<E> {
        Family {
            noun,
            built_in,
            docs,
            registered: RwLock::new(Vec::new()),
        }
    }

    /// Adds an entry of another crate. The same entry may be added again, which changes nothing.
    pub fn register(&self, entry: &'static E) -> Result<(), Refused> {
        self.add(None, entry)
    }

    /// Puts `new` in the place of `old`, which was registered before: a definition that is made
    /// again, as in a notebook. Whoever still has the old entry keeps it. One that is refused
    /// changes nothing.
    pub fn supersede(&self, old: &'static E, new: &'static E) -> Result<(), Refused> {
        self.add(Some(old), new)
    }

    fn add(&self, old: Option<&'static E>, entry: &'static E) -> Result<(), Refused> {
        let (noun, about) = (self.noun, entry.about());
        let name = about.name;
        if let Some(fault) = parameter_fault(about) {
            return Err(Refused::Parameter { noun, name, fault });
        }
        let mut registered = self.registered.write().expect("no panic while registering");
        if registered.iter().any(|known| std::ptr::eq(*known, entry)) {
            return Ok(());
        }
        let is_old = |known: &&E| old.is_some_and(|old| std::ptr::eq(*known, old));
        let all = self.built_in.iter().chain(registered.iter());
        for known in all.filter(|known| !is_old(known)) {
            let known = known.about();
            if let Some(taken) = about.names().find(|name| known.answers_to(name)) {
                let by = known.name;
                return Err(Refused::NameTaken {
                    noun,
                    name,
                    taken,
                    by,
                });
            }
        }
        match registered.iter().position(is_old) {
            Some(at) => registered[at] = entry,
            None => registered.push(entry),
        }
        Ok(())
    }

    /// Every entry: the built-in ones, then the registered ones.
    pub fn all(&self) -> Vec<&'static E> {
        let registered = self.registered.read().expect("no panic while registering");
        self.built_in
            .iter()
            .chain(registered.iter())
            .copied()
            .collect()
    }

    /// The entry that answers to `name`, by its name or an alias.
    pub fn find(&self, name: &str) -> Option<&'static E> {
        let registered = self.registered.read().expect("no panic while registering");
        let mut all = self.built_in.iter().chain(registered.iter()).copied();
        all.find(|entry| entry.about().answers_to(name))
    }

    /// The entry that answers to `name`, or which name may have been meant.
    pub fn get(&self, name: &str) -> Result<&'static E, Unknown> {
        self.find(name).ok_or_else(|| self.unknown(name))
    }

    /// What the file of `entry` says of it; empty for an entry of another crate.
    pub fn doc(&self, entry: &E) -> Doc {
        let mut all = self.built_in.iter();
        let at = all.position(|other| std::ptr::eq(*other, entry));
        Doc::new(
            at.and_then(|at| self.docs.get(at))
                .copied()
                .unwrap_or_default(),
        )
    }

    /// What is wrong with the built-in entries: names given twice, texts left out, impossible
    /// defaults. The test of every family asks for nothing.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut names: Vec<&str> = Vec::new();
        for (at, about) in self.built_in.iter().map(|entry| entry.about()).enumerate() {
            let mut fault = |text: String| faults.push(format!("`{}`: {text}", about.name));
            for name in about.names() {
                if names.contains(&name) {
                    fault(format!("the name `{name}` is given twice"));
                }
                names.push(name);
            }
            if about.summary.is_empty() || about.summary.ends_with('.') {
                fault("it needs a summary, without a full stop".to_owned());
            }
            if about.references.is_empty() {
                fault("it needs a reference".to_owned());
            }
            let says = self.docs.get(at).copied().unwrap_or_default();
            let mut sections = Doc::new(says).other_sections(&["Parameters", "References"]);
            if !sections.any(|(_, text)| !text.is_empty()) {
                fault("the head of its file needs a section such as `What it does`".to_owned());
            }
            for param in about.params.iter().filter(|param| param.help.is_empty()) {
                fault(format!("the parameter `{}` needs a help text", param.name));
            }
            if let Some(text) = parameter_fault(about) {
                fault(text);
            }
        }
        faults
    }
}

/// What would keep the parameters of `about` from being resolved.
fn parameter_fault(about: &About) -> Option<String> {
    let has_default = |param: &&Param| !param.default.is_empty();
    let twice = about.params.iter().enumerate().find_map(|(at, param)| {
        let mut before = about.params[..at].iter();
        before
            .any(|other| other.name == param.name)
            .then(|| format!("the parameter `{}` is given twice", param.name))
    });
    twice.or_else(|| {
        about.params.iter().filter(has_default).find_map(|param| {
            let refused = param.check(&Value::Text(param.default.to_owned())).err()?;
            Some(format!("of its defaults, {refused}"))
        })
    })
}

/// A family as lists and checks see it, whatever its entries are.
pub trait Catalogue: Sync {
    /// One of the entries, to a person: `queue discipline`.
    fn noun(&self) -> &'static str;

    /// What every entry says of itself, in the family's order.
    fn members(&self) -> Vec<&'static About>;

    /// What the file of the entry that answers to `name` says; empty where there is none.
    fn doc(&self, name: &str) -> Doc;

    /// What the entry that answers to `name` says of itself, or which name may have been meant.
    fn describe(&self, name: &str) -> Result<&'static About, Unknown> {
        let mut members = self.members().into_iter();
        members
            .find(|about| about.answers_to(name))
            .ok_or_else(|| self.unknown(name))
    }

    /// That there is no `name`, with the one that may have been meant.
    fn unknown(&self, name: &str) -> Unknown {
        let members = self.members();
        Unknown {
            noun: self.noun(),
            name: name.to_owned(),
            nearest: nearest(name, members.iter().flat_map(|about| about.names())),
        }
    }
}

impl<E: Described> Catalogue for Family<E> {
    fn noun(&self) -> &'static str {
        self.noun
    }

    fn members(&self) -> Vec<&'static About> {
        self.all().into_iter().map(Described::about).collect()
    }

    fn doc(&self, name: &str) -> Doc {
        self.find(name)
            .map(|entry| self.doc(entry))
            .unwrap_or_default()
    }
}

/// Makes the `Entry` and `ALL` of a plug-in folder a [`Family`], called by its noun.
#[macro_export]
macro_rules! family {
    ($noun:literal) => {
        impl $crate::family::Described for Entry {
            fn about(&self) -> &$crate::entry::About {
                &self.about
            }
        }

        #[doc = concat!("Every ", $noun, ", by its name.")]
        pub static FAMILY: $crate::family::Family<Entry> =
            $crate::family::Family::new($noun, ALL, DOCS);

        #[doc = concat!("Adds the ", $noun, " of another crate, whose names must be free.")]
        pub fn register(entry: &'static Entry) -> Result<(), $crate::family::Refused> {
            FAMILY.register(entry)
        }

        #[doc = concat!("Every ", $noun, ": the built-in ones, then the registered ones.")]
        pub fn all() -> Vec<&'static Entry> {
            FAMILY.all()
        }

        #[doc = concat!("The ", $noun, " called `name`, by its name or an alias.")]
        pub fn find(name: &str) -> Option<&'static Entry> {
            FAMILY.find(name)
        }

        #[cfg(test)]
        #[test]
        fn every_entry_is_described_and_has_names_of_its_own() {
            assert_eq!(FAMILY.faults(), Vec::<String>::new());
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Kind;

    #[derive(Debug)]
    struct Entry {
        about: About,
    }

    impl Described for Entry {
        fn about(&self) -> &About {
            &self.about
        }
    }

    const fn entry(
        name: &'static str,
        aliases: &'static [&'static str],
        params: &'static [Param],
    ) -> Entry {
        Entry {
            about: About {
                name,
                aliases,
                summary: "an animal",
                references: &["Linnaeus 1758"],
                params,
            },
        }
    }

    const fn legs(default: &'static str) -> Param {
        Param {
            name: "legs",
            kind: Kind::Int(0, 8),
            default,
            unit: "",
            help: "how many",
        }
    }

    static HORSE: Entry = entry("horse", &["equus"], &[]);
    static SPIDER: Entry = entry("spider", &[], &[legs("8")]);
    static DONKEY: Entry = entry("donkey", &["ass", "equus"], &[]);
    static CENTIPEDE: Entry = entry("centipede", &[], &[legs("100")]);
    static ELEPHANT: Entry = entry("elephant", &[], &[legs("4"), legs("4")]);
    static ZEBRA: Entry = entry("zebra", &["stripes"], &[legs("4")]);
    static ZEBRA_TOO: Entry = entry("zebra", &[], &[legs("4")]);
    static STABLE: &[&Entry] = &[&HORSE, &SPIDER];
    const HEAD: &str = "An animal.\n\n# What it does\nIt eats.\n";
    const SAID: &[&str] = &[HEAD; 5];

    fn names(family: &Family<Entry>) -> Vec<&'static str> {
        family.members().iter().map(|about| about.name).collect()
    }

    #[test]
    fn finds_by_name_and_alias_and_suggests() {
        let family = Family::new("animal", STABLE, SAID);
        assert_eq!(family.get("equus").map(|e| e.about.name), Ok("horse"));
        assert_eq!(family.describe("horse").unwrap().name, "horse");
        let error = |name| family.get(name).unwrap_err().to_string();
        assert_eq!(
            error("hrose"),
            "no animal is called `hrose`; did you mean `horse`?"
        );
        assert_eq!(
            error("eqqus"),
            "no animal is called `eqqus`; did you mean `equus`?"
        );
        assert_eq!(error("submarine"), "no animal is called `submarine`");
        let unknown = family.describe("hrose").unwrap_err();
        assert_eq!(unknown, family.get("hrose").unwrap_err());
    }

    #[test]
    fn a_registered_entry_comes_after_the_built_in_ones_and_only_once() {
        let family = Family::new("animal", STABLE, SAID);
        assert!(family.find("stripes").is_none());
        assert_eq!(family.register(&ZEBRA), Ok(()));
        assert_eq!(family.register(&ZEBRA), Ok(()));
        assert_eq!(names(&family), ["horse", "spider", "zebra"]);
        assert_eq!(family.find("stripes").unwrap().about.name, "zebra");
        assert!(std::ptr::eq(family.all()[2], &raw const ZEBRA));
    }

    #[test]
    fn a_name_that_is_taken_or_an_impossible_default_is_refused() {
        let family = Family::new("animal", STABLE, SAID);
        family.register(&ZEBRA).unwrap();
        let refused = |entry| family.register(entry).unwrap_err().to_string();
        assert_eq!(
            refused(&DONKEY),
            "the animal `donkey` is refused: `equus` already means `horse`"
        );
        assert_eq!(
            refused(&ZEBRA_TOO),
            "the animal `zebra` is refused: `zebra` already means `zebra`"
        );
        assert_eq!(
            refused(&CENTIPEDE),
            "the animal `centipede` is refused: of its defaults, `legs` must be a whole number \
             from 0 to 8, not `100`"
        );
        assert_eq!(
            refused(&ELEPHANT),
            "the animal `elephant` is refused: the parameter `legs` is given twice"
        );
        assert_eq!(names(&family), ["horse", "spider", "zebra"]);
    }

    #[test]
    fn an_entry_that_is_made_again_takes_the_place_of_its_own_only() {
        let family = Family::new("animal", STABLE, SAID);
        family.register(&ZEBRA).unwrap();
        assert_eq!(family.supersede(&ZEBRA, &ZEBRA_TOO), Ok(()));
        assert_eq!(names(&family), ["horse", "spider", "zebra"]);
        assert!(std::ptr::eq(
            family.find("zebra").unwrap(),
            &raw const ZEBRA_TOO
        ));
        // The name of a third is not free, and what was there stays.
        assert!(family.supersede(&ZEBRA_TOO, &DONKEY).is_err());
        assert_eq!(names(&family), ["horse", "spider", "zebra"]);
    }

    #[test]
    fn faults_of_built_in_entries_are_told_all_at_once() {
        static BARE: Entry = Entry {
            about: About {
                name: "bare",
                aliases: &[],
                summary: "Full stop.",
                references: &[],
                params: &[Param {
                    help: "",
                    ..legs("4")
                }],
            },
        };
        static BROKEN: &[&Entry] = &[&HORSE, &DONKEY, &CENTIPEDE, &BARE];
        assert_eq!(
            Family::new("animal", BROKEN, SAID).faults(),
            [
                "`donkey`: the name `equus` is given twice",
                "`centipede`: of its defaults, `legs` must be a whole number from 0 to 8, not \
                 `100`",
                "`bare`: it needs a summary, without a full stop",
                "`bare`: it needs a reference",
                "`bare`: the parameter `legs` needs a help text",
            ]
        );
        assert!(Family::new("animal", STABLE, SAID).faults().is_empty());
    }
}
