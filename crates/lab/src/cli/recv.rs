//! `trammel recv`: receives streams of many senders at once.

use super::{DONE, INTERRUPTED, key, options, print, say};
use crate::engine::Lacks;
use crate::traffic::log_file::{LogFile, session};
use crate::traffic::metrics;
use crate::traffic::receive::Keeper;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trammel_core::table::write_json;
use trammel_io::route::interface;
use trammel_traffic::itg;
use trammel_traffic::receive::hub::Hub;
use trammel_traffic::receive::{Receiver, Settings};
use trammel_traffic::record::Instants;
use trammel_traffic::signal::PORT;

/// So often is looked whether it is time to end.
const LOOK: Duration = Duration::from_millis(20);

/// So often the log is written.
const FLUSH: Duration = Duration::from_secs(1);

/// Receive the streams of `trammel send`, from many senders at once
///
/// Listens on the loopback address unless told otherwise. Ends when it is interrupted, or after so many flows, and then says
/// what came. The exit code is 130 where it was interrupted before these had come.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel recv --flows 1\n  trammel recv --listen 0.0.0.0 --key key.txt --log received.log\n  trammel recv --itg --listen 0.0.0.0\n  trammel recv --itg='-Sp 9001 -l theirs.log'"
)]
pub(super) struct Args {
    /// Address to listen on, for signalling and packets
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// Port of signalling; 0 takes any that is free [default: 9310, with --itg 9000]
    #[arg(short, long, value_name = "PORT")]
    port: Option<u16>,
    /// End after so many flows are closed
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    flows: Option<u32>,
    /// Interface of which datagrams of UDP are taken by AF_XDP, past the kernel's stack; of one port
    #[arg(long, value_name = "INTERFACE")]
    xdp: Option<String>,
    /// File with the key that senders must hold, 16 bytes at least
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Log of when each packet was sent and received; what the file holds stays
    #[arg(short, long, value_name = "FILE")]
    log: Option<PathBuf>,
    #[command(flatten)]
    itg: super::itg::RecvArgs,
    /// Write the tables to standard output as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let asked = args.itg.asked()?;
    let key = args.key.as_deref().map(key).transpose()?;
    let log = match &args.log {
        Some(path) => {
            let session = session(Instants::SentReceived, 0);
            Some(LogFile::open(path, &session).map_err(anyhow::Error::msg)?)
        }
        None => None,
    };
    let keeper = Keeper::new(log);
    let hub = Hub::new(Box::new(keeper.clone()));
    let unheard = |address: SocketAddr, why: io::Error| {
        let what = format!("{address} cannot be listened on: {why}");
        Lacks::error(&what, "give another `--listen` or `--port`")
    };
    if let Some(asked) = asked {
        let (address, data, settings) = asked.serve((args.listen, args.port))?;
        let receiver = itg::serve::Receiver::open(address, data, settings, hub);
        let receiver = receiver.map_err(|why| unheard(address, why))?;
        let run =
            |stop: &AtomicBool| receiver.run(stop, &|from, what| say(&format!("{from} {what}")));
        let foreign = || receiver.hub().foreign();
        let done = serve(args, &keeper, receiver.address()?, (&run, &foreign));
        asked.end();
        return done;
    }
    let address = SocketAddr::from((args.listen, args.port.unwrap_or(PORT)));
    let receiver = Receiver::open(address, Settings { key }, hub);
    let receiver = receiver.map_err(|why| unheard(address, why))?;
    let receiver = match &args.xdp {
        Some(name) => {
            interface(name).map_err(|why| Lacks::error(&why.to_string(), "ip link show"))?;
            receiver.by_xdp(name)
        }
        None => receiver,
    };
    let run = |stop: &AtomicBool| {
        receiver.run(stop, &|from, why| {
            say(&format!("{from}: {why}; its flows are closed"));
        })
    };
    let foreign = || receiver.hub().foreign();
    serve(args, &keeper, receiver.address(), (&run, &foreign))
}

/// A receiver until it is stopped, and the packets that belonged to no flow.
type Running<'a> = (
    &'a (dyn Fn(&AtomicBool) -> io::Result<()> + Sync),
    &'a dyn Fn() -> u64,
);

/// Receives until it is enough, and says what came.
fn serve(
    args: &Args,
    keeper: &Keeper,
    address: SocketAddr,
    (run, foreign): Running<'_>,
) -> anyhow::Result<ExitCode> {
    let interrupted = options::interrupted()?;
    say(&format!("listening on {address}"));
    let stop = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&stop));
        let is_enough = || {
            args.flows
                .is_some_and(|most| keeper.closed() >= most as usize)
        };
        let mut flushed = Instant::now();
        while !interrupted.load(Ordering::SeqCst) && !is_enough() && !running.is_finished() {
            std::thread::sleep(LOOK);
            if flushed.elapsed() > FLUSH {
                keeper.flush();
                flushed = Instant::now();
            }
        }
        stop.store(true, Ordering::SeqCst);
        running.join().expect("it does not panic")
    });
    let foreign = foreign();
    let (report, fault) = keeper.finish();
    if args.json {
        write_json(&metrics::tables(&report), std::io::stdout())?;
    } else if !report.flows.is_empty() {
        print(metrics::text(&report).trim_end())?;
    }
    if foreign > 0 {
        say(&format!("note: {foreign} packets belonged to no open flow"));
    }
    if let Some(why) = fault {
        anyhow::bail!("{why}");
    }
    ran.map_err(|why| anyhow::anyhow!("no more senders can be accepted: {why}"))?;
    let is_done = args
        .flows
        .is_none_or(|most| keeper.closed() >= most as usize);
    Ok(ExitCode::from(if is_done { DONE } else { INTERRUPTED }))
}
