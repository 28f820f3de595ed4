//! The script as an element: its arguments, its handlers, and packets that ask it for a port.

use super::{Cause, Script, ScriptEnd};
use crate::args::kinds::INT;
use crate::args::numbers::parse_int;
use crate::args::text::{take_word, uncomment, unquote};
use crate::args::{Args, Kind, Need, Param};
use crate::diagnostic::Diagnostics;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use crate::script::errors::Errors;
use crate::script::functions::{self, FUNCTIONS};
use crate::script::program::{Ending, Program, Step, Target, Type, When, meant};
use trammel_packet::batch::{Batch, Packets};

/// The arguments of both classes; the instructions are the rest.
pub(crate) const PARAMS: &[Param] = &[
    Param {
        name: "TYPE",
        need: Need::Keyword,
        kind: Kind::Raw,
        default: "",
        help: "`ACTIVE`, `PASSIVE`, `PACKET`, `PROXY`, `DRIVER` or `SIGNAL number…`",
    },
    Param {
        name: "INSTRUCTIONS",
        need: Need::Rest,
        kind: Kind::Raw,
        default: "",
        help: "the instructions",
    },
];

impl Script {
    /// The port that the script gives to a packet which came by `input`.
    fn port(&mut self, ctx: &mut Ctx, input: usize) -> Option<usize> {
        let mut errors = Script::executing(ctx);
        self.set("input", input.to_string());
        self.at = 0;
        match self.run(ctx, 0, Cause::Other, &mut errors) {
            ScriptEnd::Returned(value) => {
                let port = parse_int(&value, 0, i64::from(i32::MAX)).ok()?;
                usize::try_from(port).ok()
            }
            ScriptEnd::Ended(Ending::End) => Some(0),
            _ => None,
        }
    }

    /// What the handlers `run`, `step` and `goto` do, read or written.
    fn stepped(
        &mut self,
        ctx: &mut Ctx,
        name: &str,
        text: &str,
        writes: bool,
    ) -> Result<String, String> {
        let data = uncomment(text);
        let mut steps = 0;
        match name {
            "goto" => {
                let Some(Target::Place(to)) = self.program.label(&data) else {
                    return Err("jump to nonexistent label".to_owned());
                };
                self.paused[to..].fill(0);
                self.at = to;
            }
            "step" if data.is_empty() => steps = 1,
            "step" => {
                let Kind::Int { min, max } = INT else {
                    unreachable!("the kind of whole numbers has bounds");
                };
                steps = parse_int(&data, min, max).map_err(|_| "syntax error".to_owned())?;
            }
            _ => {
                self.at = 0;
                self.args = text.to_owned();
            }
        }
        let before = std::mem::replace(&mut self.handler, name.to_owned());
        let wrote = std::mem::replace(&mut self.writes, writes);
        let mut errors = Errors::quiet();
        if self.runs && name == "step" {
            self.more = Some(self.more.unwrap_or(0) + steps);
        }
        let outcome = self.run(ctx, steps, Cause::Other, &mut errors);
        (self.handler, self.writes) = (before, wrote);
        if outcome == ScriptEnd::Ended(Ending::Error) {
            return Err(errors.kept.join("\n"));
        }
        for text in errors.kept {
            ctx.remark(text);
        }
        Ok(match outcome {
            ScriptEnd::Returned(value) => value,
            ScriptEnd::Ended(Ending::End) if self.program.kind == Type::Packet => "0".to_owned(),
            _ => String::new(),
        })
    }

    /// What the handlers `get` and `shift` do.
    fn variable_handler(&mut self, name: &str, text: &str) -> Result<String, String> {
        let mut rest = text;
        let variable = match take_word(&mut rest) {
            Some(word) => word,
            None if name == "shift" => "args",
            None => return Err("no variable".to_owned()),
        };
        if !rest.is_empty() {
            return Err("too many arguments".to_owned());
        }
        let at = self.names.iter().position(|other| other == variable);
        let value = match at {
            _ if variable == "args" => &mut self.args,
            Some(at) => &mut self.values[at],
            None => return Err(format!("undefined variable '{variable}'")),
        };
        if name == "get" {
            return Ok(value.clone());
        }
        let mut rest = value.as_str();
        let word = take_word(&mut rest).unwrap_or("").to_owned();
        let rest = rest.to_owned();
        *value = rest;
        Ok(word)
    }

    fn is_export(&self, name: &str) -> Option<usize> {
        self.program.steps.iter().find_map(|step| match step {
            Step::Set {
                variable,
                when: When::Export,
                ..
            } if self.names[*variable] == name => Some(*variable),
            _ => None,
        })
    }
}

impl Element for Script {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let failed = |text: &str| {
            let mut said = Diagnostics::new();
            said.error(None, text);
            said
        };
        let (inputs, outputs) = (setup.inputs.len(), setup.outputs.len());
        let given = Type::parse(args.text("TYPE")).map_err(|text| failed(&text))?;
        let kind = given.unwrap_or(match setup.class {
            "DriverManager" => Type::Driver,
            _ if inputs + outputs > 0 => Type::Packet,
            _ => Type::Active,
        });
        if kind == Type::Driver && !setup.definitions.claim("driver") {
            return Err(failed("router has more than one driver script"));
        }
        if kind == Type::Packet && inputs == 0 {
            return Err(failed("PACKET script must have inputs"));
        }
        if kind != Type::Packet && inputs + outputs > 0 {
            return Err(failed("ports allowed only on PACKET scripts"));
        }
        self.program = Program::parse(kind, args.rest()).map_err(|wrong| {
            let mut said = Diagnostics::new();
            for text in wrong {
                let help = meant(&text);
                said.error_with_help(None, text, help);
            }
            said
        })?;
        self.names = self.program.variables.clone();
        self.values = vec![String::new(); self.names.len()];
        self.paused = vec![0; self.program.steps.len()];
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let timer = ctx.new_timer(0);
        self.timer = Some(timer);
        let heading = format!("While initializing '{}':", ctx.declaration(ctx.me()));
        let mut errors = Errors::loud(Some(heading));
        for step in self.program.steps.clone() {
            if let Step::Set {
                variable,
                text,
                unquote: unquotes,
                when,
            } = step
                && when != When::Now
            {
                let value = self.expand(ctx, &mut errors, &text, false);
                self.values[variable] = if unquotes { unquote(&value) } else { value };
            }
        }
        match self.program.kind.clone() {
            Type::Driver => ctx.manage_driver()?,
            Type::Signal(signals) => {
                for signal in signals {
                    ctx.watch_signal(signal)?;
                }
                self.watches = true;
                return Ok(());
            }
            Type::Active => {}
            Type::Passive | Type::Packet | Type::Proxy => return Ok(()),
        }
        match self.program.steps[0].clone() {
            Step::Wait(text) => {
                self.sleep(ctx, &mut errors, &text);
            }
            Step::Start => {
                self.is_new = true;
                if self.program.kind == Type::Driver {
                    ctx.stop();
                } else {
                    let now = ctx.now();
                    ctx.set_timer(timer, now);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, token: u32) {
        if token == 0 {
            let mut errors = Script::executing(ctx);
            self.run(ctx, 1, Cause::Other, &mut errors);
            return;
        }
        self.at = 0;
        self.args.clear();
        "run".clone_into(&mut self.handler);
        self.run(ctx, 0, Cause::Other, &mut Errors::loud(None));
        self.handler.clear();
    }

    fn driver_stopped(&mut self, ctx: &mut Ctx) -> bool {
        let outcome = self.run(ctx, 1, Cause::Driver, &mut Errors::loud(None));
        !matches!(outcome, ScriptEnd::Ended(_))
    }

    fn push(&mut self, ctx: &mut Ctx, input: usize, mut batch: Batch) {
        for packet in batch.drain() {
            match self.port(ctx, input) {
                Some(port) => ctx.reject(port, packet, Reason::NoPort),
                None => ctx.drop(packet, Reason::Filtered),
            }
        }
        ctx.recycle(batch);
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        let mut left = max.min(into.room());
        while left > 0 {
            let Some(packet) = ctx.pull_one(0) else {
                return;
            };
            left -= 1;
            match self.port(ctx, 0) {
                Some(0) => into.push(packet),
                Some(port) => ctx.reject(port, packet, Reason::NoPort),
                None => ctx.drop(packet, Reason::Filtered),
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        let mut all = vec![
            Handler::new("step", "w"),
            Handler::new("goto", "w"),
            Handler::new("run", "rw+"),
        ];
        let functions = FUNCTIONS.iter();
        all.extend(functions.map(|(name, letters, _)| Handler::new(*name, letters)));
        all.push(Handler::new("get", "r+"));
        all.push(Handler::new("set", "w"));
        all.push(Handler::new("shift", "r+"));
        for step in &self.program.steps {
            if let Step::Set {
                variable,
                when: When::Export,
                ..
            } = step
            {
                all.push(Handler::new(self.names[*variable].clone(), "r"));
            }
        }
        all
    }

    fn has_any_handler(&self) -> bool {
        self.program.kind == Type::Proxy
    }

    fn read(&mut self, ctx: &mut Ctx, name: &str, parameter: &str) -> Result<String, String> {
        if let Some(at) = self.is_export(name) {
            return Ok(self.values[at].clone());
        }
        match (name, functions::find(name)) {
            (_, Some(function)) => function(ctx, parameter),
            ("get" | "shift", _) => self.variable_handler(name, parameter),
            _ => self.stepped(ctx, name, parameter, false),
        }
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        if name != "set" {
            return self.stepped(ctx, name, value, true).map(|_| ());
        }
        let mut rest = value;
        match take_word(&mut rest) {
            None => Err("no variable".to_owned()),
            Some("args") => {
                rest.clone_into(&mut self.args);
                Ok(())
            }
            Some(variable) => {
                self.set(variable, rest.to_owned());
                Ok(())
            }
        }
    }
}
