//! Who tells what functions cost that have no numbers in a placement file.

use std::fmt::Debug;
use std::path::Path;
use trammel_cost::place::model::Work;

/// A function whose costs are not in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimated<'a> {
    /// A function of a paper, by name.
    Paper(&'a str),
    /// A Click file.
    Click(&'a Path),
}

/// What an estimator is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The function.
    pub function: Estimated<'a>,
    /// Frame size, bytes.
    pub frame_bytes: u32,
    /// Flows that its packets belong to.
    pub flows: u64,
    /// Routes, rules or entries that it knows.
    pub routes: u64,
    /// The machine that the server names.
    pub machine: Option<&'a str>,
    /// The server's clock, Hz.
    pub clock_hz: f64,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoAnswer {
    /// Why.
    pub why: String,
    /// What to do: the nearest name, for one.
    pub help: String,
}

/// Tells what functions cost that have no numbers in the file.
pub trait Estimator: Debug {
    /// What a packet costs, on one core, with its tables in the last-level cache.
    fn work(&self, question: &Question<'_>) -> Result<Work, NoAnswer>;
}

/// An estimator that knows no function.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEstimator;

impl Estimator for NoEstimator {
    fn work(&self, _: &Question<'_>) -> Result<Work, NoAnswer> {
        Err(NoAnswer {
            why: "this version estimates no function for a placement".to_owned(),
            help: "give its `cycles`, or a `profile`".to_owned(),
        })
    }
}
