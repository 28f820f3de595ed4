//! Cells whose path changes during the run: delay steps, outages, handovers, and jitter by which
//! packets overtake each other; as many of each.

use super::cells::{Cell, Regime, VARIANTS, index, latin, log_of};
use super::extent::Extent;
use std::path::Path;
use trammel_core::rng::Rng;
use trammel_scenario::File;

/// Ranges, each drawn by its logarithm: bit/s, seconds, bandwidth-delay products.
const RATE: (f64, f64) = (4e6, 2e8);
const RTT: (f64, f64) = (0.01, 0.2);
const BUFFER: (f64, f64) = (0.5, 4.0);
/// The part of cells with one flow, and that with a drop-tail queue; the others have FQ-CoDel.
const ALONE: f64 = 0.7;
const DROPTAIL: f64 = 0.75;
/// From one change to the next: so many round trips, between so many seconds.
const APART_ROUND_TRIPS: (f64, f64) = (20.0, 100.0);
const APART_S: (f64, f64) = (0.5, 10.0);
/// Changes of a run at least.
const CHANGES: f64 = 12.0;
/// What a delay becomes, of the first one; a rate, of the first one.
const DELAYS: (f64, f64) = (0.5, 3.0);
const RATES: (f64, f64) = (0.4, 1.5);
/// How long outages and the gaps of handovers are, s.
const OUTAGE: (f64, f64) = (0.05, 2.0);
const GAP: (f64, f64) = (0.02, 0.15);
/// Jitter that reorders, of the round trip.
const JITTER: (f64, f64) = (0.01, 0.3);

/// Draws the cells of `seed`, to be measured with the kernel of the tree `source`, or the
/// package's.
pub(super) fn draw(extent: Extent, seed: u64, source: Option<&str>) -> Vec<Cell> {
    let strata = |what: &str| latin(extent.cells, seed, &format!("changing:{what}"));
    let (rates, rtts, buffers) = (strata("rate"), strata("rtt"), strata("buffer"));
    let (kinds, queues, counts) = (strata("kind"), strata("queue"), strata("flows"));
    let firsts = strata("variant");
    let cell = |at: usize| {
        let mut rng = Rng::new(seed, &format!("fidelity:changing:{at}"));
        let (rate, rtt) = (log_of(RATE, rates[at]), log_of(RTT, rtts[at]));
        let regime = Regime::CHANGING[index(kinds[at], Regime::CHANGING.len())];
        let packets = rate * rtt / 8.0 / 1500.0;
        let limit = (log_of(BUFFER, buffers[at]) * packets).max(8.0).floor();
        let first = VARIANTS[index(firsts[at], VARIANTS.len())];
        let mut names = vec![first];
        if counts[at] >= ALONE {
            names.push(VARIANTS[rng.below(VARIANTS.len() as u64) as usize]);
        }
        let apart = log_of(APART_ROUND_TRIPS, rng.unit()) * rtt;
        let apart = apart.clamp(APART_S.0, APART_S.1);
        let (least, most) = extent.packets;
        let seconds = |packets: u64| packets as f64 * 12_000.0 / rate;
        let duration = (1000.0 * rtt)
            .clamp(seconds(least), seconds(most))
            .max(CHANGES * apart);
        let queue = if queues[at] < DROPTAIL {
            format!("{{ discipline = \"droptail\", limit = \"{limit} pkts\" }}")
        } else {
            "{ discipline = \"fq_codel\" }".to_owned()
        };
        let (keys, what) = changes(regime, rate, rtt, apart, &mut rng);
        let name = format!("changing-{at:03}");
        let mut text = format!(
            "# A cell of `trammel fidelity --paths changing --seed {seed}`: {words}, {what}.\n\
             duration = \"{duration:.3} s\"\nwarmup = \"{warmup:.3} s\"\nrepeat = {phases}\n\
             seed = {own}\n\n\
             [path]\nrate = \"{rate:.0} bit/s\"\nrtt = \"{rtt:.3} ms\"\n\
             burst = \"{burst} B\"\nqueue = {queue}\n{keys}",
            words = regime.words(),
            warmup = duration * 0.1,
            phases = extent.phases,
            own = seed.wrapping_add(1000 * at as u64) >> 1,
            rtt = rtt * 1e3,
            burst = 2 * (1500 + 14),
        );
        for name in names {
            text += &format!("\n[[flow]]\nvariant = \"{name}\"\n");
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

/// The keys of `[path]` by which it changes, and what they are in words.
fn changes(regime: Regime, rate: f64, rtt: f64, apart: f64, rng: &mut Rng) -> (String, String) {
    let mut part = |range: (f64, f64)| log_of(range, rng.unit());
    let delay = |factor: f64| format!("{:.3} ms", rtt / 2.0 * factor * 1e3);
    let at = |number: f64| format!("{:.3} s", apart * number);
    let mut rows = Vec::new();
    let what = match regime {
        Regime::Delays => {
            for number in 1..=4 {
                let delay = delay(part(DELAYS));
                rows.push(format!(
                    "{{ at = \"{}\", direction = \"both\", delay = \"{delay}\" }}",
                    at(f64::from(number))
                ));
            }
            format!("each {apart:.1} s")
        }
        Regime::Outages => {
            let long = part(OUTAGE).min(apart / 2.0);
            let policy = if part((1.0, 4.0)) < 2.0 {
                "hold"
            } else {
                "drop"
            };
            rows.push(format!(
                "{{ at = \"{}\", direction = \"both\", down = true, outage = \"{policy}\" }}",
                at(1.0)
            ));
            rows.push(format!(
                "{{ at = \"{:.3} s\", direction = \"both\", down = false }}",
                apart + long
            ));
            format!("{long:.2} s each {:.1} s, `{policy}`", 2.0 * apart)
        }
        Regime::Handovers => {
            let gap = part(GAP);
            for number in [1.0, 2.0] {
                rows.push(format!(
                    "{{ at = \"{}\", direction = \"both\", down = true }}",
                    at(number)
                ));
                rows.push(format!(
                    "{{ at = \"{:.3} s\", direction = \"both\", rate = \"{:.0} bit/s\", delay = \
                     \"{}\" }}",
                    apart * number + gap,
                    rate * part(RATES),
                    delay(part(DELAYS))
                ));
            }
            format!("{:.0} ms each {apart:.1} s", gap * 1e3)
        }
        _ => {
            let most = part(JITTER) * rtt * 1e3;
            return (
                format!("jitter = \"{most:.3} ms\"\nreorder = true\n"),
                format!("up to {most:.1} ms"),
            );
        }
    };
    let period = match regime {
        Regime::Outages => 2.0,
        Regime::Handovers => 3.0,
        _ => 5.0,
    };
    let keys = format!(
        "schedule = [\n    {},\n]\nschedule_period = \"{}\"\n",
        rows.join(",\n    "),
        at(period)
    );
    (keys, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_sound_and_as_many_of_each_kind() {
        let extent = Extent {
            cells: 60,
            ..Extent::QUICK
        };
        let cells = draw(extent, 3, None);
        for regime in Regime::CHANGING {
            let count = cells.iter().filter(|cell| cell.regime == regime).count();
            assert_eq!(count, 15, "{regime:?}");
        }
        for cell in &cells {
            assert_eq!(cell.scenario.check(), Ok(()), "{}", cell.name);
            #[cfg(target_os = "linux")]
            assert_eq!(
                crate::measure::refusals(&cell.scenario),
                Vec::new(),
                "{}",
                cell.name
            );
        }
        let again = draw(extent, 3, None);
        let both = cells.iter().zip(&again);
        assert!(
            both.into_iter()
                .all(|(one, other)| one.scenario == other.scenario)
        );
    }
}
