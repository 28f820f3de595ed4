//! Where a report's numbers come from, from what its run folder records.

use crate::Provenance;
use crate::run_folder::RunInfo;

/// Says that `runs` runs of an earlier command are not made again.
pub fn going_on(runs: usize) {
    if runs > 0 {
        trammel_ground::say(&format!("resuming with {runs} finished runs"));
    }
}

/// What was run, to a person.
pub fn subject(info: &RunInfo) -> Vec<(String, String)> {
    let seeds = match info.seeds[..] {
        [] => String::new(),
        [only] => only.to_string(),
        [first, .., last] => format!("{first} to {last}"),
    };
    vec![
        ("scenario".to_owned(), info.scenario.clone()),
        ("seeds".to_owned(), seeds),
    ]
}

/// Where a report's numbers come from; `subject` are facts on what was run.
pub fn provenance(info: &RunInfo, subject: Vec<(String, String)>) -> Provenance {
    let mut facts = vec![
        ("command".to_owned(), info.command.join(" ")),
        ("version".to_owned(), info.version.clone()),
    ];
    facts.extend(subject);
    facts.push(("started".to_owned(), info.started.clone()));
    let wall = info.wall_s.iter();
    facts.extend(wall.map(|(stage, s)| (format!("wall time, {stage}"), format!("{s} s"))));
    facts.extend(info.machine.clone());
    Provenance {
        facts,
        scenario: info.scenario_text.clone(),
    }
}
