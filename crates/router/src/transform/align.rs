//! Adds the `Align`s that a configuration needs where the machine cannot read unaligned words.
//!
//! A table says for each class how packets' data lie behind it and what it asks of those that come.
//! What there is spreads along packets, what is asked spreads against them; where the one does not
//! imply the other an `Align` is put before the input. `Align`s that change nothing are taken out,
//! and an `AlignmentInfo` tells elements that read words how their packets lie.

use super::alignment::Alignment;
use super::facts;
use super::work::{Side, Work, made_by, port};
use crate::args::numbers::{parse_bool, parse_uint};
use crate::args::text::{split_args, split_words};
use crate::diagnostic::Diagnostics;
use crate::graph::flow::FlowCode;
use crate::lang::conf::split_keyword;
use crate::lang::{Declared, Flat, Port};

/// How data lie behind an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gives {
    /// As before it, along its flow.
    Same,
    /// So many bytes further on.
    Shifted(i64),
    /// Always so.
    Fixed(Alignment),
    /// On output 0 as input 0 but for a new header of so many bytes; on others always so.
    Header(i64, Alignment),
}

/// What an element asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    /// What those behind it ask, along its flow.
    Same,
    /// The same, so many bytes back.
    Shifted(i64),
    /// Always so.
    Fixed(Alignment),
    /// On input 0 what output 0 asks less a header of so many bytes; on others always so.
    Header(i64, Alignment),
    /// Nothing.
    Nothing,
}

/// What a class does to alignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Effect {
    gives: Gives,
    asks: Asks,
    /// It reads words wherever they begin, as long as it knows where: the least modulus.
    knows: u32,
}

/// Where the numbers of a row come from.
enum Rule {
    /// The same for all of the class.
    Always(Effect),
    /// The first argument is how many bytes are taken (1) or put back (-1).
    Length(i64),
    /// `Align`: modulus and offset.
    Made,
    /// A header at `OFFSET` shall be at a multiple of four.
    HeaderAt,
    /// A device, at its `ALIGNMENT`, or by `TYPE`: what comes from it, or what goes to it.
    Device(Side),
    /// Makes IP packets, unless `ETHER`.
    IpError,
}

const ETHERNET: Alignment = Alignment::At {
    modulus: 4,
    offset: 2,
};
const WORD: Alignment = Alignment::At {
    modulus: 4,
    offset: 0,
};
const HALF: Alignment = Alignment::At {
    modulus: 2,
    offset: 0,
};

const SAME: Effect = Effect {
    gives: Gives::Same,
    asks: Asks::Same,
    knows: 0,
};

const fn always(gives: Gives, asks: Asks) -> Rule {
    Rule::Always(Effect {
        gives,
        asks,
        knows: 0,
    })
}

const fn asks(what: Alignment) -> Rule {
    always(Gives::Same, Asks::Fixed(what))
}

const fn makes(what: Alignment) -> Rule {
    always(Gives::Fixed(what), Asks::Nothing)
}

/// Sorted by class.
const TABLE: &[(&str, Rule)] = &[
    (
        "ARPQuerier",
        always(Gives::Header(14, ETHERNET), Asks::Header(14, HALF)),
    ),
    ("ARPResponder", asks(HALF)),
    ("Align", Rule::Made),
    ("CheckIPHeader", Rule::HeaderAt),
    ("CheckIPHeader2", Rule::HeaderAt),
    ("CheckSRHeader", makes(ETHERNET)),
    (
        "Classifier",
        Rule::Always(Effect {
            gives: Gives::Same,
            asks: Asks::Same,
            knows: 4,
        }),
    ),
    ("Discard", always(Gives::Same, Asks::Same)),
    (
        "EtherEncap",
        always(Gives::Shifted(-14), Asks::Shifted(-14)),
    ),
    ("FromDevice", Rule::Device(Side::Output)),
    ("FromHost", Rule::Device(Side::Output)),
    ("GridEncap", always(Gives::Shifted(98), Asks::Fixed(WORD))),
    ("ICMPError", Rule::IpError),
    ("ICMPPingEncap", asks(WORD)),
    ("IPEncap", asks(WORD)),
    (
        "IPInputCombo",
        always(Gives::Shifted(14), Asks::Fixed(ETHERNET)),
    ),
    ("Idle", makes(Alignment::Any)),
    ("InfiniteSource", makes(WORD)),
    ("MarkIPHeader", Rule::HeaderAt),
    ("PollDevice", Rule::Device(Side::Output)),
    ("RandomUDPIPEncap", asks(WORD)),
    ("RatedSource", makes(WORD)),
    ("RoundRobinTCPIPEncap", asks(WORD)),
    ("RoundRobinUDPIPEncap", asks(WORD)),
    ("SR2CheckHeader", makes(ETHERNET)),
    ("SR2SetChecksum", makes(ETHERNET)),
    ("SetSRChecksum", makes(ETHERNET)),
    ("StoreUDPTimeSeqRecord", asks(WORD)),
    ("Strip", Rule::Length(1)),
    ("ToHost", Rule::Device(Side::Input)),
    ("UDPIPEncap", asks(WORD)),
    ("Unstrip", Rule::Length(-1)),
];

fn effect(element: &Declared) -> Effect {
    let Ok(at) = TABLE.binary_search_by(|row| row.0.cmp(&element.class)) else {
        return SAME;
    };
    let arguments = split_args(&element.config);
    let number = |text: &str| parse_uint(text, u64::from(u16::MAX)).ok();
    let keyword = |wanted: &str| {
        let mut all = arguments
            .iter()
            .filter_map(|argument| split_keyword(argument));
        all.find(|(word, _)| *word == wanted).map(|found| found.1)
    };
    let signed = |value: u64| i64::try_from(value).unwrap_or(0);
    match &TABLE[at].1 {
        Rule::Always(effect) => *effect,
        Rule::Length(sign) => {
            let length = keyword("LENGTH").or(arguments.first().map(String::as_str));
            length.and_then(number).map_or(SAME, |length| {
                let shift = sign * signed(length);
                Effect {
                    gives: Gives::Shifted(shift),
                    asks: Asks::Shifted(shift),
                    knows: 0,
                }
            })
        }
        Rule::Made => made(element).map_or(SAME, |made| Effect {
            gives: Gives::Fixed(made),
            asks: Asks::Nothing,
            knows: 0,
        }),
        Rule::HeaderAt => {
            // Click's older form has a list of bad sources before the offset.
            let placed = || {
                arguments
                    .iter()
                    .take(2)
                    .find_map(|argument| number(argument))
            };
            let offset = keyword("OFFSET").and_then(number).or_else(placed);
            let asked = WORD.shifted(-signed(offset.unwrap_or(0)));
            Effect {
                gives: Gives::Same,
                asks: Asks::Fixed(asked),
                knows: 0,
            }
        }
        Rule::Device(side) => {
            let given = keyword("ALIGNMENT").map(|text| pair(&split_words(text)));
            let at = match (given, keyword("TYPE")) {
                (Some(None), _) => return SAME,
                (Some(Some(given)), _) => given,
                (None, Some("IP")) => WORD,
                (None, _) => ETHERNET,
            };
            match side {
                Side::Output => Effect {
                    gives: Gives::Fixed(at),
                    asks: Asks::Nothing,
                    knows: 0,
                },
                Side::Input => Effect {
                    gives: Gives::Same,
                    asks: Asks::Fixed(at),
                    knows: 0,
                },
            }
        }
        Rule::IpError => match keyword("ETHER").map(parse_bool) {
            Some(Ok(true)) => SAME,
            _ => Effect {
                gives: Gives::Fixed(WORD),
                asks: Asks::Nothing,
                knows: 0,
            },
        },
    }
}

fn pair(words: &[String]) -> Option<Alignment> {
    let [modulus, offset] = words else {
        return None;
    };
    let modulus = parse_uint(modulus, 1 << 16).ok().filter(|m| *m > 0)?;
    let offset = parse_uint(offset, 1 << 16).ok()?;
    Some(Alignment::new(
        u32::try_from(modulus).ok()?,
        i64::try_from(offset).ok()?,
    ))
}

/// The alignment that an `Align` makes.
fn made(element: &Declared) -> Option<Alignment> {
    pair(&split_args(&element.config))
}

/// An alignment for each port of each element.
struct Alignments {
    inputs: Vec<Vec<Alignment>>,
    outputs: Vec<Vec<Alignment>>,
}

/// What surrounds the walk: for each element what it does, and its flow.
struct View<'a> {
    work: &'a Work,
    effects: Vec<Effect>,
    flows: Vec<FlowCode>,
}

impl View<'_> {
    fn of(work: &Work) -> View<'_> {
        let of = |at: usize| work.elements[at].as_ref();
        let each = || 0..work.elements.len();
        let flow = |at| of(at).map_or("x/y", |element| facts::flow(&element.class));
        View {
            work,
            effects: each().map(|at| of(at).map_or(SAME, effect)).collect(),
            flows: each().map(|at| FlowCode::parse(flow(at))).collect(),
        }
    }

    fn empty(&self) -> Alignments {
        let side = |side| {
            let count = |at| vec![Alignment::Unknown; self.work.count(side, at)];
            (0..self.work.elements.len()).map(count).collect()
        };
        Alignments {
            inputs: side(Side::Input),
            outputs: side(Side::Output),
        }
    }

    /// How data lie at each port. Each round follows packets one element further; sets only grow,
    /// and there are few of them on the way, so that the number of elements bounds the rounds well.
    fn have(&self) -> Alignments {
        let mut have = self.empty();
        for _ in 0..ROUNDS + self.work.elements.len() {
            for (at, effect) in self.effects.iter().enumerate() {
                let inputs = &have.inputs[at];
                let along = |output: usize| {
                    let passing = inputs.iter().enumerate();
                    let passing = passing.filter(|(i, _)| self.flows[at].passes(*i, output));
                    passing.fold(Alignment::Unknown, |all, (_, a)| all.join(*a))
                };
                let all = inputs
                    .iter()
                    .fold(Alignment::Unknown, |all, a| all.join(*a));
                let count = have.outputs[at].len();
                let outputs = (0..count).map(|output| match effect.gives {
                    Gives::Same => along(output),
                    Gives::Shifted(bytes) => all.shifted(bytes),
                    Gives::Fixed(fixed) => fixed,
                    Gives::Header(bytes, fixed) => match (output, inputs.first()) {
                        (0, Some(first)) => first.shifted(-bytes),
                        (0, None) => Alignment::Unknown,
                        _ => fixed,
                    },
                });
                have.outputs[at] = outputs.collect();
            }
            let mut inputs = self.empty().inputs;
            for c in &self.work.connections {
                let to = &mut inputs[c.to.element][c.to.port];
                *to = to.join(have.outputs[c.from.element][c.from.port]);
            }
            if inputs == have.inputs {
                break;
            }
            have.inputs = inputs;
        }
        have
    }

    /// What is asked at each input; `far` follows it against packets, else it is what the elements
    /// themselves ask.
    fn want(&self, far: bool) -> Alignments {
        let mut want = self.empty();
        for _ in 0..ROUNDS + self.work.elements.len() {
            for (at, effect) in self.effects.iter().enumerate() {
                let outputs = &want.outputs[at];
                let along = |input: usize| {
                    let passing = outputs.iter().enumerate();
                    let passing = passing.filter(|(o, _)| self.flows[at].passes(input, *o));
                    passing.fold(Alignment::Unknown, |all, (_, a)| all.meet(*a))
                };
                let all = outputs
                    .iter()
                    .fold(Alignment::Unknown, |all, a| all.meet(*a));
                let count = want.inputs[at].len();
                let inputs = (0..count).map(|input| match effect.asks {
                    Asks::Same => along(input),
                    Asks::Shifted(bytes) => all.shifted(-bytes),
                    Asks::Fixed(fixed) => fixed,
                    Asks::Header(bytes, fixed) => match (input, outputs.first()) {
                        (0, Some(first)) => first.shifted(bytes),
                        _ => fixed,
                    },
                    Asks::Nothing => Alignment::Unknown,
                });
                want.inputs[at] = inputs.collect();
            }
            let mut outputs = self.empty().outputs;
            for c in &self.work.connections {
                let from = &mut outputs[c.from.element][c.from.port];
                *from = from.meet(want.inputs[c.to.element][c.to.port]);
            }
            if outputs == want.outputs || !far {
                break;
            }
            want.outputs = outputs;
        }
        want
    }
}

/// Rounds beyond the number of elements: a cycle that shifts packets goes round until nothing is
/// known.
const ROUNDS: usize = 64;

/// Numbers what is added.
struct Namer {
    next: usize,
}

impl Namer {
    fn element(&mut self, class: &str, config: String) -> Declared {
        let number = self.next;
        self.next += 1;
        Declared {
            name: format!("{class}@click_align@{number}"),
            class: class.to_owned(),
            config,
            landmark: made_by("click-align"),
        }
    }
}

/// Puts an element before an input.
fn insert_before(work: &mut Work, element: Declared, input: Port) {
    let landmark = element.landmark.clone();
    let at = work.add(element);
    work.redirect(Side::Input, input, port(at, 0));
    work.connect(port(at, 0), input, &landmark);
}

fn numbered(flat: Flat) -> (Work, Namer) {
    let work = Work::from(flat);
    let mut next = work.elements.len() + 1;
    while work.find(&format!("Align@click_align@{next}")).is_some() {
        next += 1;
    }
    (work, Namer { next })
}

/// Puts a `CheckAlign` before each input that asks for an alignment.
pub fn assertions(flat: Flat) -> Flat {
    let (mut work, mut namer) = numbered(flat);
    let want = View::of(&work).want(false);
    for (at, inputs) in want.inputs.iter().enumerate() {
        for (number, asked) in inputs.iter().enumerate() {
            let (modulus, offset) = asked.numbers();
            if modulus > 1 {
                let config = format!("{modulus}, {offset}, ASSERT true");
                let check = namer.element("CheckAlign", config);
                insert_before(&mut work, check, port(at, number));
            }
        }
    }
    work.finish()
}

/// Adds the `Align`s that are needed, takes out those that are not, and tells how packets lie.
pub fn align(flat: Flat) -> (Flat, Diagnostics) {
    let (mut work, mut namer) = numbered(flat);
    let original = work.elements.len();
    let mut lacks = |work: &mut Work, have: &Alignments, want: &[Vec<Alignment>]| {
        for (at, wanted) in want.iter().enumerate().take(original) {
            for (number, wanted) in wanted.iter().enumerate() {
                let is_enough = have.inputs[at][number].implies(*wanted);
                if is_enough || *wanted == Alignment::Impossible {
                    continue;
                }
                let (modulus, offset) = wanted.numbers();
                let element = namer.element("Align", format!("{modulus}, {offset}"));
                insert_before(work, element, port(at, number));
            }
        }
    };
    let (have, want) = (View::of(&work).have(), View::of(&work).want(true));
    lacks(&mut work, &have, &want.inputs);
    join_pairs(&mut work);
    work.prune();
    let view = View::of(&work);
    let have = view.have();
    let known: Vec<Vec<Alignment>> = (0..original)
        .map(|at| {
            let inputs = &have.inputs[at];
            let known = view.effects[at].knows;
            let common = inputs
                .iter()
                .fold(Alignment::Unknown, |all, a| all.join(*a));
            let (modulus, offset) = common.numbers();
            let wanted = if known > 0 && modulus >= 0 && modulus < i64::from(known) {
                Some(Alignment::new(known, i64::from(offset)))
            } else {
                (known > 0).then_some(common)
            };
            inputs.iter().map(|have| wanted.unwrap_or(*have)).collect()
        })
        .collect();
    lacks(&mut work, &have, &known);
    // Each turn takes out a connection to an `Align`; a circle of them could go on.
    for _ in 0..=work.connections.len() {
        if !skip_needless(&mut work) {
            break;
        }
    }
    remove_unused(&mut work);
    inform(&mut work, &mut namer);
    let mut said = Diagnostics::new();
    let added = work
        .of_class("Align")
        .into_iter()
        .filter(|at| *at >= original);
    match added.count() {
        0 => {}
        1 => said.warning(None, "added 1 Align element"),
        count => said.warning(None, format!("added {count} Align elements")),
    }
    (work.finish(), said)
}

/// Of an `Align` directly before another that undoes it, leaves the second.
fn join_pairs(work: &mut Work) {
    for at in 0..work.connections.len() {
        let Some(connection) = work.connections.get(at) else {
            return;
        };
        let (from, to) = (connection.from, connection.to);
        let both = [from, to].map(|end| work.elements[end.element].as_ref());
        let [Some(first), Some(second)] = both else {
            continue;
        };
        if first.class != "Align" || second.class != "Align" || from.port != 0 || to.port != 0 {
            continue;
        }
        let is_kept = match (made(first), made(second)) {
            (Some(first), Some(second)) => first.implies(second),
            _ => true,
        };
        if is_kept {
            continue;
        }
        let before = work.at(Side::Input, port(from.element, 0));
        let after = work.at(Side::Output, from);
        if let ([only], 1) = (before.as_slice(), work.at(Side::Input, to).len()) {
            work.connections[at].from = work.connections[*only].from;
        } else if after.len() == 1 {
            work.redirect(Side::Input, port(from.element, 0), to);
            work.connections[at].to = port(from.element, 0);
            work.connections.remove(at);
        }
    }
}

/// Leads packets past an `Align` that changes nothing for them; says whether there was one.
fn skip_needless(work: &mut Work) -> bool {
    let have = View::of(work).have();
    let mut skipped = Vec::new();
    for (at, connection) in work.connections.iter().enumerate() {
        let (from, to) = (connection.from, connection.to);
        if !work.is_class(to.element, "Align") {
            continue;
        }
        let Some(made) = have.outputs[to.element].first() else {
            continue;
        };
        if have.outputs[from.element][from.port].implies(*made) {
            skipped.push(at);
        }
    }
    for at in &skipped {
        let (from, to) = (work.connections[*at].from, work.connections[*at].to);
        // The latest first, as Click has it.
        for next in work.at(Side::Output, to).into_iter().rev() {
            let next = work.connections[next].clone();
            if next.to != to {
                work.connect(from, next.to, &next.landmark);
            }
        }
    }
    let mut at = 0;
    work.connections.retain(|_| {
        at += 1;
        !skipped.contains(&(at - 1))
    });
    work.prune();
    !skipped.is_empty()
}

fn remove_unused(work: &mut Work) {
    for at in work.of_class("AlignmentInfo") {
        work.remove(at);
    }
    loop {
        let unused = work
            .of_class("Align")
            .into_iter()
            .find(|at| work.count(Side::Input, *at) == 0 || work.count(Side::Output, *at) == 0);
        let Some(at) = unused else {
            return;
        };
        work.remove(at);
        work.prune();
    }
}

/// Adds an `AlignmentInfo` for the elements that ask for one.
fn inform(work: &mut Work, namer: &mut Namer) {
    let have = View::of(work).have();
    let told: Vec<String> = work
        .live()
        .filter(|(at, element)| {
            facts::wants_alignment(&element.class) && !have.inputs[*at].is_empty()
        })
        .map(|(at, element)| {
            // Where no packet comes, any address is as good as another.
            let free = |alignment: &Alignment| match alignment {
                Alignment::Any => (1, 0),
                other => other.numbers(),
            };
            let each = have.inputs[at].iter().map(free);
            let numbers = each.map(|(modulus, offset)| format!("  {modulus} {offset}"));
            element.name.clone() + &numbers.collect::<String>()
        })
        .collect();
    if !told.is_empty() {
        let info = namer.element("AlignmentInfo", told.join(",\n  "));
        work.add(info);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::{Options, flatten, parse};

    fn parsed(text: &str) -> Flat {
        let (flat, said) = parse(text, "config", &Options::default());
        assert!(!said.has_errors(), "{}", said.click());
        flat
    }

    fn of(text: &str) -> String {
        flatten::router(&align(parsed(text)).0)
    }

    #[test]
    fn the_table_is_sorted() {
        assert!(TABLE.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn a_source_of_words_is_moved_for_an_ethernet_header() {
        let out =
            of("s :: InfiniteSource -> t :: Strip(14) -> c :: CheckIPHeader -> d :: Discard;");
        assert!(out.contains(":: Align(4, 2);"), "{out}");
        assert!(out.contains("AlignmentInfo(c  4 0);"), "{out}");
    }

    #[test]
    fn what_is_aligned_stays_as_it_is() {
        let out =
            of("f :: FromDevice(eth0) -> t :: Strip(14) -> c :: CheckIPHeader -> d :: Discard;");
        assert!(!out.contains("Align("), "{out}");
    }

    #[test]
    fn a_second_align_that_asks_less_goes() {
        let out = of("x :: X -> a :: Align(8, 4) -> b :: Align(4, 0) -> y :: Y;");
        assert!(
            out.contains("a :: Align(8, 4)") && !out.contains("b ::"),
            "{out}"
        );
    }

    #[test]
    fn a_loop_that_shifts_ends() {
        let out = of(
            "s :: InfiniteSource -> t :: Strip(1) -> c :: Classifier(a, -) -> t; c [1] -> Discard;",
        );
        assert!(out.contains("AlignmentInfo"), "{out}");
    }

    #[test]
    fn assertions_check_what_elements_ask() {
        let out = flatten::router(&assertions(parsed(
            "x :: X -> c :: CheckIPHeader(14) -> y :: Y;",
        )));
        assert!(out.contains("CheckAlign(4, 2, ASSERT true)"), "{out}");
    }
}
