//! How far another host's clock is from ours, and how fast it leaves: from the delays of packets
//! alone.
//!
//! Queues only add to delay, so the least delays of a while follow the clocks. [`Envelope`] finds
//! the line that lies nowhere above the delays and is least below them in sum: an edge of their
//! lower convex hull, the one over the mean of the sending times (Moon, Skelly and Towsley 1999,
//! §4). Its slope is the drift. One direction cannot tell an offset from a propagation delay; from
//! both, half the difference of the two lines is the offset as far as the least delays of both
//! directions are equal, and half their sum, the least delay that was assumed, bounds the error, as
//! no delay is negative (RFC 5905 §8 has the same bound).
//!
//! What Moon et al. do not give is an uncertainty. Ours: a straight line through the minima of up
//! to 64 equal spans of time, by least squares, is a second estimate of the drift; the uncertainty
//! is the root of the sum of the squares of the two estimates' difference and of the second's
//! standard error.

/// Points that are held before they are reduced to their hull: 64 KB.
const MOST_POINTS: usize = 1 << 12;
/// Spans of time whose minima are kept.
const SPANS: usize = 64;
/// The first length of a span: about a millisecond. It doubles when the spans are used up.
const FIRST_SPAN_NS: u64 = 1 << 20;

/// A packet: when it was sent and how long it took, by two clocks, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    sent: i64,
    delay: i64,
}

/// The least delays of one direction, in memory for 4096 packets.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    points: Vec<Point>,
    count: u64,
    sum_sent: i128,
    first_sent: Option<i64>,
    span_ns: u64,
    minima: Vec<Option<Point>>,
}

/// A straight line below delays.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    /// The mean of the sending times.
    at_ns: i64,
    /// Its height there.
    height_ns: f64,
    /// Nanoseconds by nanosecond.
    slope: f64,
    /// Of the slope; none with fewer than three spans.
    uncertainty: Option<f64>,
}

/// The least delay at a time.
struct Height {
    ns: f64,
    /// Nanoseconds by nanosecond.
    slope: f64,
    /// By which it may be wrong, as it is far from any packet and the line's slope uncertain.
    error_ns: f64,
}

/// How often an offset is put into the time at which the other direction's least delay is taken:
/// each time leaves a thousandth of the error or less.
const TURNS: u32 = 4;

impl Line {
    fn at(&self, ns: i64) -> f64 {
        self.height_ns + self.slope * distance(ns, self.at_ns)
    }
}

/// From `b` to `a`, as exact as a number can be.
fn distance(a: i64, b: i64) -> f64 {
    (i128::from(a) - i128::from(b)) as f64
}

impl Envelope {
    /// No packets yet.
    pub fn new() -> Envelope {
        Envelope::default()
    }

    /// Takes in a packet that was sent at `sent_ns` and took `delay_ns`.
    pub fn push(&mut self, sent_ns: i64, delay_ns: i64) {
        let point = Point {
            sent: sent_ns,
            delay: delay_ns,
        };
        self.count += 1;
        self.sum_sent += i128::from(sent_ns);
        self.push_minimum(point);
        if self.points.len() == MOST_POINTS {
            self.points = lower_hull(std::mem::take(&mut self.points));
            // Only made-up delays are convex over so many points: every other of them is left out.
            if self.points.len() > MOST_POINTS / 2 {
                let mut keep = false;
                self.points.retain(|_| {
                    keep = !keep;
                    keep
                });
            }
        }
        self.points.push(point);
    }

    fn push_minimum(&mut self, point: Point) {
        if self.minima.is_empty() {
            (self.minima, self.span_ns) = (vec![None; SPANS], FIRST_SPAN_NS);
        }
        let first = *self.first_sent.get_or_insert(point.sent);
        // What was sent before the first that came is of the first span.
        let since = (i128::from(point.sent) - i128::from(first)).max(0) as u64;
        while since / self.span_ns >= SPANS as u64 {
            self.span_ns *= 2;
            for at in 0..SPANS {
                let pair = self.minima.get(2 * at..2 * at + 2).unwrap_or(&[]);
                self.minima[at] = pair.iter().flatten().min_by_key(|one| one.delay).copied();
            }
        }
        let least = &mut self.minima[(since / self.span_ns) as usize];
        if least.is_none_or(|least| point.delay < least.delay) {
            *least = Some(point);
        }
    }

    /// How many packets.
    pub fn packets(&self) -> u64 {
        self.count
    }

    fn line(&self) -> Option<Line> {
        let hull = lower_hull(self.points.clone());
        let at_ns = i64::try_from(self.sum_sent.checked_div(self.count.into())?).ok()?;
        let edge = hull.windows(2).find(|edge| edge[1].sent >= at_ns)?;
        let run = distance(edge[1].sent, edge[0].sent);
        let slope = distance(edge[1].delay, edge[0].delay) / run;
        let mut line = Line {
            at_ns,
            height_ns: edge[0].delay as f64 + slope * distance(at_ns, edge[0].sent),
            slope,
            uncertainty: None,
        };
        line.uncertainty = self.uncertainty(&line);
        Some(line)
    }

    /// The hull at `ns`, where packets were sent before and after; elsewhere the line.
    fn height(&self, line: &Line, ns: i64) -> Height {
        let hull = lower_hull(self.points.clone());
        let over = |edge: &&[Point]| (edge[0].sent..=edge[1].sent).contains(&ns);
        if let Some([a, b]) = hull.windows(2).find(over) {
            let slope = distance(b.delay, a.delay) / distance(b.sent, a.sent);
            return Height {
                ns: a.delay as f64 + slope * distance(ns, a.sent),
                slope,
                error_ns: 0.0,
            };
        }
        let ends = hull.first().zip(hull.last());
        let nearest = ends.map_or(ns, |(first, last)| ns.clamp(first.sent, last.sent));
        Height {
            ns: line.at(ns),
            slope: line.slope,
            error_ns: distance(ns, nearest).abs() * line.uncertainty.unwrap_or(0.0),
        }
    }

    /// See the head of the file.
    fn uncertainty(&self, line: &Line) -> Option<f64> {
        let rests: Vec<(f64, f64)> = self
            .minima
            .iter()
            .flatten()
            .map(|one| {
                (
                    distance(one.sent, line.at_ns),
                    one.delay as f64 - line.at(one.sent),
                )
            })
            .collect();
        let n = rests.len() as f64;
        if rests.len() < 3 {
            return None;
        }
        let mean = |of: fn(&(f64, f64)) -> f64| rests.iter().map(of).sum::<f64>() / n;
        let (mean_x, mean_y) = (mean(|rest| rest.0), mean(|rest| rest.1));
        let sxx: f64 = rests.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
        let sxy: f64 = rests.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
        let slope = sxy / sxx;
        let left = |(x, y): &(f64, f64)| (y - mean_y - slope * (x - mean_x)).powi(2);
        let variance = rests.iter().map(left).sum::<f64>() / (n - 2.0) / sxx;
        let both = (slope * slope + variance).sqrt();
        both.is_finite().then_some(both)
    }
}

/// The points below which there are none, by the time they were sent (Andrew's monotone chain).
fn lower_hull(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_unstable();
    points.dedup_by_key(|point| point.sent);
    let mut hull: Vec<Point> = Vec::new();
    for point in points {
        while let [.., a, b] = hull[..] {
            // Whether b is above the line from a to the point, or on it. Times of 64 bits make
            // products of 130.
            let rise = |to: Point| i128::from(to.delay) - i128::from(a.delay);
            let run = |to: Point| i128::from(to.sent) - i128::from(a.sent);
            let is_above = match (
                rise(b).checked_mul(run(point)),
                rise(point).checked_mul(run(b)),
            ) {
                (Some(left), Some(right)) => left >= right,
                _ => rise(b) as f64 * run(point) as f64 >= rise(point) as f64 * run(b) as f64,
            };
            if !is_above {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

/// How far the receiver's clock is ahead of the sender's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// The sender's time at which `offset_ns` holds, in nanoseconds since 1970: the middle of the
    /// packets.
    pub at_ns: i64,
    /// How far it is ahead then; with one direction together with the least delay, which nothing
    /// can tell apart.
    pub offset_ns: f64,
    /// By which the offset may be wrong at most, by unequal paths and queues: half the least round
    /// trip. `None` with one direction: nothing is known of the offset, and what is left of delays
    /// is how far they are above the least.
    pub offset_bound_ns: Option<f64>,
    /// How much it gains, in nanoseconds by nanosecond: 1e-6 is one part per million.
    pub drift: f64,
    /// The uncertainty of the drift; `None` where the packets were sent within too short a time to
    /// tell.
    pub drift_uncertainty: Option<f64>,
}

impl Clock {
    /// From packets that it received. Only drift can be told; delays that it is subtracted from are
    /// those above the least. `None` of fewer than two sending times.
    pub(crate) fn of_one_way(forward: &Envelope) -> Option<Clock> {
        let line = forward.line()?;
        Some(Clock {
            at_ns: line.at_ns,
            offset_ns: line.height_ns,
            offset_bound_ns: None,
            drift: line.slope,
            drift_uncertainty: line.uncertainty,
        })
    }

    /// From packets that it received and from packets that it sent. `None` of fewer than two
    /// sending times of either.
    pub fn of_both_ways(forward: &Envelope, backward: &Envelope) -> Option<Clock> {
        let (there, back) = (forward.line()?, backward.line()?);
        let at_ns = there.at_ns;
        // A hull lies nowhere below the least delay that its clock could see: the truth is between
        // the two.
        let up = forward.height(&there, at_ns);
        // The times of packets that it sent are by its own clock, which is ahead of ours by what is
        // looked for.
        let mut offset_ns = (up.ns - back.at(at_ns)) / 2.0;
        let mut down = backward.height(&back, at_ns.saturating_add(offset_ns as i64));
        for _ in 0..TURNS {
            offset_ns = (up.ns - down.ns) / 2.0;
            down = backward.height(&back, at_ns.saturating_add(offset_ns as i64));
        }
        let half = up.ns.midpoint(down.ns).max(0.0);
        let bound_ns = half * (1.0 + down.slope.abs()) + up.error_ns + down.error_ns;
        let both = there.uncertainty.zip(back.uncertainty);
        Some(Clock {
            at_ns,
            offset_ns: (up.ns - down.ns) / 2.0,
            offset_bound_ns: Some(bound_ns),
            drift: (there.slope - back.slope) / 2.0,
            drift_uncertainty: both.map(|(there, back)| there.hypot(back) / 2.0),
        })
    }

    /// How far it is ahead at the sender's time `at_ns`, in whole nanoseconds, rounded down: no
    /// delay falls below a line that it lies on.
    pub(crate) fn offset_ns_at(&self, at_ns: i64) -> i64 {
        // A float beyond the range becomes its end, not-a-number 0.
        (self.offset_ns + self.drift * distance(at_ns, self.at_ns)).floor() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trammel_core::rng::Rng;

    const SECOND: i64 = 1_000_000_000;
    const START: i64 = 1_800_000_000 * SECOND;

    /// Packets every 10 ms for 100 s: a least delay of 40 us plus exponential queueing of 200 us in
    /// the mean, to a clock that is ahead by `offset` at the start and gains `drift`.
    fn packets(seed: u64, offset: f64, drift: f64) -> Vec<(i64, i64)> {
        let mut rng = Rng::new(seed, "packets of a clock");
        (0..10_000)
            .map(|n| {
                let since = n * SECOND / 100;
                let uniform = (rng.below(1 << 40) + 1) as f64 / (1_u64 << 40) as f64;
                let delay = 40_000.0 - 200_000.0 * uniform.ln();
                (
                    START + since,
                    (delay + offset + drift * since as f64) as i64,
                )
            })
            .collect()
    }

    fn envelope(packets: &[(i64, i64)]) -> Envelope {
        let mut envelope = Envelope::new();
        for (sent, delay) in packets {
            envelope.push(*sent, *delay);
        }
        envelope
    }

    #[test]
    fn a_drift_is_found_within_its_uncertainty() {
        let (mut within, mut worst) = (0, 0.0_f64);
        for seed in 0..100 {
            let drift = [5e-5, -2e-6, 0.0, 1e-3][seed as usize % 4];
            let clock = Clock::of_one_way(&envelope(&packets(seed, -7e12, drift))).unwrap();
            let error = (clock.drift - drift).abs();
            worst = worst.max(error);
            within += usize::from(error <= 2.0 * clock.drift_uncertainty.unwrap());
        }
        // The least of 156 exponential delays of 200 us lies some 1.3 us above the least possible:
        // over 100 s, 1.3e-8.
        assert!(worst < 1.3e-8, "{worst}");
        assert!(within >= 95, "{within}");
    }

    /// The clock by packets of both ways, those back being `shorter` by so much.
    fn both_ways(seed: u64, offset: f64, drift: f64, shorter: i64) -> Clock {
        let forward = envelope(&packets(seed, offset, drift));
        // The other way's delays are by as much too short; their sending times are by the other
        // clock.
        let back: Vec<_> = packets(seed + 100, -offset, -drift)
            .into_iter()
            .map(|(sent, delay)| {
                let gained = drift * (sent - START) as f64;
                (sent + (offset + gained) as i64, delay - shorter)
            })
            .collect();
        Clock::of_both_ways(&forward, &envelope(&back)).unwrap()
    }

    #[test]
    fn an_offset_is_found_from_both_ways() {
        for (seed, offset, drift) in [(1, 3e9, 2e-5), (2, -5e6, -1e-4), (3, 0.0, 0.0)] {
            let clock = both_ways(seed, offset, drift, 0);
            let bound = clock.offset_bound_ns.unwrap();
            assert!((bound - 40_000.0).abs() < 100.0, "{bound}");
            for since in [0, 50 * SECOND, 100 * SECOND] {
                let truth = offset + drift * since as f64;
                let error = clock.offset_ns_at(START + since) as f64 - truth;
                assert!(error.abs() < 650.0, "{error} ns after {since}");
            }
        }
    }

    #[test]
    fn unequal_paths_make_an_error_within_the_bound() {
        // 40 us there, 10 us back: half the difference is taken for an offset.
        let clock = both_ways(4, 1e6, 0.0, 30_000);
        let error = clock.offset_ns_at(START + 50 * SECOND) as f64 - 1e6;
        assert!((error - 15_000.0).abs() < 100.0, "{error}");
        let bound = clock.offset_bound_ns.unwrap();
        assert!((bound - 25_000.0).abs() < 100.0, "{bound}");
    }

    #[test]
    fn one_way_leaves_what_is_above_the_least() {
        let all = packets(7, -5e9, 3e-5);
        let clock = Clock::of_one_way(&envelope(&all)).unwrap();
        let left = all
            .iter()
            .map(|(sent, delay)| delay - clock.offset_ns_at(*sent));
        let least = left.clone().min().unwrap();
        assert!((0..=1).contains(&least), "{least}");
        // 200 us of queueing in the mean.
        let mean = left.map(|ns| ns as f64).sum::<f64>() / all.len() as f64;
        assert!((mean - 200_000.0).abs() < 6_000.0, "{mean}");
    }

    #[test]
    fn the_hull_over_many_packets_is_that_of_all() {
        let all: Vec<_> = (0..20).flat_map(|seed| packets(seed, 0.0, 1e-5)).collect();
        assert!(all.len() > 2 * MOST_POINTS);
        let points = all.iter().map(|(sent, delay)| Point {
            sent: *sent,
            delay: *delay,
        });
        let wanted = lower_hull(points.collect());
        assert_eq!(lower_hull(envelope(&all).points), wanted);
    }

    #[test]
    fn too_little_tells_nothing() {
        assert_eq!(Clock::of_one_way(&Envelope::new()), None);
        assert_eq!(Clock::of_one_way(&envelope(&[(5, 1)])), None);
        assert_eq!(Clock::of_one_way(&envelope(&[(5, 1), (5, 2)])), None);
        let two = Clock::of_one_way(&envelope(&[(0, 10), (100, 20)])).unwrap();
        assert_eq!((two.drift, two.drift_uncertainty), (0.1, None));
    }

    proptest! {
        /// The line lies nowhere above, and none through two points that does so is less far below
        /// in sum.
        #[test]
        fn the_line_is_the_best_there_is(
            packets in prop::collection::vec((0..1000_i64, -500..500_i64), 2..25),
        ) {
            // The mean of the times is taken to a whole nanosecond: far apart, that matters to
            // nothing.
            let packets: Vec<_> = packets.into_iter().map(
                |(sent, delay)| (sent * 1_000_000, delay)
            ).collect();
            let Some(line) = envelope(&packets).line() else {
                prop_assert!(packets.iter().all(|(sent, _)| *sent == packets[0].0));
                return Ok(());
            };
            let gap = |at: &dyn Fn(i64) -> f64| {
                let gaps: Vec<f64> = packets.iter().map(
                    |(sent, delay)| *delay as f64 - at(*sent)
                ).collect();
                (gaps.iter().copied().fold(f64::INFINITY, f64::min), gaps.iter().sum::<f64>())
            };
            let (least, sum) = gap(&|sent| line.at(sent));
            prop_assert!(least > -1e-6, "{}", least);
            for a in &packets {
                for b in packets.iter().filter(|b| b.0 > a.0) {
                    let slope = (b.1 - a.1) as f64 / (b.0 - a.0) as f64;
                    let (other_least, other) = gap(
                        &|sent| a.1 as f64 + slope * (sent - a.0) as f64
                    );
                    prop_assert!(other_least < -1e-6 || other >= sum - 0.1, "{} {}", other, sum);
                }
            }
        }

        /// Whatever the clocks, the paths and the queues: the offset is within its bound of the
        /// truth.
        #[test]
        fn the_bound_holds_the_truth(
            offset in -1e12..1e12_f64, drift in -2e-4..2e-4_f64,
            (there_ns, back_ns) in (0..50_000_000_i64, 0..50_000_000_i64),
            queues in prop::collection::vec((0..20_000_000_i64, 0..20_000_000_i64), 2..200),
        ) {
            let ahead = |since: i64| (offset + drift * since as f64) as i64;
            let (mut forward, mut backward) = (Envelope::new(), Envelope::new());
            for (n, (queue, other)) in queues.iter().enumerate() {
                let since = n as i64 * SECOND / 10;
                // Times are true times by the sender's clock; the other's is ahead of it.
                let came = since + there_ns + queue;
                forward.push(START + since, there_ns + queue + ahead(came));
                let back = since + back_ns + other;
                backward.push(START + since + ahead(since), back_ns + other - ahead(since));
                prop_assert!(back >= since);
            }
            let clock = Clock::of_both_ways(&forward, &backward).unwrap();
            let truth = ahead(clock.at_ns - START) as f64;
            // What the clock gains while a packet is under way is of neither end: 70 ms of 2e-4 at
            // most.
            let slack = 2e-4 * 70e6 + 2.0;
            let bound = clock.offset_bound_ns.unwrap() + slack;
            prop_assert!((clock.offset_ns - truth).abs() <= bound, "{:?} {}", clock, truth);
        }

        #[test]
        fn nothing_overflows(packets in prop::collection::vec(
            (any::<i64>(), any::<i64>()), 0..40
        )) {
            let envelope = envelope(&packets);
            for clock in [
                Clock::of_one_way(&envelope), Clock::of_both_ways(&envelope, &envelope)
            ].into_iter().flatten() {
                clock.offset_ns_at(i64::MIN);
                clock.offset_ns_at(i64::MAX);
            }
        }
    }
}
