//! Files beside a run folder, whose names anybody can tell: what somebody else has put there is
//! neither read nor written.
//!
//! In a folder to which others may write, such as `/tmp`, a file of a name that can be told
//! beforehand may be a link of theirs to a file of ours, or results that they made up.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Whether `path` itself, and not what a link leads to, is there and belongs to who runs this.
pub fn is_own(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| belongs_to_us(&about))
}

/// Whether something with this metadata, not followed through a link, is no link and belongs to who
/// runs this.
pub fn belongs_to_us(about: &fs::Metadata) -> bool {
    !about.is_symlink() && is_of_user(about)
}

#[cfg(target_os = "linux")]
fn is_of_user(about: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    // The files of a process are its user's.
    fs::metadata("/proc/self/status").map_or(true, |own| own.uid() == about.uid())
}

#[cfg(not(target_os = "linux"))]
fn is_of_user(_: &fs::Metadata) -> bool {
    true
}

fn of_others(path: &Path) -> io::Error {
    let why = format!(
        "`{}` is a link or belongs to another user; remove it, or choose another folder",
        path.display()
    );
    io::Error::new(ErrorKind::PermissionDenied, why)
}

/// A new file in place of an own one.
pub fn create(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(_) if !is_own(path) => return Err(of_others(path)),
        Ok(_) => fs::remove_file(path)?,
        Err(_) => {}
    }
    // Fails where somebody was faster.
    OpenOptions::new().append(true).create_new(true).open(path)
}

/// A folder of one's own, made where there is none.
pub fn create_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(why) if why.kind() == ErrorKind::AlreadyExists && is_own(path) => Ok(()),
        Err(why) if why.kind() == ErrorKind::AlreadyExists => Err(of_others(path)),
        made => made,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_a_link_leads_to_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let [precious, link] = ["precious", "link"].map(|name| folder.path().join(name));
        fs::write(&precious, "kept").unwrap();
        symlink(&precious, &link).unwrap();
        assert!(is_own(&precious) && !is_own(&link));
        assert!(create(&link).unwrap_err().to_string().contains("is a link"));
        assert_eq!(fs::read_to_string(&precious).unwrap(), "kept");
        let inside = folder.path().join("inside");
        fs::create_dir(&inside).unwrap();
        fs::remove_file(&link).unwrap();
        symlink(&inside, &link).unwrap();
        assert!(create_folder(&link).is_err() && create_folder(&inside).is_ok());
    }

    #[test]
    fn an_own_file_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "before").unwrap();
        create(&path).unwrap().write_all(b"after").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
    }
}
