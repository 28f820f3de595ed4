//! MLRsearch against binary search over simulated devices: `cargo run --release -p trammel-bench
//! --example mlr_study`.
//!
//! | argument | does |
//! | --- | --- |
//! | none | 200 devices of each family, seed 1 |
//! | `--devices N`, `--seed S` | others |
//! | `--csv` | prints the bounds, trials and time of each search of MLRsearch |
//! | `--serve` | is such devices to another program: `device FAMILY NUMBER` chooses one, `trial FRAMES_PER_SECOND SECONDS` answers with the frames offered and forwarded, `passes FRAMES_PER_SECOND LOSS` with the probability of at most so much loss in a trial of 60 s |
#![allow(clippy::print_stdout)]

mod device;
mod study;

use device::{Family, Law, offer};
use std::io::{BufRead as _, Write as _};
use study::{Bounds, FINAL, Sum, Way, study};
use trammel_bench::trial::Load;
use trammel_core::rng::Rng;
use trammel_core::time::Span;

/// RFC 2544 §23 waits two seconds before a trial for learning and two after it for residual frames,
/// and then five.
const WAITS_S: f64 = 9.0;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |option: &str| {
        let at = words.iter().position(|word| word == option)?;
        words.get(at + 1).map(String::as_str)
    };
    let number = |option: &str, default: u32| {
        after(option).map_or(default, |word| word.parse().expect("the text is a number"))
    };
    let devices = number("--devices", 200);
    let seed = u64::from(number("--seed", 1));
    if words.iter().any(|word| word == "--serve") {
        serve(seed);
    } else if words.iter().any(|word| word == "--csv") {
        bounds(seed, devices);
    } else {
        compare(seed, devices);
    }
}

/// Devices for another program, on standard input and output.
fn serve(seed: u64) {
    let mut law = Law::new(Family::Logistic, seed, 0);
    let mut rng = Rng::new(seed, "served");
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("text");
        let (what, words) = line.split_once(' ').expect("a word and what belongs to it");
        let (first, second) = words.rsplit_once(' ').expect("two words");
        let numbers =
            || [first, second].map(|word| word.parse::<f64>().expect("the text is a number"));
        match what {
            "device" => {
                let family = Family::ALL
                    .into_iter()
                    .find(|family| family.name() == first);
                let number = second.parse().expect("the text is a number");
                law = Law::new(family.expect("a family"), seed, number);
                rng = Rng::new(seed, &format!("served:{words}"));
            }
            "trial" => {
                let [rate, seconds] = numbers();
                let load =
                    Load::new(rate, Span::from_secs_f64(seconds)).expect("the load is above 0");
                let outcome = offer(&law, &mut rng, load).expect("a law of loss");
                println!("{} {}", outcome.offered, outcome.forwarded);
            }
            _ => {
                let [rate, loss] = numbers();
                println!(
                    "{}",
                    law.passes(Load::new(rate, FINAL).expect("the load is above 0"), loss)
                );
            }
        }
        std::io::stdout().flush().expect("an open pipe");
    }
}

/// Each device's bounds, for a comparison with another implementation.
fn bounds(seed: u64, devices: u32) {
    println!("family,number,goal,lower,upper,passes_at_lower,passes_at_upper,trials,time_s");
    for family in Family::ALL {
        for number in 0..devices {
            let law = Law::new(family, seed, number);
            let search = Way::Mlr.search(&law, seed, &format!("{}:{number}", family.name()));
            for found in &search.bounds {
                let Bounds { goal, lower, upper } = *found;
                let (at_lower, at_upper) = found.passes(&law);
                let cell =
                    |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
                println!(
                    "{},{number},{},{},{},{},{},{},{}",
                    family.name(),
                    goal.loss_ratio,
                    cell(lower),
                    cell(upper),
                    cell(at_lower),
                    cell(at_upper),
                    search.trials.len(),
                    search.time().as_secs_f64()
                );
            }
        }
    }
}

fn compare(seed: u64, devices: u32) {
    println!(
        "Mean of {devices} devices; ratios to binary search; wrong and irregular in percent of the \
         goals. Seed {seed}."
    );
    println!(
        "{:14} {:17} {:>7} {:>7} {:>6} {:>6} {:>10} {:>7} {:>8} {:>10}",
        "devices",
        "search",
        "time s",
        "trials",
        "final",
        "ratio",
        "with waits",
        "wrong",
        "grossly",
        "irregular"
    );
    for family in Family::ALL {
        let mut base = None;
        for way in Way::ALL {
            let sum = study(family, way, seed, devices);
            let base = *base.get_or_insert(sum);
            let waited = |sum: Sum| sum.time_s + WAITS_S * f64::from(sum.trials);
            let mean = |value: f64| value / f64::from(devices);
            println!(
                "{:14} {:17} {:>7.1} {:>7.1} {:>6.1} {:>6.3} {:>10.3} {:>7.1} {:>8.1} {:>10.1}",
                family.name(),
                way.name(),
                mean(sum.time_s),
                mean(f64::from(sum.trials)),
                mean(f64::from(sum.full)),
                sum.time_s / base.time_s,
                waited(sum) / waited(base),
                sum.percent(sum.wrong),
                sum.percent(sum.grossly),
                sum.percent(sum.irregular),
            );
        }
    }
}
