//! Traffic of the workbench: frames of one size or a mix of sizes, of any number of flows, in an
//! order that follows a law.

use super::frames::{self, FIELDS, Field};
use std::collections::BTreeMap;
use std::ops::Range;
use trammel_core::rng::Rng;
use trammel_cost::residency::Locality;
use trammel_packet::batch::CAPACITY;
use trammel_packet::pool::{Handle, Pool};

/// Draws of flows that are made beforehand, at most for flows that come unequally often, and for
/// few flows so many each; they are repeated from the first on.
const DRAWS: usize = 1 << 18;
const DRAWS_A_FLOW: usize = 8;
/// Frames that differ in more than a field, at most.
pub const TEMPLATES: usize = 64;

/// What comes in.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Bytes of a frame, its FCS included.
    pub frame: usize,
    /// Sizes of frames that are taken in turn, where they are not all `frame`.
    pub mix: Vec<usize>,
    /// Of a hundred frames the last goes to the Ethernet address of all stations.
    pub broadcasts: bool,
    /// How many flows.
    pub flows: u32,
    /// What tells them apart; nothing leaves the samples as they are.
    pub field: Option<Field>,
    /// How often which flow comes.
    pub locality: Locality,
    /// Frames that are there at a time.
    pub burst: usize,
    /// Whether there are any number of frames from one to that at a time, in no order.
    pub is_uneven: bool,
    /// The seed of the order.
    pub seed: u64,
}

impl Default for Traffic {
    fn default() -> Traffic {
        Traffic {
            frame: 64,
            mix: Vec::new(),
            broadcasts: false,
            flows: 1,
            field: None,
            locality: Locality::Uniform,
            burst: CAPACITY,
            is_uneven: false,
            seed: 1,
        }
    }
}

impl Traffic {
    /// Packets after which the flows repeat: every one that comes has come once.
    pub(super) fn draws(&self) -> usize {
        let flows = self.flows as usize;
        match self.locality {
            _ if flows <= 1 || self.field.is_none() => 1,
            Locality::Uniform => (flows * DRAWS_A_FLOW).min(DRAWS).max(flows),
            Locality::Zipf(_) => DRAWS,
        }
    }

    /// The sizes of frames, in turn.
    pub fn sizes(&self) -> &[usize] {
        if self.mix.is_empty() {
            std::slice::from_ref(&self.frame)
        } else {
            &self.mix
        }
    }

    /// The sizes that differ, each with its share of the frames.
    pub fn shares(&self) -> Vec<(usize, f64)> {
        let all = self.sizes();
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for size in all {
            *counts.entry(*size).or_default() += 1;
        }
        let share = |(size, count)| (size, count as f64 / all.len() as f64);
        counts.into_iter().map(share).collect()
    }

    /// The same with frames of one size only.
    pub fn of_size(&self, frame: usize) -> Traffic {
        Traffic {
            frame,
            mix: Vec::new(),
            ..self.clone()
        }
    }
}

/// Of so many frames the last is a broadcast, where there are any.
pub const PER_BROADCAST: u32 = 100;
/// Bytes of an Ethernet address that is all stations'.
const ALL_STATIONS: [u8; 6] = [0xff; 6];

/// The field of a name such as `ip.dst`, or what is wrong with it.
pub fn field(name: &str) -> Result<Field, String> {
    let row = FIELDS.iter().find(|(known, _)| *known == name);
    row.map(|(_, field)| *field).ok_or_else(|| {
        let known: Vec<&str> = FIELDS.iter().map(|(name, _)| *name).collect();
        format!(
            "`{name}` is not a field in which flows can differ; there are {}",
            known.join(", ")
        )
    })
}

/// What one ring gives: samples made to fit, and what differs from packet to packet.
///
/// A packet is a template and a *patch*: the bytes of its flow and of the checksums over them,
/// computed beforehand, so that making a packet is copying it.
#[derive(Clone, Debug)]
pub struct Stream {
    templates: Vec<Vec<u8>>,
    burst: usize,
    is_uneven: bool,
    /// Where patches are put.
    places: Vec<Range<usize>>,
    /// The bytes of one patch.
    stride: usize,
    patches: Vec<u8>,
    /// Packets before they are repeated.
    period: usize,
    broadcasts: Broadcasts,
}

/// Which packets of a stream go to all stations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broadcasts(bool);

impl Broadcasts {
    /// Whether packet `at` does.
    #[inline]
    pub fn has(self, at: u64) -> bool {
        let per = u64::from(PER_BROADCAST);
        self.0 && at % per == per - 1
    }
}

impl Stream {
    /// From samples, in their order, each of the sizes in theirs. The error is a sentence.
    pub fn new(samples: &[Vec<u8>], traffic: &Traffic) -> Result<Stream, String> {
        let field = traffic.field.filter(|_| traffic.flows > 1);
        let fit = |(sample, size): (&Vec<u8>, &usize)| {
            let frame = frames::fit(sample, *size).ok_or_else(|| {
                let least = frames::least(sample);
                format!(
                    "the headers of a sample frame take {least} bytes with the FCS; it cannot be \
                     {size} bytes long; give frame sizes of {least} bytes or more"
                )
            })?;
            if let Some(field) = field
                && frames::place(&frame, field).is_none()
            {
                let name = frames::name(field);
                return Err(format!(
                    "a sample frame has no `{name}` to tell flows apart"
                ));
            }
            Ok(frame)
        };
        let sizes = traffic.sizes();
        let turn = lcm(samples.len(), sizes.len());
        let pairs = samples.iter().cycle().zip(sizes.iter().cycle());
        let templates: Vec<Vec<u8>> = pairs.take(turn).map(fit).collect::<Result<_, _>>()?;
        if templates.is_empty() {
            return Err("there is no sample frame".to_owned());
        }
        let mut stream = Stream {
            period: templates.len(),
            templates,
            burst: traffic.burst.max(1),
            is_uneven: traffic.is_uneven,
            places: Vec::new(),
            stride: 0,
            patches: Vec::new(),
            broadcasts: Broadcasts(traffic.broadcasts),
        };
        match field {
            None if !traffic.broadcasts => stream.patch_in_vain(),
            field => stream.patch(field, &order(traffic)),
        }
        Ok(stream)
    }

    /// Packets after which templates and broadcasts come round together.
    pub fn turn(&self) -> usize {
        match self.broadcasts {
            Broadcasts(true) => lcm(self.templates.len(), PER_BROADCAST as usize),
            Broadcasts(false) => self.templates.len(),
        }
    }

    /// Which packets go to all stations.
    pub fn broadcasts(&self) -> Broadcasts {
        self.broadcasts
    }

    /// The bytes of its shortest template.
    fn shortest(&self) -> usize {
        let lengths = self.templates.iter().map(Vec::len);
        lengths.min().unwrap_or(0)
    }

    /// Patches as large as those of an address and a checksum which change nothing, so that making
    /// a packet costs alike whether flows differ or not.
    fn patch_in_vain(&mut self) {
        let end = self.shortest();
        self.places = [24..26, 30..34]
            .map(|place| place.start.min(end)..place.end.min(end))
            .into();
        self.stride = self.places.iter().map(Range::len).sum();
        for template in &self.templates {
            for place in &self.places {
                self.patches.extend_from_slice(&template[place.clone()]);
            }
        }
    }

    /// Patches differ in `field` by the numbers of `order`, if there is one, and in who is to
    /// receive them.
    fn patch(&mut self, field: Option<Field>, order: &[u32]) {
        let (count, turn) = (self.templates.len(), self.turn());
        // Each draw meets the template of its place in every repetition.
        self.period = (order.len() / turn * turn).max(turn);
        let made = |at: usize| {
            let mut frame = self.templates[at % count].clone();
            if let Some(field) = field {
                frames::add(&mut frame, field, order[at % order.len()]);
                frames::mend(&mut frame);
            }
            if self.broadcasts.has(at as u64) {
                frame[..ALL_STATIONS.len()].copy_from_slice(&ALL_STATIONS);
            }
            frame
        };
        // What flows differ in is in the headers, which the shortest has.
        let mut differs = vec![false; self.shortest()];
        for at in 0..self.period {
            let pairs = made(at).into_iter().zip(&self.templates[at % count]);
            for (mark, (new, old)) in differs.iter_mut().zip(pairs) {
                *mark |= new != *old;
            }
        }
        let mut places: Vec<Range<usize>> = Vec::new();
        for (at, _) in differs.iter().enumerate().filter(|(_, mark)| **mark) {
            match places.last_mut() {
                Some(last) if last.end == at => last.end += 1,
                _ => places.push(at..at + 1),
            }
        }
        let stride: usize = places.iter().map(Range::len).sum();
        let mut patches = Vec::with_capacity(stride * self.period);
        for at in 0..self.period {
            let frame = made(at);
            for place in &places {
                patches.extend_from_slice(&frame[place.clone()]);
            }
        }
        (self.places, self.stride, self.patches) = (places, stride, patches);
    }

    /// Packets before they are repeated.
    pub fn period(&self) -> usize {
        self.period
    }

    /// Frames that are there at a time at most.
    pub fn burst(&self) -> usize {
        self.burst
    }

    /// Frames that are there when the next is the `at`-th.
    pub(crate) fn burst_at(&self, at: u64) -> usize {
        if self.is_uneven {
            // The upper bits of a product with the golden ratio (Knuth 6.4) have no order that a
            // processor foresees.
            let spread = at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            1 + spread as usize % self.burst
        } else {
            self.burst
        }
    }

    /// The frame of the `at`-th packet: one of the templates, and what is to be put over it.
    pub fn packet(&self, at: u64) -> (&[u8], impl Iterator<Item = (Range<usize>, &[u8])>) {
        let at = (at % self.period as u64) as usize;
        let mut patch = &self.patches[at * self.stride..][..self.stride];
        let pieces = self.places.iter().map(move |place| {
            let (piece, rest) = patch.split_at(place.len());
            patch = rest;
            (place.clone(), piece)
        });
        (&self.templates[at % self.templates.len()], pieces)
    }
}

impl Stream {
    /// The `at`-th packet in a buffer of `pool`; none where it has none.
    #[inline]
    pub fn make(&self, at: u64, pool: &mut Pool) -> Option<Handle> {
        let (template, patch) = self.packet(at);
        let handle = pool.alloc_with(template)?;
        let data = pool[&handle].data_mut();
        for (place, piece) in patch {
            data[place].copy_from_slice(piece);
        }
        Some(handle)
    }
}

/// The least number that both divide.
pub fn lcm(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    a / x.max(1) * b
}

/// The flow of each packet.
fn order(traffic: &Traffic) -> Vec<u32> {
    let draws = traffic.draws();
    if draws == 1 {
        return vec![0];
    }
    let mut rng = Rng::new(traffic.seed, "flows");
    match traffic.locality {
        Locality::Uniform => (0..draws)
            .map(|_| rng.below(u64::from(traffic.flows)) as u32)
            .collect(),
        Locality::Zipf(exponent) => {
            // Ranks by their sums of weights: exact, and made once.
            let mut sums = Vec::with_capacity(traffic.flows as usize);
            let mut sum = 0.0;
            for rank in 1..=traffic.flows {
                sum += f64::from(rank).powf(-exponent);
                sums.push(sum);
            }
            let draw = |rng: &mut Rng| {
                let drawn = rng.unit() * sum;
                sums.partition_point(|sum| *sum < drawn).min(sums.len() - 1) as u32
            };
            (0..draws).map(|_| draw(&mut rng)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 0, 0];
        frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 0]);
        frame.extend([0x13, 0x88, 0x13, 0x89, 0, 0, 0, 0]);
        frame
    }

    fn made(stream: &Stream, at: u64) -> Vec<u8> {
        let (template, pieces) = stream.packet(at);
        let mut frame = template.to_vec();
        for (place, piece) in pieces {
            frame[place].copy_from_slice(piece);
        }
        frame
    }

    #[test]
    fn every_packet_is_right_and_every_flow_comes() {
        let traffic = Traffic {
            flows: 300,
            field: Some(Field::IpDestination),
            ..Traffic::default()
        };
        let stream = Stream::new(&[sample()], &traffic).expect("it fits");
        let mut seen = std::collections::BTreeSet::new();
        for at in 0..5000 {
            let frame = made(&stream, at);
            let mut right = frame.clone();
            frames::mend(&mut right);
            assert_eq!(frame, right, "packet {at}");
            assert_eq!(frame.len(), 60);
            seen.insert([frame[32], frame[33]]);
        }
        assert!(seen.len() > 295 && seen.len() <= 300, "{}", seen.len());
    }

    #[test]
    fn sizes_come_in_turn_whatever_flows_are_drawn() {
        let mix = vec![64, 64, 570, 1518];
        let traffic = Traffic {
            mix: mix.clone(),
            flows: 300,
            field: Some(Field::IpDestination),
            ..Traffic::default()
        };
        let stream = Stream::new(&[sample()], &traffic).expect("it fits");
        assert_eq!(stream.period() % mix.len(), 0);
        for at in 0..2 * stream.period() {
            let frame = made(&stream, at as u64);
            let mut right = frame.clone();
            frames::mend(&mut right);
            assert_eq!(frame, right, "packet {at}");
            assert_eq!(frame.len() + 4, mix[at % mix.len()], "packet {at}");
        }
    }

    #[test]
    fn each_hundredth_frame_goes_to_all_stations_in_place_of_one_of_them() {
        for flows in [1, 300] {
            let traffic = Traffic {
                mix: vec![64, 570, 1518],
                broadcasts: true,
                flows,
                field: Some(Field::IpDestination),
                ..Traffic::default()
            };
            let stream = Stream::new(&[sample()], &traffic).expect("it fits");
            let without = Traffic {
                broadcasts: false,
                ..traffic
            };
            let without = Stream::new(&[sample()], &without).expect("it fits");
            for at in 0..2 * stream.period() as u64 {
                let frame = made(&stream, at);
                assert_eq!(frame[..6] == [0xff; 6], at % 100 == 99, "packet {at}");
                assert_eq!(stream.broadcasts().has(at), at % 100 == 99);
                assert_eq!(frame.len(), made(&without, at).len());
            }
        }
    }

    #[test]
    fn nodes_are_told_apart_by_both_addresses_of_either_version() {
        use trammel_traffic::addresses::{Addresses, Side};
        for (is_ipv6, sample) in [(false, sample()), (true, crate::samples::plain6())] {
            let to = Addresses::nodes(Side::Output, is_ipv6, 256);
            let nodes = frames::Nodes {
                from: Addresses::nodes(Side::Input, is_ipv6, 1),
                to,
            };
            let traffic = Traffic {
                frame: 128,
                flows: 256,
                field: Some(Field::Nodes(nodes)),
                ..Traffic::default()
            };
            let stream = Stream::new(std::slice::from_ref(&sample), &traffic).expect("it fits");
            let (place, _) = frames::place(&sample, Field::Nodes(nodes)).expect("it is IP");
            let mut seen = std::collections::BTreeSet::new();
            for at in 0..stream.period() as u64 {
                let frame = made(&stream, at);
                let mut right = frame.clone();
                frames::mend(&mut right);
                assert_eq!(frame, right, "packet {at}");
                seen.insert(frame[place.clone()].to_vec());
            }
            // By chance one in three thousand is never drawn.
            assert!(seen.len() >= 255, "{}", seen.len());
        }
    }

    #[test]
    fn few_flows_come_often_under_zipf() {
        let traffic = Traffic {
            flows: 1000,
            field: Some(Field::EtherDestination),
            locality: Locality::Zipf(1.0),
            ..Traffic::default()
        };
        let stream = Stream::new(&[sample()], &traffic).expect("it fits");
        let first =
            (0..10_000).filter(|at| made(&stream, *at)[5] == 1 && made(&stream, *at)[4] == 0);
        // 1/H(1000) = 13.4 % of the packets are of the first flow.
        let share = first.count() as f64 / 10_000.0;
        assert!((share - 0.134).abs() < 0.02, "{share}");
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let small = Traffic {
            frame: 40,
            ..Traffic::default()
        };
        assert_eq!(
            Stream::new(&[sample()], &small).unwrap_err(),
            "the headers of a sample frame take 46 bytes with the FCS; it cannot be 40 bytes long; \
             give frame sizes of 46 bytes or more"
        );
        let labels = Traffic {
            flows: 2,
            field: Some(Field::MplsLabel),
            ..Traffic::default()
        };
        assert_eq!(
            Stream::new(&[sample()], &labels).unwrap_err(),
            "a sample frame has no `mpls` to tell flows apart"
        );
    }
}
