//! How the numbers of a file are known: files that Trammel wrote say it themselves.
//!
//! They have the shape of what iperf3, Flent and stacks of QUIC measure, but a simulated flow stays
//! simulated.

use crate::document::word;
use crate::error::ImportError;
use serde_json::Value;
use trammel_core::label::Label;

/// Who made the numbers, and how they are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Who, as the report says it.
    pub(crate) by: String,
    pub(crate) label: Label,
}

/// What every file of Trammel's names as its program.
const OWN: &str = "trammel ";

impl Origin {
    /// Of a file in iperf3's shape; nothing where iperf3 wrote it.
    pub(crate) fn of_iperf3(document: &Value) -> Result<Option<Origin>, ImportError> {
        let own = document.get("trammel");
        own.map(|own| told(word(own, "/by"), word(own, "/label"), "trammel.label"))
            .transpose()
    }

    /// Of a qlog whose vantage point is called `name`: `trammel, simulated`.
    pub(crate) fn of_qlog(
        name: &str,
        notes: &mut Vec<String>,
    ) -> Result<Option<Origin>, ImportError> {
        // Logs of versions before this label was written.
        if name == OWN.trim_end() {
            notes.push(
                "Trammel wrote this log and does not say how its numbers are known: they count as \
                 simulated."
                    .to_owned(),
            );
            return Ok(Some(Origin {
                by: name.to_owned(),
                label: Label::Simulated,
            }));
        }
        Origin::of_name(name, "vantage_point.name")
    }

    /// Of a capture that `application` wrote: `trammel, simulated`. The router's elements and
    /// earlier versions say `Trammel` alone.
    pub(crate) fn of_capture(
        application: &str,
        notes: &mut Vec<String>,
    ) -> Result<Option<Origin>, ImportError> {
        if application == "Trammel" {
            notes.push(
                "Trammel wrote this capture and does not say how its packets came about: they \
                 count as measured."
                    .to_owned(),
            );
        }
        Origin::of_name(application, "shb_userappl")
    }

    /// Of a file whose field `at` says who made it and how its numbers are known.
    fn of_name(name: &str, at: &str) -> Result<Option<Origin>, ImportError> {
        let Some((by, label)) = name.split_once(", ").filter(|(by, _)| *by == "trammel") else {
            return Ok(None);
        };
        told(Some(by), Some(label), at).map(Some)
    }

    /// Of a file in Flent's shape, which has the label before `by trammel` in its note.
    pub(crate) fn of_flent(file: &Value) -> Result<Option<Origin>, ImportError> {
        let by = word(file, "/metadata/FLENT_VERSION").filter(|by| by.starts_with(OWN));
        let Some(by) = by else { return Ok(None) };
        let note = word(file, "/metadata/NOTE").and_then(|note| note.split_once(" by "));
        let label = note.map(|(label, _)| label);
        told(Some(by), label, "metadata.NOTE").map(Some)
    }
}

/// A label that is not known is a fault: no other may stand in its place.
fn told(by: Option<&str>, label: Option<&str>, at: &str) -> Result<Origin, ImportError> {
    let known = label.and_then(Label::of_engine);
    let label = known.ok_or_else(|| {
        let what = match label {
            Some(label) => format!("`{}` is no label of a result", label.escape_debug()),
            None => "it is by Trammel and does not say how its numbers are known".to_owned(),
        };
        ImportError::damaged(format!("`{at}`"), what, "let `trammel` write it again")
    })?;
    Ok(Origin {
        by: by.unwrap_or("trammel").to_owned(),
        label,
    })
}

/// The one origin of all tests of a file.
pub(crate) fn one(origins: &[Origin]) -> Result<Option<Origin>, ImportError> {
    let Some(first) = origins.first() else {
        return Ok(None);
    };
    match origins.iter().find(|other| other.label != first.label) {
        Some(other) => Err(ImportError::damaged(
            "the file",
            format!(
                "its tests are not all known in the same way: some are {}, some {}",
                first.label.words(),
                other.label.words()
            ),
            "give each test in a file of its own",
        )),
        None => Ok(Some(first.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_label_that_is_not_known_is_no_other() {
        let of = |label: &str| {
            Origin::of_iperf3(&json!({"trammel": {"by": "trammel 1", "label": label}}))
        };
        let label = |key: &str| of(key).unwrap().unwrap().label;
        assert_eq!(label("simulated"), Label::Simulated);
        assert_eq!(label("predict"), Label::Predicted);
        assert_eq!(label("linux_vt"), Label::LinuxVt);
        let why = of("guessed").unwrap_err().to_string();
        assert!(why.contains("`guessed` is no label"), "{why}");
        assert!(Origin::of_iperf3(&json!({"trammel": {}})).is_err());
        assert_eq!(Origin::of_iperf3(&json!({})).unwrap(), None);
    }

    #[test]
    fn a_qlog_of_trammel_is_as_it_says_and_an_old_one_simulated() {
        let mut notes = Vec::new();
        let mut of = |name: &str| {
            let origin = Origin::of_qlog(name, &mut notes);
            origin.map(|origin| origin.map(|origin| origin.label))
        };
        assert_eq!(of("trammel, linux_vt").unwrap(), Some(Label::LinuxVt));
        assert_eq!(of("trammel").unwrap(), Some(Label::Simulated));
        assert_eq!(of("quic-go").unwrap(), None);
        assert!(of("trammel, guessed").is_err());
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn a_capture_of_trammel_is_as_it_says_and_one_that_does_not_say_is_noted() {
        let mut notes = Vec::new();
        let mut of = |application: &str| {
            let origin = Origin::of_capture(application, &mut notes);
            origin.map(|origin| origin.map(|origin| origin.label))
        };
        assert_eq!(of("trammel, simulated").unwrap(), Some(Label::Simulated));
        assert_eq!(of("trammel, linux_vt").unwrap(), Some(Label::LinuxVt));
        assert_eq!(of("Dumpcap (Wireshark) 4.0.17").unwrap(), None);
        assert_eq!(of("").unwrap(), None);
        assert!(of("trammel, guessed").is_err());
        assert_eq!(of("Trammel").unwrap(), None);
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn a_note_of_flent_s_user_is_no_label() {
        let of = |version: &str, note: &str| {
            Origin::of_flent(&json!({"metadata": {"FLENT_VERSION": version, "NOTE": note}}))
        };
        assert_eq!(of("2.1.1", "simulated by trammel").unwrap(), None);
        let own = of("trammel 0.2.0", "simulated by trammel 0.2.0, point base").unwrap();
        assert_eq!(own.unwrap().label, Label::Simulated);
        assert!(of("trammel 0.2.0", "of mine").is_err());
    }
}
