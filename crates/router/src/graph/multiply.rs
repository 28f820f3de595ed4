//! Loops of pushes in which packets multiply.
//!
//! A `Tee` or `Hub` one of whose outputs leads back to it without a queue between makes more
//! packets of each one that comes. The engine catches them when they are many; who wrote the
//! configuration learns of it before.

use super::processing::{Mode, Modes};
use crate::lang::Flat;

/// Classes that send each packet out by all outputs.
const COPYING: [&str; 2] = ["Tee", "Hub"];

/// The outputs of copying elements that lead back to them: element and output.
pub(crate) fn outputs(flat: &Flat, modes: &[Modes]) -> Vec<(usize, usize)> {
    let copies = |element: usize| COPYING.contains(&flat.elements[element].class.as_str());
    let elements = flat.elements.len();
    if !(0..elements).any(copies) {
        return Vec::new();
    }
    let pushes =
        |element: usize, port: usize| modes[element].outputs.get(port) == Some(&Mode::Push);
    let mut next = vec![Vec::new(); elements];
    for connection in &flat.connections {
        if pushes(connection.from.element, connection.from.port) {
            next[connection.from.element].push(connection.to.element);
        }
    }
    let component = components(&next);
    let leads_back = flat.connections.iter().filter(|connection| {
        let (from, to) = (connection.from.element, connection.to.element);
        copies(from) && pushes(from, connection.from.port) && component[from] == component[to]
    });
    leads_back
        .map(|connection| (connection.from.element, connection.from.port))
        .collect()
}

/// Numbers of strongly connected components, equal where two nodes reach each other (Tarjan 1972,
/// without recursion).
fn components(next: &[Vec<usize>]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let (mut order, mut low) = (vec![NONE; next.len()], vec![0; next.len()]);
    let (mut component, mut open, mut count) = (vec![NONE; next.len()], Vec::new(), 0);
    for root in 0..next.len() {
        let mut calls = Vec::new();
        if order[root] == NONE {
            calls.push((root, 0));
        }
        while let Some((node, at)) = calls.pop() {
            if at == 0 {
                (order[node], low[node]) = (count, count);
                count += 1;
                open.push(node);
            } else {
                let child = next[node][at - 1];
                low[node] = low[node].min(low[child]);
            }
            let mut follow = at;
            let child = loop {
                let Some(&child) = next[node].get(follow) else {
                    break None;
                };
                follow += 1;
                if order[child] == NONE {
                    break Some(child);
                }
                if component[child] == NONE {
                    low[node] = low[node].min(order[child]);
                }
            };
            if let Some(child) = child {
                calls.extend([(node, follow), (child, 0)]);
            } else if low[node] == order[node] {
                while let Some(one) = open.pop() {
                    component[one] = node;
                    if one == node {
                        break;
                    }
                }
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Options;
    use crate::lang;
    use crate::load::{BuiltIn, load};
    use crate::memory::MemoryHost;

    #[test]
    fn components_are_what_reaches_each_other() {
        let found = components(&[vec![1], vec![2], vec![0, 3], vec![4], vec![], vec![5]]);
        assert_eq!(found[0], found[1]);
        assert_eq!(found[1], found[2]);
        for (a, b) in [(2, 3), (3, 4), (4, 5), (5, 0)] {
            assert_ne!(found[a], found[b], "{a} {b}");
        }
    }

    #[test]
    fn a_tee_that_leads_back_to_itself_is_warned_of() {
        let warned = |config: &str| {
            let language = lang::Options {
                classes: Some(&BuiltIn),
                ..lang::Options::default()
            };
            let host = Box::new(MemoryHost::new());
            let loaded = load(config, "config", &language, host, Options::simulated());
            let (_, said) = loaded.unwrap_or_else(|refused| panic!("{}", refused.said.click()));
            said.click().matches("multiply").count()
        };
        assert_eq!(
            warned("Idle -> a :: Null -> t :: Tee(2); t[0] -> a; t[1] -> a"),
            2
        );
        assert_eq!(
            warned("Idle -> a :: Null -> t :: Tee(2); t[0] -> a; t[1] -> Discard"),
            1
        );
        let queued =
            "Idle -> a :: Null -> t :: Tee(2); t[0] -> Queue -> Unqueue -> a; t[1] -> Discard";
        assert_eq!(warned(queued), 0);
        assert_eq!(
            warned("Idle -> t :: Tee(2); t[0] -> Discard; t[1] -> Discard"),
            0
        );
    }
}
