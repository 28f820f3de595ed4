//! Both ends while a test runs: each tells the other what it counts, and learns what the other
//! does.

use super::carriers::Stream;
use super::run::{Ends, Seen, run};
use crate::record::Protocol;
use crate::signal::channel::{Channel, ReceiveError};
use crate::signal::link::Told;
use crate::signal::link::said::{Part, Said};
use crate::signal::link::{Wish, nanos};
use crate::signal::message::Message;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// So long is listened for a message before other things are looked after.
const LISTEN: Duration = Duration::from_millis(20);
/// The other end tells of an interval so much later at most, or it is done without.
const LATE: Duration = Duration::from_millis(1500);
/// The other end may say nothing for so much longer than an interval.
const PATIENCE: Duration = Duration::from_secs(10);
/// So many intervals the other end may be ahead of this one: half a minute of the shortest ones.
const AHEAD: u32 = 300;
/// What is on its way at the end may take so long; a stream that is quiet for the shorter time is
/// over.
const SETTLING: Duration = Duration::from_secs(2);
const QUIET: Duration = Duration::from_millis(300);

/// What both ends saw at the end of an interval.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The end of the interval by this end's clock, from the start on.
    pub at: Duration,
    /// What this end counted of each stream.
    pub own: Vec<Told>,
    /// What the other did, as far as it has told.
    pub theirs: Vec<Option<Told>>,
}

/// How a test ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// After how long by this end's clock.
    pub after: Duration,
    /// What this end counted of each stream in all, its delays over all of the test.
    pub own: Vec<Told>,
    /// What the other did.
    pub theirs: Vec<Option<Told>>,
    /// Why it ended before its time, where that was not this end's wish.
    pub fault: Option<String>,
    /// The other end's congestion control, where it has told.
    pub congestion: String,
}

/// What the other end has told of an interval.
type Heard = Vec<Option<Told>>;

/// A test that runs at this end.
struct Talk<'a> {
    channel: &'a mut Channel,
    streams: &'a [Stream],
    wish: &'a Wish,
    own: BTreeMap<u32, Seen>,
    theirs: BTreeMap<u32, Heard>,
    next: u32,
    /// When this end stopped sending, and how long after its start that was.
    own_end: Option<(Instant, Duration)>,
    their_end: Heard,
    /// When the first of it was told, and of which interval it is.
    their_end_at: Option<(Instant, u32)>,
    /// What the other end told of each stream most recently.
    latest: Heard,
    own_last: Option<Seen>,
    their_last: Heard,
    fault: Option<String>,
    /// The other end wants no more of it.
    is_stopped: bool,
    /// It has left, having told all.
    has_left: bool,
    congestion: String,
    last_heard: Instant,
}

fn is_whole(heard: &Heard) -> bool {
    heard.iter().all(Option::is_some)
}

/// Runs a test whose streams are open; `each` hears of every interval. Ends early where `stop` is
/// set.
pub(super) fn talk(
    channel: &mut Channel,
    streams: &[Stream],
    wish: &Wish,
    stop: &AtomicBool,
    each: &mut dyn FnMut(&Moment),
) -> Ended {
    let mut talk = Talk::new(channel, streams, wish);
    let (tells, seen) = mpsc::channel();
    let ends = Ends::default();
    let Ends { halt, settled, .. } = &ends;
    std::thread::scope(|scope| {
        let runs = std::thread::Builder::new().spawn_scoped(scope, || {
            run(streams, wish, &ends, &tells);
        });
        if let Err(why) = runs {
            talk.fault = Some(format!("no thread can be had: {why}"));
            return;
        }
        let (mut has_said_over, mut quiet) = (false, (Instant::now(), 0));
        loop {
            while let Ok(seen) = seen.try_recv() {
                talk.tell(seen);
            }
            talk.listen();
            if stop.load(Ordering::Relaxed) && !has_said_over {
                has_said_over = true;
                halt.store(true, Ordering::Relaxed);
                if talk.fault.is_none() {
                    talk.fault = talk
                        .channel
                        .say(&Message::Over)
                        .err()
                        .map(|why| why.to_string());
                }
            }
            if talk.fault.is_some() || talk.is_stopped {
                halt.store(true, Ordering::Relaxed);
            }
            if talk.has_arrived() {
                ends.arrived.store(true, Ordering::SeqCst);
            }
            talk.show(each);
            if !settled.load(Ordering::Relaxed) && talk.is_settled(&mut quiet) {
                settled.store(true, Ordering::Relaxed);
            }
            if talk.is_over() {
                break;
            }
        }
    });
    talk.ended()
}

impl<'a> Talk<'a> {
    /// Nothing has been counted or heard yet.
    fn new(channel: &'a mut Channel, streams: &'a [Stream], wish: &'a Wish) -> Talk<'a> {
        let nothing = vec![None; streams.len()];
        Talk {
            channel,
            streams,
            wish,
            own: BTreeMap::new(),
            theirs: BTreeMap::new(),
            next: 0,
            own_end: None,
            their_end: nothing.clone(),
            their_end_at: None,
            latest: nothing.clone(),
            is_stopped: false,
            has_left: false,
            congestion: String::new(),
            own_last: None,
            their_last: nothing,
            fault: None,
            last_heard: Instant::now(),
        }
    }

    /// Tells the other end what was seen here.
    fn tell(&mut self, seen: Seen) {
        for (stream, told) in self.streams.iter().zip(&seen.told) {
            if self.fault.is_some() || self.has_left {
                break;
            }
            let said = Message::Link(Said::Told {
                part: seen.part,
                number: seen.number,
                stream: stream.number,
                at_ns: nanos(seen.at),
                told: *told,
            });
            if let Err(why) = self.channel.say(&said)
                && !is_whole(&self.their_end)
            {
                self.fault = Some(why.to_string());
            }
        }
        match seen.part {
            Part::Last => self.own_last = Some(seen),
            part => {
                if part == Part::End {
                    self.own_end = Some((Instant::now(), seen.at));
                }
                self.own.insert(seen.number, seen);
            }
        }
    }

    /// Takes in what the other end says, if anything.
    fn listen(&mut self) {
        if self.fault.is_some() || self.has_left {
            return;
        }
        loop {
            match self.channel.hear(Some(LISTEN), &AtomicBool::new(false)) {
                Ok(Message::Link(Said::Told {
                    part,
                    number,
                    stream,
                    told,
                    ..
                })) => {
                    self.last_heard = Instant::now();
                    self.note(part, number, stream, told);
                }
                Ok(Message::Link(Said::Going { congestion })) => self.congestion = congestion,
                Ok(Message::Over) => self.is_stopped = true,
                Ok(Message::Refused(why)) => {
                    self.fault = Some(format!("the other end refuses: {why}"));
                }
                Ok(_) => {
                    self.fault = Some("the other end sent an unexpected message".to_owned());
                }
                Err(ReceiveError::Late(_)) => {
                    let patience = self.wish.interval + PATIENCE;
                    if self.last_heard.elapsed() > patience {
                        self.fault = Some(ReceiveError::Late(patience).to_string());
                    }
                    return;
                }
                Err(ReceiveError::Gone) if is_whole(&self.their_end) => {
                    self.has_left = true;
                    return;
                }
                Err(silence) => self.fault = Some(silence.to_string()),
            }
            // More may wait; but who says without end is not listened to alone.
            if self.fault.is_some() || !self.channel.has_word().unwrap_or(false) {
                return;
            }
        }
    }

    fn note(&mut self, part: Part, number: u32, stream: u16, told: Told) {
        let (streams, place) = (self.streams.len(), usize::from(stream));
        // There are no more intervals than these, of which what is left out may have a shorter one.
        let most = self.wish.whole().as_nanos() / self.wish.interval.as_nanos().max(1) + 2;
        if place >= streams || u128::from(number) > most {
            return;
        }
        self.latest[place] = Some(told);
        if part == Part::Last {
            self.their_last[place] = Some(told);
            return;
        }
        if part == Part::End {
            self.their_end[place] = Some(told);
            self.their_end_at.get_or_insert((Instant::now(), number));
        }
        // What is said of intervals far ahead of ours fills no memory.
        if (self.next..self.next.saturating_add(AHEAD)).contains(&number) {
            let heard = self.theirs.entry(number);
            heard.or_insert_with(|| vec![None; streams])[place] = Some(told);
        }
    }

    /// Shows the intervals that both ends have told of, or that the other has had its time for.
    fn show(&mut self, each: &mut dyn FnMut(&Moment)) {
        while let Some(own) = self.own.get(&self.next) {
            let heard = self.theirs.get(&self.next).or_else(|| {
                // The other end was over before: nothing more is to come of it.
                let was_over = self
                    .their_end_at
                    .is_some_and(|(_, number)| number < self.next);
                Some(&self.their_end).filter(|_| was_over && is_whole(&self.their_end))
            });
            let is_told_of = heard.is_some_and(is_whole);
            // This end saw it when the one after it began, at the latest.
            let waited = self.own.len() > 2
                || self.own_end.is_some_and(|(end, _)| end.elapsed() > LATE)
                || self.fault.is_some();
            if !is_told_of && !waited {
                return;
            }
            each(&Moment {
                at: own.at,
                own: own.told.clone(),
                theirs: heard
                    .cloned()
                    .unwrap_or_else(|| vec![None; self.streams.len()]),
            });
            self.own.remove(&self.next);
            self.theirs.remove(&self.next);
            self.next += 1;
        }
    }

    /// Whether all has come that the other end says it was to send, or has had its time to.
    fn has_arrived(&self) -> bool {
        let Some((since, _)) = self.their_end_at else {
            return false;
        };
        let has_come = |stream: &Stream| {
            let sent = self.their_end[usize::from(stream.number)].map_or(0, |told| told.bytes);
            stream.counts.tell_all().bytes >= sent
        };
        let incoming = || self.streams.iter().filter(|one| !one.is_out);
        // Of UDP what is on its way is waited for after the end.
        is_whole(&self.their_end)
            && (self.wish.protocol == Protocol::Udp
                || incoming().all(has_come)
                || since.elapsed() > SETTLING)
    }

    /// Whether what was on its way has come, as far as it will.
    fn is_settled(&self, quiet: &mut (Instant, u64)) -> bool {
        let Some((end, _)) = self.own_end else {
            return false;
        };
        if self.fault.is_some() || self.has_left {
            return true;
        }
        let incoming = || self.streams.iter().filter(|one| !one.is_out);
        if self.wish.protocol != Protocol::Udp || incoming().next().is_none() {
            return is_whole(&self.their_end) || end.elapsed() > SETTLING;
        }
        let came: u64 = incoming().map(|one| one.counts.tell_all().packets).sum();
        if came != quiet.1 {
            *quiet = (Instant::now(), came);
        }
        let sent = incoming().filter_map(|one| {
            let sent = self.their_end[usize::from(one.number)]?;
            one.counts.sent(sent.packets);
            Some(sent.packets)
        });
        let sent: u64 = sent.sum();
        let is_told = is_whole(&self.their_end);
        (is_told && (came >= sent || quiet.0.elapsed() > QUIET)) || end.elapsed() > SETTLING
    }

    fn is_over(&self) -> bool {
        let Some((end, _)) = self.own_end.filter(|_| self.own_last.is_some()) else {
            return false;
        };
        self.fault.is_some()
            || self.has_left
            || is_whole(&self.their_last)
            || end.elapsed() > 2 * SETTLING
    }

    fn ended(self) -> Ended {
        let count = self.streams.len();
        let own = self.own_last.map(|seen| seen.told);
        // Of who is gone, what he told last is more than nothing.
        let theirs = self.their_last.into_iter().zip(self.latest);
        Ended {
            after: self.own_end.map_or(Duration::ZERO, |(_, after)| after),
            own: own.unwrap_or_else(|| vec![Told::default(); count]),
            theirs: theirs.map(|(last, latest)| last.or(latest)).collect(),
            fault: match self.fault {
                None if self.is_stopped => Some("the other end has stopped it".to_owned()),
                fault => fault,
            },
            congestion: self.congestion,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::carriers::Carrier;
    use super::super::counts::Counts;
    use super::*;
    use crate::signal::link::tests::wish;
    use std::net::{TcpListener, TcpStream, UdpSocket};

    #[test]
    fn what_is_said_of_intervals_far_ahead_fills_no_memory() {
        let there = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let here = TcpStream::connect(there.local_addr().expect("a bound socket has an address"));
        let mut channel = Channel::new(here.expect("it listens")).expect("the socket is open");
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback has a free port");
        let streams = [Stream {
            number: 0,
            is_out: true,
            carrier: Carrier::Udp(socket),
            counts: Counts::default(),
        }];
        let wish = Wish {
            duration: Duration::from_secs(86_400),
            interval: Duration::from_millis(100),
            ..wish()
        };
        let mut talk = Talk::new(&mut channel, &streams, &wish);
        for number in 0..800_000 {
            talk.note(Part::Interval, number, 0, Told::default());
        }
        assert_eq!(talk.theirs.len(), AHEAD as usize);
        // Those that come when it is their time are kept.
        talk.next = 700_000;
        talk.note(Part::Interval, 700_001, 0, Told::default());
        assert!(talk.theirs.contains_key(&700_001));
    }
}
