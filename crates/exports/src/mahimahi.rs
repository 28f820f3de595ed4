//! A path as Mahimahi's shells: `mm-delay`, `mm-loss` and `mm-link`.
//!
//! Senders run inside the shells, so data is the uplink. `mm-link` has no rates: it delivers 1504
//! bytes at each millisecond of a trace, so a constant rate is a trace of evenly spread deliveries.
//!
//! Source: the manual pages of Mahimahi 0.98 (`mm-link(1)`, `mm-delay(1)`, `mm-loss(1)`).

use crate::shape::{Losses, Shape, Way};
use crate::{Script, comment, said};
use trammel_core::time::Span;
use trammel_scenario::model::Scenario;
use trammel_scenario::path::{Limit, Trace};

/// How long a trace of a constant rate is before it repeats, in milliseconds: a rate is met to one
/// packet of that.
const PERIOD_MS: u64 = 10_000;

/// The path of `scenario`, which is of the file `name`, as a shell script.
///
/// # Errors
/// Where the scenario has no path that can be emulated.
pub fn script(name: &str, scenario: &Scenario) -> Result<Script, String> {
    let shape = Shape::of(scenario)?;
    let mut left_out = shape.left_out.clone();
    let delay_ms = (shape.data.delay.as_secs_f64() * 1e3).round() as u64;
    if Span::from_ms(delay_ms) != shape.data.delay {
        left_out.push(format!(
            "a delay of {} ms in each direction: mm-delay has whole milliseconds",
            shape.data.delay.as_secs_f64() * 1e3
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
    let queue = queue(&shape.data, &mut left_out);
    let head = format!(
        "#!/bin/sh\n{}# usage: sh FILE [COMMAND]\n{}set -eu\n",
        comment::line(&format!(
            "The path of {name} as shells of Mahimahi; what runs inside sends data."
        )),
        said(&left_out)
    );
    let text = format!(
        "{head}my=$(mktemp -d)\ntrap 'rm -r \"$my\"' EXIT\n# mm-link delivers 1504 bytes at each \
         millisecond of a trace.\n{data}{back}# {delay_ms} ms in each direction\n{shells} \\\n    \
         mm-link {up} {down} {queue} \\\n    --downlink-queue=infinite -- \"${{@:-sh}}\"\n"
    );
    Ok(Script { text, left_out })
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
    let bits = Trace::BYTES * 8;
    let packets = (way.rate.as_bps() as f64 * PERIOD_MS as f64 / 1e3 / bits as f64)
        .round()
        .max(1.0);
    let rate = (packets * bits as f64 / (PERIOD_MS as f64 / 1e3)).round() / 1e6;
    let line = format!(
        "# {name}: {rate} Mbit/s as {packets} deliveries in {} s\nawk 'BEGIN {{ n = {packets}; for \
         (i = 1; i <= n; i++) printf \"%d\\n\", int(i * {PERIOD_MS} / n) }}' > {file}\n",
        PERIOD_MS / 1000
    );
    (line, file)
}

/// The options of the uplink's queue.
fn queue(way: &Way, left_out: &mut Vec<String>) -> String {
    let packets = way.limit_packets;
    let limit = match way.limit {
        Limit::Bytes(bytes) => format!("bytes={bytes}"),
        Limit::Packets(_) | Limit::Bdp(_) => format!("packets={packets}"),
    };
    let ms = |span: Span| (span.as_secs_f64() * 1e3).round().max(1.0);
    let law = way.law.as_ref();
    match law.map(|(about, params)| (about.name, params)) {
        Some(("codel", params)) => format!(
            "--uplink-queue=codel --uplink-queue-args=\"packets={packets},target={},interval={}\"",
            ms(params.time("target")),
            ms(params.time("interval"))
        ),
        Some(("pie", params)) => format!(
            "--uplink-queue=pie \
             --uplink-queue-args=\"packets={packets},qdelay_ref={},max_burst={}\"",
            ms(params.time("target")),
            ms(params.time("max_burst"))
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
    use trammel_core::units::Rate;

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
        assert_eq!(script.left_out.len(), 1, "15.5 ms are no whole ones");
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
