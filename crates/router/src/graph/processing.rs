//! Push or pull: what every port of a configuration is.
//!
//! A class says `h` (push), `l` (pull) or `a` (agnostic) for each port. Push and pull spread along
//! connections, and through agnostic elements between the ports that packets pass between, until
//! nothing changes; agnostic ports that nothing reaches are push.

use super::flow::FlowCode;
use std::collections::BTreeSet;

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

/// What a class says of the ports of one side, and which of them do not follow the other side.
type Side = Vec<(Mode, bool)>;

/// Reads one side of a processing code for `count` ports: the last letter repeats. `~` marks a port
/// that does not follow the other side; the second of each pair says so.
fn side(code: &str, count: usize) -> Side {
    let mut modes = Side::new();
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
    pub flow: FlowCode,
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

/// Two ports that are the same: the ends of a connection, or an input and an output that agnostic
/// packets pass between.
#[derive(Clone, Copy, Debug)]
struct Bond {
    one: u32,
    other: u32,
    /// What it is where the two differ.
    conflict: Conflict,
}

/// Where each element's ports begin in one list of all ports: its inputs, then its outputs.
fn first_ports(shapes: &[Shape]) -> Vec<u32> {
    let mut first = vec![0];
    for shape in shapes {
        let last = first[first.len() - 1];
        first.push(last + (shape.inputs + shape.outputs) as u32);
    }
    first
}

/// Decides every port. The conflicts come in the order in which they were met.
///
/// All bonds are looked at in turn, and again in further rounds those with a port that has changed
/// since: what comes out, and in which order, is what rounds over all of them would give, for work
/// in proportion to the graph.
pub fn resolve(shapes: &[Shape], wires: &[Wire]) -> (Vec<Modes>, Vec<Conflict>) {
    let first = first_ports(shapes);
    let input = |element: usize, port: usize| first[element] + port as u32;
    let output =
        |element: usize, port: usize| first[element] + (shapes[element].inputs + port) as u32;
    let connected = wires.iter().enumerate().map(|(at, (from, to))| Bond {
        one: output(from.0, from.1),
        other: input(to.0, to.1),
        conflict: Conflict::Connection(at),
    });
    let mut bonds: Vec<Bond> = connected.collect();
    let mut modes = Vec::with_capacity(*first.last().expect("it has the first") as usize);
    let mut free = Vec::new();
    for (element, shape) in shapes.iter().enumerate() {
        let (inputs, outputs) = sides(shape);
        for (i, o) in joined(shape, &inputs, &outputs) {
            bonds.push(Bond {
                one: input(element, i),
                other: output(element, o),
                conflict: Conflict::Through {
                    element,
                    input: i,
                    output: o,
                },
            });
        }
        modes.extend(inputs.iter().chain(&outputs).map(|port| port.0));
    }
    free.extend(modes.iter().map(|mode| *mode == Mode::Agnostic));
    let conflicts = spread(&mut modes, &bonds);
    for mode in &mut modes {
        if *mode == Mode::Agnostic {
            *mode = Mode::Push;
        }
    }
    let of = |(element, shape): (usize, &Shape)| {
        let (from, to) = (first[element] as usize, first[element + 1] as usize);
        let middle = from + shape.inputs;
        Modes {
            inputs: modes[from..middle].to_vec(),
            outputs: modes[middle..to].to_vec(),
            free_inputs: free[from..middle].to_vec(),
            free_outputs: free[middle..to].to_vec(),
        }
    };
    (shapes.iter().enumerate().map(of).collect(), conflicts)
}

/// Spreads push and pull along bonds, until nothing changes; gives the conflicts.
fn spread(modes: &mut [Mode], bonds: &[Bond]) -> Vec<Conflict> {
    let mut touching: Vec<(u32, u32)> = Vec::with_capacity(2 * bonds.len());
    for (at, bond) in bonds.iter().enumerate() {
        touching.push((bond.one, at as u32));
        touching.push((bond.other, at as u32));
    }
    touching.sort_unstable();
    let mut conflicts = Vec::new();
    let mut is_told = vec![false; bonds.len()];
    let mut round: BTreeSet<u32> = (0..bonds.len() as u32).collect();
    let mut next: BTreeSet<u32> = BTreeSet::new();
    while !round.is_empty() {
        while let Some(at) = round.pop_first() {
            let Bond {
                one,
                other,
                conflict,
            } = bonds[at as usize];
            let changed = match (modes[one as usize], modes[other as usize]) {
                (Mode::Agnostic, Mode::Agnostic) => continue,
                (Mode::Agnostic, mode) => {
                    modes[one as usize] = mode;
                    one
                }
                (mode, Mode::Agnostic) => {
                    modes[other as usize] = mode;
                    other
                }
                (a, b) => {
                    if a != b && !std::mem::replace(&mut is_told[at as usize], true) {
                        conflicts.push(conflict);
                    }
                    continue;
                }
            };
            let from = touching.partition_point(|(port, _)| *port < changed);
            let others = touching[from..].iter();
            for (_, bond) in others.take_while(|(port, _)| *port == changed) {
                if *bond > at {
                    round.insert(*bond);
                } else {
                    next.insert(*bond);
                }
            }
        }
        std::mem::swap(&mut round, &mut next);
    }
    conflicts
}

/// What the class says of each input and output.
fn sides(shape: &Shape) -> (Side, Side) {
    let (inputs, outputs) = shape
        .processing
        .split_once('/')
        .unwrap_or((shape.processing, shape.processing));
    (side(inputs, shape.inputs), side(outputs, shape.outputs))
}

/// Which of its agnostic ports packets pass between, inputs first.
fn joined(shape: &Shape, inputs: &[(Mode, bool)], outputs: &[(Mode, bool)]) -> Vec<(usize, usize)> {
    let is_free = |port: &(Mode, bool)| port.0 == Mode::Agnostic && !port.1;
    let mut pairs = Vec::new();
    for (i, _) in inputs.iter().enumerate().filter(|(_, port)| is_free(port)) {
        if shape.flow.is_by_number() {
            pairs.extend(outputs.get(i).filter(|port| is_free(port)).map(|_| (i, i)));
            continue;
        }
        let passes = |(o, port): (usize, &(Mode, bool))| {
            (is_free(port) && shape.flow.passes(i, o)).then_some((i, o))
        };
        pairs.extend(outputs.iter().enumerate().filter_map(passes));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shape(processing: &'static str, inputs: usize, outputs: usize) -> Shape<'static> {
        Shape {
            processing,
            flow: FlowCode::parse("x/x"),
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

    /// The rounds over all bonds that [`resolve`] shortens.
    fn rounds(modes: &mut [Mode], bonds: &[Bond]) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for bond in bonds {
                let (one, other) = (bond.one as usize, bond.other as usize);
                match (modes[one], modes[other]) {
                    (Mode::Agnostic, Mode::Agnostic) => {}
                    (Mode::Agnostic, mode) => (modes[one], changed) = (mode, true),
                    (mode, Mode::Agnostic) => (modes[other], changed) = (mode, true),
                    (a, b) if a != b && !conflicts.contains(&bond.conflict) => {
                        conflicts.push(bond.conflict);
                    }
                    _ => {}
                }
            }
        }
        conflicts
    }

    proptest! {
        #[test]
        fn the_outcome_is_that_of_rounds_over_all_bonds(
            modes in proptest::collection::vec(0..8_u8, 2..40),
            ends in proptest::collection::vec((0..1000_u32, 0..1000_u32), 0..80),
        ) {
            let mode = |n: &u8| match n {
                0 => Mode::Push,
                1 => Mode::Pull,
                _ => Mode::Agnostic,
            };
            let mut modes: Vec<Mode> = modes.iter().map(mode).collect();
            let count = modes.len() as u32;
            let bond = |(at, (one, other)): (usize, &(u32, u32))| Bond {
                one: one % count,
                other: other % count,
                conflict: Conflict::Connection(at),
            };
            let bonds: Vec<Bond> = ends.iter().enumerate().map(bond).collect();
            let mut slowly = modes.clone();
            prop_assert_eq!(spread(&mut modes, &bonds), rounds(&mut slowly, &bonds));
            prop_assert_eq!(modes, slowly);
        }
    }
}
