//! Flow codes: which outputs a packet may leave by that came by an input.
//!
//! `x/x` all to all, `x/y` none, `#/#` each to its own number, `xy/x` the first input only. The
//! last character of a side holds for the ports after it; `[…]` is a port that is of several kinds
//! at once, `[^…]` of all kinds but these.

/// What one port of a side is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    One(u8),
    Any(Vec<u8>),
    AllBut(Vec<u8>),
    /// The port's own number.
    Number,
}

/// A flow code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowCode {
    inputs: Vec<Kind>,
    outputs: Vec<Kind>,
}

impl FlowCode {
    /// Reads a flow code.
    pub fn parse(code: &str) -> FlowCode {
        let (inputs, outputs) = code.split_once('/').unwrap_or((code, code));
        FlowCode {
            inputs: kinds(inputs),
            outputs: kinds(outputs),
        }
    }

    /// Whether packets pass from each input to the output of its number only.
    pub fn is_by_number(&self) -> bool {
        self.inputs == [Kind::Number] && self.outputs == [Kind::Number]
    }

    /// Whether packets pass from `input` to `output`.
    pub fn passes(&self, input: usize, output: usize) -> bool {
        let (Some(from), Some(to)) = (at(&self.inputs, input), at(&self.outputs, output)) else {
            return false;
        };
        match (from, to) {
            (Kind::Number, Kind::Number) => input == output,
            (Kind::Number, _) | (_, Kind::Number) => false,
            (Kind::One(a), Kind::One(b)) => a == b,
            (Kind::One(a), other) | (other, Kind::One(a)) => holds(other, *a),
            (Kind::Any(a), other) => a.iter().any(|c| holds(other, *c)),
            (Kind::AllBut(_), Kind::Any(b)) => b.iter().any(|c| holds(from, *c)),
            (Kind::AllBut(_), Kind::AllBut(_)) => true,
        }
    }
}

fn holds(kind: &Kind, letter: u8) -> bool {
    match kind {
        Kind::One(c) => *c == letter,
        Kind::Any(all) => all.contains(&letter),
        Kind::AllBut(all) => !all.contains(&letter),
        Kind::Number => false,
    }
}

fn at(side: &[Kind], port: usize) -> Option<&Kind> {
    side.get(port).or(side.last())
}

fn kinds(side: &str) -> Vec<Kind> {
    let mut kinds = Vec::new();
    let mut rest = side.bytes();
    while let Some(c) = rest.next() {
        kinds.push(match c {
            b'#' => Kind::Number,
            b'[' => {
                let all: Vec<u8> = rest.by_ref().take_while(|c| *c != b']').collect();
                match all.split_first() {
                    Some((b'^', but)) => Kind::AllBut(but.to_vec()),
                    _ => Kind::Any(all),
                }
            }
            c => Kind::One(c),
        });
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_say_what_passes() {
        let all = FlowCode::parse("x/x");
        assert!(all.passes(0, 0) && all.passes(3, 7));
        assert!(!FlowCode::parse("x/y").passes(0, 0));
        let same = FlowCode::parse("#/#");
        assert!(same.passes(2, 2) && !same.passes(2, 1));
        let first = FlowCode::parse("xy/x");
        assert!(first.passes(0, 5) && !first.passes(1, 0) && !first.passes(2, 0));
        let classes = FlowCode::parse("xyz/[xy]z");
        assert!(classes.passes(1, 0) && !classes.passes(2, 0) && classes.passes(2, 1));
        assert!(!FlowCode::parse("x/[^x]").passes(0, 0));
        assert!(FlowCode::parse("y/[^x]").passes(0, 0));
    }
}
