//! A flow that is being sent: its packets, and what comes back of them.

use super::back::Back;
use super::books::Books;
use super::job::ItgJob;
use super::plan::Planned;
use super::way::way;
use crate::send::{LOOK, RETURNING, held, real_time_now};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::Instant;
use trammel_io::clock::monotonic_ns;
use trammel_traffic::itg::speak::SETTLING;
use trammel_traffic::record::{LoggedFlow, Record};
use trammel_traffic::send::{self, Lane, Sent};

/// Sends a flow to the address and port that its receiver gave, or to the receiver that comes to
/// `back`, and takes what comes back.
pub(super) fn send_flow<'scope>(
    flow: &'scope Planned<'_>,
    (to, back): (SocketAddr, Option<&Back>),
    (job, halt): (&'scope ItgJob, &'scope AtomicBool),
    books: &'scope Books,
    scope: &'scope Scope<'scope, '_>,
) -> Sent {
    let way = match way(flow, to, back, halt) {
        Ok(way) => way,
        Err(why) => {
            return Sent {
                fault: Some(match back {
                    None => format!("{to} cannot be sent to: {why}"),
                    Some(_) => why.to_string(),
                }),
                ..Sent::nothing()
            };
        }
    };
    let (to, origin) = (way.to, monotonic_ns() + SETTLING.as_nanos() as i64);
    let comes_back = way.answers.is_some();
    if comes_back || held(&books.account).notes_departures() {
        held(&books.account).flow(LoggedFlow {
            number: flow.number,
            protocol: flow.stream.protocol,
            from: way.from,
            to: Some(to),
            name: flow.stream.name.clone(),
        });
    }
    let ends = (way.from.unwrap_or(to), to);
    let over = std::sync::Arc::new((AtomicBool::new(false), std::sync::atomic::AtomicU64::new(0)));
    if let Some(mut answers) = way.answers {
        let over = over.clone();
        scope.spawn(move || {
            // An error of it shows as answers that did not come.
            let _ = answers.collect(flow.number, &over.0, &mut |record| {
                over.1.fetch_add(1, Ordering::Relaxed);
                books.write(record, ends, true);
            });
        });
    }
    if job.is_real_time {
        real_time_now();
    }
    let mut lanes = [Lane::new(&flow.stream, flow.number, way.carrier, origin)];
    let is_noted = !comes_back && (books.log.is_some() || held(&books.account).notes_departures());
    let note = &mut |record: &Record| {
        if is_noted {
            books.write(record, ends, false);
        }
    };
    send::send(&mut lanes, job.wait, halt, note);
    let [lane] = lanes;
    let sent = lane.sent();
    let until = Instant::now() + if comes_back { RETURNING } else { SETTLING };
    while Instant::now() < until
        && !(comes_back && over.1.load(Ordering::Relaxed) >= sent.count.packets)
    {
        std::thread::sleep(LOOK);
    }
    over.0.store(true, Ordering::Relaxed);
    sent
}
