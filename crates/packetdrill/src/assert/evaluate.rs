//! The value of an expression.

use super::expression::Expression;
use std::collections::BTreeMap;
use std::fmt;

/// Variables of a script, kept from block to block.
pub(crate) type Variables = BTreeMap<String, Value>;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A whole number; 0 and 1 are the truths.
    Int(i64),
    /// A text, as messages are.
    Text(String),
}

/// Why a statement failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The assertion does not hold; the values of the names in it.
    Untrue(String),
    /// A name, or a function, that is not known.
    Unknown(String),
    /// It has no value: texts added, a division by zero, a number too large.
    Wrong(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Int(value) => value.fmt(f),
            Value::Text(text) => text.fmt(f),
        }
    }
}

impl Value {
    /// Whether it counts as true.
    pub(super) fn holds(&self) -> bool {
        match self {
            Value::Int(value) => *value != 0,
            Value::Text(text) => !text.is_empty(),
        }
    }

    fn int(&self) -> Result<i64, Fault> {
        match self {
            Value::Int(value) => Ok(*value),
            Value::Text(text) => Err(Fault::Wrong(format!("`\"{text}\"` is no number"))),
        }
    }
}

type Lookup<'a> = &'a dyn Fn(&str) -> Option<i64>;

/// The value of a name.
pub(super) fn name(name: &str, variables: &Variables, lookup: Lookup<'_>) -> Result<Value, Fault> {
    match (variables.get(name), lookup(name), name) {
        (Some(value), _, _) => Ok(value.clone()),
        (None, Some(value), _) => Ok(Value::Int(value)),
        (None, None, "True") => Ok(Value::Int(1)),
        (None, None, "False") => Ok(Value::Int(0)),
        _ => Err(Fault::Unknown(name.to_owned())),
    }
}

/// The value of an expression.
pub(super) fn value(
    expression: &Expression,
    variables: &Variables,
    lookup: Lookup<'_>,
) -> Result<Value, Fault> {
    let of = |part: &Expression| value(part, variables, lookup);
    let truth = |truth: bool| Ok(Value::Int(i64::from(truth)));
    match expression {
        Expression::Int(value) => Ok(Value::Int(*value)),
        Expression::Text(text) => Ok(Value::Text(text.clone())),
        Expression::Name(text) => name(text, variables, lookup),
        Expression::Tuple(parts) => {
            let parts = parts
                .iter()
                .map(|part| of(part).map(|value| value.to_string()));
            Ok(Value::Text(parts.collect::<Result<Vec<_>, _>>()?.join(" ")))
        }
        Expression::Apply(function, parts) => {
            let numbers = parts.iter().map(|part| of(part)?.int());
            apply(function, &numbers.collect::<Result<Vec<_>, _>>()?)
        }
        Expression::Negative(part) => number(of(part)?.int()?.checked_neg()),
        Expression::Not(part) => truth(!of(part)?.holds()),
        Expression::Binary(left, "%", right) if matches!(of(left)?, Value::Text(_)) => {
            // A message: what it says stands beside it.
            Ok(Value::Text(format!("{} {}", of(left)?, of(right)?)))
        }
        Expression::Binary(left, sign, right) => binary(of(left)?.int()?, sign, of(right)?.int()?),
        Expression::Chain(first, rest) => {
            let mut left = of(first)?.int()?;
            for (sign, part) in rest {
                let right = of(part)?.int()?;
                let holds = match *sign {
                    "==" => left == right,
                    "!=" => left != right,
                    "<=" => left <= right,
                    ">=" => left >= right,
                    "<" => left < right,
                    _ => left > right,
                };
                if !holds {
                    return truth(false);
                }
                left = right;
            }
            truth(true)
        }
        Expression::And(left, right) => truth(of(left)?.holds() && of(right)?.holds()),
        Expression::Or(left, right) => truth(of(left)?.holds() || of(right)?.holds()),
    }
}

fn number(value: Option<i64>) -> Result<Value, Fault> {
    let wrong = || Fault::Wrong("a number of more than 63 bits, or a division by zero".into());
    value.map(Value::Int).ok_or_else(wrong)
}

/// Python's operators: a quotient is rounded down, and a remainder has the divisor's sign.
fn binary(left: i64, sign: &str, right: i64) -> Result<Value, Fault> {
    let remainder = || match left.checked_rem(right)? {
        rest if rest != 0 && (rest < 0) != (right < 0) => Some(rest + right),
        rest => Some(rest),
    };
    number(match sign {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "&" => Some(left & right),
        "|" => Some(left | right),
        "%" => remainder(),
        _ => remainder().and_then(|rest| left.checked_sub(rest)?.checked_div(right)),
    })
}

fn apply(function: &str, numbers: &[i64]) -> Result<Value, Fault> {
    match (function, numbers) {
        ("abs", [only]) => number(only.checked_abs()),
        ("int", [only]) => Ok(Value::Int(*only)),
        ("min", [first, rest @ ..]) => Ok(Value::Int(rest.iter().fold(*first, |a, b| a.min(*b)))),
        ("max", [first, rest @ ..]) => Ok(Value::Int(rest.iter().fold(*first, |a, b| a.max(*b)))),
        _ => Err(Fault::Unknown(function.to_owned())),
    }
}
