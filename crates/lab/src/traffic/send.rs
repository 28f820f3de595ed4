//! Sending a stream: the session, the schedule, and what came of both.

use super::log_file::{self, LogFile};
use crate::engine::Lacks;
use anyhow::{Context, anyhow};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, ToSocketAddrs, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use trammel_core::histogram::Histogram;
use trammel_core::table::{Cell, CellType, Table, format_float};
use trammel_io::clock::{monotonic_ns, real_time};
use trammel_traffic::decode::{Decoder, Options, Report};
use trammel_traffic::log;
use trammel_traffic::pace::Wait;
use trammel_traffic::record::{Flow, Instants, Protocol, Record};
use trammel_traffic::send::answers::{Answers, TcpAnswers, UdpAnswers};
use trammel_traffic::send::icmp::Icmp;
use trammel_traffic::send::session::{Error, Session};
use trammel_traffic::send::tcp::Tcp;
use trammel_traffic::send::udp::{Mechanism, Udp};
use trammel_traffic::send::{self, Carrier, Sent};
use trammel_traffic::signal::PORT;
use trammel_traffic::signal::key::Key;
use trammel_traffic::signal::message::{Count, Wish};
use trammel_traffic::stream::{Meter, Stream};

/// What was received may be on its way back for so long.
const RETURNING: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(2);
/// From opening a flow to its first packet.
const LEAD_NS: i64 = 1_000_000;
/// The longest that a connection may take to be made.
const CONNECTING: Duration = Duration::from_secs(10);
/// The priority among those that run before all others: in the middle.
const PRIORITY: u8 = 50;

/// What is to be done besides the stream.
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
    /// Whether the sender runs before all programs of usual priority.
    pub is_real_time: bool,
    /// The file for its log.
    pub log: Option<PathBuf>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The sender's account.
    pub sent: Sent,
    /// The receiver's, or why there is none.
    pub received: Result<Count, String>,
    /// What went wrong with the log.
    pub log_fault: Option<String>,
    /// What came back, where the round trip is measured.
    pub round_trip: Option<Report>,
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

/// Sends `stream`.
pub fn run(stream: &Stream, job: &Job, stop: &AtomicBool) -> anyhow::Result<Outcome> {
    let address = resolve(&job.to)?;
    if job.is_real_time {
        real_time(PRIORITY).map_err(|why| {
            let what = format!("no right to run before other programs: {why}");
            Lacks::error(&what, "run it as root, or leave `--real-time` out")
        })?;
    }
    let opened = Session::open(address, job.key.as_ref(), stop);
    let mut session = opened.map_err(|error| match error {
        Error::Nobody(at, why) => Lacks::error(
            &format!("no receiver answers at {at}: {why}"),
            "start one there: `trammel recv`",
        ),
        other => anyhow!("{other}"),
    })?;
    let instants = match stream.meter {
        Meter::OneWay => Instants::DueSent,
        Meter::RoundTrip => Instants::SentReturned,
    };
    // Not before somebody is there: a log without anything would be left.
    let log_session = log_file::session(instants, stream.seed);
    let mut account = Account::new(job.log.as_deref(), &log_session)?;
    let wish = Wish {
        protocol: stream.protocol,
        meter: stream.meter,
        port: job.port,
        name: stream.name.clone(),
    };
    let opened = session.open_flow(wish, stop);
    let (number, port) = opened.map_err(|why| anyhow!("{why}"))?;
    let to = SocketAddr::from((address.ip(), port));
    let mut way = Way::open(stream, number, to, job)?;
    account.flow(Flow {
        number,
        protocol: stream.protocol,
        from: way.from,
        to: Some(to),
        name: stream.name.clone(),
    });
    let origin = monotonic_ns() + LEAD_NS + i64::try_from(stream.start.as_ns()).unwrap_or(i64::MAX);
    let is_one_way = stream.meter == Meter::OneWay;
    let (account, over) = (Mutex::new(account), AtomicBool::new(false));
    let of = || account.lock().unwrap_or_else(PoisonError::into_inner);
    let (sent, received) = std::thread::scope(|scope| {
        if let Some(answers) = &mut way.answers {
            let (over, of) = (&over, &of);
            scope.spawn(move || {
                // An error of it shows as answers that did not come.
                let _ = answers.collect(number, over, &mut |record| of().record(record));
            });
        }
        let note = &mut |record: &Record| {
            if is_one_way {
                of().record(record);
            }
        };
        let by: (&mut dyn Carrier, Wait) = (way.carrier.as_mut(), job.wait);
        let sent = send::send(stream, number, by, origin, stop, note);
        let received = match &sent {
            Ok(sent) => session.close_flow(number, sent.count),
            Err(_) => session.close_flow(number, Count::default()),
        };
        if let (false, Ok(received)) = (is_one_way, &received) {
            let until = Instant::now() + RETURNING;
            while of().records < received.packets && Instant::now() < until {
                std::thread::sleep(LOOK);
            }
        }
        over.store(true, Ordering::Relaxed);
        (sent, received)
    });
    let sent = sent.map_err(|why| anyhow!("{to} cannot be sent to: {why}"))?;
    let mut account = account.into_inner().unwrap_or_else(PoisonError::into_inner);
    account.decoder.sent(number, sent.count.packets);
    account.log(LogFile::flush);
    Ok(Outcome {
        sent,
        received: received.map_err(|why: Error| why.to_string()),
        log_fault: account.fault,
        round_trip: (!is_one_way).then(|| account.decoder.finish()),
    })
}

/// What is kept of a stream's packets: a log, where it is wanted, and the numbers of a round trip.
struct Account {
    log: Option<LogFile>,
    fault: Option<String>,
    decoder: Decoder,
    /// Whether the decoder's numbers are shown: it takes time that a sender may not have.
    is_decoded: bool,
    records: u64,
}

impl Account {
    fn new(log: Option<&Path>, session: &log::Session) -> anyhow::Result<Account> {
        let log = log.map(|path| LogFile::open(path, session)).transpose();
        let mut decoder = Decoder::new(Options::default());
        decoder.session(session.clone());
        Ok(Account {
            log: log.map_err(anyhow::Error::msg)?,
            fault: None,
            decoder,
            is_decoded: session.instants == Instants::SentReturned,
            records: 0,
        })
    }

    fn flow(&mut self, flow: Flow) {
        self.log(|log| log.flow(&flow));
        self.decoder.flow(flow);
    }

    fn record(&mut self, record: &Record) {
        self.records += 1;
        self.log(|log| log.record(record));
        if self.is_decoded {
            self.decoder.record(record);
        }
    }

    /// Writes to the log, until something goes wrong with it.
    fn log(&mut self, write: impl FnOnce(&mut LogFile) -> Result<(), String>) {
        if let (Some(log), None) = (&mut self.log, &self.fault) {
            self.fault = write(log).err();
        }
    }
}

/// The way to the receiver and, where the round trip is measured, back.
struct Way {
    carrier: Box<dyn Carrier>,
    answers: Option<Box<dyn Answers>>,
    from: Option<SocketAddr>,
}

impl Way {
    fn open(stream: &Stream, number: u32, to: SocketAddr, job: &Job) -> anyhow::Result<Way> {
        let unreachable = |why: std::io::Error| anyhow!("{to} cannot be sent to: {why}");
        let comes_back = stream.meter == Meter::RoundTrip;
        if stream.protocol == Protocol::Tcp {
            let connection = TcpStream::connect_timeout(&to, CONNECTING).map_err(unreachable)?;
            let answers = comes_back.then(|| TcpAnswers::new(&connection)).transpose();
            return Ok(Way {
                from: connection.local_addr().ok(),
                answers: answers.map_err(unreachable)?.map(|one| Box::new(one) as _),
                carrier: Box::new(Tcp::new(connection, number).map_err(unreachable)?),
            });
        }
        if stream.protocol == Protocol::Icmp {
            let carrier = Icmp::open(to.ip(), stream).map_err(lacks)?;
            let answers = comes_back.then(|| UdpAnswers::of_echo(carrier.socket()));
            let answers = answers.transpose().map_err(unreachable)?;
            let from = carrier.socket().local_addr().ok();
            return Ok(Way {
                from: from.map(|from| (from.ip(), 0).into()),
                answers: answers.map(|one| Box::new(one) as _),
                carrier: Box::new(carrier),
            });
        }
        let any: IpAddr = match to {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let socket = UdpSocket::bind((any, 0));
        let socket = socket.map_err(|why| anyhow!("no socket of UDP can be had: {why}"))?;
        socket.connect(to).map_err(unreachable)?;
        let answers = comes_back.then(|| UdpAnswers::new(&socket)).transpose();
        Ok(Way {
            from: socket.local_addr().ok(),
            answers: answers.map_err(unreachable)?.map(|one| Box::new(one) as _),
            carrier: Box::new(
                Udp::new(socket, stream, job.mechanism)
                    .map_err(|why| anyhow!("the socket cannot be made as was asked: {why}"))?,
            ),
        })
    }
}

/// What the machine lacks for a socket, or what is wrong with the wish for it.
fn lacks(error: trammel_io::error::Error) -> anyhow::Error {
    match error.mend() {
        Some(mend) if error.is_lack() => Lacks::error(&error.to_string(), &mend),
        _ => anyhow!("{error}"),
    }
}

/// A quantile of times in microseconds.
fn us(times: &Histogram, fraction: f64) -> Option<f64> {
    times
        .quantile_time(fraction)
        .map(|time| time.as_secs_f64() * 1e6)
}

impl Outcome {
    /// From the first packet to the last, in seconds.
    fn duration_s(&self) -> f64 {
        (self.sent.last_ns - self.sent.first_ns) as f64 / 1e9
    }

    /// Packets a second: gaps by the time that they took.
    fn rate_pps(&self) -> Option<f64> {
        let (gaps, secs) = (self.sent.count.packets.saturating_sub(1), self.duration_s());
        (gaps > 0 && secs > 0.0).then(|| gaps as f64 / secs)
    }

    /// Packets that were sent and did not come, as far as the receiver told.
    fn missing(&self) -> Option<u64> {
        let received = self.received.as_ref().ok()?;
        Some(self.sent.count.packets.saturating_sub(received.packets))
    }

    /// Whether packets are missing.
    pub fn is_lossy(&self) -> bool {
        self.missing() != Some(0)
    }

    /// Its row in the table `streams`.
    pub fn table(&self, name: &str) -> Table {
        let late = &self.sent.lateness;
        let received = self.received.as_ref().ok();
        let (sent, float_t, int_t) = (&self.sent, CellType::Float, CellType::Int);
        let cells = [
            ("stream", CellType::Text, Cell::Text(name.to_owned())),
            ("sent_pkts", int_t, Cell::from(Some(sent.count.packets))),
            ("sent_bytes", int_t, Cell::from(Some(sent.count.bytes))),
            ("duration_s", float_t, Cell::from(Some(self.duration_s()))),
            ("packet_rate_pps", float_t, Cell::from(self.rate_pps())),
            (
                "received_pkts",
                int_t,
                Cell::from(received.map(|count| count.packets)),
            ),
            ("lost_pkts", int_t, Cell::from(self.missing())),
            (
                "receiver_lost_pkts",
                int_t,
                Cell::from(received.map(|count| count.lost)),
            ),
            ("skipped_pkts", int_t, Cell::from(Some(sent.count.lost))),
            ("overdue_pkts", int_t, Cell::from(Some(sent.overdue))),
            (
                "put_off_s",
                float_t,
                Cell::from(Some(sent.shift_ns as f64 / 1e9)),
            ),
            ("errors", int_t, Cell::from(Some(sent.errors))),
            ("late_p50_us", float_t, Cell::from(us(late, 0.5))),
            ("late_p99_us", float_t, Cell::from(us(late, 0.99))),
            ("late_p999_us", float_t, Cell::from(us(late, 0.999))),
            ("late_max_us", float_t, Cell::from(us(late, 1.0))),
        ];
        let columns: Vec<_> = cells.iter().map(|(name, kind, _)| (*name, *kind)).collect();
        let mut table = Table::with("streams", &columns);
        let row = cells.map(|(.., cell)| cell).into();
        table.push(row).expect("a cell for each column");
        table
    }

    /// The same for people.
    pub fn text(&self) -> String {
        let number = |value: f64| format_float(value, 6);
        let sent = &self.sent;
        let rate = self.rate_pps().map_or(String::new(), |rate| {
            let bits = rate * 8.0 * sent.count.bytes as f64 / sent.count.packets as f64;
            format!(
                ": {} packets/s, {} Mbit/s of payload",
                number(rate),
                number(bits / 1e6)
            )
        });
        let mut text = format!(
            "sent      {} packets, {} bytes in {} s{rate}\n",
            sent.count.packets,
            sent.count.bytes,
            number(self.duration_s())
        );
        text += &match &self.received {
            Ok(received) => format!(
                "received  {} packets, {} lost{}\n",
                received.packets,
                self.missing().unwrap_or(0),
                match received.lost {
                    0 => String::new(),
                    own => format!("; {own} of the receiver's port for want of room"),
                }
            ),
            Err(why) => format!("received  unknown: {why}\n"),
        };
        let late = &sent.lateness;
        let shown = |fraction| us(late, fraction).map_or(String::new(), number);
        text += &format!(
            "schedule  {} us late (p50), {} (p99), {} (p99.9), {} at most, when given to the kernel\n",
            shown(0.5),
            shown(0.99),
            shown(0.999),
            shown(1.0)
        );
        if sent.overdue > 0 {
            let what = match (sent.count.lost, sent.shift_ns) {
                (0, 0) => "sent at once".to_owned(),
                (0, shift) => format!("the plan was put off by {} s", number(shift as f64 / 1e9)),
                (skipped, _) => format!("{skipped} left out"),
            };
            text += &format!(
                "limit     the sender: {} packets were overdue, {what}\n",
                sent.overdue
            );
        }
        if sent.errors > 0 {
            text += &format!(
                "errors    {} calls failed: nobody there, or no buffers\n",
                sent.errors
            );
        }
        text
    }
}
