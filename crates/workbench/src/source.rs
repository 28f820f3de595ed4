//! A configuration's text, and the libraries that it requires along CLICKPATH.

use std::io::{self, Read};
use std::path::Path;
use trammel_router::lang::{self, Library, Loader};

/// What the system says, without Rust's number.
pub fn os_text(why: &std::io::Error) -> String {
    let text = why.to_string();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// A configuration's text and what landmarks call it.
#[derive(Clone, Debug)]
pub struct Source {
    /// The text.
    pub text: String,
    /// The name.
    pub name: String,
}

impl Source {
    /// Reads a file, or standard input where it is `-`.
    pub fn read(file: &str) -> Result<Source, String> {
        let name = if file == "-" { "<stdin>" } else { file };
        match read(file) {
            Ok(text) => Ok(Source {
                name: name.to_owned(),
                text,
            }),
            Err(why) => Err(format!("{name}: {}", os_text(&why))),
        }
    }
}

/// Whether a file is a configuration in Click's language, by the ends of names that those have.
pub fn is_configuration(path: &Path) -> bool {
    let end = path.extension().and_then(std::ffi::OsStr::to_str);
    end.is_some_and(|end| ["click", "cl", "clk"].contains(&end))
}

/// Libraries along CLICKPATH.
#[derive(Clone, Debug)]
pub struct Files {
    path: Vec<String>,
}

impl Files {
    /// Along `clickpath`, or the environment's.
    pub fn new(clickpath: Option<&str>) -> Files {
        let path = clickpath
            .map(str::to_owned)
            .or_else(|| std::env::var("CLICKPATH").ok());
        let path = path.unwrap_or_default();
        Files {
            path: path.split(':').map(str::to_owned).collect(),
        }
    }
}

impl Loader for Files {
    fn library(&self, name: &str, directory: &str) -> Option<Library> {
        let places = self.path.iter().flat_map(|part| match part.as_str() {
            "" => vec![directory.to_owned()],
            part => vec![
                part.to_owned(),
                format!("{part}/conf"),
                format!("{part}/share/click"),
                format!("{part}/share/click/conf"),
            ],
        });
        let mut paths = places.map(|place| Path::new(&place).join(name));
        let path = paths.find(|path| path.is_file())?;
        Some(Library {
            path: path.display().to_string(),
            text: read(&path.display().to_string()).map_err(|e| e.to_string()),
        })
    }

    fn package(&self, name: &str) -> Result<(), String> {
        Err(format!("requirement '{name}' not available"))
    }
}

fn read(path: &str) -> io::Result<String> {
    let bytes = if path == "-" {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes)?;
        bytes
    } else {
        std::fs::read(path)?
    };
    lang::text_of(&bytes, path).map_err(|said| io::Error::other(said.click()))
}
