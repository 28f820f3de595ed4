//! D-ITG: what it achieved is read from its receiver's log. Its sender writes none, so that it is
//! as fast as it can be.

use super::program::{Folder, Running, port, wait_for};
use crate::achieved::{Achieved, Wanted, rate};
use crate::log_file::session;
use crate::rig::Rig;
use anyhow::{Context, ensure};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use trammel_traffic::decode::{Decoder, Options};
use trammel_traffic::itg::binary_log::read_all;
use trammel_traffic::itg::line::Days;
use trammel_traffic::record::{Instants, Protocol};

const PACKAGE: &str = "d-itg";
/// ITGRecv writes its log some time after a flow has ended: when it has not grown for so long, it
/// is whole.
const QUIET: Duration = Duration::from_millis(300);
/// The longest wait for it.
const LONGEST: Duration = Duration::from_secs(10);

pub(super) fn send(rig: &Rig, wanted: &Wanted, stop: &AtomicBool) -> anyhow::Result<Achieved> {
    let folder = Folder::new()?;
    let (signalling, log) = (port(rig)?, folder.file("received.log"));
    let words = ["ITGRecv", "-Sp", &signalling.port().to_string(), "-l"].map(str::to_owned);
    let words = [&words[..], &[log.display().to_string()]].concat();
    let _receiver = rig.at_receiver(|| Running::start(&words, &folder, "receiver.txt", PACKAGE))?;
    wait_for(rig, signalling.port())?;
    // It does not say `SO_REUSEADDR` for a flow's port, which cannot be held for it.
    let flow = port(rig)?.port();
    let words = format!(
        "ITGSend -a {} -Sdp {} -rp {flow} -T {} -C {} -c {} -t {} -poll",
        rig.address(),
        signalling.port(),
        if wanted.protocol == Protocol::Tcp {
            "TCP"
        } else {
            "UDP"
        },
        wanted.pps,
        wanted.bytes,
        (wanted.seconds * 1e3).round(),
    );
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let sender = || Running::start(&words, &folder, "sender.txt", PACKAGE);
    let mut sender = rig.at_sender(sender)?;
    let status = sender.end(wanted.seconds, stop)?;
    ensure!(status.success(), "`ITGSend` ended with {status}");
    account(&whole(&log)?)
}

/// The log once it does not grow any more.
fn whole(log: &Path) -> anyhow::Result<Vec<u8>> {
    let bytes = || std::fs::metadata(log).map_or(0, |about| about.len());
    let begun = Instant::now();
    let (mut last, mut since) = (bytes(), Instant::now());
    while begun.elapsed() < LONGEST && (last == 0 || since.elapsed() < QUIET) {
        std::thread::sleep(Duration::from_millis(20));
        let now = bytes();
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    std::fs::read(log).with_context(|| format!("`{}`", log.display()))
}

/// What a receiver's log tells: the sender's packets by their numbers, its rate by their time
/// stamps.
fn account(log: &[u8]) -> anyhow::Result<Achieved> {
    let mut decoder = Decoder::new(Options::default());
    decoder.session(session(Instants::SentReceived, 0));
    let mut days = Days::new(0);
    let (mut sent, mut received, mut bytes) = (0, 0_u64, 0_u64);
    let (mut first_ns, mut last_ns) = (i64::MAX, i64::MIN);
    for line in read_all(log) {
        // The log of a program that was ended may be cut within its last record.
        let Ok(line) = line else { break };
        let record = days
            .record(&line)
            .context("a packet's number is too large")?;
        (first_ns, last_ns) = (first_ns.min(record.start_ns), last_ns.max(record.start_ns));
        sent = sent.max(record.sequence + 1);
        received += 1;
        bytes += u64::from(record.bytes);
        decoder.record(&record);
    }
    ensure!(received > 0, "ITGRecv logged no packet");
    let summary = decoder.finish().flows.pop().map(|flow| flow.summary);
    let sent_pps = rate(sent, (last_ns - first_ns) as f64 / 1e9);
    let delay = summary.as_ref().and_then(|summary| summary.delay);
    let jitter = summary.and_then(|summary| summary.jitter.mean_ns);
    Ok(Achieved {
        bytes: Some(bytes as f64 / received as f64),
        sent_pkts: sent,
        sent_pps,
        received_pkts: received,
        pps: sent_pps.map(|pps| pps * received as f64 / sent as f64),
        lost_pkts: sent.saturating_sub(received),
        delay_us: delay.map(|delay| delay.mean_ns / 1e3),
        jitter_us: jitter.map(|ns| ns / 1e3),
        ..Achieved::default()
    })
}
