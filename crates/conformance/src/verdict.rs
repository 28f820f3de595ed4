//! The verdict on a subject in a case.

use crate::case::{Case, Check};
use crate::measure::{Missing, Observation, Observed, observe};
use crate::subject::{Source, Subject, Variant};
use trammel_stats::table::format_float;
use trammel_transport::points::Watch;

/// What a subject's behaviour in a case comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every condition holds.
    Pass,
    /// A condition does not hold.
    Fail,
    /// A condition does not hold, as is known of this subject: the reason.
    Departs(String),
    /// The case does not apply to this subject: the reason.
    NotApplicable(String),
    /// A condition cannot be judged from what is known of the run: what is missing.
    NotObservable(String),
}

impl Verdict {
    /// One word or two.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Departs(_) => "departs",
            Verdict::NotApplicable(_) => "not applicable",
            Verdict::NotObservable(_) => "not observable",
        }
    }

    /// The reason, where the word does not say all.
    pub fn reason(&self) -> &str {
        match self {
            Verdict::Pass | Verdict::Fail => "",
            Verdict::Departs(why) | Verdict::NotApplicable(why) | Verdict::NotObservable(why) => {
                why
            }
        }
    }
}

/// A condition, as it was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it says.
    pub says: String,
    /// What was observed.
    pub observed: String,
    /// What it must be.
    pub bound: String,
    /// Whether it holds; nothing where it cannot be judged.
    pub holds: Option<bool>,
}

/// A case that was judged.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// The case.
    pub case: &'a Case,
    /// The verdict.
    pub verdict: Verdict,
    /// Its conditions; none where the case was not run.
    pub findings: Vec<Finding>,
    /// What the subject did, for figures.
    pub seen: Observation,
}

/// Judges `subject` in `case`. The log of a foreign stack is judged by checks that hold on any
/// path, and by all where `is_on_path` says that it was made on the case's own.
pub fn judge<'a>(
    case: &'a Case,
    subject: &Subject,
    is_on_path: bool,
    watch: &dyn Watch,
) -> anyhow::Result<Judged<'a>> {
    let unjudged = |verdict| Judged {
        case,
        verdict,
        findings: Vec::new(),
        seen: Observation::default(),
    };
    if let Some(known) = case.excused.iter().find(|known| subject.is(&known.who)) {
        return Ok(unjudged(Verdict::NotApplicable(known.why.clone())));
    }
    if let Some(what) = &case.waits_for {
        return Ok(unjudged(Verdict::NotObservable(format!(
            "it waits for {what}"
        ))));
    }
    if case.scenario.is_none() && !matches!(subject.source, Source::Simulator) {
        let why = "a script of segments runs against the simulator's TCP; `trammel packetdrill` \
                   says how to put it to a kernel";
        return Ok(unjudged(Verdict::NotObservable(why.to_owned())));
    }
    let seen = match subject.observe(case, &subject.variant, watch)? {
        Ok(seen) => seen,
        Err(why) => return Ok(unjudged(Verdict::NotObservable(why))),
    };
    let reference = match &case.reference {
        Some(variant) if !matches!(subject.source, Source::Log(_)) => {
            subject.observe(case, &Variant::read(variant)?, watch)?.ok()
        }
        _ => None,
    };
    let is_log = matches!(subject.source, Source::Log(_));
    let find = |check: &Check| {
        if is_log && !check.anywhere && !is_on_path {
            return finding(check, Err(&Missing::OtherPath), None);
        }
        let found = measured(check, &seen, reference.as_ref());
        let holds = match &found {
            Ok(observed) => Some(
                check.at_least.is_none_or(|least| observed.value >= least)
                    && check.at_most.is_none_or(|most| observed.value <= most),
            ),
            // The simulator tells all that a variant has; what it lacks, it does not do.
            Err(Missing::Unknown(_)) => {
                matches!(subject.source, Source::Simulator).then_some(false)
            }
            Err(Missing::Never(_)) => (!is_log).then_some(false),
            Err(Missing::OtherPath) => None,
        };
        finding(check, found.as_ref(), holds)
    };
    let findings: Vec<Finding> = case.checks.iter().map(find).collect();
    let departure = case.departs.iter().find(|known| subject.is(&known.who));
    let verdict = if findings.iter().any(|one| one.holds == Some(false)) {
        match departure {
            Some(known) => Verdict::Departs(known.why.clone()),
            None => Verdict::Fail,
        }
    } else if let Some(lacks) = findings.iter().find(|one| one.holds.is_none()) {
        Verdict::NotObservable(format!("{}: {}", lacks.says, lacks.observed))
    } else {
        Verdict::Pass
    };
    Ok(Judged {
        case,
        verdict,
        findings,
        seen,
    })
}

fn measured(
    check: &Check,
    seen: &Observation,
    reference: Option<&Observation>,
) -> Result<Observed, Missing> {
    let measured = observe(&check.measure, seen, reference)?;
    let Some(over) = &check.over else {
        return Ok(measured);
    };
    let over = observe(over, seen, reference)?;
    if over.value == 0.0 {
        return Err(Missing::Never(
            "a value other than 0 to divide by".to_owned(),
        ));
    }
    Ok(Observed {
        value: measured.value / over.value,
        shown: None,
    })
}

fn finding(check: &Check, found: Result<&Observed, &Missing>, holds: Option<bool>) -> Finding {
    let number = |value: f64| format_float(value, 4);
    let observed = match found {
        Ok(observed) => {
            let shown = observed.shown.clone();
            shown.unwrap_or_else(|| number(observed.value))
        }
        Err(missing) => missing.words(),
    };
    let is_told = matches!(found, Ok(Observed { shown: Some(_), .. }));
    let bound = match (check.at_least, check.at_most) {
        // A script passes, a course is taken.
        (Some(1.0), None) if is_told => String::new(),
        (Some(least), Some(most)) if least == most => number(least),
        (Some(least), Some(most)) => format!("{} to {}", number(least), number(most)),
        (Some(least), None) => format!("at least {}", number(least)),
        (None, Some(most)) => format!("at most {}", number(most)),
        (None, None) => String::new(),
    };
    Finding {
        says: check.says.clone(),
        observed,
        bound,
        holds,
    }
}
