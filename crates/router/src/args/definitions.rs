//! Names that a configuration defines, by `AddressInfo` and `PortInfo`, and as one element sees
//! them.

use super::addresses::{parse_ether, parse_ip, parse_ip_prefix, parse_ip6, parse_ip6_prefix};
use super::machine_names::Machine;
use super::names::{Named, Names, Space, TCP, UDP, parse_protocol};
use super::numbers::int_prefix;
use super::text::split_words;
use crate::args::element_names::ElementNames;
use std::collections::{BTreeMap, BTreeSet};

/// Names defined in a configuration, by the compound they are defined in.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    all: BTreeMap<(Space, String), BTreeMap<String, Named>>,
    claimed: BTreeSet<String>,
    machine: Machine,
}

impl Definitions {
    /// None, on this machine.
    pub fn of(machine: Machine) -> Definitions {
        Definitions {
            machine,
            ..Definitions::default()
        }
    }

    /// Asks the machine anew: its addresses may have changed.
    pub fn ask_anew(&mut self, machine: Machine) {
        self.machine = machine;
    }

    /// Takes `what`, of which a router has one only; `false` where another element has it.
    pub fn claim(&mut self, what: &str) -> bool {
        self.claimed.insert(what.to_owned())
    }

    /// Defines `name` for elements in the compound of `element`, anew where it is defined there.
    pub fn define(&mut self, element: &str, space: Space, name: &str, value: Named) {
        let scope = self
            .all
            .entry((space, compound(element).to_string()))
            .or_default();
        scope.insert(name.to_string(), value);
    }

    /// The names as `element` sees them; `elements` are the names of all elements.
    pub fn within<'a>(&'a self, element: &'a str, elements: &'a ElementNames) -> Within<'a> {
        Within {
            definitions: self,
            scope: compound(element),
            elements,
        }
    }
}

/// The compound of an element called `name`: empty, or with a slash at its end.
fn compound(name: &str) -> &str {
    name.rfind('/').map_or("", |slash| &name[..=slash])
}

/// The compounds from `scope` outwards, the empty one last.
fn outwards(scope: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(scope), |inner| {
        (!inner.is_empty()).then(|| compound(inner.trim_end_matches('/')))
    })
}

/// Names as one element sees them.
#[derive(Clone, Copy, Debug)]
pub struct Within<'a> {
    definitions: &'a Definitions,
    scope: &'a str,
    elements: &'a ElementNames,
}

impl Names for Within<'_> {
    fn find(&self, space: Space, name: &str) -> Option<Named> {
        outwards(self.scope)
            .find_map(|scope| {
                let scope = self.definitions.all.get(&(space, scope.to_string()))?;
                scope.get(name).copied()
            })
            .or_else(|| self.definitions.machine.find(space, name))
    }

    fn is_interface(&self, name: &str) -> bool {
        self.definitions.machine.has_interface(name)
    }

    fn element(&self, name: &str) -> Option<usize> {
        outwards(self.scope).find_map(|scope| self.elements.find(&format!("{scope}{name}")))
    }
}

/// What an argument of `AddressInfo` defines: a name, then addresses and prefixes of any kind.
///
/// A prefix with further bits is an address too, unless one was given before.
pub(crate) fn address_info(
    argument: &str,
    names: &dyn Names,
) -> Result<Vec<(Space, String, Named)>, Vec<String>> {
    let words = split_words(argument);
    let Some((name, parts)) = words.split_first() else {
        return Ok(Vec::new());
    };
    if parts.is_empty() {
        return Err(vec!["expected 'NAME [ADDRS]'".into()]);
    }
    let mut defined: Vec<(Space, String, Named)> = Vec::new();
    let mut errors = Vec::new();
    for part in parts {
        let mut found = Vec::new();
        if let Ok(address) = parse_ether(part, names) {
            found.push((Space::Ether, Named::Ether(address)));
        }
        if let Ok(address) = parse_ip(part, names) {
            found.push((Space::Ip, Named::Ip(address)));
        } else if let Ok(prefix) = parse_ip_prefix(part, false, names) {
            found.push((Space::IpPrefix, Named::Prefix(prefix)));
            if prefix.network() != prefix.address {
                found.push((Space::Ip, Named::Ip(prefix.address)));
            }
        }
        if let Ok(address) = parse_ip6(part, names) {
            found.push((Space::Ip6, Named::Ip6(address)));
        } else if let Ok(prefix) = parse_ip6_prefix(part, false, names) {
            found.push((Space::Ip6Prefix, Named::Prefix6(prefix)));
            if prefix.address.to_bits() & !prefix.mask().to_bits() != 0 {
                found.push((Space::Ip6, Named::Ip6(prefix.address)));
            }
        }
        if found.is_empty() {
            errors.push(format!("'{part}' is not a recognizable address"));
        }
        let sure = found.len() == 1;
        let before = defined.len();
        for (space, value) in found {
            if sure || !defined[..before].iter().any(|(other, ..)| *other == space) {
                defined.push((space, name.clone(), value));
            }
        }
    }
    if errors.is_empty() {
        Ok(defined)
    } else {
        Err(errors)
    }
}

/// What an argument of `PortInfo` defines: a line as in a table of services,
/// `NAME PORT[/PROTOCOL] [NAMES]`.
pub(crate) fn port_info(
    argument: &str,
    names: &dyn Names,
) -> Result<Vec<(Space, String, Named)>, Vec<String>> {
    let words = split_words(argument);
    let Some(name) = words.first().filter(|name| !name.starts_with('#')) else {
        return Ok(Vec::new());
    };
    let wrong = || vec!["expected 'NAME PORT/PROTO'".to_string()];
    let port = words.get(1).ok_or_else(wrong)?;
    let (number, end) = int_prefix(port, 0, false).ok_or_else(wrong)?;
    let number = Named::Number(u32::try_from(number).map_err(|_| wrong())?);
    let protocols = match port[end..].strip_prefix('/') {
        None if end == port.len() => vec![TCP, UDP],
        None => return Err(wrong()),
        // A protocol that has no name has no ports that could be asked for.
        Some(protocol) => match parse_protocol(protocol, names) {
            Ok(256) => vec![TCP, UDP],
            Ok(protocol) => u8::try_from(protocol).into_iter().collect(),
            Err(_) => Vec::new(),
        },
    };
    let aliases = words[2..]
        .iter()
        .take_while(|alias| !alias.starts_with('#'));
    let all = std::iter::once(name).chain(aliases);
    let each = |name: &String| {
        let name = name.clone();
        protocols
            .iter()
            .map(move |p| (Space::Port(*p), name.clone(), number))
            .collect::<Vec<_>>()
    };
    Ok(all.flat_map(each).collect())
}

#[cfg(test)]
mod tests {
    use super::super::names::{BuiltIn, parse_port};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn inner_definitions_hide_outer_ones() {
        let mut book = Definitions::default();
        book.define("x", Space::Port(6), "svc", Named::Number(1));
        book.define("a/b/x", Space::Port(6), "svc", Named::Number(2));
        let port =
            |element: &str| parse_port("svc", 6, &book.within(element, &ElementNames::default()));
        assert_eq!(port("top"), Ok(1));
        assert_eq!(port("a/y"), Ok(1));
        assert_eq!(port("a/b/c/y"), Ok(2));
    }

    #[test]
    fn elements_are_looked_for_from_inside_outwards() {
        let elements = ["q", "a/q", "a/b/r"].map(String::from);
        let elements = ElementNames::new(elements.to_vec());
        let book = Definitions::default();
        let find = |from: &str, name| book.within(from, &elements).element(name);
        assert_eq!(find("a/b/x", "q"), Some(1));
        assert_eq!(find("a/b/x", "r"), Some(2));
        assert_eq!(find("a/b/x", "a/q"), Some(1));
        assert_eq!(find("x", "r"), None);
    }

    #[test]
    fn services_have_aliases_and_protocols() {
        let all = port_info("svc 0x50/udp other # not this", &BuiltIn).unwrap();
        let n = Named::Number(80);
        assert_eq!(
            all,
            [
                (Space::Port(17), "svc".into(), n),
                (Space::Port(17), "other".into(), n)
            ]
        );
        assert_eq!(port_info("svc 7", &BuiltIn).unwrap().len(), 2);
        assert_eq!(
            port_info("svc x", &BuiltIn),
            Err(vec!["expected 'NAME PORT/PROTO'".into()])
        );
        assert_eq!(port_info("# svc", &BuiltIn), Ok(vec![]));
    }

    #[test]
    fn what_is_no_address_is_told() {
        let wrong = address_info("x 10.0.0.1 what 300.1.1.1", &BuiltIn).unwrap_err();
        assert_eq!(
            wrong,
            [
                "'what' is not a recognizable address",
                "'300.1.1.1' is not a recognizable address"
            ]
        );
        assert_eq!(
            address_info("x", &BuiltIn),
            Err(vec!["expected 'NAME [ADDRS]'".into()])
        );
        // The address given alone stays, whatever prefix comes after it.
        let all = address_info("x 10.0.0.9 10.0.0.1/8", &BuiltIn).unwrap();
        assert_eq!(
            all.iter().filter(|(space, ..)| *space == Space::Ip).count(),
            1
        );
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[a-z0-9/:. #]{0,30}|\\PC{0,12}") {
            let _ = (address_info(&text, &BuiltIn), port_info(&text, &BuiltIn));
        }
    }
}
