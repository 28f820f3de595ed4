//! Programs of others: where they are looked for, and how they run in surroundings that nobody else
//! decides.
//!
//! A program is looked for in the absolute folders of `PATH` only: whoever can write to the folder
//! in which a command is given cannot have it run a program of theirs. One that runs *isolated*
//! begins in a folder of ours and with an empty environment, so that neither start-up files, nor
//! proxies, nor libraries of the folder in which the command was given have a part in it.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The shell that POSIX has every system keep there.
pub const SHELL: &str = "/bin/sh";
/// Where programs are where `PATH` says nothing.
const USUAL: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The folders in which programs are looked for: those of `PATH` that are absolute.
fn folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL.into());
    absolute(&path)
}

fn absolute(path: &OsString) -> Vec<PathBuf> {
    let all = std::env::split_paths(path);
    all.filter(|folder| folder.is_absolute()).collect()
}

/// The file of the program `name`, which is its path where it has a `/`; none where it is not
/// installed.
pub fn find(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| is_program(path));
    }
    find_in(&folders(), name)
}

fn find_in(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let mut files = folders.iter().map(|folder| folder.join(name));
    files.find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    let found = std::fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// `program`, to be started in `folder` with an environment that has nothing but where programs
/// are, the plain locale, and `folder` as home and for temporary files.
pub fn isolated(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    isolate(&mut command, folder);
    command
}

/// Has `command` start in `folder`, in an environment as [`isolated`] has it.
pub fn isolate(command: &mut Command, folder: &Path) {
    let path = std::env::join_paths(folders()).unwrap_or_else(|_| USUAL.into());
    command
        .env_clear()
        .env("PATH", path)
        .env("LC_ALL", "C")
        .env("HOME", folder)
        .env("TMPDIR", folder)
        .current_dir(folder);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_depend_on_where_one_is_are_left_out() {
        let path = OsString::from(".:/usr/bin::bin:../bin:/bin");
        assert_eq!(
            absolute(&path),
            ["/usr/bin", "/bin"].map(PathBuf::from).to_vec()
        );
    }

    #[test]
    fn a_program_is_a_file_that_may_be_run() {
        let folders = absolute(&USUAL.into());
        let shell = find_in(&folders, "sh").expect("POSIX has a shell");
        assert!(shell.is_absolute());
        assert_eq!(find_in(&folders, "no-such-program-of-any-system"), None);
        // A folder, and a file that may not be run.
        assert_eq!(find("/usr"), None);
        assert_eq!(find("/proc/self/status"), None);
    }

    #[test]
    fn an_isolated_program_sees_nothing_of_the_callers_environment() {
        let shell = find(SHELL).expect("POSIX has a shell");
        let script = "pwd; echo ${CARGO_MANIFEST_DIR-none} $HOME";
        let mut command = isolated(&shell, Path::new("/proc"));
        let output = command
            .args(["-c", script])
            .output()
            .expect("the program can be started");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "/proc\nnone /proc\n"
        );
    }
}
