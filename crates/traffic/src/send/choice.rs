//! How streams are sent where nobody says: by which mechanism, and on how many threads.
//!
//! ```text
//! what a thread holds ≥ the sum of the rates  →  calls, one thread
//! else, a stream most of whose packets are due together, alike  →  segments: as one, which the kernel cuts
//! else  →  calls, on as many threads as hold the rest, one processor left free
//! ```
//! Within the mechanism `calls` a packet that is due by itself has a `sendto` and overdue ones
//! share a `sendmmsg`. What is never chosen: segments for streams with gaps, since there are none
//! in a segment; frames past the kernel's stack, which need rights, pass by its filters and its
//! routes' changes, and for which the interface may have to be named.

use super::frames::By;
use super::udp::Mechanism;
use crate::record::Protocol;
use crate::stream::Stream;

/// Packets of a plan that are looked at.
const SAMPLE: usize = 1024;
/// The share of a stream's packets that are due with the one before, from which on it is one of
/// bursts.
const TOGETHER: f64 = 0.5;

/// How a stream is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// How its packets are handed over, where they are of UDP.
    pub mechanism: Mechanism,
    /// What carries them, as `--by` and `-T` call it.
    pub name: &'static str,
    /// The thread that sends it, from 0.
    pub thread: usize,
    /// On how many the streams are sent, of those whose carrier does not wait.
    pub threads: usize,
    /// Why so.
    pub why: String,
}

/// What of it was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// How packets of UDP are handed over.
    pub mechanism: Option<Mechanism>,
    /// On how many threads.
    pub threads: Option<usize>,
}

/// Packets a second that a thread holds: what `--example frames_speed` found at least on a
/// processor of 2019, over veth to a socket, less a fifth.
fn held_pps(mechanism: Mechanism) -> f64 {
    match mechanism {
        Mechanism::Calls | Mechanism::Watched => 200_000.0,
        Mechanism::Segments => 10_000_000.0,
        Mechanism::Frames(options) => match options.by {
            By::Packet => 300_000.0,
            By::Xdp => 390_000.0,
        },
    }
}

/// What a stream takes of a thread.
struct Load {
    /// Packets a second; 0 where neither the source nor its plan tells.
    pps: f64,
    /// The share of its packets that are due with the one before, and as long as that.
    together: f64,
}

impl Load {
    fn of(stream: &Stream) -> Load {
        let plan: Vec<_> = stream.plan().take(SAMPLE).collect();
        let gaps = plan.len().saturating_sub(1).max(1) as f64;
        let joined = plan.windows(2).filter(|pair| pair[0] == pair[1]).count();
        let spanned = || {
            let span = plan.last()?.at.saturating_since(plan.first()?.at);
            let secs = span.as_secs_f64();
            Some(if secs > 0.0 {
                gaps / secs
            } else {
                f64::INFINITY
            })
        };
        Load {
            pps: stream
                .source
                .predicted()
                .mean_rate
                .or_else(spanned)
                .unwrap_or(0.0),
            together: joined as f64 / gaps,
        }
    }
}

/// The thread of each stream, the greatest load first to the thread with the least.
fn share_out(loads: &[f64], threads: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..loads.len()).collect();
    order.sort_by(|a, b| loads[*b].total_cmp(&loads[*a]).then(a.cmp(b)));
    let mut sums = vec![(0.0_f64, 0_usize); threads.max(1)];
    let mut places = vec![0; loads.len()];
    for at in order {
        let least = (0..sums.len()).min_by(|a, b| {
            let ((one, few), (other, many)) = (sums[*a], sums[*b]);
            one.total_cmp(&other).then(few.cmp(&many))
        });
        let thread = least.expect("there is a thread");
        sums[thread] = (sums[thread].0 + loads[at], sums[thread].1 + 1);
        places[at] = thread;
    }
    places
}

/// How `streams` are sent, of which as much is chosen as was not asked for; `processors` are those
/// that the threads may take.
pub fn choose(streams: &[&Stream], asked: Asked, processors: usize) -> Vec<Chosen> {
    let of_udp = |stream: &&&Stream| stream.protocol == Protocol::Udp;
    // Those of carriers that wait have a thread each anyway.
    let shares = |stream: &Stream| stream.protocol != Protocol::Tcp;
    let usual = asked.mechanism.unwrap_or_default();
    let held = held_pps(usual);
    let loads: Vec<Load> = streams.iter().map(|stream| Load::of(stream)).collect();
    let wanted: f64 = (streams.iter().zip(&loads))
        .filter(|(stream, _)| shares(stream))
        .map(|(_, load)| load.pps)
        .sum();
    let is_too_much = wanted > held;
    let mechanisms: Vec<Mechanism> = (streams.iter().zip(&loads))
        .map(|(stream, load)| {
            let is_burst = is_too_much && load.together >= TOGETHER;
            match asked.mechanism {
                None if is_burst && of_udp(&stream) => Mechanism::Segments,
                _ => usual,
            }
        })
        .collect();
    let parts: Vec<f64> = (streams.iter().zip(&loads).zip(&mechanisms))
        .map(|((stream, load), by)| {
            if shares(stream) {
                load.pps / held_pps(*by)
            } else {
                0.0
            }
        })
        .collect();
    let needed = parts.iter().sum::<f64>().ceil().max(1.0);
    let sharing = streams.iter().filter(|stream| shares(stream)).count();
    let most = processors.saturating_sub(1).min(sharing).max(1);
    let threads = match asked.threads {
        Some(threads) => threads.clamp(1, sharing.max(1)),
        None => (needed as usize).min(most),
    };
    let places = share_out(&parts, threads);
    let of_threads = match asked.threads {
        Some(_) => "the threads were asked for".to_owned(),
        None if !is_too_much => {
            format!("a thread holds {held:.0} packets/s, and {wanted:.0} are wanted")
        }
        None if needed > threads as f64 => format!(
            "{wanted:.0} packets/s are more than {} of {held:.0} sustain; there are {sharing} \
             flows and {processors} processors, of which one stays free",
            match threads {
                1 => "one thread".to_owned(),
                more => format!("{more} threads"),
            }
        ),
        None => format!("a thread holds {held:.0} packets/s, and {wanted:.0} are wanted"),
    };
    let chosen = (streams.iter().zip(&loads)).zip(mechanisms.into_iter().zip(places));
    chosen
        .map(|((stream, load), (mechanism, thread))| Chosen {
            mechanism,
            name: name(stream.protocol, mechanism),
            thread,
            threads,
            why: match (stream.protocol, asked.mechanism, mechanism) {
                (Protocol::Udp, None, Mechanism::Segments) => format!(
                    "{:.0} % of its packets are due together and alike, and {wanted:.0} packets/s \
                     are more than a thread hands over one by one",
                    100.0 * load.together
                ),
                (Protocol::Udp, Some(_), _) => format!("requested; {of_threads}"),
                (Protocol::Tcp, ..) => "a connection waits for its other end".to_owned(),
                _ => of_threads.clone(),
            },
        })
        .collect()
}

/// What carries packets of `protocol`, as `--by` and `-T` call it.
fn name(protocol: Protocol, mechanism: Mechanism) -> &'static str {
    match (protocol, mechanism) {
        (Protocol::Tcp, _) => "tcp",
        (Protocol::Icmp, _) => "icmp",
        (_, Mechanism::Calls) => "calls",
        (_, Mechanism::Watched) => "calls, watched",
        (_, Mechanism::Segments) => "segments",
        (_, Mechanism::Frames(options)) => match options.by {
            By::Packet => "packet",
            By::Xdp => "xdp",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Departure, Late, Limits, Meter, Plan, Source};
    use trammel_core::Span;
    use trammel_core::time::Time;

    /// So many packets together, in equal gaps.
    #[derive(Debug)]
    struct Bursts {
        pps: u64,
        together: u64,
    }

    impl Source for Bursts {
        fn plan(&self, _: u64) -> Plan {
            let (together, gap) = (self.together, Span::from_secs(self.together) / self.pps);
            Box::new((0..).map(move |at: u64| Departure {
                at: Time::ZERO + gap * (at / together),
                bytes: 100,
            }))
        }
    }

    fn stream(protocol: Protocol, pps: u64, together: u64) -> Stream {
        Stream {
            name: String::new(),
            protocol,
            source: Box::new(Bursts { pps, together }),
            start: Time::ZERO,
            limits: Limits::default(),
            seed: 1,
            meter: Meter::OneWay,
            late: Late::Burst,
            ds: None,
            ttl: None,
        }
    }

    /// By what each is sent, and on which thread.
    fn chosen(streams: &[Stream], asked: Asked, processors: usize) -> Vec<(Mechanism, usize)> {
        let all: Vec<&Stream> = streams.iter().collect();
        let all = choose(&all, asked, processors);
        assert!(
            all.iter()
                .all(|one| one.thread < one.threads && !one.why.is_empty())
        );
        all.iter().map(|one| (one.mechanism, one.thread)).collect()
    }

    fn udp(pps: u64, together: u64) -> Stream {
        stream(Protocol::Udp, pps, together)
    }

    const NOTHING: Asked = Asked {
        mechanism: None,
        threads: None,
    };

    #[test]
    fn one_thread_makes_calls_as_long_as_it_holds_the_sum() {
        let calls = (Mechanism::Calls, 0);
        assert_eq!(chosen(&[udp(150_000, 1)], NOTHING, 8), [calls]);
        let two = [udp(90_000, 1), udp(90_000, 1)];
        assert_eq!(chosen(&two, NOTHING, 8), [calls; 2]);
        // Bursts too: a call for many keeps up with them, and each is a packet of its own on every
        // link.
        assert_eq!(chosen(&[udp(100_000, 50)], NOTHING, 8), [calls]);
    }

    #[test]
    fn more_are_shared_out_by_their_rates_to_processors_that_are_free() {
        let flows = || [150, 100, 90, 50].map(|thousands| udp(thousands * 1000, 1));
        let threads = |processors| -> Vec<usize> {
            let all = chosen(&flows(), NOTHING, processors);
            all.iter().map(|(_, thread)| *thread).collect()
        };
        // 390,000 are two threads.
        assert_eq!(threads(8), [0, 1, 1, 0]);
        assert_eq!(threads(3), [0, 1, 1, 0]);
        // One processor stays for whatever else runs.
        assert_eq!(threads(2), [0; 4]);
        assert_eq!(threads(1), [0; 4]);
        // A flow is sent by one thread.
        assert_eq!(
            chosen(&[udp(900_000, 1)], NOTHING, 8),
            [(Mechanism::Calls, 0)]
        );
    }

    #[test]
    fn bursts_that_are_too_many_for_calls_are_segments_and_gaps_never_are() {
        let flows = [udp(1_000_000, 50), udp(100_000, 1), udp(500_000, 1)];
        let by: Vec<Mechanism> = chosen(&flows, NOTHING, 2).iter().map(|one| one.0).collect();
        assert_eq!(
            by,
            [Mechanism::Segments, Mechanism::Calls, Mechanism::Calls]
        );
        // A pair in four is not a burst.
        let why = choose(&[&udp(1_000_000, 1)], NOTHING, 2);
        assert!(
            why[0].why.contains("more than one thread"),
            "{}",
            why[0].why
        );
    }

    #[test]
    fn what_was_asked_for_is_done() {
        let asked = Asked {
            mechanism: Some(Mechanism::Calls),
            threads: Some(2),
        };
        let flows = [udp(1_000_000, 50), udp(10, 1)];
        let all = chosen(&flows, asked, 1);
        assert_eq!(all, [(Mechanism::Calls, 0), (Mechanism::Calls, 1)]);
        let segments = Asked {
            mechanism: Some(Mechanism::Segments),
            threads: None,
        };
        assert_eq!(
            chosen(&[udp(500_000, 1)], segments, 8),
            [(Mechanism::Segments, 0)]
        );
    }

    #[test]
    fn connections_have_threads_of_their_own_and_count_for_none() {
        let flows = [stream(Protocol::Tcp, 900_000, 1), udp(1000, 1)];
        let all: Vec<&Stream> = flows.iter().collect();
        let all = choose(&all, NOTHING, 8);
        assert_eq!((all[0].threads, all[0].name), (1, "tcp"));
        assert!(all[1].why.contains("1000 are wanted"), "{}", all[1].why);
    }
}
