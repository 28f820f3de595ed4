//! Builds the pinned kernel, or one of a tree: `build [TREE]`.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;
use trammel_kernel::build::{Source, Watch, Wish, build, usual_cache};

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

fn main() -> Result<(), Box<dyn std::error::Error>> {
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
