//! Push or pull: what every port of a configuration is.
//!
//! A class says `h` (push), `l` (pull) or `a` (agnostic) for each port. Push and pull spread along
//! connections, and through agnostic elements between the ports that packets pass between, until nothing
//! changes; agnostic ports that nothing reaches are push.

use super::flow::Flow;

/// What a port is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Packets are given to it.
    Push,
    /// Packets are asked for.
    Pull,
    /// Either, as its surroundings are.
    Agnostic,
}

impl Mode {
    /// `push`, `pull` or `agnostic`.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Push => "push",
            Mode::Pull => "pull",
            Mode::Agnostic => "agnostic",
        }
    }
}

/// Reads one side of a processing code for `count` ports: the last letter repeats. `~` marks a port that
/// does not follow the other side; the second of each pair says so.
fn side(code: &str, count: usize) -> Vec<(Mode, bool)> {
    let mut modes: Vec<(Mode, bool)> = Vec::new();
    for c in code.chars() {
        match c {
            'h' => modes.push((Mode::Push, false)),
            'l' => modes.push((Mode::Pull, false)),
            '~' => {
                if let Some(last) = modes.last_mut() {
                    last.1 = true;
                }
            }
            _ => modes.push((Mode::Agnostic, false)),
        }
    }
    let last = modes.last().copied().unwrap_or((Mode::Agnostic, false));
    modes.resize(count, last);
    modes
}

/// An element as far as this module looks at it.
#[derive(Clone, Debug)]
pub struct Shape<'a> {
    /// Its processing code: `a/ah`.
    pub processing: &'a str,
    /// Its flow code.
    pub flow: Flow,
    /// How many inputs.
    pub inputs: usize,
    /// How many outputs.
    pub outputs: usize,
}

/// The modes of an element's ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modes {
    /// Of each input.
    pub inputs: Vec<Mode>,
    /// Of each output.
    pub outputs: Vec<Mode>,
    /// Which inputs were agnostic before their surroundings decided.
    pub free_inputs: Vec<bool>,
    /// Which outputs were.
    pub free_outputs: Vec<bool>,
}

/// Two ports that cannot be what both must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conflict {
    /// The connection with this number joins a push and a pull port.
    Connection(usize),
    /// An agnostic element between this input and this output.
    Through {
        /// The element.
        element: usize,
        /// Its input.
        input: usize,
        /// Its output.
        output: usize,
    },
}

/// A connection: element and port it comes from, element and port it goes to.
pub type Wire = ((usize, usize), (usize, usize));

/// Decides every port. The conflicts come in the order in which they were met.
pub fn resolve(shapes: &[Shape], wires: &[Wire]) -> (Vec<Modes>, Vec<Conflict>) {
    let mut joined: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut modes: Vec<Modes> = shapes
        .iter()
        .map(|shape| initial(shape, &mut joined))
        .collect();
    let mut conflicts = Vec::new();
    loop {
        let mut changed = false;
        for (at, (from, to)) in wires.iter().enumerate() {
            let (a, b) = (modes[from.0].outputs[from.1], modes[to.0].inputs[to.1]);
            match (a, b) {
                (Mode::Agnostic, Mode::Agnostic) => {}
                (Mode::Agnostic, b) => {
                    modes[from.0].outputs[from.1] = b;
                    changed = true;
                }
                (a, Mode::Agnostic) => {
                    modes[to.0].inputs[to.1] = a;
                    changed = true;
                }
                (a, b) if a != b => {
                    let conflict = Conflict::Connection(at);
                    if !conflicts.contains(&conflict) {
                        conflicts.push(conflict);
                    }
                }
                _ => {}
            }
        }
        for (element, pairs) in joined.iter().enumerate() {
            for &(input, output) in pairs {
                let (a, b) = (modes[element].inputs[input], modes[element].outputs[output]);
                match (a, b) {
                    (Mode::Agnostic, Mode::Agnostic) => {}
                    (Mode::Agnostic, b) => {
                        modes[element].inputs[input] = b;
                        changed = true;
                    }
                    (a, Mode::Agnostic) => {
                        modes[element].outputs[output] = a;
                        changed = true;
                    }
                    (a, b) if a != b => {
                        let conflict = Conflict::Through {
                            element,
                            input,
                            output,
                        };
                        if !conflicts.contains(&conflict) {
                            conflicts.push(conflict);
                        }
                    }
                    _ => {}
                }
            }
        }
        if !changed {
            break;
        }
    }
    for mode in modes
        .iter_mut()
        .flat_map(|m| m.inputs.iter_mut().chain(&mut m.outputs))
    {
        if *mode == Mode::Agnostic {
            *mode = Mode::Push;
        }
    }
    (modes, conflicts)
}

/// What the class says, and which of its agnostic ports are joined.
fn initial(shape: &Shape, joined: &mut Vec<Vec<(usize, usize)>>) -> Modes {
    let (inputs, outputs) = shape
        .processing
        .split_once('/')
        .unwrap_or((shape.processing, shape.processing));
    let (inputs, outputs) = (side(inputs, shape.inputs), side(outputs, shape.outputs));
    let mut pairs = Vec::new();
    for (i, input) in inputs.iter().enumerate() {
        for (o, output) in outputs.iter().enumerate() {
            let agnostic = input.0 == Mode::Agnostic && output.0 == Mode::Agnostic;
            if agnostic && !input.1 && !output.1 && shape.flow.passes(i, o) {
                pairs.push((i, o));
            }
        }
    }
    joined.push(pairs);
    let free = |side: &[(Mode, bool)]| side.iter().map(|m| m.0 == Mode::Agnostic).collect();
    Modes {
        free_inputs: free(&inputs),
        free_outputs: free(&outputs),
        inputs: inputs.into_iter().map(|m| m.0).collect(),
        outputs: outputs.into_iter().map(|m| m.0).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(processing: &'static str, inputs: usize, outputs: usize) -> Shape<'static> {
        Shape {
            processing,
            flow: Flow::parse("x/x"),
            inputs,
            outputs,
        }
    }

    #[test]
    fn pull_spreads_upstream_and_push_downstream() {
        // queue -> null -> unqueue -> null
        let shapes = [
            shape("h/l", 1, 1),
            shape("a/a", 1, 1),
            shape("l/h", 1, 1),
            shape("a/ah", 1, 1),
        ];
        let wires = [((0, 0), (1, 0)), ((1, 0), (2, 0)), ((2, 0), (3, 0))];
        let (modes, conflicts) = resolve(&shapes, &wires);
        assert!(conflicts.is_empty());
        assert_eq!(modes[1].inputs, [Mode::Pull]);
        assert_eq!(modes[3].inputs, [Mode::Push]);
        assert_eq!(modes[3].outputs, [Mode::Push]);
    }

    #[test]
    fn an_agnostic_element_between_push_and_pull_is_a_conflict() {
        let shapes = [shape("h/h", 0, 1), shape("a/a", 1, 1), shape("l/l", 1, 0)];
        let (_, conflicts) = resolve(&shapes, &[((0, 0), (1, 0)), ((1, 0), (2, 0))]);
        assert_eq!(conflicts.len(), 1);
    }
}
