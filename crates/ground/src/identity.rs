//! Which build of the program this is: numbers of another build are not taken for those of this
//! one.
//!
//! A version has many builds: a change that is compiled in, another compiler, a congestion control
//! that a program of its own registers. So the identity is that of the file that runs.

use crate::{program, sha256};
use std::path::Path;
use std::sync::OnceLock;

/// The file that runs, also where another one has taken its place meanwhile.
const RUNNING: &str = "/proc/self/exe";

/// SHA-256 of the program's file, as 64 hexadecimal digits. Where it cannot be read, a text that no
/// other process has. A library inside of another program, such as Python, was built with the
/// `trammel` that stands in for it, and has that one's.
pub fn of_program() -> &'static str {
    static IDENTITY: OnceLock<String> = OnceLock::new();
    IDENTITY.get_or_init(|| {
        let running = Path::new(RUNNING);
        let file = if let Some(program) = program::in_place() {
            Ok(program.to_owned())
        } else if running.exists() {
            Ok(running.to_owned())
        } else {
            std::env::current_exe()
        };
        file.and_then(|path| sha256::of_file(&path))
            .unwrap_or_else(|_| unknown())
    })
}

/// A text that no other process has.
#[cfg(not(target_family = "wasm"))]
fn unknown() -> String {
    use std::time::SystemTime;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.unwrap_or_default().as_nanos();
    format!("unknown {} {now}", std::process::id())
}

/// WebAssembly has neither processes nor a clock; nothing that it computes is kept for another one.
#[cfg(target_family = "wasm")]
fn unknown() -> String {
    "WebAssembly".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_one_build() {
        assert_eq!(of_program(), of_program());
        assert_eq!(of_program().len(), 64);
    }
}
