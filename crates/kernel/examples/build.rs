//! Builds the pinned kernel, or one of a tree: `build [TREE]`. The exit code is 3 where the machine lacks its source or a tool.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use std::process::ExitCode;
use trammel_kernel::build::{Error, Source, Watch, Wish, build, usual_cache};

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
const LACKS: u8 = 3;

fn main() -> ExitCode {
    match work() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("{why}");
            let lacks = matches!(why.downcast_ref(), Some(Error::Lacks { .. }));
            if lacks {
                ExitCode::from(LACKS)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}

fn work() -> Result<(), Box<dyn std::error::Error>> {
    let source = match std::env::args_os().nth(1) {
        Some(tree) => Source::Tree(tree.into()),
        None => Source::pinned()?,
    };
    let wish = Wish {
        source,
        jobs: std::thread::available_parallelism()?.get(),
        cache: usual_cache().unwrap_or_else(|| PathBuf::from("kernels")),
    };
    println!("{:?}", build(&wish, &Told)?);
    Ok(())
}
