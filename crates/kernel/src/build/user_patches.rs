//! Patches of the user's over a source: all of them are tried on copies of the files that they
//! name, and only when all fit is the tree changed.

use super::error::{Error, Watch, at};
use super::source::Source;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// In a tree: the files of its source that patches have changed, as they were, and their list.
const KEPT: &str = ".trammel-source";
const LIST: &str = "list";
/// Beside a tree: where patches are tried.
const TRIAL: &str = "trial";
/// Hunks that are named of a file; more are counted.
const NAMED_HUNKS: usize = 8;

/// A patch that was read.
#[derive(Debug)]
pub(super) struct UserPatch {
    path: PathBuf,
    text: String,
    /// The files that it names, below the source.
    files: BTreeSet<String>,
}

impl UserPatch {
    /// Its file's name.
    fn name(&self) -> String {
        name(&self.path)
    }
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// How a source with these patches is called, after the source's own name.
pub(super) fn suffix(patches: &[PathBuf]) -> String {
    patches
        .iter()
        .map(|path| format!("+{}", name(path)))
        .collect()
}

/// What decides a kernel of `patches`, in their order.
pub(super) fn identity(patches: &[PathBuf]) -> Result<Vec<String>, Error> {
    let digest = |path: &PathBuf| {
        let text = fs::read(path).map_err(at(path))?;
        Ok(super::error::hexadecimal(&Sha256::digest(text)))
    };
    patches.iter().map(digest).collect()
}

/// Reads patches; one that names no file, or one outside of the source, is refused.
pub(super) fn read(patches: &[PathBuf]) -> Result<Vec<UserPatch>, Error> {
    let read = |path: &PathBuf| {
        let bytes = fs::read(path).map_err(at(path))?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let files = files(&text).map_err(|why| Error::Source {
            source_path: path.clone(),
            why,
        })?;
        Ok(UserPatch {
            path: path.clone(),
            text,
            files,
        })
    };
    patches.iter().map(read).collect()
}

/// The files that a patch names, without their first folder (`a/`, `b/`).
fn files(text: &str) -> Result<BTreeSet<String>, String> {
    let mut files = BTreeSet::new();
    // Lines of the hunk at hand that are still to come, of the old file and of the new one.
    let (mut old, mut new) = (0_u64, 0_u64);
    for (at, line) in text.lines().enumerate() {
        if old > 0 || new > 0 {
            match line.as_bytes().first() {
                Some(b'-') => old = old.saturating_sub(1),
                Some(b'+') => new = new.saturating_sub(1),
                Some(b'\\') => {}
                _ => (old, new) = (old.saturating_sub(1), new.saturating_sub(1)),
            }
            continue;
        }
        if let Some(extents) = line.strip_prefix("@@ -").and_then(extents) {
            (old, new) = extents;
            continue;
        }
        if line.starts_with("GIT binary patch") {
            return Err(format!("line {}: a binary file cannot be patched", at + 1));
        }
        let headed = ["--- ", "+++ "]
            .iter()
            .find_map(|start| line.strip_prefix(start));
        let renamed = ["rename from ", "rename to "]
            .iter()
            .find_map(|start| line.strip_prefix(start));
        let file = if let Some(headed) = headed {
            let file = headed.split('\t').next().unwrap_or(headed).trim_end();
            match file.split_once('/') {
                Some(("" | "dev", _)) if file == "/dev/null" => continue,
                // `--- a` of another text is none.
                None => continue,
                Some((_, file)) => file,
            }
        } else if let Some(renamed) = renamed {
            renamed.trim_end()
        } else {
            continue;
        };
        let is_inside = !file.is_empty()
            && !file.starts_with('/')
            && !file.contains('"')
            && file.split('/').all(|part| part != ".." && part != ".");
        if !is_inside {
            return Err(format!(
                "line {}: `{file}` is no file of the source",
                at + 1
            ));
        }
        files.insert(file.to_owned());
    }
    if files.is_empty() {
        return Err(
            "this is no patch of a source tree: it has no line like `--- a/net/ipv4/tcp.c`"
                .to_owned(),
        );
    }
    Ok(files)
}

/// How many lines of the old and of the new file a hunk has, by what follows `@@ -` in its head.
fn extents(head: &str) -> Option<(u64, u64)> {
    let (old, rest) = head.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let lines = |extent: &str| match extent.split_once(',') {
        Some((_, lines)) => lines.parse().ok(),
        None => Some(1),
    };
    Some((lines(old)?, lines(new)?))
}

/// Makes `tree`, a copy of `source` of this version, what it is with `patches` and without those
/// that it had before. Nothing is changed if one does not fit.
pub(super) fn apply(
    patches: &[UserPatch],
    source: &Source,
    version: &str,
    tree: &Path,
    watch: &dyn Watch,
) -> Result<(), Error> {
    let kept = tree.join(KEPT);
    let list = kept.join(LIST);
    let before: BTreeSet<String> = fs::read_to_string(&list)
        .unwrap_or_default()
        .lines()
        .map(str::to_owned)
        .collect();
    let now: BTreeSet<String> = patches
        .iter()
        .flat_map(|patch| patch.files.clone())
        .collect();
    if before.is_empty() && now.is_empty() {
        return Ok(());
    }
    // As the source has it.
    let pristine = |file: &str| match source {
        Source::Tree(from) => read_if(&from.join(file)),
        Source::Package(_) if before.contains(file) => read_if(&kept.join(file)),
        Source::Package(_) => read_if(&tree.join(file)),
    };
    let trial = tree.with_file_name(TRIAL);
    let _ = fs::remove_dir_all(&trial);
    fs::create_dir_all(&trial).map_err(at(&trial))?;
    for file in &now {
        if let Some(text) = pristine(file)? {
            write(&trial.join(file), &text)?;
        }
    }
    for patch in patches {
        attempt(patch, version, &trial, watch)?;
    }
    for file in &now {
        if let Some(text) = pristine(file)? {
            write(&kept.join(file), &text)?;
        }
    }
    let all: BTreeSet<&String> = before.iter().chain(&now).collect();
    let lines = |files: &mut dyn Iterator<Item = &String>| {
        files.map(|file| format!("{file}\n")).collect::<String>()
    };
    // What was kept is known before anything is changed, and forgotten after.
    write(&list, lines(&mut all.iter().copied()).as_bytes())?;
    for file in all {
        let wanted = if now.contains(file) {
            read_if(&trial.join(file))?
        } else {
            pristine(file)?
        };
        let target = tree.join(file);
        // Written only where it differs, so that nothing else is compiled again.
        match wanted {
            Some(wanted) if read_if(&target)?.as_ref() != Some(&wanted) => {
                write(&target, &wanted)?;
            }
            None if target.exists() => fs::remove_file(&target).map_err(at(&target))?,
            _ => {}
        }
    }
    write(&list, lines(&mut now.iter()).as_bytes())?;
    let _ = fs::remove_dir_all(&trial);
    Ok(())
}

/// Applies a patch to the copies in `trial`.
fn attempt(patch: &UserPatch, version: &str, trial: &Path, watch: &dyn Watch) -> Result<(), Error> {
    let file = trial.with_file_name("user.patch");
    fs::write(&file, &patch.text).map_err(at(&file))?;
    let output = Command::new("patch")
        .args([
            "-p1",
            "--forward",
            "--batch",
            "--reject-file=-",
            "--no-backup-if-mismatch",
            "-i",
        ])
        .arg(&file)
        .current_dir(trial)
        .env("LC_ALL", "C")
        .output()
        .map_err(at(Path::new("patch")))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.success() {
        let loose = said.lines().filter(|line| line.contains(" with fuzz "));
        let loose = loose.count();
        if loose > 0 {
            watch.stage(&format!(
                "`{}` fits Linux {version}, {loose} of its hunks only loosely",
                patch.name()
            ));
        }
        return Ok(());
    }
    let mut failed = failures(&said);
    if failed.is_empty() {
        let other = String::from_utf8_lossy(&output.stderr);
        let other = other.lines().chain(said.lines()).next();
        failed.push(other.unwrap_or("`patch` failed").to_owned());
    }
    Err(Error::Source {
        source_path: patch.path.clone(),
        why: format!(
            "the patch does not fit Linux {version}, and nothing was built:\n  {}\ntake the patch \
             for this version, or a tree that has it",
            failed.join("\n  ")
        ),
    })
}

/// What `patch` said of the files where it failed, a line each.
fn failures(said: &str) -> Vec<String> {
    let mut failed = Vec::new();
    let mut file = "";
    // The hunks that failed, with their lines, and whether they are there already.
    let mut hunks: Vec<(&str, &str)> = Vec::new();
    let mut is_there = false;
    for line in said.lines() {
        if let Some(next) = line.strip_prefix("patching file ") {
            (file, is_there) = (next.trim_matches('\''), false);
            hunks.clear();
        } else if line.starts_with("Reversed (or previously applied) patch detected") {
            is_there = true;
        } else if let Some((hunk, at)) = line
            .strip_prefix("Hunk #")
            .and_then(|line| line.split_once(" FAILED at "))
        {
            hunks.push((hunk, at.trim_end_matches('.')));
        } else if let Some((_, rest)) = line.split_once(" out of ") {
            let of = rest.split(' ').next().unwrap_or_default();
            if is_there {
                failed.push(format!("{file}: it has this change already"));
            } else if rest.contains("hunk") && rest.contains("FAILED") {
                let named = hunks.iter().take(NAMED_HUNKS);
                let named: Vec<_> = named
                    .map(|(hunk, at)| format!("{hunk} (line {at})"))
                    .collect();
                let more = match hunks.len().saturating_sub(NAMED_HUNKS) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let word = if hunks.len() == 1 { "hunk" } else { "hunks" };
                failed.push(format!("{file}: {word} {}{more} of {of}", named.join(", ")));
            } else if rest.contains("ignored") {
                failed.push(format!(
                    "{}: the source has no such file",
                    missing(said, file)
                ));
            }
        }
    }
    failed.dedup();
    failed
}

/// The file that `patch` did not find, as its text shows it.
fn missing<'a>(said: &'a str, file: &'a str) -> &'a str {
    let mut lines = said.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("can't find file to patch") {
            let named = lines.find_map(|line| {
                let (_, file) = line.strip_prefix("|+++ ")?.split_once('/')?;
                file.split('\t').next()
            });
            return named.unwrap_or(file);
        }
    }
    file
}

fn read_if(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(path)(error)),
    }
}

fn write(path: &Path, text: &[u8]) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(at(folder))?;
    }
    // A new file: the old one may be a link to the user's.
    let _ = fs::remove_file(path);
    fs::write(path, text).map_err(at(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::fmt::Write as _;

    #[derive(Default)]
    struct Told(RefCell<Vec<String>>);
    impl Watch for Told {
        fn stage(&self, what: &str) {
            self.0.borrow_mut().push(what.to_owned());
        }
    }

    /// A source, a copy of it, and a folder for patches.
    struct Bed {
        folder: tempfile::TempDir,
        source: Source,
    }

    const TCP: &str = "net/ipv4/tcp.c";
    const NEW: &str = "net/ipv4/tcp_new.c";

    impl Bed {
        fn new(is_package: bool) -> Bed {
            let folder = tempfile::tempdir().expect("a temporary folder can be made");
            let from = folder.path().join("linux");
            for root in [from.clone(), folder.path().join("work/tree")] {
                write(&root.join(TCP), numbered(60).as_bytes()).expect("it can be written");
                write(&root.join("net/ipv4/other.c"), b"other\n").expect("it can be written");
            }
            let source = if is_package {
                Source::Package(folder.path().join("linux.tar.xz"))
            } else {
                Source::Tree(from)
            };
            Bed { folder, source }
        }
        fn tree(&self) -> PathBuf {
            self.folder.path().join("work/tree")
        }
        fn has(&self, file: &str) -> Option<String> {
            read_if(&self.tree().join(file))
                .expect("it can be read")
                .map(|text| String::from_utf8(text).expect("it is text"))
        }
        fn patch(&self, name: &str, text: &str) -> PathBuf {
            let path = self.folder.path().join(name);
            fs::write(&path, text).expect("it can be written");
            path
        }
        fn apply(&self, patches: &[PathBuf]) -> Result<Vec<String>, String> {
            let told = Told::default();
            read(patches)
                .and_then(|read| apply(&read, &self.source, "6.12.9", &self.tree(), &told))
                .map_err(|why| why.to_string())?;
            Ok(told.0.into_inner())
        }
    }

    fn numbered(lines: u32) -> String {
        (1..=lines).fold(String::new(), |mut text, line| {
            let _ = writeln!(text, "line {line}");
            text
        })
    }

    /// A patch of one hunk a place, that doubles the line there.
    fn doubling(file: &str, places: &[u32]) -> String {
        let mut text = format!("--- a/{file}\n+++ b/{file}\t2026-01-01\n");
        for at in places {
            let _ = writeln!(
                text,
                "@@ -{0},3 +{0},4 @@ of a function\n line {0}\n-line {1}\n\
                 +line {1}\n+line {1}\n line {2}",
                at - 1,
                at,
                at + 1
            );
        }
        text
    }

    #[test]
    fn patches_are_applied_in_turn_changed_and_taken_back() {
        for is_package in [true, false] {
            let bed = Bed::new(is_package);
            let first = bed.patch("a.patch", &doubling(TCP, &[5, 40]));
            // Of what the first has made.
            let second = bed.patch(
                "b.patch",
                &format!(
                    "From: someone\n\n--- a/{TCP}\n+++ b/{TCP}\n@@ -4,4 +4,4 @@\n line 4\n\
                     -line 5\n line 5\n+line five\n line 6\n--- /dev/null\n+++ b/{NEW}\n\
                     @@ -0,0 +1,2 @@\n+--- no head\n+made\n"
                ),
            );
            assert_eq!(bed.apply(&[first.clone(), second]), Ok(vec![]));
            let both = bed.has(TCP).expect("it is there");
            assert!(both.contains("line 5\nline five\nline 6\n"), "{both}");
            assert!(both.contains("line 40\nline 40\n"), "{both}");
            assert_eq!(bed.has(NEW).as_deref(), Some("--- no head\nmade\n"));
            // What stays the same is not written again.
            let stamp = |bed: &Bed| {
                let about = fs::metadata(bed.tree().join(TCP)).expect("it is there");
                about.modified().expect("it has a time")
            };
            let only = [first];
            assert_eq!(bed.apply(&only), Ok(vec![]));
            let one = bed.has(TCP).expect("it is there");
            assert!(one.contains("line 5\nline 5\nline 6\n"), "{one}");
            assert_eq!(bed.has(NEW), None);
            let before = stamp(&bed);
            assert_eq!(bed.apply(&only), Ok(vec![]));
            assert_eq!(stamp(&bed), before);
            assert_eq!(bed.apply(&[]), Ok(vec![]));
            assert_eq!(bed.has(TCP), Some(numbered(60)));
            assert_eq!(bed.has("net/ipv4/other.c").as_deref(), Some("other\n"));
        }
    }

    #[test]
    fn a_patch_that_does_not_fit_is_told_with_its_hunks_and_changes_nothing() {
        let bed = Bed::new(true);
        let good = bed.patch("good.patch", &doubling("net/ipv4/tcp.c", &[5]));
        let mut text = doubling(TCP, &[10, 20, 30, 40]);
        text = text
            .replace("line 20", "row 20")
            .replace("line 40", "row 40");
        text += &doubling("net/ipv4/none.c", &[5]);
        let bad = bed.patch("bad.patch", &text);
        let why = bed.apply(&[good.clone(), bad.clone()]).unwrap_err();
        assert_eq!(
            why,
            format!(
                "`{}`: the patch does not fit Linux 6.12.9, and nothing was built:\n  \
                 net/ipv4/tcp.c: hunks 2 (line 20), 4 (line 41) of 4\n  net/ipv4/none.c: the \
                 source has no such file\ntake the patch for this version, or a tree that has it",
                bad.display()
            )
        );
        assert_eq!(bed.has(TCP), Some(numbered(60)));
        let again = bed.apply(&[good.clone(), good]).unwrap_err();
        assert!(
            again.contains("net/ipv4/tcp.c: it has this change already"),
            "{again}"
        );
        assert_eq!(bed.has(TCP), Some(numbered(60)));
    }

    #[test]
    fn a_hunk_that_fits_loosely_is_told() {
        let bed = Bed::new(true);
        let text = doubling(TCP, &[10]).replace("@@ -9,3 +9,4", "@@ -8,4 +8,5");
        let text = text.replacen("\n line 9\n", "\n line eight\n line 9\n", 1);
        let loose = bed.patch("loose.patch", &text);
        assert_eq!(
            bed.apply(&[loose]),
            Ok(vec![
                "`loose.patch` fits Linux 6.12.9, 1 of its hunks only loosely".to_owned()
            ])
        );
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        let bed = Bed::new(true);
        for (text, why) in [
            ("", "it has no line like `--- a/net/ipv4/tcp.c`"),
            ("int main(void) { return 0; }\n", "it has no line like"),
            (
                "--- a/../x\n+++ b/../x\n@@ -1 +1 @@\n-a\n+b\n",
                "line 1: `../x` is no file of the source",
            ),
            (
                "diff --git a/x b/x\nGIT binary patch\n",
                "line 2: a binary file cannot be patched",
            ),
        ] {
            let error = bed.apply(&[bed.patch("x.patch", text)]).unwrap_err();
            assert!(error.contains(why) && error.contains("x.patch"), "{error}");
        }
        let none = bed.apply(&[bed.folder.path().join("none.patch")]);
        assert!(none.unwrap_err().contains("none.patch"));
        assert_eq!(bed.has(TCP), Some(numbered(60)));
    }
}
