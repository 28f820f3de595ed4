//! `trammel log`: keeps the logs of many senders and receivers.

use super::{listen_at, options};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use trammel_driver::guard::{Proof, is_guarded, key};
use trammel_ground::Lacks;
use trammel_ground::{DONE, say};
use trammel_streams::log_store::Files;
use trammel_traffic::itg;
use trammel_traffic::log::quota::Quota;
use trammel_traffic::log::server::{Ended, LogServer};
use trammel_traffic::signal::LOG_PORT;

/// Keep the logs of senders and receivers elsewhere
///
/// Listens on the loopback address unless told otherwise, until it is interrupted. `trammel send --log-to HOST` and
/// `trammel recv --log-to HOST` write here, every second. `trammel decode` reads the files.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel log logs/\n  trammel log --listen 0.0.0.0:9312 --key key.txt logs/\n  trammel log --itg logs/"
)]
pub(super) struct Args {
    /// Folder for a file of each log, made if the name ends with `/`; or a file that logs are appended to, one at a time
    #[arg(value_name = "FOLDER|FILE")]
    path: PathBuf,
    /// Address and port to listen on [default: 127.0.0.1:9312, with --itg 127.0.0.1:9001]
    #[arg(short = 'a', long, value_name = "ADDRESS:PORT", value_parser = listen_at)]
    listen: Option<SocketAddr>,
    /// File with the key that writers must hold, 16 bytes at least
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Keep the logs of whoever reaches the address, without a key
    #[arg(long, conflicts_with = "key")]
    no_key: bool,
    /// How much all logs together may take that are kept in this run, files at 4 KiB each beside their bytes
    #[arg(long, value_name = "SIZE", default_value = "10 GB", value_parser = super::send::bytes)]
    quota: u64,
    /// Keep the logs of ITGSend and ITGRecv, and of `--itg` with `-L` or `-X`, as ITGLog does; D-ITG knows no keys
    #[arg(long, help_heading = "D-ITG", conflicts_with = "key")]
    itg: bool,
}

/// Whoever cannot be listened for, and what to do.
fn unheard(address: SocketAddr) -> impl Fn(std::io::Error) -> anyhow::Error {
    move |why| {
        let what = format!("{address} cannot be listened on: {why}");
        Lacks::error(&what, "give another `--listen`")
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
            "`{0}` is a file, and writers of D-ITG name the files that they want: give a folder, `{0}/`",
            args.path.display()
        );
    };
    let server = itg::log_serve::LogServer::open(listen, folder, quota).map_err(unheard(listen))?;
    let interrupted = options::interrupted()?;
    say(&format!("listening on {}", server.address()));
    server
        .run(&interrupted, &|from, what| say(&format!("{from}: {what}")))
        .map_err(|why| anyhow::anyhow!("no more logs can be taken: {why}"))?;
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
            Ended::Whole { bytes } => format!("{from}: a log of {bytes} bytes is whole"),
            Ended::Left { bytes, why } => {
                format!("{from}: {why}; {bytes} bytes of its log are kept")
            }
            Ended::Refused { bytes, why } => {
                format!("{from}: refused: {why}; {bytes} bytes of its log are kept")
            }
        });
    });
    ran.map_err(|why| anyhow::anyhow!("no more logs can be taken: {why}"))?;
    Ok(ExitCode::from(DONE))
}
