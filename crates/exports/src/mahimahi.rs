//! A path as Mahimahi's shells: `mm-delay`, `mm-loss` and `mm-link`.
//!
//! Senders run inside the shells, so data is the uplink. `mm-link` has no rates: it delivers 1504
//! bytes at each millisecond of a trace, so a constant rate is a trace of evenly spread deliveries.
//! Its length is what that many take, to a millisecond: about ten seconds, and the time of one
//! delivery where the rate is so low that this takes longer.
//!
//! Source: the manual pages of Mahimahi 0.98 (`mm-link(1)`, `mm-delay(1)`, `mm-loss(1)`).

use crate::shape::{Losses, Shape, Way};
use crate::{Script, comment, said};
use trammel_core::entry::Params;
use trammel_core::time::Span;
use trammel_scenario::model::Scenario;
use trammel_scenario::path::{Limit, Trace};

/// About how long a trace of a constant rate is before it repeats, in milliseconds: a millisecond
/// of that is a ten-thousandth of the rate.
const PERIOD_MS: u64 = 10_000;

/// The path of `scenario`, which is of the file `name`, as a shell script.
///
/// # Errors
/// Where the scenario has no path that can be emulated.
pub fn script(name: &str, scenario: &Scenario) -> Result<Script, String> {
    let shape = Shape::of(scenario)?;
    let mut left_out = shape.left_out.clone();
    let mut changed = Vec::new();
    let delay_ms = whole_ms(shape.data.delay, 0);
    if Span::from_ms(delay_ms) != shape.data.delay {
        let wanted = shape.data.delay.as_secs_f64() * 1e3;
        changed.push(format!(
            "a delay of {delay_ms} ms in place of {wanted} ms in each direction, a round trip of \
             {} ms in place of {} ms: mm-delay has whole milliseconds",
            2 * delay_ms,
            2.0 * wanted
        ));
    }
    if shape.data.jitter.is_some() {
        left_out.push("jitter: Mahimahi has none".to_owned());
    }
    for (is_there, what) in [
        (shape.data.burst.is_some(), "`burst`"),
        (
            shape.data.grants.is_some() || shape.back.grants.is_some(),
            "`grants`",
        ),
        (shape.data.delay_limit.is_some(), "`delay_limit`"),
    ] {
        if is_there {
            left_out.push(format!("{what}: Mahimahi has none"));
        }
    }
    let mut shells = format!("mm-delay {delay_ms}");
    for (link, way) in [("uplink", &shape.data), ("downlink", &shape.back)] {
        match way.losses {
            Some(Losses::Independent(share)) => shells += &format!(" mm-loss {link} {share}"),
            Some(Losses::Gilbert(..)) => {
                left_out.push("losses in two states: mm-loss loses each by itself".to_owned());
            }
            None => {}
        }
    }
    let (data, up) = trace(&shape.data, "up");
    let (back, down) = trace(&shape.back, "down");
    let queue = queue(&shape.data, &mut left_out, &mut changed);
    let head = format!(
        "#!/bin/sh\n{}# usage: sh FILE [COMMAND]\n{}set -eu\n",
        comment::line(&format!(
            "The path of {name} as shells of Mahimahi; what runs inside sends data."
        )),
        said(&left_out, &changed)
    );
    let text = format!(
        "{head}my=$(mktemp -d)\ntrap 'rm -r \"$my\"' EXIT\n# mm-link delivers 1504 bytes at each \
         millisecond of a trace.\n{data}{back}# {delay_ms} ms in each direction\n{shells} \\\n    \
         mm-link {up} {down} {queue} \\\n    --downlink-queue=infinite -- \"${{@:-sh}}\"\n"
    );
    Ok(Script {
        text,
        left_out,
        changed,
    })
}

/// A time in whole milliseconds, the nearest, and at least so many.
fn whole_ms(span: Span, least: u64) -> u64 {
    ((span.as_secs_f64() * 1e3).round() as u64).max(least)
}

/// How many deliveries a trace of a constant rate has, and how long it is in milliseconds.
fn deliveries(bps: u64) -> (u64, u64) {
    let bits = Trace::BYTES * 8;
    let nearest = |of: u128, by: u128| ((of + by / 2) / by.max(1)) as u64;
    let [bps, bits] = [bps.into(), u128::from(bits)];
    let count = nearest(bps * u128::from(PERIOD_MS), bits * 1000).max(1);
    let ms = nearest(u128::from(count) * bits * 1000, bps).max(1);
    (count, ms)
}

/// The lines that make a trace, and the trace's file.
///
/// The scenario's own is in the script too: its file is beside the scenario, and the script is run
/// anywhere.
fn trace(way: &Way, name: &str) -> (String, String) {
    let file = format!("\"$my/{name}\"");
    if let Some(trace) = &way.trace {
        let mut lines = comment::line(&format!("{name}: the trace `{}`", trace.file));
        lines += &format!("cat > {file} <<'END'\n");
        for at_ms in &trace.opportunities_ms {
            lines += &format!("{at_ms}\n");
        }
        return (lines + "END\n", file);
    }
    let (packets, ms) = deliveries(way.rate.as_bps());
    let seconds = ms as f64 / 1e3;
    let bits = packets * Trace::BYTES * 8;
    let rate = (bits as f64 / seconds).round() / 1e6;
    let word = if packets == 1 {
        "delivery"
    } else {
        "deliveries"
    };
    let line = format!(
        "# {name}: {rate} Mbit/s as {packets} {word} in {seconds} s\nawk 'BEGIN {{ n = \
         {packets}; for (i = 1; i <= n; i++) printf \"%d\\n\", int(i * {ms} / n) }}' > {file}\n"
    );
    (line, file)
}

/// The options of the uplink's queue.
fn queue(way: &Way, left_out: &mut Vec<String>, changed: &mut Vec<String>) -> String {
    let packets = way.limit_packets;
    let limit = match way.limit {
        Limit::Bytes(bytes) => format!("bytes={bytes}"),
        Limit::Packets(_) | Limit::Bdp(_) => format!("packets={packets}"),
    };
    let mut ms = |params: &Params, key: &str| {
        let span = params.time(key);
        let whole = whole_ms(span, 1);
        if Span::from_ms(whole) != span {
            changed.push(format!(
                "`{key}` of {whole} ms in place of {} ms: Mahimahi has whole milliseconds",
                span.as_secs_f64() * 1e3
            ));
        }
        whole
    };
    let law = way.law.as_ref();
    match law.map(|(about, params)| (about.name, params)) {
        Some(("codel", params)) => format!(
            "--uplink-queue=codel --uplink-queue-args=\"packets={packets},target={},interval={}\"",
            ms(params, "target"),
            ms(params, "interval")
        ),
        Some(("pie", params)) => format!(
            "--uplink-queue=pie \
             --uplink-queue-args=\"packets={packets},qdelay_ref={},max_burst={}\"",
            ms(params, "target"),
            ms(params, "max_burst")
        ),
        Some(("droptail", _)) | None => {
            format!("--uplink-queue=droptail --uplink-queue-args=\"{limit}\"")
        }
        Some((name, _)) => {
            left_out.push(format!(
                "the law `{name}`: Mahimahi has droptail, CoDel and PIE; droptail stands for it"
            ));
            format!("--uplink-queue=droptail --uplink-queue-args=\"{limit}\"")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::entry::Value;
    use trammel_core::units::Rate;
    use trammel_scenario::path::Queue;

    #[test]
    fn a_constant_rate_is_a_trace_of_deliveries() {
        let scenario = Scenario::dumbbell()
            .rate(Rate::from_bps(20_000_000))
            .rtt(Span::from_ms(31));
        let script = script("a.toml", &scenario).expect("it has a path");
        // 20 Mbit/s × 10 s / 12,032 bits = 16,622.3.
        assert!(script.text.contains("n = 16622;"), "{}", script.text);
        let shells = "mm-delay 16 \\\n    mm-link \"$my/up\" \"$my/down\" --uplink-queue=droptail \
                      --uplink-queue-args=\"packets=51\"";
        assert!(script.text.contains(shells), "{}", script.text);
        assert_eq!(script.left_out, Vec::<String>::new());
        let changed = "a delay of 16 ms in place of 15.5 ms in each direction, a round trip of 32 \
                       ms in place of 31 ms: mm-delay has whole milliseconds";
        assert_eq!(script.changed, [changed]);
        let line = format!("\n# Changed: {changed}\n");
        assert!(script.text.contains(&line), "{}", script.text);
    }

    #[test]
    fn a_low_rate_has_as_many_seconds_as_its_deliveries_take() {
        // 12,032 bits a delivery: 8 at 10 kbit/s take 9.6256 s.
        for (bps, expected) in [
            (1, (1, 12_032_000)),
            (2_000, (2, 12_032)),
            (10_000, (8, 9_626)),
            (20_000_000, (16_622, 10_000)),
        ] {
            assert_eq!(deliveries(bps), expected, "{bps}");
        }
        for bps in (0..34)
            .map(|power| 1_u64 << power)
            .chain([3, 999, 1_750, 10_000_000_000])
        {
            let (count, ms) = deliveries(bps);
            let rate = (count * 12_032) as f64 / (ms as f64 / 1e3);
            let off = (rate / bps as f64 - 1.0).abs();
            assert!(off < 1e-4, "{rate} for {bps}");
        }
        let scenario = Scenario::dumbbell().rate(Rate::from_bps(10_000));
        let script = script("a.toml", &scenario).expect("it has a path");
        assert!(
            script
                .text
                .contains("# up: 0.01 Mbit/s as 8 deliveries in 9.626 s\n"),
            "{}",
            script.text
        );
        assert!(script.text.contains("int(i * 9626 / n)"), "{}", script.text);
    }

    #[test]
    fn a_time_of_a_law_that_is_rounded_is_said() {
        let queue = Queue::new("codel").param("target", Value::Time(Span::from_us(2_500)));
        let scenario = Scenario::dumbbell().rtt(Span::from_ms(20)).queue(queue);
        let script = script("a.toml", &scenario).expect("it has a path");
        assert!(
            script.text.contains("target=3,interval=100"),
            "{}",
            script.text
        );
        assert_eq!(
            script.changed,
            ["`target` of 3 ms in place of 2.5 ms: Mahimahi has whole milliseconds"]
        );
    }

    #[test]
    fn a_trace_is_in_the_script_and_its_name_is_no_command() {
        let trace = Trace::parse("t\ntouch PWNED #", "2\n4\n4\n").expect("it is a trace");
        let scenario = Scenario::dumbbell().path(|path| path.line.trace = Some(trace));
        let script = script("u\ntouch PWNED #.toml", &scenario).expect("it has a path");
        let text = &script.text;
        assert!(
            text.contains("cat > \"$my/up\" <<'END'\n2\n4\n4\nEND\n"),
            "{text}"
        );
        assert!(text.contains(" mm-link \"$my/up\" \"$my/down\" "), "{text}");
        assert!(!text.contains("\ntouch"), "{text}");
    }
}
