//! What the standard library has no call for: two files or folders that change their names at once.

use crate::sys;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Exchanges the names of `one` and `other`, which lie on one file system, in a single step:
/// whoever looks sees both before it or both after it. `Unsupported` where the kernel or the file
/// system cannot.
pub fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from);
    let (one, other) = (text(one)?, text(other)?);
    // By its number: not every C library has a function for it.
    // SAFETY: both strings end with a zero and live until the call has returned.
    let done = unsafe {
        libc::syscall(
            libc::SYS_renameat2,
            libc::AT_FDCWD,
            one.as_ptr(),
            libc::AT_FDCWD,
            other.as_ptr(),
            libc::RENAME_EXCHANGE,
        )
    };
    let done = sys::check(done as libc::c_int);
    match done {
        Ok(_) => Ok(()),
        // A file system without the flag says EINVAL, an old kernel ENOSYS.
        Err(why) if matches!(why.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS)) => Err(
            io::Error::new(io::ErrorKind::Unsupported, "names cannot be exchanged here"),
        ),
        Err(why) => Err(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn folders_exchange_their_names_and_a_missing_one_is_an_error() {
        let parent = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| parent.path().join(name));
        fs::create_dir(&one).unwrap();
        fs::create_dir(&other).unwrap();
        fs::write(one.join("mine"), "x").unwrap();
        match exchange(&one, &other) {
            Err(why) if why.kind() == io::ErrorKind::Unsupported => {
                eprintln!("skipped: this file system exchanges no names");
                return;
            }
            done => done.unwrap(),
        }
        assert!(other.join("mine").exists() && !one.join("mine").exists());
        assert_eq!(
            exchange(&one, &parent.path().join("none"))
                .unwrap_err()
                .kind(),
            io::ErrorKind::NotFound
        );
    }
}
