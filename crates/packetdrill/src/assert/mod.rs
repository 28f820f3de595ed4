//! Assertions: what stands between `%{` and `}%`.
//!
//! The original hands these lines to Python. What scripts use of it is small: assertions over the
//! fields of `tcp_info`, variables, prints. That part is read here; whatever goes beyond it is
//! refused by name.
//!
//! | statement | meaning |
//! | --- | --- |
//! | `assert CONDITION` or `assert CONDITION, MESSAGE` | must hold |
//! | `NAME = EXPRESSION`, `+=`, `-=` | a variable, kept for the blocks that follow |
//! | `print(EXPRESSION)` | a line of the trace |

mod evaluate;
mod expression;
mod token;

pub(crate) use evaluate::{Fault, Variables};

use crate::script::{Place, ReadError};
use expression::Expression;
use token::{Token, tokens};

/// Words of one statement at most: an expression of so many is evaluated without exhausting a
/// stack.
const MOST_TOKENS: usize = 500;

/// A statement of a block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    /// Where it begins.
    pub(crate) place: Place,
    /// What it demands, as it was written.
    pub(crate) text: String,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Assert(Expression),
    Assign(String, Expression),
    Print(Expression),
}

/// Reads a block that begins at `place`.
///
/// # Errors
/// [`ReadError::Malformed`] where it is no Python that scripts use; [`ReadError::OutOfScope`] for
/// its keywords.
pub(crate) fn read(text: &str, place: Place) -> Result<Vec<Statement>, ReadError> {
    let mut statements = Vec::new();
    for (line, text) in lines(text) {
        let place = Place {
            line: place.line + line,
            column: if line == 0 { place.column } else { 1 },
        };
        let malformed = |what: String| ReadError::Malformed { place, what };
        let tokens = tokens(&text).map_err(malformed)?;
        if tokens.len() > MOST_TOKENS {
            let what = format!("a statement of more than {MOST_TOKENS} words; part it");
            return Err(malformed(what));
        }
        statements.push(Statement {
            place,
            kind: kind(&tokens, place)?,
            text: text.trim().to_owned(),
        });
    }
    Ok(statements)
}

/// The statements of a block with the number of the line on which each begins: comments go, a
/// backslash joins lines, a semicolon parts statements.
fn lines(text: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    let (mut begin, mut line) = (0, 0);
    let mut statement = String::new();
    let mut quote: Option<char> = None;
    let mut is_comment = false;
    let mut characters = text.chars().peekable();
    let mut end = |statement: &mut String, begin: u32| {
        let whole = std::mem::take(statement);
        if !whole.trim().is_empty() {
            found.push((begin, whole));
        }
    };
    while let Some(c) = characters.next() {
        if statement.trim().is_empty() {
            begin = line;
        }
        line += u32::from(c == '\n');
        match c {
            '\\' if characters.peek() == Some(&'\n') => {
                characters.next();
                line += 1;
                statement.push(' ');
            }
            '\n' => {
                is_comment = false;
                quote = None;
                end(&mut statement, begin);
            }
            _ if is_comment => {}
            ';' if quote.is_none() => end(&mut statement, begin),
            '#' if quote.is_none() => is_comment = true,
            _ => {
                if quote == Some(c) {
                    quote = None;
                } else if quote.is_none() && (c == '\'' || c == '"') {
                    quote = Some(c);
                }
                statement.push(c);
            }
        }
    }
    end(&mut statement, begin);
    found
}

/// Words that begin what is no statement here.
const KEYWORDS: &[&str] = &[
    "import", "from", "def", "if", "for", "while", "class", "try", "with", "return", "global",
];

fn kind(tokens: &[Token], place: Place) -> Result<Kind, ReadError> {
    let malformed = |what: String| ReadError::Malformed { place, what };
    let (first, rest) = match tokens {
        [Token::Name(first), rest @ ..] => (first.as_str(), rest),
        _ => return Err(malformed("expected `assert`, `print` or a variable".into())),
    };
    if KEYWORDS.contains(&first) {
        let what = format!("`{first}` in an assertion");
        return Err(ReadError::OutOfScope { place, what });
    }
    let read = |tokens: &[Token]| expression::read(tokens).map_err(malformed);
    if first == "assert" {
        let (condition, rest) = expression::prefix(rest).map_err(malformed)?;
        match rest {
            [] => {}
            // The values of the names in the condition say more than any message.
            [Token::Sign(","), message @ ..] => drop(read(message)?),
            _ => {
                return Err(malformed(
                    "expected `,` or the end after the condition".into(),
                ));
            }
        }
        return Ok(Kind::Assert(condition));
    }
    if first == "print" {
        return Ok(Kind::Print(read(rest)?));
    }
    let name = || Box::new(Expression::Name(first.to_owned()));
    match rest {
        [Token::Sign("="), value @ ..] => Ok(Kind::Assign(first.to_owned(), read(value)?)),
        [Token::Sign(sign @ ("+=" | "-=")), value @ ..] => {
            let operator = if *sign == "+=" { "+" } else { "-" };
            let sum = Expression::Binary(name(), operator, Box::new(read(value)?));
            Ok(Kind::Assign(first.to_owned(), sum))
        }
        _ => Err(malformed(format!(
            "`{first}` is no statement that scripts use"
        ))),
    }
}

impl Statement {
    /// Carries the statement out; `lookup` knows the fields of `tcp_info` and its constants. A line
    /// to print comes back where there is one.
    ///
    /// # Errors
    /// [`Fault`]: it does not hold, or uses what is not known.
    pub(crate) fn run(
        &self,
        variables: &mut Variables,
        lookup: &dyn Fn(&str) -> Option<i64>,
    ) -> Result<Option<String>, Fault> {
        match &self.kind {
            Kind::Assert(condition) => {
                if evaluate::value(condition, variables, lookup)?.holds() {
                    return Ok(None);
                }
                let mut names = Vec::new();
                condition.names(&mut names);
                let mut values = String::new();
                for name in names {
                    let value = evaluate::name(name, variables, lookup)?;
                    if !values.is_empty() {
                        values.push_str(", ");
                    }
                    values.push_str(&format!("{name} = {value}"));
                }
                Err(Fault::Untrue(values))
            }
            Kind::Assign(name, expression) => {
                let value = evaluate::value(expression, variables, lookup)?;
                variables.insert(name.clone(), value);
                Ok(None)
            }
            Kind::Print(expression) => {
                let value = evaluate::value(expression, variables, lookup)?;
                Ok(Some(value.to_string()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Result<(), Fault> {
        let mut variables = Variables::new();
        let lookup = |name: &str| match name {
            "tcpi_snd_cwnd" => Some(10),
            "tcpi_rtt" => Some(-1),
            _ => None,
        };
        for statement in read(text, Place { line: 1, column: 1 }).unwrap() {
            statement.run(&mut variables, &lookup)?;
        }
        Ok(())
    }

    #[test]
    fn what_python_holds_for_true_holds() {
        for text in [
            "assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd",
            "assert 9 <= tcpi_snd_cwnd <= 10 and not tcpi_snd_cwnd != 10",
            "cwnd = 8; cwnd += 2\nassert cwnd == tcpi_snd_cwnd, 'cwnd=%d; %d' % (cwnd, 1)",
            "assert tcpi_snd_cwnd == 10 or nothing_known # never looked at",
            "assert 7 // 2 == 3 and -7 // 2 == -4 and -7 % 3 == 2 and 2 + 3 * 4 == 14",
            "assert 6 & 3 == 2 and 4 | 1 == 5 and 1 | 6 & 3 == 3",
            "assert (2 + 3) * 4 == 20 and abs(tcpi_rtt) == 1 and max(1, 5, 3) == 5",
            "assert 1 < 2 \\\n  < 3; print(tcpi_snd_cwnd)",
        ] {
            assert_eq!(run(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_does_not_hold_names_the_values() {
        let fault = run("assert 1 < tcpi_snd_cwnd < 5");
        assert_eq!(fault, Err(Fault::Untrue("tcpi_snd_cwnd = 10".into())));
        assert_eq!(
            run("assert tcpi_dance > 1"),
            Err(Fault::Unknown("tcpi_dance".into()))
        );
        assert!(matches!(run("assert 1 // 0"), Err(Fault::Wrong(_))));
        assert!(matches!(
            run("x = 9223372036854775807; x += 1"),
            Err(Fault::Wrong(_))
        ));
    }

    #[test]
    fn statements_know_their_lines() {
        let place = Place { line: 7, column: 4 };
        let block = "\nassert 1 # one\n\nassert 2; assert 3 \\\n == 3\nassert 4";
        let lines: Vec<u32> = read(block, place)
            .unwrap()
            .iter()
            .map(|s| s.place.line)
            .collect();
        assert_eq!(lines, [8, 10, 10, 12]);
    }

    #[test]
    fn more_of_python_is_refused_by_name() {
        let place = Place { line: 1, column: 1 };
        assert!(matches!(
            read("import os", place),
            Err(ReadError::OutOfScope { .. })
        ));
        for text in [
            "assert",
            "assert (1",
            "1 == 1",
            "assert 1 1",
            "x",
            "assert 'a",
            "assert 1 +",
        ] {
            assert!(
                matches!(read(text, place), Err(ReadError::Malformed { .. })),
                "{text}"
            );
        }
        let deep = format!("assert {}1", "(".repeat(10_000));
        assert!(read(&deep, place).is_err());
        let long = format!("assert {}1", "1 + ".repeat(100_000));
        assert!(read(&long, place).is_err());
    }
}
