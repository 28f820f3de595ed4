//! The scripts of this crate pass, and no longer do when what they expect is changed.
//!
//! `TRAMMEL_MUTANTS=FOLDER` also writes the changed ones, for another interpreter to judge.

use std::path::{Path, PathBuf};
use trammel_packetdrill::{ScriptOutcome, run};

/// The scripts, in order.
fn scripts() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let folders = std::fs::read_dir(root).expect("the folder is part of the crate");
    let mut paths: Vec<PathBuf> = folders
        .flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

fn outcome(text: &str) -> ScriptOutcome {
    run(text, &|_| None).expect("it is in the language").outcome
}

#[test]
fn every_script_passes() {
    let scripts = scripts();
    assert!(scripts.len() >= 25);
    for (path, text) in scripts {
        assert_eq!(outcome(&text), ScriptOutcome::Passed, "{}", path.display());
    }
}

/// One way to change a line so that what it expects is something else; nothing where the line has
/// no such part.
type Mutator = fn(&str) -> Option<String>;

const MUTATORS: &[(&str, Mutator)] = &[
    ("acknowledgement", |line| raise(sent(line)?, " ack ")),
    ("sequence number", |line| {
        // That of a SYN is a name.
        let line = sent(line).filter(|line| !line.contains(" S"))?;
        let (at, _) = line.split_once('(')?;
        let (head, range) = at.rsplit_once(' ')?;
        let (from, to) = range.split_once(':')?;
        let up = |number: &str| number.parse::<u32>().map(|number| number + 1).ok();
        let rest = &line[at.len()..];
        Some(format!("{head} {}:{}{rest}", up(from)?, up(to)?))
    }),
    ("flags", |line| {
        let line = sent(line)?;
        let before = if line.contains("] ") { "] " } else { "> " };
        Some(if line.contains(" F") {
            line.replacen(" F", " ", 1)
        } else {
            line.replacen(before, &format!("{before}F"), 1)
        })
    }),
    ("segment size", |line| raise(sent(line)?, "<mss ")),
    ("echo", |line| raise(sent(line)?, " ecr ")),
    ("block", |line| raise(sent(line)?, ",sack ")),
    ("mark", |line| {
        let line = sent(line)?;
        let other = [("[ect0]", "[ect1]"), ("[noecn]", "[ect0]")];
        let (from, to) = other.iter().find(|(from, _)| line.contains(from))?;
        Some(line.replace(from, to))
    }),
    ("later time", |line| {
        let (time, rest) = sent(line)?
            .trim_start()
            .strip_prefix('+')?
            .split_once(' ')?;
        let seconds: f64 = time.parse().ok()?;
        // The original allows an eighth of the time, and the kernel may use half of that.
        Some(format!("+{} {rest}", seconds * 1.3 + 0.01))
    }),
    ("assertion", |line| raise(asserting(line)?, "== ")),
    ("denied assertion", |line| {
        Some(asserting(line)?.replacen("assert ", "assert not ", 1))
    }),
    ("result of a call", |line| {
        let (call, result) = line.split_once(") = ")?;
        // Of `socket` and `accept` the script chooses the name.
        let is_name = call.contains("socket(") || call.contains("accept(");
        let result: i64 = result.parse().ok()?;
        (!is_name).then(|| format!("{call}) = {}", result + 1))
    }),
    ("value given back", |line| {
        let line =
            Some(line).filter(|line| line.contains("ioctl(") || line.contains(" getsockopt("))?;
        raise(line, ", [")
    }),
];

/// The line, where it expects a segment.
fn sent(line: &str) -> Option<&str> {
    let is_comment = line.trim_start().starts_with("//");
    (line.contains(" > ") && !is_comment && !line.contains('`')).then_some(line)
}

/// The line, where it asserts.
fn asserting(line: &str) -> Option<&str> {
    line.contains("assert ").then_some(line)
}

/// Raises the number after `before` by one.
fn raise(line: &str, before: &str) -> Option<String> {
    let (head, rest) = line.split_once(before)?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let number: u64 = rest[..end].parse().ok()?;
    Some(format!("{head}{before}{}{}", number + 1, &rest[end..]))
}

fn with_line(text: &str, number: usize, other: Option<&str>) -> String {
    let lines = text.lines().enumerate();
    let lines = lines.filter_map(|(at, line)| if at == number { other } else { Some(line) });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_script_that_expects_something_else_fails() {
    let folder = std::env::var_os("TRAMMEL_MUTANTS").map(PathBuf::from);
    let mut mutants = vec![0; MUTATORS.len()];
    for (path, text) in scripts() {
        for (at, line) in text.lines().enumerate() {
            for ((what, mutate), count) in MUTATORS.iter().zip(&mut mutants) {
                let Some(mutant) = mutate(line) else { continue };
                let changed = with_line(&text, at, Some(&mutant));
                if let Some(folder) = &folder {
                    let stem = path.file_stem().expect("it is a file").display();
                    let name = format!("{stem}-{}-{}.pkt", at + 1, what.replace(' ', "-"));
                    std::fs::write(folder.join(name), &changed).unwrap();
                }
                let outcome = outcome(&changed);
                let place = format!("{}:{}: {what}: {mutant}", path.display(), at + 1);
                let ScriptOutcome::Failed(failure) = outcome else {
                    panic!("{place}: {outcome:?}");
                };
                assert!(failure.place.line as usize > at, "{place}: {failure:?}");
                *count += 1;
            }
        }
    }
    for ((what, _), count) in MUTATORS.iter().zip(mutants) {
        assert!(count > 0, "nothing has tried another {what}");
    }
}

#[test]
fn a_segment_that_no_line_expects_is_noticed_by_the_next_that_expects_one() {
    for (path, text) in scripts() {
        let lines: Vec<usize> = (text.lines().enumerate())
            .filter_map(|(at, line)| sent(line).map(|_| at))
            .collect();
        let Some((_, all_but_last)) = lines.split_last() else {
            panic!("{} expects nothing", path.display());
        };
        for at in all_but_last {
            let mutant = with_line(&text, *at, None);
            let is_failed = matches!(outcome(&mutant), ScriptOutcome::Failed(_));
            assert!(is_failed, "{}:{} is not missed", path.display(), at + 1);
        }
    }
}
