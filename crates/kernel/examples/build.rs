//! Builds the pinned kernel, or one of a tree, and boots it once: `build [TREE] [FILE.patch…]`. The
//! exit code is 3 where the machine lacks its source or a tool, or lets no guest run. The guest is
//! this program itself.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::process::ExitCode;
use trammel_kernel::boot::{self, BOOT_TIME, Machine};
use trammel_kernel::build::{Error, Source, Watch, Wish, build, usual_cache};
use trammel_kernel::guest::{self, FILES};

struct Told;
impl Watch for Told {
    fn stage(&self, what: &str) {
        println!("{what}");
    }
    fn compiled(&self, files: u64, of: u64) {
        if files.is_multiple_of(100) {
            println!("{files} of {of}");
        }
    }
}

/// The exit code where the machine lacks something.
const UNSUPPORTED: u8 = 3;

fn main() -> ExitCode {
    let is_guest = std::process::id() == 1 && std::path::Path::new(guest::JOB).exists();
    if is_guest || std::env::args().nth(1).as_deref() == Some(FILES) {
        return guest::main();
    }
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("{why}");
            let lacks = matches!(why.downcast_ref(), Some(Error::Unsupported { .. }));
            if lacks || matches!(why.downcast_ref(), Some(boot::Error::Unable { .. })) {
                ExitCode::from(UNSUPPORTED)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}

fn work() -> Result<(), Box<dyn std::error::Error>> {
    let named = std::env::args_os().skip(1).map(PathBuf::from);
    let (patches, trees): (Vec<_>, Vec<_>) =
        named.partition(|path| path.extension().is_some_and(|end| end == "patch"));
    let source = match trees.into_iter().next() {
        Some(tree) => Source::Tree(tree),
        None => Source::pinned()?,
    };
    let wish = Wish {
        source,
        patches,
        jobs: std::thread::available_parallelism()?.get(),
        cache: usual_cache().unwrap_or_else(|| PathBuf::from("kernels")),
    };
    let built = build(&wish, &Told)?;
    println!("{built:?}");
    Machine::new(&built.kernel, &std::env::current_exe()?)?.try_boot(BOOT_TIME, &|| false)?;
    println!("a guest boots");
    Ok(())
}
