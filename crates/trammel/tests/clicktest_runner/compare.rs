//! Whether a file holds the lines that a section expects, and where it does not.

use super::parse::{Kind, Lines};
use fancy_regex::Regex;

/// Lines above which a difference is not searched for where the files differ again after it.
const LINES_ALIGNED: usize = 2_000;

/// Lines around a difference that are shown with it.
const CONTEXT: usize = 3;

/// Why `actual` is not what one of `alternatives` says, or nothing where it is.
pub(crate) fn difference(
    actual: &str,
    alternatives: &[&Lines],
    ignored: &[&Lines],
) -> Result<Option<String>, String> {
    let mut first = None;
    for lines in alternatives {
        match against(actual, lines, ignored)? {
            None => return Ok(None),
            Some(why) => first = first.or(Some(why)),
        }
    }
    Ok(first)
}

fn against(actual: &str, lines: &Lines, ignored: &[&Lines]) -> Result<Option<String>, String> {
    if actual == lines.text {
        return Ok(None);
    }
    if lines.kind == Kind::Verbatim {
        let expected: Vec<_> = literal(&lines.text);
        let got: Vec<&str> = split(actual).map(|(_, line)| line).collect();
        let mut text = diff(lines.at, &expected, &got);
        if text.is_empty() {
            text = format!("{}: the lines are alike, their ends are not\n", lines.at);
        }
        return Ok(Some(text));
    }
    let mut left_out = Vec::new();
    for other in ignored {
        for (at, line) in split(&other.text) {
            if !line.trim().is_empty() {
                left_out.push(Pattern::new(line, other, other.at + at + 1)?);
            }
        }
    }
    let mut expected = Vec::new();
    for (at, line) in split(&lines.text) {
        if !line.trim_end().is_empty() {
            expected.push(Pattern::new(line.trim_end(), lines, lines.at + at + 1)?);
        }
    }
    let got: Vec<&str> = split(actual)
        .map(|(_, line)| line.trim_end())
        .filter(|line| {
            !line.is_empty()
                && !line.starts_with("clicktest_subtest ")
                && !left_out.iter().any(|pattern| pattern.matches(line))
        })
        .collect();
    let is_same = expected.len() == got.len()
        && expected
            .iter()
            .zip(&got)
            .all(|(expected, line)| expected.matches(line));
    Ok((!is_same).then(|| diff(lines.at, &expected, &got)))
}

/// Lines with their numbers from zero.
fn split(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.strip_suffix('\n')
        .unwrap_or(text)
        .split('\n')
        .enumerate()
        .filter(move |_| !text.is_empty())
}

/// A line as it is expected.
struct Pattern<'a> {
    line: &'a str,
    regex: Option<Regex>,
    comment: String,
    any_space: bool,
}

fn literal(text: &str) -> Vec<Pattern<'_>> {
    split(text)
        .map(|(_, line)| Pattern {
            line,
            regex: None,
            comment: String::new(),
            any_space: false,
        })
        .collect()
}

impl<'a> Pattern<'a> {
    fn new(line: &'a str, of: &Lines, at: usize) -> Result<Pattern<'a>, String> {
        let mut pattern = Pattern {
            line,
            regex: None,
            comment: String::new(),
            any_space: of.any_space,
        };
        if of.kind == Kind::Verbatim || (of.kind == Kind::Braces && !line.contains("{{")) {
            return Ok(pattern);
        }
        let mut text = String::new();
        let mut rest = line;
        while let Some((before, inside, after)) = braces(rest) {
            if let Some(comment) = inside.strip_prefix('?') {
                text += &outside(before.trim_end(), of);
                pattern.comment += comment.trim();
                rest = after.trim_start();
            } else if of.kind == Kind::Braces {
                text += &format!("{}(?:{inside})", outside(before, of));
                rest = after;
            } else {
                text += &format!("{before}{{{{{inside}}}}}");
                rest = after;
            }
        }
        text += &outside(rest, of);
        let case = if of.any_case { "(?i)" } else { "" };
        match Regex::new(&format!("{case}\\A(?:{text})\\z")) {
            Ok(regex) => pattern.regex = Some(regex),
            Err(why) => return Err(format!("{at}: no pattern: {why}")),
        }
        Ok(pattern)
    }

    fn matches(&self, line: &str) -> bool {
        let squeezed;
        let line = if self.any_space {
            squeezed = without_space(line);
            squeezed.as_str()
        } else {
            line
        };
        match &self.regex {
            Some(regex) => regex.is_match(line).unwrap_or(false),
            None if self.any_space => without_space(self.line) == line,
            None => self.line == line,
        }
    }
}

/// What comes before, in and after the first `{{…}}`.
fn braces(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("{{")?;
    let (inside, after) = rest.split_once("}}")?;
    Some((before, inside, after))
}

/// What is not in braces, as a part of a pattern.
fn outside(text: &str, of: &Lines) -> String {
    let text = if of.any_space {
        without_space(text)
    } else {
        text.to_owned()
    };
    match of.kind {
        Kind::Patterns => text,
        Kind::Braces | Kind::Verbatim => fancy_regex::escape(&text).into_owned(),
    }
}

fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_whitespace()).collect()
}

/// One line of a difference.
enum Step {
    Same(usize),
    Missing(usize),
    Extra(usize),
}

/// What to take away (`-`) and to add (`+`) to come from what was expected to what came.
fn diff(at: usize, expected: &[Pattern<'_>], got: &[&str]) -> String {
    let steps = align(expected, got);
    let is_change = |step: &Step| !matches!(step, Step::Same(_));
    let mut text = String::new();
    let mut shown = 0;
    for (n, step) in steps.iter().enumerate() {
        let near = n.saturating_sub(CONTEXT)..(n + CONTEXT + 1).min(steps.len());
        if !steps[near].iter().any(is_change) {
            continue;
        }
        if shown < n || n == 0 {
            text += &format!("@@ expected from line {at} @@\n");
        }
        shown = n + 1;
        match *step {
            Step::Same(i) => text += &format!(" {}\n", got[i]),
            Step::Extra(i) => text += &format!("+{}\n", got[i]),
            Step::Missing(i) => {
                text += &format!("-{}\n", expected[i].line);
                if !expected[i].comment.is_empty() {
                    text += &format!("  ({})\n", expected[i].comment);
                }
            }
        }
    }
    text
}

/// The longest run of lines in order that match, and what lies between them.
fn align(expected: &[Pattern<'_>], got: &[&str]) -> Vec<Step> {
    let (rows, columns) = (expected.len(), got.len());
    let mut steps = Vec::new();
    if rows.max(columns) > LINES_ALIGNED {
        let mut pairs = expected.iter().zip(got);
        let same = pairs.position(|(expected, line)| !expected.matches(line));
        let same = same.unwrap_or(rows.min(columns));
        steps.extend((0..same).map(Step::Same));
        steps.extend((same..rows).take(1).map(Step::Missing));
        steps.extend((same..columns).take(1).map(Step::Extra));
        return steps;
    }
    let mut best = vec![vec![0u32; columns + 1]; rows + 1];
    let mut is_match = vec![vec![false; columns]; rows];
    for i in (0..rows).rev() {
        for j in (0..columns).rev() {
            is_match[i][j] = expected[i].matches(got[j]);
            best[i][j] = if is_match[i][j] {
                best[i + 1][j + 1] + 1
            } else {
                best[i + 1][j].max(best[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < rows || j < columns {
        if i < rows && j < columns && is_match[i][j] {
            steps.push(Step::Same(j));
            (i, j) = (i + 1, j + 1);
        } else if j == columns || (i < rows && best[i + 1][j] >= best[i][j + 1]) {
            steps.push(Step::Missing(i));
            i += 1;
        } else {
            steps.push(Step::Extra(j));
            j += 1;
        }
    }
    steps
}
