//! ns-3's flow monitor, as XML: TCP flows and streams of datagrams by their ends.
//!
//! `FlowStats` has counters and sums of each flow, `Ipv4FlowClassifier` and `Ipv6FlowClassifier`
//! its ends. The monitor counts IP packets, so of TCP it knows neither payload nor
//! retransmissions: rates are of packets with their headers. Of datagrams the payload follows.
//! Source: ns-3's manual, "Flow Monitor".

use crate::document::MOST_VALUES;
use crate::error::ImportError;
use crate::format::Format;
use crate::imported::{Imported, Run};
use crate::rows::{Rows, finite, maybe};
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;
use std::collections::BTreeMap;
use trammel_core::label::Label;
use trammel_stats::table::Cell;
use trammel_stats::table::CellType::{self, Float, Int, Text};

const UDP: u64 = 17;
const TCP: u64 = 6;
/// Bytes of the headers of IP and UDP.
const HEADERS: [u64; 2] = [28, 48];

const FLOWS: &[(&str, CellType)] = &[
    ("flow", Text),
    ("start_s", Float),
    ("active_s", Float),
    ("throughput_mbps", Float),
    ("received_mbps", Float),
    ("sent_pkts", Int),
    ("received_pkts", Int),
    ("lost_pkts", Int),
    ("loss", Float),
    ("delay_mean_us", Float),
    ("ipdv_mean_us", Float),
];

const STREAMS: &[(&str, CellType)] = &[
    ("stream", Text),
    ("sent_pkts", Int),
    ("received_pkts", Int),
    ("lost_pkts", Int),
    ("loss", Float),
    ("goodput_mbps", Float),
    ("delay_mean_us", Float),
    ("ipdv_mean_us", Float),
];

/// What the monitor says of one flow.
#[derive(Clone, Debug, Default)]
struct Stats {
    first_sent_s: Option<f64>,
    last_sent_s: Option<f64>,
    last_received_s: Option<f64>,
    delay_s: Option<f64>,
    jitter_s: Option<f64>,
    sent_bytes: u64,
    received_bytes: u64,
    sent_pkts: u64,
    received_pkts: u64,
    lost_pkts: u64,
}

/// Its ends.
#[derive(Clone, Debug, Default)]
struct Ends {
    name: String,
    protocol: u64,
    is_ipv6: bool,
}

/// Where an element stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    None,
    Stats,
    Ends { is_ipv6: bool },
}

const GIVE: &str = "give what `FlowMonitor::SerializeToXmlFile` wrote";

/// Whether a text is XML of a flow monitor.
pub(crate) fn is(front: &str) -> bool {
    front.contains("<FlowMonitor")
}

/// Reads the file of a flow monitor.
pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let elements = text.bytes().filter(|byte| *byte == b'<').count() as u64;
    if elements > MOST_VALUES {
        return Err(ImportError::TooLarge {
            most: MOST_VALUES,
            what: "elements",
        });
    }
    let mut notes = Vec::new();
    let (stats, ends) = elements_of(text, &mut notes)?;
    let mut flows = Rows::new("flows", FLOWS);
    let mut streams = Rows::new("streams", STREAMS);
    for (id, one) in &stats {
        let unnamed = Ends {
            name: format!("flow {id}"),
            ..Ends::default()
        };
        let of = ends.get(id).unwrap_or(&unnamed);
        if of.protocol == UDP {
            streams.push(&stream(one, of));
        } else {
            flows.push(&flow(one, of));
        }
        if ![UDP, TCP, 0].contains(&of.protocol) {
            let protocol = of.protocol;
            notes.push(format!("`{}` is of IP protocol {protocol}.", of.name));
        }
    }
    let mut run = Run::default();
    run.tables.extend(flows.finish());
    run.tables.extend(streams.finish());
    if run.tables.is_empty() {
        return Err(ImportError::nothing("it has no flow", GIVE));
    }
    notes.push("Numbers are simulated, by ns-3.".to_owned());
    Ok(Imported {
        format: Format::FlowMonitor,
        by: "ns-3's flow monitor".to_owned(),
        label: Label::Simulated,
        runs: vec![run],
        notes,
    })
}

type Found = (BTreeMap<u64, Stats>, BTreeMap<u64, Ends>);

fn elements_of(text: &str, notes: &mut Vec<String>) -> Result<Found, ImportError> {
    let mut reader = Reader::from_str(text);
    let (mut stats, mut ends) = (BTreeMap::new(), BTreeMap::new());
    let mut part = Part::None;
    loop {
        let at = reader.buffer_position();
        let event = match reader.read_event() {
            Ok(event) => event,
            Err(why) if !stats.is_empty() => {
                notes.push(format!(
                    "The file is damaged at byte {at} ({why}); what is whole before counts."
                ));
                break;
            }
            Err(why) => {
                let place = format!("at byte {at}");
                return Err(ImportError::damaged(place, why.to_string(), GIVE));
            }
        };
        match &event {
            Event::Start(element) | Event::Empty(element) => match element.name().as_ref() {
                b"FlowStats" => part = Part::Stats,
                b"Ipv4FlowClassifier" => part = Part::Ends { is_ipv6: false },
                b"Ipv6FlowClassifier" => part = Part::Ends { is_ipv6: true },
                b"FlowProbes" => part = Part::None,
                b"Flow" => match part {
                    Part::Stats => stats.extend(stats_of(element)),
                    Part::Ends { is_ipv6 } => ends.extend(ends_of(element, is_ipv6)),
                    Part::None => {}
                },
                _ => {}
            },
            Event::Eof => break,
            _ => {}
        }
    }
    Ok((stats, ends))
}

/// The attributes of an element, as they stand; the first of a name counts.
fn attributes(element: &BytesStart<'_>) -> BTreeMap<String, String> {
    // A check for double names takes the square of their number.
    let mut all = element.attributes();
    let mut found = BTreeMap::new();
    for one in all.with_checks(false).flatten().take(64) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        found
            .entry(text(one.key.as_ref()))
            .or_insert_with(|| text(&one.value));
    }
    found
}

fn stats_of(element: &BytesStart<'_>) -> Option<(u64, Stats)> {
    let all = attributes(element);
    let count = |name: &str| all.get(name).and_then(|text| whole(text));
    let time = |name: &str| all.get(name).and_then(|text| seconds(text));
    let stats = Stats {
        first_sent_s: time("timeFirstTxPacket"),
        last_sent_s: time("timeLastTxPacket"),
        last_received_s: time("timeLastRxPacket"),
        delay_s: time("delaySum"),
        jitter_s: time("jitterSum"),
        sent_bytes: count("txBytes")?,
        received_bytes: count("rxBytes")?,
        sent_pkts: count("txPackets")?,
        received_pkts: count("rxPackets")?,
        lost_pkts: count("lostPackets").unwrap_or(0),
    };
    Some((count("flowId")?, stats))
}

fn ends_of(element: &BytesStart<'_>, is_ipv6: bool) -> Option<(u64, Ends)> {
    let all = attributes(element);
    let text = |name: &str| all.get(name).map(String::as_str);
    let end = |side: &str| {
        let address = text(&format!("{side}Address"))?;
        let port = text(&format!("{side}Port"))?;
        Some(if is_ipv6 {
            format!("[{address}]:{port}")
        } else {
            format!("{address}:{port}")
        })
    };
    let ends = Ends {
        name: format!("{}-{}", end("source")?, end("destination")?),
        protocol: text("protocol").and_then(whole)?,
        is_ipv6,
    };
    Some((text("flowId").and_then(whole)?, ends))
}

fn whole(text: &str) -> Option<u64> {
    let number: u64 = text.trim().parse().ok()?;
    (number < 1 << 60).then_some(number)
}

/// A time of ns-3, such as `+1002000000.0ns` or `2.5s`, in seconds.
fn seconds(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 6] = [
        ("ns", 1e-9),
        ("us", 1e-6),
        ("ms", 1e-3),
        ("ps", 1e-12),
        ("fs", 1e-15),
        ("s", 1.0),
    ];
    let text = text.trim();
    let (number, scale) = UNITS
        .iter()
        .find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)))?;
    let number: f64 = number.parse().ok()?;
    let seconds = number * scale;
    (0.0..1e9).contains(&seconds).then_some(seconds)
}

/// Bytes over the time from one instant to another, in Mbit/s.
fn mbps(bytes: u64, from: Option<f64>, to: Option<f64>) -> Cell {
    let passed = from.zip(to).map(|(from, to)| to - from);
    let passed = passed.filter(|s| *s > 0.0);
    maybe(passed.map(|s| bytes as f64 * 8e-6 / s))
}

fn flow(one: &Stats, of: &Ends) -> Vec<(&'static str, Cell)> {
    let active = one.first_sent_s.zip(one.last_received_s);
    let mut cells = vec![
        ("flow", of.name.as_str().into()),
        ("start_s", maybe(one.first_sent_s)),
        (
            "active_s",
            maybe(active.map(|(from, to)| (to - from).max(0.0))),
        ),
        (
            "throughput_mbps",
            mbps(one.sent_bytes, one.first_sent_s, one.last_sent_s),
        ),
        (
            "received_mbps",
            mbps(one.received_bytes, one.first_sent_s, one.last_received_s),
        ),
    ];
    cells.extend(shared(one));
    cells
}

fn stream(one: &Stats, of: &Ends) -> Vec<(&'static str, Cell)> {
    let headers = HEADERS[usize::from(of.is_ipv6)].saturating_mul(one.received_pkts);
    let payload = one.received_bytes.saturating_sub(headers);
    let mut cells = vec![
        ("stream", of.name.as_str().into()),
        (
            "goodput_mbps",
            mbps(payload, one.first_sent_s, one.last_received_s),
        ),
    ];
    cells.extend(shared(one));
    cells
}

fn shared(one: &Stats) -> Vec<(&'static str, Cell)> {
    let received = one.received_pkts as f64;
    // Between neighbours.
    let pairs = one.received_pkts.saturating_sub(1) as f64;
    let us = |sum: Option<f64>, of: f64| sum.map_or(Cell::Empty, |s| finite(s * 1e6 / of));
    vec![
        ("sent_pkts", one.sent_pkts.into()),
        ("received_pkts", one.received_pkts.into()),
        ("lost_pkts", one.lost_pkts.into()),
        ("loss", finite(one.lost_pkts as f64 / one.sent_pkts as f64)),
        ("delay_mean_us", us(one.delay_s, received)),
        ("ipdv_mean_us", us(one.jitter_s, pairs)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"<?xml version="1.0" ?>
<FlowMonitor>
  <FlowStats>
    <Flow flowId="1" timeFirstTxPacket="+1000000000.0ns" timeFirstRxPacket="+1.01e+09ns"
      timeLastTxPacket="+2000000000.0ns" timeLastRxPacket="+3000000000.0ns"
      delaySum="+1000000000.0ns" jitterSum="+99000000.0ns" lastDelay="+0.0ns" txBytes="125000"
      rxBytes="250000" txPackets="110" rxPackets="100" lostPackets="10" timesForwarded="200">
      <packetsDropped reasonCode="3" number="10" />
    </Flow>
    <Flow flowId="2" timeFirstTxPacket="+0.0ns" timeLastTxPacket="+1s" timeLastRxPacket="+2s"
      delaySum="+5ms" jitterSum="-7ns" txBytes="10280" rxBytes="10280" txPackets="10"
      rxPackets="10" lostPackets="0" />
    <Flow flowId="x" txBytes="1" />
  </FlowStats>
  <Ipv4FlowClassifier>
    <Flow flowId="1" sourceAddress="10.0.0.1" destinationAddress="10.0.0.2" protocol="6"
      sourcePort="49153" destinationPort="5000"><Dscp value="0x0" packets="1" /></Flow>
    <Flow flowId="2" sourceAddress="10.0.0.3" destinationAddress="10.0.0.4" protocol="17"
      sourcePort="49154" destinationPort="9" />
  </Ipv4FlowClassifier>
</FlowMonitor>"#;

    #[test]
    fn tcp_is_a_flow_and_udp_a_stream() {
        let imported = read(FILE).unwrap();
        assert_eq!(imported.label, Label::Simulated);
        let run = &imported.runs[0];
        let flow = run.table("flows").unwrap().rows().next().unwrap();
        assert_eq!(flow.text("flow"), "10.0.0.1:49153-10.0.0.2:5000");
        assert_eq!(flow.float("received_mbps"), Some(1.0));
        assert_eq!(flow.float("throughput_mbps"), Some(1.0));
        assert_eq!(flow.float("delay_mean_us"), Some(10_000.0));
        assert_eq!(flow.float("ipdv_mean_us"), Some(1000.0));
        assert_eq!(flow.int("lost_pkts"), Some(10));
        let stream = run.table("streams").unwrap().rows().next().unwrap();
        assert_eq!(stream.float("goodput_mbps"), Some(0.04));
        assert_eq!(stream.float("ipdv_mean_us"), None);
    }

    #[test]
    fn what_is_cut_off_counts_up_to_the_cut() {
        let cut = &FILE[..FILE.find("<Ipv4").unwrap() + 8];
        let imported = read(cut).unwrap();
        let flows = imported.runs[0].table("flows").unwrap();
        assert_eq!(flows.rows().next().unwrap().text("flow"), "flow 1");
        assert!(read("<FlowMonitor><FlowStats/></FlowMonitor>").is_err());
        assert!(read("<FlowMonitor <").is_err());
    }
}
