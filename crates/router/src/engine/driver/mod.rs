//! The driver: runs tasks, timers and descriptors until something stops it.
//!
//! A *stop event* (`STOP true` of a source, the handler `stop`) ends the run, unless an element has
//! made itself the driver's manager (`DriverManager`), which is then asked how to go on. In virtual
//! time nothing sleeps: the clock jumps to the next timer.

mod run;

use super::ids::ElementId;

/// What the driver keeps.
#[derive(Debug, Default)]
pub(super) struct State {
    /// Stop events not yet dealt with.
    pub(super) stops: u32,
    /// The run is over whatever the manager says.
    halted: bool,
    manager: Option<ElementId>,
    /// Elements to be told of a signal.
    signals: Vec<(i32, ElementId)>,
    /// A signal that nobody watches ended the run.
    interrupted: bool,
    /// A turn was cut off since somebody asks for the end: it is to be looked at now.
    pub(super) is_called: bool,
    /// Somebody asked that the configuration be read again.
    is_to_reload: bool,
    rounds: u32,
    /// Tasks since one did something.
    barren: u32,
    ready: Vec<i32>,
}

impl State {
    /// The signals that elements watch, a bit each.
    pub(super) fn watched_signals(&self) -> u64 {
        let bit = |signal: i32| 1_u64.checked_shl(signal as u32).unwrap_or(0);
        let all = self.signals.iter().map(|(signal, _)| bit(*signal));
        all.fold(0, |bits, bit| bits | bit)
    }
}

/// How a run, or a slice of it, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The time that was given is over; there is more to do.
    Running,
    /// The driver was stopped.
    Stopped,
    /// Nothing will ever happen again: no task, no timer, no descriptor.
    Idle,
    /// A signal that nobody watches came.
    Interrupted,
    /// Another configuration waits to take over.
    Replaced,
    /// The configuration is to be read again, since SIGHUP came.
    Reload,
}
