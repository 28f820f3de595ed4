//! How many elements a pull passes on its way.
//!
//! A pull is a call within a call, for each element that it passes: a chain without end would take
//! a stack without end.

use super::processing::{Mode, Modes, Wire};

/// The most elements that a pull may pass: their calls take less than the least stack that a thread
/// has.
pub(crate) const MOST: usize = 2_000;

/// The element at which a pull has passed more than `most` others, where there is one.
pub(crate) fn too_deep(modes: &[Modes], wires: &[Wire], most: usize) -> Option<usize> {
    let is_pull = |wire: &&Wire| modes[wire.1.0].inputs[wire.1.1] == Mode::Pull;
    let pulls: Vec<&Wire> = wires.iter().filter(is_pull).collect();
    let mut above = vec![0_usize; modes.len()];
    let mut below: Vec<(usize, usize)> = pulls.iter().map(|(from, to)| (from.0, to.0)).collect();
    for (_, to) in &below {
        above[*to] += 1;
    }
    below.sort_unstable();
    let mut depth = vec![0_usize; modes.len()];
    // From those that pull from nobody on; of elements in a circle, where a pull comes back to,
    // none is reached.
    let mut open: Vec<usize> = (0..modes.len()).filter(|at| above[*at] == 0).collect();
    let mut done = 0;
    while let Some(at) = open.pop() {
        done += 1;
        if depth[at] > most {
            return Some(at);
        }
        let first = below.partition_point(|(from, _)| *from < at);
        for (_, to) in below[first..].iter().take_while(|(from, _)| *from == at) {
            depth[*to] = depth[*to].max(depth[at] + 1);
            above[*to] -= 1;
            if above[*to] == 0 {
                open.push(*to);
            }
        }
    }
    let circle = modes.len() - done;
    (circle > most).then(|| (0..modes.len()).find(|at| above[*at] > 0))?
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    #[test]
    fn a_pull_passes_so_many_elements_at_most() {
        let chain = |n: usize| {
            let nulls = " -> PullNull".repeat(n);
            format!(
                "InfiniteSource(LIMIT 5) -> Queue{nulls} -> u :: Unqueue -> c :: Counter -> Discard"
            )
        };
        let mut run = loaded(&chain(500));
        run.run(0.1);
        assert_eq!(run.read("c.count"), "5");
        let said = errors(&chain(super::MOST + 10));
        assert!(
            said.contains("a pull passes more than 2000 elements"),
            "{said}"
        );
        // Pushes may go as far as they like.
        let pushes = " -> Null".repeat(3_000);
        let mut run = loaded(&format!(
            "InfiniteSource(LIMIT 5){pushes} -> c :: Counter -> Discard"
        ));
        run.run(0.1);
        assert_eq!(run.read("c.count"), "5");
    }
}
