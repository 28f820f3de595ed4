//! Applications that read in intervals: when they wake, within the slack of their timers.
//!
//! A sleeper's timer has a slack: it may go off from the interval's end on and must at the slack's
//! end. Linux keeps such timers in the order of their latest times, and with an interrupt lets them
//! go off from the front of that order as long as their time has come. So the sleeper wakes early,
//! with an interrupt of another timer, only where no further timer of the machine stands before it
//! in the order: where packets are further apart than the slack that is left. The machine is taken
//! to run the whole network, as one does that emulates it in namespaces: each link has a timer for
//! the next packet to leave its queue, and one for the next to reach its other end.
//!
//! Then it takes a while to come to its read, and to copy; its next sleep begins when it has done
//! that. Microseconds count where the sender's windows come back in the reader's step: the round
//! trip of a full link locks to a whole number of sleeps.
//!
//! Source: observed of Linux 6.12 in virtual time. At 100 Mbit/s a sleep of 5 ms with 50 µs of
//! slack lasts until the next packet; at 1 Gbit/s it lasts 5.05 ms while packets flow.

use super::Network;
use super::parts::event::Event;
use super::parts::reading::ReadingApp;
use crate::flow::{FlowSpec, Reader};
use crate::ids::{End, FlowId, LinkId, ReadingAppId};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};
use trammel_tcp::connection::State;

/// How long an interrupt takes: timers that come due meanwhile go off with it. One step of the
/// clock that virtual time has there, measured.
const INTERRUPT: Span = Span::from_ns(256);

/// An interrupt: the timer of a link that has gone off, and is not set anew before others had their
/// turn.
#[derive(Clone, Copy)]
enum Interrupt {
    Departure(LinkId),
    Arrival(LinkId),
}

/// A time drawn evenly between a half and three halves of `mean`.
fn around(mean: Span, rng: &mut Rng) -> Span {
    if mean == Span::ZERO {
        return mean;
    }
    let ps = mean.as_ps();
    Span::from_ps(ps / 2 + rng.below(ps))
}

impl Network {
    /// The application that reads for a flow; a new one for an interval that no other flow has.
    /// `None` where what arrives is read at once.
    pub(super) fn reading_app(&mut self, spec: &FlowSpec, flow: FlowId) -> Option<ReadingAppId> {
        let reader = spec.reader?;
        let readers = &mut self.traffic.readers;
        let alike = readers.entries().find(|(_, app)| app.reader == reader);
        let app = match alike {
            Some((app, _)) => app,
            None => readers.push(ReadingApp::new(reader, Rng::new(spec.seed, "reader"))),
        };
        readers[app].flows.push(flow);
        Some(app)
    }

    /// What there is to read for an application, bytes; nothing before it has accepted a
    /// connection.
    fn readable(&self, app: ReadingAppId) -> Option<u64> {
        let flows = self.traffic.readers[app].flows.iter();
        let receivers = flows.filter_map(|&flow| {
            let receiver = &self.traffic.flows[flow].ends.as_ref()?[End::Server];
            let is_accepted = !matches!(receiver.state(), State::Listen | State::SynReceived);
            is_accepted.then(|| u64::from(receiver.readable()))
        });
        receivers.reduce(|sum, bytes| sum + bytes)
    }

    /// An application's timer has gone off, or the first of its connections has been set up.
    fn wake(&mut self, app: ReadingAppId) {
        let Some(bytes) = self.readable(app) else {
            return;
        };
        let sleeper = &mut self.traffic.readers[app];
        let wake = around(sleeper.reader.wake, &mut sleeper.rng);
        let read_at = self.now + wake + sleeper.reader.copying(bytes);
        sleeper.due = (Time::MAX, read_at);
        if read_at == self.now {
            self.read(app);
        } else {
            self.events.push(read_at, Event::Read(app));
            self.note_events();
        }
    }

    /// The application reads what there is on each of its connections, and sleeps again.
    fn read(&mut self, app: ReadingAppId) {
        let now = self.now;
        for at in 0..self.traffic.readers[app].flows.len() {
            let flow = self.traffic.readers[app].flows[at];
            let Some(ends) = &mut self.traffic.flows[flow].ends else {
                continue;
            };
            if ends[End::Server].read(now, u32::MAX) > 0 {
                self.drain(flow, End::Server);
            }
        }
        let Reader {
            interval, slack, ..
        } = self.traffic.readers[app].reader;
        let due = now + interval;
        self.traffic.readers[app].due = (due, due + slack);
        if slack > Span::ZERO {
            self.events.push(due, Event::Slack(app));
        }
        self.events.push(due + slack, Event::Read(app));
        self.note_events();
    }

    /// An application's timer goes off at the latest, or it comes to its read.
    pub(super) fn on_read(&mut self, app: ReadingAppId) {
        let due = self.traffic.readers[app].due;
        // A timer that went off early leaves its event behind.
        if due.1 != self.now {
            return;
        }
        if due.0 == Time::MAX {
            self.read(app);
        } else {
            self.wake(app);
        }
    }

    /// A segment has reached end `end` of `flow` while the timer of its reader may go off.
    pub(super) fn on_arrival_in_slack(&mut self, app: ReadingAppId, flow: FlowId, end: End) {
        if self.traffic.readers[app].due.1 == Time::MAX {
            return self.wake(app);
        }
        let route = &self.routes.flows[flow][end.other() as usize];
        let link = route.link(route.hops - 1);
        self.on_interrupt(app, Interrupt::Arrival(link));
    }

    /// The slack of a reader's timer begins, or a packet leaves a queue within it.
    pub(super) fn on_slack(&mut self, app: ReadingAppId) {
        let ReadingApp { due, departure, .. } = self.traffic.readers[app];
        // A timer that went off early leaves its event behind.
        if self.now < due.0 || self.now >= due.1 {
            return;
        }
        if departure.0 == self.now {
            self.on_interrupt(app, Interrupt::Departure(departure.1));
        } else {
            self.await_departure(app);
        }
    }

    fn on_interrupt(&mut self, app: ReadingAppId, interrupt: Interrupt) {
        if self.next_timer(interrupt) > self.traffic.readers[app].due.1 {
            self.wake(app);
        } else if self.traffic.readers[app].departure.0 <= self.now {
            self.await_departure(app);
        }
    }

    /// When the first timer of a link goes off that `interrupt` does not serve.
    fn next_timer(&mut self, interrupt: Interrupt) -> Time {
        let served_until = self.now + INTERRUPT;
        let mut next = Time::MAX;
        for (index, link) in self.links.entries_mut() {
            let arrival = link.next();
            if arrival > served_until && !matches!(interrupt, Interrupt::Arrival(at) if at == index)
            {
                next = next.min(arrival);
            }
            let departure = link.next_departure(self.now);
            if departure > served_until
                && !matches!(interrupt, Interrupt::Departure(at) if at == index)
            {
                next = next.min(departure);
            }
        }
        next
    }

    /// Has the next packet to leave a queue interrupt, if that is within the slack.
    fn await_departure(&mut self, app: ReadingAppId) {
        let now = self.now;
        let departures = self.links.entries_mut();
        let first = departures
            .map(|(index, link)| (link.next_departure(now), index))
            .min();
        if let Some(first) = first.filter(|first| first.0 < self.traffic.readers[app].due.1) {
            self.traffic.readers[app].departure = first;
            self.events.push(first.0, Event::Slack(app));
            self.note_events();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkSpec;
    use crate::trace::Pace;
    use trammel_core::entry::Params;
    use trammel_core::units::Rate;
    use trammel_tcp::cc;
    use trammel_tcp::stack::Stack;

    const SLACK: Span = Span::from_us(50);

    /// How long the sleeps of a reader are, µs, behind a full link of `mbps` with 2 ms of round
    /// trip.
    fn sleeps_us(mbps: u64, reader: Reader) -> Vec<f64> {
        let mut network = Network::new();
        let mut bottleneck = LinkSpec::wire("bottleneck", Span::from_ms(1));
        bottleneck.rate = Some(Rate::from_bps(mbps * 1_000_000));
        let forward = network.add_link(bottleneck);
        let backward = network.add_link(LinkSpec::wire("return", Span::from_ms(1)));
        let reno = cc::find("reno").expect("the variant is built in");
        network.add_flow(FlowSpec {
            name: "flow".to_owned(),
            client: Stack::linux_6(),
            server: Stack::linux_6(),
            cc: Box::new(move || (reno.build)(&Params::defaults(&reno.about))),
            start: Time::ZERO,
            stop: Time::MAX,
            bytes: None,
            forward: vec![forward],
            backward: vec![backward],
            reader: Some(reader),
            overhead_bytes: 14,
            pace: Pace::Off,
            seed: 1,
        });
        let mut begun: Vec<Time> = Vec::new();
        for step in 500..=10_000 {
            network.run_until(Time::from_us(100 * step));
            let due = network.traffic.readers[ReadingAppId::new(0)].due.0;
            if due != Time::MAX && begun.last() != Some(&due) {
                begun.push(due);
            }
        }
        let pairs = begun.windows(2);
        pairs
            .map(|pair| (pair[1] - pair[0]).as_secs_f64() * 1e6)
            .collect()
    }

    #[test]
    fn a_sleep_ends_with_a_packet_where_no_other_follows_within_the_slack() {
        let reader = Reader::every(Span::from_ms(5), SLACK);
        // Frames 121 µs apart: Linux 6.12 slept 5,004 to 5,052 µs.
        let sleeps = sleeps_us(100, reader);
        assert!(sleeps.len() > 150, "{}", sleeps.len());
        assert!(
            sleeps
                .iter()
                .all(|sleep| (5_000.0..=5_050.1).contains(sleep))
        );
        assert!(sleeps.iter().any(|&sleep| sleep < 5_035.0), "{sleeps:?}");
        // Frames 12 µs apart: all but the last of them are followed.
        let sleeps = sleeps_us(1000, reader);
        assert!(
            sleeps
                .iter()
                .all(|sleep| (5_037.0..=5_050.1).contains(sleep)),
            "{sleeps:?}"
        );
    }

    #[test]
    fn waking_and_copying_put_off_the_next_sleep() {
        let reader = Reader {
            wake: Span::from_us(40),
            copy: Some(Rate::from_bps(100_000_000_000)),
            ..Reader::every(Span::from_ms(5), Span::ZERO)
        };
        // 5 ms at 1 Gbit/s are some 600 kB: 48 µs at this speed.
        let sleeps = sleeps_us(1000, reader);
        let mean = sleeps.iter().sum::<f64>() / sleeps.len() as f64;
        assert!((5_048.0 + 20.0..5_048.0 + 60.0).contains(&mean), "{mean}");
        let (low, high) = (
            sleeps.iter().copied().fold(f64::MAX, f64::min),
            sleeps.iter().copied().fold(0.0, f64::max),
        );
        assert!(high - low > 10.0, "no two wake-ups are alike: {low} {high}");
    }
}
