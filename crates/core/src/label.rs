//! Labels: how a number is known. Part of every result, figure and parameter, never used loosely.
//!
//! One list for all: results of engines and tests, quantities of devices and machines, parameters
//! of models. Where only some make sense, a table lists those. *Measured* is kept for the wall
//! clock: what a simulation showed is simulated, whatever it simulates.

/// How a number is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// By a closed formula, or from what operations cost on a machine.
    Predicted,
    /// By a simulator, or a device's own graph, in virtual time: ours, or an imported run's.
    Simulated,
    /// By the real kernel's TCP on an emulated path with free CPU.
    LinuxVt,
    /// On real packets, or on the machine itself, by the wall clock.
    Measured,
    /// By a model of a device that we do not have.
    Modelled,
    /// A constant chosen so that the result matches.
    Fitted,
    /// Printed in a paper.
    Published,
    /// Seen in a cycle-accurate simulation of a hardware description.
    RtlSimulated,
    /// Read in a design or in its documents.
    Documented,
    /// From data sheets and public measurements.
    DataSheet,
    /// Follows from what is printed.
    Computed,
    /// An order of magnitude.
    Assumed,
}

impl Label {
    /// All labels.
    pub const ALL: [Label; 12] = [
        Label::Predicted,
        Label::Simulated,
        Label::LinuxVt,
        Label::Measured,
        Label::Modelled,
        Label::Fitted,
        Label::Published,
        Label::RtlSimulated,
        Label::Documented,
        Label::DataSheet,
        Label::Computed,
        Label::Assumed,
    ];

    /// Those that a result may have, in the order of columns.
    pub const OF_RESULTS: [Label; 7] = [
        Label::Predicted,
        Label::Simulated,
        Label::LinuxVt,
        Label::Measured,
        Label::Modelled,
        Label::Fitted,
        Label::Published,
    ];

    /// The key in tables, files and style sheets.
    pub fn key(self) -> &'static str {
        match self {
            Label::Predicted => "predicted",
            Label::Simulated => "simulated",
            Label::LinuxVt => "linux_vt",
            Label::Measured => "measured",
            Label::Modelled => "modelled",
            Label::Fitted => "fitted",
            Label::Published => "published",
            Label::RtlSimulated => "rtl-simulated",
            Label::Documented => "documented",
            Label::DataSheet => "data-sheet",
            Label::Computed => "computed",
            Label::Assumed => "assumed",
        }
    }

    /// The one of `allowed` that has a key.
    pub fn of_key(key: &str, allowed: &[Label]) -> Option<Label> {
        allowed.iter().copied().find(|label| label.key() == key)
    }

    /// The label of what an engine made: by the engine's name (`simulate`) or by the label's key.
    pub fn of_engine(engine: &str) -> Option<Label> {
        match engine {
            "predict" => Some(Label::Predicted),
            "simulate" => Some(Label::Simulated),
            "measure" => Some(Label::Measured),
            key => Label::of_key(key, &Label::OF_RESULTS),
        }
    }

    /// What tables call the engine that makes numbers of this label.
    pub fn engine(self) -> &'static str {
        match self {
            Label::Predicted => "predict",
            Label::Simulated => "simulate",
            Label::Measured => "measure",
            other => other.key(),
        }
    }

    /// The words for people.
    pub fn words(self) -> &'static str {
        match self {
            Label::LinuxVt => "Linux code, virtual time",
            Label::RtlSimulated => "RTL simulation",
            Label::DataSheet => "data sheet",
            other => other.key(),
        }
    }

    /// What the words mean, in a line.
    pub fn meaning(self) -> &'static str {
        match self {
            Label::Predicted => "a closed formula, evaluated",
            // Whose simulator it was, the report says: imported runs may be ns-3's.
            Label::Simulated => "packets of a simulator, in virtual time",
            Label::LinuxVt => "the real kernel's TCP on an emulated path with free CPU",
            Label::Measured => "real packets by the wall clock",
            Label::Modelled => "a model of a device that was not at hand",
            Label::Fitted => "a constant chosen so that the result matches",
            Label::Published => "printed in the literature",
            Label::RtlSimulated => {
                "seen in a cycle-accurate simulation of the hardware description"
            }
            Label::Documented => "read in the design or in its documents",
            Label::DataSheet => "from data sheets and public measurements",
            Label::Computed => "follows from what is printed",
            Label::Assumed => "an order of magnitude",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_label_has_a_key_and_words_of_its_own() {
        for (at, one) in Label::ALL.into_iter().enumerate() {
            assert_eq!(Label::of_key(one.key(), &Label::ALL), Some(one));
            for other in &Label::ALL[at + 1..] {
                assert_ne!(one.words(), other.words());
                assert_ne!(one.meaning(), other.meaning());
            }
        }
        for one in Label::OF_RESULTS {
            assert_eq!(Label::of_engine(one.engine()), Some(one));
        }
        assert_eq!(Label::of_engine("assumed"), None);
    }
}
