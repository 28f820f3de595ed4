//! The streams as real packets: a real sender, a real receiver, and a path in user space between
//! their namespaces.
//!
//! All clocks are one, so that one-way delays are exact but for what the host itself takes; that is
//! in them.

use super::account::Account;
use super::bed::{Bed, RECEIVER};
use super::simulate::options;
use crate::log_file;
use crate::send;
use crate::send::{SendJob, SendOutcome};
use anyhow::{anyhow, bail};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;
use trammel_io::clock::real_time;
use trammel_scenario::check::told;
use trammel_scenario::traffic::Traffic;
use trammel_scenario::traffic::refusals::refusals;
use trammel_traffic::decode::{Decoder, FlowReport, Report};
use trammel_traffic::receive::hub::{Hub, Sink};
use trammel_traffic::receive::{Receiver, Settings};
use trammel_traffic::record::{Instants, LoggedFlow, Record};
use trammel_traffic::send::choice::Asked;
use trammel_traffic::send::udp::Mechanism;
use trammel_traffic::signal::PORT;
use trammel_traffic::signal::message::Count;
use trammel_traffic::stream::Meter;

/// From the last packet sent to the end of the path, beyond what it holds: sockets are emptied by
/// then.
const SETTLING: Duration = Duration::from_millis(100);
/// Packets a second of all streams from which on the sender asks the clock without end: before all
/// other programs it would have a core for itself.
const FAST_PPS: f64 = 5000.0;

/// What comes is decoded as it comes.
#[derive(Clone)]
struct Decoding(Arc<Mutex<Decoder>>);

impl Decoding {
    fn with<T>(&self, work: impl FnOnce(&mut Decoder) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Sink for Decoding {
    fn flow(&mut self, flow: &LoggedFlow) {
        self.with(|decoder| decoder.flow(flow.clone()));
    }

    fn record(&mut self, record: &Record) {
        self.with(|decoder| decoder.record(record));
    }

    fn closed(&mut self, flow: u32, _: Count, sent: Option<Count>) {
        if let Some(sent) = sent {
            self.with(|decoder| decoder.sent(flow, sent.packets));
        }
    }
}

/// Measures `traffic`; what has been sent when `stop` is set is accounted.
pub fn measure(traffic: &Traffic, stop: &AtomicBool) -> anyhow::Result<Account> {
    let count = traffic.streams.len();
    let faults = refusals(traffic);
    if !faults.is_empty() {
        bail!(told(&faults));
    }
    let bed = Bed::new(&traffic.path, traffic.seed)?;
    let mut decoder = Decoder::new(options(count));
    decoder.session(log_file::session(Instants::SentReceived, traffic.seed));
    let decoding = Decoding(Arc::new(Mutex::new(decoder)));
    let over = AtomicBool::new(false);
    let is_first = may_be_first(traffic);
    let outcomes = std::thread::scope(|scope| {
        let (ready, is_ready) = mpsc::channel();
        scope.spawn({
            let (bed, over, ready) = (&bed, &over, ready.clone());
            move || bed.run(is_first, over, &ready)
        });
        scope.spawn({
            let (bed, over, sink) = (&bed, &over, decoding.clone());
            move || receive(bed, sink, over, &ready)
        });
        let begun = (0..2).try_for_each(|_| {
            let said = is_ready.recv();
            said.unwrap_or_else(|_| Err(anyhow!("the path ended before it began")))
        });
        let outcomes = begun.and_then(|()| send_all(traffic, &bed, is_first, stop));
        std::thread::sleep(SETTLING);
        over.store(true, Ordering::SeqCst);
        outcomes
    })?;
    let decoder = decoding.with(|decoder| std::mem::replace(decoder, Decoder::new(options(1))));
    let mut account = account(traffic, decoder.finish(), &outcomes);
    if !is_first {
        let note = "measured at normal priority: other programs may delay packets";
        account.notes.push(note.to_owned());
    }
    Ok(account)
}

/// Whether sender and path may run before other programs, and leave them time.
fn may_be_first(traffic: &Traffic) -> bool {
    let rates = traffic.streams.iter();
    let rates = rates.map(|stream| stream.source.predicted().mean_rate);
    let all: Option<f64> = rates.sum();
    // On a thread of its own, since what is asked for is then had.
    let asked = || std::thread::spawn(|| real_time(1)).join();
    all.is_some_and(|all| all <= FAST_PPS) && matches!(asked(), Ok(Ok(())))
}

/// Receives until `over` is set; `ready` hears that it listens, or why not.
fn receive(bed: &Bed, sink: Decoding, over: &AtomicBool, ready: &mpsc::Sender<anyhow::Result<()>>) {
    let ready = ready.clone();
    bed.receiver.run(move || {
        let address = format!("{RECEIVER}:{PORT}");
        let address = address
            .parse()
            .expect("the address is one that this module wrote");
        let opened = Receiver::open(address, Settings::default(), Hub::new(Box::new(sink)));
        let receiver = match opened {
            Ok(receiver) => receiver,
            Err(why) => {
                let _ = ready.send(Err(anyhow!("{address} cannot be listened on: {why}")));
                return;
            }
        };
        let _ = ready.send(Ok(()));
        // A session that ends otherwise shows in its sender's account.
        let _ = receiver.run(over, &|_, _| {});
    });
}

/// All at once; neighbours that are all one-way or all round trips share a session, whose account
/// is of one kind.
fn send_all(
    traffic: &Traffic,
    bed: &Bed,
    is_real_time: bool,
    stop: &AtomicBool,
) -> anyhow::Result<Vec<SendOutcome>> {
    // Segments would cross the path as one packet each.
    let asked = Asked {
        mechanism: Some(Mechanism::Calls),
        threads: Some(1),
    };
    let job = SendJob {
        asked,
        is_real_time,
        ..SendJob::to(RECEIVER)
    };
    let groups = traffic.streams.chunk_by(|a, b| a.meter == b.meter);
    std::thread::scope(|scope| {
        let job = &job;
        let running: Vec<_> = groups
            .map(|streams| scope.spawn(move || bed.sender.run(|| send::run(streams, job, stop))))
            .collect();
        running
            .into_iter()
            .map(|one| one.join().expect("the thread does not panic"))
            .collect()
    })
}

/// What the receiver and the senders tell of each stream, by the streams' names.
fn account(traffic: &Traffic, received: Report, outcomes: &[SendOutcome]) -> Account {
    let mut notes = Vec::new();
    let mut sent: BTreeMap<&str, Count> = BTreeMap::new();
    let mut shared_losses = 0;
    for flow in outcomes.iter().flat_map(|outcome| &outcome.flows) {
        let name = flow.name.as_str();
        sent.insert(name, flow.sent.count);
        if flow.sent.overdue > 0 {
            notes.push(format!(
                "measured: the sender was the limit for {} of {} packets of `{name}`, which were \
                 overdue",
                flow.sent.overdue, flow.sent.count.packets
            ));
        }
        match &flow.received {
            Ok(count) => {
                shared_losses = shared_losses.max(count.unattributed);
                if count.lost > 0 {
                    notes.push(format!(
                        "measured: {} packets of `{name}` were lost at the receiver's own port",
                        count.lost
                    ));
                }
            }
            Err(why) => notes.push(format!("measured: `{name}`: {why}")),
        }
    }
    if shared_losses > 0 {
        notes.push(format!(
            "measured: {shared_losses} packets were lost at the receiver's own port, of one or \
             more of the streams that share it"
        ));
    }
    let named = |report: &Report| -> BTreeMap<String, FlowReport> {
        let flows = report.flows.iter();
        let named = flows.filter_map(|flow| Some((flow.flow.as_ref()?.name.clone(), flow.clone())));
        named.collect()
    };
    let one_way = named(&received);
    let returned = outcomes.iter().flat_map(|outcome| &outcome.reports);
    let round: BTreeMap<_, _> = returned.flat_map(named).collect();
    let streams = traffic.streams.iter().map(|stream| {
        let flows = match stream.meter {
            Meter::OneWay => &one_way,
            Meter::RoundTrip => &round,
        };
        Some(super::account::StreamAccount {
            sent: *sent.get(stream.name.as_str())?,
            summary: flows.get(&stream.name)?.summary.clone(),
        })
    });
    Account {
        streams: streams.collect(),
        totals: received.totals,
        notes,
    }
}
