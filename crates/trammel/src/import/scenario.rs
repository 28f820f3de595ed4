//! A scenario that runs flows over imported links: a trace says what a link can deliver, and a
//! scenario asks what flows make of it.

use super::point::Point;
use std::collections::BTreeSet;
use std::fmt::Write;
use trammel_report::run_folder::file_name;
use trammel_stats::table::Table;

/// The file of the scenario in the run folder.
pub(super) const FILE: &str = "scenario.toml";
/// A run is as long as its traces, within these: a flow needs some seconds, a reader has not hours.
const LEAST_S: f64 = 20.0;
const MOST_S: f64 = 120.0;

/// A scenario and the traces that it names.
pub(super) struct Made {
    /// The text of the scenario.
    pub(super) text: String,
    /// Names of files beside it, and what is in them.
    pub(super) traces: Vec<(String, String)>,
}

/// The scenario of the links that are among `points`, if there are any.
pub(super) fn of(points: &[Point]) -> Option<Made> {
    let mut traces = Vec::new();
    let mut taken = BTreeSet::new();
    let mut longest_s = 0.0_f64;
    for point in points {
        for run in &point.imported.runs {
            let Some(text) = &run.deliveries else {
                continue;
            };
            let name = match point.name.as_str() {
                "base" => "link",
                name => name,
            };
            let mut file = format!("{}.trace", file_name(name));
            let mut number = 2;
            while !taken.insert(file.clone()) {
                file = format!("{}-{number}.trace", file_name(name));
                number += 1;
            }
            let links = run.table("links");
            let lengths = links.into_iter().flat_map(Table::rows);
            let lengths = lengths.filter_map(|row| row.float("period_s"));
            longest_s = lengths.fold(longest_s, f64::max);
            traces.push((file, text.clone()));
        }
    }
    let (first, _) = traces.first()?;
    let mut text = format!(
        "# Flows over imported links: `trammel run {FILE}` in this folder. The traces say when a \
         packet\n# of 1504 bytes may leave, and begin anew at their end. Round trip, queue and \
         flows are no part\n# of them: change them to what you know, in a copy, since the next \
         import writes this file anew.\ntitle    = \"CUBIC and BBR \
         over imported links\"\nquestion = \"How long do packets wait on this link, and how much \
         of it is used?\"\nanswer   = \"delay\"\nduration = \"{} s\"\nwarmup   = \"2 s\"\ntrace    \
         = \"200 ms\"\n\n[path]\ntrace = {}\nrtt   = \"40 ms\"\nqueue = {{ limit = \"4 bdp\" \
         }}\n\n[[flow]]\nvariant = \"cubic\"\n\n[sweep]\n\"flow.0.variant\" = [\"cubic\", \
         \"bbr\"]\n",
        longest_s.clamp(LEAST_S, MOST_S).ceil(),
        quoted(first)
    );
    if traces.len() > 1 {
        let files: Vec<String> = traces.iter().map(|(file, _)| quoted(file)).collect();
        let _ = writeln!(text, "\"path.trace\" = [{}]", files.join(", "));
    }
    Some(Made { text, traces })
}

/// A name as TOML has it; names of files of a folder need no escape but these.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}
