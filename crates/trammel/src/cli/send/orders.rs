//! `trammel send --daemon` and `--from`: a sender that waits for orders, and who gives them.

use super::flows::{self, Planned};
use super::outcome::{code, shown, warning};
use crate::cli::addresses::listen_at;
use crate::cli::options;
use anyhow::anyhow;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use trammel_core::time::Span;
use trammel_driver::guard::{Proof, is_guarded, key};
use trammel_ground::Unsupported;
use trammel_ground::{DONE, INTERRUPTED, UNSUPPORTED, USAGE, print, say};
use trammel_io::reach;
use trammel_streams::script;
use trammel_streams::send;
use trammel_streams::send::{SendJob, SendOutcome, resolve};
use trammel_traffic::pace::Wait;
use trammel_traffic::send::ordering::{Error, order};
use trammel_traffic::send::orders::{Came, Daemon, Limits, Worker};
use trammel_traffic::send::waiting::Waiting;
use trammel_traffic::signal::key::Key;
use trammel_traffic::signal::message::MOST_LONG_BYTES;
use trammel_traffic::signal::{ORDERS_PORT, WAIT_PORT};

/// The words of a sender that waits for orders.
#[derive(Debug, clap::Args)]
pub(super) struct DaemonArgs {
    /// Wait for orders, and send their flows
    #[arg(
        long,
        conflicts_with_all = [
            "to", "FlowArgs", "script", "log", "log_to", "from", "by", "departures", "flows",
            "threads", "json", "metrics"
        ]
    )]
    daemon: bool,
    /// Wait for a receiver behind NAT to connect (`trammel recv --connect`)
    #[arg(long, conflicts_with_all = ["daemon", "to", "from", "by", "departures"])]
    wait: bool,
    /// Address and port to wait on [default: 127.0.0.1, 9311 for orders and 9313 for a receiver]
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = listen_at)]
    listen: Option<SocketAddr>,
    /// Serve everybody who reaches the address, without a key
    #[arg(long, conflicts_with = "key")]
    no_key: bool,
    /// File with the receivers' key
    #[arg(long, value_name = "FILE", requires = "daemon")]
    receivers_key: Option<PathBuf>,
    /// Flows at a time, of all orders together
    #[arg(long, value_name = "N", default_value_t = 256, requires = "daemon")]
    most_flows: usize,
    /// Longest duration of an order's flows
    #[arg(
        long, value_name = "TIME", default_value = "1h",
        value_parser = crate::cli::durations::parse, requires = "daemon"
    )]
    most_time: Span,
}

impl DaemonArgs {
    pub(super) fn is_wanted(&self) -> bool {
        self.daemon
    }

    /// Whether a receiver is waited for.
    pub(super) fn waits(&self) -> bool {
        self.wait
    }

    /// Where a receiver is waited for, if one is.
    pub(super) fn waiting(&self, key: Option<&Key>) -> anyhow::Result<Option<Waiting>> {
        if !self.wait {
            anyhow::ensure!(
                self.listen.is_none() && !self.no_key,
                "`--listen` and `--no-key` are for a waiting sender: add `--daemon` or `--wait`"
            );
            return Ok(None);
        }
        let at = self.address(WAIT_PORT);
        is_guarded(at, Proof::Key(key), self.no_key)?;
        Waiting::open(at).map(Some).map_err(|why| unheard(at, &why))
    }

    /// Whether the user has said that whoever comes is served.
    pub(super) fn has_no_key(&self) -> bool {
        self.no_key
    }

    /// Where orders that bear no key are waited for.
    pub(super) fn without_key(&self, port: u16) -> anyhow::Result<SocketAddr> {
        let at = self.address(port);
        is_guarded(at, Proof::OfItg, self.no_key)?;
        Ok(at)
    }

    fn address(&self, port: u16) -> SocketAddr {
        let local = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        self.listen.unwrap_or(local)
    }
}

fn unheard(at: SocketAddr, why: &std::io::Error) -> anyhow::Error {
    let what = format!("{at} cannot be listened on: {why}");
    Unsupported::error(&what, "give another `--listen`")
}

/// Waits for orders until it is interrupted.
pub(super) fn wait(args: &super::Args) -> anyhow::Result<ExitCode> {
    let own = &args.daemon;
    let clients_key = args.key.as_deref().map(key).transpose()?;
    let at = own.address(ORDERS_PORT);
    is_guarded(at, Proof::Key(clients_key.as_ref()), own.no_key)?;
    let works = Works {
        receivers_key: own.receivers_key.as_deref().map(key).transpose()?,
        most_time: own.most_time,
        wait: if args.sleep { Wait::Sleep } else { Wait::Spin },
        is_real_time: args.real_time,
    };
    let limits = Limits {
        flows: own.most_flows,
        time: Duration::from_nanos(own.most_time.as_ns()),
    };
    let daemon = Daemon::open(at, clients_key, limits).map_err(|why| unheard(at, &why))?;
    let interrupted = options::interrupted()?;
    say(&format!("waiting for orders on {}", daemon.address()));
    let ran = daemon.run(&works, &interrupted, &|from, what| {
        say(&format!("{from}: {what}"));
    });
    ran.map_err(|why| anyhow!("no more orders can be taken: {why}"))?;
    Ok(ExitCode::from(DONE))
}

/// How orders are done.
struct Works {
    receivers_key: Option<Key>,
    most_time: Span,
    wait: Wait,
    is_real_time: bool,
}

impl Worker for Works {
    type Flow = Planned;

    fn understand(&self, words: &str, place: usize) -> Result<Planned, String> {
        let flow = flows::planned(words, None, place)?;
        let (limits, most) = (&flow.stream.limits, self.most_time);
        let end = flow.stream.start + limits.duration.unwrap_or(Span::ZERO);
        if end.since_start() > most {
            return Err(format!(
                "it would last {} s; this sender allows {} s at most",
                end.as_secs_f64(),
                most.as_secs_f64()
            ));
        }
        Ok(flow)
    }

    fn work(&self, flows: Vec<Planned>, json: bool, stop: &AtomicBool, sent: &AtomicU64) -> Came {
        let job = |to: &str| {
            Ok(SendJob {
                key: self.receivers_key.clone(),
                wait: self.wait,
                is_real_time: self.is_real_time,
                ..SendJob::to(to)
            })
        };
        let done = flows::batches(flows, &job)
            .and_then(|batches| send::run_all(&batches, stop, sent))
            .map(SendOutcome::of_all)
            .and_then(|outcome| Ok((shown(&outcome, json)?, outcome)));
        match done {
            Ok((text, outcome)) => Came {
                text,
                code: code(&outcome, stop.load(Ordering::SeqCst)),
                note: outcome.log_fault.as_deref().map_or(String::new(), warning),
            },
            Err(error) => Came {
                text: String::new(),
                code: if error.downcast_ref::<Unsupported>().is_some() {
                    UNSUPPORTED
                } else {
                    USAGE
                },
                note: format!("{error:#}"),
            },
        }
    }
}

/// Has the sender at `from` send the flows.
pub(super) fn give(args: &super::Args, from: &str) -> anyhow::Result<ExitCode> {
    let addresses = resolve(from, ORDERS_PORT)?;
    let address = reach::named(&addresses);
    // What is wrong is told here, with its line, before anybody is asked.
    let planned = flows::read(args)?;
    let lines: Vec<String> = match flows::script(args)? {
        Some((_, lines)) => lines
            .iter()
            .zip(&planned)
            .map(|(line, flow)| with_receiver(&line.text, &flow.to))
            .collect(),
        None => planned.iter().map(flows::given).collect(),
    };
    if let Some(long) = lines.iter().find(|line| line.len() > MOST_LONG_BYTES) {
        anyhow::bail!(
            "a flow of {} bytes of words: an order takes {MOST_LONG_BYTES} at most",
            long.len()
        );
    }
    let key = args.key.as_deref().map(key).transpose()?;
    let interrupted = options::interrupted()?;
    let came = order(
        (addresses.as_slice(), key.as_ref()),
        &lines,
        args.json,
        &interrupted,
        &mut |packets| say(&format!("{packets} packets are sent")),
    )
    .map_err(|why| match why {
        Error::Nobody(at, why) => Unsupported::error(
            &format!("no sender waits for orders at {at}: {why}"),
            "start one there: `trammel send --daemon`",
        ),
        Error::Flow(place, why) => {
            anyhow!("the sender at {address} refuses `{}`: {why}", lines[place])
        }
        other => anyhow!("{address}: {other}"),
    })?;
    if !came.note.is_empty() {
        say(&format!("{address}: {}", came.note));
    }
    if !came.text.is_empty() {
        print(came.text.trim_end())?;
    }
    let is_interrupted = interrupted.load(Ordering::SeqCst);
    Ok(ExitCode::from(if is_interrupted {
        INTERRUPTED
    } else {
        came.code
    }))
}

/// The words of a line with those of its receiver.
fn with_receiver(line: &str, to: &str) -> String {
    let names_its_own = flows::planned(line, None, 0).is_ok();
    if names_its_own {
        return line.to_owned();
    }
    format!("--to {} {line}", script::quoted(to))
}
