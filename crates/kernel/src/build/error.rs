//! Why there is no kernel, and who watches its build.

use sha2::{Digest, Sha256};
use std::io;
use std::path::{Path, PathBuf};

/// Whoever wants to know how a build goes on.
pub trait Watch {
    /// A part of the work begins.
    fn stage(&self, _what: &str) {}
    /// So many files are compiled, of so many about.
    fn compiled(&self, _files: u64, _of: u64) {}
    /// Whether to stop.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// Why there is no kernel.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The machine lacks something.
    #[error("{what}; {mend}")]
    Unsupported {
        /// What.
        what: String,
        /// What to do.
        mend: String,
    },
    /// The source is none that this can build.
    #[error("`{}`: {why}", .source_path.display())]
    Source {
        /// Where it is.
        source_path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A step of the build failed.
    #[error("the kernel's build failed at `{step}`:\n{said}\nthe whole log: {}", .log.display())]
    Step {
        /// The command.
        step: String,
        /// The lines that matter.
        said: String,
        /// All of it.
        log: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("`{}`: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The user has interrupted.
    #[error("interrupted; what is compiled is kept")]
    Interrupted,
}

/// The error of a file, for `map_err`.
pub(super) fn at(path: &Path) -> impl Fn(io::Error) -> Error {
    move |source| Error::File {
        path: path.to_owned(),
        source,
    }
}

/// The first digits of a text's hash.
pub(super) fn digest(text: &str) -> String {
    hexadecimal(&Sha256::digest(text)[..8])
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
