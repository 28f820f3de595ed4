//! Assigns elements to threads.
//!
//! # What it does
//! Each argument is an element, or a compound for all elements in it, and a thread from 0 on; -1
//! keeps an element's tasks from running. Of several wishes for one element the last holds.
//! Elements that pass packets to one another without a queue between them run on one thread, so a
//! wish for one is a wish for all of them, and different wishes are refused; but a wish for a
//! compound yields to those for elements.
//!
//! # Example
//! ```click
//! // With `-j 2`: what receives runs on the first thread, what sends on the second.
//! StaticThreadSched(in 0, out 1); in :: FromDevice(eth0) -> Queue -> out :: ToDevice(eth1)
//! ```

use crate::args::names::Names;
use crate::args::numbers::parse_int;
use crate::args::text::split_words;
use crate::args::{Args, Kind, Need, Param, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::Element;
use crate::engine::setup::Setup;
use crate::engine::threads::wishes::Wish;

const PARAMS: &[Param] = &[param(
    "WISHES",
    Need::Rest,
    Kind::Raw,
    "",
    "elements or compounds, each with its thread: `ELEMENT THREAD`",
)];

/// The class.
pub static ENTRY: Entry = Entry::new("StaticThreadSched", "assigns elements to threads", || {
    Box::new(StaticThreadSched)
})
.ports("0/0", "a/a")
.params(PARAMS);

#[derive(Debug)]
struct StaticThreadSched;

impl Element for StaticThreadSched {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let mut said = Diagnostics::new();
        for wish in args.rest() {
            let words = split_words(wish);
            let [name, thread] = words.as_slice() else {
                said.error(None, format!("'{wish}' is not an element and a thread"));
                continue;
            };
            let Ok(mut home) = parse_int(thread, i64::from(i32::MIN), i64::from(i32::MAX)) else {
                said.error(None, format!("THREAD takes integer, not '{thread}'"));
                continue;
            };
            if home < -1 || home >= setup.wishes.threads as i64 {
                let text = format!("thread preference {home} out of range");
                setup.warnings.push(text);
                home = home.clamp(-1, 0);
            }
            let meant = setup.elements_in(name);
            if meant.is_empty() {
                said.error(None, format!("'{name}' does not name an element"));
            }
            let is_named = setup.names().element(name).is_some();
            let home = home as i32;
            for element in meant {
                setup.wishes.fixed.insert(element, Wish { home, is_named });
            }
        }
        if said.has_errors() { Err(said) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn what_it_names_must_be_there() {
        assert_eq!(
            errors("StaticThreadSched(nobody 0, x, i y); i :: Idle"),
            "config:1: While configuring 'StaticThreadSched@1 :: StaticThreadSched':\n  \
             'nobody' does not name an element\n  \
             'x' is not an element and a thread\n  \
             THREAD takes integer, not 'y'\n\
             Router could not be initialized!\n"
        );
    }

    #[test]
    fn tasks_of_thread_minus_one_do_not_run() {
        let mut run = loaded(
            "StaticThreadSched(s -1); s :: InfiniteSource -> c :: Counter -> Discard; \
             Script(wait 1, stop)",
        );
        run.run(2.0);
        assert_eq!(run.read("c.count"), "0");
        assert_eq!(run.read("s.home_thread"), "-1");
    }
}
