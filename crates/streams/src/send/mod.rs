//! Sending streams: the session, the schedules, and what came of both.

mod account;
pub mod itg;
mod show;

use super::lacking::lacking;
use super::log_file::{self, LogFile, LogTo};
use account::Account;
use anyhow::{anyhow, bail};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use trammel_ground::Unsupported;
use trammel_ground::say;
use trammel_io::clock::{monotonic_ns, real_time};
use trammel_io::reach::{self, at_port};
use trammel_traffic::decode::Report;
use trammel_traffic::pace::Wait;
use trammel_traffic::record::{Instants, LoggedFlow, Record};
use trammel_traffic::send::choice::{Asked, Chosen, choose};
use trammel_traffic::send::session::{Error, Session};
use trammel_traffic::send::udp::Mechanism;
use trammel_traffic::send::waiting::Waiting;
use trammel_traffic::send::way::{self, Way, carried};
use trammel_traffic::send::{self, Lane, Sent};
use trammel_traffic::signal::PORT;
use trammel_traffic::signal::key::Key;
use trammel_traffic::signal::message::{Count, Wish};
use trammel_traffic::stream::{Meter, Stream};

/// What was received may be on its way back as long as something comes, and for so long after; no
/// longer than that in all.
const RETURNING: Duration = Duration::from_secs(2);
const MOST_RETURNING: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(2);
/// From when all flows are open to the start of the whole.
const LEAD_NS: i64 = 1_000_000;
/// The priority among those that run before all others: in the middle.
const PRIORITY: u8 = 50;

/// What is to be done besides the streams.
#[derive(Clone, Debug)]
pub struct SendJob {
    /// The receiver: a host, with a port for signalling or without.
    pub to: String,
    /// The port that packets go to; 0 leaves it to the receiver.
    pub port: u16,
    /// The key that the receiver holds.
    pub key: Option<Key>,
    /// How packets' times are waited for.
    pub wait: Wait,
    /// How datagrams are handed over, and how many threads send streams whose carrier does not
    /// wait; the others have one each.
    pub asked: Asked,
    /// Whether the sender runs before all programs of usual priority.
    pub is_real_time: bool,
    /// Where its log is kept.
    pub log: Option<LogTo>,
}

impl SendJob {
    /// Sends to `to`, all else as it is where nobody says otherwise.
    pub fn to(to: impl Into<String>) -> SendJob {
        SendJob {
            to: to.into(),
            port: 0,
            key: None,
            wait: Wait::Spin,
            asked: Asked::default(),
            is_real_time: false,
            log: None,
        }
    }
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
pub struct SendOutcome {
    /// Of each stream, in their order.
    pub flows: Vec<FlowOutcome>,
    /// What went wrong with the log.
    pub log_fault: Option<String>,
    /// Of each session: what came back, where the round trip is measured; or when packets left,
    /// where that is watched.
    pub reports: Vec<Report>,
}

/// The addresses that `to` names, in the order in which they are tried, with `port` where it names
/// none.
pub fn resolve(to: &str, port: u16) -> anyhow::Result<Vec<SocketAddr>> {
    reach::addresses(to, port)
        .map_err(|why| anyhow!("`{to}` is not a known host: {why}; {}", reach::FORMS))
}

/// Streams of one session that are sent at once: each with the receiver's port that its packets go
/// to, and how it is done.
#[derive(Debug)]
pub struct Batch {
    /// See above.
    pub flows: Vec<(Stream, u16)>,
    /// See above.
    pub job: SendJob,
    /// Where the receiver comes to; none where it is gone to.
    pub waits: Option<Waiting>,
}

/// Sends `streams` at once, in one session.
pub fn run(streams: &[Stream], job: &SendJob, stop: &AtomicBool) -> anyhow::Result<SendOutcome> {
    let flows: Vec<_> = streams.iter().map(|stream| (stream, job.port)).collect();
    let origin = || monotonic_ns() + LEAD_NS;
    Ok(Ready::new(&flows, (job, None), processors(), stop)?.send(origin(), stop, None))
}

/// Who hears of packets while they are sent, on the threads that send: what it does takes from
/// their time.
pub trait Listener: Sync {
    /// A packet was given to the kernel; the record's instants are when it was due and when it was
    /// given.
    fn sent(&self, record: &Record);
    /// A packet came back; the record's instants are when it was sent and when it came.
    fn returned(&self, _record: &Record) {}
}

/// Packets are counted.
impl Listener for AtomicU64 {
    fn sent(&self, _: &Record) {
        self.fetch_add(1, Ordering::Relaxed);
    }
}

/// Sends several batches at once, a session each, once all have been opened; `heard` hears of
/// packets. What came of each is in their order.
pub fn run_all(
    batches: &[Batch],
    stop: &AtomicBool,
    heard: &dyn Listener,
) -> anyhow::Result<Vec<SendOutcome>> {
    let ready: anyhow::Result<Vec<_>> = batches
        .iter()
        .map(|batch| {
            let flows: Vec<_> = batch.flows.iter().map(|(one, port)| (one, *port)).collect();
            let processors = processors() / batches.len();
            Ready::new(&flows, (&batch.job, batch.waits.as_ref()), processors, stop)
        })
        .collect();
    let ready = ready?;
    let origin = monotonic_ns() + LEAD_NS;
    Ok(std::thread::scope(|scope| {
        let running: Vec<_> = ready
            .into_iter()
            .map(|one| scope.spawn(move || one.send(origin, stop, Some(heard))))
            .collect();
        running
            .into_iter()
            .map(|one| one.join().expect("the thread does not panic"))
            .collect()
    }))
}

/// A session whose flows are open.
struct Ready<'a> {
    job: &'a SendJob,
    session: Session,
    account: Account,
    flows: Vec<(&'a Stream, u32, Way)>,
    /// How each is sent.
    chosen: Vec<Chosen>,
}

impl<'a> Ready<'a> {
    fn new(
        streams: &[(&'a Stream, u16)],
        (job, waits): (&'a SendJob, Option<&Waiting>),
        processors: usize,
        stop: &AtomicBool,
    ) -> anyhow::Result<Ready<'a>> {
        let Some((first, _)) = streams.first() else {
            bail!("there is no stream to send");
        };
        if job.log.is_some() && streams.iter().any(|(one, _)| one.meter != first.meter) {
            bail!("a log holds either one-way streams or round trips: send them separately");
        }
        for (stream, _) in streams {
            carried(stream.protocol).map_err(|why| no_way(&why))?;
        }
        if job.is_real_time {
            may_be_real_time()?;
        }
        let opened = match waits {
            Some(waiting) => waiting.session(job.key.as_ref(), stop),
            None => Session::open(resolve(&job.to, PORT)?.as_slice(), job.key.as_ref(), stop),
        };
        let mut session = opened.map_err(|error| match error {
            Error::Nobody(at, why) => Unsupported::error(
                &format!("no receiver answers at {at}: {why}"),
                "start one there: `trammel recv`",
            ),
            other => anyhow!("{other}"),
        })?;
        // Not before somebody is there: a log without anything would be left.
        let instants = match first.meter {
            Meter::OneWay if is_watched(job) => Instants::DueLeft,
            Meter::OneWay => Instants::DueSent,
            Meter::RoundTrip => Instants::SentReturned,
        };
        let log_session = log_file::session(instants, first.seed);
        let mut account = Account::new(job.log.as_ref(), &log_session, stop)?;
        let all: Vec<&Stream> = streams.iter().map(|(stream, _)| *stream).collect();
        let chosen = choose(&all, job.asked, processors);
        let mut flows = Vec::new();
        for ((stream, port), chosen) in streams.iter().zip(&chosen) {
            let how = (chosen.mechanism, waits.is_some());
            let (flow, way) = open((stream, *port), &mut session, how, stop)?;
            flows.push((*stream, flow.number, way));
            account.flow(flow);
        }
        Ok(Ready {
            job,
            session,
            account,
            flows,
            chosen,
        })
    }

    /// Sends all, whose start is at `origin` of the monotonic clock; `heard` hears of packets.
    fn send(self, origin: i64, stop: &AtomicBool, heard: Option<&dyn Listener>) -> SendOutcome {
        let Ready {
            job,
            mut session,
            account,
            flows: open,
            chosen,
        } = self;
        let streams: Vec<_> = open
            .iter()
            .map(|(stream, number, _)| (*stream, *number))
            .collect();
        let (account, over) = (Mutex::new(account), AtomicBool::new(false));
        let (mut sent, received) = std::thread::scope(|scope| {
            let mut lanes = Vec::new();
            for ((stream, number, way), chosen) in open.into_iter().zip(&chosen) {
                if let Some(mut answers) = way.answers {
                    let (over, account) = (&over, &account);
                    let comes_back = stream.meter == Meter::RoundTrip;
                    scope.spawn(move || {
                        let done = answers.collect(number, over, &mut |record| {
                            if let Some(heard) = heard.filter(|_| comes_back) {
                                heard.returned(record);
                            }
                            held(account).came_back(record);
                        });
                        // It shows as answers that did not come: nobody should blame the network.
                        if let Err(why) = done {
                            say(&format!("warning: answers of flow {number}: {why}"));
                        }
                    });
                }
                let lane = Lane::new(stream, number, way.carrier, origin);
                lanes.push((lane, chosen.thread));
            }
            let sent = send_lanes(lanes, job, stop, (&account, heard));
            let received: Vec<_> = streams
                .iter()
                .map(|(_, number)| session.close_flow(*number, sent[number].count))
                .collect();
            let coming_back = streams.iter().zip(&received).filter_map(
                |((stream, number), received)| match stream.meter {
                    Meter::RoundTrip => received.as_ref().ok().map(|count| count.packets),
                    Meter::OneWay => is_watched(job).then(|| sent[number].count.packets),
                },
            );
            let (wanted, begun): (u64, _) = (coming_back.sum(), Instant::now());
            let mut last = (held(&account).came_back, begun);
            while last.0 < wanted
                && last.1.elapsed() < RETURNING
                && begun.elapsed() < MOST_RETURNING
                && !stop.load(Ordering::Relaxed)
            {
                std::thread::sleep(LOOK);
                let came = held(&account).came_back;
                if came != last.0 {
                    last = (came, Instant::now());
                }
            }
            over.store(true, Ordering::Relaxed);
            (sent, received)
        });
        let mut account = account.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut flows = Vec::new();
        for (((stream, number), received), chosen) in streams.iter().zip(received).zip(chosen) {
            let sent = sent.remove(number).expect("every flow was sent");
            account.decoder.sent(*number, sent.count.packets);
            flows.push(FlowOutcome {
                name: stream.name.clone(),
                sent: Sent {
                    chosen: Some(chosen),
                    ..sent
                },
                received: received.map_err(|why| why.to_string()),
            });
        }
        account.log(LogFile::finish);
        let comes_back = streams.iter().any(|(one, _)| one.meter == Meter::RoundTrip);
        let is_decoded = comes_back || is_watched(job);
        SendOutcome {
            flows,
            log_fault: account.fault,
            reports: if is_decoded {
                vec![account.decoder.finish()]
            } else {
                Vec::new()
            },
        }
    }
}

/// Whether the kernel tells when packets left.
fn is_watched(job: &SendJob) -> bool {
    job.asked.mechanism == Some(Mechanism::Watched)
}

fn held(account: &Mutex<Account>) -> MutexGuard<'_, Account> {
    account.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this program may run before all others; asked on a thread of its own, since what is
/// asked for is then had.
fn may_be_real_time() -> anyhow::Result<()> {
    let asked = std::thread::spawn(|| real_time(PRIORITY)).join();
    asked.expect("it does not panic").map_err(|why| {
        let what = format!("no right to run with real-time priority: {why}");
        Unsupported::error(&what, "run it as root, or leave `--real-time` out")
    })
}

/// Runs this thread before all programs of usual priority; whether it may was asked before.
fn real_time_now() {
    let _ = real_time(PRIORITY);
}

/// Opens a flow with the receiver, and the way there.
fn open(
    (stream, port): (&Stream, u16),
    session: &mut Session,
    (mechanism, has_come): (Mechanism, bool),
    stop: &AtomicBool,
) -> anyhow::Result<(LoggedFlow, Way)> {
    let wish = Wish {
        protocol: stream.protocol,
        meter: stream.meter,
        port,
        name: stream.name.clone(),
    };
    let receiver = session.addresses()?.0;
    let (number, to, way) = if has_come {
        let made = Way::fetch(stream, wish, mechanism, session, stop);
        let (number, way) = made.map_err(|why| anyhow!("{why}"))?;
        (number, receiver, way)
    } else {
        let opened = session.open_flow(wish, stop);
        let (number, port) = opened.map_err(|why| anyhow!("{why}"))?;
        let to = at_port(receiver, port);
        let way = Way::open(stream, number, to, mechanism).map_err(|why| no_way(&why))?;
        (number, to, way)
    };
    let flow = LoggedFlow {
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
    match why {
        way::Error::Unsupported(lack) => lacking(lack),
        other => anyhow!("{other}"),
    }
}

/// Processors that this program may run on.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Sends all, each on the thread of its number or, where it waits for the other end, on one of its
/// own; gives what became of each flow.
fn send_lanes(
    lanes: Vec<(Lane, usize)>,
    job: &SendJob,
    stop: &AtomicBool,
    (account, heard): (&Mutex<Account>, Option<&dyn Listener>),
) -> BTreeMap<u32, Sent> {
    let (mut shared, mut groups) = (BTreeMap::<usize, Vec<Lane>>::new(), Vec::new());
    for (lane, thread) in lanes {
        if lane.waits() {
            groups.push(vec![lane]);
        } else {
            shared.entry(thread).or_default().push(lane);
        }
    }
    groups.extend(shared.into_values());
    let is_noted = held(account).notes_departures();
    // Threads that ask the clock all the time keep each other from running where they are more than
    // processors.
    let wait = match job.wait {
        _ if groups.len() > processors() => Wait::Sleep,
        Wait::Spin if job.is_real_time => Wait::Give,
        asked => asked,
    };
    let send = |mut group: Vec<Lane>| {
        if job.is_real_time {
            real_time_now();
        }
        let note = &mut |record: &Record| {
            if let Some(heard) = heard {
                heard.sent(record);
            }
            if is_noted {
                held(account).departs(record);
            }
        };
        send::send(&mut group, wait, stop, note);
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
            .flat_map(|one| one.join().expect("the thread does not panic"))
            .map(|lane| (lane.flow(), lane.sent()))
            .collect()
    })
}
