//! The classes of Python that are known, and objects of them.
//!
//! A class is found by the digest of its source, which is a parameter of its entry. So the digest
//! is in the hash of every point that uses the class.

use super::call::said;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use trammel_core::entry::Params;
use trammel_core::time::Span;
use trammel_scenario::model::Scenario;

/// The parameter that names the class.
pub(super) const DIGEST: &str = "python_sha256";

/// A class that is known.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: &'static str,
    pub(super) digest: &'static str,
    own: Py<PyAny>,
    /// The hooks that it has of its own.
    hooks: BTreeSet<String>,
    /// Words such as `needs_ecn`.
    pub(super) flags: BTreeSet<String>,
    /// Attributes that traces show.
    pub(super) variables: &'static [&'static str],
    /// How often it decides, where it does not at every ACK.
    pub(super) every: Option<Span>,
}

impl Class {
    pub(super) fn new(
        own: Py<PyAny>,
        (name, digest): (&'static str, &'static str),
        hooks: Vec<String>,
        flags: Vec<String>,
    ) -> Class {
        Class {
            name,
            digest,
            own,
            hooks: hooks.into_iter().collect(),
            flags: flags.into_iter().collect(),
            variables: &[],
            every: None,
        }
    }
}

static CLASSES: Mutex<Vec<Arc<Class>>> = Mutex::new(Vec::new());

/// Makes `class` known, in the place of one of the same digest.
pub(super) fn know(class: Class) {
    let mut all = CLASSES.lock().expect("nothing panics while it is held");
    let old = all.iter().position(|known| known.digest == class.digest);
    let class = Arc::new(class);
    match old {
        // What was known goes when its last object does.
        Some(at) => all[at] = class,
        None => all.push(class),
    }
}

/// The class that `params` are for.
fn class_of(params: &Params) -> Arc<Class> {
    let digest = params.text(DIGEST);
    let all = CLASSES.lock().expect("nothing panics while it is held");
    let known = all.iter().find(|known| known.digest == digest);
    let known = known.expect("the parameters of an entry have the digest of a class that is known");
    Arc::clone(known)
}

/// The name and digest of each class that `scenario` uses: it is in the form that is hashed.
pub(crate) fn used_by<'a>(
    scenarios: impl Iterator<Item = &'a Scenario>,
) -> Vec<(&'static str, &'static str)> {
    let known: Vec<_> = {
        let all = CLASSES.lock().expect("nothing panics while it is held");
        all.iter().map(|class| (class.name, class.digest)).collect()
    };
    let mut used = BTreeSet::new();
    if !known.is_empty() {
        for scenario in scenarios {
            let text = format!("{scenario:?}");
            used.extend(
                known
                    .iter()
                    .filter(|(_, digest)| text.contains(digest))
                    .copied(),
            );
        }
    }
    used.into_iter().collect()
}

/// An object of a class, for one flow, link or stream.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) class: Arc<Class>,
    object: Py<PyAny>,
}

impl Object {
    /// A new object of the class that `params` are for, which gets their values; or the words of an
    /// exception.
    pub(super) fn new(params: &Params) -> Result<Object, String> {
        let class = class_of(params);
        let object = said(class.name, |py| {
            let values = PyDict::new(py);
            for (name, _) in params.iter().filter(|(name, _)| *name != DIGEST) {
                values.set_item(name, params.float(name))?;
            }
            class.own.call(py, (), Some(&values))
        })?;
        Ok(Object { class, object })
    }

    /// The hook `name`, where the class has one of its own.
    pub(super) fn hook(&self, name: &str) -> Option<Py<PyAny>> {
        let hook = self.class.hooks.contains(name).then(|| {
            said(self.class.name, |py| {
                self.object.getattr(py, PyString::intern(py, name))
            })
        });
        hook?.ok()
    }

    /// The number that the attribute `name` is; not a number where it is none.
    pub(super) fn number(&self, name: &str) -> f64 {
        let number = said(self.class.name, |py| {
            self.object.getattr(py, name)?.extract(py)
        });
        number.unwrap_or(f64::NAN)
    }

    /// Sets the attribute `name`.
    pub(super) fn set(&self, py: Python<'_>, name: &str, value: u64) -> PyResult<()> {
        self.object.setattr(py, name, value)
    }
}
