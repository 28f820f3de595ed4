//! Which mechanism of TCP made two senders part, as far as what they sent and their state tell; an
//! answer says on what it rests.

use super::state::{CWR, LOSS, Lately, NO_THRESHOLD, RECOVERY, State};
use super::{Event, Parting, Side, walk};
use trammel_core::time::{Span, Time};
use trammel_scenario::flow::Flow;

/// The least time after which a sender retransmits without being told (`TCP_RTO_MIN`), and some
/// ticks by which it may be earlier.
const LEAST_RTO: Span = Span::from_ms(200);
const TICKS: Span = Span::from_ms(10);
/// Behind a timeout, its state is seen within so long.
const SEEN_WITHIN: Span = Span::from_ms(5);
/// Within so long of an ACK, a segment is sent because of it.
const AT_ONCE: Span = Span::from_us(100);

/// What a flow is set to that decides which mechanisms it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Setting {
    variant: String,
    /// The kernel's congestion control, where it is another law.
    other_law: Option<String>,
    is_paced: bool,
    send_buffer: Option<u64>,
    /// Whether the receiver's buffer or program is limited.
    has_slow_receiver: bool,
    has_offload: bool,
    /// Whether it has an end, or a program that gives it data now and then.
    bytes: Option<u64>,
    least_rto: Span,
}

/// Whether `variant` goes by rates: it paces by itself, and its window has no threshold.
fn goes_by_rates(variant: &str) -> bool {
    matches!(variant, "bbr" | "bbr3")
}

impl Setting {
    /// That of `flow`.
    pub(super) fn of(flow: &Flow) -> Setting {
        let variant = flow.variant.name.clone();
        Setting {
            other_law: flow.other_law().map(str::to_owned),
            is_paced: flow.is_paced().unwrap_or(goes_by_rates(&variant)),
            send_buffer: flow.socket_buffer,
            has_slow_receiver: flow.receive_buffer.is_some() || flow.reader.is_some(),
            has_offload: flow.offload,
            bytes: flow.bytes,
            least_rto: flow.min_rto.unwrap_or(LEAST_RTO).saturating_sub(TICKS),
            variant,
        }
    }

    /// The same where both sides are kernels, which run the same algorithm by its name.
    pub(super) fn of_kernels(self) -> Setting {
        Setting {
            other_law: None,
            ..self
        }
    }

    /// What holds back a sender whose window does not, and why it is taken to be that.
    fn holder(&self) -> (&'static str, &'static str) {
        match self {
            Setting {
                send_buffer: Some(_),
                ..
            } => (
                "the send buffer: when the application learns that there is room",
                "`socket_buffer` limits the data in flight",
            ),
            Setting {
                has_slow_receiver: true,
                ..
            } => (
                "the receive window",
                "`receive_buffer` or `reader` limits the receive window",
            ),
            Setting { bytes: Some(_), .. } => (
                "the application's data",
                "it has `bytes` to send and no more",
            ),
            _ => (
                "the send buffer or the receive window, as the kernel tunes them",
                "neither is limited by the scenario",
            ),
        }
    }
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
    /// The sender over the round trip before it.
    lately: Lately,
    /// Whether a timeout is seen of it then.
    has_timed_out: bool,
}

impl<'a> Act<'a> {
    fn of(name: &'static str, side: &'a Side, place: Option<usize>, at: Time) -> Act<'a> {
        let before = &side.events[..place.unwrap_or(side.events.len())];
        let event = place.map(|place| &side.events[place]);
        let upto = |one: &&Event| event.is_some() || one.at <= at;
        let highest = before.iter().filter(|one| one.is_data()).map(Event::end);
        let highest = highest.max().unwrap_or_default();
        let mut states = side.states.iter().rev();
        let state = states.find(|state| state.at <= at);
        let state = state.copied().unwrap_or_default();
        let sent = event.map_or(at, |event| event.at);
        let behind = |one: &&State| one.at > at && one.at <= sent + SEEN_WITHIN;
        let mut behind = side.states.iter().filter(behind);
        Act {
            name,
            event,
            is_again: event.is_some_and(|event| event.segment.seq < highest),
            is_last: event.is_some_and(|event| event.end() == highest),
            ack: before.iter().rev().filter(upto).find(|one| !one.is_sent),
            has_timed_out: state.ca_state != LOSS && behind.any(|one| one.ca_state == LOSS),
            lately: Lately::of(&side.states, at).unwrap_or_default(),
            state,
        }
    }

    /// How long nothing had come.
    fn silence(&self) -> Span {
        let at = |event: Option<&Event>| event.map(|event| event.at).unwrap_or_default();
        at(self.event).saturating_since(at(self.ack))
    }

    fn number(&self) -> u32 {
        self.event.map_or(u32::MAX, |event| event.segment.seq)
    }

    fn at(&self) -> Time {
        self.event.map_or(Time::MAX, |event| event.at)
    }
}

/// Which mechanism made both part at `parting`; the flow is set as `setting` says, and the sides
/// are called `names`.
pub(super) fn find(
    sides: &[Side; 2],
    names: [&'static str; 2],
    parting: &Parting,
    setting: &Setting,
    tolerance: Span,
) -> Finding {
    if let Some(other) = &setting.other_law {
        return Finding {
            mechanism: "two algorithms: they run different congestion controls".to_owned(),
            because: format!(
                "{} runs `{}` and {} `{other}`",
                names[0], setting.variant, names[1]
            ),
        };
    }
    let act = |side: usize| Act::of(names[side], &sides[side], parting.places[side], parting.at);
    let (ours, theirs) = (act(0), act(1));
    // A sender that its window does not hold sends when its program can, and ACKs follow from that:
    // nothing that comes later is the cause.
    if let Some(finding) = of_held(&ours, &theirs, setting) {
        return finding;
    }
    if let Some(finding) = of_acks(sides, names, parting.at + tolerance, setting) {
        return finding;
    }
    let has_lost = [0, 1].iter().any(|side: &usize| {
        let place = parting.places[*side].unwrap_or(sides[*side].events.len());
        repeats(&sides[*side].events[..place])
    });
    match (ours.is_again, theirs.is_again) {
        (true, false) => of_repeat(&ours, &theirs, setting),
        (false, true) => of_repeat(&theirs, &ours, setting),
        (true, true) if ours.number() != theirs.number() => Finding {
            mechanism: "loss detection (RACK marking, SACK scoreboard)".to_owned(),
            because: "both retransmit, but not the same segment".to_owned(),
        },
        _ if ours.number() == theirs.number() && length(&ours) != length(&theirs) => Finding {
            mechanism: "how data is cut into segments (Nagle, receive window, MSS)".to_owned(),
            because: "both send the same data in segments of different length".to_owned(),
        },
        _ => of_time(&ours, &theirs, setting, has_lost),
    }
}

/// Whether something else than the congestion window held one of them back; retransmissions are
/// none of that.
fn of_held(ours: &Act<'_>, theirs: &Act<'_>, setting: &Setting) -> Option<Finding> {
    let held = [ours, theirs].map(|act| act.lately.is_held());
    if ours.is_again || theirs.is_again || setting.is_paced || held == [false, false] {
        return None;
    }
    let (mechanism, reason) = setting.holder();
    let who = match held {
        [true, true] => "both",
        [true, false] => ours.name,
        _ => theirs.name,
    };
    let numbers = |act: &Act<'_>| {
        let lately = act.lately;
        format!("{} of {} segments", lately.in_flight, lately.windows.0)
    };
    Some(Finding {
        mechanism: mechanism.to_owned(),
        because: format!(
            "the congestion window does not limit {who}: over a round trip {} are in flight in {}, \
             {} in {}; {reason}",
            numbers(ours),
            ours.name,
            numbers(theirs),
            theirs.name
        ),
    })
}

/// What both senders had been told until then differs: it is the receiver's doing, or the path's.
fn of_acks(sides: &[Side; 2], names: [&str; 2], until: Time, setting: &Setting) -> Option<Finding> {
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
        "the segments that reached the receiver (losses), or its SACK blocks"
    } else if setting.has_offload {
        "the receiver's delayed ACKs, or segments that offload joins"
    } else {
        "the receiver's delayed ACKs"
    };
    Some(Finding {
        mechanism: mechanism.to_owned(),
        because: format!(
            "from {:.6} s on their ACKs differ: {}'s sender receives {}, {}'s {}",
            at.as_secs_f64(),
            names[0],
            words[0],
            names[1],
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
fn of_repeat(again: &Act<'_>, other: &Act<'_>, setting: &Setting) -> Finding {
    let mechanism = if again.has_timed_out || again.silence() >= setting.least_rto {
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
fn of_time(ours: &Act<'_>, theirs: &Act<'_>, setting: &Setting, has_lost: bool) -> Finding {
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
    let (mechanism, because) = of_states(early, late, setting, has_lost);
    Finding {
        mechanism,
        because: format!(
            "{} sends it, and {} {apart}; {because}",
            early.name, late.name
        ),
    }
}

/// Which mechanism holds back the later of both, and what speaks for it.
fn of_states(
    early: &Act<'_>,
    late: &Act<'_>,
    setting: &Setting,
    has_lost: bool,
) -> (String, String) {
    let states = [early.state, late.state];
    let in_state = |state: u8| states.map(|one| one.ca_state == state);
    let names = format!(
        "states are {} and {}",
        early.state.name(),
        late.state.name()
    );
    for (state, alone, both) in [
        (
            LOSS,
            "the retransmission timeout: one of them has timed out",
            "recovery after a timeout (F-RTO, undo)",
        ),
        (
            RECOVERY,
            "loss detection: one of them is in recovery",
            "PRR: how much may be sent in recovery",
        ),
        (
            CWR,
            "the reaction to congestion marks: one of them reduces its window",
            "PRR: how much may be sent while the window is reduced",
        ),
    ] {
        match in_state(state) {
            [false, false] => {}
            [true, true] => return (both.to_owned(), names),
            _ => return (alone.to_owned(), names),
        }
    }
    let windows = format!("windows {} and {}", early.state.cwnd, late.state.cwnd);
    let starting = [early, late].map(|act| act.lately.is_starting());
    // A control that goes by rates has no threshold, and its window follows from them.
    let goes_by_rates = goes_by_rates(&setting.variant);
    if !goes_by_rates && (starting[0] != starting[1] || (starting[0] && !has_lost)) {
        let thresholds = format!(
            "thresholds are {} and {}, {windows}",
            threshold(early.state.ssthresh),
            threshold(late.state.ssthresh)
        );
        let mechanism = "the end of slow start (HyStart, or a threshold)";
        return (mechanism.to_owned(), thresholds);
    }
    let silence = early.silence().as_secs_f64() * 1e3;
    let is_by_ack = early.silence() <= AT_ONCE;
    if setting.is_paced && (!is_by_ack || goes_by_rates) {
        return (
            "pacing".to_owned(),
            format!("it is sent {silence:.3} ms after the last ACK, by a timer"),
        );
    }
    if early.state.cwnd != late.state.cwnd {
        return (
            format!("the congestion window of `{}`", setting.variant),
            format!("{windows} segments"),
        );
    }
    if !is_by_ack {
        return (
            "the application's data, or Nagle's algorithm".to_owned(),
            format!("it is sent {silence:.3} ms after the last ACK, and nothing is paced"),
        );
    }
    (
        "when ACKs come: the path, or the receiver".to_owned(),
        format!("the same ACK lets it go, and {windows} are the same"),
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

    /// A sender whose window is full.
    fn full(cwnd: u32) -> State {
        State {
            cwnd,
            ssthresh: 5,
            in_flight: cwnd,
            srtt_us: 40_000,
            ..State::default()
        }
    }

    fn side(events: &[Event], state: State) -> Side {
        Side {
            events: events.to_vec(),
            states: vec![state],
        }
    }

    /// What is found where the last events of both are what they part at.
    fn found(ours: &[Event], theirs: &[Event]) -> String {
        found_in(ours, theirs, [full(10), full(9)], &setting())
    }

    /// The same of senders in these states.
    fn found_in(ours: &[Event], theirs: &[Event], states: [State; 2], setting: &Setting) -> String {
        let places = [ours, theirs].map(|events| events.len().checked_sub(1));
        let last = |events: &[Event]| events.last().map(|event| event.at);
        let parting = Parting {
            at: last(ours).min(last(theirs)).unwrap(),
            number: 0,
            places,
        };
        let sides = [side(ours, states[0]), side(theirs, states[1])];
        let names = ["the simulator", "the kernel"];
        find(&sides, names, &parting, setting, Span::from_ms(1)).mechanism
    }

    fn setting() -> Setting {
        Setting::of(&Flow::new("reno"))
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
        let paced = Setting::of(&Flow::new("bbr"));
        let alike = [full(10), full(10)];
        assert_eq!(found_in(&timed, &later, alike, &paced), "pacing");
        // What is not paced does not pace.
        let unpaced = found_in(&timed, &later, alike, &setting());
        assert!(unpaced.contains("the application's data"), "{unpaced}");
    }

    /// Two segments that follow an ACK, the second side's later.
    fn apart() -> [Vec<Event>; 2] {
        [41, 60].map(|at| {
            vec![
                event(0, true, 0),
                event(40, false, 1000),
                event(at, false, 1500),
                event(at, true, 2000),
            ]
        })
    }

    #[test]
    fn a_sender_that_its_window_does_not_hold_is_told_by_what_does() {
        let [ours, theirs] = apart();
        let half = State {
            in_flight: 5,
            ..full(10)
        };
        let of = |flow: Flow, states| found_in(&ours, &theirs, states, &Setting::of(&flow));
        let mut limited = Flow::new("reno");
        limited.socket_buffer = Some(65_536);
        let buffer = of(limited.clone(), [half, half]);
        assert!(buffer.starts_with("the send buffer"), "{buffer}");
        // Also where only one of them is held, and where ACKs differ because of it.
        let one = of(limited.clone(), [full(10), half]);
        assert!(one.starts_with("the send buffer"), "{one}");
        let mut other = theirs.clone();
        other[2] = event(41, false, 1400);
        let acks = found_in(&ours, &other, [half, half], &Setting::of(&limited));
        assert!(acks.starts_with("the send buffer"), "{acks}");
        let mut slow = Flow::new("reno");
        slow.receive_buffer = Some(65_536);
        assert_eq!(of(slow, [half, half]), "the receive window");
        // One whose window is full is held by it, whatever its buffer is.
        let full = of(limited, [full(10), full(9)]);
        assert_eq!(full, "the congestion window of `reno`");
    }

    #[test]
    fn a_window_without_a_threshold_that_stays_is_no_slow_start() {
        let [ours, theirs] = apart();
        let without = |cwnd| State {
            ssthresh: NO_THRESHOLD,
            ..full(cwnd)
        };
        let found = |states| found_in(&ours, &theirs, states, &setting());
        assert_eq!(
            found([without(10), without(9)]),
            "the congestion window of `reno`"
        );
        // Windows that are the same are not what differs.
        let alike = found([without(10), without(10)]);
        assert!(alike.starts_with("when ACKs come"), "{alike}");
    }

    #[test]
    fn states_that_differ_are_told_from_states_that_both_are_in() {
        let [ours, theirs] = apart();
        let of = |ours_in: u8, theirs_in: u8| {
            let state = |ca_state| State {
                ca_state,
                ..full(10)
            };
            let states = [state(ours_in), state(theirs_in)];
            found_in(&ours, &theirs, states, &setting())
        };
        assert!(of(RECOVERY, RECOVERY).starts_with("PRR"));
        assert!(of(RECOVERY, 0).starts_with("loss detection"));
        assert!(of(0, CWR).contains("marks"));
        assert!(of(LOSS, 0).contains("timeout: one"));
        assert!(of(LOSS, LOSS).contains("F-RTO"));
    }

    #[test]
    fn a_shorter_timeout_is_one_too_and_two_laws_are_two() {
        let start = [event(0, true, 0), event(0, true, 1000), event(40, false, 0)];
        let next = [&start[..], &[event(90, true, 2000)]].concat();
        let repeat = [&start[..], &[event(95, true, 0)]].concat();
        let mut hasty = Flow::new("reno");
        let of = |flow: &Flow| found_in(&next, &repeat, [full(10); 2], &Setting::of(flow));
        assert!(of(&hasty).starts_with("loss detection"), "{}", of(&hasty));
        hasty.min_rto = Some(Span::from_ms(50));
        assert!(of(&hasty).contains("retransmission timeout"));
        hasty.kernel_variant = Some("cubic".to_owned());
        assert!(of(&hasty).starts_with("two algorithms"));
    }
}
