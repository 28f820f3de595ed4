//! Where in a source the arguments of an element stand.
//!
//! A flat configuration keeps the place of an element's name or class only; its arguments are
//! looked for from there when there is something to say about one of them.

use super::lexer::{Kind, Lexer};
use crate::args::text::placed_args;
use crate::diagnostic::{Landmark, Span};
use std::sync::Arc;

/// The places of the arguments of the element that is declared at `landmark`; nothing where it has
/// none there.
pub fn arguments(landmark: &Landmark) -> Option<Vec<Landmark>> {
    let span = landmark.span.as_ref()?;
    let source = &span.source;
    let file = Arc::clone(&landmark.file);
    let mut lexer = Lexer::from(Arc::clone(source), span.bytes.end, landmark.line, file);
    // `name :: Class(…)`, `name, other :: Class(…)`, or the class alone.
    loop {
        let token = lexer.next();
        match token.kind {
            Kind::Char('(') => break,
            Kind::Name | Kind::Colons | Kind::Char(',') => {}
            _ => return None,
        }
    }
    let opened = lexer.landmark();
    let from = opened.span.as_ref()?.bytes.end;
    lexer.config();
    let until = lexer.landmark().span?.bytes.end;
    let text = source.get(from..until)?;
    let mut places = Vec::new();
    let (mut counted, mut line) = (0, opened.line);
    for (_, place) in placed_args(text) {
        line += newlines(&text[counted..place.start]);
        counted = place.start;
        places.push(Landmark {
            file: Arc::clone(&opened.file),
            line,
            span: Some(Span {
                source: Arc::clone(source),
                bytes: from + place.start..from + place.end,
            }),
        });
    }
    Some(places)
}

/// The ends of lines in `text`, `\r\n` being one.
fn newlines(text: &str) -> u32 {
    let bytes = text.as_bytes();
    let ends = (0..bytes.len()).filter(|at| match bytes[*at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    });
    ends.count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang;
    use crate::load::BuiltIn;
    use crate::load::testing::refusal;

    /// The arguments of the first element, as they stand in the source, each with its line.
    fn found(text: &str) -> Vec<(String, u32)> {
        let options = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        let (flat, _) = lang::parse(text, "config", &options);
        let places = arguments(&flat.elements[0].landmark).unwrap_or_default();
        let text = |place: &Landmark| {
            let span = place.span.as_ref().expect("it has one");
            (span.source[span.bytes.clone()].to_owned(), place.line)
        };
        places.iter().map(text).collect()
    }

    #[test]
    fn arguments_are_found_however_the_element_is_declared() {
        let two = vec![("1".to_owned(), 1), ("B (2)".to_owned(), 1)];
        for text in [
            "x :: Foo( 1 , B (2));",
            "Foo(1, B (2)) -> Idle;",
            "x, y :: Foo(1,B (2));",
            "x :: /* (0) */ Foo // (9)\n(1, B (2))",
        ] {
            let mut expected = two.clone();
            let lines = u32::from(text.contains('\n'));
            for (_, line) in &mut expected {
                *line += lines;
            }
            assert_eq!(found(text), expected, "{text}");
        }
        assert_eq!(
            found("Foo(a,\r\n b\n c, d)"),
            [("a".into(), 1), ("b\n c".into(), 2), ("d".into(), 3)]
        );
        assert_eq!(found("Foo -> Bar(1)"), []);
        assert_eq!(
            found("elementclass C { input -> x :: Foo(7) -> output } C"),
            [("7".into(), 1)]
        );
    }

    #[test]
    fn the_argument_is_underlined_that_is_wrong() {
        let told = refusal("Idle\n -> x :: CheckIPHeader(14,\n   CHEKSUM true) -> Discard;");
        insta::assert_snapshot!(told, @r"
        error: While configuring 'x :: CheckIPHeader':
         --> config:2:5
          |
        2 |  -> x :: CheckIPHeader(14,
          |     ^
          error: CHEKSUM: unknown argument
           --> config:3:4
            |
          3 |    CHEKSUM true) -> Discard;
            |    ^^^^^^^^^^^^
            = help: did you mean CHECKSUM?
        error: Router could not be initialized!
        ");
    }

    #[test]
    fn a_rule_says_which_name_nobody_knows() {
        let told = refusal("Idle -> IPFilter(allow tcp, allow dst port nosuch) -> Discard");
        assert!(told.contains("= help: `nosuch` is no service"), "{told}");
    }

    #[test]
    fn every_kind_of_argument_is_underlined() {
        for (config, marked) in [
            ("Paint(COLOR 300)", "COLOR 300"),
            ("Print(a, b c d, 1, 2, 3)", "b c d"),
            ("SetIPAddress(eth7)", "eth7"),
            (
                "ARPResponder(1.0.0.1 1:1:1:1:1:1, 1.0.0.2 eth7)",
                "1.0.0.2 eth7",
            ),
            ("IPFilter(allow tcp, 1 prot)", "1 prot"),
            ("Classifier(-, 12/08zz)", "12/08zz"),
            ("StaticIPLookup(0/0 0, 1.0.0.0/8 what)", "1.0.0.0/8 what"),
            ("IPClassifier(tcp, dst port nosuch)", "dst port nosuch"),
        ] {
            let more = if config.contains("lassifier") {
                "; x [1] -> Discard"
            } else {
                ""
            };
            let text = format!("Idle -> x :: {config} -> Discard{more}");
            let told = refusal(&text);
            let at = text.find(marked).expect("it is there");
            let line = format!("{}{}\n", " ".repeat(at), "^".repeat(marked.chars().count()));
            assert!(told.contains(&line), "{config}:\n{told}");
        }
    }
}
