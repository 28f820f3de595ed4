//! What was measured, and its table.

use crate::load::Offered;
use std::collections::BTreeMap;
use trammel::ground::machine;

/// What a round measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) offered: Offered,
    pub(crate) delivered: u64,
    pub(crate) wall_ns: i64,
    /// Of the thread that forwards; for the kernel, of the source's thread.
    pub(crate) thread_ns: i64,
}

impl Outcome {
    fn offered_mpps(&self) -> f64 {
        self.offered.frames as f64 / self.offered.wall_ns as f64 * 1e3
    }

    fn mpps(&self) -> f64 {
        self.delivered as f64 / self.wall_ns as f64 * 1e3
    }

    fn thread_ns(&self) -> f64 {
        self.thread_ns as f64 / self.delivered.max(1) as f64
    }

    fn source_share(&self) -> f64 {
        self.offered.thread_ns as f64 / self.offered.wall_ns as f64
    }
}

/// The median of values, their least and their most.
fn spread(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    [
        values[values.len() / 2],
        values[0],
        values[values.len() - 1],
    ]
}

/// Outcomes by row.
pub(crate) type Outcomes = BTreeMap<String, Vec<Outcome>>;

/// What was measured where, when and how.
pub(crate) fn heading(method: &str) {
    let facts = machine::facts();
    let fact = |name: &str| facts.get(name).map_or("unknown", String::as_str);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "{}, {} processors, Linux {}; {}; load average before {}\n{method}\n",
        fact("processor"),
        fact("cores"),
        fact("kernel"),
        machine::now(),
        load.split(' ').next().unwrap_or("unknown"),
    );
}

/// The table for as much load as the source can offer.
pub(crate) fn most(rows: &[String], all: &Outcomes) {
    println!(
        "{:15} {:>7} {:>15} {:>8} {:>6} {:>7} {:>7} {:>13} {:>8} {:>8}",
        "",
        "Mpps",
        "(least-most)",
        "offered",
        "lost",
        "source",
        "ns/p",
        "(least-most)",
        "1000/ns",
        "/kernel"
    );
    let of_source = all
        .get("source")
        .map_or(0.0, |o| spread(o.iter().map(Outcome::thread_ns))[0]);
    let of_kernel = all
        .get("kernel")
        .map(|o| spread(o.iter().map(Outcome::mpps))[0]);
    for name in rows {
        let outcomes = &all[name];
        let [mpps, slowest, fastest] = spread(outcomes.iter().map(Outcome::mpps));
        let offered = spread(outcomes.iter().map(Outcome::offered_mpps))[0];
        let share = spread(outcomes.iter().map(Outcome::source_share))[0];
        // What the kernel forwards costs the source's own thread.
        let own = if name == "kernel" { of_source } else { 0.0 };
        let [ns, least, most] = spread(outcomes.iter().map(Outcome::thread_ns)).map(|ns| ns - own);
        println!(
            "{name:15} {mpps:7.3} {:>15} {offered:8.3} {:5.1}% {:6.0}% {ns:7.0} {:>13} {:8.2} \
             {:>8}",
            format!("({slowest:.3}-{fastest:.3})"),
            (1.0 - mpps / offered).max(0.0) * 100.0,
            share * 100.0,
            format!("({least:.0}-{most:.0})"),
            1e3 / ns,
            of_kernel.map_or_else(String::new, |kernel| format!("{:.2}", mpps / kernel)),
        );
    }
}

/// The table for a given rate: every round a row.
pub(crate) fn paced(rows: &[String], all: &Outcomes) {
    println!(
        "{:15} {:>7} {:>12} {:>12} {:>8} {:>10} {:>7} {:>8}",
        "", "Mpps", "offered", "delivered", "lost", "lost/1e6", "ns/p", "1000/ns"
    );
    for name in rows {
        for outcome in &all[name] {
            let (offered, delivered) = (outcome.offered.frames, outcome.delivered);
            let lost = offered.saturating_sub(delivered);
            let ns = outcome.thread_ns();
            println!(
                "{name:15} {:7.4} {offered:12} {delivered:12} {lost:8} {:10.1} {ns:7.0} {:8.2}",
                outcome.offered_mpps(),
                lost as f64 / offered.max(1) as f64 * 1e6,
                1e3 / ns,
            );
        }
    }
}
