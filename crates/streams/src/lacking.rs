//! What the kernel refuses, as an error of a command: what the machine lacks, and what would mend
//! it.

use anyhow::anyhow;
use trammel_ground::Unsupported;
use trammel_io::error::Error;

/// An error of the kernel: what it lacks, with what would mend it.
pub fn lacking(error: &Error) -> anyhow::Error {
    match error.mend() {
        Some(mend) if error.is_lack() => Unsupported::error(&error.to_string(), &mend),
        _ => anyhow!("{error}"),
    }
}
