//! What a guest cannot express, as a fault at its key.

use trammel_scenario::check::Fault;

/// What a guest cannot express.
pub(super) fn refused(place: &str, what: &str, why: &str) -> Fault {
    Fault {
        place: place.to_owned(),
        what: what.to_owned(),
        why: why.to_owned(),
        help: "leave it out, or leave out engine `measure`".to_owned(),
    }
}
