//! Replaces patterns of elements by others: `click-xform`.
//!
//! A pattern file declares compounds in pairs, `X` and `X_Replacement`. Where the elements of a
//! configuration look like those of `X` — the same classes, connections and arguments, `$v`
//! standing for any argument, the same wherever it stands — and are used from outside only as its
//! `input` and `output` allow, they give way to `X_Replacement`. That goes on until nothing
//! matches.
//!
//! The search goes from the pattern's first element along its connections, so that all but the
//! first of each connected part have few candidates.

use super::work::{Ends, Side, Work, port};
use crate::args::text::{join_args, split_args};
use crate::diagnostic::Diagnostics;
use crate::lang::{Compound, Connection, Declared, Flat, Port};
use std::collections::{BTreeMap, BTreeSet};

/// A pattern and what replaces it.
#[derive(Clone, Debug)]
pub struct Rule {
    name: String,
    pattern: Piece,
    replacement: Piece,
}

/// The compounds of a pattern file, as rules; in the order of the replacements.
pub fn rules(compounds: &[Compound]) -> Vec<Rule> {
    let pairs = compounds.iter().filter_map(|replacement| {
        let name = replacement.name.strip_suffix("_Replacement")?;
        let pattern = compounds
            .iter()
            .rev()
            .find(|c| c.name == name && !name.is_empty())?;
        Some(Rule {
            name: name.to_owned(),
            pattern: Piece::of(pattern),
            replacement: Piece::of(replacement),
        })
    });
    pairs.collect()
}

/// The rules turned round, the last first: what they did is undone.
pub fn reversed(rules: Vec<Rule>) -> Vec<Rule> {
    let turned = rules.into_iter().rev().map(|rule| Rule {
        name: rule.name + "_Reverse",
        pattern: rule.replacement,
        replacement: rule.pattern,
    });
    turned.collect()
}

/// The inside of a compound.
#[derive(Clone, Debug)]
struct Piece {
    elements: Vec<Declared>,
    connections: Vec<Connection>,
    /// From which of its inputs which ports are fed.
    enters: Vec<(usize, Port)>,
    /// Which ports feed which of its outputs.
    leaves: Vec<(Port, usize)>,
    /// Inputs that are outputs.
    through: Vec<(usize, usize)>,
}

impl Piece {
    fn of(compound: &Compound) -> Piece {
        let mut piece = Piece {
            elements: compound.flat.elements[2..].to_vec(),
            connections: Vec::new(),
            enters: Vec::new(),
            leaves: Vec::new(),
            through: Vec::new(),
        };
        for c in &compound.flat.connections {
            let inner = |end: Port| end.element.checked_sub(2).map(|at| port(at, end.port));
            match (inner(c.from), inner(c.to)) {
                (Some(from), Some(to)) => piece.connections.push(Connection {
                    from,
                    to,
                    landmark: c.landmark.clone(),
                }),
                (None, Some(to)) => piece.enters.push((c.from.port, to)),
                (Some(from), None) => piece.leaves.push((from, c.to.port)),
                (None, None) => piece.through.push((c.from.port, c.to.port)),
            }
        }
        piece
    }

    /// The elements, each after one that it is connected to if there is any.
    fn order(&self) -> Vec<usize> {
        let mut order = Vec::new();
        while let Some(first) = (0..self.elements.len()).find(|at| !order.contains(at)) {
            order.push(first);
            let mut done = order.len() - 1;
            while let Some(&at) = order.get(done) {
                for c in &self.connections {
                    let both = (c.from.element, c.to.element);
                    for next in [
                        (both.0 == at).then_some(both.1),
                        (both.1 == at).then_some(both.0),
                    ] {
                        order.extend(next.filter(|next| !order.contains(next)));
                    }
                }
                done += 1;
            }
        }
        order
    }
}

/// How often rules are applied before it is taken for a circle.
const MOST_TURNS: usize = 10_000;
/// How many candidates are looked at in one search.
const MOST_STEPS: usize = 10_000_000;

/// Applies `rules` to `flat` until none matches.
pub fn rewrite(flat: Flat, rules: &[Rule]) -> (Flat, Diagnostics) {
    let mut said = Diagnostics::new();
    let mut body = Body {
        work: Work::from(flat),
        made_by: BTreeMap::new(),
        counts: BTreeMap::new(),
    };
    for turn in 0.. {
        let found = rules.iter().enumerate().find_map(|(number, rule)| {
            let mut search = Search::new(&body, number, &rule.pattern);
            Some((number, search.run()?))
        });
        let Some((number, found)) = found else {
            break;
        };
        if turn == MOST_TURNS {
            let name = &rules[number].name;
            said.error(None, format!("pattern '{name}' matches again and again"));
            break;
        }
        body.replace(number, &rules[number], &found);
    }
    (body.work.finish(), said)
}

/// A configuration that is being rewritten.
struct Body {
    work: Work,
    /// The rule whose replacement an element belongs to.
    made_by: BTreeMap<usize, usize>,
    /// How often a rule was applied, by name.
    counts: BTreeMap<String, usize>,
}

/// Where a pattern was found.
struct Found {
    /// The element for each of the pattern's.
    places: Vec<usize>,
    variables: BTreeMap<String, String>,
    /// Outside outputs and the input of the pattern that they feed.
    enters: Vec<(Port, usize)>,
    /// Outputs of the pattern and the outside inputs that they feed.
    leaves: Vec<(usize, Port)>,
}

struct Search<'a> {
    body: &'a Body,
    rule: usize,
    pattern: &'a Piece,
    order: Vec<usize>,
    places: Vec<Option<usize>>,
    steps: usize,
}

impl Search<'_> {
    fn new<'a>(body: &'a Body, rule: usize, pattern: &'a Piece) -> Search<'a> {
        Search {
            body,
            rule,
            pattern,
            order: pattern.order(),
            places: vec![None; pattern.elements.len()],
            steps: 0,
        }
    }

    fn run(&mut self) -> Option<Found> {
        if self.order.is_empty() {
            return None;
        }
        self.place(0)
    }

    /// Finds places for the elements from the `depth`th of the order on.
    fn place(&mut self, depth: usize) -> Option<Found> {
        let Some(&wanted) = self.order.get(depth) else {
            return self.check();
        };
        for candidate in self.candidates(wanted) {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return None;
            }
            if self.places.contains(&Some(candidate)) || !self.fits(wanted, candidate) {
                continue;
            }
            self.places[wanted] = Some(candidate);
            if let Some(found) = self.place(depth + 1) {
                return Some(found);
            }
            self.places[wanted] = None;
        }
        None
    }

    /// What may stand for a pattern's element: what is connected to a neighbour as that is, else
    /// all of the class.
    fn candidates(&self, wanted: usize) -> Vec<usize> {
        let class = &self.pattern.elements[wanted].class;
        let work = &self.body.work;
        for c in &self.pattern.connections {
            for (near, far) in [(Side::Input, Side::Output), (Side::Output, Side::Input)] {
                let (here, there) = (c.end(near), c.end(far));
                let Some(place) = self.places[there.element].filter(|_| here.element == wanted)
                else {
                    continue;
                };
                let ends = work.at(far, port(place, there.port)).into_iter();
                let ends = ends.map(|at| work.connections[at].end(near));
                let fitting = ends.filter(|end| end.port == here.port);
                let alike = fitting.filter(|end| work.is_class(end.element, class));
                let all: BTreeSet<usize> = alike.map(|end| end.element).collect();
                return all.into_iter().collect();
            }
        }
        work.of_class(class)
    }

    /// Whether the arguments may be alike and the connections to those that have places are there.
    fn fits(&self, wanted: usize, candidate: usize) -> bool {
        let work = &self.body.work;
        let Some(element) = &work.elements[candidate] else {
            return false;
        };
        let config = &self.pattern.elements[wanted].config;
        let mut variables = BTreeMap::new();
        if !match_config(config, &element.config, &mut variables) {
            return false;
        }
        let place = |end: Port| {
            let at = if end.element == wanted {
                Some(candidate)
            } else {
                self.places[end.element]
            };
            at.map(|at| port(at, end.port))
        };
        self.pattern
            .connections
            .iter()
            .all(|c| match (place(c.from), place(c.to)) {
                (Some(from), Some(to)) => is_connected(work, from, to),
                _ => true,
            })
    }

    /// Whether what was found is used as the pattern allows.
    fn check(&self) -> Option<Found> {
        let work = &self.body.work;
        let places: Vec<usize> = self.places.iter().copied().collect::<Option<_>>()?;
        let is_own = |at: &usize| self.body.made_by.get(at) == Some(&self.rule);
        if places.iter().all(is_own) {
            return None;
        }
        let mut variables = BTreeMap::new();
        for (element, at) in self.pattern.elements.iter().zip(&places) {
            let config = &work.elements[*at].as_ref()?.config;
            if !match_config(&element.config, config, &mut variables) {
                return None;
            }
        }
        let inner = |end: Port| {
            let at = places.iter().position(|place| *place == end.element)?;
            Some(port(at, end.port))
        };
        let (mut enters, mut leaves) = (Vec::new(), Vec::new());
        for c in &work.connections {
            match (inner(c.from), inner(c.to)) {
                (Some(from), Some(to)) => {
                    let mut all = self.pattern.connections.iter();
                    if !all.any(|own| own.from == from && own.to == to) {
                        return None;
                    }
                }
                (None, Some(to)) => enters.push((c.from, self.input_for(&places, c.from, to)?)),
                (Some(from), None) => leaves.push((self.output_for(&places, from, c.to)?, c.to)),
                (None, None) => {}
            }
        }
        let is_entered = |input: &usize| enters.iter().any(|(_, used)| used == input);
        let is_left = |output: &usize| leaves.iter().any(|(used, _)| used == output);
        let is_used = self
            .pattern
            .enters
            .iter()
            .all(|(input, _)| is_entered(input))
            && self
                .pattern
                .leaves
                .iter()
                .all(|(_, output)| is_left(output));
        is_used.then_some(Found {
            places,
            variables,
            enters,
            leaves,
        })
    }

    /// The first input of the pattern that feeds `to` and nothing that `outside` does not feed.
    fn input_for(&self, places: &[usize], outside: Port, to: Port) -> Option<usize> {
        let enters = &self.pattern.enters;
        let feeds = |(_, end): &&(usize, Port)| *end == to;
        let possible = enters.iter().filter(feeds).map(|(input, _)| *input);
        let covers = |input: &usize| {
            let mut fed = enters.iter().filter(|(other, _)| other == input);
            fed.all(|(_, end)| {
                is_connected(
                    &self.body.work,
                    outside,
                    port(places[end.element], end.port),
                )
            })
        };
        possible.filter(covers).min()
    }

    /// The first output of the pattern that `from` feeds and nothing that does not feed `outside`.
    fn output_for(&self, places: &[usize], from: Port, outside: Port) -> Option<usize> {
        let leaves = &self.pattern.leaves;
        let feeds = |(end, _): &&(Port, usize)| *end == from;
        let possible = leaves.iter().filter(feeds).map(|(_, output)| *output);
        let covers = |output: &usize| {
            let mut feeding = leaves.iter().filter(|(_, other)| other == output);
            feeding.all(|(end, _)| {
                is_connected(
                    &self.body.work,
                    port(places[end.element], end.port),
                    outside,
                )
            })
        };
        possible.filter(covers).min()
    }
}

fn is_connected(work: &Work, from: Port, to: Port) -> bool {
    work.connections
        .iter()
        .any(|c| c.from == from && c.to == to)
}

/// Whether `config` is what `pattern` stands for; its variables are added to `variables`.
fn match_config(pattern: &str, config: &str, variables: &mut BTreeMap<String, String>) -> bool {
    let (wanted, given) = (split_args(pattern), split_args(config));
    if wanted.len() != given.len() {
        return false;
    }
    for (wanted, given) in wanted.into_iter().zip(given) {
        if wanted == given {
            continue;
        }
        if !is_variable(&wanted) {
            return false;
        }
        if *variables.entry(wanted).or_insert_with(|| given.clone()) != given {
            return false;
        }
    }
    true
}

fn is_variable(text: &str) -> bool {
    let name = text.strip_prefix('$').unwrap_or_default();
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

impl Body {
    fn replace(&mut self, number: usize, rule: &Rule, found: &Found) {
        let prefix = self.unused_prefix(&rule.name);
        let work = &mut self.work;
        let old: Vec<Option<Declared>> = found
            .places
            .iter()
            .map(|at| work.elements[*at].clone())
            .collect();
        let place = old.iter().flatten().next();
        let landmark = place.map_or_else(
            || super::work::made_by("click-xform"),
            |e| e.landmark.clone(),
        );
        for at in &found.places {
            work.vacate(*at);
            self.made_by.remove(at);
        }
        // A compound takes three places until it is open, here as in Click: the order is the same.
        let held: Vec<usize> = (0..3)
            .map(|_| work.settle(held_place(&prefix, &landmark)))
            .collect();
        let mut places = Vec::new();
        for element in &rule.replacement.elements {
            let mut arguments = split_args(&element.config);
            let mut is_changed = false;
            for argument in &mut arguments {
                if let Some(value) = found.variables.get(argument) {
                    argument.clone_from(value);
                    is_changed = true;
                }
            }
            let config = if is_changed {
                join_args(&arguments)
            } else {
                element.config.clone()
            };
            let alike = rule
                .pattern
                .elements
                .iter()
                .position(|e| e.name == element.name);
            let kept = alike.and_then(|at| Some(old[at].as_ref()?.name.clone()));
            let name = kept.unwrap_or_else(|| format!("{prefix}/{}", element.name));
            places.push(work.settle(Declared {
                name,
                config,
                ..element.clone()
            }));
        }
        let mut held = held;
        held.sort_unstable();
        for at in held {
            work.vacate(at);
        }
        let outer = |end: Port| port(places[end.element], end.port);
        for c in &rule.replacement.connections {
            work.connect(outer(c.from), outer(c.to), &c.landmark);
        }
        for (outside, input) in &found.enters {
            for (_, end) in rule
                .replacement
                .enters
                .iter()
                .filter(|(own, _)| own == input)
            {
                work.connect(*outside, outer(*end), &landmark);
            }
            for (_, output) in rule
                .replacement
                .through
                .iter()
                .filter(|(own, _)| own == input)
            {
                for (_, beyond) in found.leaves.iter().filter(|(own, _)| own == output) {
                    work.connect(*outside, *beyond, &landmark);
                }
            }
        }
        for (output, outside) in &found.leaves {
            for (end, _) in rule
                .replacement
                .leaves
                .iter()
                .filter(|(_, own)| own == output)
            {
                work.connect(outer(*end), *outside, &landmark);
            }
        }
        for at in places {
            self.made_by.insert(at, number);
        }
    }

    /// `X@1`, or the next that no element's name begins with.
    fn unused_prefix(&mut self, name: &str) -> String {
        let count = self.counts.entry(name.to_owned()).or_insert(0);
        loop {
            *count += 1;
            let prefix = format!("{name}@{count}");
            let begins = |(_, element): (usize, &Declared)| {
                element
                    .name
                    .strip_prefix(&prefix)
                    .is_some_and(|rest| rest.starts_with('/'))
            };
            if !self.work.live().any(begins) {
                return prefix;
            }
        }
    }
}

fn held_place(prefix: &str, landmark: &crate::diagnostic::Landmark) -> Declared {
    Declared {
        name: prefix.to_owned(),
        class: String::new(),
        config: String::new(),
        landmark: landmark.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{Options, compounds, flatten, parse};

    fn with(patterns: &str, config: &str) -> String {
        let (patterns, said) = compounds(patterns, "patterns", &Options::default());
        assert!(!said.has_errors(), "{}", said.click());
        let (flat, said) = parse(config, "config", &Options::default());
        assert!(!said.has_errors(), "{}", said.click());
        let (flat, said) = rewrite(flat, &rules(&patterns));
        assert!(said.is_empty(), "{}", said.click());
        flatten::router(&flat)
    }

    const TWO: &str = "elementclass P { input -> A($x) -> B($x) -> output; }
        elementclass P_Replacement { input -> AB($x) -> output; }";

    #[test]
    fn a_chain_is_replaced_and_its_argument_kept() {
        assert_eq!(
            with(TWO, "s :: S -> A(7) -> B(7) -> d :: D;"),
            "s :: S;\nd :: D;\nP@1/AB@1 :: AB(7);\n\ns -> P@1/AB@1\n    -> d;\n"
        );
    }

    #[test]
    fn a_variable_is_one_value() {
        let out = with(TWO, "s :: S -> A(7) -> B(8) -> d :: D;");
        assert!(!out.contains("AB"), "{out}");
    }

    #[test]
    fn who_enters_in_the_middle_forbids() {
        let out = with(TWO, "s :: S -> A(7) -> b :: B(7) -> d :: D; T -> b;");
        assert!(!out.contains("AB"), "{out}");
    }

    #[test]
    fn an_unused_output_forbids() {
        let out = with(TWO, "s :: S -> A(7) -> B(7);");
        assert!(!out.contains("AB"), "{out}");
    }

    #[test]
    fn an_element_may_vanish() {
        let pattern = "elementclass N { input -> Null -> output; }
            elementclass N_Replacement { input -> output; }";
        assert_eq!(
            with(pattern, "s :: S -> Null -> Null -> d :: D;"),
            "s :: S;\nd :: D;\n\ns -> d;\n"
        );
    }

    #[test]
    fn a_name_in_both_is_kept() {
        let pattern = "elementclass Q { input -> q :: Queue -> u :: U -> output; }
            elementclass Q_Replacement { input -> q :: Fast -> output; }";
        let out = with(pattern, "S -> mine :: Queue -> U -> D;");
        assert!(out.contains("mine :: Fast;"), "{out}");
    }

    #[test]
    fn a_rule_does_not_match_what_it_made() {
        let pattern = "elementclass A1 { input -> A -> output; }
            elementclass A1_Replacement { input -> A -> A -> output; }";
        let out = with(pattern, "S -> A -> D;");
        assert_eq!(out.matches(":: A;").count(), 2, "{out}");
    }
}
