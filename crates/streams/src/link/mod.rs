//! `trammel link`: what a path carries, as its user reads it and as programs do.

mod json;
mod text;

pub use json::json;
pub use text::{head, header, line, summary};

use std::net::SocketAddr;
use trammel_traffic::link::ask::Way;
use trammel_traffic::link::{Ended, Moment, Told, Wish};

/// What both ends counted of a stream in a while.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// Whether this end is its sender.
    pub is_out: bool,
    /// What its sender counted, as far as that is known here.
    pub sent: Option<Told>,
    /// What its receiver did.
    pub received: Option<Told>,
}

/// An interval.
#[derive(Clone, Debug)]
pub struct Interval {
    /// Its ends, in seconds from the start on.
    pub from: f64,
    /// See `from`.
    pub to: f64,
    /// Whether it counts for nothing. Those after such begin from 0 again.
    pub is_omitted: bool,
    /// Of each stream.
    pub streams: Vec<Pair>,
}

/// A test that was run, or as much of it as was.
#[derive(Clone, Debug)]
pub struct Account {
    /// The receiver, as it was named.
    pub to: String,
    /// What was asked for.
    pub wish: Wish,
    /// This end of the channel, and the receiver's.
    pub ends: (SocketAddr, SocketAddr),
    /// Its streams.
    pub ways: Vec<Way>,
    /// When it began, in seconds since 1970.
    pub date_s: u64,
    /// This end's congestion control, and the receiver's.
    pub congestion: (Option<String>, Option<String>),
    /// Every interval.
    pub intervals: Vec<Interval>,
    /// The whole, from 0 on.
    pub whole: Interval,
    /// Why it ended before its time.
    pub fault: Option<String>,
}

/// Makes intervals of what is told from the start on.
#[derive(Debug)]
pub struct Progress {
    ways: Vec<bool>,
    before: Vec<(Told, Told)>,
    to: f64,
    /// How many more intervals count for nothing, and when the last of them ended.
    omitted: u32,
    begun: f64,
}

impl Progress {
    /// At the start of streams of which `ways` says whether this end sends; the first `omitted`
    /// intervals count for nothing.
    pub fn new(ways: &[Way], omitted: u32) -> Progress {
        Progress {
            ways: ways.iter().map(|way| way.is_out).collect(),
            before: vec![(Told::default(), Told::default()); ways.len()],
            to: 0.0,
            omitted,
            begun: 0.0,
        }
    }

    /// The interval that ends with `moment`.
    pub fn next(&mut self, moment: &Moment) -> Interval {
        let from = std::mem::replace(&mut self.to, moment.at.as_secs_f64());
        let streams = self.ways.iter().enumerate().map(|(at, is_out)| {
            let (own, theirs) = (moment.own[at], moment.theirs[at]);
            let before = &mut self.before[at];
            let own_since = since(own, before.0);
            let theirs_since = theirs.map(|theirs| since(theirs, before.1));
            *before = (own, theirs.unwrap_or(before.1));
            pair(*is_out, own_since, theirs_since)
        });
        let streams = streams.collect();
        let is_omitted = self.omitted > 0;
        let interval = Interval {
            from: from - self.begun,
            to: self.to - self.begun,
            is_omitted,
            streams,
        };
        self.omitted = self.omitted.saturating_sub(1);
        if is_omitted && self.omitted == 0 {
            self.begun = self.to;
        }
        interval
    }
}

/// The whole of a test, from the moment on at which it began to count.
pub fn whole(ways: &[Way], ended: &Ended, begun: Option<&Moment>) -> Interval {
    let streams = ways.iter().enumerate().map(|(at, way)| {
        let (own, theirs) = (ended.own[at], ended.theirs[at]);
        let Some(begun) = begun else {
            return pair(way.is_out, own, theirs);
        };
        let theirs = theirs.zip(begun.theirs[at]);
        let theirs = theirs.map(|(now, before)| since(now, before));
        pair(way.is_out, since(own, begun.own[at]), theirs)
    });
    let begun = begun.map_or(0.0, |begun| begun.at.as_secs_f64());
    Interval {
        from: 0.0,
        to: (ended.after.as_secs_f64() - begun).max(0.0),
        is_omitted: false,
        streams: streams.collect(),
    }
}

fn pair(is_out: bool, own: Told, theirs: Option<Told>) -> Pair {
    let (sent, received) = if is_out {
        (Some(own), theirs)
    } else {
        (theirs, Some(own))
    };
    Pair {
        is_out,
        sent,
        received,
    }
}

/// What was counted since `before`; what holds at a moment is that of `now`.
fn since(now: Told, before: Told) -> Told {
    Told {
        bytes: now.bytes.saturating_sub(before.bytes),
        packets: now.packets.saturating_sub(before.packets),
        // One that was late after all is lost no more.
        lost: now.lost.saturating_sub(before.lost),
        duplicates: now.duplicates.saturating_sub(before.duplicates),
        reordered: now.reordered.saturating_sub(before.reordered),
        retransmitted: now.retransmitted.saturating_sub(before.retransmitted),
        ..now
    }
}

/// Streams of one way together, in one interval.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    /// Whether anything is known of their senders, and of their receivers.
    pub is_known: (bool, bool),
    /// Counts together; windows together, times in the mean.
    pub sent: Told,
    /// The same.
    pub received: Told,
}

impl Interval {
    /// Its length in seconds.
    pub fn seconds(&self) -> f64 {
        self.to - self.from
    }

    /// Bits a second of so many bytes in it.
    pub fn rate(&self, bytes: u64) -> f64 {
        let seconds = self.seconds();
        if seconds > 0.0 {
            bytes as f64 * 8.0 / seconds
        } else {
            0.0
        }
    }

    /// Its streams of one way together.
    pub fn sum(&self, is_out: bool) -> Sum {
        let of = || self.streams.iter().filter(|one| one.is_out == is_out);
        Sum {
            is_known: (
                of().any(|one| one.sent.is_some()),
                of().any(|one| one.received.is_some()),
            ),
            sent: together(of().filter_map(|one| one.sent)),
            received: together(of().filter_map(|one| one.received)),
        }
    }
}

fn together(all: impl Iterator<Item = Told>) -> Told {
    let all: Vec<Told> = all.collect();
    let count = all.len().max(1) as u64;
    let sum = |of: fn(&Told) -> u64| all.iter().map(of).fold(0, u64::saturating_add);
    let delays = sum(|one| one.delays);
    let with_delays = || all.iter().filter(|one| one.delays > 0);
    let weighted: i128 = with_delays()
        .map(|one| i128::from(one.delay_mean_ns) * i128::from(one.delays))
        .sum();
    Told {
        bytes: sum(|one| one.bytes),
        packets: sum(|one| one.packets),
        lost: sum(|one| one.lost),
        duplicates: sum(|one| one.duplicates),
        reordered: sum(|one| one.reordered),
        jitter_ns: sum(|one| one.jitter_ns) / count,
        delays,
        delay_mean_ns: (weighted / i128::from(delays.max(1))) as i64,
        delay_min_ns: with_delays().map(|one| one.delay_min_ns).min().unwrap_or(0),
        delay_max_ns: with_delays().map(|one| one.delay_max_ns).max().unwrap_or(0),
        retransmitted: sum(|one| one.retransmitted),
        cwnd_bytes: sum(|one| one.cwnd_bytes),
        window_bytes: sum(|one| one.window_bytes),
        rtt_us: sum(|one| one.rtt_us) / count,
        rttvar_us: sum(|one| one.rttvar_us) / count,
        min_rtt_us: all.iter().map(|one| one.min_rtt_us).min().unwrap_or(0),
        pmtu: all.iter().map(|one| one.pmtu).min().unwrap_or(0),
        cpu_ns: all.iter().map(|one| one.cpu_ns).max().unwrap_or(0),
        broken: sum(|one| one.broken),
    }
}

/// Least, mean and greatest of what `of` tells of a stream's sender at the ends of intervals.
fn over(intervals: &[Interval], stream: usize, of: fn(&Told) -> u64) -> Option<(u64, f64, u64)> {
    let all: Vec<u64> = each(intervals, stream, of)
        .filter(|value| *value > 0)
        .collect();
    let (least, greatest) = (all.iter().min()?, all.iter().max()?);
    let mean = all.iter().map(|value| *value as f64).sum::<f64>() / all.len() as f64;
    Some((*least, mean, *greatest))
}

/// The greatest value that a sender told over the intervals; 0 is one, of a window that is closed.
fn most(intervals: &[Interval], stream: usize, of: fn(&Told) -> u64) -> Option<u64> {
    each(intervals, stream, of).max()
}

fn each(intervals: &[Interval], stream: usize, of: fn(&Told) -> u64) -> impl Iterator<Item = u64> {
    let counted = intervals.iter().filter(|one| !one.is_omitted);
    counted.filter_map(move |one| one.streams.get(stream)?.sent.as_ref().map(of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn intervals_are_differences_of_what_is_told_from_the_start() {
        let way = |is_out| Way {
            is_out,
            here: None,
            there: None,
        };
        let mut progress = Progress::new(&[way(true), way(false)], 0);
        let told = |bytes, lost| Told {
            bytes,
            lost,
            rtt_us: 7,
            ..Told::default()
        };
        let moment = |secs, bytes, theirs| Moment {
            at: Duration::from_secs(secs),
            own: vec![told(bytes, 0), told(bytes / 2, 3)],
            theirs: vec![theirs, None],
        };
        let first = progress.next(&moment(1, 1000, Some(told(900, 1))));
        let second = progress.next(&moment(2, 3000, Some(told(1900, 1))));
        assert_eq!((first.from, first.to, second.from), (0.0, 1.0, 1.0));
        let (out, back) = (second.sum(true), second.sum(false));
        assert_eq!((out.sent.bytes, out.received.bytes), (2000, 1000));
        assert_eq!((out.received.lost, out.sent.rtt_us), (0, 7));
        assert_eq!((back.is_known, back.received.bytes), ((false, true), 1000));
        assert_eq!(second.rate(1000).to_bits(), 8000_f64.to_bits());
        let both = [first, second];
        assert_eq!(over(&both, 0, |one| one.bytes), Some((1000, 1500.0, 2000)));
        assert_eq!(over(&both, 1, |one| one.bytes), None);
        // A window that was closed at every end of an interval is known, and 0.
        assert_eq!(most(&both, 0, |one| one.window_bytes), Some(0));
        assert_eq!(most(&both, 1, |one| one.window_bytes), None);
    }

    #[test]
    fn what_is_left_out_counts_for_nothing() {
        let way = Way {
            is_out: true,
            here: None,
            there: None,
        };
        let told = |bytes| Told {
            bytes,
            retransmitted: bytes / 100,
            ..Told::default()
        };
        let moment = |secs, bytes| Moment {
            at: Duration::from_secs(secs),
            own: vec![told(bytes)],
            theirs: vec![Some(told(bytes - 100))],
        };
        let mut progress = Progress::new(&[way], 2);
        let moments = [moment(1, 1000), moment(2, 3000), moment(3, 3500)];
        let intervals = moments.each_ref().map(|moment| progress.next(moment));
        let times = intervals
            .each_ref()
            .map(|one| (one.from, one.to, one.is_omitted));
        assert_eq!(
            times,
            [(0.0, 1.0, true), (1.0, 2.0, true), (0.0, 1.0, false)]
        );
        assert_eq!(intervals[2].sum(true).sent.bytes, 500);
        assert_eq!(
            over(&intervals, 0, |one| one.bytes),
            Some((500, 500.0, 500))
        );
        let ended = Ended {
            after: Duration::from_secs(4),
            own: vec![told(4000)],
            theirs: vec![Some(told(3800))],
            fault: None,
            congestion: String::new(),
        };
        let all = whole(&[way], &ended, Some(&moments[1]));
        let sum = all.sum(true);
        assert_eq!((all.from, all.to), (0.0, 2.0));
        assert_eq!((sum.sent.bytes, sum.received.bytes), (1000, 900));
        assert_eq!(sum.sent.retransmitted, 10);
        assert_eq!(whole(&[way], &ended, None).sum(true).sent.bytes, 4000);
    }
}
