//! `trammel new`: writes a scenario to begin with.

use super::output::out;
use anyhow::bail;
use serde_json::json;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use trammel_core::units::nearest;
use trammel_ground::{DONE, say};
use trammel_library::gallery;
use trammel_report::words::list as list_of;

/// The template that is written where none is named.
const FIRST: &str = "transport";

/// Write a scenario to begin with, whose comments explain it
///
/// Templates are the scenarios of `trammel gallery`, a small one for each subject, and a router
/// configuration. No file is overwritten.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel new\n  trammel new bufferbloat -o mine.toml\n  trammel new \
                  --list"
)]
pub(super) struct Args {
    /// What to begin with [default: transport]
    #[arg(value_name = "TEMPLATE")]
    template: Option<String>,
    /// The file to write; `-` is standard output [default: the template's name, here]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// List the templates
    #[arg(long, conflicts_with_all = ["template", "out"])]
    list: bool,
    /// Write the list to standard output as JSON
    #[arg(long, requires = "list")]
    json: bool,
}

/// A scenario to begin with.
struct Template {
    /// Its name, without the ending of its file.
    name: &'static str,
    /// `toml` or `click`.
    ending: &'static str,
    /// Its first line: what it asks or is.
    about: String,
    text: String,
    /// Files that it names, which go beside it.
    companions: Vec<(&'static str, &'static [u8])>,
}

impl Template {
    /// The file that is written where none is given.
    fn file(&self) -> PathBuf {
        PathBuf::from(format!("{}.{}", self.name, self.ending))
    }

    /// The commands that use the file at `path`.
    fn next(&self, path: &Path) -> String {
        let path = path.display();
        match (self.ending, self.name) {
            ("click", _) => format!(
                "trammel check {path}, then trammel estimate {path} --machine \
                 epyc-7532:data-sheet"
            ),
            _ if self.text.contains("\"placement\"") => format!("trammel place {path}"),
            _ => format!("trammel run {path} -o out/{}", self.name),
        }
    }
}

/// All templates: those of the subjects first.
fn all() -> Vec<Template> {
    let small = trammel_library::templates();
    let named_by = |text: &str| {
        let files = small.iter().filter_map(|(name, ending, of_file)| {
            let is_named = *ending == "click" && text.contains("\"router.click\"");
            (is_named && *name == "router").then_some(("router.click", of_file.as_bytes()))
        });
        files.collect::<Vec<(&'static str, &'static [u8])>>()
    };
    let small = small.iter().map(|(name, ending, text)| Template {
        name,
        ending,
        about: first_line(text),
        text: (*text).to_owned(),
        companions: named_by(text),
    });
    let exhibits = gallery::all().into_iter().map(|one| Template {
        name: one.name,
        ending: "toml",
        text: one.as_template(),
        companions: one.companions(),
        about: one.question,
    });
    small.chain(exhibits).collect()
}

/// The names of all templates, for completions.
pub(super) fn names() -> Vec<String> {
    let names = all().into_iter().map(|template| template.name.to_owned());
    names.collect()
}

fn first_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches(['#', '/', ' ']).to_owned()
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let all = all();
    if args.list {
        return list(&all, args.json);
    }
    let wanted = args.template.as_deref().unwrap_or(FIRST);
    let Some(template) = all.iter().find(|one| one.name == wanted) else {
        let hint = match nearest(wanted, all.iter().map(|one| one.name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`trammel new --list` shows all".to_owned(),
        };
        bail!("there is no template `{wanted}`; {hint}");
    };
    let path = args.out.clone().unwrap_or_else(|| template.file());
    if path == Path::new("-") {
        return out(template.text.trim_end());
    }
    let Written { made, found } = write(template, &path)?;
    for one in &found {
        say(&format!(
            "{}: is there already, as it would be written",
            one.display()
        ));
    }
    let names: Vec<_> = made.iter().map(|one| one.display().to_string()).collect();
    let made = match names.as_slice() {
        [] => String::new(),
        names => format!("wrote {}: {}\n", list_of(names), template.about),
    };
    say(&format!(
        "{made}next: {}\n`trammel explain WORD` says what a key or a name in it means",
        template.next(&path)
    ));
    Ok(ExitCode::from(DONE))
}

/// What became of the files of a template.
#[derive(Debug)]
struct Written {
    /// Those that were written, the template's own first.
    made: Vec<PathBuf>,
    /// Those that were there with the same bytes.
    found: Vec<PathBuf>,
}

/// Writes `template` to `path`, and beside it the files that it names. All or none: what is there
/// with other bytes is found before anything is written. Templates may share a file.
fn write(template: &Template, path: &Path) -> anyhow::Result<Written> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let beside = template.companions.iter();
    let beside = beside.map(|(name, bytes)| (folder.join(name), *bytes));
    let all = std::iter::once((path.to_owned(), template.text.as_bytes())).chain(beside);
    let is_there =
        |(path, bytes): &(PathBuf, &[u8])| std::fs::read(path).is_ok_and(|found| found == *bytes);
    let (found, missing): (Vec<_>, Vec<_>) = all.partition(is_there);
    for (one, _) in &missing {
        if one.symlink_metadata().is_err() {
            continue;
        }
        if one == path {
            return Err(exists(path));
        }
        let name = one.file_name().unwrap_or_default().display();
        let own = path.file_name().unwrap_or_default().display();
        bail!(
            "`{}` exists and is not the file that the template `{}` names; write both into \
             another folder with `-o FOLDER/{own}`, or move `{name}` away",
            one.display(),
            template.name
        );
    }
    for (one, bytes) in missing.iter().rev() {
        create(one, bytes)?;
    }
    let paths = |all: Vec<(PathBuf, &[u8])>| all.into_iter().map(|(path, _)| path).collect();
    Ok(Written {
        made: paths(missing),
        found: paths(found),
    })
}

fn exists(path: &Path) -> anyhow::Error {
    anyhow::anyhow!(
        "`{}` exists, and no file is overwritten; give another one with `-o FILE`",
        path.display()
    )
}

/// Writes a file that does not exist.
fn create(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    // The folder is made where it is missing, as every `-o` does.
    let folder = path.parent().unwrap_or(Path::new(""));
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).open(path)?;
        file.write_all(bytes)
    });
    written.map_err(|why| match why.kind() {
        ErrorKind::AlreadyExists => exists(path),
        _ => anyhow::anyhow!("`{}` cannot be written: {why}", path.display()),
    })
}

fn list(all: &[Template], is_json: bool) -> anyhow::Result<ExitCode> {
    if is_json {
        let rows = all.iter().map(|one| {
            json!({ "name": one.name, "file": one.file().to_string_lossy(), "about": one.about })
        });
        let rows: Vec<_> = rows.collect();
        return out(&json!({ "schema": "trammel/1", "templates": rows }).to_string());
    }
    let width = all.iter().map(|one| one.name.len()).max().unwrap_or(0);
    let lines = all
        .iter()
        .map(|one| format!("{:width$}  {}", one.name, one.about));
    out(&lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_the_first_is_there() {
        let mut names = names();
        assert!(names.iter().any(|name| name == FIRST));
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
    }

    #[test]
    fn no_file_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let all = all();
        let path = folder.path().join("x.toml");
        write(&all[0], &path).unwrap();
        let again = write(&all[0], &path).unwrap();
        assert!(again.made.is_empty() && again.found.contains(&path));
        std::fs::write(&path, "mine").unwrap();
        let why = write(&all[0], &path).unwrap_err().to_string();
        assert!(why.contains("exists"), "{why}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    }

    #[test]
    fn templates_that_name_files_of_one_name_do_not_share_them() {
        let all = all();
        let of = |name: &str| all.iter().find(|one| one.name == name).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let first = write(of("forwarding"), &at("forwarding.toml")).unwrap();
        assert_eq!(first.made, [at("forwarding.toml"), at("router.click")]);
        // The same file as its companion.
        let router = write(of("router"), &at("router.click")).unwrap();
        assert_eq!(
            (router.made.len(), router.found),
            (0, vec![at("router.click")])
        );
        let why = write(of("router-line-rate"), &at("mine.toml")).unwrap_err();
        let why = why.to_string();
        assert!(why.contains("`-o FOLDER/mine.toml`"), "{why}");
        assert!(!at("mine.toml").exists(), "half of it is written");
    }

    #[test]
    fn the_folder_is_made_where_it_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/x.toml");
        write(&all()[0], &path).unwrap();
        assert!(path.is_file());
    }

    #[test]
    fn files_that_a_template_names_are_written_beside_it() {
        let all = all();
        let nat = all.iter().find(|one| one.name == "nat").unwrap();
        let folder = tempfile::tempdir().unwrap();
        write(nat, &folder.path().join("mine.toml")).unwrap();
        write(nat, &folder.path().join("other.toml")).unwrap();
        assert!(folder.path().join("nat.click").is_file());
    }
}
