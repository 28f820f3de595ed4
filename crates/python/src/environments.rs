//! Environments for learning: scenarios that step, with their numbers in numpy's arrays.

use crate::faults::{read, words_of};
use crate::memory::Memory;
use crate::own::{UnderWay, leave_threads};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use trammel_core::time::Span;
use trammel_core::units::{Dimension, Quantity, nearest};
use trammel_environment::act::Act;
use trammel_environment::environment::{Environment, Error, Every, Plan};
use trammel_environment::feature::Feature;
use trammel_environment::many::{Many, Stepped};
use trammel_scenario::model::{Engine, Scenario};

/// Name, least and most.
type Range = (&'static str, f64, f64);

/// What may be observed or rewarded.
#[pyfunction]
pub(crate) fn features() -> Vec<Range> {
    let all = Feature::ALL.iter();
    all.map(|one| (one.name(), one.range().0, one.range().1))
        .collect()
}

/// What may be decided.
#[pyfunction]
pub(crate) fn acts() -> Vec<Range> {
    let all = Act::ALL.into_iter();
    all.map(|one| (one.name(), one.range().0, one.range().1))
        .collect()
}

/// Many environments of one scenario, which step together.
#[pyclass(frozen, module = "trammel._trammel")]
pub(crate) struct Environments {
    many: Mutex<(Many, Stepped)>,
    agents: Vec<String>,
    /// What agents decide next: environments by agents.
    #[pyo3(get)]
    actions: Py<Memory>,
    /// What they see: environments by agents by features.
    #[pyo3(get)]
    observations: Py<Memory>,
    /// Every feature, in the same order.
    #[pyo3(get)]
    features: Py<Memory>,
    /// Rewards: environments by agents.
    #[pyo3(get)]
    rewards: Py<Memory>,
    /// Whether episodes ended by themselves.
    #[pyo3(get)]
    terminated: Py<Memory>,
    /// Whether their time was over.
    #[pyo3(get)]
    truncated: Py<Memory>,
    /// The time in each, s.
    #[pyo3(get)]
    times: Py<Memory>,
    /// Its threads stay from step to step.
    _under_way: UnderWay,
}

impl Drop for Environments {
    fn drop(&mut self) {
        _ = Python::try_attach(leave_threads);
    }
}

fn wrong(error: &Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The one of `all` called `name`, or a fault with the nearest name.
fn named<T: Copy>(
    what: &str,
    name: &str,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> PyResult<T> {
    let found = all.iter().find(|one| name_of(**one) == name);
    found.copied().ok_or_else(|| {
        let nearest = nearest(name, all.iter().map(|one| name_of(*one)));
        let names: Vec<_> = all.iter().map(|one| name_of(*one)).collect();
        let help = nearest.map_or_else(
            || format!("there are `{}`", names.join("`, `")),
            |nearest| format!("did you mean `{nearest}`?"),
        );
        PyValueError::new_err(format!("no {what} is called `{name}`; {help}"))
    })
}

/// The number of the flow that `name` means in every point: `flow.0`, or its name.
fn flow(points: &[Scenario], name: &str) -> PyResult<usize> {
    let number = |scenario: &Scenario| {
        let flows = &scenario.flows;
        let by_place = name
            .strip_prefix("flow.")
            .and_then(|number| number.parse().ok());
        let by_place = by_place.filter(|number| *number < flows.len());
        by_place.or_else(|| flows.iter().position(|flow| flow.name == name))
    };
    let mut numbers = points.iter().map(number);
    let first = numbers.next().flatten();
    let first = first.filter(|first| numbers.all(|number| number == Some(*first)));
    first.ok_or_else(|| {
        let names = points.iter().flat_map(|point| &point.flows);
        let names: Vec<_> = names.map(|flow| flow.name.as_str()).collect();
        PyValueError::new_err(format!(
            "`{name}` is no flow of the scenario; give `flow.0` and so on, or one of `{}`",
            names.join("`, `")
        ))
    })
}

fn every(text: &str) -> PyResult<Every> {
    if text == "ack" {
        return Ok(Every::Ack);
    }
    let fault = |why: String| {
        PyValueError::new_err(format!(
            "`interval` is a time such as `10 ms`, or `ack`: {why}"
        ))
    };
    let time =
        Quantity::parse_as(text, &[Dimension::Time]).map_err(|why| fault(why.to_string()))?;
    if time.value.is_nan() || time.value <= 0.0 || time.value > 1e6 {
        return Err(fault(
            "it must be above 0 and at most 1,000,000 s".to_owned(),
        ));
    }
    Ok(Every::Time(Span::from_secs_f64(time.value)))
}

/// Does `act` without Python's lock. A plug-in in Python that raises, raises here.
fn apart<T: Send>(py: Python<'_>, act: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(act)));
    match done {
        Ok(done) => done.map_err(|error| wrong(&error)),
        Err(panic) => Err(PyRuntimeError::new_err(words_of(panic.as_ref()))),
    }
}

#[pymethods]
impl Environments {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the package names them")]
    fn new(
        py: Python<'_>,
        text: &str,
        name: &str,
        folder: PathBuf,
        agents: Vec<String>,
        observe: Vec<String>,
        act: &str,
        interval: &str,
        reward: Vec<(String, f64)>,
        count: usize,
        threads: usize,
    ) -> PyResult<Environments> {
        let file = py.detach(|| read(text, name, &folder, &[Engine::Simulate], None))?;
        let points: Vec<_> = file
            .points
            .into_iter()
            .map(|point| point.scenario)
            .collect();
        let feature = |name: &str| named("feature", name, Feature::ALL, Feature::name);
        let plan = Plan {
            agents: agents
                .iter()
                .map(|name| flow(&points, name))
                .collect::<PyResult<_>>()?,
            points,
            observe: observe
                .iter()
                .map(|name| feature(name))
                .collect::<PyResult<_>>()?,
            act: named("action", act, &Act::ALL, Act::name)?,
            every: every(interval)?,
            reward: (reward.iter())
                .map(|(name, weight)| Ok((feature(name)?, *weight)))
                .collect::<PyResult<_>>()?,
        };
        let (seats, seen) = (agents.len(), observe.len());
        let under_way = UnderWay::begin();
        let many = Many::new(plan, count, threads).map_err(|error| wrong(&error))?;
        let f32 = |shape: &[usize]| Py::new(py, Memory::float32(shape));
        let f64 = |shape: &[usize]| Py::new(py, Memory::float64(shape));
        let truths = || Py::new(py, Memory::bool(&[count]));
        Ok(Environments {
            many: Mutex::new((many, Stepped::default())),
            agents,
            actions: f32(&[count, seats])?,
            observations: f32(&[count, seats, seen])?,
            features: f64(&[count, seats, Feature::ALL.len()])?,
            rewards: f64(&[count, seats])?,
            terminated: truths()?,
            truncated: truths()?,
            times: f64(&[count])?,
            _under_way: under_way,
        })
    }

    /// The names that agents were given by.
    #[getter]
    fn agents(&self) -> Vec<String> {
        self.agents.clone()
    }

    /// Begins an episode in each environment: that of its seed, or without one the next.
    fn reset(&self, py: Python<'_>, seeds: Vec<Option<u64>>) -> PyResult<()> {
        apart(py, || {
            let mut many = self.locked()?;
            many.0.reset(&seeds)?;
            let (many, stepped) = &mut *many;
            many.tell(&[], stepped);
            Ok(())
        })?;
        self.show()
    }

    /// Steps the first environment, which has one agent: its reward, whether the episode ended by
    /// itself, whether its time was over, and the time in it, s.
    fn step_one(&self, py: Python<'_>, action: f32) -> PyResult<(f64, bool, bool, f64)> {
        apart(py, || self.locked()?.0.step_first(&[action]))?;
        let many = self.locked().map_err(|error| wrong(&error))?;
        let one = &many.0.all()[0];
        self.show_one(one);
        let state = one.state();
        let now = one.now().as_secs_f64();
        Ok((one.reward(0), state.is_terminated, state.is_truncated, now))
    }

    /// Steps every environment by `actions`; one whose episode is over begins the next instead.
    fn step(&self, py: Python<'_>) -> PyResult<()> {
        let actions = self.actions.get().read();
        apart(py, || {
            let mut many = self.locked()?;
            let (many, stepped) = &mut *many;
            let begins = many.step(&actions)?;
            many.tell(&begins, stepped);
            Ok(())
        })?;
        self.show()
    }
}

impl Environments {
    /// Writes what one environment with one agent shows.
    fn show_one(&self, one: &Environment) {
        self.observations.get().write32(one.observation(0));
        self.features.get().write64(one.features(0));
    }

    fn locked(&self) -> Result<MutexGuard<'_, (Many, Stepped)>, Error> {
        let failed = || Error::Plan("it has failed before; make a new environment".to_owned());
        self.many.lock().map_err(|_| failed())
    }

    /// Writes what came of the last call where numpy sees it.
    fn show(&self) -> PyResult<()> {
        let many = self.locked().map_err(|error| wrong(&error))?;
        let stepped = &many.1;
        self.observations
            .get()
            .write32(stepped.observations.iter().copied());
        self.features
            .get()
            .write64(stepped.features.iter().copied());
        self.rewards.get().write64(stepped.rewards.iter().copied());
        self.terminated.get().write_bool(&stepped.terminated);
        self.truncated.get().write_bool(&stepped.truncated);
        self.times.get().write64(stepped.times.iter().copied());
        Ok(())
    }
}
