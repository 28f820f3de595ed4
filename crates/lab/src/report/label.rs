//! Labels: which engine or source a number is of. Part of every result, never used loosely.
//!
//! A label has one word, one colour (in `assets/report.css`, class `label-<key>`) and one dash pattern
//! in every report.

/// Where a number is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Label {
    /// By a closed formula.
    Predicted,
    /// By our simulator, in virtual time.
    Simulated,
    /// By the real kernel's TCP on an emulated path with free CPU.
    LinuxVt,
    /// On real packets by the wall clock.
    Measured,
    /// By a model of a device that we do not have.
    Modelled,
    /// A constant chosen so that the result matches.
    Fitted,
    /// Printed in a paper.
    Published,
}

impl Label {
    /// All labels, in the order of columns.
    pub const ALL: [Label; 7] = [
        Label::Predicted,
        Label::Simulated,
        Label::LinuxVt,
        Label::Measured,
        Label::Modelled,
        Label::Fitted,
        Label::Published,
    ];

    /// The key in tables and style sheets.
    pub fn key(self) -> &'static str {
        match self {
            Label::Predicted => "predicted",
            Label::Simulated => "simulated",
            Label::LinuxVt => "linux_vt",
            Label::Measured => "measured",
            Label::Modelled => "modelled",
            Label::Fitted => "fitted",
            Label::Published => "published",
        }
    }

    /// The label of what an engine made: by the engine's name (`simulate`) or by the label's key.
    pub fn of_engine(engine: &str) -> Option<Label> {
        match engine {
            "predict" => Some(Label::Predicted),
            "simulate" => Some(Label::Simulated),
            "measure" => Some(Label::Measured),
            key => Label::ALL.into_iter().find(|label| label.key() == key),
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
            other => other.key(),
        }
    }

    /// What the words mean, in a line.
    pub fn meaning(self) -> &'static str {
        match self {
            Label::Predicted => "a closed formula, evaluated",
            Label::Simulated => "Trammel's simulator, in virtual time",
            Label::LinuxVt => "the real kernel's TCP on an emulated path with free CPU",
            Label::Measured => "real packets by the wall clock",
            Label::Modelled => "a model of a device that was not at hand",
            Label::Fitted => "a constant chosen so that the result matches",
            Label::Published => "printed in the literature",
        }
    }

    /// Strokes and gaps of its lines, in pixels; a solid line has none.
    pub(super) fn dash(self) -> &'static [i32] {
        match self {
            Label::Predicted | Label::Modelled => &[7, 4],
            Label::Simulated => &[],
            Label::Measured => &[14, 3],
            Label::LinuxVt => &[10, 3, 2, 3],
            Label::Fitted => &[4, 3],
            Label::Published => &[2, 3],
        }
    }
}
