//! The page of the gallery: each scenario's picture with its question and its answer.
//!
//! It is one file; pictures are in it, and only the reports are links.

use serde_json::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use trammel_ground::whole_file;
use trammel_library::gallery::Exhibit;

/// How the page begins: by this a file is known to be such a page.
const START: &str = "<!doctype html>\n<html lang=\"en\">\n<!-- The gallery of Trammel -->\n";

const STYLE: &str = include_str!("page.css");

/// Writes `index.html` into `dir`, of the run folders in it. Returns its path.
pub(super) fn write(dir: &Path, all: &[Exhibit]) -> anyhow::Result<PathBuf> {
    let path = dir.join("index.html");
    whole_file::may_replace(&path, |bytes| whole_file::starts(bytes, &[START]))?;
    let shown: Vec<(&Exhibit, Shown)> = all.iter().map(|one| (one, Shown::of(dir, one))).collect();
    let written = whole_file::replace(&path, page(&shown).as_bytes());
    written.map_err(|why| anyhow::anyhow!("{}: {why}", path.display()))?;
    Ok(path)
}

/// What the run folder of a scenario shows.
struct Shown {
    answer: String,
    /// The picture as SVG; empty where there is none.
    svg: String,
}

impl Shown {
    fn of(dir: &Path, one: &Exhibit) -> Shown {
        let read = |name: &str| std::fs::read_to_string(dir.join(one.name).join(name));
        let info: Option<Value> = read("run.json").ok().and_then(|text| {
            let info = serde_json::from_str(&text);
            info.ok()
        });
        let answer = info.as_ref().and_then(|info| info["answer"].as_str());
        Shown {
            answer: answer.unwrap_or(&one.answer).to_owned(),
            svg: read(&format!("figures/{}.svg", one.picture)).unwrap_or_default(),
        }
    }
}

fn page(shown: &[(&Exhibit, Shown)]) -> String {
    let mut text = format!(
        "{START}<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta \
         http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\">\n<title>The gallery of Trammel</title>\n<style>\n{STYLE}</style>\n\
         </head>\n<body>\n<header>\n<h1>The gallery</h1>\n<p>{} questions about networks, each \
         answered by a scenario of a few lines. <code>trammel gallery NAME</code> shows its file, \
         <code>trammel new NAME</code> copies it.</p>\n</header>\n<main>\n",
        shown.len()
    );
    let mut theme = "";
    for (one, seen) in shown {
        if one.theme != theme {
            if !theme.is_empty() {
                text += "</section>\n";
            }
            theme = &one.theme;
            writeln!(text, "<section>\n<h2>{}</h2>", escape(theme)).expect("a string");
        }
        text += &exhibit(one, seen);
    }
    if !theme.is_empty() {
        text += "</section>\n";
    }
    text + "</main>\n</body>\n</html>\n"
}

fn exhibit(one: &Exhibit, seen: &Shown) -> String {
    let (name, question) = (escape(one.name), escape(&one.question));
    let picture = if seen.svg.is_empty() {
        String::new()
    } else {
        format!("<div class=\"picture\">{}</div>\n", seen.svg.trim())
    };
    format!(
        "<article id=\"{name}\">\n<h3><a href=\"{name}/report.html\">{question}</a></h3>\n\
         {picture}<p>{}</p>\n<p class=\"name\"><code>{name}</code></p>\n</article>\n",
        code(&escape(&seen.answer))
    )
}

/// Text as it stands in HTML.
fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// Words in back-quotes as code.
fn code(text: &str) -> String {
    let mut parts = text.split('`');
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for (at, part) in parts.enumerate() {
        let tag = if at % 2 == 0 { "<code>" } else { "</code>" };
        shown += tag;
        shown += part;
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_show_names_as_code_and_no_tag_of_their_own() {
        let text = code(&escape("`cubic` takes < 50 %"));
        assert_eq!(text, "<code>cubic</code> takes &lt; 50 %");
    }
}
