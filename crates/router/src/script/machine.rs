//! A script that runs: its place, its variables, and what each instruction does.
//!
//! A run has a budget of *steps*, one for each blocking instruction that it may pass: none where
//! something calls the script, one where a time is over or the driver stopped, as many as are
//! written to `step`.

use super::errors::Errors;
use super::program::{Ending, Program, Step, Target, Type, When};
use crate::args::numbers::parse_bool;
use crate::args::text::{is_space, parse_text, split_words, take_word, unquote};
use crate::args::times::parse_timestamp;
use crate::engine::Ctx;
use crate::engine::timer::TimerId;
use crate::host::reason;
use crate::lang::variables::{Braces, Form, Variables, substitute};
use std::cell::{Cell, RefCell};

pub(crate) mod element;

/// Jumps without a wait between them after which a script is taken to be in a loop.
const MOST_JUMPS: u32 = 1000;
/// The most bytes that variables may put into one instruction: a variable may be set to itself
/// twice over.
const MOST_BYTES: usize = 1 << 20;

/// What makes the script go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// The driver stopped.
    Driver,
    /// Anything else.
    Other,
}

/// Where a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ScriptEnd {
    /// To a wait.
    Waits,
    /// To a `return`.
    Returned(String),
    /// To an end.
    Ended(Ending),
}

/// A script.
#[derive(Debug, Default)]
pub(crate) struct Script {
    program: Program,
    /// The next instruction.
    at: usize,
    /// How often each `pause` was stepped.
    paused: Vec<u64>,
    /// The first run has not been yet.
    is_new: bool,
    names: Vec<String>,
    values: Vec<String>,
    /// How the last `write` ended: `$?`.
    status: i32,
    /// What `run` was called with, the handler's name, whether it was written.
    args: String,
    handler: String,
    writes: bool,
    /// It runs; calls move its place only.
    runs: bool,
    /// Steps that it was given while it ran.
    more: Option<i64>,
    timer: Option<TimerId>,
    watches: bool,
}

/// Variables as an instruction sees them.
struct Scope<'a> {
    inner: RefCell<(&'a mut Script, &'a mut Ctx, &'a mut Errors)>,
    /// Bytes that may yet take the place of variables.
    left: Cell<usize>,
}

impl Variables for Scope<'_> {
    fn value(&self, name: &str, form: Form, depth: u32) -> Option<String> {
        let value = self.found(name, form, depth)?;
        if let Some(left) = self.left.get().checked_sub(value.len()) {
            self.left.set(left);
            return Some(value);
        }
        let mut inner = self.inner.borrow_mut();
        let (_, ctx, errors) = &mut *inner;
        if self.left.replace(0) > 0 {
            errors.error(
                ctx,
                &format!("variables come to more than {MOST_BYTES} bytes"),
            );
        }
        Some(String::new())
    }
}

impl Scope<'_> {
    fn found(&self, name: &str, form: Form, _: u32) -> Option<String> {
        let mut inner = self.inner.borrow_mut();
        let (script, ctx, errors) = &mut *inner;
        match form {
            Form::Call => match script.call(ctx, name, false, false) {
                Err(text) => {
                    errors.error(ctx, &text);
                    None
                }
                Ok((_, result, remarks)) => {
                    for text in &remarks {
                        errors.error(ctx, text);
                    }
                    Some(result.unwrap_or_else(|text| {
                        errors.error(ctx, &text);
                        String::new()
                    }))
                }
            },
            Form::Plain => script.variable(name),
            Form::Braces => {
                let braces = Braces::read(name);
                let value = script.variable(braces.name);
                let value = value.map(|value| braces.select(value));
                value.or_else(|| braces.default.map(str::to_owned))
            }
        }
    }
}

/// A handler as it was called, what came of it, and what it said besides.
type Called = (String, Result<String, String>, Vec<String>);

impl Script {
    fn variable(&self, name: &str) -> Option<String> {
        if let Some(at) = self.names.iter().position(|other| other == name) {
            return Some(self.values[at].clone());
        }
        Some(match name {
            "?" => self.status.to_string(),
            "args" => self.args.clone(),
            "$" => std::process::id().to_string(),
            "0" => self.handler.clone(),
            "#" => split_words(&self.args).len().to_string(),
            "write" => self.writes.to_string(),
            _ if name.starts_with(|c: char| c.is_ascii_digit()) => {
                let number = name.parse::<usize>().ok()?;
                let words = split_words(&self.args).into_iter();
                let mut words = words;
                words.nth(number.checked_sub(1)?).unwrap_or_default()
            }
            _ => return None,
        })
    }

    fn set(&mut self, name: &str, value: String) {
        match self.names.iter().position(|other| other == name) {
            Some(at) => self.values[at] = value,
            None => {
                self.names.push(name.to_owned());
                self.values.push(value);
            }
        }
    }

    /// `text` with its variables replaced.
    fn expand(&mut self, ctx: &mut Ctx, errors: &mut Errors, text: &str, quoting: bool) -> String {
        let scope = Scope {
            inner: RefCell::new((self, ctx, errors)),
            left: Cell::new(MOST_BYTES),
        };
        substitute(text, &scope, quoting, 0)
    }

    /// Calls the handler that `text` names. An error of the call itself is told apart from one in
    /// it.
    fn call(
        &mut self,
        ctx: &mut Ctx,
        text: &str,
        to_write: bool,
        unquotes: bool,
    ) -> Result<Called, String> {
        let mut rest = text;
        let word = take_word(&mut rest).unwrap_or("");
        let name = parse_text(word).map_err(|_| "syntax error".to_owned())?;
        let value = if unquotes {
            unquote(rest)
        } else {
            rest.to_owned()
        };
        let me = ctx.me();
        ctx.within_reach(self, |ctx| {
            let of = ctx.find_call(&name, me, to_write)?;
            let mut called = ctx.called(of.owner, &of.handler.name);
            if !to_write && !value.is_empty() && !of.handler.read_param {
                return Err(format!("read handler '{called}' does not take parameters"));
            }
            if !value.is_empty() {
                called = format!("{called} {value}");
            }
            let result = if to_write {
                ctx.write_handler(&of, &value).map(|()| String::new())
            } else {
                ctx.read_handler(&of, &value)
            };
            Ok((called, result, ctx.take_remarks()))
        })
    }

    /// Calls a handler for an instruction and tells what went wrong.
    fn told_call(
        &mut self,
        ctx: &mut Ctx,
        errors: &mut Errors,
        text: &str,
        to_write: bool,
        unquotes: bool,
    ) -> Option<(String, Result<String, ()>)> {
        match self.call(ctx, text, to_write, unquotes) {
            Err(text) => {
                errors.error(ctx, &text);
                None
            }
            Ok((called, result, mut said)) => {
                let result = result.map_err(|text| said.push(text));
                if !said.is_empty() {
                    errors.failed_call(ctx, &called, &said);
                }
                Some((called, result))
            }
        }
    }

    /// Runs with so many steps.
    fn run(&mut self, ctx: &mut Ctx, steps: i64, cause: Cause, errors: &mut Errors) -> ScriptEnd {
        if self.runs {
            return ScriptEnd::Waits;
        }
        self.runs = true;
        let (mut steps, mut jumps) = (steps, 0);
        let outcome = loop {
            let outcome = self.advance(ctx, steps, cause, &mut jumps, errors);
            match self.more.take() {
                Some(more) => steps = more,
                None => break outcome,
            }
        };
        self.runs = false;
        self.rewatch(ctx, &outcome);
        outcome
    }

    /// A signal's script hears it again when it has ended, and not while it waits.
    fn rewatch(&mut self, ctx: &mut Ctx, outcome: &ScriptEnd) {
        let Type::Signal(signals) = &self.program.kind else {
            return;
        };
        let shall = *outcome == ScriptEnd::Ended(Ending::End);
        if shall != self.watches {
            for signal in signals {
                if shall {
                    // It could be watched before.
                    let _ = ctx.watch_signal(*signal);
                } else {
                    ctx.unwatch_signal(*signal);
                }
            }
        }
        self.watches = shall;
    }

    fn advance(
        &mut self,
        ctx: &mut Ctx,
        mut steps: i64,
        cause: Cause,
        jumps: &mut u32,
        errors: &mut Errors,
    ) -> ScriptEnd {
        while steps >= 0 && *jumps < MOST_JUMPS {
            let at = self.at;
            let Some(step) = self.program.steps.get(at).cloned() else {
                return ScriptEnd::Waits;
            };
            self.at += 1;
            match step {
                Step::Start => {
                    if std::mem::take(&mut self.is_new) {
                        steps -= 1;
                    }
                }
                Step::Pause(times) => {
                    let passed = steps.min(i64::try_from(times - self.paused[at]).unwrap_or(0));
                    self.paused[at] += passed.unsigned_abs();
                    steps -= passed;
                    if self.paused[at] < times {
                        self.at = at;
                        return ScriptEnd::Waits;
                    }
                }
                Step::Wait(_) if steps > 0 => {
                    steps -= 1;
                    if let Some(timer) = self.timer {
                        ctx.unset_timer(timer);
                    }
                }
                Step::Wait(text) => {
                    if self.sleep(ctx, errors, &text) {
                        self.at = at;
                    }
                    return ScriptEnd::Waits;
                }
                Step::Set {
                    when: When::Init | When::Export,
                    ..
                }
                | Step::Label(_) => {}
                Step::Set {
                    variable,
                    text,
                    unquote: unquotes,
                    ..
                } => {
                    let value = self.expand(ctx, errors, &text, false);
                    self.values[variable] = if unquotes { unquote(&value) } else { value };
                }
                Step::Return {
                    text,
                    unquote: unquotes,
                } => {
                    let value = self.expand(ctx, errors, &text, false);
                    // A handler that was read on the way may have gone elsewhere.
                    if self.at == at + 1 {
                        self.at = at;
                        let value = if unquotes { unquote(&value) } else { value };
                        return ScriptEnd::Returned(value);
                    }
                }
                Step::Print {
                    text,
                    newline,
                    unquote,
                } => {
                    self.print(ctx, errors, &text, newline, unquote);
                }
                Step::Read { text, unquote } => {
                    let text = self.expand(ctx, errors, &text, false);
                    let read = self.told_call(ctx, errors, &text, false, unquote);
                    if let Some((called, result)) = read {
                        let name = called.split(is_space).next().unwrap_or("").to_owned();
                        let result = result.unwrap_or_default();
                        ctx.host().say(&format!("{name}:\n{result}\n"));
                    }
                }
                Step::Write { text, unquote } => {
                    let text = self.expand(ctx, errors, &text, false);
                    let written = self.told_call(ctx, errors, &text, true, unquote);
                    if let Some((_, result)) = written {
                        self.status = if result.is_ok() { 0 } else { -1 };
                    }
                }
                Step::Goto { to, condition } => {
                    let condition = self.expand(ctx, errors, &condition, false);
                    let holds = condition.is_empty() || parse_bool(&condition) == Ok(true);
                    if !condition.is_empty() && parse_bool(&condition).is_err() {
                        errors.error(ctx, &format!("bad condition '{condition}'"));
                    } else if holds {
                        match to {
                            Target::Ending(how) => {
                                self.at = at;
                                return ScriptEnd::Ended(how);
                            }
                            Target::Place(to) => {
                                self.paused[to.min(at)..at].fill(0);
                                self.at = to;
                            }
                        }
                    }
                }
                Step::End {
                    how,
                    text,
                    unquote: unquotes,
                } => {
                    self.at = at;
                    if how == Ending::Error {
                        let text = self.expand(ctx, errors, &text, false);
                        let text = if unquotes { unquote(&text) } else { text };
                        errors.error(ctx, &text);
                    } else if how == Ending::Stop && cause != Cause::Driver {
                        ctx.stop();
                    }
                    return ScriptEnd::Ended(how);
                }
            }
            if self.at != at + 1 {
                *jumps = if ctx.step() { *jumps + 1 } else { MOST_JUMPS };
            }
        }
        if *jumps >= MOST_JUMPS {
            let text = format!("{}: too many jumps, giving up\n", ctx.declaration(ctx.me()));
            ctx.host().say(&text);
            self.at = self.program.steps.len();
            if let Some(timer) = self.timer {
                ctx.unset_timer(timer);
            }
        }
        ScriptEnd::Waits
    }

    /// Sets the timer for a wait; says whether it could.
    fn sleep(&mut self, ctx: &mut Ctx, errors: &mut Errors, text: &str) -> bool {
        let text = self.expand(ctx, errors, text, false);
        match (parse_timestamp(&text), self.timer) {
            (Ok(time), Some(timer)) => {
                ctx.set_timer_after(timer, time);
                true
            }
            _ => {
                errors.error(ctx, "syntax error at 'wait'");
                false
            }
        }
    }

    fn print(
        &mut self,
        ctx: &mut Ctx,
        errors: &mut Errors,
        text: &str,
        newline: bool,
        unquotes: bool,
    ) {
        let (mut text, mut file, mut appends) = (text, "", false);
        if let Some(rest) = text.strip_prefix('>') {
            appends = rest.starts_with('>');
            text = rest.strip_prefix('>').unwrap_or(rest);
            file = take_word(&mut text).unwrap_or("");
        }
        let mut open = None;
        if !file.is_empty() && file != "-" {
            match ctx.create_configured(file, appends) {
                Ok(file) => open = Some(file),
                Err(e) => {
                    errors.error(ctx, &format!("{file}: {}", reason(&e)));
                    return;
                }
            }
        }
        let before = errors.count;
        let is_call = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@' || c == '_');
        let mut result = if is_call {
            let text = self.expand(ctx, errors, text, false);
            let read = self.told_call(ctx, errors, &text, false, unquotes);
            read.and_then(|(_, result)| result.ok()).unwrap_or_default()
        } else {
            unquote(&self.expand(ctx, errors, text, true))
        };
        if newline && errors.count == before && !result.ends_with('\n') {
            result.push('\n');
        }
        match open {
            None => ctx.host().print(&result),
            Some(mut open) => {
                // The host tells of a write that fails.
                _ = open
                    .write_all(result.as_bytes())
                    .and_then(|()| open.flush());
            }
        }
    }

    /// Errors that come while the script runs by itself.
    fn executing(ctx: &Ctx) -> Errors {
        let me = ctx.declaration(ctx.me());
        Errors::loud(Some(format!("While executing '{me}':")))
    }
}
