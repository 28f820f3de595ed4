//! Reads `[path]` and what it has in common with `[[link]]`.

use super::{plugin, schedule};
use crate::keys::{LONGEST_S, WIFI_STANDARDS};
use crate::path::{
    Access, Direction, Grants, Jitter, Limit, Line, Loss, Path, Queue, Reorder, Trace, Wifi,
};
use crate::reader::Reader;
use crate::registry::Family;
use crate::tree::Value;
use trammel_core::entry::About;
use trammel_core::time::Span;
use trammel_core::units::{Dimension, Rate};

/// `[path]`.
pub(super) fn path(r: &Reader<'_>) -> Option<Path> {
    let wifi = r.table("wifi").map(|wifi| Wifi {
        standard: WIFI_STANDARDS[wifi.word("standard").unwrap_or(0)].to_owned(),
        received_power_dbm: wifi.number("received_power").unwrap_or_default(),
        distance_m: wifi.number("distance"),
        stations: wifi.whole("stations").unwrap_or(1) as u32,
    });
    let access = r.table("access").and_then(|access| {
        let (rate, delay) = (access.rate("rate"), access.span("delay"));
        Some(Access {
            rate: rate?,
            delay: delay?,
        })
    });
    // A preset gives both; one that is unknown has been noted.
    if r.entry("rtt").is_none() && r.entry("preset").is_none() {
        r.missing("rtt");
    }
    r.text("preset");
    let rtt = r.span("rtt");
    let line = line(r, wifi.as_ref().map(|_| Wifi::FASTEST));
    Some(Path {
        line: line?,
        rtt: rtt?,
        access,
        wifi,
    })
}

/// The keys that `[path]` and `[[link]]` share; `rate` is what stands for a rate that is not given.
pub(crate) fn line(r: &Reader<'_>, rate: Option<Rate>) -> Option<Line> {
    let trace = trace(r, "trace");
    let ack_trace = self::trace(r, "ack_trace");
    let default = rate.or_else(|| trace.as_ref().map(Trace::mean_rate));
    let has_preset = r.table.get("preset").is_some();
    if r.entry("rate").is_none() && default.is_none() && !has_preset && r.entry("trace").is_none() {
        r.missing("rate");
    }
    let rate = r.rate("rate");
    let mut line = Line::new(Rate::from_bps(1));
    if let Some(rate) = r.rate("ack_rate") {
        line.ack_rate = rate;
    } else if let Some(trace) = &ack_trace {
        line.ack_rate = trace.mean_rate();
    } else if let Some(rate) = rate.or(default) {
        line.ack_rate = rate;
    }
    line.overhead = r.bytes("overhead").unwrap_or_default() as u32;
    line.burst = r.bytes("burst");
    line.mtu = r.whole("mtu").unwrap_or(1500) as u32;
    if let Some(queue) = r.table("queue") {
        line.queue = self::queue(&queue);
    }
    line.loss = r.table("loss").and_then(|loss| {
        let directions = [Direction::Data, Direction::Ack, Direction::Both];
        let (model, direction) = (plugin::beside(&loss, "model", None), loss.word("direction"));
        Some(Loss {
            model: model?,
            direction: directions[direction?],
        })
    });
    line.processing = r.span("processing");
    line.jitter = jitter(r);
    match r.entry("reorder").map(|entry| &entry.node.value) {
        Some(Value::Bool(overtakes)) => line.overtakes = *overtakes,
        _ => {
            line.reorder = r.table("reorder").and_then(|reorder| {
                let (probability, delay) = (reorder.number("probability"), reorder.span("delay"));
                Some(Reorder {
                    probability: probability?,
                    delay: delay?,
                })
            });
        }
    }
    schedule::read(r, &mut line);
    line.grants = r.table("grants").and_then(|grants| {
        let (every, packets) = (grants.span("every"), grants.whole("packets"));
        Some(Grants {
            every: every?,
            packets: packets? as u32,
            direction: schedule::way(&grants)?,
        })
    });
    line.delay_limit = r.whole("delay_limit").map(|packets| packets as u32);
    line.ack_trace = ack_trace;
    line.trace = trace;
    line.rate = rate.or(default)?;
    Some(line)
}

fn queue(r: &Reader<'_>) -> Queue {
    let discipline = plugin::beside(r, "discipline", None).unwrap_or_else(|| "droptail".into());
    let limit = match r.quantity("limit") {
        Some(limit) => match limit.dimension {
            Dimension::Bytes => Limit::Bytes(limit.value.round() as u64),
            Dimension::Bdp => Limit::Bdp(limit.value),
            _ => Limit::Packets(limit.value.round().max(1.0) as u32),
        },
        None => Limit::usual(&discipline.name),
    };
    // A discipline that can mark declares `ecn` as its parameter and has taken it from here.
    let can_mark = |about: &About| about.params.iter().any(|param| param.name == "ecn");
    let about = discipline.about(Family::Discipline);
    if r.flag("ecn") == Some(true)
        && about.is_ok_and(|about| !can_mark(about))
        && let Some(entry) = r.entry("ecn")
    {
        let what = format!("`{}` cannot mark packets", discipline.name);
        let help = "remove `ecn`, or take a discipline that marks";
        r.cx.fault(&entry.span, what, "it drops them only", help);
    }
    Queue { discipline, limit }
}

fn jitter(r: &Reader<'_>) -> Option<Jitter> {
    let entry = r.entry("jitter")?;
    if let Value::Table(_) = entry.node.value {
        let inner = r.table("jitter")?;
        let drawn = plugin::beside(&inner, "distribution", Some(Dimension::Time));
        return drawn.map(Jitter::Drawn);
    }
    let most = r.measured("jitter", &entry.node, &[Dimension::Time])?.value;
    if !(0.0..=LONGEST_S).contains(&most) {
        let what = format!(
            "`{}` cannot be `{}`",
            r.dotted("jitter"),
            entry.node.brief()
        );
        let why = if most < 0.0 {
            "must not be negative".to_owned()
        } else {
            format!("must be at most {LONGEST_S} s")
        };
        r.cx.fault(&entry.node.span, what, why, "");
    }
    Some(Jitter::Uniform(Span::from_secs_f64(most)))
}

/// Reads the trace file that the key names, relative to the scenario file.
fn trace(r: &Reader<'_>, key: &str) -> Option<Trace> {
    let name = r.text(key)?;
    let span = &r.entry(key)?.node.span;
    let what = format!("the trace `{name}` cannot be used");
    let text = match std::fs::read_to_string(r.cx.dir.join(&name)) {
        Ok(text) => text,
        Err(error) => {
            let help = "give a file relative to the scenario file";
            r.cx.fault(span, what, error.to_string(), help);
            return None;
        }
    };
    match Trace::parse(&name, &text) {
        Ok(trace) => Some(trace),
        Err(why) => {
            let help = "one whole number of milliseconds a line, never falling";
            r.cx.fault(span, what, why, help);
            None
        }
    }
}
