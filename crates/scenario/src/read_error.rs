//! Why a file cannot be read as a scenario.

use crate::Subject;
use crate::diagnose::Problems;
use crate::tree::Node;

/// Why a scenario file cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("`{file}` cannot be read: {why}; {help}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        why: String,
        /// What to do.
        help: String,
    },
    /// The file has faults.
    #[error("{0}")]
    Faults(Box<Problems>),
    /// The file is of another subject than the one that is wanted.
    #[error(
        "`{file}`: subject `{subject}` is for `trammel {command}`; run `trammel {command} {file}`"
    )]
    Elsewhere {
        /// The file.
        file: String,
        /// The subject.
        subject: &'static str,
        /// The command.
        command: &'static str,
    },
}

impl ReadError {
    /// The error of a file that is of another subject than `wanted`.
    pub(crate) fn unless(wanted: Subject, file: &str, root: &Node) -> Result<(), ReadError> {
        let subject = Subject::of(root);
        if subject == wanted {
            return Ok(());
        }
        Err(ReadError::Elsewhere {
            file: file.to_owned(),
            subject: subject.name(),
            command: subject.command(),
        })
    }
}
