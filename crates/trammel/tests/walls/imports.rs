//! What the files of a crate import from one another, re-exports followed.

use crate::tokens::{tokens, without_tests};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A module by its path in the crate; the root is empty.
pub(crate) type Module = Vec<String>;

/// A path as it stands in a source.
type Names = Vec<String>;

/// Re-exports that lead on to other re-exports, at most.
const MOST_STEPS: usize = 8;

/// For each module the modules that it imports from, with the names.
pub(crate) type Imports = BTreeMap<Module, BTreeMap<Module, BTreeSet<String>>>;

/// The sources of a crate, by module: the file's path in `src`, and its text.
pub(crate) type Sources = BTreeMap<Module, (String, String)>;

/// The sources in `src`; binaries and files of tests are left out.
pub(crate) fn sources(src: &Path) -> Sources {
    let mut found = BTreeMap::new();
    let mut folders = vec![src.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder exists") {
            let path = entry.expect("an entry of a folder").path();
            let name = path
                .file_name()
                .and_then(|name| name.to_str())
                .expect("a name in UTF-8");
            if path.is_dir() {
                if !["bin", "tests"].contains(&name) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|kind| kind == "rs") && name != "tests.rs" {
                let file = path.strip_prefix(src).expect("a path below `src`");
                let file = file.to_str().expect("the name is UTF-8").replace('\\', "/");
                let text = fs::read_to_string(&path).expect("the file exists");
                found.insert(module(&file), (file, text));
            }
        }
    }
    found
}

/// The module that a file of `src` is.
fn module(file: &str) -> Module {
    let path = file.strip_suffix(".rs").unwrap_or(file);
    let mut parts: Module = path.split('/').map(str::to_owned).collect();
    if parts
        .last()
        .is_some_and(|last| ["mod", "lib", "main"].contains(&last.as_str()))
    {
        parts.pop();
    }
    parts
}

/// A `use` declaration's path, with the name that it has afterwards.
struct Use {
    path: Names,
    name: String,
    is_public: bool,
}

/// What one source says of others.
struct Said {
    uses: Vec<Use>,
    /// Paths in the code.
    paths: Vec<Names>,
}

/// What the files import from one another.
pub(crate) fn imports(sources: &Sources) -> Imports {
    let mut of_tests = BTreeSet::new();
    let mut said = BTreeMap::new();
    for (module, (_, text)) in sources {
        let (kept, modules) = without_tests(&tokens(text));
        of_tests.extend(modules.into_iter().map(|name| joined(module, &name)));
        said.insert(module.clone(), read(&kept));
    }
    said.retain(|module, _| !(1..=module.len()).any(|n| of_tests.contains(&module[..n])));
    let modules = said.keys().cloned().collect();
    let mut exports = BTreeMap::new();
    for (module, said) in &said {
        for one in said.uses.iter().filter(|one| one.is_public) {
            exports.insert((module.clone(), one.name.clone()), one.path.clone());
        }
    }
    let names = Resolver { modules, exports };
    let mut imports = Imports::new();
    for (module, said) in &said {
        let of = names.imports(module, said);
        imports.insert(module.clone(), of);
    }
    imports
}

fn joined(module: &[String], name: &str) -> Module {
    let name = std::iter::once(name.to_owned());
    module.iter().cloned().chain(name).collect()
}

/// Reads declarations and paths.
fn read(tokens: &[String]) -> Said {
    let (mut uses, mut paths) = (Vec::new(), Vec::new());
    let (mut i, mut is_public) = (0, false);
    while i < tokens.len() {
        match tokens[i].as_str() {
            "use" => {
                let length = tokens[i..].iter().position(|token| token == ";");
                let end = i + length.unwrap_or(tokens.len() - i);
                tree(&tokens[i + 1..end], &[], is_public, &mut uses);
                i = end;
            }
            "pub" => {
                is_public = true;
                i += 1;
                if tokens.get(i).is_some_and(|token| token == "(") {
                    i += 1 + tokens[i..]
                        .iter()
                        .position(|token| token == ")")
                        .unwrap_or(0);
                }
                continue;
            }
            token if is_name(token) => {
                let mut path = vec![token.to_owned()];
                while tokens.get(i + 1).is_some_and(|token| token == "::")
                    && tokens.get(i + 2).is_some_and(|token| is_name(token))
                {
                    path.push(tokens[i + 2].clone());
                    i += 2;
                }
                let leads = |at: usize| at.checked_sub(1).map(|at| tokens[at].as_str());
                let begins = leads(i + 2 - 2 * path.len()) != Some("::");
                if path.len() > 1 && begins {
                    paths.push(path);
                }
            }
            _ => {}
        }
        is_public = false;
        i += 1;
    }
    Said { uses, paths }
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The paths of a tree of imports: `a::{b, c::{self, d as e}}`.
fn tree(tokens: &[String], above: &[String], is_public: bool, uses: &mut Vec<Use>) {
    let mut path = above.to_vec();
    let (mut name, mut i) = (None, 0);
    while i < tokens.len() {
        match tokens[i].as_str() {
            "{" => {
                for part in parts(&tokens[i + 1..tokens.len() - 1]) {
                    tree(part, &path, is_public, uses);
                }
                return;
            }
            "as" => {
                name = tokens.get(i + 1).cloned();
                break;
            }
            "::" => {}
            "self" if !path.is_empty() => {}
            token => path.push(token.to_owned()),
        }
        i += 1;
    }
    if let Some(last) = path.last().cloned() {
        let name = name.unwrap_or(last);
        uses.push(Use {
            path,
            name,
            is_public,
        });
    }
}

/// The parts of a list in braces.
fn parts(tokens: &[String]) -> impl Iterator<Item = &[String]> {
    let mut depth = 0;
    let parts = tokens.split(move |token| {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        depth == 0 && token == ","
    });
    parts.filter(|part| !part.is_empty())
}

/// Finds the modules that paths lead to.
struct Resolver {
    modules: BTreeSet<Module>,
    /// The path of each name that a module exports of another one.
    exports: BTreeMap<(Module, String), Names>,
}

impl Resolver {
    /// What `module` imports.
    fn imports(&self, module: &Module, said: &Said) -> BTreeMap<Module, BTreeSet<String>> {
        let mut found: BTreeMap<Module, BTreeSet<String>> = BTreeMap::new();
        let mut note = |(of, name): (Module, Option<String>)| {
            if let Some(name) = name.filter(|_| of != *module) {
                found.entry(of).or_default().insert(name);
            }
        };
        let mut known: BTreeMap<&str, Module> = BTreeMap::new();
        for one in &said.uses {
            let Some((of, name)) = self.target(module, &one.path, MOST_STEPS) else {
                continue;
            };
            match name {
                None => {
                    known.insert(&one.name, of);
                }
                Some(_) if one.is_public => {}
                name => note((of, name)),
            }
        }
        for path in &said.paths {
            let of = match known.get(path[0].as_str()) {
                Some(base) => Some(self.below(base.clone(), &path[1..], MOST_STEPS)),
                None => self.target(module, path, MOST_STEPS),
            };
            of.into_iter().for_each(&mut note);
        }
        found
    }

    /// Where `path` leads to from `from`: a module of this crate, and a name in it.
    fn target(
        &self,
        from: &[String],
        path: &[String],
        steps: usize,
    ) -> Option<(Module, Option<String>)> {
        let found = match path.first()?.as_str() {
            "crate" => self.below(Module::new(), &path[1..], steps),
            "self" => self.below(from.to_vec(), &path[1..], steps),
            "super" => {
                let ups = path.iter().take_while(|name| *name == "super").count();
                let base = &from[..from.len().checked_sub(ups)?];
                self.below(base.to_vec(), &path[ups..], steps)
            }
            name if self.modules.contains(&joined(from, name)) => {
                self.below(from.to_vec(), path, steps)
            }
            _ => return None,
        };
        Some(found)
    }

    fn below(&self, base: Module, path: &[String], steps: usize) -> (Module, Option<String>) {
        let (mut base, mut path) = (base, path);
        while let Some((name, rest)) = path.split_first() {
            let next = joined(&base, name);
            if !self.modules.contains(&next) {
                break;
            }
            (base, path) = (next, rest);
        }
        let Some(name) = path.first() else {
            return (base, None);
        };
        if let (Some(export), 1..) = (self.exports.get(&(base.clone(), name.clone())), steps) {
            let whole = [export, &path[1..]].concat();
            if let Some(found) = self.target(&base, &whole, steps - 1) {
                return found;
            }
        }
        (base, Some(name.clone()))
    }
}
