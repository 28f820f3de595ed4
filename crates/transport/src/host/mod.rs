//! The host's own TCP over an emulated path: a process of its own, which is this program called by
//! another name.
//!
//! ```text
//! engine measure ── job ──> trammel-host: namespaces, flows (`trammel_kernel::host`)
//!                <─ answer ─     └─ a thread with a router: queues, rates, delays, losses (`trammel_router`)
//! ```
//! It is a process because a user who is not root makes a user namespace first, which a process of
//! several threads cannot; and because whatever becomes of it, its namespaces and interfaces go
//! with it.

mod configuration;
mod lines;
mod load;

use configuration::BACKLOG_PACKETS;
pub use configuration::refusal;
pub use load::Load;

use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use trammel_io::netns::{self, Namespace};
use trammel_kernel::guest::FAILED;
use trammel_kernel::host::{self, Result};
use trammel_kernel::job::{Answer, GuestJob};

/// The name that this program is called by where it is the process that measures.
pub const NAME: &str = "trammel-host";

/// What the process answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answered {
    /// What was seen of flows and queues.
    pub answer: Answer,
    /// What the host did meanwhile.
    pub load: Load,
    /// Packets that the emulator lost beside those that it was to lose.
    pub missed: u64,
}

/// The process: its job comes by standard input, its answer goes to standard output.
pub fn main() -> ExitCode {
    let answer = match work() {
        Ok(answered) => serde_json::to_string(&answered).map_err(Into::into),
        Err(why) => Err(why),
    };
    let line = answer.unwrap_or_else(|why| format!("{FAILED}{why}"));
    match writeln!(io::stdout(), "{line}") {
        Ok(()) => ExitCode::SUCCESS,
        // Nobody is left to tell.
        Err(_) => ExitCode::FAILURE,
    }
}

fn work() -> Result<Answered> {
    let job: GuestJob = serde_json::from_reader(io::stdin().lock())?;
    netns::own_user()?;
    let emulator = Arc::new(Namespace::new()?);
    let load = load::Watch::start();
    let (answer, mut lines) = host::run(&job, &emulator, |cables| {
        lines::Lines::start(&job, cables, &emulator)
    })?;
    Ok(Answered {
        answer,
        load: load.end(),
        missed: lines.missed()?,
    })
}
