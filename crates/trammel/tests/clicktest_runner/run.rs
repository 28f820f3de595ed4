//! Runs a test in a directory of its own and says how it ended.

use super::compare::difference;
use super::parse::{Clicktest, Lines};
use super::{bytes_of, read};
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// As it should.
    Passed,
    /// A requirement does not hold: which one; nothing where nobody asked.
    Skipped(Option<String>),
    /// Why not.
    Failed(String),
}

/// Where and for how long tests run.
#[derive(Clone, Debug)]
pub(crate) struct Runner {
    /// The search path of their commands.
    pub(crate) path: String,
    /// How long a script may run.
    pub(crate) limit: Duration,
}

/// A script's own shell, whose group ends with it and with nothing else: it ends itself, so that no
/// number of a process is used after the process is gone. What runs on in the background has a
/// moment to end well.
const WRAPPER: &str = "sh -e \"$1\"; echo $? > ../status; sleep 0.02; kill -KILL 0";

/// What every script may call: a mark of a part, which is no output.
const PRELUDE: &str =
    "clicktest_subtest() { echo clicktest_subtest \"$@\"; echo clicktest_subtest \"$@\" >&2; }\n";

/// How often a script is asked whether it ended.
const POLL: Duration = Duration::from_millis(3);

impl Runner {
    /// Runs `test` in a new directory.
    pub(crate) fn run(&self, test: &Clicktest) -> Ended {
        match self.try_run(test) {
            Ok(ended) => ended,
            Err(why) => Ended::Failed(why),
        }
    }

    fn try_run(&self, test: &Clicktest) -> Result<Ended, String> {
        let outside = tempfile::tempdir().map_err(|why| why.to_string())?;
        let inside = outside.path().join("test");
        make(fs::create_dir(&inside), &inside)?;
        if !test.require.is_empty() {
            let (code, said) = self.script(outside.path(), &test.require)?;
            if code != Some(0) {
                let why = format!("{}{said}", test.require);
                return Ok(Ended::Skipped((!test.is_quiet).then_some(why)));
            }
            for name in ["stdout", "stderr"] {
                let path = inside.join(name);
                make(fs::remove_file(&path), &path)?;
            }
        }
        let given = test.files.iter().map(|(name, text)| (name, Some(text)));
        let expected = test.expect.iter().map(|lines| (&lines.name, None));
        for (name, text) in given.chain(expected) {
            let path = inside.join(name);
            let folder = path.parent().expect("it is inside");
            make(fs::create_dir_all(folder), folder)?;
            if let Some(text) = text {
                make(fs::write(&path, bytes_of(text)), &path)?;
            }
        }
        let (code, said) = self.script(outside.path(), &test.script)?;
        match code {
            Some(0) => {}
            Some(code) => return Err(format!("the script ends with {code}\n{said}")),
            None => return Err(format!("the script runs too long\n{said}")),
        }
        let mut failures = String::new();
        let mut names: Vec<&str> = test
            .expect
            .iter()
            .map(|lines| lines.name.as_str())
            .collect();
        names.dedup();
        for (n, name) in names.iter().enumerate() {
            if names[..n].contains(name) {
                continue;
            }
            let actual = read(&inside.join(name)).map_err(|why| format!("{why}\n{said}"))?;
            let alternatives: Vec<&Lines> = of(&test.expect, name).collect();
            let ignored: Vec<&Lines> = of(&test.ignore, name).collect();
            if let Some(diff) = difference(&actual, &alternatives, &ignored)? {
                failures += &format!("--- {name} as expected\n+++ {name} as it came\n{diff}");
            }
        }
        if failures.is_empty() {
            return Ok(Ended::Passed);
        }
        Err(failures)
    }

    /// Runs `text` below `outside`: its code, nothing where its time was over, and what it said to
    /// the last.
    fn script(&self, outside: &Path, text: &str) -> Result<(Option<i32>, String), String> {
        let inside = outside.join("test");
        let script = outside.join("script");
        make(
            fs::write(&script, bytes_of(&format!("{PRELUDE}{text}"))),
            &script,
        )?;
        let open = |name: &str| make(File::create(inside.join(name)), &inside);
        let stdin = match File::open(inside.join("stdin")) {
            Ok(file) => Stdio::from(file),
            Err(_) => Stdio::null(),
        };
        let mut shell = Command::new("sh")
            .args(["-c", WRAPPER, "sh", "../script"])
            .current_dir(&inside)
            .env("PATH", &self.path)
            .env("LC_ALL", "C")
            .env("rundir", "..")
            .stdin(stdin)
            .stdout(open("stdout")?)
            .stderr(open("stderr")?)
            .process_group(0)
            .spawn()
            .map_err(|why| format!("sh: {why}"))?;
        let end = Instant::now() + self.limit;
        let mut is_late = false;
        while shell.try_wait().map_err(|why| why.to_string())?.is_none() {
            if Instant::now() >= end {
                is_late = true;
                // The shell is not waited for yet, so its number is still its group's.
                let group = format!("kill -KILL -{}", shell.id());
                let _ = Command::new("sh").args(["-c", &group]).status();
                shell.wait().map_err(|why| why.to_string())?;
                break;
            }
            std::thread::sleep(POLL);
        }
        let status = outside.join("status");
        let code = read(&status).ok().filter(|_| !is_late);
        let _ = fs::remove_file(&status);
        let said = read(&inside.join("stderr"))?;
        let lines: Vec<&str> = said.lines().rev().take(20).collect();
        let said = lines
            .iter()
            .rev()
            .map(|line| format!("  {line}\n"))
            .collect();
        match code.map(|code| code.trim().parse()) {
            Some(Ok(code)) => Ok((Some(code), said)),
            None if is_late => Ok((None, said)),
            _ => Err(format!("the script's shell died\n{said}")),
        }
    }
}

fn of<'a>(lines: &'a [Lines], name: &str) -> impl Iterator<Item = &'a Lines> {
    lines
        .iter()
        .filter(move |lines| lines.name == name || lines.name == "all")
}

fn make<T>(done: std::io::Result<T>, path: &Path) -> Result<T, String> {
    done.map_err(|why| format!("{}: {why}", path.display()))
}
