//! The configuration of a guest's kernel: the lines of `guest.config`, and whether they came out.

use super::error::{Error, at};
use super::make::Make;
use std::fs;
use std::path::Path;

/// The configuration.
pub(super) const TEXT: &str = include_str!("../../guest.config");
/// What an option of another kernel has behind it.
const OPTIONAL: &str = "# optional";

/// Configures the tree; an option that the kernel dropped is an error, unless it may be missing.
pub(super) fn configure(tree: &Path, make: &Make<'_>) -> Result<(), Error> {
    let wanted = make.log.with_file_name("guest.config");
    let lines: Vec<String> = options(TEXT).map(|(line, _)| line.to_owned()).collect();
    fs::write(&wanted, lines.join("\n") + "\n").map_err(at(&wanted))?;
    // Written only where it changes, so that nothing is compiled again for it.
    make.run(
        &[
            &format!("KCONFIG_ALLCONFIG={}", wanted.display()),
            "allnoconfig",
        ],
        None,
    )?;
    let path = tree.join(".config");
    let came = fs::read_to_string(&path).map_err(at(&path))?;
    let lost = lost(TEXT, &came);
    if lost.is_empty() {
        return Ok(());
    }
    Err(Error::Source {
        source_path: tree.to_owned(),
        why: format!(
            "this kernel does not take {}; it is too old or too new to be a guest",
            lost.join(", ")
        ),
    })
}

/// The options of a configuration's text, and whether each has to come out.
fn options(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| match line.strip_suffix(OPTIONAL) {
        Some(line) => (line.trim_end(), false),
        None => (line, true),
    })
}

/// The options of `wanted` that `came` lacks.
fn lost<'a>(wanted: &'a str, came: &str) -> Vec<&'a str> {
    let has = |line: &str| came.lines().any(|other| other == line);
    options(wanted)
        .filter(|(line, is_needed)| *is_needed && !has(line))
        .map(|(line, _)| line)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_optional_may_be_missing() {
        let wanted = "# a comment\nCONFIG_A=y\nCONFIG_B=y # optional\n\nCONFIG_C=y\n";
        assert_eq!(
            lost(wanted, "CONFIG_A=y\n# CONFIG_C is not set\n"),
            ["CONFIG_C=y"]
        );
        assert!(lost(wanted, "CONFIG_C=y\nCONFIG_A=y\n").is_empty());
    }

    #[test]
    fn the_kernel_has_every_congestion_control_and_queue() {
        let congestion = options(TEXT).filter(|(line, _)| line.starts_with("CONFIG_TCP_CONG_"));
        // Reno is always there, and the choice to have others is a line of its own.
        let (needed, optional): (Vec<_>, Vec<_>) =
            congestion.partition(|(_, is_needed)| *is_needed);
        assert_eq!((needed.len(), optional.len()), (17, 3));
        let others: Vec<&str> = options(TEXT)
            .map(|(line, _)| line)
            .filter(|line| !line.ends_with("=y"))
            .collect();
        assert_eq!(
            others,
            ["CONFIG_HZ=1000", "CONFIG_UML_MAX_USERSPACE_ITERATIONS=0"]
        );
    }
}
