//! From times to a machine: the clock first, then latencies, pages, shares, and each operation's
//! constants.

use super::quantity::{LINES_A_PAGE, What};
use super::system::Cache;
use trammel_cost::machine::{Level, Memory, Pages};
use trammel_cost::probes::chain;
use trammel_cost::{eo, fit, fit_pages, fit_share};

/// What one set of times says.
#[derive(Clone, Debug)]
pub(super) struct Derived {
    /// Cycles a second.
    pub clock_hz: f64,
    /// Cycles of a turn of an empty loop.
    pub loop_cycles: f64,
    /// The caches.
    pub levels: Vec<Level>,
    /// The memory.
    pub memory: Memory,
    /// Pages, where walks could be seen.
    pub pages: Option<Pages>,
    /// The relative error of the fit of shares.
    pub share_residual: f64,
    /// Operations that have a probe.
    pub operations: Vec<Operation>,
}

/// An operation's constants.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    /// Its name.
    pub name: &'static str,
    /// Names and cycles of its constants.
    pub(super) constants: Vec<(&'static str, f64)>,
    /// Cycles of the loop around it, where they could be told apart.
    pub overhead: Option<f64>,
    /// The relative error of the fit.
    pub residual: f64,
    /// Measured cycles at each of the probe's points.
    pub points: Vec<f64>,
}

/// What `times`, in nanoseconds, say of a machine with these caches. `Err` says what cannot be.
pub(super) fn derive(
    times: &[(What, f64)],
    caches: &[Cache],
    page_bytes: Option<usize>,
) -> Result<Derived, String> {
    let ns = |what: What| {
        let found = times.iter().find(|(known, _)| *known == what);
        let ns = found.map_or(0.0, |(_, ns)| *ns);
        if ns > 0.0 {
            Ok(ns)
        } else {
            Err(format!("{what:?} took no time that could be measured"))
        }
    };
    let clock_ghz = chain::CYCLES / ns(What::Clock)?;
    let cycles = |what: What| ns(what).map(|ns| ns * clock_ghz);
    let level = |(at, cache): (usize, &Cache)| {
        Ok(Level {
            name: format!("L{}", cache.level),
            bytes: cache.bytes as f64,
            cycles: cycles(What::Level(at))?,
            share: 1.0,
        })
    };
    let levels: Result<Vec<Level>, String> = caches.iter().enumerate().map(level).collect();
    let levels = levels?;
    let mut memory = Memory {
        latency_ns: ns(What::Memory)?,
        parallel: (ns(What::FarDependent)? / ns(What::FarIndependent)?).max(1.0),
        accesses_per_s: 1e9 / ns(What::FarTogether)?,
        is_counted_only: false,
        spread: 0.0,
    };
    let pages = page_bytes.and_then(|bytes| {
        let extra = |(what, ns): &(What, f64)| match what {
            What::Pages(pages) => {
                let side_by_side = cycles(What::Lines(*pages)).ok()?;
                Some((*pages as f64, ns * clock_ghz - side_by_side))
            }
            _ => None,
        };
        let seen: Vec<(f64, f64)> = times.iter().filter_map(extra).collect();
        let found = fit_pages::fit(&seen)?;
        Some(Pages {
            bytes: bytes as f64,
            entries: found.entries,
            cycles: found.walk,
        })
    });
    let sets: Vec<(f64, f64)> = times
        .iter()
        .filter_map(|(what, ns)| match what {
            What::Set(bytes) => Some((*bytes as f64, ns * clock_ghz)),
            _ => None,
        })
        .collect();
    // Scattered loads compute their place as well: what that adds shows where all is in the first
    // cache.
    let smallest = sets.first().map_or(0.0, |(_, cycles)| *cycles);
    let added = levels.first().map_or(0.0, |first| smallest - first.cycles);
    let sets: Vec<(f64, f64)> = sets
        .iter()
        .map(|(bytes, cycles)| (*bytes, cycles - added.max(0.0)))
        .collect();
    // Far loads differ from the walk through memory in how often they have to find their page: all
    // of them against one in a few. What is left is memory's.
    let far = (cycles(What::FarDependent)? - added.max(0.0)).max(1.0);
    let near = cycles(What::Memory)?;
    let one_in = 1.0 / LINES_A_PAGE as f64;
    let far_walk = ((far - near) / (1.0 - one_in)).max(0.0);
    let memory_cycles = (near - far_walk * one_in).max(1.0);
    memory.latency_ns = memory_cycles / clock_ghz;
    // Far loads find no cache that holds the table of pages.
    let pages = pages.map(|pages| Pages {
        cycles: pages.cycles.max(far_walk),
        ..pages
    });
    let behind = fit_share::Behind {
        memory_cycles,
        pages: pages.as_ref(),
    };
    let mut levels = levels;
    let share_residual = fit_share::fit(&mut levels, behind, &sets)
        .ok_or("no loads from working sets were measured")?;
    let mut operations = Vec::new();
    for (index, entry) in eo::all().into_iter().enumerate() {
        let Some(probe) = &entry.probe else { continue };
        let points: Result<Vec<f64>, String> = (0..probe.points.len())
            .map(|point| cycles(What::Operation(index, point)))
            .collect();
        let points = points?;
        let rows: Vec<(&[f64], f64)> = probe.points.iter().copied().zip(points.clone()).collect();
        let name = entry.about.name;
        let fitted = fit::operation(entry, &rows)
            .ok_or_else(|| format!("nothing fits what `{name}` took"))?;
        let names = entry.constants().iter().map(|constant| constant.name);
        operations.push(Operation {
            name,
            constants: names.zip(fitted.constants).collect(),
            overhead: fitted.overhead,
            residual: fitted.residual,
            points,
        });
    }
    Ok(Derived {
        clock_hz: clock_ghz * 1e9,
        loop_cycles: cycles(What::Loop)?,
        levels,
        memory,
        pages,
        share_residual,
        operations,
    })
}
