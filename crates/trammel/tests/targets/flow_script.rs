//! A script of flows is lines of words or refused with its places; a word is quoted so that it is
//! read back as it is.

use trammel::streams::script::{MOST_LINES, lines, quoted, words};

/// Reads `text` as a script.
pub(crate) fn run(text: &str) {
    match lines("flows.txt", text) {
        Ok(lines) => {
            assert!((1..=MOST_LINES).contains(&lines.len()));
            for line in lines {
                let given = words(&line.text).expect("a line that was taken has words");
                let again: Vec<String> = given.iter().map(|word| quoted(word)).collect();
                assert_eq!(words(&again.join(" ")), Ok(given));
            }
        }
        Err(why) => assert!(why.to_string().contains("flows.txt")),
    }
}
