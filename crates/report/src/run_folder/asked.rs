//! What a command was asked for: by this a folder knows whether a run is the one that it holds,
//! begun again.
//!
//! Kept are the command and the arguments that decide its results. Where an argument names a file,
//! the same place or the same contents make the same argument: an edited scenario is still that
//! scenario, and a folder that was moved with its scenario is still its folder.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use trammel_ground::sha256;

/// Larger files are known by their place alone.
const MOST_HASHED_BYTES: u64 = 1 << 20;

/// A command and the arguments that decide its results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The subcommand: `run` for `sweep` as well.
    pub command: String,
    /// By option (`--seed`) or by the place of an argument (`SCENARIO.toml`): its values.
    pub settings: BTreeMap<String, Vec<Setting>>,
}

/// A value on the command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// As it was written.
    given: String,
    /// A digest of the place, where it names a file or folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    /// A digest of the contents, where it names a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    contents: Option<String>,
}

impl Setting {
    /// The value `given`.
    pub fn of(given: &OsStr) -> Setting {
        let path = Path::new(given);
        let place = path.canonicalize().ok();
        let is_small = |path: &Path| {
            let about = path.metadata();
            about.is_ok_and(|about| about.is_file() && about.len() <= MOST_HASHED_BYTES)
        };
        let contents = Some(path).filter(|path| place.is_some() && is_small(path));
        Setting {
            given: given.to_string_lossy().into_owned(),
            place: place.map(|place| digest(place.as_os_str().as_encoded_bytes())),
            contents: contents
                .and_then(|path| std::fs::read(path).ok())
                .map(|bytes| digest(&bytes)),
        }
    }

    fn is_same(&self, other: &Setting) -> bool {
        match (&self.place, &other.place) {
            (Some(here), Some(there)) if here == there => true,
            (Some(_), Some(_)) => self.contents.is_some() && self.contents == other.contents,
            _ => self.given == other.given,
        }
    }
}

/// Sixteen digits that tell texts apart.
fn digest(bytes: &[u8]) -> String {
    let mut digits = sha256::of(bytes);
    digits.truncate(16);
    digits
}

impl Asked {
    /// The command `command` without arguments.
    pub fn of(command: &str) -> Asked {
        Asked {
            command: command.to_owned(),
            settings: BTreeMap::new(),
        }
    }

    /// With one value in place of what `setting` had.
    #[must_use]
    pub fn with(mut self, setting: &str, value: &str) -> Asked {
        let value = Setting::of(OsStr::new(value));
        self.settings.insert(setting.to_owned(), vec![value]);
        self
    }

    /// What differs from an `earlier` command; nothing where it is the same again.
    pub fn difference(&self, earlier: &Asked) -> Option<String> {
        if self.command != earlier.command {
            return Some(format!("this is `trammel {}`", self.command));
        }
        let names = self.settings.keys().chain(earlier.settings.keys());
        let mut names: Vec<&String> = names.collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().find_map(|name| {
            let of = |asked: &Asked| asked.settings.get(name).cloned().unwrap_or_default();
            let (now, then) = (of(self), of(earlier));
            let is_same = now.len() == then.len()
                && now.iter().zip(&then).all(|(now, then)| now.is_same(then));
            let (now, then) = (told("is", &now), told("was", &then));
            (!is_same).then(|| format!("`{name}` {now} and {then}"))
        })
    }

    /// The command as it could be typed.
    pub fn words(&self) -> String {
        let mut text = format!("trammel {}", self.command);
        let (options, places): (Vec<_>, Vec<_>) = self
            .settings
            .iter()
            .partition(|(name, _)| name.starts_with('-'));
        let mut add = |word: &str| {
            text.push(' ');
            text.push_str(word);
        };
        for (_, values) in places {
            for value in values {
                add(&value.given);
            }
        }
        for (name, values) in options {
            add(name);
            for value in values.iter().filter(|value| value.given != "true") {
                add(&value.given);
            }
        }
        text
    }
}

/// Values in a sentence: `is 2`, `was not given`.
fn told(verb: &str, values: &[Setting]) -> String {
    let given: Vec<_> = values.iter().map(|value| value.given.as_str()).collect();
    match given[..] {
        [] => format!("{verb} not given"),
        ["true"] => format!("{verb} given"),
        _ => format!("{verb} {}", given.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_same_by_its_place_or_by_its_contents() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (name, text) in [("a.toml", "1"), ("b.toml", "1"), ("c.toml", "2")] {
            std::fs::write(path(name), text).unwrap();
        }
        let asked = |name: &str| Asked::of("run").with("SCENARIO", path(name).to_str().unwrap());
        let first = asked("a.toml");
        assert_eq!(asked("b.toml").difference(&first), None, "a copy");
        let other = asked("c.toml").difference(&first).unwrap();
        assert!(
            other.contains("c.toml") && other.contains("a.toml"),
            "{other}"
        );
        std::fs::write(path("a.toml"), "3").unwrap();
        assert_eq!(asked("a.toml").difference(&first), None, "edited");
    }

    #[test]
    fn commands_and_options_tell_runs_apart() {
        let run = Asked::of("run").with("SCENARIO", "x.toml");
        let seeded = run.clone().with("--seed", "7");
        assert_eq!(seeded.words(), "trammel run x.toml --seed 7");
        assert_eq!(seeded.difference(&seeded.clone()), None);
        assert_eq!(
            seeded.difference(&run).as_deref(),
            Some("`--seed` is 7 and was not given")
        );
        let bench = Asked::of("bench");
        assert_eq!(
            run.difference(&bench).as_deref(),
            Some("this is `trammel run`")
        );
    }
}
