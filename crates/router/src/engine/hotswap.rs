//! Replacing the configuration while it runs.
//!
//! The new router is built and initialized while the old one runs, with the machine and the packets
//! of the old one; where anything is wrong, nothing has changed. When the old one has come to rest,
//! the new one takes the machine and the packets for good, and each element takes the state of the
//! one that had its name and class: queues keep their packets, servers their connections.

use super::driver::State;
use super::{Ctx, ElementId, Options, build};
use crate::diagnostic::Diagnostics;
use crate::lang::{self, Library, Loader};

/// Libraries by their bare names, along the path that the command line gave.
struct Named<'a>(&'a dyn Loader);

impl Loader for Named<'_> {
    fn library(&self, name: &str, directory: &str) -> Option<Library> {
        let is_bare = !name.starts_with('/') && name.split('/').all(|part| part != "..");
        self.0.library(name, directory).filter(|_| is_bare)
    }

    fn package(&self, name: &str) -> Result<(), String> {
        self.0.package(name)
    }
}

impl Ctx {
    /// Makes `text` the configuration that comes next, or tells what is wrong with it.
    pub(super) fn prepare_successor(&mut self, text: &str) -> Result<(), String> {
        let confined = self.is_confined();
        self.prepare(text, "config", confined)
    }

    /// The same of the text of a file, which the user changed and asks for.
    pub fn reload(&mut self, text: &str, name: &str) -> Result<(), String> {
        if self.is_shared() {
            return Err(
                "a configuration on several threads cannot be replaced while it runs".to_owned(),
            );
        }
        self.prepare(text, name, false)
    }

    fn prepare(&mut self, text: &str, name: &str, confined: bool) -> Result<(), String> {
        let told = |said: &Diagnostics| said.click().trim_end().to_owned();
        let run = Options {
            confined,
            ..self.options.clone()
        };
        let inside = Named(self.options.libraries.loader());
        let options = lang::Options {
            classes: Some(self.config.classes),
            definitions: &self.options.definitions,
            loader: if run.confined {
                &inside
            } else {
                self.options.libraries.loader()
            },
            ..lang::Options::default()
        };
        let whole = format!("{text}{}", self.options.additions);
        let (flat, said) = lang::parse(&whole, name, &options);
        if said.has_errors() {
            return Err(told(&said));
        }
        let host = crate::memory::MemoryHost::new();
        host.memory().names = Some(self.world.host.machine_names());
        let built = build::build(
            self.config.classes,
            flat,
            text.to_owned(),
            Box::new(host),
            run,
        );
        let (mut new, said) = built.map_err(|said| told(&said))?;
        (new.clocks.clock, new.clocks.warp) = (self.clocks.clock, self.clocks.warp);
        new.succession.predecessors = (0..new.config.nodes.len())
            .map(|id| new.predecessor_in(id, self).is_some())
            .collect();
        self.lend(&mut new);
        let initialized = new.initialize();
        self.lend(&mut new);
        initialized.map_err(|said| told(&said))?;
        for remark in told(&said).lines() {
            self.remark(remark);
        }
        self.succession.successor = Some(Box::new(new));
        Ok(())
    }

    /// Lets the handler `hotconfig` be written.
    pub fn allow_reconfiguration(&mut self) {
        self.options.reconfigurable = true;
    }

    /// Exchanges the machine, its open devices, the packets and the clock with `other`.
    fn lend(&mut self, other: &mut Ctx) {
        std::mem::swap(&mut self.world.host, &mut other.world.host);
        std::mem::swap(&mut self.path.pool, &mut other.path.pool);
        std::mem::swap(&mut self.clocks.clock, &mut other.clocks.clock);
        std::mem::swap(&mut self.clocks.core, &mut other.clocks.core);
        std::mem::swap(&mut self.world.devices, &mut other.world.devices);
    }

    /// The element of `old` that had this one's name and class.
    fn predecessor_in(&self, id: ElementId, old: &Ctx) -> Option<ElementId> {
        let declared = &self.config.flat.elements[id];
        let namesake = old.config.index.names.find(&declared.name);
        namesake.filter(|other| old.config.flat.elements[*other].class == declared.class)
    }

    /// Whether this element will take the state of one that runs now.
    pub fn has_predecessor(&self) -> bool {
        self.succession
            .predecessors
            .get(self.me)
            .copied()
            .unwrap_or(false)
    }

    /// Whether another configuration waits to take over.
    pub fn is_replaced(&self) -> bool {
        self.succession.successor.is_some()
    }

    /// Has the configuration take over that waits, where one does: what to do after
    /// [`super::driver::Progress::Replaced`].
    pub fn change_over(&mut self) {
        if let Some(new) = self.succession.successor.take() {
            let old = std::mem::replace(self, *new);
            self.take_over(old);
        }
    }

    /// Takes the machine, the packets and the state of `old`, which ends.
    pub fn take_over(&mut self, mut old: Ctx) {
        old.deliver();
        old.lend(self);
        for id in 0..self.config.nodes.len() {
            let Some(before) = self.predecessor_in(id, &old) else {
                continue;
            };
            if let Some(mut one) = old.slots[before].take() {
                self.with(id, |new, ctx| new.take_state(ctx, one.as_mut()));
                old.slots[before] = Some(one);
            }
        }
        self.succession.predecessors.clear();
        // What was not taken gives its packets back.
        self.lend(&mut old);
        old.driver = State::default();
        old.clean_elements();
        old.lend(self);
        self.close_unwanted();
    }
}

#[cfg(test)]
mod tests {
    use crate::engine::driver::Progress;
    use crate::lang::{Libraries, Library, Loader};
    use crate::load::testing::loaded;

    #[test]
    fn elements_of_the_same_name_and_class_keep_their_state() {
        let mut run = loaded("s :: TimedSource(0.1, abc) -> c :: Counter -> Discard");
        run.ctx.options.reconfigurable = true;
        assert_eq!(run.run(1.0), Progress::Running);
        let of =
            "TimedSource(0.1, abcdef) -> c :: Counter -> d :: Discard; Script(wait 0.35, stop)";
        run.write("hotconfig", of).expect("it is right");
        assert_eq!(run.run(1.0), Progress::Replaced);
        run.ctx.change_over();
        assert_eq!(run.run(1.0), Progress::Stopped);
        assert_eq!(
            (run.read("c.count"), run.read("d.count")),
            ("13".into(), "3".into())
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
    }

    #[test]
    fn libraries_and_variables_are_known_to_the_next_configuration() {
        struct One;
        impl Loader for One {
            fn library(&self, name: &str, _: &str) -> Option<Library> {
                (name == "one").then(|| Library {
                    path: "one".to_owned(),
                    text: Ok("elementclass One { input -> Counter -> output }".to_owned()),
                })
            }

            fn package(&self, name: &str) -> Result<(), String> {
                Err(format!("no package {name}"))
            }
        }
        let mut run = loaded("Idle -> Discard");
        run.ctx.options.reconfigurable = true;
        let text = "require(library one) TimedSource($GAP) -> One -> c :: Counter -> Discard";
        assert!(run.write("hotconfig", text).is_err());
        run.ctx.options.libraries = Libraries::new(One);
        run.ctx.options.definitions = vec![("GAP".to_owned(), "0.1".to_owned())];
        run.write("hotconfig", text).expect("it is right");
        assert_eq!(run.run(1.0), Progress::Replaced);
        run.ctx.change_over();
        run.run(1.05);
        assert_eq!(run.read("c.count"), "10");
    }

    #[test]
    fn a_router_with_nothing_left_to_do_is_replaced_all_the_same() {
        let mut run =
            loaded("Script(wait 1s, writeq hotconfig \"Idle -> c :: Counter -> Discard\")");
        run.ctx.options.reconfigurable = true;
        assert_eq!(run.run(5.0), Progress::Replaced);
        run.ctx.change_over();
        assert_eq!(run.read("c.count"), "0");
    }

    #[test]
    fn a_wrong_configuration_changes_nothing() {
        let mut run = loaded("s :: TimedSource(0.1, abc) -> c :: Counter -> Discard");
        run.ctx.options.reconfigurable = true;
        run.run(0.55);
        assert_eq!(
            run.write("hotconfig", "Idle -> Print").unwrap_err(),
            "config:1: 'Print@2 :: Print' output 0 unused\nRouter could not be initialized!"
        );
        assert!(run.write("hotconfig", "Idle -> Nonsense").is_err());
        assert!(run.write("hotconfig", "Error").is_err());
        assert_eq!(run.run(0.5), Progress::Running);
        assert_eq!(run.read("c.count"), "10");
        assert!(run.read("s.count") == "10");
    }
}
