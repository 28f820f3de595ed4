//! What theory says of a path under streams: its load, the wait before it, what it drops.
//!
//! | arrivals | payloads | model | wait | dropped |
//! | --- | --- | --- | --- | --- |
//! | one periodic stream | constant | D/D/1 | 0 | 0 |
//! | all Poisson | a few constants | M/D/1/K or M/G/1/K | numeric, by the embedded chain | numeric |
//! | all Poisson | a law | M/G/1 | Pollaczek and Khinchine, λ E\[S²\] / 2 (1 − ρ), as if nothing were dropped | none |
//! | others | any | none; above a load of 1 a fluid | a full queue | 1 − 1/ρ |
//!
//! The chain of the packets that each one leaves behind, π, has by its level crossings
//! `π(j+1) a₀ = π₀ P(A > j) + Σ π(i) P(A > j + 1 − i)`, with A the arrivals during a transmission.
//! Of the time, and as a Poisson arrival sees it, `p(j) = π(j) / (π₀ + ρ)` and the path is full for
//! the rest (Cooper, "Introduction to Queueing Theory", 1981, §5.9).

use super::{offered, wire};
use trammel_scenario::path::{Direction, Limit};
use trammel_scenario::traffic::{Path, Traffic};
use trammel_traffic::moments::Arrivals;
use trammel_traffic::record::Protocol;
use trammel_traffic::stream::Stream;

/// The longest queue whose chain is solved: the work grows as its square.
const MOST_PACKETS: u32 = 10_000;
/// Probabilities below it are not added any more.
const NEGLIGIBLE: f64 = 1e-18;
/// Payloads of a law are taken to be whole packets where so many deviations above the mean still
/// are.
const DEVIATIONS: f64 = 4.0;

/// What is said of the path.
#[derive(Clone, Debug, PartialEq)]
pub struct Queueing {
    /// Offered load as a share of the rate; none where a stream's mean is not known.
    pub load: Option<f64>,
    /// The model: `M/D/1/K`, or `none`.
    pub model: &'static str,
    /// `closed form`, `numeric`, `fluid` or `none`.
    pub form: &'static str,
    /// The mean time in the queue before being sent, in seconds, of those that are sent.
    pub wait_s: Option<f64>,
    /// The share that the queue drops.
    pub dropped: Option<f64>,
    /// The share of the rest that is lost behind it.
    pub lost: Option<f64>,
}

/// What is said of one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Passage {
    /// The mean one-way delay.
    pub delay_mean_s: Option<f64>,
    /// The least.
    pub delay_min_s: Option<f64>,
    /// The share of its packets that is lost.
    pub lost: Option<f64>,
    /// The mean of |D|: known where nothing waits.
    pub jitter_s: Option<f64>,
}

/// A class of packets: how many a second, how long one takes, that squared.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Class {
    per_second: f64,
    mean_s: f64,
    square_s2: f64,
    is_constant: bool,
    arrivals: Arrivals,
}

fn class(stream: &Stream, path: &Path) -> Option<Class> {
    let source = stream.source.as_ref();
    let (per_second, bytes) = offered::mean(source)?;
    let cv = source.predicted().size_cv?;
    let second = 8.0 / path.line.rate.as_bps() as f64;
    let is_constant = cv == 0.0;
    let (mean, sd) = if is_constant {
        (
            f64::from(wire::bytes(bytes.round() as u32, &path.line)),
            0.0,
        )
    } else {
        let sd = cv * bytes;
        let longest = f64::from(wire::longest_whole(&path.line));
        if bytes + DEVIATIONS * sd > longest {
            return None;
        }
        (bytes + f64::from(wire::bytes(0, &path.line)), sd)
    };
    Some(Class {
        per_second,
        mean_s: mean * second,
        square_s2: (mean * mean + sd * sd) * second * second,
        is_constant,
        arrivals: source.arrivals(),
    })
}

/// Why the path is none that theory knows.
fn is_plain(path: &Path) -> bool {
    let line = &path.line;
    line.queue.discipline.name == "droptail"
        && line.burst.is_none()
        && line.schedule.is_empty()
        && line.trace.is_none()
}

/// What is said of the path of `traffic` while all its streams send.
pub fn path(traffic: &Traffic) -> Queueing {
    let path = &traffic.path;
    let lost = match &path.line.loss {
        Some(loss) if loss.direction != Direction::Ack => {
            let model = loss.model.loss_model().ok();
            model.and_then(|model| model.mean_loss())
        }
        _ => Some(0.0),
    };
    let nothing = Queueing {
        load: None,
        model: "none",
        form: "none",
        wait_s: None,
        dropped: None,
        lost,
    };
    let is_of_datagrams = |stream: &Stream| stream.protocol != Protocol::Tcp;
    if !traffic.streams.iter().all(is_of_datagrams) {
        return nothing;
    }
    let classes: Option<Vec<Class>> = traffic
        .streams
        .iter()
        .map(|stream| class(stream, path))
        .collect();
    let Some(classes) = classes.filter(|_| is_plain(path)) else {
        return nothing;
    };
    let sum = |of: fn(&Class) -> f64| classes.iter().map(of).sum::<f64>();
    let load = sum(|class| class.per_second * class.mean_s);
    let per_second = sum(|class| class.per_second);
    let nothing = Queueing {
        load: Some(load),
        ..nothing
    };
    let limit = match path.line.queue.limit {
        Limit::Bytes(_) => None,
        Limit::Packets(_) | Limit::Bdp(_) => Some(path.queue_packets()),
    };
    let is_all = |wanted: Arrivals| classes.iter().all(|class| class.arrivals == wanted);
    let is_constant = classes.iter().all(|class| class.is_constant);
    if is_all(Arrivals::Poisson) {
        if let (true, Some(most)) = (is_constant, limit.filter(|most| *most <= MOST_PACKETS)) {
            let (wait_s, dropped) = bounded(&classes, most as usize);
            let first = classes[0].mean_s;
            let is_one = classes.iter().all(|class| class.mean_s == first);
            return Queueing {
                model: if is_one { "M/D/1/K" } else { "M/G/1/K" },
                form: "numeric",
                wait_s: Some(wait_s),
                dropped: Some(dropped),
                ..nothing
            };
        }
        if load < 1.0 {
            let square = sum(|class| class.per_second * class.square_s2);
            return Queueing {
                model: if is_constant { "M/D/1" } else { "M/G/1" },
                form: "closed form",
                wait_s: Some(square / (2.0 * (1.0 - load))),
                ..nothing
            };
        }
    }
    if load <= 1.0 {
        if classes.len() == 1 && is_all(Arrivals::Periodic) && is_constant {
            return Queueing {
                model: "D/D/1",
                form: "closed form",
                wait_s: Some(0.0),
                dropped: Some(0.0),
                ..nothing
            };
        }
        return nothing;
    }
    Queueing {
        model: "overload",
        form: "fluid",
        wait_s: limit.map(|most| f64::from(most.saturating_sub(1)) * load / per_second),
        dropped: Some(1.0 - 1.0 / load),
        ..nothing
    }
}

/// The mean wait in seconds and the share dropped of Poisson arrivals with constant times of
/// sending, where at most `most` packets are in the queue, the one being sent included.
fn bounded(classes: &[Class], most: usize) -> (f64, f64) {
    let per_second: f64 = classes.iter().map(|class| class.per_second).sum();
    let load: f64 = classes
        .iter()
        .map(|class| class.per_second * class.mean_s)
        .sum();
    let above = arrivals_above(classes, per_second, most);
    let none = 1.0 - above[0];
    // Levels are only in proportion; they are kept from growing beyond what a number holds.
    let mut levels = vec![1.0_f64];
    let mut total = 1.0_f64;
    for j in 0..most.saturating_sub(1) {
        let further = (1..=j).rev().map(|i| levels[i] * tail(&above, j + 1 - i));
        // Terms are in the order of their index, the largest first; what is negligible ends the
        // sum.
        let far = above.len();
        let near = further.take(far);
        let next = (levels[0] * tail(&above, j) + near.sum::<f64>()) / none;
        levels.push(next);
        total += next;
        if total > 1e200 {
            levels = levels.iter().map(|level| level / total).collect();
            total = 1.0;
        }
    }
    levels = levels.iter().map(|level| level / total).collect();
    let of_time = levels[0] + load;
    let dropped = (1.0 - 1.0 / of_time).max(0.0);
    let places = levels.iter().enumerate();
    let held = places
        .map(|(n, level)| n as f64 * level / of_time)
        .sum::<f64>()
        + most as f64 * dropped;
    let sent_per_second = per_second * (1.0 - dropped);
    let wait_s = held / sent_per_second - load / per_second;
    (wait_s.max(0.0), dropped)
}

fn tail(above: &[f64], k: usize) -> f64 {
    above.get(k).copied().unwrap_or(0.0)
}

/// P(A > k) for k = 0, 1 …, up to what is negligible: A packets come while one is sent.
fn arrivals_above(classes: &[Class], per_second: f64, most: usize) -> Vec<f64> {
    let mut above = Vec::new();
    for class in classes {
        let share = class.per_second / per_second;
        let mean = per_second * class.mean_s;
        // P(A = k), and what is not yet in the sum; from the far end so that small tails are exact.
        let mut probabilities = Vec::new();
        let (mut k, mut log) = (0_usize, -mean);
        loop {
            let probability = log.exp();
            probabilities.push(probability);
            let is_past = k as f64 > mean;
            if (is_past && probability < NEGLIGIBLE) || k > most + (10.0 * mean) as usize + 100 {
                break;
            }
            k += 1;
            log += mean.ln() - (k as f64).ln();
        }
        let mut left = 0.0;
        for k in (1..probabilities.len()).rev() {
            left += probabilities[k];
            let place = k - 1;
            if above.len() <= place {
                above.resize(place + 1, 0.0);
            }
            above[place] += share * left;
        }
    }
    if above.is_empty() {
        above.push(0.0);
    }
    above
}

/// What is said of `stream` on a path of which `queueing` is said.
pub fn passage(stream: &Stream, traffic: &Traffic, queueing: &Queueing) -> Passage {
    let path = &traffic.path;
    let line = &path.line;
    let is_spread = line.jitter.is_some() || line.reorder.is_some();
    let own = class(stream, path);
    let fixed = path.delay.as_secs_f64();
    let one_way = stream.meter == trammel_traffic::stream::Meter::OneWay;
    let known = own.filter(|_| !is_spread && one_way);
    let is_still = queueing.model == "D/D/1";
    let kept = |dropped: f64, lost: f64| 1.0 - (1.0 - dropped) * (1.0 - lost);
    Passage {
        delay_mean_s: known
            .zip(queueing.wait_s)
            .map(|(class, wait)| fixed + class.mean_s + wait),
        // A packet that finds nobody there; in an overload none does in the long run.
        delay_min_s: known
            .filter(|class| class.is_constant && queueing.load.is_some_and(|load| load < 1.0))
            .map(|class| fixed + class.mean_s),
        lost: queueing
            .dropped
            .zip(queueing.lost)
            .filter(|_| one_way)
            .map(|(dropped, lost)| kept(dropped, lost)),
        jitter_s: known.filter(|_| is_still).map(|_| 0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path as FilePath;
    use trammel_scenario::traffic::TrafficFile;

    fn of(queue: u32, streams: &str) -> (Queueing, TrafficFile) {
        let text = format!(
            "subject = 'traffic'\n[path]\nrate = '8 Mbit/s'\ndelay = '20 ms'\n\
             queue.limit = {queue}\n{streams}"
        );
        let file = TrafficFile::parse(
            "t",
            &text,
            FilePath::new("."),
            &trammel_scenario::Reading::default(),
        )
        .expect("it is right");
        (path(file.first()), file)
    }

    // 958 bytes of payload are 1000 on the wire, 1 ms at 8 Mbit/s.
    const POISSON: &str = "[[stream]]\ngap = 'exponential'\nsize = 958\n";

    #[test]
    fn a_long_queue_has_the_wait_of_pollaczek_and_khinchine() {
        for load in [0.1, 0.5, 0.8] {
            let (found, file) = of(2000, &format!("{POISSON}rate = {}", 1000.0 * load));
            assert_eq!((found.model, found.form), ("M/D/1/K", "numeric"));
            // M/D/1: ρ S / 2 (1 − ρ).
            let wanted = load * 1e-3 / (2.0 * (1.0 - load));
            let wait = found.wait_s.expect("the outcome has this value");
            assert!(
                (wait / wanted - 1.0).abs() < 1e-6,
                "{load}: {wait}, not {wanted}"
            );
            assert!(found.dropped.expect("the outcome has this value") < 1e-9);
            let passage = passage(&file.first().streams[0], file.first(), &found);
            let delay = passage.delay_mean_s.expect("the outcome has this value");
            assert!((delay - (0.021 + wanted)).abs() < 1e-9);
        }
    }

    #[test]
    fn a_short_queue_drops_as_its_chain_says() {
        // K = 1: Erlang's loss, ρ / (1 + ρ), whatever the size.
        let (found, _) = of(1, &format!("{POISSON}rate = 500"));
        assert!((found.dropped.expect("the outcome has this value") - 1.0 / 3.0).abs() < 1e-12);
        assert!(found.wait_s.expect("the outcome has this value") < 1e-12);
        // K = 2 of M/D/1: π₀ = e^−ρ, dropped 1 − 1 / (e^−ρ + ρ).
        let (found, _) = of(2, &format!("{POISSON}rate = 500"));
        let wanted = 1.0 - 1.0 / ((-0.5_f64).exp() + 0.5);
        assert!((found.dropped.expect("the outcome has this value") - wanted).abs() < 1e-12);
        // In an overload the rate is used up, and nearly all wait for a full queue.
        let (found, _) = of(100, &format!("{POISSON}rate = 2000"));
        assert!((found.dropped.expect("the outcome has this value") - 0.5).abs() < 1e-9);
        let wait = found.wait_s.expect("the outcome has this value");
        assert!((0.097..0.099).contains(&wait), "{wait}");
    }

    #[test]
    fn the_law_of_sizes_and_the_kind_of_arrivals_choose_the_model() {
        let uniform =
            "[[stream]]\nrate = 500\ngap = 'exponential'\nsize = 'uniform:min=100,max=900'";
        let periodic = "[[stream]]\nrate = 500\nsize = 958\n";
        for (streams, model, form) in [
            (uniform.to_owned(), "M/G/1", "closed form"),
            (periodic.to_owned(), "D/D/1", "closed form"),
            (periodic.repeat(2), "none", "none"),
            (periodic.repeat(3), "overload", "fluid"),
            (
                format!(
                    "{POISSON}rate = 300\n[[stream]]\nrate = 100\ngap = 'exponential'\nsize = 100"
                ),
                "M/G/1/K",
                "numeric",
            ),
            ("[[stream]]\napp = 'http'".to_owned(), "none", "none"),
            (
                "[[stream]]\nrate = 100\nprotocol = 'tcp'".to_owned(),
                "none",
                "none",
            ),
        ] {
            let (found, _) = of(1000, &streams);
            assert_eq!((found.model, found.form), (model, form), "{streams}");
        }
        // Uniform whole numbers of bytes, with 42 of headers, in microseconds: the second moment
        // over 2 (1 − ρ).
        let (found, _) = of(1000, uniform);
        let (mean, variance) = (542.0_f64, (800.0 * 800.0 + 1.0) / 12.0);
        let load: f64 = 500.0 * mean * 1e-6;
        let wanted = 500.0 * (mean * mean + variance) * 1e-12 / (2.0 * (1.0 - load));
        let wait = found.wait_s.expect("the outcome has this value");
        assert!((wait / wanted - 1.0).abs() < 4e-3, "{wait}, not {wanted}");
    }
}
