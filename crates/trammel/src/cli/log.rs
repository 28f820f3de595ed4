//! `trammel log`: keeps the logs of many senders and receivers.

use super::addresses::listen_at;
use super::{options, sizes};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use trammel_driver::guard::{Proof, is_guarded, key};
use trammel_ground::Unsupported;
use trammel_ground::{DONE, say};
use trammel_streams::log_store::Files;
use trammel_traffic::itg;
use trammel_traffic::log::quota::Quota;
use trammel_traffic::log::server::{Ended, LogServer};
use trammel_traffic::signal::LOG_PORT;

/// Run a log server for remote senders and receivers
///
/// Listens on the loopback address by default, until interrupted. `trammel send --log-to HOST` and
/// `trammel recv --log-to HOST` write to it every second. `trammel decode` reads the files.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel log logs/\n  trammel log --listen 0.0.0.0:9312 --key \
                  key.txt logs/\n  trammel log --itg logs/"
)]
pub(super) struct Args {
    /// Folder with one file per log, created if the name ends with `/`; or a file to which logs are
    /// appended, one at a time
    #[arg(value_name = "FOLDER|FILE")]
    path: PathBuf,
    /// Address and port to listen on [default: 127.0.0.1:9312, with --itg 127.0.0.1:9001]
    #[arg(short = 'a', long, value_name = "ADDRESS:PORT", value_parser = listen_at)]
    listen: Option<SocketAddr>,
    /// File with the key that writers must have, at least 16 bytes
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Keep logs of everybody who reaches the address, without a key
    #[arg(long, conflicts_with = "key")]
    no_key: bool,
    /// Most bytes of all logs of this run together; each file counts 4 KiB more
    #[arg(long, value_name = "SIZE", default_value = "10 GB", value_parser = sizes::parse)]
    quota: u64,
    /// Act as ITGLog: keep the logs of ITGSend and ITGRecv, and of `--itg` with `-L` or `-X`; D-ITG
    /// has no keys
    #[arg(long, help_heading = "D-ITG", conflicts_with = "key")]
    itg: bool,
}

/// Whoever cannot be listened for, and what to do.
fn unheard(address: SocketAddr) -> impl Fn(std::io::Error) -> anyhow::Error {
    move |why| {
        let what = format!("{address} cannot be listened on: {why}");
        Unsupported::error(&what, "give another `--listen`")
    }
}

/// Keeps logs as ITGLog does.
fn run_as_itglog(args: &Args) -> anyhow::Result<ExitCode> {
    let listen = (Ipv4Addr::LOCALHOST, itg::log_protocol::PORT).into();
    let listen = args.listen.unwrap_or(listen);
    is_guarded(listen, Proof::OfItg, args.no_key)?;
    let quota = Quota::new(args.quota);
    let files = Files::open(&args.path, quota.clone()).map_err(anyhow::Error::msg)?;
    let Files::Folder(folder, _) = files else {
        anyhow::bail!(
            "`{0}` is a file, and D-ITG clients name their own files: give a folder, `{0}/`",
            args.path.display()
        );
    };
    let server = itg::log_serve::LogServer::open(listen, folder, quota).map_err(unheard(listen))?;
    let interrupted = options::interrupted()?;
    say(&format!("listening on {}", server.address()));
    server
        .run(&interrupted, &|from, what| say(&format!("{from}: {what}")))
        .map_err(|why| anyhow::anyhow!("no more logs can be accepted: {why}"))?;
    Ok(ExitCode::from(DONE))
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if args.itg {
        return run_as_itglog(args);
    }
    let listen = args
        .listen
        .unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, LOG_PORT)));
    let key = args.key.as_deref().map(key).transpose()?;
    is_guarded(listen, Proof::Key(key.as_ref()), args.no_key)?;
    let files = Files::open(&args.path, Quota::new(args.quota)).map_err(anyhow::Error::msg)?;
    let server = LogServer::open(listen, key).map_err(unheard(listen))?;
    let interrupted = options::interrupted()?;
    say(&format!("listening on {}", server.address()));
    let ran = server.run(&files, &interrupted, &|from, ended| {
        say(&match ended {
            Ended::Whole { bytes } => format!("{from}: a log of {bytes} bytes is complete"),
            Ended::Left { bytes, why } => {
                format!("{from}: {why}; {bytes} bytes of its log are kept")
            }
            Ended::Refused { bytes, why } => {
                format!("{from}: refused: {why}; {bytes} bytes of its log are kept")
            }
        });
    });
    ran.map_err(|why| anyhow::anyhow!("no more logs can be accepted: {why}"))?;
    Ok(ExitCode::from(DONE))
}
