//! What surrounds a configuration that is read: classes, libraries, variables.

use std::sync::Arc;

/// A file that a configuration asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Library {
    /// The path by which it was found; a library is read once.
    pub path: String,
    /// Its text, or why it could not be read.
    pub text: Result<String, String>,
}

/// Finds the files and packages that a configuration asks for.
pub trait Loader {
    /// Looks for `name` along CLICKPATH, where an empty part means `directory`, that of the asking
    /// file.
    fn library(&self, name: &str, directory: &str) -> Option<Library>;

    /// Loads a package.
    ///
    /// # Errors
    /// Why it is not available.
    fn package(&self, name: &str) -> Result<(), String>;
}

/// Has no libraries and no packages.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Loader for NoFiles {
    fn library(&self, _: &str, _: &str) -> Option<Library> {
        None
    }

    fn package(&self, name: &str) -> Result<(), String> {
        Err(format!("can't find required package '{name}'"))
    }
}

/// A loader that a running router keeps, for the configurations that come after its first.
#[derive(Clone)]
pub struct Libraries(Arc<dyn Loader + Send + Sync>);

impl Libraries {
    /// Those that `loader` finds.
    pub fn new(loader: impl Loader + Send + Sync + 'static) -> Libraries {
        Libraries(Arc::new(loader))
    }

    /// Who finds them.
    pub fn loader(&self) -> &dyn Loader {
        self.0.as_ref()
    }
}

/// None.
impl Default for Libraries {
    fn default() -> Libraries {
        Libraries::new(NoFiles)
    }
}

impl PartialEq for Libraries {
    fn eq(&self, other: &Libraries) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl std::fmt::Debug for Libraries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Libraries").finish_non_exhaustive()
    }
}

/// The element classes that need no declaration.
pub trait Classes {
    /// Whether there is such a class.
    fn knows(&self, class: &str) -> bool;

    /// All of them, to propose one in place of a misspelt name.
    fn names(&self) -> Vec<&str> {
        Vec::new()
    }
}

impl Classes for [&str] {
    fn knows(&self, class: &str) -> bool {
        self.contains(&class)
    }

    fn names(&self) -> Vec<&str> {
        self.to_vec()
    }
}

/// How to read a configuration.
pub struct Options<'a> {
    /// Variables of the command line; they take the place of those that the file defines.
    pub definitions: &'a [(String, String)],
    /// Where libraries and packages come from.
    pub loader: &'a dyn Loader,
    /// The classes there are; `None` takes any name that is no element for a class, as the tools
    /// do.
    pub classes: Option<&'a dyn Classes>,
    /// Whether the file's own variables are replaced where `classes` is `None`; else they are kept
    /// in `Flat::definitions`.
    pub expand_definitions: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            definitions: &[],
            loader: &NoFiles,
            classes: None,
            expand_definitions: false,
        }
    }
}
