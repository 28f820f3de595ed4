//! Combines configurations of several routers into one, linked at their devices.
//!
//! A link `A.eth1=B.eth0` joins what A sends to `eth1` to what B receives from `eth0`: a
//! `RouterLink` stands for the devices and keeps their declarations in its configuration, so that
//! [`super::uncombine`] can put them back. Elements are named after their router: `A/q`.

use super::work::{Side, Work, made_by, port};
use crate::args::text::{join_args, split_args};
use crate::diagnostic::Diagnostics;
use crate::lang::{Connection, Declared, Flat, Port};

/// The class that stands for linked devices.
pub const LINK: &str = "RouterLink";

/// A router to be combined.
#[derive(Clone, Debug)]
pub struct Component {
    /// What its elements are named after.
    pub name: String,
    /// Its configuration.
    pub flat: Flat,
}

/// An element of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    router: usize,
    element: usize,
}

/// Combines `components` along `links`.
pub fn combine(components: &[Component], links: &[String]) -> (Flat, Diagnostics) {
    let mut said = Diagnostics::new();
    check_names(components, &mut said);
    let mut pairs = Vec::new();
    for link in links {
        pairs.extend(parse(link, components, &mut said));
    }
    for (at, (from, _)) in pairs.iter().enumerate() {
        let is_both = |other: &(End, End)| other.1 == *from;
        if pairs
            .iter()
            .enumerate()
            .any(|(i, other)| i != at && is_both(other))
        {
            let Component { name, flat } = &components[from.router];
            let element = &flat.elements[from.element].name;
            let text =
                format!("router '{name}' element '{element}' used as both source and destination");
            tell(&mut said, text);
        }
    }
    if said.has_errors() {
        return (Flat::default(), said);
    }
    if pairs.is_empty() {
        said.warning(None, "no links between routers");
    }
    let mut starts = Vec::new();
    let mut work = Work::from(side_by_side(components, &mut starts));
    for (number, (from, to)) in groups(&pairs).into_iter().enumerate() {
        join(&mut work, components, &starts, number + 1, &from, &to);
    }
    (work.finish(), said)
}

fn tell(said: &mut Diagnostics, text: String) {
    said.error(Some(&program()), text);
}

fn program() -> crate::diagnostic::Landmark {
    crate::diagnostic::Landmark {
        file: "click-combine".into(),
        line: 0,
        span: None,
    }
}

fn check_names(components: &[Component], said: &mut Diagnostics) {
    if components.is_empty() {
        tell(said, "no routers specified".to_owned());
    }
    for (at, Component { name, .. }) in components.iter().enumerate() {
        let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b"_/@".contains(&b);
        let is_number = name.bytes().all(|b| b.is_ascii_digit());
        let is_good = name.split('/').all(|part| !part.is_empty()) && name.bytes().all(is_allowed);
        if !is_good && !is_number {
            said.error(
                None,
                format!("router name '{name}' is not a legal Click identifier"),
            );
        }
        if components[..at].iter().any(|other| other.name == *name) {
            tell(said, format!("two routers named '{name}'"));
        }
    }
}

/// Reads `A.x=B.y`.
fn parse(text: &str, components: &[Component], said: &mut Diagnostics) -> Option<(End, End)> {
    let part = |text: &str| {
        let (router, element) = text.split_once('.')?;
        let (router, element) = (router.trim().to_owned(), element.trim().to_owned());
        let is_word = |word: &str| !word.is_empty() && !word.contains(['.', '=', ' ']);
        (is_word(&router) && is_word(&element)).then_some((router, element))
    };
    let both = text
        .split_once('=')
        .and_then(|(a, b)| Some([part(a)?, part(b)?]));
    let Some(both) = both else {
        tell(said, format!("bad link definition '{text}'"));
        return None;
    };
    let routers = both.each_ref().map(|(router, _)| {
        let found = components
            .iter()
            .position(|component| component.name == *router);
        if found.is_none() {
            tell(said, format!("no router named '{router}'"));
        }
        found
    });
    let [Some(first), Some(second)] = routers else {
        return None;
    };
    let mut ends = [first, second].into_iter().zip(&both).zip([TO, FROM]);
    let mut end =
        || {
            let ((router, (name, element)), classes) = ends.next()?;
            find(&components[router], element, classes, said)
            .map(|found| {
                let class = &components[router].flat.elements[found].class;
                if !classes.contains(&class.as_str()) {
                    let text = format!(
                        "router '{name}' element '{element}' has unexpected class\n  expected {}, \
                         got {class}",
                        classes.join(" or ")
                    );
                    said.warning(Some(&program()), text);
                }
                End { router, element: found }
            })
            .or_else(|| {
                let text = format!("router '{name}' has no element or device named '{element}'");
                tell(said, text);
                None
            })
        };
    let (from, to) = (end(), end());
    Some((from?, to?))
}

const TO: &[&str] = &["ToDevice"];
const FROM: &[&str] = &["FromDevice", "PollDevice"];

/// The element called `name`, or the only one of `classes` at the device of that name.
fn find(
    component: &Component,
    name: &str,
    classes: &[&str],
    said: &mut Diagnostics,
) -> Option<usize> {
    let elements = &component.flat.elements;
    if let Some(found) = elements.iter().position(|element| element.name == name) {
        return Some(found);
    }
    let is_at_device = |element: &Declared| {
        let device = split_args(&element.config).first().cloned();
        classes.contains(&element.class.as_str()) && device.as_deref() == Some(name)
    };
    let each = elements
        .iter()
        .enumerate()
        .filter(|(_, element)| is_at_device(element));
    let found: Vec<usize> = each.map(|(at, _)| at).collect();
    if found.len() > 1 {
        let either: Vec<String> = classes
            .iter()
            .map(|class| format!("'{class}({name})'"))
            .collect();
        let text = format!(
            "more than one {} element in router '{}'",
            either.join(" or "),
            component.name
        );
        tell(said, text);
        return None;
    }
    found.first().copied()
}

/// Pairs that share an end, together: all that send, all that receive.
fn groups(pairs: &[(End, End)]) -> Vec<(Vec<End>, Vec<End>)> {
    let mut groups: Vec<(Vec<End>, Vec<End>)> = Vec::new();
    for (from, to) in pairs {
        let (mut senders, mut receivers) = (vec![*from], vec![*to]);
        let (touched, rest): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|(senders, receivers)| senders.contains(from) || receivers.contains(to));
        groups = rest;
        for (more_senders, more_receivers) in touched.into_iter().rev() {
            senders.splice(0..0, more_senders);
            receivers.splice(0..0, more_receivers);
        }
        for ends in [&mut senders, &mut receivers] {
            let mut seen = Vec::new();
            ends.retain(|end| {
                !seen.contains(end) && {
                    seen.push(*end);
                    true
                }
            });
        }
        groups.push((senders, receivers));
    }
    groups
}

/// All components in one graph; `starts` gets the place of the first element of each.
fn side_by_side(components: &[Component], starts: &mut Vec<usize>) -> Flat {
    let mut all = Flat::default();
    for Component { name, flat } in components {
        let start = all.elements.len();
        starts.push(start);
        let renamed = flat.elements.iter().cloned().map(|mut element| {
            element.name = format!("{name}/{}", element.name);
            if element.class == LINK {
                element.config = renest(&element.config, name);
            }
            element
        });
        all.elements.extend(renamed);
        let moved = |end: Port| port(end.element + start, end.port);
        let connections = flat.connections.iter().map(|c| Connection {
            from: moved(c.from),
            to: moved(c.to),
            landmark: c.landmark.clone(),
        });
        all.connections.extend(connections);
        for requirement in &flat.requirements {
            if !all.requirements.contains(requirement) {
                all.requirements.push(requirement.clone());
            }
        }
    }
    all
}

/// The configuration of a link of a component that is itself a combination.
fn renest(config: &str, router: &str) -> String {
    let mut words = split_args(config);
    for word in words.iter_mut().step_by(2) {
        *word = format!("{router}/{word}");
    }
    join_args(&words)
}

/// Puts one link in the place of the devices.
fn join(
    work: &mut Work,
    components: &[Component],
    starts: &[usize],
    number: usize,
    from: &[End],
    to: &[End],
) {
    let ends = || from.iter().chain(to);
    let mut words = Vec::new();
    for End { router, element } in ends() {
        let Component { name, flat } = &components[*router];
        let element = &flat.elements[*element];
        words.push(format!("{name} {} {}", element.name, element.class));
        words.push(element.config.clone());
    }
    let link = work.settle(Declared {
        name: format!("link{number}"),
        class: LINK.to_owned(),
        config: join_args(&words),
        landmark: made_by("click-combine"),
    });
    let place = |end: &End| starts[end.router] + end.element;
    for (number, end) in from.iter().enumerate() {
        work.redirect(Side::Input, port(place(end), 0), port(link, number));
        work.vacate(place(end));
    }
    for (number, end) in to.iter().enumerate() {
        work.redirect(Side::Output, port(place(end), 0), port(link, number));
        work.vacate(place(end));
    }
}

#[cfg(test)]
mod tests {
    use super::super::uncombine::uncombine;
    use super::*;
    use crate::lang::{Options, flatten, parse};

    pub(super) fn component(name: &str, text: &str) -> Component {
        let (flat, said) = parse(text, "config", &Options::default());
        assert!(!said.has_errors(), "{}", said.click());
        Component {
            name: name.to_owned(),
            flat,
        }
    }

    #[test]
    fn devices_are_linked_and_come_back() {
        let a = component("A", "x :: Source -> ToDevice(eth1);");
        let b = component("B", "f :: FromDevice(eth0) -> y :: Sink;");
        let (flat, said) = combine(&[a, b], &["A.eth1=B.eth0".to_owned()]);
        assert!(said.is_empty(), "{}", said.click());
        let text = flatten::router(&flat);
        assert!(
            text.contains(
                "link1 :: RouterLink(A ToDevice@2 ToDevice, eth1, B f FromDevice, eth0);"
            ),
            "{text}"
        );
        assert!(text.contains("A/x -> link1\n    -> B/y;"), "{text}");
        let (only, said) = uncombine(flat, "B");
        assert!(said.is_empty(), "{}", said.click());
        assert_eq!(
            flatten::router(&only),
            "y :: Sink;\nf :: FromDevice(eth0);\n\nf -> y;\n"
        );
    }

    #[test]
    fn what_is_not_there_is_told() {
        let a = component("A", "x :: Source -> ToDevice(eth1);");
        let (_, said) = combine(&[a], &["A.eth1=B.eth0".to_owned(), "A".to_owned()]);
        assert_eq!(
            said.click(),
            "click-combine: no router named 'B'\nclick-combine: bad link definition 'A'\n"
        );
    }

    #[test]
    fn links_that_share_an_end_are_one() {
        let a = component("A", "x :: Source -> o :: ToDevice(e);");
        let b = component("B", "f :: FromDevice(e) -> Sink;");
        let c = component("C", "f :: FromDevice(e) -> Sink;");
        let links = ["A.o=B.f".to_owned(), "A.o=C.f".to_owned()];
        let text = flatten::router(&combine(&[a, b, c], &links).0);
        assert_eq!(text.matches("RouterLink").count(), 1, "{text}");
        assert!(text.contains("link1 [1] -> C/Sink@2"), "{text}");
    }
}
