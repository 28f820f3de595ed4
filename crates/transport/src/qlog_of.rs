//! A flow's run as qlog: its samples as metrics and states, its segments as packets.
//!
//! TCP has no packet numbers. Segments with data are numbered in the order in which they are sent,
//! and a packet counts as lost when its bytes are sent again. Lengths are those of IP packets;
//! windows and bytes in flight are segments times the payload of a full one.

use std::collections::BTreeMap;
use std::io::{self, Write};
use trammel_core::label::Label;
use trammel_netsim::network::Passed;
use trammel_netsim::trace::Sample;
use trammel_qlog::{Body, Event, Header, Metrics, Packet, Writer};
use trammel_tcp::cc::{CaState, INFINITE_SSTHRESH};

/// Writes the log of the flow `name`, whose full segments carry `payload` bytes. It says `label`,
/// since others read it as what a stack measured.
pub(crate) fn write(
    out: impl Write,
    label: Label,
    name: &str,
    payload: u32,
    samples: &[Sample],
    passed: &[Passed],
) -> io::Result<()> {
    let header = Header {
        by: format!("trammel, {}", label.key()),
        ..Header::client(name)
    };
    let mut writer = Writer::begin(out, &header)?;
    let mut samples = samples.iter().peekable();
    let mut states = States::default();
    let mut packets = Packets::default();
    for one in passed {
        while let Some(sample) = samples.next_if(|sample| sample.time < one.at) {
            tell(&mut writer, &mut states, sample, payload)?;
        }
        for body in packets.pass(one) {
            let time_ms = one.at.as_secs_f64() * 1e3;
            writer.event(&Event { time_ms, body })?;
        }
    }
    for sample in samples {
        tell(&mut writer, &mut states, sample, payload)?;
    }
    writer.finish()
}

fn tell(
    writer: &mut Writer<impl Write>,
    states: &mut States,
    sample: &Sample,
    payload: u32,
) -> io::Result<()> {
    let time_ms = sample.time.as_secs_f64() * 1e3;
    let bytes = |segments: u32| f64::from(segments) * f64::from(payload);
    let ms = |us: u32| (us > 0).then(|| f64::from(us) / 1e3);
    let pacing = sample.pacing_bytes_per_s;
    let metrics = Metrics {
        min_rtt: ms(sample.min_rtt_us),
        smoothed_rtt: ms(sample.srtt_us),
        congestion_window: Some(bytes(sample.cwnd)),
        bytes_in_flight: Some(bytes(sample.in_flight)),
        packets_in_flight: Some(f64::from(sample.in_flight)),
        ssthresh: (sample.ssthresh != INFINITE_SSTHRESH).then(|| bytes(sample.ssthresh)),
        pacing_rate: (pacing != u64::MAX).then_some(pacing as f64 * 8.0),
        ..Metrics::default()
    };
    let body = Body::Metrics(metrics);
    writer.event(&Event { time_ms, body })?;
    match states.of(sample) {
        Some(body) => writer.event(&Event { time_ms, body }),
        None => Ok(()),
    }
}

/// What a sender's state is called.
fn state(sample: &Sample) -> String {
    let phase = sample.model.phase.name();
    let plain = plain_state(sample);
    if phase.is_empty() || plain.starts_with("recovery") {
        plain.to_owned()
    } else {
        phase.replace('-', "_")
    }
}

/// What it is called where the variant has no phases of its own.
fn plain_state(sample: &Sample) -> &'static str {
    const LOSS: u8 = CaState::Loss as u8;
    const REDUCING: [u8; 2] = [CaState::Cwr as u8, CaState::Recovery as u8];
    if sample.state == LOSS {
        "recovery_after_timeout"
    } else if REDUCING.contains(&sample.state) {
        "recovery"
    } else if sample.cwnd < sample.ssthresh {
        "slow_start"
    } else {
        "congestion_avoidance"
    }
}

/// The states that were told.
#[derive(Debug, Default)]
struct States {
    last: Option<String>,
}

impl States {
    /// The event, where `sample` is in another state than the one before.
    fn of(&mut self, sample: &Sample) -> Option<Body> {
        let new = state(sample);
        if self.last.as_ref() == Some(&new) {
            return None;
        }
        let old = self.last.replace(new.clone());
        Some(Body::State { old, new })
    }
}

/// Packets that are out, by where their bytes begin.
#[derive(Debug, Default)]
struct Packets {
    /// Where the payload begins, without wrap-around, and the sequence number of that.
    origin: Option<u32>,
    /// First byte to: the byte behind the last, and the packet's number.
    out: BTreeMap<u64, (u64, u64)>,
    highest: u64,
    sent: u64,
    received: u64,
}

impl Packets {
    /// The place of sequence number `seq` in the stream, near the highest byte sent.
    fn place(&mut self, seq: u32) -> u64 {
        let origin = *self.origin.get_or_insert(seq);
        // A window is far less than half the space of sequence numbers.
        let near = (self.highest as u32).wrapping_add(origin);
        let offset = i64::from(seq.wrapping_sub(near).cast_signed());
        self.highest.saturating_add_signed(offset)
    }

    fn pass(&mut self, one: &Passed) -> Vec<Body> {
        let segment = &one.segment;
        let length = Some(u64::from(segment.ip_bytes()));
        if !one.is_sent {
            return self.receive(one, length).into_iter().collect();
        }
        if segment.len == 0 {
            return Vec::new();
        }
        let start = self.place(segment.seq);
        let end = start + u64::from(segment.len);
        let mut bodies = Vec::new();
        // What covers the same bytes was lost.
        let again: Vec<u64> = self.out.range(start..end).map(|(at, _)| *at).collect();
        for at in again {
            let (_, number) = self.out.remove(&at).expect("it was found");
            bodies.push(Body::Lost(Packet {
                number: Some(number),
                ..Packet::default()
            }));
        }
        self.out.insert(start, (end, self.sent));
        self.highest = self.highest.max(end);
        bodies.push(Body::Sent(Packet {
            number: Some(self.sent),
            length,
            acked: Vec::new(),
        }));
        self.sent += 1;
        bodies
    }

    fn receive(&mut self, one: &Passed, length: Option<u64>) -> Option<Body> {
        self.origin?;
        let acked = self.place(one.segment.ack);
        let mut ranges = vec![(0, acked)];
        for block in one.segment.sack_blocks() {
            ranges.push((self.place(block.start), self.place(block.end)));
        }
        let mut numbers = Vec::new();
        for (from, to) in ranges {
            let inside = self.out.range(from..to.max(from));
            let inside: Vec<u64> = inside
                .filter(|(_, (end, _))| *end <= to)
                .map(|(at, _)| *at)
                .collect();
            numbers.extend(inside.iter().filter_map(|at| Some(self.out.remove(at)?.1)));
        }
        numbers.sort_unstable();
        let mut acked: Vec<(u64, u64)> = Vec::new();
        for number in numbers {
            match acked.last_mut() {
                Some((_, to)) if *to + 1 == number => *to = number,
                _ => acked.push((number, number)),
            }
        }
        let number = Some(self.received);
        self.received += 1;
        Some(Body::Received(Packet {
            number,
            length,
            acked,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::time::{Span, Time};
    use trammel_core::units::Rate;
    use trammel_scenario::flow::Flow;
    use trammel_scenario::model::Scenario;
    use trammel_scenario::path::{Limit, Queue};

    /// Every packet is acknowledged or lost or still out, and windows are those of the samples.
    #[test]
    fn a_run_with_losses_is_told_whole() {
        let scenario = Scenario::dumbbell()
            .rate(Rate::from_bps(10_000_000))
            .rtt(Span::from_ms(40))
            .queue(Queue::new("droptail").limit(Limit::Packets(20)))
            .flow(Flow::new("reno").start(Time::ZERO))
            .duration(Span::from_secs(4));
        let flow = trammel_netsim::ids::FlowId::new(0);
        let (passed, samples) = crate::simulate::sender(&scenario, 1, flow).unwrap();
        let mut file = Vec::new();
        write(&mut file, Label::Simulated, "reno", 1448, &samples, &passed).unwrap();
        let (mut sent, mut lost, mut acked, mut states) = (0, 0, 0, Vec::new());
        let mut largest = 0.0_f64;
        let mut last = 0.0;
        let header = trammel_qlog::read(&file[..], &mut |event| {
            assert!(event.time_ms >= last, "{event:?}");
            last = event.time_ms;
            match event.body {
                Body::Sent(_) => sent += 1,
                Body::Lost(_) => lost += 1,
                Body::Received(packet) => {
                    acked += packet.acked.iter().map(|(a, b)| b - a + 1).sum::<u64>();
                }
                Body::State { new, .. } => states.push(new),
                Body::Metrics(metrics) => {
                    largest = largest.max(metrics.congestion_window.unwrap_or_default());
                }
                Body::Other(name) => panic!("{name}"),
            }
        })
        .unwrap();
        assert_eq!(header.by, "trammel, simulated");
        let data = passed
            .iter()
            .filter(|one| one.is_sent && one.segment.len > 0);
        assert_eq!(sent, data.count() as u64);
        assert!(lost > 0 && acked > 0);
        let out = sent - lost - acked;
        assert!(out <= 200, "{out} are neither acknowledged nor lost");
        let most = samples.iter().map(|sample| sample.cwnd).max().unwrap();
        assert_eq!(largest, f64::from(most) * 1448.0);
        assert_eq!(states[..2], ["slow_start", "recovery"]);
        assert!(states.contains(&"congestion_avoidance".to_owned()));
    }
}
