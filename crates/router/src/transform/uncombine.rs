//! Takes one router out of a combination that [`super::combine`] made.

use super::combine::LINK;
use super::work::{Side, Work, made_by, port};
use crate::args::text::{join_args, split_args, split_words};
use crate::diagnostic::Diagnostics;
use crate::lang::{Declared, Flat};

/// Gives the router called `component` with the devices that links had replaced.
pub fn uncombine(flat: Flat, component: &str) -> (Flat, Diagnostics) {
    let mut said = Diagnostics::new();
    let mut work = Work::from(flat);
    let prefix = format!("{component}/");
    let ends = open_links(&mut work, component, &mut said);
    let mut lives: Vec<bool> = (0..work.elements.len())
        .map(|at| {
            let name = work.elements[at]
                .as_ref()
                .map(|element| element.name.as_str());
            name.is_some_and(|name| name.starts_with(&prefix)) || ends.contains(&at)
        })
        .collect();
    loop {
        let mut is_changed = false;
        for c in &work.connections {
            if lives[c.from.element] != lives[c.to.element] {
                lives[c.from.element] = true;
                lives[c.to.element] = true;
                is_changed = true;
            }
        }
        if !is_changed {
            break;
        }
    }
    for (at, is_alive) in lives.into_iter().enumerate() {
        if !is_alive {
            work.remove(at);
        }
    }
    let places: Vec<usize> = work.live().map(|(at, _)| at).collect();
    for at in places {
        let Some(element) = work.elements[at].clone() else {
            continue;
        };
        let Some(short) = element.name.strip_prefix(&prefix) else {
            continue;
        };
        let name = if work.find(short).is_none() {
            short
        } else {
            &element.name
        };
        let config = if element.class == LINK {
            unnest(&element.config, &prefix)
        } else {
            element.config.clone()
        };
        work.elements[at] = Some(Declared {
            name: name.to_owned(),
            config,
            ..element.clone()
        });
    }
    (work.finish(), said)
}

/// Puts the devices of `component` in the place of its links; gives what ends there.
fn open_links(work: &mut Work, component: &str, said: &mut Diagnostics) -> Vec<usize> {
    let mut ends = Vec::new();
    let inner = format!("{component}/");
    for link in work.of_class(LINK) {
        let Some(element) = work.elements[link].clone() else {
            continue;
        };
        let words = split_args(&element.config);
        let (inputs, outputs) = (
            work.count(Side::Input, link),
            work.count(Side::Output, link),
        );
        let clauses: Vec<Vec<String>> = words.iter().step_by(2).map(|w| split_words(w)).collect();
        let is_whole = words.len() == 2 * (inputs + outputs) && inputs > 0 && outputs > 0;
        if !is_whole || clauses.iter().any(|clause| clause.len() != 3) {
            let text = format!("RouterLink '{}' has strange configuration", element.name);
            said.error(None, text);
            continue;
        }
        if !clauses.iter().any(|clause| clause[0] == component) {
            if clauses.iter().any(|clause| clause[0].starts_with(&inner)) {
                ends.push(link);
            }
            continue;
        }
        for (number, clause) in clauses.iter().enumerate() {
            let name = format!("{}/{}", clause[0], clause[1]);
            if let Some(old) = work.find(&name).and_then(|at| work.elements[at].as_ref()) {
                let text = format!(
                    "RouterLink '{}' element '{name}' already exists",
                    element.name
                );
                said.error(Some(&element.landmark), text);
                said.error(Some(&old.landmark), "(previous definition was here)");
            } else if clause[0] == component {
                let device = work.settle(Declared {
                    name: clause[1].clone(),
                    class: clause[2].clone(),
                    config: words[2 * number + 1].clone(),
                    landmark: made_by("click-uncombine"),
                });
                let (side, old) = match number.checked_sub(inputs) {
                    None => (Side::Input, port(link, number)),
                    Some(number) => (Side::Output, port(link, number)),
                };
                work.redirect(side, old, port(device, 0));
                ends.push(device);
            }
        }
        work.vacate(link);
    }
    ends
}

fn unnest(config: &str, prefix: &str) -> String {
    let mut words = split_args(config);
    for word in words.iter_mut().step_by(2) {
        if let Some(rest) = word.strip_prefix(prefix) {
            *word = rest.to_owned();
        }
    }
    join_args(&words)
}
