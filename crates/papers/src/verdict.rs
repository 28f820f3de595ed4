//! Verdicts: what comparing a printed number with ours gave when it was recorded, why, and whether
//! it still does.
//!
//! A verdict is a regression snapshot, not a claim: `matches` changes with a difference above the
//! tolerance, `differs` with one within it. A printed number that cannot be right and suddenly
//! agrees is as much a change as one that ceases to agree.

use trammel_stats::table::round_to;

/// What comparing gave when it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Within the tolerance.
    Matches,
    /// Outside it, by a mechanism that is named.
    Differs,
    /// It cannot be run here: what it is of is missing.
    Inapplicable,
}

impl Verdict {
    /// The verdict of a word in `expected.csv`.
    pub fn from_word(word: &str) -> Option<Verdict> {
        [Verdict::Matches, Verdict::Differs, Verdict::Inapplicable]
            .into_iter()
            .find(|verdict| verdict.word() == word)
    }
    /// The word in `expected.csv`.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Matches => "matches",
            Verdict::Differs => "differs",
            Verdict::Inapplicable => "inapplicable",
        }
    }
}

/// Why a number matches or differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It matches, and no constant was chosen to have it match.
    Unaided,
    /// It matches, for a constant was chosen so.
    Fitted,
    /// It differs by a mechanism that was shown: in the paper's arithmetic, in its program, or in
    /// ours.
    Known,
    /// It differs by what we infer of a set-up that the paper does not state.
    Inferred,
    /// It differs, and no cause was found.
    Unexplained,
    /// It is inapplicable.
    Lacking,
}

impl Cause {
    /// All, with the verdict of each and its word in `expected.csv`.
    const ALL: [(Cause, Verdict, &'static str); 6] = [
        (Cause::Unaided, Verdict::Matches, ""),
        (Cause::Fitted, Verdict::Matches, "fitted"),
        (Cause::Known, Verdict::Differs, "known"),
        (Cause::Inferred, Verdict::Differs, "inferred"),
        (Cause::Unexplained, Verdict::Differs, "unexplained"),
        (Cause::Lacking, Verdict::Inapplicable, ""),
    ];

    /// The cause that `word` names in a row of `verdict`.
    pub fn from_word(verdict: Verdict, word: &str) -> Option<Cause> {
        let mut all = Cause::ALL.into_iter();
        all.find(|(_, of, name)| (*of, *name) == (verdict, word))
            .map(|(cause, ..)| cause)
    }

    /// The word in `expected.csv`.
    pub fn word(self) -> &'static str {
        let mut all = Cause::ALL.into_iter();
        all.find(|(cause, ..)| *cause == self)
            .map_or("", |(.., word)| word)
    }

    /// The words that a row of `verdict` may have.
    pub fn words_of(verdict: Verdict) -> Vec<&'static str> {
        let all = Cause::ALL.into_iter();
        all.filter_map(|(_, of, name)| (of == verdict).then_some(name))
            .collect()
    }
}

/// What came of comparing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictOutcome {
    /// As the verdict says.
    AsRecorded,
    /// The verdict says `matches` and ours differs.
    UnexpectedlyDiffers,
    /// The verdict says `differs` and ours agrees.
    UnexpectedlyAgrees,
    /// Nothing was computed.
    NotRun,
    /// Nothing can be computed here.
    Inapplicable,
}

impl VerdictOutcome {
    /// The words in tables.
    pub fn words(self) -> &'static str {
        match self {
            VerdictOutcome::AsRecorded => "as recorded",
            VerdictOutcome::UnexpectedlyDiffers => "changed: it matched",
            VerdictOutcome::UnexpectedlyAgrees => "changed: it differed",
            VerdictOutcome::NotRun => "not run",
            VerdictOutcome::Inapplicable => "inapplicable",
        }
    }
    /// Whether the verdict has changed.
    pub fn has_changed(self) -> bool {
        matches!(
            self,
            VerdictOutcome::UnexpectedlyDiffers | VerdictOutcome::UnexpectedlyAgrees
        )
    }
}

/// Whether `ours` is the `printed` number: within `tolerance`, or where that is 0, equal to it once
/// cut (not rounded) to as many decimals as are printed.
pub fn agrees(ours: f64, printed: &str, tolerance: f64) -> bool {
    let Ok(value) = printed.parse::<f64>() else {
        return false;
    };
    if tolerance > 0.0 {
        // The last bit of a difference of decimals is no difference.
        return (ours - value).abs() <= tolerance * (1.0 + 1e-9);
    }
    cut(ours, decimals(printed)) == format!("{value:.*}", decimals(printed))
}

/// Judges `ours` against a printed number.
pub fn judge(ours: Option<f64>, printed: &str, tolerance: f64, verdict: Verdict) -> VerdictOutcome {
    let agrees = ours.map(|ours| agrees(ours, printed, tolerance));
    match (verdict, agrees) {
        (Verdict::Inapplicable, _) => VerdictOutcome::Inapplicable,
        (_, None) => VerdictOutcome::NotRun,
        (Verdict::Matches, Some(true)) | (Verdict::Differs, Some(false)) => {
            VerdictOutcome::AsRecorded
        }
        (Verdict::Matches, Some(false)) => VerdictOutcome::UnexpectedlyDiffers,
        (Verdict::Differs, Some(true)) => VerdictOutcome::UnexpectedlyAgrees,
    }
}

/// Digits behind the point of a printed number.
pub fn decimals(printed: &str) -> usize {
    printed
        .split_once('.')
        .map_or(0, |(_, behind)| behind.len())
}

/// `value` with all digits behind the `decimals`th left out.
pub fn cut(value: f64, decimals: usize) -> String {
    // Nine digits decide, so that 0.7 computed as 0.69999999999 is 0.7.
    let scale = 10_f64.powi(i32::try_from(decimals).unwrap_or(0));
    let cut = round_to(round_to(value, 9) * scale, 9).trunc() / scale;
    format!("{cut:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_cut_and_not_rounded() {
        assert_eq!(cut(0.0687, 2), "0.06");
        assert_eq!(cut(0.699_999_999_999, 1), "0.7");
        assert_eq!(cut(0.57, 2), "0.57");
        assert_eq!(cut(-1.29, 1), "-1.2");
    }

    #[test]
    fn tolerance_zero_asks_for_the_printed_digits() {
        assert!(agrees(0.4246, "0.42", 0.0));
        assert!(!agrees(0.4199, "0.42", 0.0));
        assert!(!agrees(0.1892, "0.19", 0.0), "rounded is not cut");
        assert!(agrees(0.709, "0.7", 0.0));
        assert!(agrees(51.0, "51.00", 0.0));
    }

    #[test]
    fn a_tolerance_includes_its_end() {
        assert!(agrees(0.47, "0.42", 0.05));
        assert!(!agrees(0.4701, "0.42", 0.05));
        assert!(!agrees(f64::NAN, "0.42", 0.05));
    }

    #[test]
    fn both_directions_are_changes() {
        let judge = |ours, verdict| judge(ours, "0.5", 0.1, verdict);
        assert_eq!(
            judge(Some(0.55), Verdict::Matches),
            VerdictOutcome::AsRecorded
        );
        assert_eq!(
            judge(Some(0.65), Verdict::Matches),
            VerdictOutcome::UnexpectedlyDiffers
        );
        assert_eq!(
            judge(Some(0.65), Verdict::Differs),
            VerdictOutcome::AsRecorded
        );
        assert_eq!(
            judge(Some(0.55), Verdict::Differs),
            VerdictOutcome::UnexpectedlyAgrees
        );
        assert_eq!(judge(None, Verdict::Differs), VerdictOutcome::NotRun);
        let inapplicable = VerdictOutcome::Inapplicable;
        assert_eq!(judge(None, Verdict::Inapplicable), inapplicable);
        assert!(!inapplicable.has_changed());
        assert!(
            !VerdictOutcome::NotRun.has_changed()
                && VerdictOutcome::UnexpectedlyAgrees.has_changed()
        );
    }
}
