//! What of a traffic scenario cannot be measured: asked when its file is read, so that
//! `trammel check` knows it, and when it is measured.

use crate::check::Fault;
use crate::path::Limit;
use crate::traffic::{Path, Traffic};

/// Streams that are measured at once: each has threads and sockets of its own.
const MOST_STREAMS: usize = 256;

/// What stands against measuring `traffic`; nothing where it can be.
pub fn refusals(traffic: &Traffic) -> Vec<Fault> {
    let mut faults = of_path(&traffic.path);
    let count = traffic.streams.len();
    if count > MOST_STREAMS {
        faults.push(Fault {
            place: "stream".to_owned(),
            what: format!("{count} streams cannot be measured"),
            why: format!("{MOST_STREAMS} are sent and received at once, at most"),
            help: "lower `count`, or leave out engine `measure`".to_owned(),
        });
    }
    faults
}

/// What of a path is not emulated.
pub fn of_path(path: &Path) -> Vec<Fault> {
    let line = &path.line;
    let unlike = [
        ("jitter", line.jitter.is_some()),
        ("reorder", line.reorder.is_some() || line.overtakes),
        ("grants", line.grants.is_some()),
        ("delay_limit", line.delay_limit.is_some()),
        ("schedule", !line.schedule.is_empty()),
        ("trace", line.trace.is_some()),
        ("ack_trace", line.ack_trace.is_some()),
        ("burst", line.burst.is_some()),
        ("overhead", line.overhead != 14),
        ("queue.discipline", line.queue.discipline.name != "droptail"),
        ("queue.limit", matches!(line.queue.limit, Limit::Bytes(_))),
    ];
    let fault = |key: &str| Fault {
        place: format!("path.{key}"),
        what: format!("`path.{key}` as it is cannot be measured"),
        why:
            "a path in user space has one rate and delay, losses, and a `droptail` queue of packets"
                .to_owned(),
        help: "leave it out, or leave out engine `measure`".to_owned(),
    };
    unlike
        .iter()
        .filter(|(_, is_given)| *is_given)
        .map(|(key, _)| fault(key))
        .collect()
}
