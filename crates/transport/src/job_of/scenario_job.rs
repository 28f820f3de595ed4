//! The job of a scenario, and what its flows, workloads and links are called.

use crate::network_of::{BuiltFlow, BuiltLink, BuiltWorkload};
use std::ops::Range;
use trammel_core::time::{Span, Time};
use trammel_kernel::job::GuestJob;

/// A job, and what its parts are called.
#[derive(Clone, Debug)]
pub struct ScenarioJob {
    /// The job.
    pub job: GuestJob,
    /// Its flows, in the order of the scenario.
    pub flows: Vec<BuiltFlow>,
    /// Its workloads, in the order of the scenario; their flows come behind those that have names.
    pub workloads: Vec<JobWorkload>,
    /// Its links.
    pub links: Vec<JobLink>,
    /// Where the kernel is not quite what the scenario says.
    pub notes: Vec<String>,
}

/// A workload of a job.
#[derive(Clone, Debug)]
pub struct JobWorkload {
    /// What it is called.
    pub built: BuiltWorkload,
    /// Its flows among the job's.
    pub flows: Range<usize>,
    /// Of each: when it starts, its bytes, and how long it takes in an empty network without slow
    /// start.
    pub begun: Vec<(Time, u64, Span)>,
}

/// A link of a job.
#[derive(Clone, Debug)]
pub struct JobLink {
    /// As the simulator has it; its index has no meaning here.
    pub link: BuiltLink,
    /// Where its queue is: wire and end.
    pub queue: (usize, usize),
    /// Where packets are lost or delayed behind it.
    pub spoil: Option<(usize, usize)>,
    /// Whether all that its queue drops is dropped because it is full.
    pub is_fifo: bool,
}
