//! The account of a test of a path, for people.

use super::{Account, Interval, Pair, Sum, over};
use trammel_stats::stats::jain;
use trammel_stats::table::format_float;
use trammel_traffic::link::{Direction, Told, Wish};
use trammel_traffic::record::Protocol;

/// `value` with the prefix that leaves one to three digits before its point.
fn scaled(value: f64, unit: &str) -> String {
    let (mut value, mut prefixes) = (value, ["", "k", "M", "G", "T"].iter());
    let mut prefix = prefixes.next().unwrap_or(&"");
    while value.abs() >= 999.5 {
        let Some(next) = prefixes.next() else {
            break;
        };
        value /= 1000.0;
        prefix = next;
    }
    format!("{} {prefix}{unit}", format_float(value, 3))
}

fn rate(bps: f64) -> String {
    scaled(bps, "bit/s")
}

fn bytes(count: u64) -> String {
    scaled(count as f64, "B")
}

/// A time in milliseconds.
fn ms(ns: f64) -> String {
    format!("{} ms", format_float(ns / 1e6, 3))
}

fn percent(part: u64, of: u64) -> String {
    if of == 0 {
        return "0 %".to_owned();
    }
    format!("{} %", format_float(100.0 * part as f64 / of as f64, 3))
}

fn is_udp(wish: &Wish) -> bool {
    wish.protocol == Protocol::Udp
}

/// What is tested, in one line.
pub fn head(to: &str, wish: &Wish) -> String {
    let way = match wish.direction {
        Direction::Forward => "to",
        Direction::Reverse => "from",
        Direction::Both => "to and from",
    };
    let streams = match wish.streams {
        1 => "1 stream".to_owned(),
        several if wish.direction == Direction::Both => format!("{several} streams each way"),
        several => format!("{several} streams"),
    };
    let by = if is_udp(wish) {
        format!(
            "UDP, {} of payload a stream in datagrams of {} bytes",
            rate(wish.rate_bps as f64),
            wish.datagram_bytes
        )
    } else {
        match wish.rate_bps {
            0 => "TCP".to_owned(),
            bps => format!("TCP at {} a stream", rate(bps as f64)),
        }
    };
    let secs = |time: std::time::Duration| format_float(time.as_secs_f64(), 6);
    let long = match wish.bytes {
        0 => format!("{} s", secs(wish.duration)),
        count => bytes(count),
    };
    let after = match wish.omit {
        std::time::Duration::ZERO => String::new(),
        omit => format!(" after {} s that are not counted", secs(omit)),
    };
    format!("{way} {to} by {by}, {streams}, {long}{after}")
}

/// The names of what a line has.
pub fn header(wish: &Wish) -> String {
    let way = if wish.direction == Direction::Both {
        "way      "
    } else {
        ""
    };
    if is_udp(wish) {
        format!(
            "{:<14}{way}{:<15}{:<20}{:<12}{}",
            "seconds", "received", "lost", "jitter", "one-way delay, mean and greatest"
        )
    } else {
        format!(
            "{:<14}{way}{:<15}{:<15}{:<15}{:<12}{}",
            "seconds", "goodput", "sent", "retransmitted", "RTT", "cwnd"
        )
    }
}

/// The ways that a test goes: whether this end sends, and its name.
fn ways(wish: &Wish) -> Vec<(bool, &'static str)> {
    match wish.direction {
        Direction::Forward => vec![(true, "forward")],
        Direction::Reverse => vec![(false, "reverse")],
        Direction::Both => vec![(true, "forward"), (false, "reverse")],
    }
}

/// An interval, a line for each way.
pub fn line(wish: &Wish, interval: &Interval) -> String {
    let lines = ways(wish).into_iter().map(|(is_out, name)| {
        let sum = interval.sum(is_out);
        let span = format!("{:.1} - {:.1}", interval.from, interval.to);
        let way = if wish.direction == Direction::Both {
            format!("{name:<9}")
        } else {
            String::new()
        };
        let what = if is_udp(wish) {
            udp(interval, &sum)
        } else {
            tcp(interval, &sum)
        };
        let omitted = if interval.is_omitted {
            "  (omitted)"
        } else {
            ""
        };
        format!("{span:<14}{way}{}{omitted}", what.trim_end())
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn tcp(interval: &Interval, sum: &Sum) -> String {
    let goodput = known(sum.is_known.1, || rate(interval.rate(sum.received.bytes)));
    let of_sender = |what: &dyn Fn(&Told) -> String| known(sum.is_known.0, || what(&sum.sent));
    format!(
        "{goodput:<15}{:<15}{:<15}{:<12}{}",
        of_sender(&|sent| rate(interval.rate(sent.bytes))),
        of_sender(&|sent| sent.retransmitted.to_string()),
        of_sender(&|sent| ms(sent.rtt_us as f64 * 1e3)),
        of_sender(&|sent| bytes(sent.cwnd_bytes)),
    )
}

fn udp(interval: &Interval, sum: &Sum) -> String {
    if !sum.is_known.1 {
        return "not told".to_owned();
    }
    let came = &sum.received;
    let expected = came.packets + came.lost;
    let lost = format!("{} ({})", came.lost, percent(came.lost, expected));
    let delay = match came.delays {
        0 => String::new(),
        _ => format!(
            "{}, {}",
            ms(came.delay_mean_ns as f64),
            ms(came.delay_max_ns as f64)
        ),
    };
    format!(
        "{:<15}{lost:<20}{:<12}{delay}",
        rate(interval.rate(came.bytes)),
        ms(came.jitter_ns as f64)
    )
}

fn known(is_known: bool, what: impl Fn() -> String) -> String {
    if is_known {
        what()
    } else {
        "not told".to_owned()
    }
}

/// What came of it.
pub fn summary(account: &Account) -> String {
    let (wish, whole) = (&account.wish, &account.whole);
    let mut text = String::new();
    for (is_out, name) in ways(wish) {
        if wish.direction == Direction::Both {
            text += &format!("{name}\n");
        }
        let sum = whole.sum(is_out);
        text += &if is_udp(wish) {
            summary_of_udp(whole, &sum)
        } else {
            summary_of_tcp(account, is_out, &sum)
        };
        text += &each(whole, is_out);
    }
    if let Some(why) = &account.fault {
        text += &format!("stopped        before its end: {why}\n");
    }
    text
}

fn summary_of_tcp(account: &Account, is_out: bool, sum: &Sum) -> String {
    let whole = &account.whole;
    let mut text = if sum.is_known.1 {
        // Of a receiver that went before the end: over what it has told of.
        let told = account.intervals.iter();
        let told = told.filter(|one| !one.is_omitted && one.sum(is_out).is_known.1);
        let to = match account.fault {
            Some(_) => told.map(|one| one.to).fold(0.0, f64::max),
            None => whole.to,
        };
        let over = Interval {
            from: whole.from,
            to,
            is_omitted: false,
            streams: Vec::new(),
        };
        format!(
            "goodput        {}: {} in {} s, as its receiver counted\n",
            rate(over.rate(sum.received.bytes)),
            bytes(sum.received.bytes),
            format_float(to, 4)
        )
    } else {
        "goodput        unknown: the receiver did not report\n".to_owned()
    };
    if !sum.is_known.0 {
        return text;
    }
    text += &format!(
        "sent           {}: {}, as given to the kernel\n",
        rate(whole.rate(sum.sent.bytes)),
        bytes(sum.sent.bytes)
    );
    text += &match sum.sent.retransmitted {
        1 => "retransmitted  1 segment\n".to_owned(),
        several => format!("retransmitted  {several} segments\n"),
    };
    let first = whole.streams.iter().position(|one| one.is_out == is_out);
    let streams = || (0..whole.streams.len()).filter(|at| whole.streams[*at].is_out == is_out);
    let rtts: Vec<_> = streams()
        .filter_map(|at| over(&account.intervals, at, |one| one.rtt_us))
        .collect();
    if let (Some(least), Some(greatest)) = (
        rtts.iter().map(|one| one.0).min(),
        rtts.iter().map(|one| one.2).max(),
    ) {
        let mean = rtts.iter().map(|one| one.1).sum::<f64>() / rtts.len() as f64;
        text += &format!(
            "RTT            {} on average, {} to {}, smoothed, at the ends of intervals; minimum \
             {}\n",
            ms(mean * 1e3),
            ms(least as f64 * 1e3),
            ms(greatest as f64 * 1e3),
            ms(sum.sent.min_rtt_us as f64 * 1e3)
        );
    }
    let cwnd = first.and_then(|at| over(&account.intervals, at, |one| one.cwnd_bytes));
    if let Some((_, _, greatest)) = cwnd {
        let of = match streams().count() {
            1 => "",
            _ => " of the first stream",
        };
        text += &format!("cwnd           {} at most{of}\n", bytes(greatest));
    }
    let control = if is_out {
        &account.congestion.0
    } else {
        &account.congestion.1
    };
    if let Some(control) = control {
        text += &format!("control        {control}\n");
    }
    text
}

fn summary_of_udp(whole: &Interval, sum: &Sum) -> String {
    if !sum.is_known.1 {
        return "received       unknown: the receiver did not report\n".to_owned();
    }
    let came = &sum.received;
    let sent = if sum.is_known.0 {
        sum.sent.packets
    } else {
        came.packets + came.lost
    };
    let mut text = format!(
        "received       {} of payload: {} of {sent} datagrams in {} s\n",
        rate(whole.rate(came.bytes)),
        came.packets,
        format_float(whole.seconds(), 4)
    );
    text += &format!(
        "lost           {} ({})\n",
        came.lost,
        percent(came.lost, sent)
    );
    if came.duplicates > 0 || came.reordered > 0 {
        text += &format!(
            "copies         {}, and {} out of order\n",
            came.duplicates, came.reordered
        );
    }
    text += &format!(
        "jitter         {}, RFC 3550, at the end\n",
        ms(came.jitter_ns as f64)
    );
    if came.delays > 0 {
        text += &format!(
            "delay          one way {} on average, {} to {}; between two hosts it includes the \
             difference of their clocks\n",
            ms(came.delay_mean_ns as f64),
            ms(came.delay_min_ns as f64),
            ms(came.delay_max_ns as f64)
        );
    }
    text
}

/// How equal several streams of one way are.
fn each(whole: &Interval, is_out: bool) -> String {
    let came = |one: &Pair| one.received.map(|told| whole.rate(told.bytes));
    let of = whole.streams.iter().filter(|one| one.is_out == is_out);
    let rates: Vec<f64> = of.filter_map(came).collect();
    if rates.len() < 2 {
        return String::new();
    }
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = rates.iter().copied().fold(0.0, f64::max);
    let index = jain(&rates).map_or_else(String::new, |index| {
        format!("; Jain's index {}", format_float(index, 3))
    });
    format!(
        "streams        {}, each {} to {}{index}\n",
        rates.len(),
        rate(least),
        rate(greatest)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_prefix_that_reads_best() {
        assert_eq!(rate(0.0), "0 bit/s");
        assert_eq!(rate(999.4), "999 bit/s");
        assert_eq!(rate(999.6), "1 kbit/s");
        assert_eq!(rate(17_400_427_049.0), "17.4 Gbit/s");
        assert_eq!(bytes(3_405_116), "3.41 MB");
        assert_eq!(ms(88_000.0), "0.088 ms");
        assert_eq!(percent(1, 3), "33.3 %");
        assert_eq!(percent(0, 0), "0 %");
    }
}
