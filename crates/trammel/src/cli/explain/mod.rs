//! `trammel explain`: what a word means, wherever it is from.
//!
//! The texts are those that `trammel doc` and the pages of `docs` have; nothing is written twice.

mod keys;
mod meaning;
mod pages;

use super::doc;
use super::list::{self, Listed};
use super::output::out;
use clap::ValueEnum;
use meaning::{Meaning, is_alike, without_links};
use serde_json::json;
use std::process::ExitCode;
use std::sync::LazyLock;
use trammel_core::label::Label;
use trammel_core::units::nearest;
use trammel_library::gallery;
use trammel_router::Reason;
use trammel_scenario::registry::Family;

/// Names that are suggested for one that nobody knows.
const MOST_SUGGESTED: usize = 5;
/// Bytes of a word that is looked up, at most: no name is so long, and to compare takes its time.
const LONGEST_WORD: usize = 128;

/// Say what a word means: a key, a metric, a variant, a queue, an element, a column, a term
///
/// The word is a name that `trammel list` shows, a key of a scenario (`limit` or
/// `path.queue.limit`), a column of a table, a word of the glossary, a label, a word of messages, a
/// verdict, a drop reason, a format, a command or an exit code.
/// Where it means several things all are shown.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel explain utilisation\n  trammel explain path.queue.limit\n  \
                  trammel explain cubic"
)]
pub(super) struct Args {
    /// The word
    #[arg(value_name = "WORD", required = true)]
    word: Vec<String>,
    /// Write what there is to say to standard output as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, command: &clap::Command) -> anyhow::Result<ExitCode> {
    // `trammel explain phase effects` needs no quotes.
    let word = args.word.join(" ");
    if word.len() > LONGEST_WORD {
        anyhow::bail!(
            "no word has {} bytes; `trammel list` shows what there is",
            word.len()
        );
    }
    let found = meanings(&word, command);
    if found.is_empty() {
        let near = suggested(&word, command);
        let hint = if near.is_empty() {
            "`trammel list`, `trammel doc scenario` and `trammel gallery` show what there is"
                .to_owned()
        } else {
            format!("did you mean `{}`?", near.join("`, `"))
        };
        anyhow::bail!("nothing is known of `{word}`; {hint}");
    }
    if args.json {
        let rows = found.iter().map(
            |one| json!({ "kind": one.kind, "name": one.name, "text": one.text, "more": one.more }),
        );
        let rows: Vec<_> = rows.collect();
        return out(&json!({ "schema": "trammel/1", "word": word, "meanings": rows }).to_string());
    }
    let texts = found.iter().map(|one| {
        let more = match one.more.as_str() {
            "" => String::new(),
            more => format!("\n\nMore: {more}"),
        };
        format!("{} `{}`\n\n{}{more}", one.kind, one.name, one.text.trim())
    });
    out(&texts.collect::<Vec<_>>().join("\n\n---\n\n"))
}

/// All that `word` means.
fn meanings(word: &str, command: &clap::Command) -> Vec<Meaning> {
    let mut found = pages::find(word);
    found.extend(named(word));
    found.extend(keys::find(word));
    found.extend(keys::swept(word));
    found.extend(parameters(word));
    found.extend(exhibits(word));
    found.extend(commands(word, command));
    found.extend(exit_codes(word, command));
    found.extend(labels(word));
    found.extend(reasons(word));
    for one in &mut found {
        one.text = without_links(&one.text);
    }
    found
}

/// What `trammel list` shows, kind by kind; some lists are in files, which are read once.
fn listed() -> &'static [(Listed, Vec<list::Row>)] {
    static ALL: LazyLock<Vec<(Listed, Vec<list::Row>)>> = LazyLock::new(|| {
        let kinds = Listed::value_variants().iter();
        kinds.map(|kind| (*kind, list::rows(*kind))).collect()
    });
    &ALL
}

/// What `trammel list` shows under this name.
fn named(word: &str) -> Vec<Meaning> {
    let mut found = Vec::new();
    for (kind, rows) in listed() {
        for (name, aliases, summary) in rows {
            let is_alias = aliases.iter().any(|alias| is_alike(word, alias));
            if !is_alias && !is_alike(word, name) {
                continue;
            }
            // A file of the user's own may be of another version.
            let page = doc::named(*kind, name);
            let page = page.unwrap_or_else(|_| format!("# {name}\n\n{summary}"));
            // Up to the first heading: what it is and what it does.
            let body = page.split_once("\n\n").map_or("", |(_, body)| body);
            let text = body.split("\n## ").next().unwrap_or_default();
            let (noun, text) = match text.split_once(": ") {
                Some((noun, text)) if !noun.contains('\n') => (noun, text),
                _ => (&*kind.singular(), text),
            };
            found.push(Meaning {
                kind: noun.to_owned(),
                text: text.trim().to_owned(),
                more: format!("`trammel doc {} {name}`", kind.singular()),
                name: name.clone(),
            });
        }
    }
    found
}

/// The parameters of this name, of all plug-ins.
fn parameters(word: &str) -> Vec<Meaning> {
    let mut found = Vec::new();
    for family in Family::ALL {
        let catalogue = family.catalogue();
        for about in catalogue.members() {
            let params = about.params.iter();
            for param in params.filter(|param| is_alike(word, param.name)) {
                let default = match param.default {
                    "" => "required".to_owned(),
                    default => format!("default `{default}`"),
                };
                found.push(Meaning {
                    kind: format!("parameter of {} `{}`:", catalogue.noun(), about.name),
                    name: param.name.to_owned(),
                    text: format!("{}: {}; {default}.", param.help, param.kind.describe()),
                    more: String::new(),
                });
            }
        }
    }
    found
}

/// The scenario of the gallery that is called so.
fn exhibits(word: &str) -> Vec<Meaning> {
    let all = gallery::all().into_iter();
    let alike = all.filter(|one| is_alike(word, one.name));
    let meaning = |one: gallery::Exhibit| Meaning {
        kind: "scenario of the gallery".to_owned(),
        name: one.name.to_owned(),
        text: format!("{}\n{}", one.question, one.answer),
        more: format!("`trammel gallery {}`", one.name),
    };
    alike.map(meaning).collect()
}

/// The command that is called so.
fn commands(word: &str, command: &clap::Command) -> Option<Meaning> {
    let word = word.strip_prefix("trammel ").unwrap_or(word);
    let found = command.find_subcommand(word)?;
    Some(Meaning {
        kind: "command".to_owned(),
        name: format!("trammel {}", found.get_name()),
        text: found.get_about()?.to_string(),
        more: format!("`trammel {} --help`", found.get_name()),
    })
}

/// The exit code of this number, as the help of the whole command has it; all of them for the words
/// themselves.
fn exit_codes(word: &str, command: &clap::Command) -> Vec<Meaning> {
    let help = command.get_after_help().map(ToString::to_string);
    let help = help.unwrap_or_default();
    let word = word.to_lowercase();
    let number = word.strip_prefix("exit code ").unwrap_or(&word);
    let is_all = ["exit", "exit code", "exit codes", "exit status"].contains(&number);
    let codes = help.lines().filter_map(|line| line.trim().split_once("  "));
    let wanted = codes.filter(|(code, _)| is_all || *code == number);
    let meaning = |(name, text): (&str, &str)| Meaning {
        kind: "exit code".to_owned(),
        name: name.to_owned(),
        text: text.trim().to_owned(),
        more: String::new(),
    };
    wanted.map(meaning).collect()
}

/// The label that has this key, where the glossary has it under its words.
fn labels(word: &str) -> Option<Meaning> {
    let mut all = Label::ALL.into_iter();
    let label = all.find(|label| is_alike(word, label.key()))?;
    let is_in_glossary = is_alike(label.key(), label.words());
    (!is_in_glossary).then(|| Meaning {
        kind: "label".to_owned(),
        name: label.key().to_owned(),
        text: format!("{}: {}", label.words(), label.meaning()),
        more: "docs/glossary.md, “Labels”".to_owned(),
    })
}

/// The reason of a dropped packet that is called so, in the router's words.
fn reasons(word: &str) -> Option<Meaning> {
    let mut all = Reason::ALL.iter();
    let reason = all.find(|reason| is_alike(word, reason.text()))?;
    Some(Meaning {
        kind: "drop reason".to_owned(),
        name: reason.text().to_owned(),
        text: "Why a router took a packet out: a count of its own in the reports of a \
               configuration."
            .to_owned(),
        more: "docs/router.md".to_owned(),
    })
}

/// Every word that has a meaning, but for exit codes.
fn words(command: &clap::Command) -> Vec<String> {
    let mut words = pages::words();
    for (_, rows) in listed() {
        words.extend(rows.iter().map(|(name, ..)| name.clone()));
    }
    words.extend(keys::words());
    words.extend(gallery::all().into_iter().map(|one| one.name.to_owned()));
    let commands = command.get_subcommands();
    words.extend(commands.map(|command| command.get_name().to_owned()));
    words.extend(Label::ALL.map(|label| label.key().to_owned()));
    words.extend(Reason::ALL.iter().map(|reason| reason.text().to_owned()));
    words.sort();
    words.dedup();
    words
}

/// The words for completions.
pub(super) fn completions(command: &clap::Command) -> Vec<String> {
    let all = words(command).into_iter();
    all.filter(|word| !word.contains(' ')).collect()
}

/// Names near to one that nobody knows: the nearest, and those that have it in them.
fn suggested(word: &str, command: &clap::Command) -> Vec<String> {
    let all = words(command);
    let mut near: Vec<String> = nearest(word, all.iter().map(String::as_str))
        .into_iter()
        .collect();
    let lower = word.to_lowercase();
    if lower.len() >= 3 {
        let mut within: Vec<&String> = all
            .iter()
            .filter(|name| name.to_lowercase().contains(&lower))
            .collect();
        within.sort_by_key(|name| name.len());
        near.extend(within.into_iter().cloned());
    }
    let mut seen = std::collections::BTreeSet::new();
    near.retain(|name| seen.insert(name.clone()));
    near.truncate(MOST_SUGGESTED);
    near
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::CommandFactory;

    fn kinds(word: &str) -> Vec<String> {
        let found = meanings(word, &Cli::command());
        found.into_iter().map(|one| one.kind).collect()
    }

    #[test]
    fn each_kind_of_word_is_found() {
        for (word, kind) in [
            ("cubic", "congestion control"),
            ("fq-codel", "queue discipline"),
            ("DecIPTTL", "element"),
            ("utilisation", "column"),
            ("goodput_mbps", "column"),
            ("rtt_p95_us", "column"),
            ("rtt_p95", "column"),
            ("rtt_s", "column of sweeps"),
            ("received_power_dbm", "column of sweeps"),
            ("residency", "word"),
            ("simulated", "label"),
            ("agreement", "answer"),
            ("path.queue.limit", "key"),
            ("initial_window", "key"),
            ("pareto", "distribution"),
            ("bufferbloat", "scenario of the gallery"),
            ("run", "command"),
            ("130", "exit code"),
            ("exit codes", "exit code"),
            ("spf_runs", "column"),
            ("cores_%", "column"),
            ("inferred", "word"),
            ("linux_vt", "label"),
            ("data-sheet", "label"),
            ("departs", "verdict"),
            ("warning", "word"),
            ("left out", "word"),
            ("flent", "format"),
            ("no route", "drop reason"),
            ("DropTailQueue", "word of ns-3"),
            ("snd_cwnd", "word of iperf3"),
            ("addLink", "word of Mininet"),
            ("packet loss", "word"),
            ("rfc 2544", "word"),
        ] {
            let kinds = kinds(word);
            assert!(
                kinds.iter().any(|one| one.starts_with(kind)),
                "{word}: {kinds:?}"
            );
        }
    }

    #[test]
    fn another_unit_is_another_column_and_links_are_words() {
        assert!(!kinds("rtt_s").iter().any(|kind| kind == "column"));
        let command = Cli::command();
        for word in words(&command) {
            for one in meanings(&word, &command) {
                assert!(!one.text.contains("]("), "{one:?}");
            }
        }
    }

    #[test]
    fn a_word_of_several_kinds_has_them_all() {
        let kinds = kinds("delay");
        assert!(kinds.len() > 1, "{kinds:?}");
    }

    #[test]
    fn every_suggested_word_has_a_meaning() {
        let command = Cli::command();
        for word in words(&command) {
            assert!(!meanings(&word, &command).is_empty(), "{word}");
        }
    }

    #[test]
    fn an_unknown_word_has_suggestions() {
        let near = suggested("utilization", &Cli::command());
        assert_eq!(near.first().map(String::as_str), Some("utilisation"));
    }

    #[test]
    fn a_word_longer_than_any_name_is_refused() {
        let args = Args {
            word: vec!["utilisation".repeat(10_000)],
            json: false,
        };
        assert!(run(&args, &Cli::command()).is_err());
    }
}
