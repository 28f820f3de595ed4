//! A queue discipline whose decisions methods of Python's make.
//!
//! The packets stay here, in one queue a band, so none can be lost or sent twice. A class decides
//! what becomes of a packet that comes (`enqueue`) and of one that would go (`dequeue`), and, where
//! it has several bands, to which a packet belongs (`band`); lower bands go first.

use super::call::{attached, of_no_use};
use super::class::Object;
use pyo3::prelude::*;
use std::collections::VecDeque;
use trammel_core::ecn::Ecn;
use trammel_core::entry::Params;
use trammel_core::rng::Rng;
use trammel_core::time::Time;
use trammel_queues::aqm::{Discipline, Drop, Item, LinkFacts};

/// The most bands that a discipline may have.
const MOST_BANDS: usize = 256;

/// A packet, for a discipline in Python.
#[pyclass(frozen, get_all, module = "trammel")]
#[derive(Debug)]
pub(crate) struct Packet {
    /// Bytes that the queue's limit counts.
    bytes: u32,
    /// A hash of its flow.
    flow: u32,
    /// Whether it may be marked in place of a drop.
    is_ecn_capable: bool,
    /// Its differentiated services codepoint.
    dscp: u8,
    /// How long it has waited, µs.
    wait_us: f64,
}

/// What waits, for a discipline in Python.
#[pyclass(frozen, get_all, module = "trammel")]
#[derive(Debug)]
pub(crate) struct Waiting {
    /// The time, µs.
    now_us: f64,
    /// Packets that wait.
    packets: u32,
    /// Their bytes.
    bytes: u64,
    /// Packets that may wait.
    limit_packets: u32,
    /// The rate of the link, bit/s; 0 if it has none.
    rate_bps: u64,
}

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    Mark,
    Drop,
}

#[derive(Debug)]
struct Own {
    of: Object,
    enqueue: Option<Py<PyAny>>,
    dequeue: Option<Py<PyAny>>,
    band: Option<Py<PyAny>>,
    facts: LinkFacts,
    bands: Vec<VecDeque<Item>>,
    packets: u32,
    bytes: u64,
    has_seed: bool,
}

/// Makes the discipline that `params` are for.
pub(super) fn build(params: &Params, facts: &LinkFacts) -> Result<Box<dyn Discipline>, String> {
    let of = Object::new(params)?;
    let hook = |name| of.hook(name);
    Ok(Box::new(Own {
        enqueue: hook("enqueue"),
        dequeue: hook("dequeue"),
        band: hook("band"),
        of,
        facts: *facts,
        bands: vec![VecDeque::new()],
        packets: 0,
        bytes: 0,
        has_seed: false,
    }))
}

impl Own {
    fn told(&self, now: Time, item: &Item) -> (Packet, Waiting) {
        let us = |ps: u64| ps as f64 / 1e6;
        let packet = Packet {
            bytes: item.bytes,
            flow: item.flow,
            is_ecn_capable: item.ecn != Ecn::NotEct,
            dscp: item.dscp,
            wait_us: us(now.saturating_since(item.enqueued).as_ps()),
        };
        let waiting = Waiting {
            now_us: us(now.as_ps()),
            packets: self.packets,
            bytes: self.bytes,
            limit_packets: self.facts.limit_packets,
            rate_bps: self.facts.rate_bps,
        };
        (packet, waiting)
    }

    /// Has the object its seed, from the run's own stream.
    fn seed(&mut self, rng: &mut Rng) {
        if !self.has_seed {
            self.has_seed = true;
            let seed = rng.below(1 << 63);
            attached(self.of.class.name, |py| self.of.set(py, "seed", seed));
        }
    }

    /// What `hook` says of `item`.
    fn verdict(&self, hook: Option<&Py<PyAny>>, what: &str, now: Time, item: &Item) -> Verdict {
        let Some(hook) = hook else {
            return Verdict::Pass;
        };
        attached(self.of.class.name, |py| {
            let given = hook.bind(py).call1(self.told(now, item))?;
            if given.is_none() {
                return Ok(Verdict::Pass);
            }
            match given.extract::<&str>() {
                Ok("pass") => Ok(Verdict::Pass),
                Ok("mark") => Ok(Verdict::Mark),
                Ok("drop") => Ok(Verdict::Drop),
                _ => Err(of_no_use(what, "`pass`, `mark`, `drop` or None", &given)),
            }
        })
    }

    fn band_of(&self, now: Time, item: &Item) -> usize {
        let Some(hook) = &self.band else {
            return 0;
        };
        attached(self.of.class.name, |py| {
            let given = hook.bind(py).call1((self.told(now, item).0,))?;
            let band = given
                .extract::<usize>()
                .ok()
                .filter(|band| *band < MOST_BANDS);
            band.ok_or_else(|| of_no_use("band", "a whole number from 0 to 255", &given))
        })
    }
}

impl Discipline for Own {
    fn enqueue(
        &mut self,
        now: Time,
        mut item: Item,
        rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) {
        self.seed(rng);
        item.enqueued = now;
        let bytes = self.bytes + u64::from(item.bytes);
        if self.packets >= self.facts.limit_packets || bytes > self.facts.limit_bytes {
            dropped(item, Drop::Overflow);
            return;
        }
        match self.verdict(self.enqueue.as_ref(), "enqueue", now, &item) {
            Verdict::Pass => {}
            // What cannot be marked is dropped, as by every law here.
            Verdict::Mark if item.mark() => {}
            Verdict::Mark | Verdict::Drop => {
                dropped(item, Drop::Early);
                return;
            }
        }
        let band = self.band_of(now, &item);
        if self.bands.len() <= band {
            self.bands.resize_with(band + 1, VecDeque::new);
        }
        self.packets += 1;
        self.bytes = bytes;
        self.bands[band].push_back(item);
    }

    fn dequeue(
        &mut self,
        now: Time,
        rng: &mut Rng,
        dropped: &mut dyn FnMut(Item, Drop),
    ) -> Option<Item> {
        self.seed(rng);
        loop {
            let band = self.bands.iter_mut().find(|band| !band.is_empty())?;
            let mut item = band.pop_front()?;
            self.packets -= 1;
            self.bytes -= u64::from(item.bytes);
            match self.verdict(self.dequeue.as_ref(), "dequeue", now, &item) {
                Verdict::Pass => return Some(item),
                Verdict::Mark if item.mark() => return Some(item),
                Verdict::Mark | Verdict::Drop => dropped(item, Drop::Early),
            }
        }
    }

    fn packets(&self) -> u32 {
        self.packets
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn set_rate(&mut self, rate_bps: u64) {
        self.facts.rate_bps = rate_bps;
    }

    fn classifies(&self) -> bool {
        true
    }
}
