//! The router that is the path: a configuration with a queue and a line for each way of a job's
//! cables.
//!
//! ```text
//! FromDevice -> Unstrip -> Queue -> [CoDel] -> Counter -> LinkUnqueue(delay, rate) -> Strip -> [LossModel] -> Queue -> ToDevice
//! ```
//! A line counts from a frame's own time of coming (`TIMED`), so that waking late by less than the
//! delay delays nothing.

use std::fmt::Write;
use trammel_io::qdisc::{Codel, Kind, Loss};
use trammel_kernel::host::Cable;
use trammel_kernel::job::{Change, GuestJob, Way};

/// Bytes of a frame that the kernel counts too: its Ethernet header.
pub(super) const ETHERNET_HEADER: u32 = 14;
/// Room in front of frames for what a line counts beside them.
const HEADROOM: u32 = 192;
/// Packets that wait for a device, which takes them at once, or for a line that only delays.
pub(super) const BACKLOG_PACKETS: u32 = 100_000;
/// Bits a second of a line that only delays.
const AT_ONCE_BPS: u64 = 1_000_000_000_000;

/// Fewer packets on the way are a limit that a scenario asks for.
const LEAST_ON_THE_WAY: u32 = 100_000_000;

/// A way's elements have names with its place.
pub(super) fn place((wire, end): (usize, usize)) -> String {
    format!("{wire}_{end}")
}

/// What packets of one direction of a cable pass, put together from its ways.
#[derive(Debug, Default)]
struct Passage {
    rate_bps: Option<u64>,
    overhead: u32,
    limit: Option<u32>,
    codel: Option<Codel>,
    delay_ns: u64,
    loss: Loss,
    /// Whether losses change, so that there is a model even where none are lost at first.
    has_losses: bool,
}

/// Why the router is not what `way` is: the key of the scenario and the reason; nothing where it
/// is.
pub fn refusal(way: &Way) -> Option<(&'static str, &'static str)> {
    for (_, change) in &way.changes {
        if let Change::Options(Kind::Netem(netem)) = change
            && netem.jitter_ns > 0
        {
            return Some(("schedule", "an emulated line has no jitter"));
        }
    }
    match (&way.queue, &way.inner) {
        (Some(Kind::Netem(netem)), _) if netem.jitter_ns > 0 => {
            Some(("jitter", "an emulated line has one delay"))
        }
        (Some(Kind::Netem(netem)), _) if netem.slot.is_some() => {
            Some(("grants", "an emulated line lets packets go one by one"))
        }
        (Some(Kind::Netem(netem)), _) if netem.limit < LEAST_ON_THE_WAY => Some((
            "delay_limit",
            "an emulated line holds all that is on its way",
        )),
        (None | Some(Kind::Netem(_)), _) | (Some(Kind::Tbf(_)), Some(Kind::Pfifo { .. })) => None,
        (Some(Kind::Tbf(_)), Some(Kind::Codel(codel)))
            if !codel.ecn && codel.ce_threshold_us.is_none() =>
        {
            None
        }
        _ => Some((
            "queue",
            "an emulated line has `droptail` of packets, or `codel` without ECN",
        )),
    }
}

impl Passage {
    fn of(job: &GuestJob, ways: &[(usize, usize)]) -> Passage {
        let mut passage = Passage::default();
        for (wire, end) in ways {
            let way = &job.wires[*wire].ways[*end];
            match &way.queue {
                Some(Kind::Tbf(bucket)) => {
                    passage.rate_bps = Some(bucket.rate * 8);
                    passage.overhead = bucket.overhead;
                }
                Some(Kind::Netem(netem)) => {
                    passage.delay_ns += netem.delay_ns;
                    passage.loss = netem.loss;
                    passage.has_losses = way.changes.iter().any(|(_, change)| {
                        let Change::Options(Kind::Netem(later)) = change else {
                            return false;
                        };
                        later.loss != netem.loss
                    });
                }
                // `refusal` has told of it.
                _ => {}
            }
            match &way.inner {
                Some(Kind::Pfifo { limit }) => passage.limit = Some(*limit),
                Some(Kind::Codel(codel)) => {
                    passage.limit = Some(codel.limit);
                    passage.codel = Some(*codel);
                }
                _ => {}
            }
        }
        passage
    }

    fn write(&self, text: &mut String, from: &str, to: &str, names: &[(usize, usize)]) {
        // Those of the queue are of the first way, those of losses of the last one.
        let first = names.first().copied().map(place).unwrap_or_default();
        let last = names.last().copied().map(place).unwrap_or_default();
        let beside = self.overhead.saturating_sub(ETHERNET_HEADER);
        let limit = self.limit.unwrap_or(BACKLOG_PACKETS);
        let rate = self.rate_bps.unwrap_or(AT_ONCE_BPS);
        let (seconds, ns) = (self.delay_ns / 1_000_000_000, self.delay_ns % 1_000_000_000);
        let _ = write!(
            text,
            "from_{from} :: FromDevice({from}, PROMISC true, METHOD afpacket, HEADROOM \
             {HEADROOM})\n  -> Unstrip({beside}) -> SetTimestamp(FIRST true) -> queue_{first} :: \
             Queue({limit})"
        );
        if let Some(codel) = &self.codel {
            let _ = write!(
                text,
                " -> codel_{first} :: CoDel({}us, {}us)",
                codel.target_us, codel.interval_us
            );
        }
        let _ = write!(
            text,
            "\n  -> sent_{first} :: Counter\n  -> line_{first} :: LinkUnqueue({seconds}.{ns:09}s, \
             {rate}bps, TIMED true) -> Strip({beside})"
        );
        let model = match self.loss {
            Loss::None if self.has_losses => Some("bernoulli, PROBABILITY 0".to_owned()),
            Loss::None => None,
            Loss::Independent(probability) => Some(format!("bernoulli, PROBABILITY {probability}")),
            Loss::GilbertElliott([p, r, bad, good]) => Some(format!(
                "gilbert-elliott, P {p}, R {r}, LOSS_BAD {bad}, LOSS_GOOD {good}"
            )),
        };
        if let Some(model) = model {
            let _ = write!(text, "\n  -> lost_{last} :: LossModel({model})");
        }
        let _ = writeln!(
            text,
            "\n  -> out_{from} :: Queue({BACKLOG_PACKETS}) -> ToDevice({to}, METHOD afpacket);"
        );
    }

    /// Which elements count what of its ways.
    fn counted(&self, names: &[(usize, usize)]) -> Vec<Counted> {
        let (first, last) = (names.first().copied(), names.last().copied());
        let of = |at: (usize, usize)| {
            let name = place(at);
            let is_first = Some(at) == first && self.rate_bps.is_some();
            let is_last = Some(at) == last && (self.loss != Loss::None || self.has_losses);
            Counted {
                at,
                queue: is_first.then(|| format!("queue_{name}")),
                codel: (is_first && self.codel.is_some()).then(|| format!("codel_{name}")),
                line: format!("line_{}", first.map(place).unwrap_or_default()),
                limit: self.limit.unwrap_or(BACKLOG_PACKETS),
                sent: is_first.then(|| format!("sent_{name}")),
                lost: is_last.then(|| format!("lost_{name}")),
                beside: self.overhead.saturating_sub(ETHERNET_HEADER),
            }
        };
        names.iter().copied().map(of).collect()
    }
}

/// The elements that count at a way.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    pub(super) at: (usize, usize),
    pub(super) queue: Option<String>,
    pub(super) codel: Option<String>,
    pub(super) sent: Option<String>,
    /// The line that has the way's rate and delay, and packets of its queue.
    pub(super) line: String,
    pub(super) limit: u32,
    pub(super) lost: Option<String>,
    /// Bytes beside each frame that elements count.
    pub(super) beside: u32,
}

/// The configuration of the cables' router, what counts in it, and elements that lose packets only
/// where the host is too slow.
pub(super) fn configuration(
    job: &GuestJob,
    cables: &[Cable],
) -> (String, Vec<Counted>, Vec<String>) {
    let (mut text, mut counted, mut missing) = (String::new(), Vec::new(), Vec::new());
    for cable in cables {
        for (end, ways) in cable.ways.iter().enumerate() {
            let passage = Passage::of(job, ways);
            let (from, to) = (cable.interface(end), cable.interface(1 - end));
            passage.write(&mut text, &from, &to, ways);
            counted.extend(passage.counted(ways));
            missing.push(format!("from_{from}.kernel_drops"));
            missing.push(format!("out_{from}.drops"));
        }
    }
    (text, counted, missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_io::qdisc::{Netem, Tbf};
    use trammel_kernel::host::cables;
    use trammel_kernel::job::Wire;

    fn line(inner: Kind) -> GuestJob {
        let bucket = Way {
            queue: Some(Kind::Tbf(Tbf {
                rate: 12_500_000,
                burst: 3100,
                overhead: 38,
                limit: 100,
            })),
            inner: Some(inner),
            ..Way::default()
        };
        let delay = Way {
            queue: Some(Kind::Netem(Netem {
                delay_ns: 20_000_000,
                limit: LEAST_ON_THE_WAY,
                loss: Loss::Independent(0.01),
                ..Netem::default()
            })),
            ..Way::default()
        };
        let wire = |ends, ways| Wire {
            ends,
            mtu: 1500,
            offload: false,
            ways,
        };
        GuestJob {
            wires: vec![
                wire([0, 1], [bucket.clone(), delay.clone()]),
                wire([1, 2], [delay, bucket]),
            ],
            ..GuestJob::default()
        }
    }

    #[test]
    fn a_line_is_a_queue_a_link_and_its_losses() {
        let job = line(Kind::Pfifo { limit: 100 });
        let (text, counted, missing) = configuration(&job, &cables(&job));
        let there = "\
from_w0a :: FromDevice(w0a, PROMISC true, METHOD afpacket, HEADROOM 192)
  -> Unstrip(24) -> SetTimestamp(FIRST true) -> queue_0_0 :: Queue(100)
  -> sent_0_0 :: Counter
  -> line_0_0 :: LinkUnqueue(0.020000000s, 100000000bps, TIMED true) -> Strip(24)
  -> lost_1_0 :: LossModel(bernoulli, PROBABILITY 0.01)
  -> out_w0a :: Queue(100000) -> ToDevice(w0b, METHOD afpacket);
";
        assert!(text.starts_with(there), "{text}");
        assert_eq!(counted.len(), 4);
        assert_eq!(missing.len(), 4);
    }

    #[test]
    fn what_the_router_is_not_is_told_by_its_key() {
        let refused = |inner| {
            let job = line(inner);
            let mut all = job.wires.iter().flat_map(|wire| &wire.ways);
            all.find_map(refusal).map(|(key, _)| key)
        };
        assert_eq!(refused(Kind::Pfifo { limit: 9 }), None);
        assert_eq!(refused(Kind::Bfifo { limit: 9 }), Some("queue"));
    }
}
