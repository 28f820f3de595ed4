//! `trammel packetdrill`: scripts of packetdrill's against our TCP.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use trammel_ground::{DONE, FAILED, USAGE, print, say};
use trammel_packetdrill::{ScriptOutcome, run as play};

/// Run packetdrill scripts against the simulator's TCP, in virtual time
///
/// A script says what an application does, what arrives from the network, what must be sent, and
/// when. Scripts of google/packetdrill are supported. No root is needed, and no command of a script
/// is executed: commands that set options which the simulator models take effect, others skip the
/// script.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trammel packetdrill crates/packetdrill/scripts\n  trammel \
                  packetdrill --verbose handshake.pkt\n\n\
                  Exit codes:\n  0    none failed\n  1    a script failed\n  2    a script cannot \
                  be read"
)]
pub(super) struct Args {
    /// Scripts, and folders of `.pkt` files
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    /// Show all segments and calls with their times
    #[arg(short, long)]
    verbose: bool,
}

/// How many scripts came out how.
#[derive(Debug, Default)]
struct Count {
    passed: u32,
    failed: u32,
    skipped: u32,
    unreadable: u32,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut count = Count::default();
    for path in &args.paths {
        let scripts = scripts(path)?;
        if scripts.is_empty() {
            count.unreadable += 1;
            say(&format!(
                "error: `{}` has no script; name a script or a folder with files `*.pkt`",
                path.display()
            ));
        }
        for script in scripts {
            judge(&script, args.verbose, &mut count)?;
        }
    }
    let Count {
        passed,
        failed,
        skipped,
        unreadable,
    } = count;
    print(&format!(
        "{passed} passed, {failed} failed, {skipped} skipped"
    ))?;
    Ok(ExitCode::from(match (unreadable, failed) {
        (1.., _) => USAGE,
        (0, 1..) => FAILED,
        (0, 0) => DONE,
    }))
}

/// The scripts at `path`, in order.
fn scripts(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unreadable = |why| {
        anyhow::anyhow!(
            "`{}` cannot be listed: {why}; name its scripts",
            path.display()
        )
    };
    let entries = fs::read_dir(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries: Vec<PathBuf> = entries
        .map_err(unreadable)?
        .into_iter()
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            found.extend(scripts(&entry)?);
        } else if entry
            .extension()
            .is_some_and(|extension| extension == "pkt")
        {
            found.push(entry);
        }
    }
    Ok(found)
}

/// Runs one script and says what became of it.
fn judge(path: &Path, is_verbose: bool, count: &mut Count) -> anyhow::Result<()> {
    let name = path.display();
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = |named: &str| fs::read_to_string(folder.join(named)).ok();
    let report = match fs::read_to_string(path).map(|text| play(&text, &files)) {
        Ok(Ok(report)) => report,
        Ok(Err(why)) => {
            count.unreadable += 1;
            say(&format!("error: {name}:{why}"));
            return Ok(());
        }
        Err(why) => {
            count.unreadable += 1;
            say(&format!(
                "error: `{name}` cannot be read: {why}; name a script or a folder of scripts"
            ));
            return Ok(());
        }
    };
    if is_verbose {
        for line in &report.trace {
            print(&format!("  {line}"))?;
        }
    }
    match report.outcome {
        ScriptOutcome::Passed => {
            count.passed += 1;
            print(&format!("pass {name}"))?;
        }
        ScriptOutcome::Skipped { place, what } => {
            count.skipped += 1;
            print(&format!("skip {name}:{}: {what}", place.line))?;
        }
        ScriptOutcome::Failed(failure) => {
            count.failed += 1;
            let seconds = failure.at.as_secs_f64();
            print(&format!(
                "FAIL {name}:{}: after {seconds:.6} s\n  expected {}\n  got      {}",
                failure.place.line, failure.expected, failure.got
            ))?;
        }
    }
    Ok(())
}
