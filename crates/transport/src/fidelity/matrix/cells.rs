//! The cells of a matrix: scenarios drawn by a Latin hypercube, so that each range of each
//! parameter comes as often.

use super::extent::{Extent, Wanted};
use std::path::Path;
use trammel_core::rng::Rng;
use trammel_scenario::File;
use trammel_scenario::model::Scenario;

/// The variants that are drawn: all of the kernel's but DCTCP, which is Reno without marks, and LP,
/// which hangs on a random offset of its peer's clock (`docs/linux-6.12.md`).
pub const VARIANTS: [&str; 15] = [
    "bbr",
    "bic",
    "cdg",
    "cubic",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "nv",
    "reno",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
];
/// What replaces `bbr` in a kernel that has it: BBR version 3, as google's module speaks it.
pub const BBR3: &str = "bbr3";
/// Variants that are drawn where they are asked for.
pub const ON_REQUEST: [&str; 3] = [BBR3, "dctcp", "prague"];
/// Ranges, each drawn by its logarithm: bit/s, seconds, bandwidth-delay products, probability.
const RATE: (f64, f64) = (2e6, 1e9);
const RTT: (f64, f64) = (0.002, 0.6);
const BUFFER: (f64, f64) = (0.2, 4.0);
const LOSS: (f64, f64) = (1e-5, 1e-2);
/// The part of cells in which nothing is lost at random, and that with a drop-tail queue.
const WITHOUT_LOSS: f64 = 0.5;
const DROPTAIL: f64 = 0.6;
/// Packets of the highest upper threshold of a RED whose weight is 2⁻⁹: the kernel counts averages
/// in 32 bits of bytes and their parts.
const RED_MOST: f64 = 2700.0;
/// Disciplines of the other queues.
const DISCIPLINES: [&str; 4] = ["codel", "fq_codel", "pie", "red"];
/// The rate of a policer over that of its link, and bytes of a packet.
const POLICED: f64 = 0.8;
const FRAME: u32 = 1514;
/// A queue of fewer packets is none of any link's.
const LEAST_QUEUE_PKTS: f64 = 8.0;
/// How long a run is: so many round trips, unless these are more or fewer packets than an
/// [`Extent`] has.
const ROUND_TRIPS: f64 = 1000.0;
/// And never fewer than these, nor longer than an hour.
const LEAST_ROUND_TRIPS: f64 = 60.0;
const LONGEST_S: f64 = 3600.0;
/// The part of a run that is its beginning.
const WARMUP: f64 = 0.25;

/// A cell.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its name.
    pub name: String,
    /// What is asked of flows in it.
    pub regime: Regime,
    /// Its scenario.
    pub scenario: Scenario,
    /// The same as a file, which `trammel run` takes.
    pub text: String,
}

/// What flows meet in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Regime {
    /// One flow and its own queue.
    Alone,
    /// One flow, and packets are lost at random.
    Lossy,
    /// One flow, and a queue that keeps itself short.
    Managed,
    /// Flows of one variant.
    Alike,
    /// Flows of several.
    Mixed,
    /// The delay changes in steps.
    Delays,
    /// Nothing passes for a time, again and again.
    Outages,
    /// A short outage, and another rate and delay behind it.
    Handovers,
    /// Packets overtake each other.
    Reordering,
}

impl Regime {
    /// All, in the order of columns.
    pub const ALL: [Regime; 9] = [
        Regime::Alone,
        Regime::Lossy,
        Regime::Managed,
        Regime::Alike,
        Regime::Mixed,
        Regime::Delays,
        Regime::Outages,
        Regime::Handovers,
        Regime::Reordering,
    ];
    /// Those of paths that change.
    pub(crate) const CHANGING: [Regime; 4] = [
        Regime::Delays,
        Regime::Outages,
        Regime::Handovers,
        Regime::Reordering,
    ];

    /// Whether the path changes.
    pub(crate) fn is_changing(self) -> bool {
        Regime::CHANGING.contains(&self)
    }

    /// The words for people.
    pub fn words(self) -> &'static str {
        match self {
            Regime::Alone => "one flow, drop-tail",
            Regime::Lossy => "one flow, random loss",
            Regime::Managed => "one flow, managed queue",
            Regime::Alike => "several, one variant",
            Regime::Mixed => "several variants",
            Regime::Delays => "delay steps",
            Regime::Outages => "outages",
            Regime::Handovers => "handovers",
            Regime::Reordering => "reordering jitter",
        }
    }
}

/// Draws the cells of `seed`, to be measured with the kernel of the tree `source`, or the
/// package's.
pub fn draw(extent: Extent, seed: u64, source: Option<&str>, wanted: &Wanted) -> Vec<Cell> {
    let strata = |what: &str| latin(extent.cells, seed, what);
    let (rates, rtts, buffers) = (strata("rate"), strata("rtt"), strata("buffer"));
    let (losses, queues, counts) = (strata("loss"), strata("queue"), strata("flows"));
    let firsts = strata("variant");
    let cell = |at: usize| {
        let mut others = Rng::new(seed, &format!("fidelity:others:{at}"));
        let rate = log_of(RATE, rates[at]);
        let rtt = log_of(RTT, rtts[at]);
        let packets = rate * rtt / 8.0 / 1500.0;
        let least = LEAST_QUEUE_PKTS / packets.max(f64::MIN_POSITIVE);
        let limit = (log_of(BUFFER, buffers[at]).max(least) * packets).floor() as u32;
        let loss = (losses[at] >= WITHOUT_LOSS)
            .then(|| log_of(LOSS, (losses[at] - WITHOUT_LOSS) / (1.0 - WITHOUT_LOSS)));
        let discipline = match wanted.queues.as_slice() {
            [] => (queues[at] >= DROPTAIL).then(|| {
                DISCIPLINES[index(
                    (queues[at] - DROPTAIL) / (1.0 - DROPTAIL),
                    DISCIPLINES.len(),
                )]
            }),
            some => Some(some[index(queues[at], some.len())]).filter(|name| *name != "droptail"),
        };
        let names = variants(counts[at], firsts[at], &wanted.variants, &mut others);
        let is_mixed = names.iter().any(|name| *name != names[0]);
        let regime = match (names.len(), is_mixed, discipline, loss) {
            (2.., true, ..) => Regime::Mixed,
            (2.., false, ..) => Regime::Alike,
            (_, _, Some(_), _) => Regime::Managed,
            (_, _, None, Some(_)) => Regime::Lossy,
            (_, _, None, None) => Regime::Alone,
        };
        let (least, most) = extent.packets;
        let seconds = |packets: u64| packets as f64 * 12_000.0 / rate;
        let duration = (ROUND_TRIPS * rtt)
            .clamp(seconds(least), seconds(most))
            .clamp(LEAST_ROUND_TRIPS * rtt, LONGEST_S);
        let name = format!("cell-{at:03}");
        let mut text = format!(
            "# A cell of `trammel fidelity --seed {seed}`: {words}.\n\
             duration = \"{duration:.3} s\"\nwarmup = \"{warmup:.3} s\"\nrepeat = {phases}\n\
             seed = {own}\n\n\
             [path]\nrate = \"{rate:.0} bit/s\"\nrtt = \"{rtt:.3} ms\"\n\
             # The kernel's token bucket lets two packets go at once: so does the simulator's.\n\
             burst = \"{burst} B\"\nqueue = {queue}\n",
            words = regime.words(),
            warmup = duration * WARMUP,
            phases = extent.phases,
            own = seed.wrapping_add(1000 * at as u64) >> 1,
            rtt = rtt * 1e3,
            burst = 2 * (1500 + 14),
            queue = queue(discipline, limit, rate, wanted),
        );
        if let Some(probability) = loss {
            text += &format!("loss = {{ model = \"netem\", probability = {probability:.3e} }}\n");
        }
        // Beside one that marks tell apart from others, all can be marked.
        let is_marked = names.iter().any(|name| matches!(*name, "dctcp" | "prague"));
        for name in names {
            text += &format!("\n[[flow]]\nvariant = \"{name}\"\n");
            if is_marked && VARIANTS.contains(&name) {
                text += "ecn = true\n";
            }
            if name == BBR3 {
                text += "params = { dialect = \"linux\" }\n";
            }
        }
        if let Some(tree) = source {
            text += &format!("\n[measure]\nsource = {tree:?}\n");
        }
        let mut file = File::parse(&name, &text, Path::new(".")).expect("what is drawn is sound");
        Cell {
            scenario: file.points.remove(0).scenario,
            name,
            regime,
            text,
        }
    };
    (0..extent.cells).map(cell).collect()
}

/// A value of each of `count` ranges of equal size between 0 and 1, in an order of its own.
pub(super) fn latin(count: usize, seed: u64, what: &str) -> Vec<f64> {
    let mut rng = Rng::new(seed, &format!("fidelity:{what}"));
    let mut places: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        places.swap(last, rng.below(last as u64 + 1) as usize);
    }
    places
        .into_iter()
        .map(|place| (place as f64 + rng.unit()) / count as f64)
        .collect()
}

pub(super) fn log_of((low, high): (f64, f64), part: f64) -> f64 {
    low * (high / low).powf(part)
}

pub(super) fn index(part: f64, of: usize) -> usize {
    ((part * of as f64) as usize).min(of - 1)
}

/// The variants of a cell's flows: four in ten cells have one flow, three a pair of two variants,
/// the others up to eight of one or of several.
fn variants(count: f64, first: f64, of: &[&'static str], rng: &mut Rng) -> Vec<&'static str> {
    let firsts = if of.is_empty() { &VARIANTS } else { of };
    let first = firsts[index(first, firsts.len())];
    // One kernel has one `bbr`.
    let is_there = |name: &str| name != "bbr" || !of.contains(&BBR3);
    let other = |rng: &mut Rng| {
        let others: Vec<_> = VARIANTS
            .iter()
            .filter(|name| **name != first && is_there(name))
            .collect();
        *others[rng.below(others.len() as u64) as usize]
    };
    match (count * 10.0) as u32 {
        0..4 => vec![first],
        4..7 => vec![first, other(rng)],
        7 => vec![first; 2],
        8 => vec![first; 3 + rng.below(6) as usize],
        _ => {
            let count = 3 + rng.below(6);
            let mut all = vec![first];
            all.extend((1..count).map(|_| other(rng)));
            all
        }
    }
}

/// A queue of `discipline`, drop-tail where none is drawn, as a scenario has it.
fn queue(discipline: Option<&str>, limit: u32, rate: f64, wanted: &Wanted) -> String {
    match discipline {
        None => format!("{{ discipline = \"droptail\", limit = \"{limit} pkts\" }}"),
        // The kernel's is not gentle, and has weights that are powers of two.
        Some("red") => format!(
            "{{ discipline = \"red\", limit = \"{limit} pkts\", gentle = false, weight = \
             0.001953125, min_threshold = {:.0}, max_threshold = {:.0} }}",
            (f64::from(limit) / 6.0).clamp(2.0, RED_MOST / 3.0).floor(),
            (f64::from(limit) / 2.0).clamp(5.0, RED_MOST).floor()
        ),
        // Those that keep the delay short have a limit of their own; the kernel's PIE is not the
        // RFC's.
        Some("pie") => "{ discipline = \"pie\", dialect = \"linux\" }".to_owned(),
        // The step marks in a queue of some packets, whatever its length.
        Some("threshold") => format!(
            "{{ discipline = \"threshold\", limit = \"{limit} pkts\", not_capable = \"drop\" }}"
        ),
        // Below the link's rate, so that nothing waits.
        Some("policer") => format!(
            "{{ discipline = \"policer\", rate = \"{:.0} bit/s\", burst = \"{} B\", limit = \
             \"{limit} pkts\" }}",
            rate * POLICED,
            limit * FRAME
        ),
        // Only the L4S team's trees have Prague, and their step has two packets wait at least.
        Some("dualpi2") if wanted.variants.contains(&"prague") => {
            "{ discipline = \"dualpi2\", min_qlen_step = 2 }".to_owned()
        }
        Some(name) => format!("{{ discipline = \"{name}\" }}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_of_every_parameter_comes_once() {
        let mut all = latin(50, 7, "rate");
        all.sort_by(f64::total_cmp);
        for (at, part) in all.iter().enumerate() {
            assert!((at as f64 / 50.0..(at + 1) as f64 / 50.0).contains(part));
        }
    }

    #[test]
    fn queues_that_are_wanted_are_in_every_cell() {
        let queues = vec!["cake", "fq_pie", "dualpi2", "policer", "threshold"];
        let wanted = Wanted {
            queues,
            ..Wanted::default()
        };
        let cells = draw(Extent::QUICK, 3, None, &wanted);
        for name in &wanted.queues {
            let quoted = format!("discipline = \"{name}\"");
            let with = cells.iter().filter(|cell| cell.text.contains(&quoted));
            assert!((3..=4).contains(&with.count()), "{name}");
        }
        for cell in &cells {
            assert_eq!(cell.scenario.check(), Ok(()), "{}", cell.name);
        }
    }

    #[test]
    fn cells_are_sound_and_follow_from_their_seed() {
        let cells = draw(Extent::FULL, 3, None, &Wanted::default());
        assert_eq!(cells.len(), 400);
        for cell in &cells {
            assert_eq!(cell.scenario.check(), Ok(()), "{}", cell.name);
        }
        for regime in Regime::ALL.into_iter().filter(|one| !one.is_changing()) {
            assert!(
                cells.iter().filter(|cell| cell.regime == regime).count() >= 20,
                "{regime:?}"
            );
        }
        let again = draw(Extent::FULL, 3, None, &Wanted::default());
        assert!(
            cells
                .iter()
                .zip(&again)
                .all(|(one, other)| one.scenario == other.scenario)
        );
        assert!(cells[0].scenario != draw(Extent::FULL, 4, None, &Wanted::default())[0].scenario);
        // Another kernel measures the same cells.
        let tree = env!("CARGO_MANIFEST_DIR");
        let other = draw(Extent::QUICK, 3, Some(tree), &Wanted::default());
        let source = |cell: &Cell| cell.scenario.measure.clone()?.source;
        assert_eq!(source(&other[0]).as_deref(), Some(tree));
    }

    #[test]
    fn cells_of_chosen_variants_begin_with_one_and_have_one_bbr() {
        let wanted = Wanted {
            variants: vec![BBR3, "cubic"],
            ..Wanted::default()
        };
        let tree = env!("CARGO_MANIFEST_DIR");
        for cell in draw(Extent::FULL, 3, Some(tree), &wanted) {
            let flows = &cell.scenario.flows;
            let names: Vec<_> = flows.iter().map(|flow| &*flow.variant.name).collect();
            assert!(matches!(names[0], "bbr3" | "cubic"), "{names:?}");
            assert!(!names.contains(&"bbr"), "{names:?}");
            assert!(cell.scenario.other_laws().is_empty());
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_guest_can_express_every_cell() {
        for cell in draw(Extent::FULL, 5, None, &Wanted::default()) {
            assert_eq!(
                crate::measure::refusals(&cell.scenario),
                Vec::new(),
                "{}",
                cell.name
            );
        }
    }
}
