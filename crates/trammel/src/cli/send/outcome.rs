//! What is said of flows that were sent, and the exit code that it means.

use trammel_ground::{DONE, FAILED, INTERRUPTED, USAGE, print, say};
use trammel_stats::table::write_json;
use trammel_streams::metrics;
use trammel_streams::send::SendOutcome;

/// Shows what became of flows.
pub(in crate::cli) fn show(outcome: &SendOutcome, is_json: bool) -> anyhow::Result<()> {
    if let Some(why) = &outcome.log_fault {
        say(&warning(why));
    }
    print(shown(outcome, is_json)?.trim_end())?;
    Ok(())
}

pub(super) fn warning(log_fault: &str) -> String {
    format!("warning: {log_fault}; the log lacks everything after that")
}

/// What is printed of flows.
pub(super) fn shown(outcome: &SendOutcome, json: bool) -> anyhow::Result<String> {
    if json {
        let mut tables = outcome.tables();
        tables.extend(metrics::tables_of(&outcome.reports));
        let mut bytes = Vec::new();
        write_json(&tables, &mut bytes)?;
        return Ok(String::from_utf8(bytes)?);
    }
    let mut text = outcome.text();
    for report in &outcome.reports {
        text += &metrics::text(report);
    }
    Ok(text)
}

/// The exit code of what became of flows. A log that could not be kept is an output that is not
/// there.
pub(in crate::cli) fn code(outcome: &SendOutcome, is_interrupted: bool) -> u8 {
    if is_interrupted {
        INTERRUPTED
    } else if outcome.log_fault.is_some() {
        USAGE
    } else if outcome.is_whole() {
        DONE
    } else {
        FAILED
    }
}
