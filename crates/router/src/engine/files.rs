//! Which files are opened, and on whose word.
//!
//! What a configuration names is opened as it says. What a request from outside names — a control
//! connection that writes a handler such as `write_file` — lies in the control folder, or is
//! refused where there is none. A configuration that came from outside (`hotconfig`) is a request
//! too, for as long as it runs.

use super::Ctx;
use std::borrow::Cow;
use std::io::{self, Read, Write};

/// Why a file is refused where no folder was given.
const NO_FOLDER: &str =
    "a request by a control socket names no file: start the router with `--control-folder DIR`";

impl Ctx {
    /// Does `work`, which somebody outside asks for where `is_outside`.
    pub(super) fn asked<R>(&mut self, is_outside: bool, work: impl FnOnce(&mut Ctx) -> R) -> R {
        let before = self.world.is_asked_outside;
        self.world.is_asked_outside |= is_outside;
        let result = work(self);
        self.world.is_asked_outside = before;
        result
    }

    /// Whether what runs now was asked for by somebody outside of this program.
    pub fn is_asked_outside(&self) -> bool {
        self.world.is_asked_outside
    }

    /// Whether the files that are named now are named by somebody outside.
    pub fn is_confined(&self) -> bool {
        self.world.is_asked_outside || self.options.confined
    }

    /// The path under which a file called `path` is opened, by whoever names it now.
    pub fn path_of<'a>(&mut self, path: &'a str) -> io::Result<Cow<'a, str>> {
        let is_confined = self.is_confined();
        self.path_for(path, is_confined)
    }

    fn path_for<'a>(&mut self, path: &'a str, is_confined: bool) -> io::Result<Cow<'a, str>> {
        if !is_confined || path == "-" {
            return Ok(Cow::Borrowed(path));
        }
        let refused = || io::Error::new(io::ErrorKind::PermissionDenied, NO_FOLDER);
        let folder = self.options.control_folder.clone().ok_or_else(refused)?;
        self.world.host.within(&folder, path).map(Cow::Owned)
    }

    /// Opens a file to read; `-` is standard input.
    pub fn open_file(&mut self, path: &str) -> io::Result<Box<dyn Read + Send>> {
        let path = self.path_of(path)?;
        self.world.host.open(&path)
    }

    /// Opens a file to write; `-` is standard output.
    pub fn create_file(&mut self, path: &str, append: bool) -> io::Result<Box<dyn Write + Send>> {
        let path = self.path_of(path)?;
        self.world.host.create(&path, append)
    }

    /// The same of a file whose name stands in the configuration, whoever has it opened.
    pub fn create_configured(
        &mut self,
        path: &str,
        append: bool,
    ) -> io::Result<Box<dyn Write + Send>> {
        let path = self.path_for(path, self.options.confined)?;
        self.world.host.create(&path, append)
    }

    /// The length of a regular file.
    pub fn file_bytes(&mut self, path: &str) -> Option<u64> {
        let path = self.path_of(path).ok()?;
        self.world.host.file_bytes(&path)
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{Run, loaded};

    fn outside(run: &mut Run, handler: &str, value: &str) -> Result<(), String> {
        let mut of = run.ctx.find_handler(handler, None).expect("it exists");
        of.is_outside = true;
        run.ctx.write_handler(&of, value)
    }

    const GRAPH: &str = "Idle -> a :: AggregateCounter -> Discard; \
         w :: Script(TYPE PASSIVE, write a.write_file $args); \
         p :: Script(TYPE PASSIVE, print >/configured done); \
         c :: Script(TYPE PASSIVE, return $(cat $args));";

    #[test]
    fn a_request_from_outside_names_no_file_unless_a_folder_was_given() {
        let mut run = loaded(GRAPH);
        for handler in ["a.write_file", "a.write_text_file"] {
            let why = outside(&mut run, handler, "/etc/x").expect_err(handler);
            assert!(why.contains("--control-folder"), "{why}");
        }
        outside(&mut run, "w.run", "/etc/x").expect("the script tells of it itself");
        assert!(!run.host.memory().files.contains_key("/etc/x"));
        run.write("a.write_file", "/mine").expect("from inside");
        outside(&mut run, "p.run", "").expect("the file's name is the configuration's");
        let files: Vec<String> = run.host.memory().files.keys().cloned().collect();
        assert_eq!(files, ["/configured", "/mine"]);
    }

    #[test]
    fn it_names_files_of_that_folder_only() {
        let mut run = loaded(GRAPH);
        run.ctx.options.control_folder = Some("/box".to_owned());
        for path in ["/etc/x", "../x", "a/../../x", "/box/../x", "/boxes/x"] {
            let why = outside(&mut run, "a.write_file", path).expect_err(path);
            assert!(why.contains("/box"), "{why}");
        }
        outside(&mut run, "a.write_file", "/box/a").expect("it lies there");
        outside(&mut run, "a.write_file", "b").expect("it lies there");
        let files: Vec<String> = run.host.memory().files.keys().cloned().collect();
        assert_eq!(files, ["/box/a", "/box/b"]);
    }

    #[test]
    fn a_configuration_from_outside_stays_confined() {
        let mut run = loaded("Idle -> Discard");
        run.ctx.allow_reconfiguration();
        let next = "Idle -> ToDump(/etc/x)";
        let why = outside(&mut run, "hotconfig", next).expect_err("it names a file");
        assert!(why.contains("--control-folder"), "{why}");
        let next = "w :: Script(TYPE PASSIVE, print >/etc/x done); Idle -> Discard";
        outside(&mut run, "hotconfig", next).expect("nothing is opened yet");
        run.ctx.change_over();
        run.write("w.run", "")
            .expect("the script tells of it itself");
        assert!(run.host.memory().files.is_empty());
    }
}
