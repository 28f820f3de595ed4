//! `trammel calibrate`: this machine measured and written as a machine file.

use anyhow::Context;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trammel_ground::Unsupported;
use trammel_ground::whole_file;
use trammel_ground::{DONE, INTERRUPTED, print, progress, say};
use trammel_workbench::calibrate::judge::{Pair, REPEATABLE};
use trammel_workbench::calibrate::{Calibration, Error, Options, file, measure};

/// Measure this machine and write it as a machine file, `host`
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  trammel calibrate\n\n\
                  If the machine is too noisy, the exit code is 3 and nothing is written.\n\
                  --force writes the file anyway, unless the measurements are inconsistent,\n\
                  such as a cache slower than the next level.")]
pub(super) struct Args {
    /// File to write [default: $XDG_DATA_HOME/trammel/machines/host.toml]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Wall time to take, 5 s to 120 s
    #[arg(long, value_name = "TIME", default_value = "100s", value_parser = budget)]
    budget: Duration,
    /// Write the file even if the machine is too noisy, with the observed spread
    #[arg(long)]
    force: bool,
    /// Measure twice and compare, without writing anything
    #[arg(long, conflicts_with_all = ["output", "force"])]
    check: bool,
}

fn budget(text: &str) -> Result<Duration, String> {
    let seconds = super::durations::parse(text)?.as_secs_f64();
    if (5.0..=120.0).contains(&seconds) {
        return Ok(Duration::from_secs_f64(seconds));
    }
    Err(format!("`{text}` is not between 5 s and 120 s"))
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let interrupted = super::options::interrupted()?;
    if args.check {
        return check(args, &interrupted);
    }
    let path = match &args.output {
        Some(path) => {
            whole_file::may_replace(path, |bytes| {
                let text = std::str::from_utf8(bytes);
                let profiles = text.ok().and_then(trammel_cost::machine_reader::profiles);
                profiles.is_some_and(|all| !all.is_empty())
            })?;
            path.clone()
        }
        None => {
            let path = file::default_path()
                .context("neither XDG_DATA_HOME nor HOME names a folder; give `-o FILE`")?;
            // The host's own file is made anew, whatever it is.
            whole_file::may_replace(&path, |_| true)?;
            path
        }
    };
    let started = Instant::now();
    let calibration = match calibrate(args, &interrupted) {
        Ok(calibration) => calibration,
        Err(Error::Interrupted) => return Ok(stopped()),
        Err(error) => return Err(lacks(&error)),
    };
    if let Some(why) = calibration.refusal() {
        if !args.force {
            return Err(Unsupported::error(
                &why,
                "stop other programs and try again, give more time (`--budget 120s`), or write the \
                 file anyway (`--force`)",
            ));
        }
        say(&format!("warning: {why}"));
    }
    let machine = calibration.machine();
    // Not even by force.
    let text = file::text(&machine, calibration.notes()).map_err(|why| {
        Unsupported::error(
            &why,
            "try again when fewer programs run; nothing was written",
        )
    })?;
    if interrupted.load(Ordering::SeqCst) {
        return Ok(stopped());
    }
    whole_file::replace(&path, text.as_bytes()).with_context(|| format!("`{}`", path.display()))?;
    say(&format!(
        "calibrated in {:.0} s; estimates are good for ±{:.0} %; load average {}",
        started.elapsed().as_secs_f64(),
        machine.spread * 100.0,
        calibration.load
    ));
    if calibration.is_shared() {
        say(
            "note: other programs wait for this machine's processors and may affect latencies; \
             calibrate again when they have ended",
        );
    }
    print(&path.display().to_string())?;
    Ok(ExitCode::from(DONE))
}

fn calibrate(args: &Args, interrupted: &AtomicBool) -> Result<Calibration, Error> {
    const STEPS: u64 = 100;
    // The share of the time that operations take; the rest is for elements.
    const OPERATIONS: f64 = 0.4;
    let bar = progress::bar(STEPS);
    let measured = measure(&Options {
        budget: args.budget.mul_f64(OPERATIONS),
        is_over: &|| interrupted.load(Ordering::SeqCst),
        progress: &|share| bar.set_position((share * STEPS as f64 * OPERATIONS) as u64),
    });
    #[cfg(target_os = "linux")]
    let measured = measured.and_then(|mut calibration| {
        let left = args.budget.mul_f64(1.0 - OPERATIONS);
        let is_over = || interrupted.load(Ordering::SeqCst);
        let progress = |share: f64| {
            let share = OPERATIONS + share * (1.0 - OPERATIONS);
            bar.set_position((share * STEPS as f64) as u64);
        };
        trammel_workbench::calibrate::siblings::learn(&mut calibration);
        trammel_workbench::calibrate::elements::learn(&mut calibration, left, &is_over, &progress)?;
        Ok(calibration)
    });
    bar.finish_and_clear();
    measured
}

fn stopped() -> ExitCode {
    say(&Error::Interrupted.to_string());
    ExitCode::from(INTERRUPTED)
}

fn lacks(error: &Error) -> anyhow::Error {
    Unsupported::error(
        &error.to_string(),
        "describe the machine in a file as `trammel doc` shows, or use a built-in one (`trammel \
         list machines`)",
    )
}

/// Measures twice and shows what usual functions cost by both, and every constant.
fn check(args: &Args, interrupted: &AtomicBool) -> anyhow::Result<ExitCode> {
    let twice =
        calibrate(args, interrupted).and_then(|first| Ok((first, calibrate(args, interrupted)?)));
    let (first, second) = match twice {
        Ok(twice) => twice,
        Err(Error::Interrupted) => return Ok(stopped()),
        Err(error) => return Err(lacks(&error)),
    };
    let (functions, constants) = trammel_workbench::calibrate::compared(&first, &second);
    let pairs: Vec<&Pair> = functions.iter().chain(&constants).collect();
    let width = pairs.iter().map(|pair| pair.name.len()).max().unwrap_or(0);
    print(&format!(
        "{:width$}  {:>10}  {:>10}  {:6}  {:>6}  verdict",
        "function or constant", "first", "second", "unit", "differ"
    ))?;
    // Functions decide: a constant of a cycle may differ by much and change no estimate.
    for pair in &functions {
        let verdict = if pair.difference() <= REPEATABLE {
            format!("  within {:.0} %", REPEATABLE * 100.0)
        } else {
            "  could not".to_owned()
        };
        print(&format!("{}{verdict}", row(pair, width)))?;
    }
    for pair in &constants {
        print(&row(pair, width))?;
    }
    let could_not = functions
        .iter()
        .filter(|pair| pair.difference() > REPEATABLE)
        .count();
    say(&format!(
        "{} of {} functions within {:.0} %; load average {}, then {}",
        functions.len() - could_not,
        functions.len(),
        REPEATABLE * 100.0,
        first.load,
        second.load
    ));
    Ok(ExitCode::from(if could_not == 0 {
        DONE
    } else {
        trammel_ground::FAILED
    }))
}

fn row(pair: &Pair, width: usize) -> String {
    format!(
        "{:width$}  {:>10.2}  {:>10.2}  {:6}  {:>4.1} %",
        pair.name,
        pair.first,
        pair.second,
        pair.unit.word(),
        pair.difference() * 100.0
    )
}
