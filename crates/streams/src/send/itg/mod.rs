//! Sending D-ITG's flows to the receivers that their command lines name, in D-ITG's own signalling
//! and packets.
//!
//! Flows with the same receiver share a channel; each has a thread. Their numbers are their places
//! in the script, from 1.

mod back;
mod books;
mod channel;
pub mod daemon;
mod flow;
mod job;
mod near;
mod plan;
mod way;

use super::account::Account;
use super::{SendOutcome, may_be_real_time};
use crate::log_file;
use anyhow::{anyhow, bail};
use books::Books;
pub use channel::awaited_at;
pub use job::ItgJob;
pub use plan::{address, addresses, streams};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use trammel_ground::Unsupported;
use trammel_io::reach;
use trammel_traffic::itg::command::{Command, LogServer, Logs};
use trammel_traffic::itg::log_file::BinaryLog;
use trammel_traffic::record::Instants;
use trammel_traffic::stream::Meter;

/// Sends the flows of `commands` at once; `logs` are for all of them. `say` hears where a passive
/// sender (`-H`) waits.
pub fn run(
    commands: &[Command],
    logs: &Logs,
    job: &ItgJob,
    stop: &AtomicBool,
    say: &dyn Fn(&str),
) -> anyhow::Result<SendOutcome> {
    send_all(commands, logs, job, (stop, say), None)
}

/// Sends them, and logs to `log` where it is there already.
fn send_all(
    commands: &[Command],
    logs: &Logs,
    job: &ItgJob,
    (stop, say): (&AtomicBool, &dyn Fn(&str)),
    log: Option<&Arc<BinaryLog>>,
) -> anyhow::Result<SendOutcome> {
    let planned = plan::plan(commands, job)?;
    let Some(first) = planned.first() else {
        bail!("there is no flow to send");
    };
    let meter = first.stream.meter;
    if job.log.is_some() && planned.iter().any(|one| one.stream.meter != meter) {
        bail!(
            "a log holds either one-way flows or round trips: send them separately, or leave \
             `--log` out"
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
        Unsupported::error(
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
