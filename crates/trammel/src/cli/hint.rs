//! What is meant by command lines that are nearly right.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// `trammel router -h` asks for help: with a handler behind it, `-h` is Click's option to print
/// that.
pub(super) fn help_of_router(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let is = |at: usize, word: &str| arguments.get(at).is_some_and(|argument| argument == word);
    if arguments.len() == 3 && is(1, "router") && is(2, "-h") {
        arguments[2] = "--help".into();
    }
    arguments
}

/// `examples/first.toml` where the current folder has no such file: the one that comes with the
/// program.
pub(super) fn shipped_files(arguments: Vec<OsString>) -> Vec<OsString> {
    let shipped = |argument: &OsString| {
        let name = argument.to_str().filter(|name| !Path::new(name).exists())?;
        trammel_library::file(name)
    };
    let place = |argument| shipped(&argument).map_or(argument, PathBuf::into_os_string);
    arguments.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_found_from_any_folder() {
        let given = ["trammel", "run", "examples/first.toml", "no.toml"].map(OsString::from);
        let found = shipped_files(given.to_vec());
        assert!(Path::new(&found[2]).is_file(), "{found:?}");
        assert_eq!(found[3], "no.toml");
    }
}
