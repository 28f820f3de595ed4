//! The functions that scripts have: read handlers with parameters, such as `add 1 2`.

use super::format::{real, sprintf};
use super::signals::signal;
use crate::args::kinds::UINT;
use crate::args::numbers::{parse_bool, parse_double, parse_int};
use crate::args::text::{quote, take_word, unquote};
use crate::args::{Args, Need, Param};
use crate::diagnostic::Diagnostics;
use crate::engine::Ctx;

/// What a function does with its parameter.
pub(crate) type Function = fn(&mut Ctx, &str) -> Result<String, String>;

/// Name, letters of the handler, and what it does, in the order in which they are defined.
pub(crate) const FUNCTIONS: &[(&str, &str, Function)] = &[
    ("add", "r+", |_, text| fold(text, Fold::Add)),
    ("sub", "r+", |_, text| fold(text, Fold::Sub)),
    ("min", "r+", |_, text| fold(text, Fold::Min)),
    ("max", "r+", |_, text| fold(text, Fold::Max)),
    ("mul", "r+", |_, text| fold(text, Fold::Mul)),
    ("div", "r+", |_, text| fold(text, Fold::Div)),
    ("idiv", "r+", |_, text| fold(text, Fold::IDiv)),
    ("mod", "r+", |_, text| remainder(text, false)),
    ("rem", "r+", |_, text| remainder(text, true)),
    ("neg", "r+", |_, text| {
        one_number(text, i64::wrapping_neg, |x| -x)
    }),
    ("abs", "r+", |_, text| {
        one_number(text, i64::wrapping_abs, f64::abs)
    }),
    ("eq", "r+", |_, text| {
        compare(text, std::cmp::Ordering::is_eq)
    }),
    ("ne", "r+", |_, text| {
        compare(text, std::cmp::Ordering::is_ne)
    }),
    ("gt", "r+", |_, text| {
        compare(text, std::cmp::Ordering::is_gt)
    }),
    ("ge", "r+", |_, text| {
        compare(text, std::cmp::Ordering::is_ge)
    }),
    ("lt", "r+", |_, text| {
        compare(text, std::cmp::Ordering::is_lt)
    }),
    ("le", "r+", |_, text| {
        compare(text, std::cmp::Ordering::is_le)
    }),
    ("not", "r+", |_, text| Ok((!truth(text)?).to_string())),
    ("sprintf", "r+", |_, text| sprintf(text)),
    ("first", "r+", |_, text| Ok(first(text).0.to_owned())),
    ("random", "r+", random),
    ("and", "r+", |_, text| Ok(all(text, false)?.to_string())),
    ("or", "r+", |_, text| Ok(any(text)?.to_string())),
    ("nand", "r+", |_, text| Ok(all(text, true)?.to_string())),
    ("nor", "r+", |_, text| Ok((!any(text)?).to_string())),
    ("if", "r+", |_, text| choose(text)),
    ("in", "r+", |_, text| is_in(text)),
    ("now", "r", |ctx, _| Ok(ctx.now().to_string())),
    ("readable", "r+", |ctx, text| have(ctx, text, false)),
    ("writable", "r+", |ctx, text| have(ctx, text, true)),
    ("length", "r+", |_, text| Ok(text.len().to_string())),
    ("unquote", "r+", |_, text| Ok(unquote(text))),
    ("htons", "r+", |_, text| {
        swap(text, |x| i64::from((x as u16).to_be()))
    }),
    ("htonl", "r+", |_, text| {
        swap(text, |x| i64::from((x as u32).to_be()))
    }),
    ("ntohs", "r+", |_, text| {
        swap(text, |x| i64::from((x as u16).to_be()))
    }),
    ("ntohl", "r+", |_, text| {
        swap(text, |x| i64::from((x as u32).to_be()))
    }),
    ("cat", "r+-", cat),
    ("catq", "r+-", |ctx, text| {
        Ok(quote(cat(ctx, text)?.as_bytes()))
    }),
    ("kill", "r+-", kill),
];

/// The function called `name`.
pub(crate) fn find(name: &str) -> Option<Function> {
    let found = FUNCTIONS.iter().find(|(other, ..)| *other == name);
    found.map(|(.., function)| *function)
}

fn first(text: &str) -> (&str, &str) {
    let mut rest = text;
    (take_word(&mut rest).unwrap_or(""), rest)
}

fn whole(text: &str) -> Option<i64> {
    parse_int(text, i64::MIN, i64::MAX).ok()
}

fn truth(text: &str) -> Result<bool, String> {
    parse_bool(text).map_err(|_| "syntax error".to_owned())
}

#[derive(Clone, Copy, PartialEq)]
enum Fold {
    Add,
    Sub,
    Min,
    Max,
    Mul,
    Div,
    IDiv,
}

/// Numbers taken together from the left; whole as long as all are.
fn fold(text: &str, how: Fold) -> Result<String, String> {
    let nothing: i64 = i64::from(!matches!(how, Fold::Add | Fold::Sub));
    let mut exact = (!matches!(how, Fold::Div | Fold::IDiv)).then_some(nothing);
    let mut near = nothing as f64;
    let (mut rest, mut is_first) = (text, true);
    while let Some(word) = take_word(&mut rest) {
        if let (Some(sum), Some(next)) = (exact, whole(word)) {
            let sum = match how {
                _ if is_first => next,
                Fold::Add => sum.wrapping_add(next),
                Fold::Sub => sum.wrapping_sub(next),
                Fold::Min => sum.min(next),
                Fold::Max => sum.max(next),
                _ => sum.wrapping_mul(next),
            };
            (exact, near) = (Some(sum), sum as f64);
        } else {
            let next = parse_double(word).map_err(|_| "expected list of numbers".to_owned())?;
            exact = None;
            near = match how {
                _ if is_first => next,
                Fold::Add => near + next,
                Fold::Sub => near - next,
                Fold::Min if near < next => near,
                Fold::Max if near > next => near,
                Fold::Min | Fold::Max => next,
                Fold::Mul => near * next,
                Fold::Div | Fold::IDiv => near / next,
            };
        }
        is_first = false;
    }
    Ok(match exact {
        Some(sum) => sum.to_string(),
        None if how == Fold::IDiv => (near as i64).to_string(),
        None => real(near),
    })
}

fn two(text: &str) -> Option<(&str, &str)> {
    let (a, rest) = first(text);
    let (b, rest) = first(rest);
    (rest.is_empty() && !b.is_empty()).then_some((a, b))
}

fn remainder(text: &str, of_reals: bool) -> Result<String, String> {
    let wrong = || "expected two numbers".to_owned();
    let (a, b) = two(text).ok_or_else(wrong)?;
    match (whole(a), whole(b)) {
        // The original ends here, by a signal.
        (Some(_), Some(0)) => Err("division by zero".to_owned()),
        (Some(a), Some(b)) => Ok(a.wrapping_rem(b).to_string()),
        _ if !of_reals => Err(wrong()),
        _ => match (parse_double(a), parse_double(b)) {
            (Ok(a), Ok(b)) => Ok(real(a % b)),
            _ => Err(wrong()),
        },
    }
}

fn one_number(
    text: &str,
    of_whole: fn(i64) -> i64,
    of_real: fn(f64) -> f64,
) -> Result<String, String> {
    if let Some(x) = whole(text) {
        return Ok(of_whole(x).to_string());
    }
    let x = parse_double(text).map_err(|_| "expected one number".to_owned())?;
    Ok(real(of_real(x)))
}

/// Two numbers compared, or two texts where one is no number.
fn compare(text: &str, holds: fn(std::cmp::Ordering) -> bool) -> Result<String, String> {
    let (a, b) = two(text).ok_or("expected two numbers")?;
    let order = match (whole(a), whole(b), parse_double(a), parse_double(b)) {
        (Some(a), Some(b), ..) => a.cmp(&b),
        (.., Ok(a), Ok(b)) => a.partial_cmp(&b).unwrap_or(std::cmp::Ordering::Greater),
        _ => unquote(a).cmp(&unquote(b)),
    };
    Ok(holds(order).to_string())
}

/// Whether all truths hold; the rest is not read after one that does not.
fn all(text: &str, not: bool) -> Result<bool, String> {
    let mut rest = text;
    while let Some(word) = take_word(&mut rest) {
        if !truth(word)? {
            return Ok(not);
        }
    }
    Ok(!not)
}

fn any(text: &str) -> Result<bool, String> {
    let mut rest = text;
    while let Some(word) = take_word(&mut rest) {
        if truth(word)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn choose(text: &str) -> Result<String, String> {
    let (condition, rest) = first(text);
    let (then, rest) = first(rest);
    Ok(if truth(condition)? {
        then
    } else {
        first(rest).0
    }
    .to_owned())
}

#[allow(clippy::unnecessary_wraps)] // as all functions of the table
fn is_in(text: &str) -> Result<String, String> {
    let (word, mut rest) = first(text);
    let word = unquote(word);
    let mut found = false;
    while let Some(other) = take_word(&mut rest) {
        found |= !word.is_empty() && word == unquote(other);
    }
    Ok(found.to_string())
}

fn swap(text: &str, swapped: fn(i64) -> i64) -> Result<String, String> {
    let x = whole(text).ok_or("syntax error")?;
    Ok(swapped(x).to_string())
}

const LIMITS: &[Param] = &[
    Param {
        name: "N1",
        need: Need::Mandatory,
        kind: UINT,
        default: "",
        help: "the least number, or how many there are",
    },
    Param {
        name: "N2",
        need: Need::Positional,
        kind: UINT,
        default: "",
        help: "the greatest number",
    },
];

fn random(ctx: &mut Ctx, text: &str) -> Result<String, String> {
    /// The greatest number where no limit is given, as C has it.
    const RAND_MAX: u64 = (1 << 31) - 1;
    if text.is_empty() {
        return Ok(ctx.draw(RAND_MAX + 1).to_string());
    }
    let words = crate::args::text::split_words(text);
    let told = |all: Diagnostics| all.click().trim_end().to_owned();
    let args = Args::resolve_list(LIMITS, &words, &ctx.names(), None).map_err(told)?;
    let (from, to) = match (args.uint("N1"), args.opt_uint("N2")) {
        (from, Some(to)) if from <= to => (from, to),
        (count @ 1.., None) => (0, count - 1),
        _ => return Err("bad N".to_owned()),
    };
    Ok((from + ctx.draw(to - from + 1)).to_string())
}

#[allow(clippy::unnecessary_wraps)] // as all functions of the table
fn have(ctx: &mut Ctx, text: &str, to_write: bool) -> Result<String, String> {
    let (me, mut rest) = (ctx.me(), text);
    while let Some(name) = take_word(&mut rest) {
        if ctx.find_call(&unquote(name), me, to_write).is_err() {
            return Ok("false".to_owned());
        }
    }
    Ok("true".to_owned())
}

fn cat(ctx: &mut Ctx, text: &str) -> Result<String, String> {
    use std::io::Read;
    let home = ctx.host().environment("HOME");
    let file = crate::args::text::parse_filename(text, home.as_deref());
    let file = file.map_err(|_| "bad FILE".to_owned())?;
    let told = |e: std::io::Error| format!("{file}: {}", crate::host::reason(&e));
    let mut bytes = Vec::new();
    let mut open = ctx.open_file(&file).map_err(told)?;
    open.read_to_end(&mut bytes).map_err(told)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn kill(ctx: &mut Ctx, text: &str) -> Result<String, String> {
    let (word, mut rest) = first(text);
    let number = signal(word).ok_or("bad SIGNO")?;
    if ctx.is_confined() {
        return Err("a request by a control socket ends no process".to_owned());
    }
    while let Some(word) = take_word(&mut rest) {
        let process = whole(word).and_then(|id| i32::try_from(id).ok());
        let process = process.ok_or("bad PID")?;
        ctx.host()
            .kill(process, number)
            .map_err(|e| format!("kill({process}, {number}): {}", crate::host::reason(&e)))?;
    }
    Ok(String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, text: &str) -> Result<String, String> {
        let mut run = crate::load::testing::loaded("Idle -> Discard");
        find(name).expect("it exists")(&mut run.ctx, text)
    }

    #[test]
    fn functions_give_what_they_say() {
        for (name, text, result) in [
            ("add", "1 2 3", "6"),
            ("add", "1 2.5", "3.5"),
            ("add", "", "0"),
            ("sub", "10 2 2", "6"),
            ("min", "10 6 20", "6"),
            ("max", "-1 6 3", "6"),
            ("mul", "1 2 3", "6"),
            ("div", "75 2.5 5", "6"),
            ("idiv", "7 2", "3"),
            ("mod", "-7 3", "-1"),
            ("rem", "7.5 2", "1.5"),
            ("neg", "4", "-4"),
            ("abs", "-4.5", "4.5"),
            ("eq", "10 0xA", "true"),
            ("ne", "10x 10x", "false"),
            ("le", "9 8", "false"),
            ("lt", "1.5 2", "true"),
            ("not", "true", "false"),
            ("and", "1 yes", "true"),
            ("nand", "1 no", "true"),
            ("or", "0 0", "false"),
            ("nor", "0 0", "true"),
            ("if", "true a b", "a"),
            ("if", "false a b", "b"),
            ("in", "foo bar \"foo\"", "true"),
            ("first", "a b", "a"),
            ("length", "abcdef", "6"),
            ("htons", "1", "256"),
            ("ntohl", "1", "16777216"),
            ("random", "1", "0"),
            ("random", "7 7", "7"),
            ("readable", "version", "true"),
            ("writable", "version", "false"),
        ] {
            assert_eq!(of(name, text).as_deref(), Ok(result), "{name} {text}");
        }
    }

    #[test]
    fn functions_refuse_what_they_cannot_use() {
        for (name, text, error) in [
            ("add", "a", "expected list of numbers"),
            ("mod", "1", "expected two numbers"),
            ("mod", "1 0.5", "expected two numbers"),
            ("mod", "1 0", "division by zero"),
            ("neg", "q", "expected one number"),
            ("eq", "1", "expected two numbers"),
            ("not", "maybe", "syntax error"),
            ("random", "0", "bad N"),
            ("random", "4 3", "bad N"),
            ("kill", "FOO", "bad SIGNO"),
            ("cat", "/none", "/none: No such file or directory"),
        ] {
            assert_eq!(of(name, text), Err(error.into()), "{name} {text}");
        }
    }

    #[test]
    fn the_least_number_divided_by_minus_one_does_no_harm() {
        assert_eq!(of("mod", "-9223372036854775808 -1").as_deref(), Ok("0"));
        assert!(of("neg", "-9223372036854775808").is_ok());
    }
}
