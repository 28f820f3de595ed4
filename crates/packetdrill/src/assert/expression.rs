//! The parser of expressions: Python's operators in their order of precedence.

use super::token::Token;

/// How deep an expression may nest.
const DEPTH: u32 = 32;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    Int(i64),
    Text(String),
    Name(String),
    /// `(a, b)`: what a format takes.
    Tuple(Vec<Expression>),
    /// `abs(a)`, `min(a, b)`, `max(a, b)`.
    Apply(String, Vec<Expression>),
    Negative(Box<Expression>),
    Not(Box<Expression>),
    /// `+ - * // % & |`.
    Binary(Box<Expression>, &'static str, Box<Expression>),
    /// `a < b <= c`.
    Chain(Box<Expression>, Vec<(&'static str, Expression)>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
}

impl Expression {
    /// The names in the expression, each once, in their order.
    pub(super) fn names<'a>(&'a self, into: &mut Vec<&'a str>) {
        match self {
            Expression::Int(_) | Expression::Text(_) => {}
            Expression::Name(name) => {
                if !into.contains(&name.as_str()) {
                    into.push(name);
                }
            }
            Expression::Tuple(parts) | Expression::Apply(_, parts) => {
                for part in parts {
                    part.names(into);
                }
            }
            Expression::Negative(part) | Expression::Not(part) => part.names(into),
            Expression::Binary(left, _, right)
            | Expression::And(left, right)
            | Expression::Or(left, right) => {
                left.names(into);
                right.names(into);
            }
            Expression::Chain(first, rest) => {
                first.names(into);
                for (_, part) in rest {
                    part.names(into);
                }
            }
        }
    }
}

/// Reads all of `tokens` as one expression.
pub(super) fn read(tokens: &[Token]) -> Result<Expression, String> {
    match prefix(tokens)? {
        (expression, []) => Ok(expression),
        (_, [next, ..]) => Err(format!("{} is not expected here", shown(next))),
    }
}

/// Reads the expression that `tokens` begin with, and returns what is left of them.
pub(super) fn prefix(tokens: &[Token]) -> Result<(Expression, &[Token]), String> {
    let mut parser = Parser {
        rest: tokens,
        depth: DEPTH,
    };
    let expression = parser.or()?;
    Ok((expression, parser.rest))
}

fn shown(token: &Token) -> String {
    match token {
        Token::Int(value) => format!("`{value}`"),
        Token::Text(text) => format!("`\"{text}\"`"),
        Token::Name(name) => format!("`{name}`"),
        Token::Sign(sign) => format!("`{sign}`"),
    }
}

struct Parser<'a> {
    rest: &'a [Token],
    depth: u32,
}

impl Parser<'_> {
    fn eat_sign(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        let [Token::Sign(sign), rest @ ..] = self.rest else {
            return None;
        };
        signs.contains(sign).then(|| {
            self.rest = rest;
            *sign
        })
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let seen = matches!(self.rest, [Token::Name(name), ..] if name == word);
        if seen {
            self.rest = &self.rest[1..];
        }
        seen
    }

    fn or(&mut self) -> Result<Expression, String> {
        let mut left = self.and()?;
        while self.eat_word("or") {
            left = Expression::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Expression, String> {
        let mut left = self.not()?;
        while self.eat_word("and") {
            left = Expression::And(Box::new(left), Box::new(self.not()?));
        }
        Ok(left)
    }

    fn not(&mut self) -> Result<Expression, String> {
        let mut times = 0;
        while self.eat_word("not") {
            times += 1;
        }
        let mut inner = self.chain()?;
        // An even number of them only turns a number into a truth; one more does the same.
        for _ in 0..if times == 0 { 0 } else { 2 - times % 2 } {
            inner = Expression::Not(Box::new(inner));
        }
        Ok(inner)
    }

    fn chain(&mut self) -> Result<Expression, String> {
        let first = self.bits()?;
        let mut rest = Vec::new();
        while let Some(sign) = self.eat_sign(&["==", "!=", "<=", ">=", "<", ">"]) {
            rest.push((sign, self.bits()?));
        }
        Ok(if rest.is_empty() {
            first
        } else {
            Expression::Chain(Box::new(first), rest)
        })
    }

    fn bits(&mut self) -> Result<Expression, String> {
        let mut left = self.common_bits()?;
        while let Some(sign) = self.eat_sign(&["|"]) {
            left = Expression::Binary(Box::new(left), sign, Box::new(self.common_bits()?));
        }
        Ok(left)
    }

    fn common_bits(&mut self) -> Result<Expression, String> {
        let mut left = self.sum()?;
        while let Some(sign) = self.eat_sign(&["&"]) {
            left = Expression::Binary(Box::new(left), sign, Box::new(self.sum()?));
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Expression, String> {
        let mut left = self.product()?;
        while let Some(sign) = self.eat_sign(&["+", "-"]) {
            left = Expression::Binary(Box::new(left), sign, Box::new(self.product()?));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, String> {
        let mut left = self.atom()?;
        while let Some(sign) = self.eat_sign(&["*", "//", "%"]) {
            left = Expression::Binary(Box::new(left), sign, Box::new(self.atom()?));
        }
        Ok(left)
    }

    fn atom(&mut self) -> Result<Expression, String> {
        if self.depth == 0 {
            return Err(format!("an expression nests more than {DEPTH} deep"));
        }
        self.depth -= 1;
        let atom = self.atom_within();
        self.depth += 1;
        atom
    }

    fn atom_within(&mut self) -> Result<Expression, String> {
        if self.eat_sign(&["-"]).is_some() {
            return Ok(Expression::Negative(Box::new(self.atom()?)));
        }
        if self.eat_sign(&["("]).is_some() {
            let mut parts = self.list()?;
            return Ok(match parts.pop() {
                Some(only) if parts.is_empty() => only,
                Some(last) => {
                    parts.push(last);
                    Expression::Tuple(parts)
                }
                None => Expression::Tuple(parts),
            });
        }
        let Some((first, rest)) = self.rest.split_first() else {
            return Err("an expression ends too soon".to_owned());
        };
        self.rest = rest;
        match first {
            Token::Int(value) => Ok(Expression::Int(*value)),
            Token::Text(text) => Ok(Expression::Text(text.clone())),
            Token::Name(name) if self.eat_sign(&["("]).is_some() => {
                Ok(Expression::Apply(name.clone(), self.list()?))
            }
            Token::Name(name) => Ok(Expression::Name(name.clone())),
            Token::Sign(_) => Err(format!("{} is not expected here", shown(first))),
        }
    }

    /// Expressions up to the bracket that closes, which is taken.
    fn list(&mut self) -> Result<Vec<Expression>, String> {
        let mut parts = Vec::new();
        while self.eat_sign(&[")"]).is_none() {
            parts.push(self.or()?);
            if self.eat_sign(&[","]).is_none() && !matches!(self.rest, [Token::Sign(")"), ..]) {
                return Err("no `)` closes the `(`".to_owned());
            }
        }
        Ok(parts)
    }
}
