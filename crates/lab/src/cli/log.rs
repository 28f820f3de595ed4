//! `trammel log`: keeps the logs of many senders and receivers.

use super::send::is_guarded;
use super::{DONE, key, options, say};
use crate::engine::Lacks;
use crate::traffic::log_store::Files;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::ExitCode;
use trammel_traffic::log::server::{Ended, LogServer};
use trammel_traffic::signal::LOG_PORT;

/// Keep the logs of senders and receivers elsewhere
///
/// Listens on the loopback address unless told otherwise, until it is interrupted. `trammel send --log-to HOST` and
/// `trammel recv --log-to HOST` write here, every second. `trammel decode` reads the files.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel log logs/\n  trammel log --listen 0.0.0.0:9312 --key key.txt logs/"
)]
pub(super) struct Args {
    /// Folder for a file of each log, made if the name ends with `/`; or a file that logs are appended to, one at a time
    #[arg(value_name = "FOLDER|FILE")]
    path: PathBuf,
    /// Address and port to listen on
    #[arg(short = 'a', long, value_name = "ADDRESS:PORT", default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, LOG_PORT)))]
    listen: SocketAddr,
    /// File with the key that writers must hold, 16 bytes at least
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Keep the logs of whoever reaches the address, without a key
    #[arg(long, conflicts_with = "key")]
    no_key: bool,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let key = args.key.as_deref().map(key).transpose()?;
    is_guarded(args.listen, key.as_ref(), args.no_key)?;
    let files = Files::open(&args.path).map_err(anyhow::Error::msg)?;
    let server = LogServer::open(args.listen, key).map_err(|why| {
        let what = format!("{} cannot be listened on: {why}", args.listen);
        Lacks::error(&what, "give another `--listen`")
    })?;
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
