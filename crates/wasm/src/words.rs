//! The names that menus of a page offer.

use serde_json::{Value, json};
use trammel_scenario::registry::Family;

/// The names of the `variants` and queue `disciplines`, each with its `summary`, as a JSON object.
/// Names that need parameters or files are among them: a scenario that lacks those says so.
pub fn words() -> Value {
    let of = |family: Family| {
        let members = family.catalogue().members().into_iter();
        let members = members.map(|about| json!({ "name": about.name, "summary": about.summary }));
        members.collect::<Vec<_>>()
    };
    json!({
        "variants": of(Family::Variant),
        "disciplines": of(Family::Discipline),
    })
}
