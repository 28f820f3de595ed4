//! Why a command could not do its work although it was asked well.

/// Why a command could not do its work although it was asked well: the exit code is 3.
#[derive(Debug, thiserror::Error)]
#[error("{what}; {mend}")]
pub struct Unsupported {
    /// What the machine or this build lacks.
    pub what: String,
    /// What would mend it.
    pub mend: String,
}

impl Unsupported {
    /// An error that ends a command with exit code 3.
    pub fn error(what: &str, mend: &str) -> anyhow::Error {
        anyhow::Error::new(Unsupported {
            what: what.to_owned(),
            mend: mend.to_owned(),
        })
    }
}
