//! Which mechanism of TCP made two senders part, as far as what they sent and their state tell; an answer says on what it rests.

use super::{Event, Parting, Side, walk};
use trammel_core::time::Time;
use trammel_kernel::job::FlowSeen;
use trammel_netsim::trace::Sample;

/// The least time after which a sender retransmits without being told, less some ticks (`TCP_RTO_MIN`).
const LEAST_RTO: Time = Time::from_ms(190);
/// Within so long of an ACK, a segment is sent because of it.
const AT_ONCE: Time = Time::from_us(100);
/// A threshold that was never set (`TCP_INFINITE_SSTHRESH`).
const NO_THRESHOLD: u32 = 0x7fff_ffff;
/// `TCP_CA_CWR`, `TCP_CA_Recovery`, `TCP_CA_Loss`.
const CWR: u8 = 2;
const RECOVERY: u8 = 3;
const LOSS: u8 = 4;

/// A sender at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// When, from its start.
    pub at: Time,
    /// The congestion window, segments.
    pub cwnd: u32,
    /// The slow-start threshold, segments.
    pub ssthresh: u32,
    /// Segments on their way.
    pub in_flight: u32,
    /// The state of congestion control, as the kernel numbers them.
    pub ca_state: u8,
    /// The smoothed round trip, us.
    pub srtt_us: u32,
}

impl State {
    /// That of a sample of the simulator's.
    pub(super) fn of(sample: &Sample) -> State {
        State {
            at: sample.time,
            cwnd: sample.cwnd,
            ssthresh: sample.ssthresh,
            in_flight: sample.in_flight,
            ca_state: sample.state,
            srtt_us: sample.srtt_us,
        }
    }

    /// The name of the state of congestion control.
    pub fn name(&self) -> &'static str {
        match self.ca_state {
            0 => "Open",
            1 => "Disorder",
            CWR => "CWR",
            RECOVERY => "Recovery",
            _ => "Loss",
        }
    }

    /// Whether it is in slow start.
    fn is_starting(&self) -> bool {
        self.cwnd < self.ssthresh || self.ssthresh >= NO_THRESHOLD
    }
}

/// The samples of a measured flow.
pub(super) fn of_samples(seen: &FlowSeen) -> Vec<State> {
    let samples = seen.samples.iter();
    samples
        .map(|one| State {
            at: Time::from_ns(one.at_ns.max(0).cast_unsigned()),
            cwnd: one.cwnd,
            ssthresh: one.ssthresh,
            in_flight: one.in_flight,
            ca_state: one.ca_state,
            srtt_us: one.srtt_us,
        })
        .collect()
}

/// A mechanism, and what speaks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its name.
    pub mechanism: String,
    /// Why it is taken to be the one.
    pub because: String,
}

/// What a side did where they part.
#[derive(Clone, Copy, Debug)]
struct Act<'a> {
    name: &'static str,
    /// The segment; nothing where it sent nothing more.
    event: Option<&'a Event>,
    /// Whether it was sent before.
    is_again: bool,
    /// Whether nothing beyond it was sent before.
    is_last: bool,
    /// The ACK that came last before it.
    ack: Option<&'a Event>,
    /// The sender just before the parting.
    state: State,
}

impl<'a> Act<'a> {
    fn of(name: &'static str, side: &'a Side, place: Option<usize>, at: Time) -> Act<'a> {
        let before = &side.events[..place.unwrap_or(side.events.len())];
        let event = place.map(|place| &side.events[place]);
        let upto = |one: &&Event| event.is_some() || one.at <= at;
        let highest = before.iter().filter(|one| one.is_data()).map(Event::end);
        let highest = highest.max().unwrap_or_default();
        let mut states = side.states.iter().rev();
        Act {
            name,
            event,
            is_again: event.is_some_and(|event| event.segment.seq < highest),
            is_last: event.is_some_and(|event| event.end() == highest),
            ack: before.iter().rev().filter(upto).find(|one| !one.is_sent),
            state: states
                .find(|state| state.at <= at)
                .copied()
                .unwrap_or_default(),
        }
    }

    /// How long nothing had come.
    fn silence(&self) -> Time {
        let at = |event: Option<&Event>| event.map(|event| event.at).unwrap_or_default();
        at(self.event).saturating_sub(at(self.ack))
    }

    fn number(&self) -> u32 {
        self.event.map_or(u32::MAX, |event| event.segment.seq)
    }

    fn at(&self) -> Time {
        self.event.map_or(Time::MAX, |event| event.at)
    }
}

/// Which mechanism made both part at `parting`; they run `variant`.
pub(super) fn find(
    sides: &[Side; 2],
    parting: &Parting,
    variant: &str,
    tolerance: Time,
) -> Finding {
    let acts = ["the simulator", "the kernel"];
    let act = |side: usize| Act::of(acts[side], &sides[side], parting.places[side], parting.at);
    let (ours, theirs) = (act(0), act(1));
    if let Some(finding) = of_acks(sides, parting.at + tolerance) {
        return finding;
    }
    let has_lost = [0, 1].iter().any(|side: &usize| {
        let place = parting.places[*side].unwrap_or(sides[*side].events.len());
        repeats(&sides[*side].events[..place])
    });
    match (ours.is_again, theirs.is_again) {
        (true, false) => of_repeat(&ours, &theirs),
        (false, true) => of_repeat(&theirs, &ours),
        (true, true) if ours.number() != theirs.number() => Finding {
            mechanism: "loss detection (RACK marking, SACK scoreboard)".to_owned(),
            because: "both retransmit, and not the same segment".to_owned(),
        },
        _ if ours.number() == theirs.number() && length(&ours) != length(&theirs) => Finding {
            mechanism: "how data is cut into segments (Nagle, receive window, MSS)".to_owned(),
            because: "both send the same data, in segments that are not equally long".to_owned(),
        },
        _ => of_time(&ours, &theirs, variant, has_lost),
    }
}

/// What both senders had been told until then differs: it is the receiver's doing, or the path's.
fn of_acks(sides: &[Side; 2], until: Time) -> Option<Finding> {
    let events = [0, 1].map(|side: usize| sides[side].events.as_slice());
    let places = walk::acks(events, until)?;
    let told = [0, 1].map(|side: usize| &events[side][places[side]]);
    let at = told[0].at.min(told[1].at);
    let words = told.map(|event| {
        let blocks = event.segment.sack_blocks().iter();
        let sacks: Vec<_> = blocks
            .map(|block| format!(" sack {}:{}", block.start, block.end))
            .collect();
        format!("{}{}", event.segment.ack, sacks.concat())
    });
    let has_hole = told.map(|event| event.segment.sack_count > 0);
    let mechanism = if has_hole[0] != has_hole[1] {
        "the path: its queue dropped a packet in one of both"
    } else if has_hole[0] {
        "what came to the receiver (losses), or its SACK blocks"
    } else {
        "the receiver's delayed ACKs"
    };
    Some(Finding {
        mechanism: mechanism.to_owned(),
        because: format!(
            "from {:.6} s on their ACKs differ: the simulator's sender is told {}, the kernel's {}",
            at.as_secs_f64(),
            words[0],
            words[1]
        ),
    })
}

fn length(act: &Act<'_>) -> u32 {
    act.event.map_or(0, |event| event.segment.seq_len())
}

/// Whether data was sent again.
fn repeats(events: &[Event]) -> bool {
    let mut highest = 0;
    events.iter().filter(|event| event.is_data()).any(|event| {
        let is_again = event.segment.seq < highest;
        highest = highest.max(event.end());
        is_again
    })
}

/// One of both sends again what the other does not.
fn of_repeat(again: &Act<'_>, other: &Act<'_>) -> Finding {
    let mechanism = if again.silence() >= LEAST_RTO {
        "the retransmission timeout"
    } else if again.is_last && again.state.ca_state < RECOVERY {
        "the tail loss probe"
    } else {
        "loss detection (RACK marking, duplicate ACKs)"
    };
    Finding {
        mechanism: mechanism.to_owned(),
        because: format!(
            "{} retransmits {:.3} ms after the last ACK, and {} sends {}",
            again.name,
            again.silence().as_secs_f64() * 1e3,
            other.name,
            other.event.map_or("nothing more", |_| "new data"),
        ),
    }
}

/// Both send the same kind of thing, one of them at another time.
fn of_time(ours: &Act<'_>, theirs: &Act<'_>, variant: &str, has_lost: bool) -> Finding {
    let (early, late) = if ours.at() <= theirs.at() {
        (ours, theirs)
    } else {
        (theirs, ours)
    };
    let apart = if late.event.is_some() {
        format!(
            "{:.3} ms later",
            (late.at() - early.at()).as_secs_f64() * 1e3
        )
    } else {
        "not at all".to_owned()
    };
    let told = |mechanism: &str, because: String| Finding {
        mechanism: mechanism.to_owned(),
        because: format!(
            "{} sends it, and {} {apart}; {because}",
            early.name, late.name
        ),
    };
    let is_by_ack = early.silence() <= AT_ONCE;
    let states = [early.state, late.state];
    let is_in = |state: u8| states.iter().any(|one| one.ca_state == state);
    if is_in(LOSS) {
        return told(
            "recovery after a timeout (F-RTO, undo)",
            "one of them is in state Loss".to_owned(),
        );
    }
    if is_in(RECOVERY) || is_in(CWR) {
        return told(
            "PRR: what may be sent in recovery",
            format!(
                "states are {} and {}",
                early.state.name(),
                late.state.name()
            ),
        );
    }
    let is_starting = states.map(|state| state.is_starting());
    if is_starting[0] != is_starting[1] || (is_starting[0] && !has_lost) {
        return told(
            "the end of slow start (HyStart, or a threshold)",
            format!(
                "thresholds are {} and {}, windows {} and {}",
                threshold(early.state.ssthresh),
                threshold(late.state.ssthresh),
                early.state.cwnd,
                late.state.cwnd
            ),
        );
    }
    if !is_by_ack || variant == "bbr" {
        return told(
            "pacing",
            format!(
                "it is sent {:.3} ms after the last ACK, by a timer",
                early.silence().as_secs_f64() * 1e3
            ),
        );
    }
    told(
        &format!("the congestion window of `{variant}`"),
        format!("windows are {} and {}", early.state.cwnd, late.state.cwnd),
    )
}

/// A threshold in words.
pub(super) fn threshold(segments: u32) -> String {
    if segments >= NO_THRESHOLD {
        "none".to_owned()
    } else {
        segments.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_tcp::segment::{Flags, Segment};

    fn event(at_ms: u64, is_sent: bool, number: u32) -> Event {
        let segment = Segment {
            seq: if is_sent { number } else { 0 },
            ack: if is_sent { 0 } else { number },
            len: if is_sent { 1000 } else { 0 },
            flags: Flags::ACK,
            ..Segment::default()
        };
        Event {
            at: Time::from_ms(at_ms),
            is_sent,
            segment,
        }
    }

    fn side(events: &[Event]) -> Side {
        Side {
            events: events.to_vec(),
            states: vec![State {
                cwnd: 10,
                ssthresh: 5,
                ..State::default()
            }],
        }
    }

    /// What is found where the last events of both are what they part at.
    fn found(ours: &[Event], theirs: &[Event]) -> String {
        let places = [ours, theirs].map(|events| events.len().checked_sub(1));
        let last = |events: &[Event]| events.last().map(|event| event.at);
        let parting = Parting {
            at: last(ours).min(last(theirs)).unwrap(),
            number: 0,
            places,
        };
        let sides = [side(ours), side(theirs)];
        find(&sides, &parting, "reno", Time::from_ms(1)).mechanism
    }

    #[test]
    fn mechanisms_are_told_by_what_is_sent() {
        let start = [
            event(0, true, 0),
            event(0, true, 1000),
            event(40, false, 1000),
        ];
        let with = |more: &[Event]| [&start, more].concat();
        let next = with(&[event(40, true, 2000)]);
        let repeat = |at| with(&[event(at, true, 0)]);
        assert!(found(&next, &repeat(41)).starts_with("loss detection"));
        assert!(found(&repeat(300), &next).contains("timeout"));
        let probe = with(&[event(80, true, 1000)]);
        assert!(found(&next, &probe).contains("tail loss probe"));
        let prompt = with(&[event(41, false, 1500), event(41, true, 2000)]);
        let late = with(&[
            event(41, false, 1500),
            event(60, false, 1600),
            event(60, true, 2000),
        ]);
        assert_eq!(found(&prompt, &late), "the congestion window of `reno`");
        let other = with(&[event(41, false, 1400), event(60, true, 2000)]);
        assert_eq!(found(&prompt, &other), "the receiver's delayed ACKs");
        let timed = with(&[event(50, true, 2000)]);
        let later = with(&[event(70, true, 2000)]);
        assert_eq!(found(&timed, &later), "pacing");
    }
}
