//! What comes of a live run, or why nothing did.

use trammel_control::network::Report;

/// What was measured.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) report: Report,
    /// What a reader should know of this run.
    pub(crate) remarks: Vec<String>,
}

/// Why nothing was measured.
#[derive(Debug)]
pub(crate) enum Unmeasured {
    /// The machine lacks something, or the scenario is none to be measured.
    Lack(String),
    /// It went wrong on the way.
    Failed(String),
}

impl From<trammel_io::Error> for Unmeasured {
    fn from(error: trammel_io::Error) -> Unmeasured {
        let text = with_mend(error.to_string(), error.mend().as_deref());
        if error.is_lack() {
            Unmeasured::Lack(text)
        } else {
            Unmeasured::Failed(text)
        }
    }
}

impl From<trammel_card::Error> for Unmeasured {
    fn from(error: trammel_card::Error) -> Unmeasured {
        let text = with_mend(error.to_string(), error.mend());
        match error {
            trammel_card::Error::Lack { .. } => Unmeasured::Lack(text),
            _ => Unmeasured::Failed(text),
        }
    }
}

fn with_mend(what: String, mend: Option<&str>) -> String {
    match mend {
        Some(mend) => format!("{what}: {mend}"),
        None => what,
    }
}
