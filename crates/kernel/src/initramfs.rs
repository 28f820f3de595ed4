//! The files of a guest as the kernel unpacks them: an archive of `cpio`'s format "newc".
//!
//! Source: `buffer-format.rst` of the kernel's documentation.

use std::collections::BTreeSet;
use std::path::Path;

const FOLDER: u32 = 0o040_755;
const PROGRAM: u32 = 0o100_755;
const PLAIN: u32 = 0o100_644;
const CONSOLE: u32 = 0o020_600;

/// An archive that is being written.
#[derive(Debug, Default)]
pub(crate) struct Archive {
    bytes: Vec<u8>,
    files: u32,
    folders: BTreeSet<String>,
}

impl Archive {
    /// With the console that the first process speaks to.
    pub(crate) fn new() -> Archive {
        let mut archive = Archive::default();
        archive.folder_of("dev/console");
        archive.entry("dev/console", CONSOLE, &[], (5, 1));
        archive
    }

    /// Adds a program at an absolute path.
    pub(crate) fn program(&mut self, path: &str, bytes: &[u8]) {
        self.file(path, PROGRAM, bytes);
    }

    /// Adds a file at an absolute path.
    pub(crate) fn plain(&mut self, path: &str, bytes: &[u8]) {
        self.file(path, PLAIN, bytes);
    }

    fn file(&mut self, path: &str, mode: u32, bytes: &[u8]) {
        let path = path.trim_start_matches('/');
        self.folder_of(path);
        self.entry(path, mode, bytes, (0, 0));
    }

    /// Adds the folders that `path` lies in.
    fn folder_of(&mut self, path: &str) {
        let folders: Vec<_> = Path::new(path).ancestors().skip(1).collect();
        for folder in folders.into_iter().rev() {
            let name = folder.to_string_lossy().into_owned();
            if !name.is_empty() && self.folders.insert(name.clone()) {
                self.entry(&name, FOLDER, &[], (0, 0));
            }
        }
    }

    fn entry(&mut self, name: &str, mode: u32, bytes: &[u8], device: (u32, u32)) {
        self.files += 1;
        let name_bytes = name.len() as u32 + 1;
        let fields = [
            self.files,
            mode,
            0,
            0,
            1,
            0,
            bytes.len() as u32,
            0,
            0,
            device.0,
            device.1,
            name_bytes,
            0,
        ];
        self.bytes.extend(b"070701");
        for field in fields {
            self.bytes.extend(format!("{field:08x}").bytes());
        }
        self.bytes.extend(name.bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(bytes);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    /// The archive.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[], (0, 0));
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names, modes and contents of an archive.
    fn entries(mut bytes: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
        let mut found = Vec::new();
        while bytes.len() > 110 {
            assert_eq!(&bytes[..6], b"070701");
            let field = |n: usize| {
                let text =
                    std::str::from_utf8(&bytes[6 + 8 * n..14 + 8 * n]).expect("the text is UTF-8");
                u32::from_str_radix(text, 16).expect("the text is a number") as usize
            };
            let (mode, size, name) = (field(1), field(6), field(11));
            let data = (110 + name).next_multiple_of(4);
            let text = String::from_utf8_lossy(&bytes[110..109 + name]).into_owned();
            found.push((text, mode as u32, bytes[data..data + size].to_vec()));
            bytes = &bytes[(data + size).next_multiple_of(4)..];
        }
        found
    }

    #[test]
    fn files_come_behind_their_folders() {
        let mut archive = Archive::new();
        archive.program("/lib64/ld.so", b"12345");
        archive.plain("/job", b"{}");
        archive.plain("/lib64/x/y", b"");
        let found = entries(&archive.finish());
        let names: Vec<_> = found.iter().map(|(name, ..)| name.as_str()).collect();
        let expected = [
            "dev",
            "dev/console",
            "lib64",
            "lib64/ld.so",
            "job",
            "lib64/x",
            "lib64/x/y",
            "TRAILER!!!",
        ];
        assert_eq!(names, expected);
        assert_eq!(found[3], ("lib64/ld.so".into(), PROGRAM, b"12345".to_vec()));
        assert_eq!(found[1].1, CONSOLE);
    }
}
