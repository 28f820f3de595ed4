//! Why a file cannot be imported: what, where in it, and what to do.

/// Why a file cannot be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// It has no byte.
    #[error("it is empty; give a file with results")]
    Empty,
    /// Nobody knows what it is.
    #[error(
        "its content is of no format that is known ({0}); say which one it is with `--as`, or see \
         `trammel import --help`"
    )]
    Unknown(String),
    /// It cannot be read.
    #[error("at byte {at}: {why}")]
    Io {
        /// Bytes that were read before.
        at: u64,
        /// What the system or the decompressor says.
        why: std::io::Error,
    },
    /// It is larger than what is read.
    #[error("it has more than {most} {what}, the most that is read; cut it into smaller files")]
    TooLarge {
        /// The bound.
        most: u64,
        /// Of what: `bytes`, `values`.
        what: &'static str,
    },
    /// It is damaged, or not what it should be.
    #[error("{place}: {what}; {help}")]
    Damaged {
        /// Where: a line, a byte, a path of keys.
        place: String,
        /// What is wrong.
        what: String,
        /// What to do.
        help: &'static str,
    },
    /// It is sound and holds nothing to show.
    #[error("{what}; {help}")]
    Nothing {
        /// What it lacks.
        what: String,
        /// What to do.
        help: &'static str,
    },
}

impl ImportError {
    pub(crate) fn damaged(
        place: impl Into<String>,
        what: impl Into<String>,
        help: &'static str,
    ) -> ImportError {
        ImportError::Damaged {
            place: place.into(),
            what: what.into(),
            help,
        }
    }

    pub(crate) fn nothing(what: impl Into<String>, help: &'static str) -> ImportError {
        ImportError::Nothing {
            what: what.into(),
            help,
        }
    }
}
