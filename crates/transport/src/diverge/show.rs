//! A comparison for people, and as JSON.

use super::mechanism::threshold;
use super::{Compared, Event, Parting, Side, State};
use serde_json::{Value, json};
use std::fmt::Write;
use trammel_core::time::Time;
use trammel_tcp::segment::Flags;

/// Segments that are shown before the parting and from it on, of each side.
const BEFORE: usize = 5;
const FROM: usize = 5;
/// The names of both sides.
const NAMES: [&str; 2] = ["simulator", "kernel"];

/// The text of it.
pub fn text(compared: &Compared) -> String {
    let (flow, variant) = &compared.flow;
    let mut text = format!(
        "flow `{flow}` (`{variant}`), simulator beside {}; differences up to {:.3} ms count as the \
         same time\n",
        compared.kernel,
        compared.tolerance.as_secs_f64() * 1e3
    );
    if compared.lost > 0 {
        let _ = writeln!(
            text,
            "the path loses the same {} packets in both",
            compared.lost
        );
    }
    let Some((parting, finding)) = &compared.parting else {
        let _ = writeln!(
            text,
            "identical to the end, {:.3} s: all {} segments with data",
            compared.until.as_secs_f64(),
            compared.alike
        );
        return text;
    };
    let _ = writeln!(
        text,
        "identical for {} segments with data; they diverge at {:.6} s\n",
        compared.alike,
        parting.at.as_secs_f64()
    );
    for ((side, name), place) in compared.sides.iter().zip(NAMES).zip(parting.places) {
        let _ = match place.map(|place| side.events[place]) {
            Some(event) => writeln!(text, "  {name:<10} {}", line(&event)),
            None => writeln!(text, "  {name:<10} sends nothing more"),
        };
    }
    let _ = writeln!(
        text,
        "\nmechanism: {}\n  {}\n",
        finding.mechanism, finding.because
    );
    let _ = writeln!(
        text,
        "just before       cwnd  ssthresh  in flight  state      smoothed RTT"
    );
    for (side, name) in compared.sides.iter().zip(NAMES) {
        if let Some(state) = before(side, parting.at) {
            let _ = writeln!(
                text,
                "  {name:<10}  {:>8}  {:>8}  {:>9}  {:<9}  {:>9.3} ms",
                state.cwnd,
                threshold(state.ssthresh),
                state.in_flight,
                state.name(),
                f64::from(state.srtt_us) * 1e-3
            );
        }
    }
    for ((side, name), place) in compared.sides.iter().zip(NAMES).zip(parting.places) {
        let _ = writeln!(text, "\n{name}");
        for (event, is_it) in around(side, place, parting) {
            let mark = if is_it { '>' } else { ' ' };
            let _ = writeln!(text, "{mark} {}", line(event));
        }
    }
    text
}

/// The state just before an instant.
fn before(side: &Side, at: Time) -> Option<&State> {
    side.states.iter().rev().find(|state| state.at <= at)
}

/// The events around the parting, and whether each is the one.
fn around<'a>(
    side: &'a Side,
    place: Option<usize>,
    parting: &Parting,
) -> impl Iterator<Item = (&'a Event, bool)> {
    let later = || side.events.iter().position(|event| event.at > parting.at);
    let middle = place.or_else(later).unwrap_or(side.events.len());
    let from = middle.saturating_sub(BEFORE);
    let to = (middle + FROM).min(side.events.len());
    let events = side.events[from..to].iter().enumerate();
    events.map(move |(at, event)| (event, place == Some(from + at)))
}

/// A segment in a line, as packet analysers write them.
fn line(event: &Event) -> String {
    let segment = &event.segment;
    let mut text = format!(
        "{:>12.6} s  {}  ",
        event.at.as_secs_f64(),
        if event.is_sent { "sends" } else { "gets " }
    );
    for (flag, name) in [
        (Flags::SYN, "SYN "),
        (Flags::FIN, "FIN "),
        (Flags::RST, "RST "),
        (Flags::ECE, "ECE "),
        (Flags::CWR, "CWR "),
    ] {
        if segment.flags.has(flag) {
            text.push_str(name);
        }
    }
    if segment.len > 0 {
        let _ = write!(text, "{}:{}", segment.seq, event.end());
    } else {
        let _ = write!(text, "ack {}", segment.ack);
    }
    for block in segment.sack_blocks() {
        let _ = write!(text, " sack {}:{}", block.start, block.end);
    }
    text
}

/// The same as JSON.
pub fn json(compared: &Compared) -> Value {
    let (flow, variant) = &compared.flow;
    let parting = compared.parting.as_ref().map(|(parting, finding)| {
        let side = |side: usize| {
            let of = &compared.sides[side];
            json!({
                "sends": parting.places[side].map(|place| of_event(&of.events[place])),
                "state": before(of, parting.at).map(of_state),
            })
        };
        json!({
            "at_s": parting.at.as_secs_f64(),
            "segment": parting.number,
            "simulator": side(0),
            "kernel": side(1),
            "mechanism": finding.mechanism,
            "because": finding.because,
        })
    });
    json!({
        "flow": flow,
        "variant": variant,
        "kernel": compared.kernel,
        "tolerance_s": compared.tolerance.as_secs_f64(),
        "until_s": compared.until.as_secs_f64(),
        "lost_pkts": compared.lost,
        "alike_segments": compared.alike,
        "parting": parting,
    })
}

fn of_event(event: &Event) -> Value {
    json!({
        "at_s": event.at.as_secs_f64(),
        "seq": event.segment.seq,
        "len_bytes": event.segment.len,
        "ack": event.segment.ack,
    })
}

fn of_state(state: &State) -> Value {
    json!({
        "at_s": state.at.as_secs_f64(),
        "cwnd_pkts": state.cwnd,
        "ssthresh_pkts": state.ssthresh,
        "in_flight_pkts": state.in_flight,
        "state": state.name(),
        "srtt_us": state.srtt_us,
    })
}
