//! What the commands of a card say when it cannot do what is asked.

use trammel_card::Error;
use trammel_card::mirror::Left;
use trammel_ground::Unsupported;

/// A card's error with its exit code.
pub(super) fn refused(error: Error) -> anyhow::Error {
    match &error {
        Error::Lack { what, mend } => match mend {
            Some(mend) => Unsupported::error(what, mend),
            None => {
                Unsupported::error(what, "`trammel netfpga run --help` tells what a card needs")
            }
        },
        _ => error.into(),
    }
}

/// What is said of tables that are too small.
pub(super) fn no_room(left: Left) -> String {
    format!(
        "no room in the tables for {} routes, {} neighbours and {} addresses: their packets go to \
         the kernel",
        left.routes, left.neighbours, left.addresses
    )
}
