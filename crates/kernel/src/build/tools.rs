//! The programs that a kernel is built with.

use super::error::Error;
use std::path::Path;
use std::process::Command;

/// Each program, and the package of Debian's and Ubuntu's that has it.
const TOOLS: &[(&str, &str)] = &[
    ("bc", "bc"),
    ("bison", "bison"),
    ("flex", "flex"),
    ("gcc", "gcc"),
    ("ld", "binutils"),
    ("make", "make"),
    ("patch", "patch"),
    ("perl", "perl"),
    ("tar", "tar"),
    ("xz", "xz-utils"),
];
/// A header that the C library brings; without it `gcc` compiles nothing.
const HEADER: (&str, &str) = ("/usr/include/stdio.h", "libc6-dev");

/// Names all that is missing at once.
pub(super) fn missing() -> Result<(), Error> {
    if !cfg!(target_arch = "x86_64") {
        return Err(Error::Unsupported {
            what: format!(
                "guests of the kernel run on x86-64 only, and this is {}",
                std::env::consts::ARCH
            ),
            mend: "measure with `kernel = \"host\"`, or on another machine".to_owned(),
        });
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has =
        |program: &str| std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    told(&lacking(has, Path::new(HEADER.0).exists()))
}

/// Programs and packages that are missing, where `has` says which programs there are.
fn lacking(has: impl Fn(&str) -> bool, has_header: bool) -> Vec<(&'static str, &'static str)> {
    let mut missing: Vec<_> = TOOLS
        .iter()
        .filter(|(program, _)| !has(program))
        .copied()
        .collect();
    if !has_header {
        missing.push(HEADER);
    }
    missing
}

fn told(missing: &[(&str, &str)]) -> Result<(), Error> {
    if missing.is_empty() {
        return Ok(());
    }
    let names = |of: fn(&(&str, &str)) -> String| missing.iter().map(of).collect::<Vec<_>>();
    Err(Error::Unsupported {
        what: format!(
            "a kernel cannot be built here without {}",
            names(|(program, _)| format!("`{program}`")).join(", ")
        ),
        mend: format!(
            "as root: apt-get install {}",
            names(|(_, package)| (*package).to_owned()).join(" ")
        ),
    })
}

/// The compiler, as it calls itself; nothing where there is none.
pub(super) fn compiler() -> String {
    let said = Command::new("gcc").arg("--version").output();
    let said = said.map(|said| String::from_utf8_lossy(&said.stdout).into_owned());
    said.unwrap_or_default()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_is_missing_is_named_with_one_command() {
        assert!(told(&lacking(|_| true, true)).is_ok());
        let error = told(&lacking(|program| !matches!(program, "bc" | "xz"), false))
            .expect_err("two are missing");
        assert_eq!(
            error.to_string(),
            "a kernel cannot be built here without `bc`, `xz`, `/usr/include/stdio.h`; \
             as root: apt-get install bc xz-utils libc6-dev"
        );
    }
}
