//! Sending streams: the session, the schedules, and what came of both.

mod account;
pub mod itg;
mod show;

use super::log_file::{self, LogFile};
use crate::cli::say;
use crate::engine::Lacks;
use account::Account;
use anyhow::{Context, anyhow, bail};
use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use trammel_io::clock::{monotonic_ns, real_time};
use trammel_traffic::decode::Report;
use trammel_traffic::pace::Wait;
use trammel_traffic::record::{Flow, Instants, Record};
use trammel_traffic::send::session::{Error, Session};
use trammel_traffic::send::udp::Mechanism;
use trammel_traffic::send::way::{self, Way, carried};
use trammel_traffic::send::{self, Lane, Sent};
use trammel_traffic::signal::PORT;
use trammel_traffic::signal::key::Key;
use trammel_traffic::signal::message::{Count, Wish};
use trammel_traffic::stream::{Meter, Stream};

/// What was received may be on its way back for so long.
const RETURNING: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(2);
/// From when all flows are open to the start of the whole.
const LEAD_NS: i64 = 1_000_000;
/// The priority among those that run before all others: in the middle.
const PRIORITY: u8 = 50;

/// What is to be done besides the streams.
#[derive(Clone, Debug)]
pub struct Job {
    /// The receiver: a host, with a port for signalling or without.
    pub to: String,
    /// The port that packets go to; 0 leaves it to the receiver.
    pub port: u16,
    /// The key that the receiver holds.
    pub key: Option<Key>,
    /// How packets' times are waited for.
    pub wait: Wait,
    /// How datagrams are handed over.
    pub mechanism: Mechanism,
    /// How many threads send, of streams whose carrier does not wait; the others have one each.
    pub threads: usize,
    /// Whether the sender runs before all programs of usual priority.
    pub is_real_time: bool,
    /// The file for its log.
    pub log: Option<PathBuf>,
}

/// What came of a stream.
#[derive(Clone, Debug)]
pub struct FlowOutcome {
    /// The stream's name.
    pub name: String,
    /// The sender's account.
    pub sent: Sent,
    /// The receiver's, or why there is none.
    pub received: Result<Count, String>,
}

/// What came of all.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Of each stream, in their order.
    pub flows: Vec<FlowOutcome>,
    /// What went wrong with the log.
    pub log_fault: Option<String>,
    /// What came back, where the round trip is measured; or when packets left, where that is watched.
    pub report: Option<Report>,
}

/// The address that `to` names.
fn resolve(to: &str) -> anyhow::Result<SocketAddr> {
    let help = "give HOST, HOST:PORT or [IPv6]:PORT";
    let with_port = to.to_socket_addrs();
    let mut found = match with_port {
        Ok(found) => found,
        Err(_) => {
            let host = to.trim_start_matches('[').trim_end_matches(']');
            let found = (host, PORT).to_socket_addrs();
            found.map_err(|why| anyhow!("`{to}` is no host that is known: {why}; {help}"))?
        }
    };
    found
        .next()
        .with_context(|| format!("`{to}` has no address; {help}"))
}

/// Sends `streams` at once, in one session.
pub fn run(streams: &[Stream], job: &Job, stop: &AtomicBool) -> anyhow::Result<Outcome> {
    let Some(first) = streams.first() else {
        bail!("there is no stream to send");
    };
    if job.log.is_some() && streams.iter().any(|one| one.meter != first.meter) {
        bail!("a log is of one-way streams or of round trips: send them by themselves");
    }
    for stream in streams {
        carried(stream.protocol).map_err(|why| no_way(&why))?;
    }
    let address = resolve(&job.to)?;
    if job.is_real_time {
        may_be_real_time()?;
    }
    let opened = Session::open(address, job.key.as_ref(), stop);
    let mut session = opened.map_err(|error| match error {
        Error::Nobody(at, why) => Lacks::error(
            &format!("no receiver answers at {at}: {why}"),
            "start one there: `trammel recv`",
        ),
        other => anyhow!("{other}"),
    })?;
    // Not before somebody is there: a log without anything would be left.
    let is_watched = job.mechanism == Mechanism::Watched;
    let instants = match first.meter {
        Meter::OneWay if is_watched => Instants::DueLeft,
        Meter::OneWay => Instants::DueSent,
        Meter::RoundTrip => Instants::SentReturned,
    };
    let log_session = log_file::session(instants, first.seed);
    let mut account = Account::new(job.log.as_deref(), &log_session)?;
    let (mut numbers, mut ways) = (Vec::new(), Vec::new());
    for stream in streams {
        let (flow, way) = open(stream, &mut session, address, job, stop)?;
        numbers.push(flow.number);
        account.flow(flow);
        ways.push(way);
    }
    let (account, over) = (Mutex::new(account), AtomicBool::new(false));
    let (mut sent, received) = std::thread::scope(|scope| {
        let origin = monotonic_ns() + LEAD_NS;
        let mut lanes = Vec::new();
        for ((stream, number), way) in streams.iter().zip(&numbers).zip(ways) {
            if let Some(mut answers) = way.answers {
                let (over, account) = (&over, &account);
                scope.spawn(move || {
                    let done = answers.collect(*number, over, &mut |record| {
                        held(account).came_back(record);
                    });
                    // It shows as answers that did not come: nobody should blame the network.
                    if let Err(why) = done {
                        say(&format!("warning: answers of flow {number}: {why}"));
                    }
                });
            }
            lanes.push(Lane::new(stream, *number, way.carrier, origin));
        }
        let sent = send_lanes(lanes, job, stop, &account);
        let received: Vec<_> = numbers
            .iter()
            .map(|number| session.close_flow(*number, sent[number].count))
            .collect();
        let coming_back = (streams.iter().zip(&numbers)).zip(&received).filter_map(
            |((stream, number), received)| match stream.meter {
                Meter::RoundTrip => received.as_ref().ok().map(|count| count.packets),
                Meter::OneWay => is_watched.then(|| sent[number].count.packets),
            },
        );
        let (wanted, until) = (coming_back.sum(), Instant::now() + RETURNING);
        while held(&account).came_back < wanted && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
        over.store(true, Ordering::Relaxed);
        (sent, received)
    });
    let mut account = account.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut flows = Vec::new();
    for ((stream, number), received) in streams.iter().zip(numbers).zip(received) {
        let sent = sent.remove(&number).expect("every flow was sent");
        account.decoder.sent(number, sent.count.packets);
        flows.push(FlowOutcome {
            name: stream.name.clone(),
            sent,
            received: received.map_err(|why| why.to_string()),
        });
    }
    account.log(LogFile::flush);
    let comes_back = is_watched || streams.iter().any(|one| one.meter == Meter::RoundTrip);
    Ok(Outcome {
        flows,
        log_fault: account.fault,
        report: comes_back.then(|| account.decoder.finish()),
    })
}

fn held(account: &Mutex<Account>) -> MutexGuard<'_, Account> {
    account.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this program may run before all others; asked on a thread of its own, since what is asked for is then had.
fn may_be_real_time() -> anyhow::Result<()> {
    let asked = std::thread::spawn(|| real_time(PRIORITY)).join();
    asked.expect("it does not panic").map_err(|why| {
        let what = format!("no right to run before other programs: {why}");
        Lacks::error(&what, "run it as root, or leave `--real-time` out")
    })
}

/// Runs this thread before all programs of usual priority; whether it may was asked before.
fn real_time_now() {
    let _ = real_time(PRIORITY);
}

/// Opens a flow with the receiver, and the way there.
fn open(
    stream: &Stream,
    session: &mut Session,
    receiver: SocketAddr,
    job: &Job,
    stop: &AtomicBool,
) -> anyhow::Result<(Flow, Way)> {
    let wish = Wish {
        protocol: stream.protocol,
        meter: stream.meter,
        port: job.port,
        name: stream.name.clone(),
    };
    let opened = session.open_flow(wish, stop);
    let (number, port) = opened.map_err(|why| anyhow!("{why}"))?;
    let to = SocketAddr::from((receiver.ip(), port));
    let way = Way::open(stream, number, to, job.mechanism).map_err(|why| no_way(&why))?;
    let flow = Flow {
        number,
        protocol: stream.protocol,
        from: way.from,
        to: Some(to),
        name: stream.name.clone(),
    };
    Ok((flow, way))
}

/// Why there is no way to the receiver, and what would mend it.
fn no_way(why: &way::Error) -> anyhow::Error {
    if let way::Error::Lacks(lack) = why
        && lack.is_lack()
        && let Some(mend) = lack.mend()
    {
        return Lacks::error(&lack.to_string(), &mend);
    }
    anyhow!("{why}")
}

/// Sends all; gives what became of each flow.
fn send_lanes(
    lanes: Vec<Lane>,
    job: &Job,
    stop: &AtomicBool,
    account: &Mutex<Account>,
) -> BTreeMap<u32, Sent> {
    let (waiting, others): (Vec<_>, Vec<_>) = lanes.into_iter().partition(Lane::waits);
    let mut groups: Vec<Vec<Lane>> = (0..job.threads.clamp(1, others.len().max(1)))
        .map(|_| Vec::new())
        .collect();
    let threads = groups.len();
    for (at, lane) in others.into_iter().enumerate() {
        groups[at % threads].push(lane);
    }
    groups.extend(waiting.into_iter().map(|lane| vec![lane]));
    let is_noted = held(account).notes_departures();
    let send = |mut group: Vec<Lane>| {
        if job.is_real_time {
            real_time_now();
        }
        let note = &mut |record: &Record| {
            if is_noted {
                held(account).departs(record);
            }
        };
        send::send(&mut group, job.wait, stop, note);
        group
    };
    std::thread::scope(|scope| {
        let send = &send;
        let running: Vec<_> = groups
            .into_iter()
            .map(|group| scope.spawn(move || send(group)))
            .collect();
        running
            .into_iter()
            .flat_map(|one| one.join().expect("it does not panic"))
            .map(|lane| (lane.flow(), lane.sent()))
            .collect()
    })
}
