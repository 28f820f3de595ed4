//! `trammel recv`: receives streams of many senders at once.

use super::itg::Serving;
use super::metrics::{Counted, RecvCounts};
use super::options;
use super::send::log_server;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trammel_driver::guard::{Proof, is_guarded, key};
use trammel_ground::Unsupported;
use trammel_ground::{DONE, INTERRUPTED, print, say};
use trammel_io::reach;
use trammel_io::route::interface;
use trammel_stats::table::write_json;
use trammel_streams::log_file::{LogFile, LogTo, session};
use trammel_streams::metrics;
use trammel_streams::receive::Keeper;
use trammel_streams::send::resolve;
use trammel_traffic::itg;
use trammel_traffic::receive::hub::{Hub, Sink};
use trammel_traffic::receive::visit::Visitor;
use trammel_traffic::receive::{Receiver, Settings};
use trammel_traffic::record::Instants;
use trammel_traffic::signal::channel::ReceiveError;
use trammel_traffic::signal::{PORT, WAIT_PORT};

/// So often is looked whether it is time to end.
const LOOK: Duration = Duration::from_millis(250);

/// So often the log is written.
const FLUSH: Duration = Duration::from_secs(1);

/// Receive the streams of `trammel send`, from many senders at once
///
/// Listens on the loopback address by default. Ends when interrupted, or after `--flows`, and then
/// reports what it received. The exit code is 130 if it was interrupted before that.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel recv --flows 1\n  trammel recv --listen 0.0.0.0 --key \
                  key.txt --log received.log\n  trammel recv --itg --listen 0.0.0.0 --no-key\n  \
                  trammel recv --itg='-Sp 9001 -l theirs.log'"
)]
pub(super) struct Args {
    /// Address to listen on, for signalling and packets; a link-local address with its interface,
    /// `fe80::1%eth0`
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", value_parser = own_address)]
    listen: SocketAddr,
    /// Port of signalling; 0 takes any free port [default: 9310, with --itg 9000]
    #[arg(short, long, value_name = "PORT")]
    port: Option<u16>,
    /// Connect to a waiting sender (`trammel send --wait`) instead of listening [default port:
    /// 9313]
    #[arg(long, value_name = "HOST", conflicts_with_all = ["listen", "port", "xdp", "no_key"])]
    connect: Option<String>,
    /// End after this many flows are closed
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    flows: Option<u32>,
    /// Receive UDP datagrams of one port on this interface by AF_XDP, bypassing the kernel's stack
    #[arg(long, value_name = "INTERFACE")]
    xdp: Option<String>,
    /// File with the key that senders must have, at least 16 bytes
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Receive from everybody who reaches the address, without a key
    #[arg(long, conflicts_with = "key")]
    no_key: bool,
    /// Log when each packet was sent and received; append to the file
    #[arg(short, long, value_name = "FILE", conflicts_with = "log_to")]
    log: Option<PathBuf>,
    /// Write the log to this log server [default port: 9312]
    #[arg(long, value_name = "HOST")]
    log_to: Option<String>,
    /// File with the log server's key
    #[arg(long, value_name = "FILE", requires = "log_to")]
    log_key: Option<PathBuf>,
    #[command(flatten)]
    metrics: super::metrics::Args,
    #[command(flatten)]
    itg: super::itg::RecvArgs,
    /// Write the tables to standard output as JSON
    #[arg(long)]
    json: bool,
}

fn own_address(text: &str) -> Result<SocketAddr, String> {
    reach::own(text, Some(0)).map_err(|why| format!("{why}; {}", reach::FORMS))
}

/// Where to listen for signalling.
fn listens_at(args: &Args) -> SocketAddr {
    let named = Some(args.listen.port()).filter(|port| *port != 0);
    reach::at_port(args.listen, args.port.or(named).unwrap_or(PORT))
}

/// A receiver that senders come to, ours or D-ITG's, or one that comes to its sender.
enum End {
    Listens(Receiver),
    Comes(Visitor),
    OfItg(itg::serve::Receiver),
    ComesOfItg(itg::serve::Visitor),
}

impl End {
    fn open(
        args: &Args,
        asked: Option<&Serving>,
        settings: Settings,
        hub: Hub,
    ) -> anyhow::Result<End> {
        let unheard = |address: SocketAddr, why: io::Error| {
            let what = format!("{address} cannot be listened on: {why}");
            Unsupported::error(&what, "give another `--listen` or `--port`")
        };
        if let Some(asked) = asked {
            if let Some((senders, punches)) = asked.visits()? {
                let sender = reach::named(&senders);
                say(&format!("coming to {sender}"));
                let visitor = itg::serve::Visitor::come(&senders, punches, asked.settings(), hub);
                let visitor = visitor.map_err(|why| {
                    Unsupported::error(
                        &format!("no passive sender of D-ITG waits at {sender}: {why}"),
                        "start one there: `ITGSend -H …`, or `trammel send --itg \"-H …\"`",
                    )
                })?;
                return Ok(End::ComesOfItg(visitor));
            }
            let (address, data, settings) = asked.serve((args.listen.ip(), args.port))?;
            let receiver = itg::serve::Receiver::open(address, data, settings, hub);
            let receiver = receiver.map_err(|why| unheard(address, why))?;
            say(&format!("listening on {}", receiver.address()));
            return Ok(End::OfItg(receiver));
        }
        if let Some(to) = &args.connect {
            let senders = resolve(to, WAIT_PORT)?;
            say(&format!("coming to {}", reach::named(&senders)));
            let visitor = Visitor::new(senders, settings, hub);
            // Who waits for more than one sender says for how many flows.
            return Ok(End::Comes(match args.flows {
                None => visitor.once(),
                Some(_) => visitor,
            }));
        }
        let address = listens_at(args);
        let receiver = Receiver::open(address, settings, hub);
        let receiver = receiver.map_err(|why| unheard(address, why))?;
        let receiver = match &args.xdp {
            Some(name) => {
                interface(name)
                    .map_err(|why| Unsupported::error(&why.to_string(), "ip link show"))?;
                receiver.by_xdp(name)
            }
            None => receiver,
        };
        say(&format!("listening on {}", receiver.address()));
        if args.listen.ip().is_loopback() {
            say(
                "note: only this host can reach it; for others give `--listen 0.0.0.0` with `--key \
                 FILE` or `--no-key`",
            );
        }
        Ok(End::Listens(receiver))
    }

    fn run(&self, stop: &AtomicBool) -> io::Result<()> {
        let ended = |from: SocketAddr, why: ReceiveError| {
            say(&format!("{from}: {why}; its flows are closed"));
        };
        match self {
            End::Listens(receiver) => receiver.run(stop, &ended),
            End::Comes(visitor) => visitor.run(stop, &ended).map_err(io::Error::other),
            End::OfItg(receiver) => {
                receiver.run(stop, &|from, what| say(&format!("{from} {what}")))
            }
            End::ComesOfItg(visitor) => {
                visitor.run(stop, &|from, what| say(&format!("{from} {what}")))
            }
        }
    }

    /// Packets that belonged to no open flow.
    fn foreign(&self) -> u64 {
        match self {
            End::Listens(receiver) => receiver.hub().foreign(),
            End::Comes(visitor) => visitor.hub().foreign(),
            End::OfItg(receiver) => receiver.hub().foreign(),
            End::ComesOfItg(visitor) => visitor.hub().foreign(),
        }
    }
}

/// How to receive, if it may be listened where it is asked for.
fn settings(args: &Args, asked: Option<&Serving>) -> anyhow::Result<Settings> {
    let settings = Settings {
        key: args.key.as_deref().map(key).transpose()?,
    };
    if let Some(asked) = asked {
        if asked.visits()?.is_none() {
            let (address, ..) = asked.serve((args.listen.ip(), args.port))?;
            is_guarded(address, Proof::OfItg, args.no_key)?;
        }
    } else if args.connect.is_none() {
        let address = listens_at(args);
        is_guarded(address, Proof::Key(settings.key.as_ref()), args.no_key)?;
    }
    Ok(settings)
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let asked = args.itg.asked()?;
    let settings = settings(args, asked.as_ref())?;
    let interrupted = options::interrupted()?;
    let to = match (&args.log, &args.log_to) {
        (Some(path), _) => Some(LogTo::File(path.clone())),
        (None, Some(to)) => Some(log_server(to, args.log_key.as_deref())?),
        (None, None) => None,
    };
    let session = session(Instants::SentReceived, 0);
    let log = to.map(|to| LogFile::begin(&to, &session, &interrupted));
    let log = log.transpose().map_err(anyhow::Error::msg)?;
    let keeper = Keeper::new(log);
    let sink: Box<dyn Sink> = match args.metrics.serve(RecvCounts::new)? {
        Some(counts) => Box::new(Counted::new(keeper.clone(), counts)),
        None => Box::new(keeper.clone()),
    };
    let receiver = End::open(args, asked.as_ref(), settings, Hub::new(sink))?;
    let stop = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        let running = scope.spawn(|| receiver.run(&stop));
        let mut flushed = Instant::now();
        loop {
            let closed = keeper.closed();
            let is_enough = args.flows.is_some_and(|most| closed >= most as usize);
            if interrupted.load(Ordering::SeqCst) || is_enough || running.is_finished() {
                break;
            }
            keeper.wait(closed, LOOK);
            if flushed.elapsed() > FLUSH {
                keeper.flush();
                flushed = Instant::now();
            }
        }
        stop.store(true, Ordering::SeqCst);
        running.join().expect("the thread does not panic")
    });
    let foreign = receiver.foreign();
    if let Some(asked) = &asked {
        asked.end();
    }
    let (report, fault) = keeper.finish();
    if args.json {
        write_json(&metrics::tables(&report), trammel_ground::stdout())?;
    } else if !report.flows.is_empty() {
        print(metrics::text(&report).trim_end())?;
    }
    if report.flows_in_totals_only > 0 {
        say(&format!(
            "note: the {} oldest flows are in the totals only: the list has the last {}; `--log \
             FILE` keeps all",
            report.flows_in_totals_only,
            report.flows.len()
        ));
    }
    if foreign > 0 {
        say(&format!("note: {foreign} packets belonged to no open flow"));
    }
    if let Some(why) = fault {
        anyhow::bail!("{why}");
    }
    ran.map_err(|why| anyhow::anyhow!("no more can be received: {why}"))?;
    let is_done = args
        .flows
        .is_none_or(|most| keeper.closed() >= most as usize);
    Ok(ExitCode::from(if is_done { DONE } else { INTERRUPTED }))
}
