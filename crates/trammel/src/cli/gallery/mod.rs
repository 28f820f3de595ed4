//! `trammel gallery`: small scenarios that come with the program, each a question with its answer.

mod page;

use super::options::interrupted;
use super::output::out;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_core::units::nearest;
use trammel_forwarding::for_placement::ForPlacement;
use trammel_ground::{DONE, INTERRUPTED, say};
use trammel_library::gallery::{self, Exhibit};
use trammel_report::run::Request;
use trammel_report::run_folder::{Asked, Out, Setting};
use trammel_scenario::{Description, Reading};
use trammel_transport::refusals::reading;

/// Columns of the list.
const WIDTH: usize = 100;

/// Show the gallery: small scenarios, each a question with its answer
///
/// Without a NAME all are listed by theme; with one its file is shown, whose comments explain it.
/// `trammel new NAME` writes a copy to begin with.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel gallery\n  trammel gallery bufferbloat\n  trammel gallery \
                  --run bufferbloat -o out/bufferbloat\n  trammel gallery --page -o out/gallery"
)]
pub(super) struct Args {
    /// Scenarios of the gallery; all, without one
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Run them; with `-o` each into a folder of its own
    #[arg(long)]
    run: bool,
    /// Run them, and write `index.html`: pictures with questions and answers
    #[arg(long, requires = "out")]
    page: bool,
    /// Folder to write to: of one scenario its run folder, of several one for each in it
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the list, or a scenario with its text, to standard output as JSON
    #[arg(long, conflicts_with_all = ["run", "page"])]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let chosen = chosen(&args.names)?;
    if args.run || args.page {
        return carry_out(args, &chosen);
    }
    if args.out.is_some() {
        anyhow::bail!("`-o` is for `--run` and `--page`; `trammel new NAME` writes a scenario");
    }
    match (args.json, &args.names[..]) {
        (true, names) => {
            let rows = chosen.iter().map(|one| row(one, !names.is_empty()));
            let rows: Vec<Value> = rows.collect();
            out(&json!({ "schema": "trammel/1", "gallery": rows }).to_string())
        }
        (false, []) => out(list(&chosen).trim_end()),
        (false, _) => {
            let texts: Vec<&str> = chosen.iter().map(|one| one.text.trim_end()).collect();
            out(&texts.join("\n\n"))
        }
    }
}

/// The scenarios called `names`, in the order of the gallery; all where there are none.
fn chosen(names: &[String]) -> anyhow::Result<Vec<Exhibit>> {
    let mut all = gallery::all();
    for name in names {
        if all.iter().any(|one| one.name == name) {
            continue;
        }
        let hint = match nearest(name, all.iter().map(|one| one.name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`trammel gallery` shows all".to_owned(),
        };
        anyhow::bail!("the gallery has no `{name}`; {hint}");
    }
    if !names.is_empty() {
        all.retain(|one| names.iter().any(|name| name == one.name));
    }
    Ok(all)
}

/// A scenario as JSON.
fn row(one: &Exhibit, with_text: bool) -> Value {
    let mut row = json!({
        "name": one.name, "theme": one.theme, "question": one.question, "answer": one.answer,
        "picture": one.picture,
    });
    if with_text {
        row["text"] = json!(one.text);
    }
    row
}

/// The list as a person reads it.
fn list(all: &[Exhibit]) -> String {
    let width = all.iter().map(|one| one.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut theme = "";
    for one in all {
        if one.theme != theme {
            theme = &one.theme;
            let before = if text.is_empty() { "" } else { "\n" };
            text += &format!("{before}{theme}\n");
        }
        let indent = " ".repeat(width + 4);
        let question = wrapped(&one.question, WIDTH - indent.len());
        let answer = wrapped(&one.answer, WIDTH - indent.len());
        let mut lines = question.iter().chain(&answer);
        let first = lines.next().map_or("", String::as_str);
        text += &format!("  {:width$}  {first}\n", one.name);
        for line in lines {
            text += &format!("{indent}{line}\n");
        }
    }
    text
}

/// `text` in lines of at most `width` characters.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Runs `chosen`; each exits as `trammel run` would, and the worst of it is the exit code.
fn carry_out(args: &Args, chosen: &[Exhibit]) -> anyhow::Result<ExitCode> {
    let interrupted = interrupted()?;
    let is_one = chosen.len() == 1 && !args.page;
    let mut is_done = true;
    for one in chosen {
        if interrupted.load(Ordering::SeqCst) {
            return Ok(ExitCode::from(INTERRUPTED));
        }
        let dir = args.out.as_ref().map(|dir| {
            if is_one {
                dir.clone()
            } else {
                dir.join(one.name)
            }
        });
        say(&format!("{}: {}", one.name, one.question));
        let code = run_one(one, dir.as_deref(), &interrupted)?;
        is_done &= code == ExitCode::from(DONE);
    }
    if let (true, Some(dir)) = (args.page, &args.out) {
        let path = page::write(dir, chosen)?;
        say(&path.display().to_string());
    }
    let code = if is_done {
        DONE
    } else {
        trammel_ground::FAILED
    };
    Ok(ExitCode::from(code))
}

/// Runs one scenario into `dir`, or onto the terminal.
fn run_one(
    one: &Exhibit,
    dir: Option<&Path>,
    interrupted: &Arc<AtomicBool>,
) -> anyhow::Result<ExitCode> {
    let Some(path) = one.path() else {
        anyhow::bail!(
            "`{}` cannot be written to the data folder of this user; set XDG_DATA_HOME to a \
             folder that can be written",
            one.name
        );
    };
    let reading = Reading {
        estimator: &ForPlacement,
        ..reading(&[])
    };
    let description = Description::read(&path, &reading)?;
    let asked = Asked {
        command: "gallery".to_owned(),
        settings: BTreeMap::from([("NAME".to_owned(), vec![Setting::of(OsStr::new(one.name))])]),
    };
    let out = dir.map(|dir| Out {
        dir: dir.to_owned(),
        asked,
        is_forced: false,
        has_parquet: false,
    });
    let request = Request {
        out,
        interrupted: Arc::clone(interrupted),
        ..Request::default()
    };
    super::run::described(description, &[], &request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_no_wider_than_it_says() {
        let text = list(&gallery::all());
        assert!(
            text.lines().all(|line| line.chars().count() <= WIDTH),
            "{text}"
        );
        assert!(text.starts_with("a first look\n  first "), "{text}");
    }

    #[test]
    fn a_misspelt_name_has_a_suggestion() {
        let why = chosen(&["bufferblot".to_owned()]).unwrap_err().to_string();
        assert!(why.contains("`bufferbloat`"), "{why}");
    }
}
