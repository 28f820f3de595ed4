//! Every scenario of the gallery runs and gives the answer that stands at its head; docs/gallery.md
//! has them all.
//!
//! `UPDATE_DOCS=1` writes answers and page anew: look at what changed.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use trammel_library::gallery::{self, Exhibit};

/// Columns of the comments of a scenario.
const WIDTH: usize = 100;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn is_updating() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// What the program says of a scenario that it runs into `dir`: the answer of `run.json`.
fn answer(one: &Exhibit, dir: &Path) -> Result<String, String> {
    let out = dir.join(one.name);
    let run = Command::new(env!("CARGO_BIN_EXE_trammel"))
        .args(["gallery", "--run", one.name, "-o"])
        .arg(&out)
        .output()
        .map_err(|why| why.to_string())?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into_owned());
    }
    let text = std::fs::read_to_string(out.join("run.json")).map_err(|why| why.to_string())?;
    let info: serde_json::Value = serde_json::from_str(&text).map_err(|why| why.to_string())?;
    let picture = out.join(format!("figures/{}.svg", one.picture));
    if !one.picture.is_empty() && !picture.is_file() {
        let found = std::fs::read_dir(out.join("figures")).into_iter().flatten();
        let found: Vec<_> = found.flatten().map(|entry| entry.file_name()).collect();
        return Err(format!("no picture `{}`; there are {found:?}", one.picture));
    }
    Ok(info["answer"].as_str().unwrap_or_default().to_owned())
}

/// Two at a time: each process has a thread a core, and most have few points.
fn answers(all: &[Exhibit], dir: &Path) -> Vec<Result<String, String>> {
    let next = Mutex::new(0..all.len());
    let found = Mutex::new(vec![Err(String::new()); all.len()]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(at) = next.lock().unwrap().next() else {
                        return;
                    };
                    let said = answer(&all[at], dir);
                    found.lock().unwrap()[at] = said;
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// The lines of `# Answer: …`.
fn lines_of(answer: &str) -> String {
    let mut lines = vec!["# Answer:".to_owned()];
    for word in answer.split(' ') {
        let last = lines.last_mut().expect("there is one");
        if last.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(format!("#     {word}"));
        } else {
            last.push(' ');
            last.push_str(word);
        }
    }
    lines.join("\n") + "\n"
}

/// The text of a scenario with `answer` at its head.
fn with_answer(text: &str, answer: &str) -> String {
    let start = text.find("# Answer:").expect("every head has an answer");
    let rest = text[start..].split_inclusive('\n').skip(1);
    let rest: String = rest.skip_while(|line| line.starts_with("#     ")).collect();
    format!("{}{}{rest}", &text[..start], lines_of(answer))
}

#[test]
fn every_scenario_gives_its_answer() {
    let all = gallery::all();
    assert!(all.len() >= 40, "{}", all.len());
    let folder = tempfile::tempdir().unwrap();
    let mut faults = String::new();
    for (one, said) in all.iter().zip(answers(&all, folder.path())) {
        match said {
            Err(why) => writeln!(faults, "{}: {why}", one.name).unwrap(),
            Ok(said) if said.is_empty() => writeln!(faults, "{}: no answer", one.name).unwrap(),
            Ok(said) if said == one.answer => {}
            Ok(said) if is_updating() => {
                let path = root().join(format!("examples/gallery/{}.toml", one.name));
                std::fs::write(path, with_answer(one.text, &said)).unwrap();
            }
            Ok(said) => {
                let (name, stands) = (one.name, &one.answer);
                writeln!(faults, "{name}: says\n  {said}\nand not\n  {stands}").unwrap();
            }
        }
    }
    assert!(faults.is_empty(), "{faults}UPDATE_DOCS=1 mends answers");
}

/// The page of the gallery.
fn page() -> String {
    let mut text = String::from(
        "# Gallery\n\nSmall scenarios, each a question with its answer. `trammel gallery NAME` \
         shows one, whose comments explain it; `trammel gallery --run NAME -o DIR`\nruns it; \
         `trammel new NAME` writes a copy to begin with; `trammel gallery --page -o DIR` runs all \
         and makes a page of their pictures.\n\nAnswers are the first sentences of the reports. A \
         test runs every scenario and compares them; it also writes this page.\n",
    );
    let mut theme = String::new();
    for one in gallery::all() {
        if one.theme != theme {
            theme.clone_from(&one.theme);
            let mut letters = theme.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            let title: String = first.chain(letters).collect();
            text +=
                &format!("\n## {title}\n\n| scenario | question | answer |\n| --- | --- | --- |\n");
        }
        let file = match one.name {
            "first" => "examples/first.toml".to_owned(),
            name => format!("examples/gallery/{name}.toml"),
        };
        let (name, question, answer) = (one.name, &one.question, &one.answer);
        text += &format!("| [{name}](../{file}) | {question} | {answer} |\n");
    }
    text
}

#[test]
fn the_page_of_the_gallery_has_all() {
    let path = root().join("docs/gallery.md");
    if is_updating() {
        std::fs::write(path, page()).unwrap();
        return;
    }
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text == page(), "docs/gallery.md; UPDATE_DOCS=1 mends it");
}

#[test]
fn the_question_of_a_report_is_that_of_the_head() {
    for one in gallery::all() {
        let root: toml_edit::DocumentMut = one.text.parse().unwrap();
        let question = root.get("question").and_then(|item| item.as_str());
        assert!(
            question.is_none_or(|question| question == one.question),
            "{}: {question:?}",
            one.name
        );
        let long = one
            .text
            .lines()
            .find(|line| line.chars().count() > WIDTH + 2);
        assert_eq!(long, None, "{}", one.name);
    }
}

fn trammel(dir: &Path, arguments: &[&str]) -> (i32, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_trammel"))
        .args(arguments)
        .current_dir(dir)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = out.status.code().unwrap_or(-1);
    (code, text(&out.stdout), text(&out.stderr))
}

#[test]
fn every_template_is_written_and_checks_clean() {
    let folder = tempfile::tempdir().unwrap();
    let (code, listed, _) = trammel(folder.path(), &["new", "--list", "--json"]);
    assert_eq!(code, 0);
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let rows = listed["templates"].as_array().unwrap();
    let mut files = vec!["check".to_owned()];
    for row in rows {
        let (name, file) = (row["name"].as_str().unwrap(), row["file"].as_str().unwrap());
        let mine = folder.path().join(name);
        std::fs::create_dir(&mine).unwrap();
        let (code, _, said) = trammel(&mine, &["new", name]);
        assert_eq!(code, 0, "{said}");
        assert!(mine.join(file).is_file(), "{said}");
        files.push(format!("{name}/{file}"));
    }
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let (code, _, said) = trammel(folder.path(), &files);
    assert_eq!(code, 0, "{said}");
    let here = folder.path().join("transport");
    let (code, _, said) = trammel(&here, &["new"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("transport.toml: is there already"), "{said}");
    std::fs::write(here.join("transport.toml"), "mine").unwrap();
    let (code, _, said) = trammel(&here, &["new"]);
    assert_eq!(code, 2, "a file is overwritten: {said}");
}

/// `forwarding` and `router-line-rate` name different files `router.click`.
#[test]
fn a_file_beside_a_template_is_named_and_told_from_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let (code, _, said) = trammel(here, &["new", "forwarding"]);
    assert_eq!(code, 0, "{said}");
    let named = "wrote forwarding.toml and router.click: ";
    assert!(said.starts_with(named), "{said}");
    let (code, _, said) = trammel(here, &["new", "router"]);
    assert_eq!(code, 0, "{said}");
    let (code, _, said) = trammel(here, &["new", "router-line-rate", "-o", "mine.toml"]);
    assert_eq!(code, 2, "{said}");
    let hint = "write both into another folder with `-o FOLDER/mine.toml`";
    assert!(said.contains(hint), "{said}");
    let (code, _, said) = trammel(here, &["new", "router-line-rate", "-o", "b/mine.toml"]);
    assert_eq!(code, 0, "{said}");
    assert!(here.join("b/router.click").is_file());
}

#[test]
fn a_folder_that_is_no_run_folder_is_no_command() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::fs::create_dir(here.join("emptydir")).unwrap();
    let (code, _, said) = trammel(here, &["emptydir"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("`emptydir` is no run folder"), "{said}");
    let (code, _, said) = trammel(here, &["no/such"]);
    assert_eq!(
        (code, said.contains("no/such` does not exist")),
        (2, true),
        "{said}"
    );
}

#[test]
fn a_file_without_a_command_is_run_and_its_folder_shown() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    assert_eq!(trammel(here, &["new", "waiting", "-o", "w.toml"]).0, 0);
    let (code, _, said) = trammel(here, &["w.toml", "-o", "out"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("`trammel run w.toml -o out`"), "{said}");
    let (code, shown, _) = trammel(here, &["out"]);
    assert_eq!(code, 0);
    assert!(shown.contains("report:   out/report.html"), "{shown}");
    assert!(shown.starts_with("`poisson`"), "{shown}");
    assert_eq!(trammel(here, &["new", "router"]).0, 0);
    let (code, _, said) = trammel(here, &["router.click"]);
    assert_eq!((code, said.contains("trammel check")), (0, true), "{said}");
}

#[test]
fn the_page_of_pictures_has_what_was_run() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let (code, _, said) = trammel(here, &["gallery", "slow-acks", "ring", "--page", "-o", "g"]);
    assert_eq!(code, 0, "{said}");
    let page = std::fs::read_to_string(here.join("g/index.html")).unwrap();
    assert_eq!(page.matches("<svg").count(), 2, "{page}");
    assert!(page.contains("href=\"slow-acks/report.html\""));
    assert!(here.join("g/ring/report.html").is_file());
    assert!(!page.contains("src=") && !page.contains("<script"));
    // Once more into the same folder, which is its own.
    let (code, _, said) = trammel(here, &["gallery", "ring", "--page", "-o", "g"]);
    assert_eq!(code, 0, "{said}");
    std::fs::write(here.join("g/index.html"), "mine").unwrap();
    let (code, _, said) = trammel(here, &["gallery", "ring", "--page", "-o", "g"]);
    assert_eq!(code, 2, "{said}");
}

/// The numbers of a sentence, in its order.
fn numbers(sentence: &str) -> Vec<f64> {
    let words = sentence.split([' ', '=', '(', ')', ',', ';', '–', '`']);
    words
        .filter_map(|word| word.trim_end_matches('.').parse().ok())
        .collect()
}

/// Answers beside what theory says: which number of the answer, what it should be and why, and how
/// far it may be off, in per cent.
#[rustfmt::skip] // One row an answer reads as the table it is.
const THEORY: &[(&str, usize, f64, f64)] = &[
    // M/D/1: rho / (2 (1 - rho)) times the 1 ms of a packet; the load is the rate over 1000.
    ("waiting", 1, 0.8 / 0.4, 2.0),
    ("load", 6, 0.9 / 0.2, 3.0),
    ("load", 9, 0.95 / 0.1, 5.0),
    ("burstiness", 2, 0.7 / 0.6, 2.0),
    ("self-similar", 0, 1e3 * 0.64 / 0.72, 2.0),
    // Teeth from 0.55 to 1.1 of the BDP: below 1 the link idles in part, above it is full.
    ("sawtooth", 0, 81.8, 3.0),
    // 1.22 / sqrt(p) segments of 1448 bytes in each 50 ms.
    ("square-root-law", 5, 1.22 * 1448.0 * 8.0 / (0.05 * 0.08) / 1e6, 8.0),
    // A window in each 100 ms.
    ("receive-window", 0, 65536.0 * 8.0 / 0.1 / 1e6, 4.0),
    // The handshake, the rounds but for the last, and the way of that: 80 ms each, and 40 ms.
    ("initial-window", 0, 80.0 + 2.0 * 80.0 + 40.0, 2.0),
    ("initial-window", 2, 80.0 + 80.0 + 40.0, 2.0),
    // The timer, and what is sent before and after it.
    ("incast", 2, 200.0, 8.0),
    // Three HELLO intervals, less what had passed of the first.
    ("ring", 1, 15.0, 5.0),
    // Frames with preamble and gap on a line of 25 Gbit/s.
    ("router-line-rate", 3, 25e3 / ((1518.0 + 20.0) * 8.0), 0.5),
    // 12 million packets a second of 620 cycles each, on cores of 3 GHz, rounded up.
    ("chain", 1, 3.0, 0.0),
    // What the law aims at.
    ("pie", 0, 15.0, 5.0),
];

#[test]
fn answers_are_what_theory_says() {
    let all = gallery::all();
    for (name, which, theory, percent) in THEORY {
        let one = all.iter().find(|one| one.name == *name).unwrap();
        let found = numbers(&one.answer);
        let is = found
            .get(*which)
            .unwrap_or_else(|| panic!("{name}: {found:?}"));
        let off = 100.0 * (is - theory).abs() / theory;
        assert!(off <= *percent, "{name}: {is} and not {theory}: {found:?}");
    }
}
