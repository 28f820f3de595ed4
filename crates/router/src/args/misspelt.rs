//! Keywords that a class does not have: what was meant, and what is wrong besides.
//!
//! An argument with a keyword that nobody knows is taken for one without a keyword, and then pushes
//! the others out of their places: each of them would be called wrong. So where a configuration is
//! refused, such arguments are told first, and only what is wrong without them is told besides.

use super::names::Names;
use super::resolve::{Args, Waiting};
use super::{Need, Param};
use crate::diagnostic::{About, Diagnostics};

/// An argument with a keyword that the class does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misspelt<'a> {
    /// Its place among the arguments.
    pub place: usize,
    /// The keyword.
    pub keyword: &'a str,
    /// The keyword that was meant.
    pub meant: Option<&'static str>,
}

/// The arguments among `given` whose keyword no parameter has: those that are near to one of a
/// parameter, and, where every argument must be a parameter's, all that look like a keyword.
pub(crate) fn misspelt<'a>(params: &[Param], given: &'a [String]) -> Vec<Misspelt<'a>> {
    let is_rest = |param: &&Param| matches!(param.need, Need::Rest | Need::KeywordRest);
    if params.iter().any(|param| param.need == Need::KeywordRest) {
        return Vec::new();
    }
    let takes_all = params.iter().any(|param| is_rest(&param));
    let names: Vec<&'static str> = params
        .iter()
        .filter(|param| !is_rest(param))
        .map(|param| param.name)
        .collect();
    let of = |(place, text): (usize, &'a String)| {
        let keyword = Waiting::new(text).keyword();
        if keyword.is_empty() || names.contains(&keyword) {
            return None;
        }
        let meant = nearest(keyword, &names);
        let is_loud = keyword.len() > 1 && keyword.bytes().all(|b| !b.is_ascii_lowercase());
        (meant.is_some() || (is_loud && !takes_all)).then_some(Misspelt {
            place,
            keyword,
            meant,
        })
    };
    given.iter().enumerate().filter_map(of).collect()
}

/// The name that differs from `keyword` in few letters, whatever their case.
fn nearest(keyword: &str, names: &[&'static str]) -> Option<&'static str> {
    let upper = keyword.to_ascii_uppercase();
    let scored = names
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&upper, name), *name));
    let (distance, name) = scored.min()?;
    let allowed = upper.len().min(name.len()) / 3;
    (distance <= allowed.min(3)).then_some(name)
}

/// What to say of arguments that were refused for `reasons`.
pub(crate) fn explained(
    params: &[Param],
    given: &[String],
    names: &dyn Names,
    reasons: Diagnostics,
) -> Diagnostics {
    let wrong = misspelt(params, given);
    if wrong.is_empty() {
        return reasons;
    }
    let mut said = Diagnostics::new();
    for one in &wrong {
        let help = match one.meant {
            Some(meant) => Some(format!("did you mean {meant}?")),
            None => known(params),
        };
        let text = format!("{}: unknown argument", one.keyword);
        said.error_about(About::Argument(one.place), text, help);
    }
    // As if it had been written right: an argument left out would put others into its place.
    let (mut places, mut mended) = (Vec::new(), Vec::new());
    for (place, text) in given.iter().enumerate() {
        let text = match wrong.iter().find(|one| one.place == place) {
            None => text.clone(),
            Some(Misspelt {
                keyword,
                meant: Some(meant),
                ..
            }) => format!("{meant}{}", &text[keyword.len()..]),
            Some(_) => continue,
        };
        places.push(place);
        mended.push(text);
    }
    if let Err(more) = Args::resolve_list(params, &mended, names, None) {
        for mut one in more {
            if let Some(About::Argument(at)) = one.about {
                one.about = Some(About::Argument(places[at]));
            }
            said.push(one);
        }
    }
    said
}

/// The keywords that there are.
fn known(params: &[Param]) -> Option<String> {
    let names: Vec<&str> = params
        .iter()
        .filter(|param| !matches!(param.need, Need::Rest | Need::KeywordRest))
        .map(|param| param.name)
        .collect();
    (!names.is_empty()).then(|| format!("the keywords are {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements;
    use crate::load::testing::errors;

    #[test]
    fn only_the_misspelt_keyword_is_told() {
        for (config, said) in [
            (
                "CheckIPHeader(14, CHEKSUM true)",
                "CHEKSUM: unknown argument",
            ),
            (
                "CheckIPHeader(CHEKSUM true, 14)",
                "CHEKSUM: unknown argument",
            ),
            (
                "CheckIPHeader(14, checksum true)",
                "checksum: unknown argument",
            ),
            ("Queue(CAPACTY 10)", "CAPACTY: unknown argument"),
            ("Paint(COLOUR 3)", "COLOUR: unknown argument"),
            (
                "EtherEncap(0x800, SRCC 1:1:1:1:1:1, DST 2:2:2:2:2:2)",
                "SRCC: unknown argument",
            ),
        ] {
            let class = config.split('(').next().expect("a class");
            let expected = format!(
                "config:1: While configuring 'x :: {class}':\nconfig:1:   {said}\n\
                 Router could not be initialized!\n"
            );
            let told = errors(&format!("Idle -> x :: {config} -> Discard"));
            assert_eq!(
                told.replace("config:1:   ", "  "),
                expected.replace("config:1:   ", "  ")
            );
        }
    }

    #[test]
    fn what_is_wrong_besides_is_told_too() {
        let told = errors("Idle -> x :: Queue(CAPACTY 10, 1, 2, 3) -> Discard");
        assert!(told.contains("CAPACTY: unknown argument\n"), "{told}");
        assert!(told.contains("too many arguments\n"), "{told}");
    }

    #[test]
    fn arguments_of_a_form_of_their_own_are_no_keywords() {
        let params = elements::find("IPFilter").expect("it is a class").params;
        assert_eq!(misspelt(params, &["ALLOW tcp".to_owned()]), []);
        let params = elements::find("CheckIPHeader")
            .expect("it is a class")
            .params;
        assert_eq!(misspelt(params, &["10.0.0.1 10.0.0.2".to_owned()]), []);
    }

    /// Every keyword of every class, with two letters exchanged, is told as unknown with the right
    /// one proposed, and underlined.
    #[test]
    fn every_class_proposes_the_keyword_that_was_meant() {
        for entry in elements::all() {
            let names: Vec<&str> = entry.params.iter().map(|param| param.name).collect();
            for param in entry.params {
                let name = param.name;
                if matches!(param.need, Need::Rest | Need::KeywordRest) || name.len() < 4 {
                    continue;
                }
                let mut letters: Vec<char> = name.chars().collect();
                letters.swap(1, 2);
                let wrong: String = letters.into_iter().collect();
                let has_all = entry.params.iter().any(|p| p.need == Need::KeywordRest);
                if names.contains(&wrong.as_str()) || has_all {
                    continue;
                }
                let given = [format!("{wrong} 1")];
                let found = misspelt(entry.params, &given);
                let meant: Vec<_> = found.iter().map(|one| one.meant).collect();
                assert_eq!(meant, [Some(name)], "{}({wrong} 1)", entry.about.name);
            }
        }
    }
}
