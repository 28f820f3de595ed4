//! The account of a test of a path in the structure of iperf3's `--json`, so that what reads that
//! reads this.
//!
//! `start`, `intervals` with `streams` and `sum`, `end` with `streams`, `sum_sent` and
//! `sum_received`, and the same names with `_bidir_reverse` of the way back where both are tested.
//! A stream's `socket` is its number. Of what iperf3 does not know, intervals have `receiver` as
//! well: what the other end counted.

use super::{Account, Interval, Sum, most, over};
use serde_json::{Map, Value, json as value};
use trammel_traffic::link::{Direction, Told};
use trammel_traffic::record::Protocol;

/// The account.
pub fn json(account: &Account) -> Value {
    let mut all = Map::new();
    all.insert("start".to_owned(), start(account));
    let intervals = account.intervals.iter().map(|one| interval(account, one));
    all.insert("intervals".to_owned(), intervals.collect());
    all.insert("end".to_owned(), end(account));
    if let Some(why) = &account.fault {
        all.insert("error".to_owned(), value!(why));
    }
    Value::Object(all)
}

fn is_udp(account: &Account) -> bool {
    account.wish.protocol == Protocol::Udp
}

fn start(account: &Account) -> Value {
    let wish = &account.wish;
    let connected = account.ways.iter().enumerate().map(|(at, way)| {
        value!({
            "socket": at,
            "local_host": way.here.map(|one| one.ip().to_string()),
            "local_port": way.here.map(|one| one.port()),
            "remote_host": way.there.map(|one| one.ip().to_string()),
            "remote_port": way.there.map(|one| one.port()),
        })
    });
    let connected: Vec<Value> = connected.collect();
    value!({
        "connected": connected,
        "version": format!("trammel {}", env!("CARGO_PKG_VERSION")),
        "timestamp": { "timesecs": account.date_s },
        "connecting_to": { "host": account.to, "port": account.ends.1.port() },
        "target_bitrate": wish.rate_bps,
        "test_start": {
            "protocol": if is_udp(account) { "UDP" } else { "TCP" },
            "num_streams": wish.streams,
            "blksize": if is_udp(account) { wish.datagram_bytes } else { 131_072 },
            "omit": wish.omit.as_secs_f64(),
            "duration": if wish.bytes > 0 { 0.0 } else { wish.duration.as_secs_f64() },
            "bytes": wish.bytes,
            "blocks": 0,
            "reverse": u8::from(wish.direction == Direction::Reverse),
            "bidir": u8::from(wish.direction == Direction::Both),
            "tos": wish.tos,
            "interval": wish.interval.as_secs_f64(),
            "target_bitrate": wish.rate_bps,
        },
    })
}

/// The fields that every part has.
fn span(interval: &Interval, bytes: u64) -> Map<String, Value> {
    let fields = value!({
        "start": interval.from,
        "end": interval.to,
        "seconds": interval.seconds(),
        "bytes": bytes,
        "bits_per_second": interval.rate(bytes),
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn extended(mut fields: Map<String, Value>, more: Value) -> Map<String, Value> {
    if let Value::Object(more) = more {
        fields.extend(more);
    }
    fields
}

/// What a sender of TCP knows.
fn of_tcp(sent: &Told) -> Value {
    value!({
        "retransmits": sent.retransmitted,
        "snd_cwnd": sent.cwnd_bytes,
        "snd_wnd": sent.window_bytes,
        "rtt": sent.rtt_us,
        "rttvar": sent.rttvar_us,
        "pmtu": sent.pmtu,
    })
}

/// What a receiver of UDP knows.
fn of_udp(came: &Told) -> Value {
    let expected = came.packets + came.lost;
    let share = came.lost as f64 / expected.max(1) as f64;
    value!({
        "jitter_ms": came.jitter_ns as f64 / 1e6,
        "lost_packets": came.lost,
        "packets": expected,
        "lost_percent": 100.0 * share,
        "out_of_order": came.reordered,
        "duplicates": came.duplicates,
        "delay_mean_ms": (came.delays > 0).then(|| came.delay_mean_ns as f64 / 1e6),
        "delay_min_ms": (came.delays > 0).then(|| came.delay_min_ns as f64 / 1e6),
        "delay_max_ms": (came.delays > 0).then(|| came.delay_max_ns as f64 / 1e6),
    })
}

/// What the client of iperf3 has in an interval: of what it sends its own account, else what it
/// receives; here both ends'.
fn both(
    account: &Account,
    interval: &Interval,
    is_out: bool,
    (sent, received): (Option<&Told>, Option<&Told>),
) -> Map<String, Value> {
    let own = if is_out { sent } else { received };
    let mut fields = span(interval, own.map_or(0, |told| told.bytes));
    match (is_udp(account), sent, received) {
        (true, sent, received) => {
            if let Some(sent) = sent {
                fields = extended(fields, value!({ "packets": sent.packets }));
            }
            if let Some(received) = received {
                fields = extended(fields, of_udp(received));
            }
        }
        (false, Some(sent), _) => fields = extended(fields, of_tcp(sent)),
        (false, None, _) => {}
    }
    if let (true, Some(received)) = (is_out, received) {
        let what = Value::Object(span(interval, received.bytes));
        fields.insert("receiver".to_owned(), what);
    }
    extended(
        fields,
        value!({ "omitted": interval.is_omitted, "sender": is_out }),
    )
}

fn sum(account: &Account, interval: &Interval, is_out: bool) -> Map<String, Value> {
    let Sum {
        is_known,
        sent,
        received,
    } = interval.sum(is_out);
    let known = (is_known.0.then_some(&sent), is_known.1.then_some(&received));
    both(account, interval, is_out, known)
}

fn interval(account: &Account, interval: &Interval) -> Value {
    let streams = interval.streams.iter().enumerate().map(|(at, one)| {
        let known = (one.sent.as_ref(), one.received.as_ref());
        let fields = both(account, interval, one.is_out, known);
        Value::Object(extended(fields, value!({ "socket": at })))
    });
    let mut all = Map::new();
    all.insert("streams".to_owned(), streams.collect());
    for (is_out, end) in sums(account) {
        let of = sum(account, interval, *is_out);
        all.insert(format!("sum{end}"), Value::Object(of));
    }
    Value::Object(all)
}

/// The ways, and what ends the names of what is of them.
fn sums(account: &Account) -> &'static [(bool, &'static str)] {
    match account.wish.direction {
        Direction::Forward => &[(true, "")],
        Direction::Reverse => &[(false, "")],
        Direction::Both => &[(true, ""), (false, "_bidir_reverse")],
    }
}

fn end(account: &Account) -> Value {
    let whole = &account.whole;
    let streams = whole.streams.iter().enumerate().map(|(at, one)| {
        let named = value!({ "socket": at, "sender": one.is_out });
        if is_udp(account) {
            let bytes = one.received.map_or(0, |told| told.bytes);
            let mut fields = span(whole, bytes);
            if let Some(received) = &one.received {
                fields = extended(fields, of_udp(received));
            }
            if let Some(sent) = &one.sent {
                fields = extended(fields, value!({ "packets": sent.packets }));
            }
            return value!({ "udp": extended(fields, named) });
        }
        let (sent, received) = (one.sent, one.received);
        let sender = span(whole, sent.map_or(0, |told| told.bytes));
        let window = |of| most(&account.intervals, at, of);
        let rtt = over(&account.intervals, at, |told| told.rtt_us);
        let more = value!({
            "retransmits": sent.map(|told| told.retransmitted),
            "max_snd_cwnd": window(|told| told.cwnd_bytes),
            "max_snd_wnd": window(|told| told.window_bytes),
            "max_rtt": rtt.map(|(_, _, most)| most),
            "min_rtt": rtt.map(|(least, _, _)| least),
            "mean_rtt": rtt.map(|(_, mean, _)| mean.round() as u64),
        });
        let receiver = span(whole, received.map_or(0, |told| told.bytes));
        value!({
            "sender": extended(extended(sender, more), named.clone()),
            "receiver": extended(receiver, named),
        })
    });
    let mut all = Map::new();
    all.insert("streams".to_owned(), streams.collect());
    for (is_out, end) in sums(account) {
        let of = whole.sum(*is_out);
        let named = value!({ "sender": is_out });
        let mut sent = span(whole, of.sent.bytes);
        let mut received = span(whole, of.received.bytes);
        if is_udp(account) {
            // As iperf3 has it of a sender, which knows of no loss.
            let unknown = value!({ "jitter_ms": 0, "lost_packets": 0, "lost_percent": 0 });
            sent = extended(sent, unknown);
            sent.insert("packets".to_owned(), value!(of.sent.packets));
            received = extended(received, of_udp(&of.received));
            received.insert("packets".to_owned(), value!(of.sent.packets));
            let sum = extended(received.clone(), named.clone());
            all.insert(format!("sum{end}"), Value::Object(sum));
        } else {
            sent = extended(sent, value!({ "retransmits": of.sent.retransmitted }));
        }
        let sent = extended(sent, named.clone());
        all.insert(format!("sum_sent{end}"), Value::Object(sent));
        let received = extended(received, named);
        all.insert(format!("sum_received{end}"), Value::Object(received));
    }
    let share = |told: Option<Told>| {
        told.map(|told| 100.0 * told.cpu_ns as f64 / 1e9 / whole.seconds().max(1e-9))
    };
    let first = whole.streams.first();
    let ends = first.map(|one| {
        if one.is_out {
            (one.sent, one.received)
        } else {
            (one.received, one.sent)
        }
    });
    let (own, theirs) = ends.unwrap_or_default();
    all.insert(
        "cpu_utilization_percent".to_owned(),
        value!({ "host_total": share(own), "remote_total": share(theirs) }),
    );
    if !is_udp(account) {
        let (own, theirs) = &account.congestion;
        let (sender, receiver) = match account.wish.direction {
            Direction::Reverse => (theirs, own),
            _ => (own, theirs),
        };
        all.insert("sender_tcp_congestion".to_owned(), value!(sender));
        all.insert("receiver_tcp_congestion".to_owned(), value!(receiver));
    }
    Value::Object(all)
}
