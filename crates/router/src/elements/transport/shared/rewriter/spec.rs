//! What becomes of packets that come in by one input and have no mapping.

use super::pattern::PatternRef;
use crate::args::names::Names;
use crate::args::numbers::parse_int;
use crate::args::text::{split_words, take_word};
use crate::engine::ElementId;

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// They end here.
    Drop,
    /// They leave unchanged.
    Pass,
    /// A mapping to themselves.
    Keep,
    /// A mapping by a pattern.
    Pattern(PatternRef),
    /// A mapping by an element.
    Mapper(ElementId),
}

/// The specification of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spec {
    /// What is done.
    pub action: Action,
    /// By which outputs packets and answers leave.
    pub outputs: [u32; 2],
}

/// What is known while a specification is read.
pub(crate) struct Surroundings<'a> {
    /// Names.
    pub names: &'a dyn Names,
    /// Whether an element is a `Mapper`.
    pub is_mapper: &'a dyn Fn(ElementId) -> bool,
    /// How many outputs the rewriter has.
    pub outputs: usize,
}

/// `FOUTPUT ROUTPUT`.
pub(crate) fn parse_outputs(words: &[&str]) -> Result<[i64; 2], String> {
    let number = |word: &str| parse_int(word, i32::MIN.into(), i32::MAX.into()).ok();
    let [forward, reply] = words else {
        return Err("bad forward port".into());
    };
    let forward = number(forward).ok_or("bad forward port")?;
    let reply = number(reply).ok_or("bad reply port")?;
    Ok([forward, reply])
}

/// A pattern and the two outputs after it.
pub(crate) fn parse_pattern(
    text: &str,
    names: &dyn Names,
) -> Result<(PatternRef, [i64; 2]), String> {
    let words = split_words(text);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.len() <= 2 {
        return Err("syntax error".into());
    }
    let (pattern, outputs) = words.split_at(words.len() - 2);
    let pattern = PatternRef::parse(pattern, names)?;
    Ok((pattern, parse_outputs(outputs)?))
}

impl Spec {
    /// Reads a specification.
    pub(crate) fn parse(text: &str, around: &Surroundings) -> Result<Spec, String> {
        let mut rest = text;
        let word = take_word(&mut rest).ok_or("empty argument")?;
        let rest = rest.trim();
        let within = |outputs: [i64; 2]| {
            let in_range = |output: &i64| (0..around.outputs as i64).contains(output);
            if outputs.iter().all(in_range) {
                Ok(outputs.map(|output| output as u32))
            } else {
                Err("output port out of range".to_owned())
            }
        };
        let (action, outputs) = match word {
            "pass" | "passthrough" | "nochange" => {
                let output = if rest.is_empty() {
                    0
                } else {
                    parse_int(rest, i32::MIN.into(), i32::MAX.into())
                        .map_err(|_| "syntax error, expected 'nochange [OUTPUT]'")?
                };
                (Action::Pass, within([output, output])?)
            }
            "keep" => {
                let words = split_words(rest);
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                (Action::Keep, within(parse_outputs(&words)?)?)
            }
            "drop" | "discard" if rest.is_empty() => (Action::Drop, [0, 0]),
            "drop" | "discard" => return Err(format!("syntax error, expected '{word}'")),
            "pattern" | "xpattern" => {
                let (pattern, outputs) = parse_pattern(rest, around.names)?;
                (Action::Pattern(pattern), within(outputs)?)
            }
            name => match around.names.element(name) {
                Some(_) if !rest.is_empty() => {
                    return Err("syntax error, expected element name".into());
                }
                Some(element) if (around.is_mapper)(element) => (Action::Mapper(element), [0, 0]),
                Some(_) => return Err("element is not an IPMapper".into()),
                None => return Err("unknown specification".into()),
            },
        };
        Ok(Spec { action, outputs })
    }
}
