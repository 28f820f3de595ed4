//! Finding, reading and writing handlers.

use super::{HandlerRef, NotFound, Owner};
use crate::args::handler_call::HandlerCall;
use crate::args::numbers::parse_double;
use crate::engine::{Ctx, Element, ElementId, Handler};
use crate::graph::processing::Mode;
use crate::lang::{Port, flatten};
use std::any::Any;
use std::fmt::Write;

/// The handlers that every element has.
const STANDARD: &[(&str, &str)] = &[
    ("name", "r."),
    ("class", "r."),
    ("config", "r."),
    ("ports", "r."),
    ("handlers", "r."),
];

/// Those of an element with a task.
const OF_TASKS: &[(&str, &str)] = &[("scheduled", "r"), ("tickets", "rw"), ("home_thread", "rw")];

/// The router's own.
const GLOBAL: &[(&str, &str)] = &[
    ("version", "r."),
    ("list", "r."),
    ("classes", "r."),
    ("config", "r%"),
    ("flatconfig", "r"),
    ("packages", "r."),
    ("requirements", "r"),
    ("handlers", "r."),
    ("driver", "r."),
    ("timewarp", "rw"),
    ("threads", "r."),
    ("stop", "w"),
    ("hotconfig", "w"),
];

fn lines(words: &[&str]) -> String {
    words.iter().flat_map(|word| [*word, "\n"]).collect()
}

fn listing(handlers: &[Handler]) -> String {
    let public = handlers.iter().filter(|handler| !handler.private);
    public.fold(String::new(), |text, h| {
        text + &h.name
            + "	"
            + &h.letters()
            + "
"
    })
}

impl Ctx {
    /// The handlers of an element, or of the router.
    pub fn handlers_of(&self, owner: Owner) -> Vec<Handler> {
        let table = |table: &[(&'static str, &str)]| -> Vec<Handler> {
            table
                .iter()
                .map(|(name, letters)| Handler::new(*name, letters))
                .collect()
        };
        let Owner::Element(element) = owner else {
            let mut all = table(GLOBAL);
            if !self.options.reconfigurable {
                all.retain(|handler| handler.name != "hotconfig");
            }
            return all;
        };
        if let Some(known) = self.handlers_elsewhere(element) {
            return known;
        }
        let own = match &self.slots[element] {
            Some(_) if self.elsewhere(element).is_some() => {
                (self.config.nodes[element].entry.make)().handlers()
            }
            Some(one) => one.handlers(),
            // It runs: its class tells as much as is known without it.
            None => (self.config.nodes[element].entry.make)().handlers(),
        };
        let mut all = table(STANDARD);
        if self.config.nodes[element].entry.live {
            all[2].write = true;
            all[2].calm = !self.config.nodes[element].entry.restless;
        }
        let mut more = Vec::new();
        for own in own {
            match all.iter_mut().find(|standard| standard.name == own.name) {
                Some(standard) => *standard = own,
                None => more.push(own),
            }
        }
        all.extend(more);
        if self.schedule.tasks.of(element).next().is_some() {
            let of_tasks = table(OF_TASKS).into_iter();
            let new: Vec<Handler> = of_tasks
                .filter(|one| all.iter().all(|own| own.name != one.name))
                .collect();
            all.extend(new);
        }
        // The newest first, as Click lists them.
        all.reverse();
        all
    }

    /// The handler `element.name`, or the router's `name`; the element is looked for as element
    /// `from` sees it. `#3.name` is an element by its number, from 1.
    pub fn find_handler(
        &self,
        text: &str,
        from: Option<ElementId>,
    ) -> Result<HandlerRef, NotFound> {
        let (owner, name) = match text.split_once('.') {
            None | Some(("", _)) => (Owner::Router, text.trim_start_matches('.')),
            Some((element, name)) => {
                let numbered = element
                    .strip_prefix('#')
                    .and_then(|n| n.parse::<usize>().ok());
                let found = match numbered {
                    Some(number) => number
                        .checked_sub(1)
                        .filter(|n| *n < self.config.nodes.len()),
                    None => self.find(element, from),
                };
                let found = found.ok_or_else(|| NotFound::Element(element.to_owned()))?;
                (Owner::Element(found), name)
            }
        };
        let handler = self.handler_of(owner, name);
        let handler = handler.ok_or_else(|| NotFound::Handler(text.to_owned()))?;
        Ok(self.handler_ref(owner, handler))
    }

    fn handler_ref(&self, owner: Owner, handler: Handler) -> HandlerRef {
        HandlerRef {
            owner,
            handler,
            is_outside: self.is_asked_outside(),
        }
    }

    fn handler_of(&self, owner: Owner, name: &str) -> Option<Handler> {
        let mut all = self.handlers_of(owner).into_iter();
        all.find(|handler| handler.name == name).or_else(|| {
            let Owner::Element(element) = owner else {
                return None;
            };
            let any = self.slots[element].as_ref()?.has_any_handler();
            any.then(|| Handler::new(name.to_owned(), "rw+"))
        })
    }

    /// The handler that an element's configuration calls `text`: that of an element which `from`
    /// sees, else its own, else the router's. It must be one to write, or one to read.
    pub fn find_call(
        &self,
        text: &str,
        from: ElementId,
        to_write: bool,
    ) -> Result<HandlerRef, String> {
        let at = text.find('.');
        if text.is_empty() || at == Some(text.len() - 1) {
            return Err("syntax error".to_owned());
        }
        let (owner, name) = match text.split_once('.') {
            Some(("", name)) => (Owner::Router, name),
            Some((element, name)) if self.find(element, Some(from)).is_some() => {
                let found = self
                    .find(element, Some(from))
                    .expect("the guard of this arm found it");
                (Owner::Element(found), name)
            }
            split => {
                if self.handler_of(Owner::Element(from), text).is_some() {
                    (Owner::Element(from), text)
                } else if let Some((element, _)) = split
                    && self.handler_of(Owner::Router, text).is_none()
                {
                    return Err(format!("no element named '{element}'"));
                } else {
                    (Owner::Router, text)
                }
            }
        };
        let handler = self.handler_of(owner, name);
        let fits = |one: &Handler| if to_write { one.write } else { one.read };
        match handler.filter(fits) {
            Some(handler) => Ok(self.handler_ref(owner, handler)),
            None => {
                let kind = if to_write { "write" } else { "read" };
                Err(format!("no '{}' {kind} handler", self.called(owner, name)))
            }
        }
    }

    /// A handler's name in full: `element.name`, or `name` of the router.
    pub fn called(&self, owner: Owner, name: &str) -> String {
        match owner {
            Owner::Element(element) => format!("{}.{name}", self.name(element)),
            Owner::Router => name.to_owned(),
        }
    }

    /// Runs `work` while `one`, the element that runs, can be reached like any other: its handlers
    /// may be called, by itself or by those it calls.
    pub fn within_reach<E: Element + Default, R>(
        &mut self,
        one: &mut E,
        work: impl FnOnce(&mut Ctx) -> R,
    ) -> R {
        let me = self.me;
        self.slots[me] = Some(Box::new(std::mem::take(one)));
        let result = work(self);
        let back: Option<Box<dyn Any>> = self.slots[me].take().map(|back| back as Box<dyn Any>);
        if let Some(Ok(back)) = back.map(|back: Box<dyn Any>| back.downcast::<E>()) {
            *one = *back;
        }
        result
    }

    /// Adds to what handlers say besides their result.
    pub fn remark(&mut self, text: impl Into<String>) {
        self.calls.remarks.push(text.into());
    }

    /// What handlers have said besides their result since this was asked last.
    pub fn take_remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.calls.remarks)
    }

    /// Reads a handler. Emissions of the element wait until whoever runs now returns.
    pub fn read_handler(&mut self, of: &HandlerRef, parameter: &str) -> Result<String, String> {
        self.asked(of.is_outside, |ctx| ctx.read_asked(of, parameter))
    }

    fn read_asked(&mut self, of: &HandlerRef, parameter: &str) -> Result<String, String> {
        let name = of.handler.name.as_ref();
        let element = match of.owner {
            Owner::Router => return self.read_global(name),
            Owner::Element(element) => element,
        };
        if self.elsewhere(element).is_some() {
            return self.read_elsewhere(element, of, parameter);
        }
        if let Some(text) = self.read_standard(element, name) {
            return Ok(text);
        }
        self.with(element, |one, ctx| one.read(ctx, name, parameter))
            .unwrap_or_else(|| Err(format!("element '{}' is busy", self.name(element))))
    }

    /// Writes a handler.
    pub fn write_handler(&mut self, of: &HandlerRef, value: &str) -> Result<(), String> {
        self.asked(of.is_outside, |ctx| ctx.write_asked(of, value))
    }

    fn write_asked(&mut self, of: &HandlerRef, value: &str) -> Result<(), String> {
        let name = of.handler.name.as_ref();
        let element = match of.owner {
            Owner::Router => return self.write_global(name, value),
            Owner::Element(element) => element,
        };
        if self.elsewhere(element).is_some() {
            return self.write_elsewhere(element, of, value);
        }
        if name == "config" && self.config.nodes[element].entry.live {
            return self.reconfigure(element, value);
        }
        if let Some(argument) = of.handler.argument {
            return self.reconfigure_keyword(element, argument, value.trim());
        }
        let own = |one: &dyn Element| one.handlers().iter().any(|handler| handler.name == name);
        let own = self.slots[element].as_deref().is_some_and(own);
        if !own && let Some(result) = self.write_task(element, name, value) {
            return result;
        }
        let result = self.with(element, |one, ctx| one.write(ctx, name, value));
        result.unwrap_or_else(|| {
            // It runs now; it is written when it has returned.
            self.calls.postponed.push((of.clone(), value.to_owned()));
            Ok(())
        })
    }

    /// Writes the handler that an argument such as `END_CALL` names, as this element sees it.
    pub fn call(&mut self, call: &HandlerCall) -> Result<(), String> {
        let name = match &call.element {
            Some(element) => format!("{element}.{}", call.handler),
            None => call.handler.clone(),
        };
        let of = self.find_call(&name, self.me, true)?;
        if let Owner::Element(element) = of.owner
            && self.slots[element].is_none()
            && self.elsewhere(element).is_none()
        {
            // It runs now; it is written when it has returned.
            self.calls.postponed.push((of, call.argument.clone()));
            return Ok(());
        }
        self.write_handler(&of, &call.argument)
    }

    /// As [`Ctx::call`], of the running element `me`: what the call leads others to write to `me`
    /// is written when this returns, not when `me` has returned.
    pub fn call_back(&mut self, me: &mut dyn Element, call: &HandlerCall) -> Result<(), String> {
        let (mut result, mine) = (self.call(call), Owner::Element(self.me));
        while let Some(at) = self
            .calls
            .postponed
            .iter()
            .position(|(of, _)| of.owner == mine)
        {
            let (of, value) = self.calls.postponed.remove(at);
            result = result.and(me.write(self, &of.handler.name, &value));
        }
        result
    }

    /// Writes what could not be written while its element ran.
    #[cold]
    pub(in crate::engine) fn postponed(&mut self) {
        for (of, value) in std::mem::take(&mut self.calls.postponed) {
            if !self.step() {
                self.world
                    .host
                    .say("handlers wrote one another without end, giving up\n");
                self.calls.postponed.clear();
                return;
            }
            if let Err(text) = self.write_handler(&of, &value) {
                self.world.host.say(&format!("{text}\n"));
            }
        }
    }

    /// Whether a call that an argument names can be made, in Click's words where it cannot.
    pub fn check_call(&self, call: &HandlerCall) -> Result<(), String> {
        let name = match &call.element {
            Some(element) => format!("{element}.{}", call.handler),
            None => call.handler.clone(),
        };
        self.find_call(&name, self.me, true).map(|_| ())
    }

    fn read_standard(&self, element: ElementId, name: &str) -> Option<String> {
        let own = |one: &dyn Element| one.handlers().iter().any(|h| h.name == name);
        if self.slots[element].as_deref().is_some_and(own) {
            return None;
        }
        let first = || {
            self.schedule
                .tasks
                .of(element)
                .next()
                .map(|task| self.schedule.tasks.get(task))
        };
        Some(match name {
            "name" => self.name(element).to_owned(),
            "class" => self.class(element).to_owned(),
            "config" => self.config.nodes[element].config.clone(),
            "ports" => self.ports(element),
            "handlers" => listing(&self.handlers_of(Owner::Element(element))),
            "scheduled" => first()?.scheduled.to_string(),
            "tickets" => first()?.tickets.to_string(),
            "home_thread" => first()?.home_thread.to_string(),
            _ => return None,
        })
    }

    fn write_task(
        &mut self,
        element: ElementId,
        name: &str,
        value: &str,
    ) -> Option<Result<(), String>> {
        let task = self.schedule.tasks.of(element).next()?;
        Some(match (name, value.trim()) {
            ("scheduled", "true" | "1" | "yes") => {
                self.schedule.tasks.schedule(task);
                Ok(())
            }
            ("scheduled", "false" | "0" | "no") => {
                self.schedule.tasks.unschedule(task);
                Ok(())
            }
            ("scheduled", _) => Err("syntax error".to_owned()),
            ("tickets", text) => match text.parse::<u32>() {
                Ok(tickets) if tickets > 0 => {
                    self.schedule.tasks.set_tickets(task, tickets);
                    Ok(())
                }
                _ => Err("syntax error".to_owned()),
            },
            ("home_thread", text)
                if text.parse::<i32>() == Ok(self.schedule.tasks.get(task).home_thread) =>
            {
                Ok(())
            }
            ("home_thread", _) => {
                Err("elements stay on the thread they started on: use StaticThreadSched".to_owned())
            }
            _ => return None,
        })
    }

    /// What the handler `ports` prints.
    fn ports(&self, element: ElementId) -> String {
        let node = &self.config.nodes[element];
        let mut text = String::new();
        let sides = [
            ("input", &node.modes.inputs, &node.modes.free_inputs, true),
            (
                "output",
                &node.modes.outputs,
                &node.modes.free_outputs,
                false,
            ),
        ];
        for (what, modes, free, is_input) in sides {
            let plural = if modes.len() == 1 { "" } else { "s" };
            writeln!(text, "{} {what}{plural}", modes.len()).expect("a string takes any text");
            for (port, mode) in modes.iter().enumerate() {
                let word = if *mode == Mode::Pull { "pull" } else { "push" };
                let resolved = if free[port] { "~" } else { "" };
                let (near, wiring) = (Port { element, port }, &self.config.index.wiring);
                let ends: Vec<String> = if is_input {
                    let from = |far: Port| format!("{} [{}]", self.name(far.element), far.port);
                    wiring.before(near).map(from).collect()
                } else {
                    let to = |far: Port| format!("[{}] {}", far.port, self.name(far.element));
                    wiring.after(near).map(to).collect()
                };
                let ends = ends.join(", ");
                writeln!(text, "{word}{resolved}\t-\t{ends}").expect("a string takes any text");
            }
        }
        text
    }

    fn read_global(&mut self, name: &str) -> Result<String, String> {
        Ok(match name {
            "version" => "2.1".to_owned(),
            "list" => {
                let names: Vec<&str> = self
                    .config
                    .flat
                    .elements
                    .iter()
                    .map(|e| e.name.as_str())
                    .collect();
                format!("{}\n{}", names.len(), lines(&names))
            }
            "classes" => {
                let all = self.config.classes.all();
                lines(&all.iter().map(|entry| entry.about.name).collect::<Vec<_>>())
            }
            "config" if self.is_compact() => flatten::router(&self.config.flat),
            "config" => self.config.source.clone(),
            "flatconfig" => flatten::router(&self.config.flat),
            "packages" => String::new(),
            "requirements" => {
                let all = self.config.flat.requirements.iter();
                lines(&all.map(|(_, name)| name.as_str()).collect::<Vec<_>>())
            }
            "handlers" => listing(&self.handlers_of(Owner::Router)),
            "driver" => "userlevel".to_owned(),
            "threads" => self.options.threads.to_string(),
            "timewarp" => self.clocks.warp.factor.to_string(),
            _ => return Err(format!("no read handler '{name}'")),
        })
    }

    /// Whether the configuration asked that its own text be forgotten.
    fn is_compact(&self) -> bool {
        self.config
            .flat
            .requirements
            .iter()
            .any(|(kind, name)| kind == "compact_config" || name == "compact_config")
    }

    fn write_global(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name {
            "timewarp" if self.is_shared() => {
                Err("time runs at one pace for several threads".to_owned())
            }
            "timewarp" => {
                let factor =
                    parse_double(value.trim()).map_err(|_| "expected double".to_owned())?;
                if factor <= 0.0 {
                    return Err("timefactor must be > 0".to_owned());
                }
                let real = self.world.host.now();
                self.clocks.warp.change(factor, real);
                Ok(())
            }
            "stop" => {
                // What is no number counts as one stop: `true` is what buttons write.
                for _ in 0..value.trim().parse::<u32>().unwrap_or(1) {
                    self.stop();
                }
                Ok(())
            }
            "hotconfig" if self.is_shared() => Err(
                "a configuration on several threads cannot be replaced while it runs".to_owned(),
            ),
            "hotconfig" => self.prepare_successor(value),
            _ => Err(format!("no write handler '{name}'")),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn simple_classes_are_configured_anew_while_they_run() {
        let changes = [
            ("Paint(1)", "2"),
            ("Print(a)", "b, CONTENTS ascii"),
            ("Truncate(9)", "7"),
            ("Pad(9)", "7"),
            ("SetIPAddress(1.1.1.1)", "2.2.2.2"),
            ("HostEtherFilter(1:1:1:1:1:1)", "2:2:2:2:2:2"),
            ("MarkMACHeader(1)", "2"),
            ("StripEtherVLANHeader(1)", "2"),
            ("SetIPDSCP(1)", "2"),
        ];
        for (before, after) in changes {
            let mut run = loaded(&format!("Idle -> x :: {before} -> Discard"));
            assert!(run.read("x.handlers").contains("config\trw."), "{before}");
            run.write("x.config", after).expect(before);
            assert_eq!(run.read("x.config"), after);
            assert!(run.write("x.config", "nonsense, 1, 2, 3, 4").is_err());
            assert_eq!(run.read("x.config"), after);
        }
    }

    #[test]
    fn switches_tell_their_port_and_take_another() {
        for (class, ends) in [
            ("Switch", "Idle -> x -> Discard; x [1] -> Discard"),
            ("InputSwitch", "Idle -> x -> Discard; Idle -> [1] x"),
            ("PullSwitch", "Idle -> x -> Discard; Idle -> [1] x"),
            ("SimplePullSwitch", "Idle -> x -> Discard; Idle -> [1] x"),
        ] {
            let mut run = loaded(&format!("x :: {class}(0); {ends}"));
            run.write("x.config", "1").expect(class);
            assert_eq!(
                (run.read("x.config"), run.read("x.switch")),
                ("1".into(), "1".into())
            );
        }
    }
}
