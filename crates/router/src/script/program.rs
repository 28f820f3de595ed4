//! What a script's arguments say: its type and its instructions.

use super::signals::signal;
use crate::args::numbers::parse_uint;
use crate::args::text::take_word;
use trammel_core::units::nearest;

/// What makes a script run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Type {
    /// The start of the router.
    #[default]
    Active,
    /// Its handler `run`.
    Passive,
    /// Each packet.
    Packet,
    /// Any handler.
    Proxy,
    /// The driver's stop events.
    Driver,
    /// Signals.
    Signal(Vec<i32>),
}

/// How a script ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// As if it ran off its end.
    End,
    /// For good.
    Exit,
    /// And the driver shall stop.
    Stop,
    /// With an error.
    Error,
}

/// Where a `goto` leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// To a place in the program.
    Place(usize),
    /// Out of it.
    Ending(Ending),
}

/// Why a variable is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// When the instruction is reached.
    Now,
    /// When the element is initialized.
    Init,
    /// The same, and a handler shows it.
    Export,
}

/// An instruction. Its text holds variables yet; `unquote` says that a layer of quotes goes after
/// they have been replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Where a script begins that does not begin with a wait.
    Start,
    /// Waits to be stepped so many times.
    Pause(u64),
    /// Waits for a time.
    Wait(String),
    /// Sets a variable.
    Set {
        /// Which.
        variable: usize,
        /// To what.
        text: String,
        /// See [`Step`].
        unquote: bool,
        /// Now or at the start.
        when: When,
    },
    /// Ends it with a value.
    Return {
        /// The value.
        text: String,
        /// See [`Step`].
        unquote: bool,
    },
    /// Prints a text or a handler.
    Print {
        /// What, and where to.
        text: String,
        /// With the end of a line.
        newline: bool,
        /// See [`Step`].
        unquote: bool,
    },
    /// Prints a handler on standard error.
    Read {
        /// The call.
        text: String,
        /// See [`Step`].
        unquote: bool,
    },
    /// Writes a handler.
    Write {
        /// The call.
        text: String,
        /// See [`Step`].
        unquote: bool,
    },
    /// A place with a name.
    Label(String),
    /// Goes on elsewhere, where the condition holds.
    Goto {
        /// Where.
        to: Target,
        /// Empty: always.
        condition: String,
    },
    /// Ends it.
    End {
        /// How.
        how: Ending,
        /// What to say where it is an error.
        text: String,
        /// See [`Step`].
        unquote: bool,
    },
}

/// A script's type, instructions and variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Program {
    /// What makes it run.
    pub kind: Type,
    /// The instructions.
    pub steps: Vec<Step>,
    /// The names of the variables that it sets.
    pub variables: Vec<String>,
}

/// The words that end a script, as instructions and as labels.
fn ending(word: &str) -> Option<(Ending, bool)> {
    Some(match word {
        "end" => (Ending::End, false),
        "exit" => (Ending::Exit, false),
        "stop" => (Ending::Stop, false),
        "error" => (Ending::Error, false),
        "errorq" => (Ending::Error, true),
        _ => return None,
    })
}

impl Type {
    /// The type that `text` names; `None` for an empty text.
    pub(crate) fn parse(text: &str) -> Result<Option<Type>, String> {
        let mut rest = text;
        let word = take_word(&mut rest).unwrap_or("");
        let plain = match word {
            "" => return Ok(None),
            "ACTIVE" => Type::Active,
            "PASSIVE" => Type::Passive,
            "PACKET" | "PUSH" => Type::Packet,
            "PROXY" => Type::Proxy,
            "DRIVER" => Type::Driver,
            "SIGNAL" => {
                let mut all = Vec::new();
                while let Some(word) = take_word(&mut rest) {
                    all.push(signal(word).ok_or("bad signal number")?);
                }
                if all.is_empty() {
                    return Err("bad signal number".to_owned());
                }
                return Ok(Some(Type::Signal(all)));
            }
            _ => return Err("bad TYPE".to_owned()),
        };
        if rest.is_empty() {
            Ok(Some(plain))
        } else {
            Err("bad TYPE".to_owned())
        }
    }
}

/// The instructions.
const INSTRUCTIONS: [&str; 30] = [
    "pause",
    "wait",
    "wait_step",
    "wait_stop",
    "wait_time",
    "wait_for",
    "set",
    "setq",
    "init",
    "initq",
    "export",
    "exportq",
    "return",
    "returnq",
    "print",
    "printq",
    "printn",
    "printnq",
    "save",
    "append",
    "read",
    "readq",
    "write",
    "writeq",
    "label",
    "goto",
    "loop",
    "stop",
    "end",
    "exit",
];

/// What was meant by the instruction that a fault names, where there is none of that name.
pub(crate) fn meant(fault: &str) -> Option<String> {
    let word = fault
        .strip_prefix("syntax error at '")?
        .strip_suffix('\'')?;
    if INSTRUCTIONS.contains(&word) {
        return None;
    }
    let meant = nearest(word, INSTRUCTIONS.into_iter())?;
    Some(format!("did you mean '{meant}'?"))
}

impl Program {
    /// Reads the instructions; what is wrong with any of them is told.
    pub(crate) fn parse(kind: Type, arguments: &[String]) -> Result<Program, Vec<String>> {
        let mut program = Program {
            kind,
            ..Program::default()
        };
        let (mut wrong, mut jumps) = (Vec::new(), Vec::new());
        for argument in arguments {
            let mut rest = argument.as_str();
            let Some(word) = take_word(&mut rest) else {
                continue;
            };
            match program.step(word, rest) {
                None => wrong.push(format!("syntax error at '{word}'")),
                Some(step) => {
                    let waits = matches!(step, Step::Start | Step::Pause(_) | Step::Wait(_));
                    if program.steps.is_empty() && !waits {
                        program.steps.push(Step::Start);
                    }
                    if let Step::Goto { condition, .. } = &step
                        && !condition.is_empty()
                    {
                        jumps.push(program.steps.len());
                    }
                    program.steps.push(step);
                }
            }
        }
        for at in jumps {
            let Step::Goto { condition, .. } = &program.steps[at] else {
                continue;
            };
            let mut rest = condition.as_str();
            let label = take_word(&mut rest).unwrap_or("").to_owned();
            let condition = rest.to_owned();
            match program.label(&label) {
                Some(to) => program.steps[at] = Step::Goto { to, condition },
                None => wrong.push(format!("no such label '{label}'")),
            }
        }
        let how = if program.kind == Type::Driver {
            if program.steps.is_empty() {
                program.steps.push(Step::Pause(1));
            }
            Ending::Stop
        } else {
            if program.steps.is_empty() {
                program.steps.push(Step::Start);
            }
            Ending::End
        };
        program.steps.push(Step::End {
            how,
            text: String::new(),
            unquote: false,
        });
        if wrong.is_empty() {
            Ok(program)
        } else {
            Err(wrong)
        }
    }

    /// The instruction `word` with what follows it, or `None` where it is no instruction.
    fn step(&mut self, word: &str, rest: &str) -> Option<Step> {
        let text = rest.to_owned();
        if let Some((how, unquote)) = ending(word) {
            let fits = how == Ending::Error || rest.is_empty();
            return fits.then_some(Step::End { how, text, unquote });
        }
        let unquote = word.ends_with('q');
        Some(match word {
            "pause" | "wait_step" | "wait_stop" => pause(rest)?,
            "wait" if rest.is_empty() => pause(rest)?,
            "wait" | "wait_time" | "wait_for" => Step::Wait(text),
            "set" | "setq" | "init" | "initq" | "export" | "exportq" => {
                let mut rest = rest;
                let name = take_word(&mut rest)?;
                let when = match word.trim_end_matches('q') {
                    "set" if rest.is_empty() => return None,
                    "set" => When::Now,
                    "init" => When::Init,
                    _ => When::Export,
                };
                Step::Set {
                    variable: self.variable(name),
                    text: rest.to_owned(),
                    unquote,
                    when,
                }
            }
            "return" | "returnq" => Step::Return { text, unquote },
            "print" | "printq" | "printn" | "printnq" => Step::Print {
                text,
                newline: !word.contains("tn"),
                unquote,
            },
            "save" | "append" => {
                let mut file = rest;
                let what = take_word(&mut file).unwrap_or("");
                let arrow = if word == "save" { ">" } else { ">>" };
                let file = if file.is_empty() { "-" } else { file };
                Step::Print {
                    text: format!("{arrow}{file} {what}"),
                    newline: true,
                    unquote: false,
                }
            }
            "read" | "readq" => Step::Read { text, unquote },
            "write" | "writeq" => Step::Write { text, unquote },
            "label" => {
                let mut rest = rest;
                let name = take_word(&mut rest)?;
                if !rest.is_empty() {
                    return None;
                }
                Step::Label(name.to_owned())
            }
            // Its label is split off when all labels are known.
            "goto" => Step::Goto {
                to: Target::Place(0),
                condition: text,
            },
            "loop" if rest.is_empty() => Step::Goto {
                to: Target::Place(0),
                condition: String::new(),
            },
            _ => return None,
        })
    }

    /// The place of a variable, made where there is none.
    fn variable(&mut self, name: &str) -> usize {
        let known = self.variables.iter().position(|other| other == name);
        known.unwrap_or_else(|| {
            self.variables.push(name.to_owned());
            self.variables.len() - 1
        })
    }

    /// Where a label is.
    pub(crate) fn label(&self, label: &str) -> Option<Target> {
        let is_here = |step: &Step| matches!(step, Step::Label(name) if name == label);
        if let Some(at) = self.steps.iter().position(is_here) {
            return Some(Target::Place(at));
        }
        if let Some((how, _)) = ending(label) {
            return Some(Target::Ending(how));
        }
        matches!(label, "begin" | "loop").then_some(Target::Place(0))
    }
}

fn pause(times: &str) -> Option<Step> {
    if times.is_empty() {
        return Some(Step::Pause(1));
    }
    let times = parse_uint(times, u64::from(u32::MAX)).ok()?;
    Some(Step::Pause(times))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(text: &str) -> Result<Program, Vec<String>> {
        Program::parse(Type::Active, &crate::args::text::split_args(text))
    }

    #[test]
    fn what_is_wrong_with_instructions_is_told_all_at_once() {
        assert_eq!(
            program("fly, pause x, set a, label a b, end now, goto nowhere").unwrap_err(),
            [
                "syntax error at 'fly'",
                "syntax error at 'pause'",
                "syntax error at 'set'",
                "syntax error at 'label'",
                "syntax error at 'end'",
                "no such label 'nowhere'",
            ]
        );
    }

    #[test]
    fn a_misspelt_instruction_has_a_suggestion() {
        let meant = |text| {
            program(text)
                .unwrap_err()
                .iter()
                .find_map(|one| super::meant(one))
        };
        assert_eq!(
            meant("wite c.reset").as_deref(),
            Some("did you mean 'write'?")
        );
        assert_eq!(meant("wiat 1s").as_deref(), Some("did you mean 'wait'?"));
        assert_eq!(meant("pause x"), None);
        assert_eq!(meant("blahblah"), None);
    }

    #[test]
    fn labels_may_be_endings_or_the_beginning() {
        let steps = program("goto stop $x, goto begin, label l, goto l")
            .unwrap()
            .steps;
        let places: Vec<_> = steps
            .iter()
            .filter_map(|step| match step {
                Step::Goto { to, condition } => Some((*to, condition.as_str())),
                _ => None,
            })
            .collect();
        assert_eq!(
            places,
            [
                (Target::Ending(Ending::Stop), "$x"),
                (Target::Place(0), ""),
                (Target::Place(3), "")
            ]
        );
    }

    #[test]
    fn types_have_names_and_signals_numbers() {
        assert_eq!(Type::parse(""), Ok(None));
        assert_eq!(
            Type::parse("SIGNAL INT 15"),
            Ok(Some(Type::Signal(vec![2, 15])))
        );
        assert_eq!(Type::parse("SIGNAL"), Err("bad signal number".into()));
        assert_eq!(Type::parse("ACTIVE x"), Err("bad TYPE".into()));
    }
}
