//! Sentences of a paper with numbers that are computed anew: `Version 1 takes {v1} %`.

use crate::Paper;
use crate::cell::{Cell, mean};
use crate::experiment::Done;
use crate::spec::Finding;

/// The sentences whose numbers are all there, and how many are not.
pub fn texts(paper: &Paper, done: &[Done]) -> (Vec<String>, usize) {
    let all = paper.spec.findings.iter();
    let texts: Vec<String> = all.filter_map(|one| text(paper, done, one)).collect();
    let lacking = paper.spec.findings.len() - texts.len();
    (texts, lacking)
}

fn text(paper: &Paper, done: &[Done], finding: &Finding) -> Option<String> {
    let mut text = finding.text.clone();
    for value in &finding.values {
        let of_experiment = |one: &&Done| paper.spec.experiments[one.at].id == value.experiment;
        let is_it = |cell: &&Cell| cell.row == value.row && cell.column == value.column;
        let cell = done.iter().find(of_experiment)?.cells.iter().find(is_it)?;
        let number = mean(&cell.values)?;
        let shown = format!("{number:.*}", value.digits);
        text = text.replace(&format!("{{{}}}", value.name), &shown);
    }
    Some(text)
}

/// The names between braces in `text`.
pub(crate) fn names(text: &str) -> Vec<&str> {
    let parts = text.split('{').skip(1);
    parts
        .filter_map(|part| Some(part.split_once('}')?.0))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Spec;

    const PAPER: &str = "title = 't'\nclaim = 'c'\n[[experiment]]\nid = 'e'\nscenario = 's.toml'\n\
                         [[finding]]\ntext = 'It takes {a} % and {b} ms.'\n\
                         values = { a = 'e | r | share', b = 'e | r | delay | 1' }\n";

    fn done(cells: &[(&str, &[f64])]) -> Vec<Done> {
        let cells = cells.iter().map(|(column, values)| Cell {
            table: "t".to_owned(),
            row: "r".to_owned(),
            column: (*column).to_owned(),
            values: values.to_vec(),
            is_judged: true,
        });
        vec![Done {
            at: 0,
            ran: None,
            table: None,
            cells: cells.collect(),
            notes: Vec::new(),
            failures: Vec::new(),
            lacks: false,
            is_interrupted: false,
        }]
    }

    #[test]
    fn a_finding_has_the_numbers_of_the_run_and_none_without_them() {
        let paper = Paper {
            key: "p".to_owned(),
            dir: "p".into(),
            spec: Spec::parse("paper.toml", PAPER).unwrap(),
            expected: Vec::new(),
        };
        let ran = done(&[("share", &[40.2, 41.2]), ("delay", &[3.25])]);
        let (found, lacking) = texts(&paper, &ran);
        assert_eq!(found, ["It takes 41 % and 3.2 ms."]);
        assert_eq!(lacking, 0);
        assert_eq!(texts(&paper, &done(&[("share", &[40.0])])), (vec![], 1));
    }

    #[test]
    fn faults_of_a_finding_are_shown_with_their_place() {
        for (from, to, what) in [
            ("{b}", "{c}", "`{c}` has no value"),
            ("{b} ms", "no ms", "`b` is not in the text"),
            (
                "'e | r | share'",
                "'x | r | share'",
                "there is no experiment `x`",
            ),
            ("'e | r | share'", "'e | r'", "`a` must be"),
        ] {
            let refused = Spec::parse("paper.toml", &PAPER.replace(from, to)).unwrap_err();
            let shown = refused.to_string();
            assert!(shown.contains(what), "{shown}");
        }
    }
}
