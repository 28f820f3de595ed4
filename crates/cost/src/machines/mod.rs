//! The machines that come with the crate: a file for each, `<id>.toml`, and its profiles in it.

use crate::machine::Machine;
use crate::machine_reader::{self, Fault};
use trammel_core::units::nearest;

include!(concat!(env!("OUT_DIR"), "/machines.rs"));

/// What is wrong with a machine's name or file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// No file has this name.
    #[error(
        "no machine is called `{name}`{}; there are {known}",
        nearest.as_ref().map(|n| format!("; did you mean `{n}`?")).unwrap_or_default()
    )]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The one that may have been meant.
        nearest: Option<String>,
        /// All of them.
        known: String,
    },
    /// The file has no such profile, or something in it is wrong.
    #[error("{0}")]
    File(Fault),
}

/// The machine of a name such as `xeon-e5-2690v2` or `xeon-e5-2690v2:printed`.
pub fn find(name: &str) -> Result<Machine, Error> {
    let (id, profile) = match name.split_once(':') {
        Some((id, profile)) => (id, Some(profile)),
        None => (name, None),
    };
    match TEXTS.iter().find(|(known, _)| *known == id) {
        Some((_, text)) => machine_reader::read(id, text, profile).map_err(Error::File),
        None => Err(Error::Unknown {
            name: id.to_owned(),
            nearest: nearest(id, TEXTS.iter().map(|(known, _)| *known)),
            known: names().join(", "),
        }),
    }
}

/// The profiles of the built-in machine `id`; none where it is not built in.
pub fn profiles(id: &str) -> Vec<String> {
    let text = TEXTS.iter().find(|(known, _)| *known == id);
    text.and_then(|(_, text)| machine_reader::profiles(text))
        .unwrap_or_default()
}

/// The names of all machines.
pub fn names() -> Vec<&'static str> {
    TEXTS.iter().map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_is_right_in_every_profile() {
        for (id, text) in TEXTS {
            let profiles = machine_reader::profiles(text).expect("it is read");
            assert!(!profiles.is_empty(), "{id} has no profile");
            for profile in profiles {
                let name = format!("{id}:{profile}");
                let machine = find(&name).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(machine.full_name(), name);
                assert!(!machine.source.is_empty(), "{name} names no source");
            }
        }
    }

    #[test]
    fn a_misspelt_name_is_answered_with_the_nearest() {
        let said = find("xeon-e5-2690v3").unwrap_err().to_string();
        assert!(
            said.starts_with(
                "no machine is called `xeon-e5-2690v3`; did you mean `xeon-e5-2690v2`?"
            ),
            "{said}"
        );
        let said = find("xeon-e5-2690v2:print").unwrap_err().to_string();
        assert_eq!(
            said,
            "xeon-e5-2690v2.toml: it has no profile `print`; did you mean `printed`?"
        );
    }
}
