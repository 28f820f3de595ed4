//! Sending D-ITG's flows to the receivers that their command lines name, in D-ITG's own signalling and packets.
//!
//! Flows with the same receiver share a channel; each has a thread. Their numbers are their places in the script, from 1.

mod back;
mod books;
mod channel;
pub mod daemon;
mod flow;
mod plan;
mod way;

use super::account::Account;
use super::{Outcome, may_be_real_time};
use crate::log_file;
use crate::log_file::LogTo;
use anyhow::{anyhow, bail};
use books::Books;
pub use channel::awaited_at;
pub use plan::{address, addresses};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use trammel_ground::Lacks;
use trammel_io::reach;
use trammel_traffic::itg;
use trammel_traffic::itg::command::{Command, LogServer, Logs};
use trammel_traffic::itg::log_file::BinaryLog;
use trammel_traffic::pace::Wait;
use trammel_traffic::record::Instants;
use trammel_traffic::stream::{Meter, Stream};

/// What is to be done besides the flows.
#[derive(Clone, Debug)]
pub struct Job {
    /// The number of the first flow, 1 or more.
    pub first: u32,
    /// The seed of flows that have none (`-s`); each has its own by its number.
    pub seed: u64,
    /// How packets' times are waited for.
    pub wait: Wait,
    /// Whether the sender runs before all programs of usual priority.
    pub is_real_time: bool,
    /// Where our log goes.
    pub log: Option<LogTo>,
}

/// The streams of commands, each with a seed of its own.
pub fn streams(commands: &[Command], seed: u64) -> anyhow::Result<Vec<Stream>> {
    let each = commands.iter().zip(0..).map(|(command, at)| {
        let stream = itg::flow::stream(command, seed.wrapping_add(at));
        let mut stream = stream.map_err(|why| anyhow!("flow {}: {why}", at + 1))?;
        stream.name = format!("flow {}", at + 1);
        Ok(stream)
    });
    each.collect()
}

/// Sends the flows of `commands` at once; `logs` are for all of them. `say` hears where a passive sender (`-H`) waits.
pub fn run(
    commands: &[Command],
    logs: &Logs,
    job: &Job,
    stop: &AtomicBool,
    say: &dyn Fn(&str),
) -> anyhow::Result<Outcome> {
    send_all(commands, logs, job, (stop, say), None)
}

/// Sends them, and logs to `log` where it is there already.
fn send_all(
    commands: &[Command],
    logs: &Logs,
    job: &Job,
    (stop, say): (&AtomicBool, &dyn Fn(&str)),
    log: Option<&Arc<BinaryLog>>,
) -> anyhow::Result<Outcome> {
    let planned = plan::plan(commands, job)?;
    let Some(first) = planned.first() else {
        bail!("there is no flow to send");
    };
    let meter = first.stream.meter;
    if job.log.is_some() && planned.iter().any(|one| one.stream.meter != meter) {
        bail!(
            "a log holds either one-way flows or round trips: send them separately, or leave `--log` out"
        );
    }
    let wished = channel::wished(logs)?;
    if job.is_real_time {
        may_be_real_time()?;
    }
    let groups = channel::connect(&planned, stop, say)?;
    // Not before somebody is there: logs without anything would be left.
    let instants = if planned
        .iter()
        .any(|one| one.stream.meter == Meter::RoundTrip)
    {
        Instants::SentReturned
    } else {
        Instants::DueSent
    };
    let account = Account::new(
        job.log.as_ref(),
        &log_file::session(instants, job.seed),
        stop,
    )?;
    let log = match log {
        Some(log) => Some(log.clone()),
        None => begin_own(logs)?,
    };
    let books = Books {
        account: Mutex::new(account),
        log,
        sent: Mutex::default(),
    };
    std::thread::scope(|scope| {
        for group in groups {
            let (books, planned, wished) = (&books, &planned, &wished);
            scope.spawn(move || channel::converse(group, planned, wished, (job, stop), books));
        }
    });
    Ok(books.close(&planned))
}

/// Begins the sender's own log, where one is asked for.
fn begin_own(logs: &Logs) -> anyhow::Result<Option<Arc<BinaryLog>>> {
    let log = match (&logs.sender_server, logs.sender.as_deref()) {
        (Some(server), name) => {
            let name = name.unwrap_or("ITGSend.log");
            begin_at(server, name, logs.batch)?
        }
        (None, Some(path)) => begin(Path::new(path))?,
        (None, None) => return Ok(None),
    };
    Ok(Some(Arc::new(log)))
}

/// Begins a log that a log server of D-ITG keeps.
pub fn begin_at(server: &LogServer, name: &str, batch: u32) -> anyhow::Result<BinaryLog> {
    let to = plan::addresses(&server.host, server.port)?;
    let name = channel::log_name("-l", name)?;
    BinaryLog::at_server(&to, server.protocol, &name, batch).map_err(|why| {
        Lacks::error(
            &format!(
                "no log server of D-ITG answers at {}: {why}",
                reach::named(&to)
            ),
            "start one there: `ITGLog`, or `trammel log --itg logs/`",
        )
    })
}

/// Begins a log in D-ITG's form.
pub fn begin(path: &Path) -> anyhow::Result<BinaryLog> {
    BinaryLog::begin(path).map_err(|why| anyhow!("`{}` cannot be written: {why}", path.display()))
}
