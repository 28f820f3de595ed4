//! Scripts of flows: a line for each, with the words of `trammel send`, quoted as a shell quotes.
//!
//! `'…'` is taken as it is, `"…"` but for `\"` and `\\`, `\` before any other character has that
//! taken as it is, and `#` at the start of a word begins a comment.

/// The most flows of a script: each has a socket, and those of TCP a thread each.
pub const MOST_LINES: usize = 4096;

/// The words of a line that has any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub number: usize,
    /// As it is written.
    pub text: String,
}

/// The lines of a script that have words; or what is wrong with it, `name` being its file's.
pub fn lines(name: &str, text: &str) -> anyhow::Result<Vec<Line>> {
    let mut lines = Vec::new();
    let mut wrong = Vec::new();
    for (at, text) in text.lines().enumerate() {
        let number = at + 1;
        match words(text) {
            Ok(words) if words.is_empty() => {}
            Ok(_) => lines.push(Line {
                number,
                text: text.to_owned(),
            }),
            Err(why) => wrong.push((number, why)),
        }
    }
    all_right(name, wrong)?;
    match lines.len() {
        0 => anyhow::bail!(
            "`{name}` has no flow; write one a line: `--rate 1000 --size 512 --duration 10s`"
        ),
        count if count > MOST_LINES => {
            anyhow::bail!(
                "`{name}` has {count} flows, more than {MOST_LINES} at once; split it into several \
                 scripts"
            )
        }
        _ => Ok(lines),
    }
}

/// Tells what is wrong with lines, where anything is.
pub fn all_right(name: &str, wrong: Vec<(usize, String)>) -> anyhow::Result<()> {
    /// What is wrong with more of them is mostly the same.
    const MOST_TOLD: usize = 20;
    if wrong.is_empty() {
        return Ok(());
    }
    let count = wrong.len();
    let mut told: Vec<String> = wrong
        .into_iter()
        .take(MOST_TOLD)
        .map(|(number, why)| format!("{name}:{number}: {why}"))
        .collect();
    if count > MOST_TOLD {
        told.push(format!(
            "{name}: {} more lines are wrong",
            count - MOST_TOLD
        ));
    }
    anyhow::bail!("{}", told.join("\n"))
}

/// The words of a line.
pub fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '#' if word.is_none() => break,
            ' ' | '\t' | '\r' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some('\'') => break,
                        Some(letter) => word.push(letter),
                        None => return Err("`'` has no end; close it on the same line".to_owned()),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some('"') => break,
                        Some('\\') => match letters.next() {
                            Some(letter @ ('"' | '\\')) => word.push(letter),
                            Some(letter) => word.extend(['\\', letter]),
                            None => {}
                        },
                        Some(letter) => word.push(letter),
                        None => return Err("`\"` has no end; close it on the same line".to_owned()),
                    }
                }
            }
            '\\' => match letters.next() {
                Some(letter) => word.get_or_insert_default().push(letter),
                None => {
                    return Err("nothing follows `\\`; a flow is on one line".to_owned());
                }
            },
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Ok(words)
}

/// `word` so that it is read back as it is.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_=+.,:/@%[]".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_cut_as_a_shell_cuts_them() {
        for (line, expected) in [
            ("", &[][..]),
            ("  # nothing", &[]),
            (
                "--rate 1000\t-n 5 # a comment",
                &["--rate", "1000", "-n", "5"],
            ),
            (
                "--rate '10 kpps' --name a#b",
                &["--rate", "10 kpps", "--name", "a#b"],
            ),
            (
                r#"--name "it's \"it\" \\ \n""#,
                &["--name", r#"it's "it" \ \n"#],
            ),
            (r"a\ b '' c'd'e\#", &["a b", "", "cde#"]),
        ] {
            assert_eq!(
                words(line),
                Ok(expected.iter().map(|one| (*one).to_owned()).collect())
            );
        }
        for line in ["'open", "\"open", "a\\", "\"a\\"] {
            assert!(words(line).is_err(), "{line}");
        }
    }

    proptest! {
        #[test]
        fn what_is_quoted_is_read_back(given in prop::collection::vec("[ -~ä]{0,12}", 0..6)) {
            let line: Vec<String> = given.iter().map(|word| quoted(word)).collect();
            prop_assert_eq!(words(&line.join(" ")), Ok(given));
        }

        #[test]
        fn whatever_a_line_holds_is_words_or_refused(line: String) {
            let _ = words(&line);
        }
    }

    #[test]
    fn all_that_is_wrong_is_told_with_its_place() {
        let error = lines("f", "-n 1\n'\n\n\"")
            .expect_err("it is wrong")
            .to_string();
        assert!(
            error.starts_with("f:2: ") && error.contains("\nf:4: "),
            "{error}"
        );
        assert!(lines("f", "# none\n").is_err());
        let many = "-n 1\n".repeat(MOST_LINES + 1);
        assert!(lines("f", &many).is_err());
        // A blank at the end may be part of a word.
        let blank = lines("f", "--name a\\ \n").expect("it is right");
        assert_eq!(
            words(&blank[0].text),
            Ok(vec!["--name".to_owned(), "a ".to_owned()])
        );
        let some = lines("f", "\n -n 1 # x\n").expect("it is right");
        assert_eq!((some[0].number, some.len()), (2, 1));
    }
}
