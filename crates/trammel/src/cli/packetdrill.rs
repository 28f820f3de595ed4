//! `trammel packetdrill`: scripts of packetdrill's against our TCP.

#[cfg(target_os = "linux")]
mod in_kernel;

use clap::ValueEnum;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use trammel_ground::{DONE, FAILED, USAGE, print, say};
use trammel_packetdrill::{ScriptOutcome, Tested, inapplicable, run_on as play};
use trammel_tcp::stack::BeyondWindow;

/// Run packetdrill scripts against the simulator's TCP, in virtual time
///
/// A script says what an application does, what arrives from the network, what must be sent, and
/// when. Scripts of google/packetdrill and of the kernel's selftests are supported. No root is
/// needed, and no command of a script is executed: commands that set options which the simulator
/// models take effect, others skip the script.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel packetdrill crates/packetdrill/scripts\n  trammel \
                  packetdrill --verbose handshake.pkt\n  trammel packetdrill --table --linux 7.1 \
                  linux/tools/testing/selftests/net/packetdrill\n  trammel packetdrill --table \
                  --beside kernel crates/packetdrill/scripts\n\n\
                  Exit codes:\n  0    none failed\n  1    a script failed\n  2    a script cannot \
                  be read"
)]
pub(super) struct Args {
    /// Scripts, and folders of `.pkt` files
    #[arg(value_name = "FILE", required = true)]
    paths: Vec<PathBuf>,
    /// Show all segments and calls with their times
    #[arg(short, long, conflicts_with_all = ["table", "json"])]
    verbose: bool,
    /// Behave as this version of Linux where versions differ
    #[arg(long, value_name = "VERSION", default_value = "6.12")]
    linux: Version,
    /// Write a table of all scripts: passed, inapplicable or missed, and why
    #[arg(long)]
    table: bool,
    /// Write that table as JSON
    #[arg(long, conflicts_with = "table")]
    json: bool,
    /// Beside each script, what the original says of it: in the kernel of this machine (`kernel`,
    /// needs root and the program `packetdrill`, and runs the scripts' commands), or as a file says
    /// in lines `pass FILE` or `FAIL FILE`, which scripts/packetdrill writes
    #[arg(long, value_name = "kernel|FILE", conflicts_with = "verbose")]
    beside: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Version {
    #[value(name = "6.12")]
    V6_12,
    #[value(name = "7.1")]
    V7_1,
}

/// What became of one script.
struct Judged {
    path: PathBuf,
    how: How,
    /// The line that it is about.
    line: Option<u32>,
    /// Why, in a line.
    why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Passed,
    /// It tests what a simulated connection has not.
    Inapplicable,
    /// It uses something that is missing here.
    Skipped,
    Failed,
    Unreadable,
}

impl How {
    /// Its word in a table.
    fn word(self) -> &'static str {
        match self {
            How::Passed => "pass",
            How::Inapplicable => "inapplicable",
            How::Skipped | How::Failed => "missed",
            How::Unreadable => "unreadable",
        }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let tested = match args.linux {
        Version::V6_12 => Tested::default(),
        Version::V7_1 => Tested {
            stack: |stack| {
                stack.answers_future_acks = true;
                stack.beyond_window = BeyondWindow::TakenAlone;
            },
            ..Tested::default()
        },
    };
    let is_table = args.table || (args.beside.is_some() && !args.json);
    let is_told = !is_table && !args.json;
    let mut named = Vec::new();
    let mut all = Vec::new();
    let mut has_none = false;
    for path in &args.paths {
        let scripts = scripts(path)?;
        if scripts.is_empty() {
            has_none = true;
            say(&format!(
                "error: `{}` has no script; name a script or a folder with files `*.pkt`",
                path.display()
            ));
        }
        for script in scripts {
            all.push(judge(&script, args.verbose, is_told, &tested)?);
            named.push(script);
        }
    }
    let kernel = match args.beside.as_deref() {
        None => None,
        Some(beside) if beside == Path::new("kernel") => Some(in_this_kernel(&named)?),
        Some(list) => Some(of_kernel(list)?),
    };
    let count = |how: How| all.iter().filter(|one| one.how == how).count();
    let (passed, failed) = (count(How::Passed), count(How::Failed));
    let skipped = count(How::Skipped) + count(How::Inapplicable);
    let unreadable = count(How::Unreadable) > 0 || has_none;
    if args.json {
        print(&format!("{:#}", as_json(&all, kernel.as_ref())))?;
    } else if is_table {
        print(&as_table(&all, kernel.as_ref()))?;
    } else {
        print(&format!(
            "{passed} passed, {failed} failed, {skipped} skipped"
        ))?;
    }
    Ok(ExitCode::from(match (unreadable, failed) {
        (true, _) => USAGE,
        (false, 1..) => FAILED,
        (false, 0) => DONE,
    }))
}

/// A script's name, by which lists of different places are matched.
fn name(path: &Path) -> String {
    let name = path.file_stem().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

#[cfg(target_os = "linux")]
fn in_this_kernel(scripts: &[PathBuf]) -> anyhow::Result<BTreeMap<String, bool>> {
    in_kernel::judge(scripts)
}

#[cfg(not(target_os = "linux"))]
fn in_this_kernel(_: &[PathBuf]) -> anyhow::Result<BTreeMap<String, bool>> {
    anyhow::bail!("`--beside kernel` needs Linux; name a list that was made there: `--beside FILE`")
}

/// What a list says of each script: whether it passed.
fn of_kernel(path: &Path) -> anyhow::Result<BTreeMap<String, bool>> {
    let text = fs::read_to_string(path)
        .map_err(|why| anyhow::anyhow!("`{}` cannot be read: {why}", path.display()))?;
    let line = |line: &str| {
        let (word, rest) = line.split_once(' ')?;
        let passed = match word {
            "pass" | "ok" => true,
            "FAIL" => false,
            _ => return None,
        };
        let end = rest.find(".pkt")?;
        Some((name(Path::new(&rest[..end + 4])), passed))
    };
    let all: BTreeMap<_, _> = text.lines().filter_map(line).collect();
    if all.is_empty() {
        anyhow::bail!(
            "`{}` has no line like `pass FILE.pkt` or `FAIL FILE.pkt`; scripts/packetdrill writes \
             such",
            path.display()
        );
    }
    Ok(all)
}

/// What the kernel's list says of a script, in a word.
fn beside(one: &Judged, kernel: Option<&BTreeMap<String, bool>>) -> &'static str {
    match kernel.and_then(|kernel| kernel.get(&name(&one.path))) {
        Some(true) => "pass",
        Some(false) => "FAIL",
        None => "-",
    }
}

/// How many passed of those that could, in words.
fn score(all: &[Judged], kernel: Option<&BTreeMap<String, bool>>) -> String {
    let count = |how: &str| all.iter().filter(|one| one.how.word() == how).count();
    let (passed, out, missed) = (count("pass"), count("inapplicable"), count("missed"));
    let of = passed + missed;
    let share = match of {
        0 => String::new(),
        of => {
            let percent = 100.0 * passed as f64 / of as f64;
            format!(", {percent:.1} % of the applicable pass")
        }
    };
    let beside = kernel.map_or_else(String::new, |_| {
        let known = all.iter().map(|one| beside(one, kernel));
        let known: Vec<_> = known.filter(|word| *word != "-").collect();
        let well = known.iter().filter(|word| **word == "pass").count();
        format!("; in the kernel {well} of {} pass", known.len())
    });
    format!(
        "{} scripts: {passed} pass, {out} inapplicable, {missed} missed{share}{beside}",
        all.len()
    )
}

fn as_table(all: &[Judged], kernel: Option<&BTreeMap<String, bool>>) -> String {
    let widest = all.iter().map(|one| name(&one.path).chars().count()).max();
    let width = widest.unwrap_or(0).max("script".len());
    let column = |word: &str| match kernel {
        Some(_) => format!("  {word:<6}"),
        None => String::new(),
    };
    let mut lines = vec![format!(
        "{:<width$}  {:<12}{}  why",
        "script",
        "here",
        column("kernel")
    )];
    for one in all {
        let line = one
            .line
            .map_or_else(String::new, |line| format!("line {line}: "));
        let text = format!(
            "{:<width$}  {:<12}{}  {line}{}",
            name(&one.path),
            one.how.word(),
            column(beside(one, kernel)),
            one.why
        );
        lines.push(text.trim_end().to_owned());
    }
    lines.push(score(all, kernel));
    lines.join("\n")
}

fn as_json(all: &[Judged], kernel: Option<&BTreeMap<String, bool>>) -> serde_json::Value {
    let scripts = all.iter().map(|one| {
        let of_kernel = kernel.and_then(|kernel| kernel.get(&name(&one.path)));
        json!({
            "script": name(&one.path),
            "file": one.path.display().to_string(),
            "outcome": one.how.word(),
            "line": one.line,
            "why": (!one.why.is_empty()).then_some(&one.why),
            "passes_in_kernel": of_kernel,
        })
    });
    let scripts: Vec<_> = scripts.collect();
    let count = |how: &str| all.iter().filter(|one| one.how.word() == how).count();
    json!({
        "scripts": scripts,
        "passed": count("pass"),
        "inapplicable": count("inapplicable"),
        "missed": count("missed"),
    })
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

/// Runs one script; what became of it is told at once where there is no table.
fn judge(path: &Path, is_verbose: bool, is_told: bool, tested: &Tested) -> anyhow::Result<Judged> {
    let shown = path.display();
    let folder = path.parent().unwrap_or(Path::new(""));
    let files = |named: &str| fs::read_to_string(folder.join(named)).ok();
    let judged = |how, line, why: String| Judged {
        path: path.to_owned(),
        how,
        line,
        why,
    };
    let report = match fs::read_to_string(path).map(|text| play(&text, &files, tested)) {
        Ok(Ok(report)) => report,
        Ok(Err(why)) => {
            say(&format!("error: {shown}:{why}"));
            return Ok(judged(How::Unreadable, None, why.to_string()));
        }
        Err(why) => {
            say(&format!(
                "error: `{shown}` cannot be read: {why}; name a script or a folder of scripts"
            ));
            return Ok(judged(How::Unreadable, None, why.to_string()));
        }
    };
    if is_verbose {
        for line in &report.trace {
            print(&format!("  {line}"))?;
        }
    }
    Ok(match report.outcome {
        ScriptOutcome::Passed => {
            if is_told {
                print(&format!("pass {shown}"))?;
            }
            judged(How::Passed, None, String::new())
        }
        ScriptOutcome::Skipped { place, what } => {
            if is_told {
                print(&format!("skip {shown}:{}: {what}", place.line))?;
            }
            match inapplicable(&what) {
                Some(reason) => judged(How::Inapplicable, Some(place.line), reason.to_owned()),
                None => judged(
                    How::Skipped,
                    Some(place.line),
                    format!("not modelled: {what}"),
                ),
            }
        }
        ScriptOutcome::Failed(failure) => {
            let seconds = failure.at.as_secs_f64();
            let (expected, got) = (&failure.expected, &failure.got);
            if is_told {
                print(&format!(
                    "FAIL {shown}:{}: after {seconds:.6} s\n  expected {expected}\n  got      \
                     {got}",
                    failure.place.line
                ))?;
            }
            let why = format!("expected {expected}, got {got}");
            judged(How::Failed, Some(failure.place.line), why)
        }
    })
}
