//! What it costs that data are not in the first level.

use super::beside::Beside;
use super::load::{Error, Load};
use super::row::Row;
use crate::eo::{LINE, Memory, Touch};
use crate::expr::Expr;
use crate::machine::Machine;
use crate::residency::{self, Locality, Population};

/// Accesses of one operation.
pub(super) struct Touched {
    /// The part that the operation belongs to.
    pub row: usize,
    /// Accesses a packet of the function's.
    pub rate: f64,
    /// Those of them that may have to be waited for.
    pub charged: f64,
    /// The table; nothing where it is a packet.
    pub size: Option<Size>,
    /// It comes from another core's cache, so memory is never asked.
    pub is_passed_on: bool,
    /// Accesses under way at once.
    pub in_flight: f64,
}

/// The bytes of a table, of an entry, and of the memory over which they lie.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub bytes: f64,
    pub entry: f64,
    pub span: f64,
}

/// The size of the table that is touched.
pub(super) fn size(
    touch: &Touch,
    value: &impl Fn(&Expr) -> Result<f64, Error>,
) -> Result<Option<Size>, Error> {
    match &touch.of {
        Memory::Packet | Memory::OtherCore => Ok(None),
        Memory::Table { bytes, entry, span } => Ok(Some(Size {
            bytes: value(bytes)?,
            entry: value(entry)?.max(1.0),
            span: value(span)?,
        })),
    }
}

/// Accesses that may have to be waited for, of so many at a visit: the first line of a packet is
/// where its headers are, which were loaded when it came.
pub(super) fn charged(accesses: f64, touch: &Touch) -> f64 {
    match touch.of {
        Memory::Table { .. } | Memory::OtherCore => accesses,
        Memory::Packet => (accesses - 1.0).max(0.0),
    }
}

/// Lines that are used, as the caches see them.
pub(super) fn populations(touched: &[Touched], load: &Load) -> Vec<Population> {
    let population = |touched: &Touched| match touched.size {
        Some(Size { bytes, entry, .. }) => Population {
            rate: touched.rate,
            keys: load.flows.min(bytes / entry).max(1.0),
            lines: (bytes / LINE).max(1.0),
            per_line: (LINE / entry).max(1.0),
            locality: load.locality,
        },
        // The next packet is another one, in a buffer that the device has just written.
        None => Population {
            rate: touched.rate,
            keys: 1.0,
            lines: 1.0,
            per_line: 1.0,
            locality: Locality::Uniform,
        },
    };
    touched.iter().map(population).collect()
}

/// Adds to each part what its accesses cost; gives the accesses a packet that no cache answers.
pub(super) fn charge(
    touched: &[Touched],
    populations: &[Population],
    machine: &Machine,
    beside: &Beside,
    rows: &mut [Row],
) -> f64 {
    if machine.memory.is_counted_only {
        let asked = touched.iter().filter(|touched| !touched.is_passed_on);
        return asked.map(|touched| touched.rate).sum();
    }
    let caches: Vec<f64> = machine
        .levels
        .iter()
        .map(|level| (level.bytes * level.share / LINE).max(1.0))
        .collect();
    let shared = if beside.is_core_shared {
        0
    } else {
        caches.len().saturating_sub(1)
    };
    let hits = residency::hits_beside(populations, &beside.populations, shared, &caches);
    let first = machine.levels.first().map_or(0.0, |level| level.cycles);
    let mut beyond = 0.0;
    for (touched, hits) in touched.iter().zip(&hits) {
        let mut waited = 0.0;
        let mut below = 0.0;
        for (level, hit) in machine.levels.iter().zip(hits) {
            let answered = match touched.size {
                Some(_) => *hit,
                // Packets come into the last level, and the line after the one in use is fetched
                // ahead.
                None => f64::from(u8::from(level == &machine.levels[machine.levels.len() - 1])),
            };
            waited += (answered - below).max(0.0) * (level.cycles - first);
            below = below.max(answered);
        }
        let missed = 1.0 - below;
        let far = (machine.memory_cycles() + walk(machine, touched)) * beside.stretch;
        waited += missed * (far - first);
        beyond += missed * touched.rate;
        let waited = waited * touched.charged;
        let parallel = machine.memory.parallel;
        // Lines of a packet follow one another, so the processor fetches them ahead.
        let in_flight = match touched.size {
            Some(_) => touched.in_flight.clamp(1.0, parallel),
            None => parallel,
        };
        let memory = &mut rows[touched.row].memory;
        memory.low += waited / parallel;
        memory.centre += waited / in_flight;
        // Where lines of a packet are is known before any of them has come.
        let dependent = match touched.size {
            None if !touched.is_passed_on => parallel,
            _ => 1.0,
        };
        memory.high += waited / dependent;
    }
    beyond
}

/// Cycles to find where the page is, for an access to memory.
fn walk(machine: &Machine, touched: &Touched) -> f64 {
    match (&machine.pages, touched.size) {
        (Some(pages), Some(Size { span, .. })) => pages.walk(span, &machine.levels),
        _ => 0.0,
    }
}
