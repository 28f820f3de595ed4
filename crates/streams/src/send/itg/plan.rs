//! The flows that are to be sent, as their commands say, and what is refused before anything is
//! sent.

use super::job::ItgJob;
use crate::lacking::lacking;
use anyhow::{anyhow, bail};
use std::io::Read;
use std::net::SocketAddr;
use trammel_ground::Unsupported;
use trammel_io::{local, reach};
use trammel_traffic::filler::Filler;
use trammel_traffic::itg::command::{Command, Host};
use trammel_traffic::itg::flow;
use trammel_traffic::record::Protocol;
use trammel_traffic::stream::{Meter, Stream};

/// The longest file of payloads (`-Fp`), which is held in memory.
const MOST_CONTENT_BYTES: u64 = 256 << 20;

/// A flow that is to be sent.
pub(super) struct Planned<'a> {
    pub(super) number: u32,
    pub(super) command: &'a Command,
    pub(super) stream: Stream,
    /// Where it may go, without a port; the first unless a receiver answers elsewhere.
    pub(super) to: Vec<SocketAddr>,
    pub(super) filler: Filler,
}

/// The streams of commands, each with a seed of its own.
pub fn streams(commands: &[Command], seed: u64) -> anyhow::Result<Vec<Stream>> {
    let each = commands.iter().zip(0..).map(|(command, at)| {
        let stream = flow::stream(command, seed.wrapping_add(at));
        let mut stream = stream.map_err(|why| anyhow!("flow {}: {why}", at + 1))?;
        stream.name = format!("flow {}", at + 1);
        Ok(stream)
    });
    each.collect()
}

pub(super) fn plan<'a>(commands: &'a [Command], job: &ItgJob) -> anyhow::Result<Vec<Planned<'a>>> {
    let mut planned = Vec::new();
    for ((number, command), stream) in (job.first..)
        .zip(commands)
        .zip(streams(commands, job.seed)?)
    {
        refuse_what_is_not_done(number, command)?;
        let devices = [&command.device, &command.signalling.device];
        for device in devices.into_iter().flatten() {
            local::may_use(device).map_err(|why| lacking(&why))?;
        }
        let content = command
            .content
            .as_deref()
            .map(|path| content(path).map_err(|why| anyhow!("flow {number}: `-Fp {path}`: {why}")));
        planned.push(Planned {
            number,
            command,
            to: addresses(&command.destination, 0)?,
            filler: flow::filler(command, content.transpose()?, stream.seed),
            stream,
        });
    }
    Ok(planned)
}

/// The bytes of a file of payloads, which a device without end is not.
fn content(path: &str) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path)?;
    file.take(MOST_CONTENT_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_CONTENT_BYTES {
        bail!(
            "it has more than {} MiB: give a shorter file, whose bytes are sent over and over",
            MOST_CONTENT_BYTES >> 20
        );
    }
    Ok(bytes)
}

/// What is understood, but has nothing here that does it.
fn refuse_what_is_not_done(number: u32, command: &Command) -> anyhow::Result<()> {
    let lacks =
        |what: &str, help: &str| Err(Unsupported::error(&format!("flow {number}: {what}"), help));
    match command.protocol {
        Protocol::Udp | Protocol::Tcp => {}
        Protocol::Icmp if command.meter == Meter::OneWay => {}
        Protocol::Icmp => {
            return lacks(
                "D-ITG's receivers send nothing back over ICMP (`-m rttm`)",
                "use `-T UDP`, or `--native`, which sends it to `trammel recv`",
            );
        }
        other => {
            let name = format!("{other:?}").to_uppercase();
            let what = format!("`-T {name}` is not sent to D-ITG's receivers");
            return lacks(&what, "use `-T UDP`, `-T TCP` or `-T ICMP`");
        }
    }
    if command.is_passive && command.protocol == Protocol::Icmp {
        return lacks(
            "no receiver comes for packets of ICMP (`-H`)",
            "leave `-H` out, or use `-T UDP` or `-T TCP`",
        );
    }
    if command.sender_serial.is_some() {
        return lacks(
            "serial lines are not supported (`-sk`): the original crashes before it sends",
            "leave `-sk` out",
        );
    }
    Ok(())
}

/// The addresses of a host, in the order in which they are tried.
pub fn addresses(host: &Host, port: u16) -> anyhow::Result<Vec<SocketAddr>> {
    let text = match host {
        Host::Address(address) => address.to_string(),
        Host::Name(name) => name.clone(),
    };
    let found = reach::addresses(&text, 0);
    let found = found.map_err(|why| anyhow!("`{text}` is not a known host: {why}"))?;
    if found.iter().any(|address| address.port() != 0) {
        bail!("`{text}` names a port: D-ITG has it in `-rp`, and that of signalling in `-Sdp`");
    }
    let at_port = |address| reach::at_port(address, port);
    Ok(found.into_iter().map(at_port).collect())
}

/// The address of a host that is this one, or that is told to others: its first.
pub fn address(host: &Host) -> anyhow::Result<SocketAddr> {
    Ok(addresses(host, 0)?[0])
}
