//! Configuring one element: its arguments, what it says to them, and where in the source that is.

use super::setup::Setup;
use super::threads::wishes::Wishes;
use super::{Classes, Ctx, Element, ElementId, Entry};
use crate::args::Args;
use crate::args::definitions::Definitions;
use crate::args::machine_names::{Machine, unknown_in_rule};
use crate::args::misspelt;
use crate::args::text::split_args;
use crate::diagnostic::{About, Diagnostic, Diagnostics};
use crate::graph::index::Index;
use crate::graph::processing::Modes;
use crate::lang::conf::split_keyword;
use crate::lang::{Flat, places};

/// What is known of an element before it is configured.
pub(super) struct Given<'a> {
    pub(super) classes: Classes,
    pub(super) flat: &'a Flat,
    pub(super) index: &'a Index,
    pub(super) id: ElementId,
    pub(super) entry: &'a Entry,
    pub(super) modes: &'a Modes,
    pub(super) config: &'a str,
}

impl Given<'_> {
    /// Configures the element; says what is wrong.
    pub(super) fn configure(
        &self,
        element: &mut dyn Element,
        definitions: &mut Definitions,
        wishes: &mut Wishes,
    ) -> Diagnostics {
        let declared = &self.flat.elements[self.id];
        let (params, arguments) = (self.entry.params, split_args(self.config));
        let args = {
            let names = definitions.within(&declared.name, &self.index.names);
            Args::resolve_list(params, &arguments, &names, None)
        };
        let mut setup = Setup {
            classes: self.classes,
            id: self.id,
            name: &declared.name,
            class: &declared.class,
            inputs: &self.modes.inputs,
            outputs: &self.modes.outputs,
            definitions,
            wishes,
            index: self.index,
            flat: self.flat,
            warnings: Vec::new(),
            notes: Vec::new(),
        };
        let (mut inner, mut errors) = (Diagnostics::new(), Diagnostics::new());
        match &args {
            Ok(args) => {
                if let Err(said) = element.configure(&mut setup, args) {
                    errors = said;
                }
            }
            Err(said) => errors = said.clone(),
        }
        for note in std::mem::take(&mut setup.notes) {
            inner.note(None, note);
        }
        for warning in std::mem::take(&mut setup.warnings) {
            inner.warning(None, warning);
        }
        if errors.has_errors() {
            errors = misspelt::explained(params, &arguments, &setup.names(), errors);
        }
        if let Ok(args) = &args {
            let rule = |one: &Diagnostic| arguments.get(args.place_of(one)?);
            errors.help(|one| unknown_in_rule(rule(one)?, &setup.names()));
        }
        inner.extend(errors);
        if !inner.is_empty() {
            self.place(&mut inner, args.as_ref().ok(), arguments.len());
        }
        inner
    }

    /// Finds the arguments that the diagnostics are about in the source.
    fn place(&self, said: &mut Diagnostics, args: Option<&Args>, count: usize) {
        let declared = &self.flat.elements[self.id];
        if declared.config != self.config {
            return;
        }
        let places = places::arguments(&declared.landmark).unwrap_or_default();
        // A variable may stand for several arguments, or for none.
        if places.len() != count {
            return;
        }
        let place = |one: &Diagnostic| match (one.about, args) {
            (Some(About::Argument(at)), _) => Some(at),
            (_, Some(args)) => args.place_of(one),
            _ => None,
        };
        said.place(|one| places.get(place(one)?).cloned());
    }
}

impl Ctx {
    /// Configures a running element anew, where its class allows it.
    pub(super) fn reconfigure(&mut self, element: ElementId, config: &str) -> Result<(), String> {
        let entry = self.config.nodes[element].entry;
        let Some(mut one) = self.slots[element].take() else {
            return Err("the element is busy".to_owned());
        };
        self.config
            .definitions
            .ask_anew(Machine::new(self.world.host.machine_names()));
        let given = Given {
            classes: self.config.classes,
            flat: &self.config.flat,
            index: &self.config.index,
            id: element,
            entry,
            modes: &self.config.nodes[element].modes,
            config,
        };
        let said = given.configure(
            one.as_mut(),
            &mut self.config.definitions,
            &mut Wishes::default(),
        );
        self.slots[element] = Some(one);
        if said.has_errors() {
            return Err(said.click().trim_end().to_owned());
        }
        if !said.is_empty() {
            self.remark(said.click().trim_end());
        }
        config.clone_into(&mut self.config.nodes[element].config);
        self.with(element, Element::reconfigured);
        Ok(())
    }

    /// Configures a running element anew with one argument changed, which stands at `place` where
    /// it is not given by its keyword.
    pub(super) fn reconfigure_keyword(
        &mut self,
        element: ElementId,
        (place, keyword): (usize, &str),
        value: &str,
    ) -> Result<(), String> {
        let mut arguments = split_args(&self.config.nodes[element].config);
        let is_keyword = |argument: &str, word: &str| {
            split_keyword(argument).is_some_and(|(first, rest)| {
                first == word && (!rest.is_empty() || argument.trim() == word)
            })
        };
        let named = arguments.iter().position(|a| is_keyword(a, keyword));
        let params = self.config.nodes[element].entry.params;
        let is_named = |argument: &String| params.iter().any(|p| is_keyword(argument, p.name));
        let positional = arguments.iter().take_while(|a| !is_named(a)).count();
        if let Some(at) = named {
            arguments[at] = format!("{keyword} {value}");
        } else if place < positional {
            value.clone_into(&mut arguments[place]);
        } else {
            arguments.push(format!("{keyword} {value}"));
        }
        self.reconfigure(element, &arguments.join(", "))
    }
}
