//! Which build of the program this is: numbers of another build are not taken for those of this one.
//!
//! A version has many builds: a change that is compiled in, another compiler, a congestion control that a program of its own
//! registers. So the identity is that of the file that runs.

use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::OnceLock;
use std::time::SystemTime;

/// The file that runs, also where another one has taken its place meanwhile.
const RUNNING: &str = "/proc/self/exe";
/// Bytes that are read at once.
const PIECE: usize = 1 << 20;

/// SHA-256 of the program's file, as 64 hexadecimal digits. Where it cannot be read, a text that no other process has.
pub fn of_program() -> &'static str {
    static IDENTITY: OnceLock<String> = OnceLock::new();
    IDENTITY.get_or_init(|| {
        let running = Path::new(RUNNING);
        let file = if running.exists() {
            Ok(running.to_owned())
        } else {
            std::env::current_exe()
        };
        file.and_then(|path| of_file(&path)).unwrap_or_else(|_| {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
            let now = now.unwrap_or_default().as_nanos();
            format!("unknown {} {now}", std::process::id())
        })
    })
}

/// SHA-256 of a file, as 64 hexadecimal digits.
pub fn of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let (mut sum, mut piece) = (Sha256::new(), vec![0; PIECE]);
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(hex(&sum.finalize())),
            Ok(count) => sum.update(&piece[..count]),
            Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
            Err(why) => return Err(why),
        }
    }
}

/// SHA-256 of a text, as 64 hexadecimal digits.
pub fn of_text(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_what_they_hold() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "abc").unwrap();
        // FIPS 180-4's example.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of_file(&path).unwrap(), abc);
        assert_eq!(of_text("abc"), abc);
        assert_eq!(of_program(), of_program());
        assert_eq!(of_program().len(), 64);
    }
}
