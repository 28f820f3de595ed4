//! The flows that are to be sent, as their commands say, and what is refused before anything is sent.

use super::Job;
use crate::engine::Lacks;
use crate::traffic::lacking::lacking;
use anyhow::{Context, anyhow};
use std::net::{IpAddr, ToSocketAddrs};
use trammel_io::local;
use trammel_traffic::itg::command::{Command, Host};
use trammel_traffic::itg::flow;
use trammel_traffic::record::Protocol;
use trammel_traffic::stream::{Meter, Stream};

/// A flow that is to be sent.
pub(super) struct Planned<'a> {
    pub(super) number: u32,
    pub(super) command: &'a Command,
    pub(super) stream: Stream,
    pub(super) to: IpAddr,
    pub(super) filler: Vec<u8>,
}

pub(super) fn plan<'a>(commands: &'a [Command], job: &Job) -> anyhow::Result<Vec<Planned<'a>>> {
    let mut planned = Vec::new();
    for ((number, command), stream) in (job.first..)
        .zip(commands)
        .zip(super::streams(commands, job.seed)?)
    {
        refuse_what_is_not_done(number, command)?;
        let devices = [&command.device, &command.signalling.device];
        for device in devices.into_iter().flatten() {
            local::may_use(device).map_err(|why| lacking(&why))?;
        }
        let content = command.content.as_deref().map(|path| {
            std::fs::read(path).map_err(|why| anyhow!("flow {number}: `-Fp {path}`: {why}"))
        });
        planned.push(Planned {
            number,
            command,
            to: address(&command.destination)?,
            filler: flow::filler(content.transpose()?.as_deref(), stream.seed),
            stream,
        });
    }
    Ok(planned)
}

/// What is understood, but has nothing here that does it.
fn refuse_what_is_not_done(number: u32, command: &Command) -> anyhow::Result<()> {
    let lacks = |what: &str, help: &str| Err(Lacks::error(&format!("flow {number}: {what}"), help));
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
            "no serial line is signalled on (`-sk`): the original dies of it before it sends",
            "leave `-sk` out",
        );
    }
    Ok(())
}

/// The address of a host.
pub fn address(host: &Host) -> anyhow::Result<IpAddr> {
    match host {
        Host::Address(address) => Ok(*address),
        Host::Name(name) => {
            let found = (name.as_str(), 0).to_socket_addrs();
            let found = found.map_err(|why| anyhow!("`{name}` is no host that is known: {why}"))?;
            let mut found = found.map(|address| address.ip());
            found
                .next()
                .with_context(|| format!("`{name}` has no address"))
        }
    }
}
