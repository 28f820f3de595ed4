//! What the look-ups of a batch cost more or less than a mean one: for estimates.

use super::{Address, Routes, Table};
use crate::engine::NOWHERE;
use crate::engine::study::Study;

/// Bytes of a cache line and of a page.
const LINE: usize = 64;
const PAGE: usize = 4096;

/// Tells of look-ups of `addrs`, the addresses of a batch: a batch of one address asks once.
pub(crate) fn study<A: Address, T: Table<A>>(
    routes: &Routes<A, T>,
    addrs: &[A],
    study: &mut Study,
) {
    let table = routes.table();
    let Some((first, rest)) = addrs.split_first() else {
        return;
    };
    let is_one = rest.iter().all(|addr| addr == first);
    let asked = if is_one { 1 } else { addrs.len() };
    study.mean("asked", asked as f64 / addrs.len() as f64, addrs.len());
    let output = |addr: &A| table.lookup(*addr).map_or(NOWHERE, |hop| routes.hop(hop).1);
    study.ways(&addrs.iter().map(output).collect::<Vec<u32>>());
    for addr in &addrs[..asked] {
        let mut levels = 0;
        table.path(*addr, &mut |place| {
            levels += 1;
            study.different("lines", (place / LINE) as u64);
            study.different("pages", (place / PAGE) as u64);
        });
        study.mean("levels", f64::from(levels), 1);
    }
}
