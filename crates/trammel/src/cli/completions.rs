//! `trammel completions`: completions for a shell.

use super::doc;
use super::list::{self, Listed};
use super::output::out;
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap_complete::Shell;
use std::process::ExitCode;
use trammel_scenario::schema;

/// Write completions for a shell to standard output
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  trammel completions bash > \
                  ~/.local/share/bash-completion/completions/trammel")]
pub(super) struct Args {
    /// The shell
    shell: Shell,
}

/// Arguments that are names, and of which kinds. A command within others is a path.
const NAMED: &[(&str, &str, &[Listed])] = &[
    ("paper", "keys", &[Listed::Papers]),
    #[cfg(target_os = "linux")]
    ("list", "name", &[Listed::Elements]),
    #[cfg(target_os = "linux")]
    ("bench", "model", &[Listed::Devices]),
    #[cfg(target_os = "linux")]
    ("bench", "machine", &[Listed::Machines]),
    #[cfg(target_os = "linux")]
    ("bench", "tests", &[Listed::Tests]),
    #[cfg(target_os = "linux")]
    ("estimate", "machine", &[Listed::Machines]),
    #[cfg(target_os = "linux")]
    ("send", "app", &[Listed::Applications]),
    #[cfg(target_os = "linux")]
    ("netfpga run", "design", &[Listed::Designs]),
    #[cfg(target_os = "linux")]
    ("netfpga reg header", "design", &[Listed::Designs]),
];

/// Arguments that are registers of a NetFPGA design.
#[cfg(target_os = "linux")]
const REGISTERS: &[(&str, &str)] = &[
    ("netfpga reg read", "registers"),
    ("netfpga reg write", "pairs"),
    ("netfpga reg watch", "parts"),
];

/// Every register of every design, as they may be written.
#[cfg(target_os = "linux")]
fn registers() -> Vec<String> {
    let designs = trammel_netfpga::designs::ALL.iter();
    let names = designs.flat_map(|design| {
        let all: Vec<_> = design.map().all().map(|named| named.name).collect();
        all
    });
    let mut names: Vec<String> = names
        .map(|name| name.trim_end_matches("_REG").to_ascii_lowercase())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// `command` with what `change` makes of the command at `path` within it.
fn within(
    command: clap::Command,
    path: &[&'static str],
    change: &dyn Fn(clap::Command) -> clap::Command,
) -> clap::Command {
    match path {
        [] => change(command),
        [first, rest @ ..] => {
            command.mut_subcommand(*first, |subcommand| within(subcommand, rest, change))
        }
    }
}

/// The command with every name that an argument may be: for completions, which cannot ask.
fn with_names(mut command: clap::Command) -> clap::Command {
    let words = super::explain::completions(&command);
    let mut add = |path: &'static str, argument: &'static str, names: Vec<String>| {
        let path: Vec<_> = path.split(' ').collect();
        // They live as long as the command, which ends with the process.
        let names: Vec<&'static str> = names.into_iter().map(|name| &*name.leak()).collect();
        command = within(std::mem::take(&mut command), &path, &|subcommand| {
            subcommand.mut_arg(argument, |argument| {
                argument.value_parser(PossibleValuesParser::new(&names))
            })
        });
    };
    let names = |kinds: &[Listed]| {
        let rows = kinds.iter().flat_map(|kind| list::rows(*kind));
        let names = rows.flat_map(|(name, aliases, _)| {
            let aliases = aliases.into_iter().map(str::to_owned);
            std::iter::once(name).chain(aliases)
        });
        let mut names: Vec<String> = names.collect();
        names.sort();
        names.dedup();
        names
    };
    for (subcommand, argument, kinds) in NAMED {
        add(subcommand, argument, names(kinds));
    }
    #[cfg(target_os = "linux")]
    {
        let registers = registers();
        for (path, argument) in REGISTERS {
            add(path, argument, registers.clone());
        }
    }
    let kinds = doc::WHOLE.iter().map(|whole| (*whole).to_owned());
    add("doc", "kind", kinds.chain(Listed::singulars()).collect());
    let mut all = names(Listed::value_variants());
    all.extend(schema::SUBJECTS.iter().map(|(name, _)| (*name).to_owned()));
    add("doc", "name", all);
    let exhibits = trammel_library::gallery::all().into_iter();
    let exhibits = exhibits.map(|one| one.name.to_owned());
    add("gallery", "names", exhibits.collect());
    add("new", "template", super::new::names());
    add("explain", "word", words);
    command
}

/// Writes the completions of `command`, which is the whole one.
pub(super) fn run(args: &Args, command: clap::Command) -> anyhow::Result<ExitCode> {
    out(script(command, args.shell).trim_end())
}

/// The completions of a shell.
fn script(command: clap::Command, shell: Shell) -> String {
    let mut text = Vec::new();
    let mut command = with_names(command);
    clap_complete::generate(shell, &mut command, "trammel", &mut text);
    let mut text = String::from_utf8(text).expect("the text is UTF-8");
    if shell == Shell::Fish {
        // The generator for fish leaves out what stands at a place of its own.
        for subcommand in command.get_subcommands() {
            text += &places(
                subcommand,
                &format!("__fish_trammel_using_subcommand {}", subcommand.get_name()),
            );
        }
    }
    text
}

/// For fish: what may stand at the places of `command` and of those within it, `condition` being
/// that it is used.
fn places(command: &clap::Command, condition: &str) -> String {
    let mut text = String::new();
    for argument in command.get_positionals() {
        let values = argument.get_possible_values();
        let names: Vec<_> = values.iter().map(PossibleValue::get_name).collect();
        if !names.is_empty() {
            let names = names.join(" ");
            text += &format!("complete -c trammel -n \"{condition}\" -f -a \"{names}\"\n");
        }
    }
    for within in command.get_subcommands() {
        let name = within.get_name();
        let condition = format!("{condition}; and __fish_seen_subcommand_from {name}");
        text += &places(within, &condition);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::Cli;
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_shell_completes_names() {
        for shell in Shell::value_variants() {
            let text = script(Cli::command(), *shell);
            let mut names = vec!["cubic", "tekala-2007", "epyc-7532", "fq_codel"];
            names.extend(["bufferbloat", "goodput_mbps"]);
            if cfg!(target_os = "linux") {
                names.extend(["LookupIPRoute", "click-pc-2009", "buffer-sizing"]);
                names.push("router_op_lut_num_pkts_forwarded");
            }
            // Elvish and PowerShell complete options and subcommands only.
            if matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish) {
                for name in names {
                    assert!(text.contains(name), "{shell}: {name}");
                }
            }
        }
    }
}
