//! From text to a running router in one call.

use crate::diagnostic::Diagnostics;
use crate::elements;
use crate::engine::Ctx;
use crate::engine::{Options, build};
use crate::host::{Host, MachineNames};
use crate::lang::{self, Flat};
use std::sync::Arc;

/// The classes that this build has, as the language asks for them.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltIn;

impl lang::Classes for BuiltIn {
    fn knows(&self, class: &str) -> bool {
        elements::FAMILY.knows(class)
    }

    fn names(&self) -> Vec<&str> {
        elements::FAMILY.names()
    }
}

/// A configuration that does not run.
#[derive(Debug)]
#[non_exhaustive]
pub struct Refused {
    /// What is wrong with it.
    pub said: Diagnostics,
    /// The machine lacks something that it needs.
    pub lacks: bool,
}

/// Reads a configuration, checks it, and configures and initializes its elements. With the router
/// come the warnings; where it cannot run, the errors.
pub fn load(
    text: &str,
    name: &str,
    options: &lang::Options<'_>,
    host: Box<dyn Host>,
    run: Options,
) -> Result<(Ctx, Diagnostics), Refused> {
    let whole = format!("{text}{}", run.additions);
    let (flat, said) = lang::parse(&whole, name, options);
    if said.has_errors() {
        return Err(Refused { said, lacks: false });
    }
    load_flat(flat, text, said, host, run)
}

/// The same of what has been read already from `text`, with what was `said` of it. Faults are told
/// at the places that its elements have.
pub fn load_flat(
    flat: Flat,
    text: &str,
    mut said: Diagnostics,
    host: Box<dyn Host>,
    run: Options,
) -> Result<(Ctx, Diagnostics), Refused> {
    let (mut ctx, more) = match build::build(&elements::FAMILY, flat, text.to_owned(), host, run) {
        Ok(built) => built,
        Err(more) => {
            said.extend(more);
            return Err(Refused { said, lacks: false });
        }
    };
    said.extend(more);
    match ctx.initialize() {
        Ok(()) => Ok((ctx, said)),
        Err(more) => {
            said.extend(more);
            let lacks = ctx.lacks();
            Err(Refused { said, lacks })
        }
    }
}

/// Reads a configuration and configures its elements, without touching the machine, whose `names`
/// are asked only: what is wrong with it.
pub fn check(
    text: &str,
    name: &str,
    options: &lang::Options<'_>,
    names: Arc<dyn MachineNames>,
) -> Diagnostics {
    let (flat, mut said) = lang::parse(text, name, options);
    if said.has_errors() {
        return said;
    }
    let host = crate::memory::MemoryHost::new();
    host.memory().names = Some(names);
    match build::build(
        &elements::FAMILY,
        flat,
        text.to_owned(),
        Box::new(host),
        Options::simulated(),
    ) {
        Ok((_, more)) | Err(more) => said.extend(more),
    }
    said
}

/// Tests run configurations in memory and in virtual time.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::engine::driver::Progress;
    use crate::host::NoNames;
    use crate::memory::MemoryHost;
    use trammel_packet::timestamp::Timestamp;

    /// A run in memory.
    pub(crate) struct Run {
        pub(crate) ctx: Ctx,
        pub(crate) host: MemoryHost,
    }

    /// Loads `config`, or gives what Click would print.
    pub(crate) fn load_with(host: &MemoryHost, config: &str) -> Result<Run, String> {
        load_as(host, config, Options::simulated())
    }

    /// The same, to be run so.
    pub(crate) fn load_as(host: &MemoryHost, config: &str, run: Options) -> Result<Run, String> {
        let options = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        let host = host.clone();
        match load(config, "config", &options, Box::new(host.clone()), run) {
            Ok((ctx, _)) => Ok(Run { ctx, host }),
            Err(refused) => Err(refused.said.click()),
        }
    }

    /// Loads `config`.
    pub(crate) fn loaded(config: &str) -> Run {
        load_with(&MemoryHost::new(), config).unwrap_or_else(|said| panic!("{said}"))
    }

    /// What is said of a wrong configuration, in the other voice.
    pub(crate) fn refusal(config: &str) -> String {
        let options = lang::Options {
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        crate::diagnostic::render(&check(config, "config", &options, Arc::new(NoNames)))
    }

    /// What Click would print of a wrong configuration.
    pub(crate) fn errors(config: &str) -> String {
        match load_with(&MemoryHost::new(), config) {
            Ok(_) => panic!("no error"),
            Err(said) => said,
        }
    }

    impl Run {
        /// Runs until the driver stops, nothing happens any more, or `seconds` of virtual time are
        /// over.
        pub(crate) fn run(&mut self, seconds: f64) -> Progress {
            let until = self.ctx.now() + Timestamp::from_secs_f64(seconds);
            self.ctx.run_until(Some(until))
        }

        /// Reads a handler.
        pub(crate) fn read(&mut self, handler: &str) -> String {
            let of = self
                .ctx
                .find_handler(handler, None)
                .expect("the test names a handler that exists");
            self.ctx.read_handler(&of, "").expect("it can be read")
        }

        /// Writes a handler.
        pub(crate) fn write(&mut self, handler: &str, value: &str) -> Result<(), String> {
            let of = self
                .ctx
                .find_handler(handler, None)
                .expect("the test names a handler that exists");
            self.ctx.write_handler(&of, value)
        }
    }

    #[test]
    fn packets_go_from_the_source_to_the_end_and_none_is_lost() {
        let mut run = loaded(
            "s :: InfiniteSource(LIMIT 1000, BURST 10, STOP true) -> c :: Counter -> d :: Discard;",
        );
        assert_eq!(run.run(1.0), Progress::Stopped);
        assert_eq!(
            (run.read("c.count"), run.read("c.byte_count")),
            ("1000".into(), "69000".into())
        );
        assert_eq!(run.read("d.count"), "1000");
        assert_eq!(run.ctx.pool().in_use(), 0);
    }

    #[test]
    fn what_is_wrong_is_told_in_clicks_words() {
        assert_eq!(
            errors("Idle -> [3] Discard"),
            "config:1: 'Discard@2 :: Discard' has no input 3\nRouter could not be initialized!\n"
        );
    }
}
