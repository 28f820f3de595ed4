//! Configurations whole: what they flatten to, and what is said about them.

use std::fmt::Write;

use proptest::prelude::*;

use super::*;
use crate::diagnostic::Landmark;

struct Known(&'static [&'static str]);

impl Classes for Known {
    fn knows(&self, class: &str) -> bool {
        self.0.contains(&class)
    }
}

const KNOWN: Known = Known(&["Idle", "Null", "Tee", "Print", "Queue"]);

/// Libraries that ask for each other and one that cannot be read.
struct Shelf;

impl Loader for Shelf {
    fn library(&self, name: &str, directory: &str) -> Option<Library> {
        let text = match name {
            "one" => Ok(format!(
                "require(library two) elementclass One {{ Idle }} // {directory}"
            )),
            "two" => Ok("require(library one); elementclass Two { t :: Idle }\nBad".to_owned()),
            "locked" => Err("locked: permission denied".to_owned()),
            _ => return None,
        };
        Some(Library {
            path: format!("lib/{name}"),
            text,
        })
    }

    fn package(&self, name: &str) -> Result<(), String> {
        if name == "good" {
            Ok(())
        } else {
            Err(format!("no '{name}'\nanywhere"))
        }
    }
}

fn options(definitions: &[(String, String)]) -> Options<'_> {
    Options {
        definitions,
        loader: &Shelf,
        classes: Some(&KNOWN),
        expand_definitions: false,
    }
}

/// What the router's handlers print of a configuration without errors.
fn router(text: &str) -> String {
    let (flat, diagnostics) = parse(text, "config", &options(&[]));
    assert!(!diagnostics.has_errors(), "{}", diagnostics.click());
    flatten::router(&flat)
}

/// The connections, a line each, of a configuration without errors.
fn links(text: &str) -> Vec<String> {
    let (flat, diagnostics) = parse(text, "config", &options(&[]));
    assert!(!diagnostics.has_errors(), "{}", diagnostics.click());
    let name = |port: &Port| flat.elements[port.element].name.clone();
    let link = |c: &Connection| {
        format!(
            "{} [{}] -> [{}] {}",
            name(&c.from),
            c.from.port,
            c.to.port,
            name(&c.to)
        )
    };
    flat.connections.iter().map(link).collect()
}

/// What is said about a configuration.
fn told(text: &str) -> String {
    parse(text, "config", &options(&[])).1.click()
}

fn elements(text: &str) -> Vec<String> {
    let (flat, diagnostics) = parse(text, "config", &options(&[]));
    assert!(!diagnostics.has_errors(), "{}", diagnostics.click());
    flat.elements
        .iter()
        .map(|e| format!("{} :: {}({})", e.name, e.class, e.config))
        .collect()
}

// Statements and elements.

#[test]
fn chains_are_printed_with_declarations_first() {
    let text = "require(compact_config); a :: Idle -> t :: Tee -> [2] b :: Idle [1]
        -> Queue(7) -> Null(3) -> [1] b -> [0] b; t[1] -> Print(x) -> [3] b";
    insta::assert_snapshot!(router(text), @r"
    require(compact_config);

    a :: Idle;
    t :: Tee;
    b :: Idle;
    Queue@4 :: Queue(7);
    Null@5 :: Null(3);
    Print@6 :: Print(x);

    a -> t
        -> [2] b;
    b -> b;
    b [1] -> Queue@4
        -> Null@5
        -> [1] b;
    t [1] -> Print@6
        -> [3] b;
    ");
}

#[test]
fn a_declaration_of_many_gives_class_and_configuration_to_all() {
    assert_eq!(
        elements("a, b, c :: Null(7)"),
        ["a :: Null(7)", "b :: Null(7)", "c :: Null(7)"]
    );
    let told = told("a, b :: Null -> Idle");
    assert_eq!(told, "config:1: undeclared element 'a'\n");
}

#[test]
fn semicolons_are_mostly_optional() {
    assert_eq!(elements("a :: Idle b :: Null a -> b ;; Tee;").len(), 3);
}

#[test]
fn anonymous_elements_are_numbered_by_position_and_step_aside() {
    let names = elements("Idle; Idle@3 :: Null; Idle; Idle@4 :: Null");
    assert_eq!(
        names,
        [
            "Idle@1 :: Idle()",
            "Idle@3 :: Null()",
            "Idle@5 :: Idle()",
            "Idle@4 :: Null()"
        ]
    );
}

#[test]
fn names_already_taken_are_told_with_both_places() {
    assert_eq!(
        told("a :: Idle;\n\na :: Null;\n1/x, y/23 :: Idle; Idle :: Null"),
        "config:3: redeclaration of element 'a'\n\
         config:1: element 'a' previously declared here\n\
         config:4: element name '1/x' has all-digit component\n\
         config:4: element name 'y/23' has all-digit component\n\
         config:4: class 'Idle' used as element name\n"
    );
}

#[test]
fn unknown_names_are_elements_or_classes_by_their_place() {
    assert_eq!(
        told("Fo -> Idle;\nx :: Bar -> y :: Bar;\nx(3)"),
        "config:1: undeclared element 'Fo'\n\
         config:2: unknown element class 'Bar'\n\
         config:3: configuration string ignored on element reference\n"
    );
}

#[test]
fn syntax_errors_name_the_token_and_reading_goes_on() {
    assert_eq!(
        told("-> Idle; a :: ; Idle -> ; ) | Idle :: Idle, \n:: provide $x ="),
        "config:1: syntax error near '->'\n\
         config:1: missing element type in declaration\n\
         config:1: unknown element class 'a'\n\
         config:1: syntax error near ';'\n\
         config:1: syntax error near ')'\n\
         config:1: syntax error near '|'\n\
         config:1: class 'Idle' used as element name\n\
         config:2: syntax error near 'provide'\n\
         config:2: syntax error near 'x'\n\
         config:2: syntax error near '='\n"
    );
    assert_eq!(told("Idle(a"), "config:1: expected ')'\n");
    assert_eq!(
        told("# what\nIdle"),
        "config:1: unknown preprocessor directive\n"
    );
}

// Ports and connections.

#[test]
fn port_lists_ranges_and_wide_arrows() {
    assert_eq!(
        links("a, b :: Tee; a [0-1, 3] => [2,1,0] b"),
        ["a [3] -> [0] b", "a [1] -> [1] b", "a [0] -> [2] b"]
    );
    assert_eq!(
        links("a, b :: Tee; a => b, [1-2] b, a"),
        [
            "a [3] -> [0] a",
            "a [0] -> [0] b",
            "a [1] -> [1] b",
            "a [2] -> [2] b"
        ]
    );
    assert_eq!(
        links("a, b :: Tee; a, a[1] -> b; a [] => [3, 1] b"),
        [
            "a [0] -> [0] b",
            "a [1] -> [0] b",
            "a [1] -> [1] b",
            "a [0] -> [3] b"
        ]
    );
}

#[test]
fn the_same_connection_twice_is_once() {
    assert_eq!(links("a, b :: Tee; a -> b; a -> b").len(), 1);
}

#[test]
fn bad_ports_are_told() {
    assert_eq!(
        told("a :: Idle; [1] a -> a [2]; a [x] -> [1 2] a; a [,] a; a [0-99999999] -> a"),
        "config:1: input ports ignored at start of chain\n\
         config:1: output ports ignored at end of chain\n\
         config:1: syntax error: port number should be integer\n\
         config:1: syntax error: expected ','\n\
         config:1: syntax error: expected port number\n\
         config:1: port number out of range, bound 65535\n"
    );
}

// Groups.

#[test]
fn groups_connect_what_is_around_them() {
    assert_eq!(
        links("a, b, c :: Tee; a => (-> b), (-> [1] c); c -> (->) -> b"),
        ["a [0] -> [0] b", "c [0] -> [0] b", "a [1] -> [1] c"]
    );
}

#[test]
fn groups_use_ports_without_gaps_and_close() {
    let told = told("Idle -> (input [1] -> Idle);\nIdle -> ( -> Idle");
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], "config:1: '<anonymous group>' input 0 missing");
    assert!(lines.contains(&"config:2: expected ')'"), "{told}");
}

// Compounds.

#[test]
fn parts_of_compounds_come_after_all_that_is_around_them() {
    let text = "elementclass In { input -> i :: Null -> output }
        elementclass Out { -> In -> o :: Null -> In -> }
        Idle -> x :: Out -> { -> Null -> } -> Idle";
    insta::assert_snapshot!(router(text), @r"
    Idle@1 :: Idle;
    Idle@4 :: Idle;
    x/o :: Null;
    x/In@1/i :: Null;
    x/In@3/i :: Null;
    @3/Null@1 :: Null;

    Idle@1 -> x/In@1/i
        -> x/o
        -> x/In@3/i
        -> @3/Null@1
        -> Idle@4;
    ");
}

#[test]
fn the_first_version_that_fits_is_taken_and_others_extended() {
    let text = "elementclass Null { input -> Print(one) -> output || input[0,1] -> Idle || ... }
        Idle -> a :: Null -> Idle; Idle => [0,1] b :: Null; c :: Null";
    let all = elements(text);
    assert!(
        all.contains(&"a/Print@1 :: Print(one)".to_owned()),
        "{all:?}"
    );
    assert!(all.contains(&"b/Idle@1 :: Idle()".to_owned()), "{all:?}");
    assert!(all.contains(&"c :: Null()".to_owned()), "{all:?}");
}

#[test]
fn arguments_go_to_positions_keywords_and_the_rest() {
    let text = "elementclass A { $p, KEY $k, __REST__ $r | Print($k, $p, $r) }
        A(1, X 2, KEY \"a b\", 3)";
    assert_eq!(elements(text), ["A@1/Print@1 :: Print(\"a b\", 1, X 2, 3)"]);
}

#[test]
fn no_version_that_fits_is_told_with_all_of_them() {
    let text = "elementclass A { $a, K $k | input -> Idle\n|| $a, __REST__ $r | Idle -> output }
\nIdle -> A -> Idle\n";
    assert_eq!(
        told(text),
        "config:5: no match for 'A[1 input, 1 output]'\n\
         config:1: candidates are:\n\
         config:1:   A(<arg>, K)[1 input, 0 outputs]\n\
         config:2:   A(<arg>, ...)[0 inputs, 1 output]\n"
    );
}

#[test]
fn a_class_does_not_see_itself() {
    assert_eq!(
        told("elementclass Loop { input -> Loop -> output }"),
        "config:1: undeclared element 'Loop'\n"
    );
    assert_eq!(
        told("elementclass X { ... }").lines().next(),
        Some("config:1: cannot extend unknown element class 'X'")
    );
}

#[test]
fn parameters_are_checked() {
    assert_eq!(
        told(
            "elementclass A { $a, K $k, K $l, $m, $a | Idle }\nelementclass B { $a, } { $b Idle }"
        ),
        "config:1: repeated keyword parameter 'K' in compound element\n\
         config:1: compound element parameters out of order\n\
         config:1: (The correct order is '[positional], [keywords], [__REST__]'.)\n\
         config:1: parameter '$a' multiply defined\n\
         config:2: expected variable\n\
         config:2: expected ',' or '|'\n\
         config:2: no match for '<anonymous>[0 inputs, 0 outputs]'\n\
         config:2: candidates are:\n\
         config:2:   <anonymous>(<arg>)[0 inputs, 0 outputs]\n"
    );
}

#[test]
fn pseudoelements_have_one_direction_and_no_gaps() {
    assert_eq!(
        told("elementclass A { Idle -> input; output -> Idle; Idle -> [1] output }"),
        "config:1: 'A' pseudoelement 'input' may only be used as output\n\
         config:1: 'A' pseudoelement 'output' may only be used as input\n\
         config:1: 'A' output 0 missing\n"
    );
}

#[test]
fn ports_that_a_compound_lacks_or_leaves_are_told() {
    let text = "a :: { input -> Idle; Idle -> output };\nIdle -> a";
    assert_eq!(told(text), "config:1: 'a' output 0 unused\n");
    let text = "a :: { Idle };\nIdle -> a -> Idle";
    assert_eq!(
        told(text),
        "config:1: 'a' has no input 0\nconfig:1: 'a' has no output 0\n"
    );
}

#[test]
fn a_chain_that_begins_with_an_arrow_is_suspect_after_another() {
    let text = "Idle -> { -> Null -> Null; -> Null -> } -> Idle";
    assert_eq!(
        told(text).lines().next(),
        Some("config:1: warning: suggest 'input ->' or '[0] ->' to start connection")
    );
}

#[test]
fn synonyms_are_the_class_under_another_name() {
    let text =
        "elementclass Nil Idle; elementclass C { $v | Print($v) } elementclass D C; Nil; D(4)";
    assert_eq!(
        elements(text),
        ["Nil@1 :: Idle()", "D@2/Print@1 :: Print(4)"]
    );
    assert_eq!(
        told("elementclass A ;\nelementclass { Idle }\nelementclass B Nowhere"),
        "config:1: syntax error near ';'\n\
         config:2: expected element type name\n\
         config:3: unknown element class 'Nowhere'\n"
    );
}

// Variables.

#[test]
fn a_variable_is_that_of_where_the_class_was_written() {
    let text = "define($v out, $w ${v}side)
        elementclass A { $v | elementclass B { $w | Print($v $w ${x-none}) } B(in) }
        A(deep); Print('$v', \"$w\")";
    assert_eq!(
        elements(text),
        [
            "Print@2 :: Print('$v', \"outside\")",
            "A@1/B@1/Print@1 :: Print(deep in none)"
        ]
    );
}

#[test]
fn the_command_line_redefines_global_variables_only() {
    let definitions = [
        ("v".to_owned(), "cmd".to_owned()),
        ("n".to_owned(), "new".to_owned()),
    ];
    let text = "define($v file); elementclass A { define($v own); Print($v $n) } A; Print($v)";
    let (flat, _) = parse(text, "f", &options(&definitions));
    let configs: Vec<&str> = flat.elements.iter().map(|e| e.config.as_str()).collect();
    assert_eq!(configs, ["cmd", "own new"]);
}

#[test]
fn definitions_are_checked() {
    assert_eq!(
        told("define($x 1, y 2, $ 3, $x 4,, $z); define;"),
        "config:1: bad 'define' declaration: not a variable\n\
         config:1: bad 'define' declaration: not a variable\n\
         config:1: parameter '$x' multiply defined\n\
         config:1: expected '('\n"
    );
}

#[test]
fn values_that_hold_themselves_end() {
    assert!(elements("define($a $a$a, $b $c, $c $b); Print($a $b)").len() == 1);
    let told = told(
        "define($a $b$b$b$b$b$b$b$b$b$b, $b $c$c$c$c$c$c$c$c$c$c, $c $d$d$d$d$d$d$d$d$d$d, \
         $d $e$e$e$e$e$e$e$e$e$e, $e $f$f$f$f$f$f$f$f$f$f, $f $g$g$g$g$g$g$g$g$g$g, \
         $g $h$h$h$h$h$h$h$h$h$h, \
         $h $i$i$i$i$i$i$i$i$i$i, $i $a$a$a$a$a$a$a$a$a$a); Print($a)",
    );
    assert!(told.contains("variables expand to too much text"), "{told}");
}

// Requirements, archives, landmarks.

#[test]
fn libraries_are_read_once_and_their_errors_are_theirs() {
    let text = "require(library one, library two, library none, library locked)\n\
        { require(library one) }; Two";
    assert_eq!(
        told(text),
        "lib/two:2: undeclared element 'Bad'\n\
         config:1: library 'none' not found in CLICKPATH/conf\n\
         config:1: locked: permission denied\n\
         config:2: 'require library' must be used at file scope\n"
    );
}

#[test]
fn packages_are_loaded_or_told() {
    let text = "require(good, package \"good\", compact_config); require(bad); require(a b c)";
    let (flat, diagnostics) = parse(text, "config", &options(&[]));
    assert_eq!(
        diagnostics.click(),
        "While loading package 'bad':\n  no 'bad'\n  anywhere\nrequirement 'bad' not available\n\
         config:1: syntax error at requirement\n"
    );
    assert!(flatten::router(&flat).starts_with(
        "require(package \"good\", package \"good\", compact_config, package \"bad\");\n\n"
    ));
}

#[test]
fn archives_hold_the_configuration() {
    let member = |name: &str| archive::Member {
        name: name.into(),
        data: b"Idle; Idle".to_vec(),
    };
    let bytes = archive::write(&[member("x.uo"), member("config")]);
    assert_eq!(parse_bytes(&bytes, "f", &options(&[])).0.elements.len(), 2);
    let without = parse_bytes(&archive::write(&[member("x")]), "f", &options(&[])).1;
    assert_eq!(without.click(), "f: archive has no 'config' section\n");
    let broken = parse_bytes(b"!Idle", "f", &options(&[])).1;
    assert_eq!(
        broken.click(),
        "not an archive\nf: archive has no 'config' section\n"
    );
}

#[test]
fn landmarks_follow_the_preprocessor_into_configurations() {
    let text = "a :: Print(\n# 40 \"other\"\n x);\nb :: Idle; Unknown";
    let (flat, diagnostics) = parse(text, "main", &options(&[]));
    let places: Vec<String> = flat
        .elements
        .iter()
        .map(|e| e.landmark.to_string())
        .collect();
    assert_eq!(places[..2], ["main:1", "other:41"]);
    assert_eq!(
        diagnostics.click(),
        "other:41: undeclared element 'Unknown'\n"
    );
}

// The tools' dialect.

#[test]
fn tools_take_any_name_for_a_class_until_an_element_has_it() {
    let tool = |text: &str| {
        let (flat, diagnostics) = parse(text, "config", &Options::default());
        (flatten::tool(&flat), diagnostics.click())
    };
    let (text, told) = tool("define($x 1); Src(a $x) -> b :: { -> Work -> } -> Sink; require(p)");
    assert_eq!(told, "");
    insta::assert_snapshot!(text, @r#"
    require(package "p");

    define($x 1);

    # 1 "config"
    Src@1 :: Src(a $x);
    # 1 "config"
    Sink@3 :: Sink;
    # 1 "config"
    b/Work@1 :: Work;
    # 12 ""
    Src@1 -> b/Work@1
        -> Sink@3;
    "#);
    let (_, told) = tool("elementclass F {\n A -> B;\n}\nA :: Idle;");
    assert_eq!(told, "config:4: class 'A' used as element name\n");
    assert_eq!(tool("->Null;").1, "config:1: syntax error near '->'\n");
}

// What no machine could hold.

#[test]
fn deep_nesting_is_refused() {
    for (open, word) in [
        ("{", "compound element"),
        ("(", "element group"),
        ("a :: {", "compound element"),
    ] {
        let told = told(&open.repeat(100_000));
        let expected = format!("config:1: maximum {word} nesting depth exceeded\n");
        assert!(told.contains(&expected), "{told}");
    }
}

#[test]
fn classes_that_double_are_refused() {
    let mut text = "elementclass A0 { Idle }".to_owned();
    for level in 1..40 {
        write!(text, "elementclass A{level} {{ A{0}; A{0} }}", level - 1).unwrap();
    }
    assert_eq!(told(&(text + "A39")), "config:1: too many elements\n");
}

#[test]
fn long_chains_of_compounds_need_no_stack() {
    let mut text = "elementclass P { -> } Idle".to_owned();
    text += &" -> P".repeat(20_000);
    text += " -> Idle";
    assert_eq!(links(&text), ["Idle@1 [0] -> [0] Idle@20002"]);
    let mut text = "elementclass A0 { Idle }".to_owned();
    for level in 1..1000 {
        write!(text, "elementclass A{level} {{ A{} }}", level - 1).unwrap();
    }
    let told = told(&(text + "A999"));
    assert_eq!(
        told,
        "config:1: maximum compound element nesting depth exceeded\n"
    );
}

#[test]
fn fans_of_compounds_are_bounded() {
    let mut text =
        "elementclass F { input => output, [1] output, [2] output } f0 :: Idle".to_owned();
    for level in 1..30 {
        write!(
            text,
            ";f{level} :: {{ input -> Tee => (->), (->) -> output }}; f{} -> f{level}",
            level - 1
        )
        .unwrap();
    }
    parse(&text, "config", &options(&[]));
}

// Any text at all.

/// Bits of configurations, so that random texts get beyond their first error.
fn bits() -> impl Strategy<Value = String> {
    let bit = prop::sample::select(vec![
        "a",
        "b",
        "Idle",
        "Null",
        "A",
        "input",
        "output",
        "->",
        "=>",
        "::",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "[0]",
        "[1,2]",
        "[0-2]",
        ",",
        ";",
        "|",
        "||",
        "...",
        "$a",
        "$b",
        "$",
        "'",
        "\"",
        "\\<4",
        "//",
        "/*",
        "*/",
        "\n",
        "# 3 \"f\"\n",
        "elementclass A {",
        "elementclass A A",
        "define($a ",
        "require(",
        "library two",
        "a :: Idle;",
        "(x $a)",
        "(${a-$b})",
        "-> Null ->",
        "__REST__ $b |",
        "é",
        "0",
        "9",
    ]);
    prop::collection::vec(bit, 0..60).prop_map(|bits| bits.join(" "))
}

/// Configurations that mostly hold together.
fn sound() -> impl Strategy<Value = String> {
    let link = prop::sample::select(vec![
        "a -> b;",
        "b [1] -> c;",
        "a => [0-2] c;",
        "c -> (-> Null ->) -> a;",
        "Pass(1) ;",
        "a -> Pass(\"x, y\") -> [3] b;",
        "b -> { -> Idle -> Null(k) -> } -> c;",
        "c, b -> a;",
        "a => [0,1] Two(a b) -> a;",
        "Print($v, '$v');",
        "# 7 \"g\"\n",
        "Null => c, b, [1]a;",
    ]);
    prop::collection::vec(link, 0..8).prop_map(|links| {
        let head = "define($v 1); a, b, c :: Tee;
            elementclass Pass { $p | input -> Print($p $v) -> output || $p | Idle }
            elementclass Two { $q | input [0,1] -> n :: Null -> output }\n";
        head.to_owned() + &links.join("\n")
    })
}

fn without_landmarks(mut flat: Flat) -> Flat {
    let nowhere = Landmark {
        file: "".into(),
        line: 0,
        span: None,
    };
    flat.elements
        .iter_mut()
        .for_each(|element| element.landmark = nowhere.clone());
    flat.connections
        .iter_mut()
        .for_each(|connection| connection.landmark = nowhere.clone());
    flat
}

proptest! {
    #[test]
    fn no_text_panics(text in prop_oneof![bits(), any::<String>()]) {
        for classes in [None, Some(&KNOWN as &dyn Classes)] {
            let options = Options { loader: &Shelf, classes, ..Options::default() };
            let (flat, diagnostics) = parse(&text, "f", &options);
            diagnostics.click();
            crate::diagnostic::render(&diagnostics);
            flatten::router(&flat);
            flatten::tool(&flat);
        }
    }

    #[test]
    fn no_bytes_panic(bytes in any::<Vec<u8>>(), in_archive in any::<bool>()) {
        let head: &[u8] = if in_archive { archive::MAGIC } else { b"" };
        parse_bytes(&[head, &bytes[..]].concat(), "f", &options(&[]));
    }

    #[test]
    fn what_is_printed_reads_as_the_same(text in sound()) {
        let (flat, diagnostics) = parse(&text, "f", &options(&[]));
        prop_assert!(!diagnostics.has_errors(), "{}\n{}", text, diagnostics.click());
        let printed = flatten::router(&flat);
        let (again, diagnostics) = parse(&printed, "f", &options(&[]));
        prop_assert!(!diagnostics.has_errors(), "{}\n{}", printed, diagnostics.click());
        prop_assert_eq!(without_landmarks(again), without_landmarks(flat));
    }
}
