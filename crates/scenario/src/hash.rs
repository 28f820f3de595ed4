//! A stable name for what a point computes: SHA-256 over the scenario with its defaults filled in.
//!
//! A sweep that is resumed keeps the points whose hash it finds. Layout, comments, title, question,
//! what is asked and the choice of engines do not change it; anything that can change a number
//! does, and so does the version of the tool, whose numbers may differ.

use super::model::Scenario;
use std::fmt::Debug;

/// The hash of `scenario`, as 64 hexadecimal digits.
pub fn of(scenario: &Scenario) -> String {
    let computed = Scenario {
        title: String::new(),
        question: None,
        answer: None,
        engines: Vec::new(),
        ..scenario.clone()
    };
    digest(&computed)
}

/// The hash of what is computed, by its derived form: that names every field, so a new one cannot
/// be left out by mistake.
pub fn digest(computed: &impl Debug) -> String {
    trammel_ground::sha256::of(format!(
        "trammel {} {computed:?}",
        env!("CARGO_PKG_VERSION")
    ))
}

#[cfg(test)]
mod tests {
    use crate::File;

    fn hash(text: &str) -> String {
        let file = File::parse("t", text, std::path::Path::new(".")).unwrap();
        file.points[0].hash.clone()
    }

    #[test]
    fn layout_and_spelt_out_defaults_do_not_matter_but_values_do() {
        let short = hash("[path]\nrate = '10 Mbit/s'\nrtt = '10 ms'\n[[flow]]\nvariant = 'reno'\n");
        let long = hash(
            "title = 'x' # a comment\nduration = '30 s'\n\
             [[flow]]\nsack = true\nvariant = 'reno'\n\
             [path]\nrtt = '0.01 s'\nrate = '10000 kbit/s'\nmtu = 1500\n",
        );
        let other = hash("[path]\nrate = '10 Mbit/s'\nrtt = '11 ms'\n[[flow]]\nvariant = 'reno'\n");
        assert_eq!(short, long);
        assert_ne!(short, other);
        assert_eq!(short.len(), 64);
    }
}
