//! One imported file.

use trammel_formats::Imported;

/// A file that was imported, as a point of the folder.
pub(super) struct Point {
    /// The name of its point.
    pub(super) name: String,
    /// The file as it was given.
    pub(super) file: String,
    pub(super) imported: Imported,
}
