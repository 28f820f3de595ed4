//! Port lists, and which output an arrow connects to which input.

use super::Port;
use super::lexer::Kind;

/// The ports written in brackets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ports {
    pub(crate) list: Vec<usize>,
    /// Whether there was nothing or a comma at the end: as many more as the other side needs.
    pub(crate) open: bool,
}

impl Ports {
    /// The ports 0 to `count` - 1.
    pub(crate) fn first(count: usize) -> Ports {
        Ports {
            list: (0..count).collect(),
            open: false,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty() && !self.open
    }
}

/// An element in a chain.
#[derive(Clone, Debug)]
pub(crate) struct End {
    pub(crate) element: usize,
    pub(crate) inputs: Ports,
    pub(crate) outputs: Ports,
}

/// Ports on one side of an arrow.
struct Side<'a> {
    ends: Vec<(usize, &'a Ports)>,
    /// How many ports there are at least.
    least: usize,
    /// How many more the other side makes of an open list.
    open: usize,
}

impl Side<'_> {
    fn new<'a>(ends: impl Iterator<Item = (usize, &'a Ports)>) -> Side<'a> {
        let ends: Vec<_> = ends.collect();
        let least = ends.iter().map(|(_, ports)| ports.list.len().max(1)).sum();
        let open = ends.iter().filter(|(_, ports)| ports.open).count();
        Side { ends, least, open }
    }

    /// Opens the list of a lone element without ports where the other side has several.
    fn widen(&mut self, other: usize) {
        if self.least == 1 && other > 1 && self.ends[0].1.is_empty() {
            self.open = 1;
        }
    }

    /// All ports in order, with `extra` ones after the last of the open list.
    fn ports(&self, mut extra: usize, is_open: bool) -> Vec<Port> {
        let mut all = Vec::with_capacity(self.least + extra);
        for &(element, ports) in &self.ends {
            let port = |port| Port { element, port };
            if ports.list.is_empty() {
                all.push(port(0));
            }
            all.extend(ports.list.iter().copied().map(port));
            let is_lone = ports.list.is_empty() && self.least == 1;
            if (ports.open || is_lone) && is_open {
                let next = ports.list.last().unwrap_or(&0) + 1;
                all.extend((next..next + extra).map(port));
                extra = 0;
            }
        }
        all
    }
}

/// The pairs that an arrow between `left` and `right` connects, and what is wrong with it.
pub(crate) fn pairs(left: &[End], right: &[End], arrow: Kind) -> (Vec<(Port, Port)>, Vec<String>) {
    let mut wrong = Vec::new();
    let mut from = Side::new(left.iter().map(|end| (end.element, &end.outputs)));
    let mut to = Side::new(right.iter().map(|end| (end.element, &end.inputs)));
    if from.open + to.open > 1 {
        wrong.push("at most one expandable port allowed per connection".to_owned());
        if to.least < from.least {
            from.open = 0;
        } else {
            to.open = 0;
        }
    }
    let (outputs, inputs) = (from.least, to.least);
    if arrow == Kind::ManyArrow {
        from.widen(inputs);
        to.widen(outputs);
    }
    let many = [from.least > 1 || from.open > 0, to.least > 1 || to.open > 0];
    if many == [true, true] {
        if arrow != Kind::ManyArrow {
            wrong.push("syntax error: many-to-many connections require '=>'".to_owned());
        }
        let mismatch = |left: &str, right: &str| {
            format!(
                "connection mismatch: {outputs}{left} outputs connected to {inputs}{right} inputs"
            )
        };
        if from.open == 0 && to.open == 0 && outputs != inputs {
            wrong.push(mismatch("", ""));
        } else if to.open == 0 && inputs < outputs {
            wrong.push(mismatch(" or more", ""));
        } else if from.open == 0 && outputs < inputs {
            wrong.push(mismatch("", " or more"));
        }
    }
    let left = from.ports(inputs.saturating_sub(outputs), from.open > 0);
    let right = to.ports(outputs.saturating_sub(inputs), to.open > 0);
    let pairs = match many {
        [true, false] => left.iter().map(|output| (*output, right[0])).collect(),
        [false, true] => right.iter().map(|input| (left[0], *input)).collect(),
        _ => left.into_iter().zip(right).collect(),
    };
    (pairs, wrong)
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::*;

    fn end(element: usize, list: &[usize], open: bool) -> End {
        let ports = Ports {
            list: list.to_vec(),
            open,
        };
        End {
            element,
            inputs: ports.clone(),
            outputs: ports,
        }
    }

    fn numbers(left: &[End], right: &[End], arrow: Kind) -> (Vec<[usize; 4]>, Vec<String>) {
        let (pairs, wrong) = pairs(left, right, arrow);
        let flat = pairs
            .iter()
            .map(|(f, t)| [f.element, f.port, t.element, t.port])
            .collect();
        (flat, wrong)
    }

    #[test]
    fn one_meets_one_and_one_meets_many() {
        let (a, b) = (end(0, &[], false), end(1, &[2], false));
        let one = numbers(from_ref(&a), from_ref(&b), Kind::Arrow);
        assert_eq!(one, (vec![[0, 0, 1, 2]], vec![]));
        let many = numbers(&[a.clone(), b.clone()], &[a], Kind::Arrow);
        assert_eq!(many, (vec![[0, 0, 0, 0], [1, 2, 0, 0]], vec![]));
    }

    #[test]
    fn a_bare_element_widens_for_the_wide_arrow() {
        let right = [end(1, &[], false), end(2, &[1, 3], false)];
        let wide = numbers(&[end(0, &[], false)], &right, Kind::ManyArrow);
        assert_eq!(
            wide,
            (vec![[0, 0, 1, 0], [0, 1, 2, 1], [0, 2, 2, 3]], vec![])
        );
    }

    #[test]
    fn an_open_list_counts_on() {
        let right = [end(1, &[0, 1, 2], false), end(2, &[], false)];
        let open = numbers(&[end(0, &[4, 6], true)], &right, Kind::ManyArrow);
        assert_eq!(
            open.0,
            [[0, 4, 1, 0], [0, 6, 1, 1], [0, 7, 1, 2], [0, 8, 2, 0]]
        );
    }

    #[test]
    fn mismatches_are_told_and_connected_as_far_as_they_go() {
        let two = [end(0, &[0, 1], false)];
        let three = [end(1, &[0, 1, 2], false)];
        let (pairs, wrong) = numbers(&two, &three, Kind::ManyArrow);
        assert_eq!(pairs.len(), 2);
        assert_eq!(
            wrong,
            ["connection mismatch: 2 outputs connected to 3 inputs"]
        );
        let (_, wrong) = numbers(&two, &two, Kind::Arrow);
        assert_eq!(
            wrong,
            ["syntax error: many-to-many connections require '=>'"]
        );
        let (_, wrong) = numbers(&three, &[end(1, &[0, 1], true)], Kind::ManyArrow);
        assert!(wrong.is_empty());
        let (_, wrong) = numbers(&two, &[end(1, &[0, 1, 2], true)], Kind::ManyArrow);
        assert_eq!(
            wrong,
            ["connection mismatch: 2 outputs connected to 3 or more inputs"]
        );
        let (_, wrong) = numbers(&[end(1, &[0, 1, 2], true)], &two, Kind::ManyArrow);
        assert_eq!(
            wrong,
            ["connection mismatch: 3 or more outputs connected to 2 inputs"]
        );
        let open = end(0, &[0], true);
        let (_, wrong) = numbers(from_ref(&open), from_ref(&open), Kind::ManyArrow);
        assert_eq!(
            wrong,
            ["at most one expandable port allowed per connection"]
        );
    }
}
