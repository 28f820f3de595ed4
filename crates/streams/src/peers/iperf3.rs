//! iperf3: what it achieved is read from its client's JSON.

use super::program::{Folder, Running, port, wait_for};
use crate::achieved::{Achieved, Wanted};
use crate::rig::Rig;
use anyhow::{Context, bail};
use serde_json::Value;
use std::sync::atomic::AtomicBool;
use trammel_traffic::record::Protocol;

const PACKAGE: &str = "iperf3";

pub(super) fn send(rig: &Rig, wanted: &Wanted, stop: &AtomicBool) -> anyhow::Result<Achieved> {
    let folder = Folder::new()?;
    let held = port(rig)?;
    let port = held.port();
    let words =
        |line: String| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
    let server = words(format!("iperf3 -s -1 -p {port} -i 0"));
    let _server = rig.at_receiver(|| Running::start(&server, &folder, "server", PACKAGE))?;
    wait_for(rig, port)?;
    // It takes whole seconds only; a number of packets is as good.
    let client = words(format!(
        "iperf3 -c {} -p {port} {} -l {} -b {} -k {} -i 0 -J",
        rig.address(),
        if wanted.protocol == Protocol::Tcp {
            ""
        } else {
            "-u"
        },
        wanted.bytes,
        (wanted.pps * f64::from(wanted.bytes) * 8.0).round(),
        (wanted.pps * wanted.seconds).ceil(),
    ));
    let told = folder.file("client.json");
    let mut client = rig.at_sender(|| Running::start(&client, &folder, "client.json", PACKAGE))?;
    let status = client.end(wanted.seconds, stop)?;
    let text = std::fs::read_to_string(&told).unwrap_or_default();
    let json: Value = serde_json::from_str(&text)
        .with_context(|| format!("`iperf3` ended with {status} and told nothing"))?;
    if let Some(why) = json["error"].as_str() {
        bail!("`iperf3`: {why}");
    }
    account(&json, wanted).context("`iperf3` told less than is known of version 3.12")
}

/// What its client tells. What was under way when the test ended is not counted as received and not
/// as lost either.
fn account(json: &Value, wanted: &Wanted) -> Option<Achieved> {
    let end = &json["end"];
    let bytes = f64::from(wanted.bytes);
    let packets = |of: &str| Some((end[of]["bytes"].as_f64()? / bytes) as u64);
    let (sent_pkts, received_pkts) = (packets("sum_sent")?, packets("sum_received")?);
    let lost_pkts = match wanted.protocol {
        Protocol::Tcp => 0,
        _ => end["sum"]["lost_packets"].as_u64()?,
    };
    let seconds = end["sum_sent"]["seconds"]
        .as_f64()
        .filter(|secs| *secs > 0.0)?;
    let sent_pps = sent_pkts as f64 / seconds;
    let arrived = 1.0 - lost_pkts as f64 / sent_pkts.max(1) as f64;
    Some(Achieved {
        bytes: Some(bytes),
        sent_pkts,
        sent_pps: Some(sent_pps),
        received_pkts,
        pps: Some(sent_pps * arrived),
        lost_pkts,
        ..Achieved::default()
    })
}
