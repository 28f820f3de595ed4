//! A guest's kernel from Linux's source: found in the cache, or built there.
//!
//! ```text
//!  package's archive ─ unpack ─┐                ┌─ patch ─ configure ─ make ─> cache/HASH/linux
//!                              ├─> cache/work/…/tree
//!  a user's tree ─ copy anew ──┘   (kept: the next build compiles what has changed)
//! ```
//! The user's own tree is never written to. What decides the kernel (its source, configuration,
//! patch and compiler) makes the hash, so a kernel that is found is the one that would be built.

mod config;
mod error;
mod make;
mod module;
mod patches;
mod source;
mod tools;
mod user_patches;

pub use error::{Error, Watch};
use error::{at, digest, hexadecimal};
pub use module::module;
pub use source::Source;

use make::Make;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;
use trammel_io::machine;

/// What is counted in another form by a later version of this module.
const RECIPE: &str = "2";
/// Bytes that a build takes on the disk.
const NEEDED_BYTES: u64 = 2_500_000_000;
/// Files that are compiled, about.
const FILES: u64 = 1250;

/// What is to be built.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The source.
    pub source: Source,
    /// Patches of the user's, applied to a copy of it in this order.
    pub patches: Vec<PathBuf>,
    /// Compilers at once.
    pub jobs: usize,
    /// The folder of all kernels that are kept.
    pub cache: PathBuf,
}

impl Wish {
    /// Where its source is worked on.
    fn work(&self) -> PathBuf {
        let name = self.source.name() + &user_patches::suffix(&self.patches);
        self.cache.join("work").join(name)
    }
}

/// A kernel that was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// The program.
    pub kernel: PathBuf,
    /// Its version, as `6.12.117`.
    pub version: String,
    /// The first digits of the hash of all that decides it.
    pub hash: String,
}

impl Built {
    /// What it was made of, for a report; the last one is when, in seconds since 1970, where the
    /// file system tells.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = vec![("kernel's configuration", digest(config::TEXT))];
        let given = fs::read_to_string(self.kernel.with_file_name(patches::GIVEN));
        let given = given.unwrap_or_default();
        facts.extend(
            given
                .lines()
                .map(|patch| ("kernel's patch", patch.to_owned())),
        );
        let built = fs::metadata(&self.kernel).and_then(|about| about.modified());
        let since = built.ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        facts.extend(since.map(|since| ("kernel built", since.as_secs().to_string())));
        facts
    }
}

/// Where kernels are kept unless told otherwise: `$XDG_CACHE_HOME/trammel/kernel`, or the same in
/// `~/.cache`; nothing where neither is known.
pub fn usual_cache() -> Option<PathBuf> {
    let named = std::env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty());
    let home = || std::env::var_os("HOME").filter(|path| !path.is_empty());
    let base = named
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(home()?).join(".cache")))?;
    Some(base.join("trammel/kernel"))
}

/// The folder in which the kernel of `wish` is kept as `linux`, with its version; it need not be
/// there yet.
pub fn place(wish: &Wish) -> Result<PathBuf, Error> {
    Ok(wish.cache.join(hash(wish)?))
}

/// The kernel of `wish`, where it was built before.
pub fn find(wish: &Wish) -> Result<Option<Built>, Error> {
    let hash = hash(wish)?;
    let kernel = wish.cache.join(&hash).join("linux");
    if !kernel.exists() {
        return Ok(None);
    }
    let version = kernel.with_file_name("version");
    let version = fs::read_to_string(&version).map_err(at(&version))?;
    Ok(Some(Built {
        kernel,
        version: version.trim().to_owned(),
        hash,
    }))
}

/// The kernel of `wish`, built where it is not there.
pub fn build(wish: &Wish, watch: &dyn Watch) -> Result<Built, Error> {
    if let Some(built) = find(wish)? {
        return Ok(built);
    }
    tools::missing()?;
    let work = wish.work();
    fs::create_dir_all(&work).map_err(at(&work))?;
    enough_room(&work)?;
    // Who comes second waits, and then finds what the first has built.
    let lock = work.join("lock");
    let lock_file = File::create(&lock).map_err(at(&lock))?;
    if !machine::lock(&lock_file, false).map_err(at(&lock))? {
        watch.stage("waiting for another build of this source");
        machine::lock(&lock_file, true).map_err(at(&lock))?;
        if let Some(built) = find(wish)? {
            return Ok(built);
        }
    }
    let hash = hash(wish)?;
    let tree = work.join("tree");
    let patches = user_patches::read(&wish.patches)?;
    if !patches.is_empty() && !tree.exists() {
        begin_with_the_source_s_own(wish, &work, watch)?;
    }
    if patches::are_stale(&tree) {
        wish.source.forget(&tree);
    }
    wish.source.bring(&tree, watch)?;
    let version = source::version(&tree)?;
    let make = Make {
        tree: &tree,
        log: &work.join("log"),
        jobs: wish.jobs,
        watch,
    };
    make.begin()?;
    user_patches::apply(&patches, &wish.source, &version, &tree, watch)?;
    patches::apply(&tree, &version, &make)?;
    set_ticks(&tree)?;
    watch.stage("configuring");
    config::configure(&tree, &make)?;
    watch.stage("compiling");
    make.run(&["linux"], Some(FILES))?;
    // Whole or not at all.
    let (part, whole) = (
        wish.cache.join(format!("{hash}.part")),
        wish.cache.join(&hash),
    );
    let _ = fs::remove_dir_all(&part);
    fs::create_dir_all(&part).map_err(at(&part))?;
    fs::copy(tree.join("linux"), part.join("linux")).map_err(at(&part))?;
    fs::write(part.join("version"), format!("{version}\n")).map_err(at(&part))?;
    let given = fs::read_to_string(work.join(patches::GIVEN)).unwrap_or_default();
    fs::write(part.join(patches::GIVEN), given).map_err(at(&part))?;
    fs::rename(&part, &whole).map_err(at(&whole))?;
    Ok(Built {
        kernel: whole.join("linux"),
        version,
        hash,
    })
}

/// All that decides a kernel, as 16 hexadecimal digits.
fn hash(wish: &Wish) -> Result<String, Error> {
    let mut hash = Sha256::new();
    let (compiler, source) = (tools::compiler(), wish.source.identity()?);
    let mut add = |part: &str| {
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    };
    add(RECIPE);
    add(config::TEXT);
    patches::texts().for_each(&mut add);
    add(&compiler);
    add(&source);
    for patch in user_patches::identity(&wish.patches)? {
        add(&patch);
    }
    Ok(hexadecimal(&hash.finalize()[..8]))
}

/// Copies what was compiled of the source without patches, where it was: a patch changes few files.
fn begin_with_the_source_s_own(wish: &Wish, work: &Path, watch: &dyn Watch) -> Result<(), Error> {
    let own = Wish {
        patches: Vec::new(),
        ..wish.clone()
    };
    let own = own.work();
    let Ok(lock_file) = File::open(own.join("lock")) else {
        return Ok(());
    };
    let lock = |can_wait| machine::lock(&lock_file, can_wait).map_err(at(&own));
    if !lock(false)? {
        watch.stage("waiting for another build of this source");
        lock(true)?;
    }
    if !own.join("tree/linux").exists() {
        return Ok(());
    }
    watch.stage("copying what was compiled without the patches");
    // Whole or not at all.
    let part = work.join("part");
    let _ = fs::remove_dir_all(&part);
    fs::create_dir_all(&part).map_err(at(&part))?;
    let copied = Command::new("cp")
        .args(["--archive", "--reflink=auto", "--"])
        .args(
            fs::read_dir(&own)
                .map_err(at(&own))?
                .flatten()
                .map(|entry| entry.path())
                .filter(|path| path.file_name().is_some_and(|name| name != "lock")),
        )
        .arg(&part)
        .output()
        .map_err(at(Path::new("cp")))?;
    if copied.status.success() {
        for entry in fs::read_dir(&part).map_err(at(&part))?.flatten() {
            let target = work.join(entry.file_name());
            if entry.file_name() != "tree" {
                fs::rename(entry.path(), &target).map_err(at(&target))?;
            }
        }
        let tree = work.join("tree");
        fs::rename(part.join("tree"), &tree).map_err(at(&tree))?;
    }
    let _ = fs::remove_dir_all(&part);
    Ok(())
}

/// Whether the disk has room for a build that was not begun before.
fn enough_room(work: &Path) -> Result<(), Error> {
    if work.join("tree/Makefile").exists() {
        return Ok(());
    }
    match machine::free_bytes(work) {
        Ok(free) if free < NEEDED_BYTES => Err(Error::Unsupported {
            what: format!(
                "the disk of `{}` has {} MB left, and a kernel takes {}",
                work.display(),
                free / 1_000_000,
                NEEDED_BYTES / 1_000_000
            ),
            mend: "make room, or set XDG_CACHE_HOME to a folder of another disk".to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Makes ticks as long as a server's.
fn set_ticks(tree: &Path) -> Result<(), Error> {
    let path = tree.join("arch/um/Kconfig");
    let text = fs::read_to_string(&path).map_err(at(&path))?;
    if let Some(changed) = with_ticks(&text) {
        fs::write(&path, changed).map_err(at(&path))?;
    }
    Ok(())
}

/// `arch/um/Kconfig` with 1000 ticks a second, as servers have; nothing where it has them.
fn with_ticks(text: &str) -> Option<String> {
    let at = text.find("\nconfig HZ\n")?;
    let (before, after) = text.split_at(at);
    let changed = after.replacen("default 100\n", "default 1000\n", 1);
    (changed != after).then(|| format!("{before}{changed}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_changed_once_and_nothing_else() {
        let text = "config NR\n\tint\n\tdefault 100\n\nconfig HZ\n\tint\n\tdefault 100\n";
        let changed = with_ticks(text).expect("it has too few");
        assert!(changed.ends_with("config HZ\n\tint\n\tdefault 1000\n"));
        assert!(changed.starts_with("config NR\n\tint\n\tdefault 100\n"));
        assert_eq!(with_ticks(&changed), None);
    }
}
