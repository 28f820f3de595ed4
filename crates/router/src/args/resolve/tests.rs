//! Which argument is whose, and what is said of those that are nobody's.

use super::super::Kind;
use super::super::definitions::Definitions;
use super::super::kinds::{U8, UINT};
use super::*;
use crate::args::element_names::ElementNames;
use proptest::prelude::*;

const fn param(name: &'static str, need: Need, kind: Kind, default: &'static str) -> Param {
    Param {
        name,
        need,
        kind,
        default,
        help: "",
    }
}

const TABLE: &[Param] = &[
    param("COLOR", Need::Mandatory, U8, ""),
    param("LENGTH", Need::Positional, UINT, "64"),
    param("LABEL", Need::Positional, Kind::Text, ""),
    param("ACTIVE", Need::Keyword, Kind::Bool, "true"),
    param("HOST", Need::Repeated, Kind::Ip, ""),
];

fn resolve(conf: &str) -> Result<Args, String> {
    Args::resolve(TABLE, conf, &BuiltIn, None).map_err(|errors| errors.click())
}

fn errors(conf: &str) -> String {
    resolve(conf).expect_err("an error")
}

#[test]
fn places_come_in_the_order_of_the_table() {
    let args = resolve("7, 100, \"a b\", ACTIVE no").unwrap();
    assert_eq!(
        (args.uint("COLOR"), args.uint("LENGTH"), args.text("LABEL")),
        (7, 100, "a b")
    );
    assert!(!args.bool("ACTIVE"));
}

#[test]
fn a_parameter_with_a_place_may_be_given_by_keyword() {
    let args = resolve("LENGTH 9, COLOR 1").unwrap();
    assert_eq!((args.uint("COLOR"), args.opt_uint("LENGTH")), (1, Some(9)));
    let args = resolve("3, LABEL x, ACTIVE 0").unwrap();
    assert_eq!((args.uint("COLOR"), args.text("LABEL")), (3, "x"));
}

#[test]
fn what_is_not_given_has_its_default_or_nothing() {
    let args = resolve("3").unwrap();
    assert_eq!(
        (
            args.uint("LENGTH"),
            args.opt_uint("LENGTH"),
            args.text("LABEL")
        ),
        (64, None, "")
    );
    assert!(args.bool("ACTIVE") && !args.given("ACTIVE"));
    // An empty argument only keeps a place.
    assert_eq!(resolve("3, , l").unwrap().uint("LENGTH"), 64);
}

#[test]
fn the_last_of_several_counts_unless_all_do() {
    let args = resolve("COLOR 1, COLOR 2, HOST 1.1.1.1, HOST 2.2.2.2").unwrap();
    assert_eq!((args.uint("COLOR"), args.times("COLOR")), (2, 2));
    assert_eq!(args.all("HOST").len(), 2);
    assert_eq!(args.ip("HOST"), Ipv4Addr::new(2, 2, 2, 2));
    // One that is overruled is not even read.
    assert_eq!(resolve("COLOR 999, COLOR 2").unwrap().uint("COLOR"), 2);
}

#[test]
fn the_errors_are_clicks() {
    assert_eq!(errors(""), "COLOR: required argument missing\n");
    assert_eq!(errors("300"), "COLOR: out of range, bound 255\n");
    assert_eq!(errors("1, x"), "LENGTH: invalid number\n");
    assert_eq!(errors("1, BOGUS 2"), "BOGUS: unknown argument\n");
    assert_eq!(errors("1, 2, 3, 4, 5"), "too many arguments\n");
    assert_eq!(errors("1, ACTIVE maybe"), "ACTIVE: parse error\n");
}

#[test]
fn all_errors_are_told_at_once() {
    assert_eq!(
        errors("256, -1, , 4, BOGUS b, HOST x, HOST y"),
        "COLOR: out of range, bound 255\nLENGTH: invalid number\nHOST: parse error\n\
         HOST: parse error\n\
         BOGUS: unknown argument\ntoo many arguments\n"
    );
}

#[test]
fn a_mandatory_parameter_takes_what_looks_like_a_keyword() {
    let table = [param("TEXT", Need::Mandatory, Kind::Raw, "")];
    let args =
        |conf| Args::resolve(&table, conf, &BuiltIn, None).map(|a| a.text("TEXT").to_string());
    assert_eq!(args("two words"), Ok("two words".into()));
    assert_eq!(args("TEXT two words"), Ok("two words".into()));
    assert_eq!(errors("1, 2, two words"), "two: unknown argument\n");
}

#[test]
fn places_end_at_an_argument_taken_by_keyword() {
    assert_eq!(errors("COLOR 1, 5"), "too many arguments\n");
    assert_eq!(errors("1, ACTIVE no, 5"), "too many arguments\n");
}

#[test]
fn the_rest_is_as_it_was_written() {
    let table = [
        param("N", Need::Mandatory, UINT, ""),
        param("ROUTES", Need::Rest, Kind::Raw, ""),
        param("DEBUG", Need::Keyword, Kind::Bool, ""),
    ];
    let args = Args::resolve(&table, "4, 10/8 0, DEBUG 1, to \"x, y\" 1", &BuiltIn, None).unwrap();
    assert_eq!(args.rest(), ["10/8 0", "to \"x, y\" 1"]);
    assert!(args.bool("DEBUG"));
}

#[test]
fn unknown_keywords_may_be_wanted() {
    let table = [
        param("N", Need::Positional, UINT, ""),
        param("SET", Need::KeywordRest, Kind::Raw, ""),
    ];
    let args = Args::resolve(&table, "4, a.b  1 2, C \"x\"", &BuiltIn, None).unwrap();
    let expected = [("a.b", "1 2"), ("C", "\"x\"")].map(|(k, v)| (k.to_string(), v.to_string()));
    assert_eq!(args.keyword_rest(), expected);
    let error = Args::resolve(&table, "4, 5", &BuiltIn, None).unwrap_err();
    assert_eq!(error.click(), "too many arguments\n");
}

#[test]
fn elements_are_found_by_name() {
    let table = [param("Q", Need::Mandatory, Kind::Element, "")];
    let elements = ElementNames::new(vec!["a/q".to_string()]);
    let book = Definitions::default();
    let names = book.within("a/x", &elements);
    assert_eq!(
        Args::resolve(&table, "q", &names, None)
            .unwrap()
            .element("Q"),
        Some(0)
    );
    let error = Args::resolve(&table, "p", &names, None).unwrap_err();
    assert_eq!(error.click(), "Q: does not name an element\n");
}

#[test]
fn a_wrong_table_is_found_out() {
    assert_eq!(check_table(TABLE), Vec::<String>::new());
    let wrong = [
        param("A", Need::Keyword, UINT, "x"),
        param("A", Need::Positional, UINT, ""),
        param("B C", Need::Keyword, UINT, ""),
    ];
    assert_eq!(
        check_table(&wrong),
        [
            "A: default: invalid number",
            "A: twice",
            "A: by place after parameters by keyword",
            "B C: not a keyword",
        ]
    );
}

proptest! {
    #[test]
    fn no_configuration_panics(conf in "([A-Z]{0,6} ?[0-9a-z.\"']{0,6}, ?){0,6}|\\PC{0,30}") {
        if let Ok(args) = resolve(&conf) {
            prop_assert!(args.uint("COLOR") <= 255);
        }
    }

    #[test]
    fn order_of_keywords_is_free(color: u8, length: u32, first: bool) {
        let (c, l) = (format!("COLOR {color}"), format!("LENGTH {length}"));
        let args = resolve(&if first { format!("{c}, {l}") } else { format!("{l}, {c}") }).unwrap();
        prop_assert_eq!(
            (args.uint("COLOR"), args.uint("LENGTH")),
            (u64::from(color), u64::from(length))
        );
    }
}
