//! The program that is the first process of guests, and whether guests run on this machine: found
//! and tried before anything is measured.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use trammel_ground::Unsupported;
use trammel_kernel::boot::{BOOT_TIME, Error, Machine};
use trammel_kernel::build::Built;

/// The program of guests.
const GUEST: &str = "trammel-guest";
/// What names it where it is elsewhere.
const VARIABLE: &str = "TRAMMEL_GUEST";
/// What measures where no guest runs.
const WAY_OUT: &str =
    "or measure this host's own TCP, which needs no guest: `kernel = \"host\"` in `[measure]`";

/// Kernels of which a guest has booted in this process.
static BOOTED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A kernel with the program of its guests.
pub fn machine(built: &Built) -> anyhow::Result<Machine> {
    Machine::new(&built.kernel, &program()?).map_err(unable)
}

/// Boots a guest of `machine`, unless one has booted before, so that a machine on which none runs
/// is told once and before the work.
pub fn try_boot(machine: &Machine, interrupted: &(dyn Fn() -> bool + Sync)) -> anyhow::Result<()> {
    let booted = || BOOTED.lock().unwrap_or_else(PoisonError::into_inner);
    if booted().contains(machine.kernel()) {
        return Ok(());
    }
    machine.try_boot(BOOT_TIME, interrupted).map_err(unable)?;
    booted().insert(machine.kernel().to_owned());
    Ok(())
}

/// An error of a guest; where the machine is to blame, it ends a command with its own exit code,
/// and says the way out.
pub fn unable(error: Error) -> anyhow::Error {
    match error {
        Error::Unable { cause, .. } => {
            let text = error.to_string();
            let what = text.strip_suffix(cause.mend()).unwrap_or(&text);
            let what = what.trim_end_matches("; ");
            Unsupported::error(what, &format!("{}; {WAY_OUT}", cause.mend()))
        }
        Error::NoProgram { .. } => Unsupported::error(
            &error.to_string(),
            "install it again: it comes with `trammel`",
        ),
        other => other.into(),
    }
}

/// Where the program of guests is: where the user says, beside this program, or in a folder of
/// `PATH`.
fn program() -> anyhow::Result<PathBuf> {
    let own = trammel_ground::program::own()?;
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
    let path = std::env::var_os("PATH").unwrap_or_default();
    find(named.as_deref().map(Path::new), &own, &path)
}

fn find(named: Option<&Path>, own: &Path, path: &std::ffi::OsStr) -> anyhow::Result<PathBuf> {
    if let Some(named) = named {
        return if named.is_file() {
            Ok(named.to_owned())
        } else {
            let what = format!(
                "{VARIABLE} is `{}`, where there is no file",
                named.display()
            );
            Err(Unsupported::error(&what, &format!("let it name `{GUEST}`")))
        };
    }
    // Tests and examples of Cargo's lie in a folder beside the programs.
    let beside = own.ancestors().skip(1).take(2).map(Path::to_owned);
    let mut folders = beside.chain(std::env::split_paths(path));
    let found = folders
        .by_ref()
        .map(|folder| folder.join(GUEST))
        .find(|program| program.is_file());
    found.ok_or_else(|| {
        let what = format!(
            "`{GUEST}` is missing, the program that runs in guests: it is neither beside `{}` nor \
             in a folder of PATH",
            own.display()
        );
        let mend = format!(
            "it comes with `trammel`; a program of your own that uses Trammel as a library needs \
             it too: `cargo install --path crates/trammel` puts it into PATH, or let {VARIABLE} \
             name it"
        );
        Unsupported::error(&what, &mend)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io;
    use trammel_kernel::cause::Cause;

    #[test]
    fn the_guest_s_program_is_found_beside_a_program_above_it_in_path_and_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["debug/deps", "bin", "other"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        let own = at("debug/deps/mine-0123");
        let path = at("bin").into_os_string();
        let error = find(None, &own, &path).unwrap_err();
        assert!(error.is::<Unsupported>(), "{error}");
        for word in ["trammel-guest", "mine-0123", "PATH", "TRAMMEL_GUEST"] {
            assert!(error.to_string().contains(word), "{error}");
        }
        let put = |name: &str| {
            fs::write(at(name).join(GUEST), "").unwrap();
            at(name).join(GUEST)
        };
        // The nearer one comes first.
        let in_path = put("bin");
        assert_eq!(find(None, &own, &path).unwrap(), in_path);
        let above = put("debug");
        assert_eq!(find(None, &own, &path).unwrap(), above);
        let beside = put("debug/deps");
        assert_eq!(find(None, &own, &path).unwrap(), beside);
        let named = put("other");
        assert_eq!(find(Some(&named), &own, &path).unwrap(), named);
        let error = find(Some(&at("nosuch")), &own, &path).unwrap_err();
        assert!(error.to_string().contains("nosuch"), "{error}");
    }

    #[test]
    fn what_the_machine_is_to_blame_for_says_its_cause_and_the_way_out_in_a_line() {
        let error = unable(Error::Unable {
            cause: Cause::Processor,
            detail: Some("userspace - ptrace set fp regs failed, errno = 14".to_owned()),
        });
        assert!(error.is::<Unsupported>());
        let text = error.to_string();
        for part in ["this processor", "errno = 14", "kernel = \"host\""] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(!text.contains("; ;"), "{text}");
        let own = unable(Error::NotStarted(io::Error::other("no")));
        assert!(!own.is::<Unsupported>());
    }
}
