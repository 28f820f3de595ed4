//! `--itg` of `trammel send` and `trammel recv`: D-ITG's command lines, scripts and peers.
//!
//! One rule says which language is spoken: `--itg` speaks D-ITG's, signalling, packets and all, and
//! nothing else; its peers are ITGRecv and ITGSend, or ours with `--itg`. With `--native` a sender
//! reads D-ITG's words and sends what they ask for to `trammel recv` in our own. Nobody guesses who
//! the other end is.

use super::send::outcome::{code, show};
use super::{options, sizes};
use anyhow::{anyhow, bail};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use trammel_driver::guard::{Proof, is_guarded};
use trammel_ground::Unsupported;
use trammel_ground::say;
use trammel_io::{local, reach};
use trammel_streams::lacking::lacking;
use trammel_streams::send;
use trammel_streams::send::itg;
use trammel_streams::send::itg::daemon::Daemon;
use trammel_traffic::itg::arguments::{self, Invocation};
use trammel_traffic::itg::command::{Command, Host, Logs, Serve};
use trammel_traffic::itg::log_file::BinaryLog;
use trammel_traffic::itg::serve::Settings;
use trammel_traffic::itg::signalling::PORT;
use trammel_traffic::log::quota::Quota;
use trammel_traffic::signal::key::Key;

/// Datagrams that tell a passive sender of UDP where its receiver is, as ITGRecv's: of those after
/// the first ITGSend makes answers.
const PUNCHES: u32 = 1;

/// What describes a stream in our own words.
const OURS: [&str; 27] = [
    "metrics",
    "to",
    "rate",
    "gap",
    "size",
    "app",
    "duration",
    "packets",
    "bytes",
    "start",
    "protocol",
    "round_trip",
    "late",
    "name",
    "port",
    "ds",
    "ttl",
    "by",
    "interface",
    "to_mac",
    "flows",
    "threads",
    "departures",
    "script",
    "from",
    "daemon",
    "wait",
];

/// What stands on the command line of a sender.
#[derive(Debug, clap::Args)]
pub(super) struct SendArgs {
    /// Options of ITGSend: a flow to ITGRecv or `trammel recv --itg`; with --itg-script only its
    /// log options
    #[arg(
        long,
        value_name = "OPTIONS",
        allow_hyphen_values = true,
        help_heading = "D-ITG",
        conflicts_with_all = OURS
    )]
    itg: Option<String>,
    /// Script of ITGSend: one flow per line, all sent at once
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "D-ITG",
        conflicts_with_all = OURS
    )]
    itg_script: Option<PathBuf>,
    /// Send D-ITG's flows to `trammel recv`, in its own signalling
    #[arg(long, help_heading = "D-ITG", conflicts_with = "to")]
    native: bool,
}

/// The flows that are asked for.
#[derive(Debug)]
pub(super) struct Asked {
    flows: Vec<Command>,
    logs: Logs,
    is_native: bool,
    /// Flows are what others order (`-Q`).
    is_daemon: bool,
}

impl SendArgs {
    /// What they ask for, if anything.
    pub(super) fn asked(&self) -> anyhow::Result<Option<Asked>> {
        let words: Vec<&str> = self
            .itg
            .iter()
            .flat_map(|text| text.split_whitespace())
            .collect();
        let told = |why: arguments::Error| anyhow!("--itg: {why}");
        let mut is_daemon = false;
        let (flows, logs) = match &self.itg_script {
            Some(path) => {
                let name = path.display().to_string();
                let mut line = vec![name.as_str()];
                line.extend(&words);
                let Invocation::Script { logs, .. } = arguments::invocation(&line).map_err(told)?
                else {
                    bail!("--itg-script: `{name}` is no name of a file; write `./{name}`");
                };
                (script(path)?, logs)
            }
            None if self.itg.is_none() => return Ok(None),
            None => match arguments::invocation(&words).map_err(told)? {
                Invocation::Flow(mut command) => {
                    let logs = std::mem::take(&mut command.logs);
                    (vec![*command], logs)
                }
                Invocation::Script { path, logs } => (script(Path::new(&path))?, logs),
                Invocation::Daemon { logs } => {
                    is_daemon = true;
                    (Vec::new(), logs)
                }
                Invocation::Help => bail!(
                    "--itg: the options are those of ITGSend 2.8.1: see `man ITGSend`, or §3.2.3 \
                     of D-ITG's manual"
                ),
            },
        };
        Ok(Some(Asked {
            flows,
            logs,
            is_native: self.native,
            is_daemon,
        }))
    }
}

/// The flows of a script file.
fn script(path: &Path) -> anyhow::Result<Vec<Command>> {
    let name = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|why| anyhow!("`{name}` cannot be read: {why}"))?;
    arguments::script(&text).map_err(|why| anyhow!("`{name}`: {why}"))
}

impl Asked {
    /// Refuses a passive sender (`-H`) that others than this machine's users could come to, unless
    /// the user said `--no-key`.
    pub(super) fn is_guarded(&self, no_key: bool) -> anyhow::Result<()> {
        for one in self.flows.iter().filter(|one| one.is_passive) {
            is_guarded(itg::awaited_at(one)?, Proof::OfItg, no_key)?;
        }
        Ok(())
    }

    /// Whether its flows are those that others order.
    pub(super) fn is_daemon(&self) -> bool {
        self.is_daemon
    }
}

/// Waits for orders of libITG at `listen` until it is interrupted.
pub(super) fn wait(asked: Asked, job: itg::ItgJob, listen: SocketAddr) -> anyhow::Result<ExitCode> {
    if asked.is_native || job.log.is_some() {
        bail!(
            "`-Q` sends to receivers of D-ITG and logs with its own `-l` or `-L`; leave `--native` \
             and `--log` out"
        );
    }
    let socket = UdpSocket::bind(listen).map_err(|why| {
        let what = format!("{listen} cannot be listened on: {why}");
        Unsupported::error(&what, "give another `--listen`")
    })?;
    let at = socket.local_addr()?;
    let daemon = Daemon::new(socket, asked.logs, job)?;
    let interrupted = options::interrupted()?;
    say(&format!(
        "waiting for orders on {at} without a key: everybody who reaches it can give orders"
    ));
    daemon.run(&interrupted, &say);
    Ok(ExitCode::from(trammel_ground::DONE))
}

/// Sends what is asked for.
pub(super) fn send(
    asked: &Asked,
    job: itg::ItgJob,
    key: Option<Key>,
    is_json: bool,
) -> anyhow::Result<ExitCode> {
    let is_one = asked.flows.len() == 1;
    for (command, number) in asked.flows.iter().zip(1..) {
        for remark in &command.remarks {
            let of = if is_one {
                String::new()
            } else {
                format!("flow {number}: ")
            };
            say(&format!("note: {of}{remark}"));
        }
    }
    if asked.flows.iter().any(|one| one.seed.is_none()) {
        say(&format!(
            "note: flows without `-s` have seeds from {} on; ITGSend takes another each time",
            job.seed
        ));
    }
    let interrupted = options::interrupted()?;
    let outcome = if asked.is_native {
        send_natively(asked, job, key, &interrupted)?
    } else if key.is_some() {
        bail!(
            "D-ITG's signalling has no keys; leave `--key` out, or send to `trammel recv` with \
             `--native`"
        );
    } else {
        itg::run(&asked.flows, &asked.logs, &job, &interrupted, &say)?
    };
    show(&outcome, is_json)?;
    let was_interrupted = interrupted.load(Ordering::SeqCst);
    // Receivers of D-ITG do not tell what came: what can fail is seen here.
    let is_sent = outcome.flows.iter().all(|flow| flow.sent.fault.is_none());
    if !asked.is_native && is_sent && !was_interrupted {
        return Ok(ExitCode::from(trammel_ground::DONE));
    }
    Ok(ExitCode::from(code(&outcome, was_interrupted)))
}

/// Sends the flows to a receiver of ours.
fn send_natively(
    asked: &Asked,
    job: itg::ItgJob,
    key: Option<Key>,
    stop: &std::sync::atomic::AtomicBool,
) -> anyhow::Result<send::SendOutcome> {
    if asked.logs != Logs::default() {
        bail!(
            "`-l`, `-x`, `-L` and `-X` are logs of D-ITG's; with `--native` write `--log FILE` \
             here and there"
        );
    }
    let Some(first) = asked.flows.first() else {
        bail!("there is no flow to send");
    };
    if asked
        .flows
        .iter()
        .any(|one| one.destination != first.destination)
    {
        bail!("with `--native` all flows go to one receiver; write a script for each");
    }
    let host = match &first.destination {
        Host::Address(address) => address.to_string(),
        Host::Name(name) => name.clone(),
    };
    // D-ITG's port of signalling is its default and not ours.
    let to = match first.signalling.port {
        PORT => host,
        port if host.contains(':') => format!("[{host}]:{port}"),
        port => format!("{host}:{port}"),
    };
    let is_one_port = asked.flows.iter().all(|one| one.port == first.port);
    let streams = itg::streams(&asked.flows, job.seed)?;
    let job = send::SendJob {
        port: if is_one_port { first.port } else { 0 },
        key,
        wait: job.wait,
        is_real_time: job.is_real_time,
        log: job.log,
        ..send::SendJob::to(to)
    };
    send::run(&streams, &job, stop)
}

/// What stands on the command line of a receiver.
#[derive(Debug, clap::Args)]
pub(super) struct RecvArgs {
    /// Serve senders of D-ITG, ITGSend or `trammel send --itg`; with options of ITGRecv after `=`
    #[arg(
        long,
        value_name = "OPTIONS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        help_heading = "D-ITG",
        conflicts_with_all = ["key", "xdp"]
    )]
    itg: Option<String>,
    /// Folder for logs that D-ITG senders request (`-x`); also allows log servers (`-X`); without
    /// it no log is written
    #[arg(long, value_name = "DIR", help_heading = "D-ITG", requires = "itg")]
    itg_logs: Option<PathBuf>,
    /// Most bytes of these logs together
    #[arg(
        long, value_name = "SIZE", help_heading = "D-ITG", requires = "itg_logs",
        default_value = "10 GB", value_parser = sizes::parse
    )]
    quota: u64,
}

/// What a receiver is asked to do.
#[derive(Debug)]
pub(super) struct Serving {
    serve: Serve,
    wished: Option<PathBuf>,
    quota: u64,
    log: Option<Arc<BinaryLog>>,
}

impl RecvArgs {
    /// What they ask for, if anything.
    pub(super) fn asked(&self) -> anyhow::Result<Option<Serving>> {
        let Some(text) = &self.itg else {
            return Ok(None);
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        let serve = arguments::serve(&words).map_err(|why| anyhow!("--itg: {why}"))?;
        for remark in &serve.remarks {
            say(&format!("note: {remark}"));
        }
        for device in [&serve.device, &serve.signalling_device]
            .into_iter()
            .flatten()
        {
            local::may_use(device).map_err(|why| lacking(&why))?;
        }
        if let Some(folder) = self.itg_logs.as_ref().filter(|folder| !folder.is_dir()) {
            bail!(
                "`{}` is no folder; make it: `mkdir -p {0}`",
                folder.display()
            );
        }
        let log = match (&serve.log_server, serve.log.as_deref()) {
            (Some(server), name) => {
                let (name, batch) = (name.unwrap_or("ITGRecv.log"), serve.batch.unwrap_or(50));
                Some(itg::begin_at(server, name, batch)?)
            }
            (None, Some(path)) => Some(itg::begin(Path::new(path))?),
            (None, None) => None,
        };
        Ok(Some(Serving {
            wished: self.itg_logs.clone(),
            quota: self.quota,
            log: log.map(Arc::new),
            serve,
        }))
    }
}

impl Serving {
    /// Where to listen for signalling and for packets, and how to serve.
    pub(super) fn serve(
        &self,
        (listen, port): (IpAddr, Option<u16>),
    ) -> anyhow::Result<(SocketAddr, IpAddr, Settings)> {
        let address = match &self.serve.address {
            None => (listen, 0).into(),
            Some(host) => itg::address(host)?,
        };
        let port = self.serve.port.or(port).unwrap_or(PORT);
        let address = reach::at_port(address, port);
        Ok((address, address.ip(), self.settings()))
    }

    /// The sender to come to (`-H`), and with how many datagrams of UDP; none if senders come here.
    pub(super) fn visits(&self) -> anyhow::Result<Option<(Vec<SocketAddr>, u32)>> {
        let Some(host) = &self.serve.passive else {
            return Ok(None);
        };
        let senders = itg::addresses(host, self.serve.port.unwrap_or(PORT))?;
        Ok(Some((senders, self.serve.punches.unwrap_or(PUNCHES))))
    }

    /// How to serve.
    pub(super) fn settings(&self) -> Settings {
        Settings {
            log: self.log.clone(),
            wished: self.wished.clone(),
            quota: Quota::new(self.quota),
            device: self.serve.device.clone(),
            signalling_device: self.serve.signalling_device.clone(),
        }
    }

    /// Writes what waits for the log, and says what is wrong with it.
    pub(super) fn end(&self) {
        if let Some(log) = &self.log {
            log.flush();
            if let Some(why) = log.fault() {
                say(&format!(
                    "warning: {why}; the log lacks everything after that"
                ));
            }
        }
    }
}
