//! The words of ITGSend's command line and script files, as a table of flags.
//!
//! [`invocation`] reads a command line, [`script`] a script file of one flow a line; both give [`Command`]s. Ours reads what the
//! manual of 2.8.1 describes. Where the original does something else, or a word is without effect, the command carries a remark
//! for the user. The empty lines of a script are skipped as in the original; lines that begin with `#`, which the original
//! refuses, are comments.
//!
//! A word after a flag that may be left out (`-l [file]`) is taken unless it begins with `-` or names an application.

use super::command::{
    Application, Codec, Command, Host, Law, LogServer, Logs, Metadata, Unit, Values,
};
use crate::record::Protocol;
use crate::stream::{Late, Meter};
use std::net::IpAddr;
use trammel_core::time::Time;

/// The longest list of flows that a script may hold.
pub const MOST_FLOWS: usize = 65_536;
/// Bytes in one of D-ITG's kilobytes (`-k 1` at 100 bytes a packet sends 11 packets).
pub const KILOBYTE: u64 = 1024;

/// Why a command line was not understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The line ends where a word is missing.
    #[error("`{flag}` wants {wants}, but the line ends there; write e.g. `{example}`")]
    Missing {
        /// The flag.
        flag: &'static str,
        /// What it wants.
        wants: &'static str,
        /// How it is written.
        example: &'static str,
    },
    /// A word is not what the flag wants.
    #[error("`{word}` after `{flag}` will not do: it wants {wants}; write e.g. `{example}`")]
    Unfit {
        /// The flag.
        flag: &'static str,
        /// The word after it.
        word: String,
        /// What it wants.
        wants: &'static str,
        /// How it is written.
        example: &'static str,
    },
    /// No flag is so called.
    #[error(
        "`{0}` is no option of ITGSend; options look like `-C 1000`, applications like `VoIP`; see the manual, §3.2.3"
    )]
    Unknown(String),
    /// Something follows what must be the last.
    #[error("`{word}` stands after `{last}`, which must come last; move it before `{last}`")]
    AfterLast {
        /// What stands there.
        word: String,
        /// What must be the last.
        last: &'static str,
    },
    /// An application and a law of gaps or sizes.
    #[error(
        "`{flag}` and `{application}` exclude each other, as the application says gaps and sizes; leave out one of the two"
    )]
    Application {
        /// The flag of the law.
        flag: &'static str,
        /// The application.
        application: &'static str,
    },
    /// Round trips need time stamps.
    #[error(
        "`-m rttm` needs the time stamps that `-p 1` and `-p 2` leave out; leave out `-p` or write `-p 0`"
    )]
    RoundTripWithoutTimes,
    /// Logs are for all flows of a script.
    #[error(
        "`{0}` has no place in a script, as logs are for all its flows; write it on the command line after the script's name"
    )]
    LogInScript(&'static str),
    /// There are no words, or a script has no lines.
    #[error(
        "there is no flow: write options such as `-a 10.0.0.2 -C 1000 -c 512`, or the name of a script file"
    )]
    Nothing,
    /// More flows than can be.
    #[error("more than {MOST_FLOWS} flows; use several scripts")]
    TooMany,
    /// A line of a script.
    #[error("line {line}: {error}")]
    Line {
        /// Its number, from 1.
        line: usize,
        /// What is wrong in it.
        error: Box<Error>,
    },
}

/// What a command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Invocation {
    /// One flow.
    Flow(Box<Command>),
    /// The flows of a script file.
    Script {
        /// Its path.
        path: String,
        /// What is logged, for all of them.
        logs: Logs,
    },
    /// To wait for requests (`-Q`).
    Daemon {
        /// What is logged.
        logs: Logs,
    },
    /// The list of options (`-h`).
    Help,
}

/// Where a flag may stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// On the command line, not in a script.
    Log,
    /// Anywhere, not beside an application.
    Law,
    /// Anywhere.
    Flow,
    /// Only after `VoIP`.
    Voip,
}

/// A row of the table: what it is called, what it wants, how it is written, and what it does.
struct Flag {
    word: &'static str,
    part: Part,
    wants: &'static str,
    example: &'static str,
    set: fn(&mut Reader<'_>) -> Result<(), Error>,
}

/// The laws: letter, name, how many numbers, and whether the numbers of gaps are packets per second.
static LAWS: [(char, Law, usize, bool); 9] = [
    ('C', Law::Constant, 1, true),
    ('U', Law::Uniform, 2, true),
    ('E', Law::Exponential, 1, true),
    ('N', Law::Normal, 2, false),
    ('O', Law::Poisson, 1, true),
    ('V', Law::Pareto, 2, false),
    ('Y', Law::Cauchy, 2, false),
    ('G', Law::Gamma, 2, false),
    ('W', Law::Weibull, 2, false),
];

static APPLICATIONS: [(&str, Application, Option<Protocol>); 6] = [
    ("Telnet", Application::Telnet, Some(Protocol::Tcp)),
    ("DNS", Application::Dns, None),
    ("Quake3", Application::Quake3, Some(Protocol::Udp)),
    ("CSa", Application::CounterStrikeActive, Some(Protocol::Udp)),
    ("CSi", Application::CounterStrikeIdle, Some(Protocol::Udp)),
    (
        "VoIP",
        Application::Voip {
            codec: Codec::G711One,
            is_compressed: false,
            is_silent_in_pauses: false,
        },
        Some(Protocol::Udp),
    ),
];

static CODECS: [(&str, Codec); 5] = [
    ("G.711.1", Codec::G711One),
    ("G.711.2", Codec::G711Two),
    ("G.723.1", Codec::G723),
    ("G.729.2", Codec::G729Two),
    ("G.729.3", Codec::G729Three),
];

static PROTOCOLS: [(&str, Protocol); 5] = [
    ("UDP", Protocol::Udp),
    ("TCP", Protocol::Tcp),
    ("ICMP", Protocol::Icmp),
    ("SCTP", Protocol::Sctp),
    ("DCCP", Protocol::Dccp),
];

const fn row(
    part: Part,
    word: &'static str,
    wants: &'static str,
    example: &'static str,
    set: fn(&mut Reader<'_>) -> Result<(), Error>,
) -> Flag {
    Flag {
        word,
        part,
        wants,
        example,
        set,
    }
}

const RATE: &str = "packets per second, above 0";
const RATES: &str = "the smallest and the largest rate in packets per second, above 0";
const SHAPE: &str = "two numbers above 0, shape and scale";
const NORMAL: &str = "mean and standard deviation, not negative";
const SIZE: &str = "bytes, not negative";
const FILE: &str = "the name of a file";
const SERVER: &str = "the address of a log server, and UDP or TCP";
const ADDRESS: &str = "an address or a host's name";
const PORT: &str = "a port, 0 to 65535";
const MILLISECONDS: &str = "milliseconds, not negative";

#[expect(clippy::redundant_closure_for_method_calls, reason = "a method of `Reader<'a>` is not general enough in `'a`")]
#[rustfmt::skip] // one flag a line
static FLAGS: &[Flag] = &[
    row(Part::Log, "-l", FILE, "-l sender.log", |r| { r.logs.sender = Some(r.optional("/tmp/ITGSend.log")); Ok(()) }),
    row(Part::Log, "-x", FILE, "-x receiver.log", |r| { r.logs.receiver = Some(r.optional("/tmp/ITGRecv.log")); Ok(()) }),
    row(Part::Log, "-L", SERVER, "-L 10.0.0.9 UDP", |r| { r.logs.sender_server = Some(r.server()?); Ok(()) }),
    row(Part::Log, "-X", SERVER, "-X 10.0.0.9 UDP", |r| { r.logs.receiver_server = Some(r.server()?); Ok(()) }),
    row(Part::Log, "-q", "packets, 1 or more", "-q 50", |r| { r.logs.batch = r.whole(1, u32::MAX.into())? as u32; Ok(()) }),

    row(Part::Flow, "-Sda", ADDRESS, "-Sda 10.0.0.2", |r| { r.command.signalling.to = Some(r.host()?); Ok(()) }),
    row(Part::Flow, "-Sdp", PORT, "-Sdp 9000", |r| { r.command.signalling.port = r.port()?; Ok(()) }),
    row(Part::Flow, "-Ssa", ADDRESS, "-Ssa 10.0.0.1", |r| { r.command.signalling.from = Some(r.host()?); Ok(()) }),
    row(Part::Flow, "-Ssp", PORT, "-Ssp 9100", |r| { r.command.signalling.from_port = Some(r.port()?); Ok(()) }),
    row(Part::Flow, "-Si", "a network device", "-Si eth0", |r| { r.command.signalling.device = Some(r.word()?.to_owned()); Ok(()) }),

    row(Part::Flow, "-H", "nothing", "-H", |r| { r.command.is_passive = true; Ok(()) }),
    row(Part::Flow, "-m", "owdm (one way) or rttm (round trip)", "-m rttm", |r| {
        r.command.meter = r.choice(&[("owdm", Meter::OneWay), ("rttm", Meter::RoundTrip)])?; Ok(())
    }),
    row(Part::Flow, "-t", MILLISECONDS, "-t 10000", |r| { r.duration = Some(r.milliseconds()?); Ok(()) }),
    row(Part::Flow, "-z", "a number of packets", "-z 1000", |r| { r.command.limits.packets = Some(r.whole(0, u64::MAX)?); Ok(()) }),
    row(Part::Flow, "-k", "kilobytes, not negative", "-k 100", |r| {
        r.command.limits.bytes = Some((r.number(0.0, 1e15)? * KILOBYTE as f64).ceil() as u64); Ok(())
    }),
    row(Part::Flow, "-d", MILLISECONDS, "-d 500", |r| { r.command.start = r.milliseconds()?; Ok(()) }),
    row(Part::Flow, "-b", "a byte, 0 to 255 or 0x0 to 0xff", "-b 0x2e", |r| { r.command.ds = Some(r.byte()?); Ok(()) }),
    row(Part::Flow, "-f", "a byte, 0 to 255 or 0x0 to 0xff", "-f 64", |r| { r.command.ttl = Some(r.byte()?); Ok(()) }),
    row(Part::Flow, "-a", ADDRESS, "-a 10.0.0.2", |r| { r.command.destination = r.host()?; Ok(()) }),
    row(Part::Flow, "-sa", ADDRESS, "-sa 10.0.0.1", |r| { r.command.source = Some(r.host()?); Ok(()) }),
    row(Part::Flow, "-rp", PORT, "-rp 10001", |r| { r.command.port = r.port()?; Ok(()) }),
    row(Part::Flow, "-sp", PORT, "-sp 20001", |r| { r.command.source_port = Some(r.port()?); Ok(()) }),
    row(Part::Flow, "-i", "a network device", "-i eth0", |r| { r.command.device = Some(r.word()?.to_owned()); Ok(()) }),
    row(Part::Flow, "-p", "0 (flow, number, time), 1 (flow, number) or 2 (nothing)", "-p 0", |r| {
        r.command.metadata = r.choice(&[("0", Metadata::Full), ("1", Metadata::Sequence), ("2", Metadata::None)])?; Ok(())
    }),
    row(Part::Flow, "-T", "UDP, TCP, ICMP [type], SCTP association streams, or DCCP", "-T UDP", |r| r.protocol()),
    row(Part::Flow, "-D", "nothing", "-D", |r| { r.command.is_without_nagle = true; Ok(()) }),
    row(Part::Flow, "-Fp", FILE, "-Fp payload.bin", |r| { r.command.content = Some(r.word()?.to_owned()); Ok(()) }),

    row(Part::Law, "-C", RATE, "-C 1000", |r| r.gap()),
    row(Part::Law, "-U", RATES, "-U 500 1500", |r| r.gap()),
    row(Part::Law, "-E", RATE, "-E 1000", |r| r.gap()),
    row(Part::Law, "-O", RATE, "-O 1000", |r| r.gap()),
    row(Part::Law, "-N", NORMAL, "-N 10 2", |r| r.gap()),
    row(Part::Law, "-V", SHAPE, "-V 1.5 10", |r| r.gap()),
    row(Part::Law, "-Y", SHAPE, "-Y 10 2", |r| r.gap()),
    row(Part::Law, "-G", SHAPE, "-G 2 5", |r| r.gap()),
    row(Part::Law, "-W", SHAPE, "-W 2 5", |r| r.gap()),
    row(Part::Law, "-Ft", FILE, "-Ft gaps.txt", |r| {
        let path = r.word()?.to_owned();
        r.set_gap(Values::File { path, unit: Unit::Milliseconds }); Ok(())
    }),
    row(Part::Law, "-B", "two laws of milliseconds, on and off", "-B C 500 E 200", |r| r.bursts()),

    row(Part::Law, "-c", SIZE, "-c 512", |r| r.size()),
    row(Part::Law, "-u", "the smallest and the largest size in bytes", "-u 500 1000", |r| r.size()),
    row(Part::Law, "-e", SIZE, "-e 512", |r| r.size()),
    row(Part::Law, "-o", SIZE, "-o 512", |r| r.size()),
    row(Part::Law, "-n", NORMAL, "-n 512 20", |r| r.size()),
    row(Part::Law, "-v", SHAPE, "-v 1.5 100", |r| r.size()),
    row(Part::Law, "-y", SHAPE, "-y 512 20", |r| r.size()),
    row(Part::Law, "-g", SHAPE, "-g 2 256", |r| r.size()),
    row(Part::Law, "-w", SHAPE, "-w 2 256", |r| r.size()),
    row(Part::Law, "-Fs", FILE, "-Fs sizes.txt", |r| {
        let path = r.word()?.to_owned();
        r.set_size(Values::File { path, unit: Unit::Bytes }); Ok(())
    }),

    row(Part::Voip, "-x", "a codec: G.711.1, G.711.2, G.723.1, G.729.2 or G.729.3", "VoIP -x G.729.2", |r| {
        let chosen = r.choice(&CODECS)?;
        if let Some(Application::Voip { codec, .. }) = &mut r.command.application { *codec = chosen; }
        Ok(())
    }),
    row(Part::Voip, "-h", "RTP or CRTP", "VoIP -h RTP", |r| {
        let chosen = r.choice(&[("RTP", false), ("CRTP", true)])?;
        if let Some(Application::Voip { is_compressed, .. }) = &mut r.command.application { *is_compressed = chosen; }
        Ok(())
    }),
    row(Part::Voip, "-VAD", "nothing", "VoIP -VAD", |r| {
        if let Some(Application::Voip { is_silent_in_pauses, .. }) = &mut r.command.application { *is_silent_in_pauses = true; }
        r.remark("`-VAD`: ours leaves out packets in silences; the original only makes packets shorter");
        Ok(())
    }),

    row(Part::Flow, "-s", "a seed, 0 to 1", "-s 0.5", |r| { r.command.seed = Some(r.number(0.0, 1.0)?); Ok(()) }),
    row(Part::Flow, "-poll", "nothing", "-poll", |r| { r.command.is_polling = true; Ok(()) }),
    row(Part::Flow, "-j", "0 or 1", "-j 1", |r| {
        r.command.late = r.choice(&[("0", Late::Stretch), ("1", Late::Burst)])?;
        if r.command.late == Late::Burst {
            r.remark("`-j 1`: ours sends late packets at once, as documented, so that the mean rate holds; the original loses them");
        }
        Ok(())
    }),
    row(Part::Flow, "-sk", "a serial line", "-sk ttyS0", |r| { r.command.sender_serial = Some(r.word()?.to_owned()); Ok(()) }),
    row(Part::Flow, "-rk", "a serial line", "-rk ttyS0", |r| { r.command.receiver_serial = Some(r.word()?.to_owned()); Ok(()) }),
    row(Part::Flow, "-P", "nothing", "-P", |r| { r.remark("`-P` is for Windows and does nothing here"); Ok(()) }),
];

/// Reads a command line, without the program's name.
///
/// # Errors
/// If it is not one; the message names the word.
pub fn invocation<S: AsRef<str>>(words: &[S]) -> Result<Invocation, Error> {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    let mut reader = Reader::new(&words, false);
    match words.first() {
        None => return Err(Error::Nothing),
        Some(&"-h" | &"--help") => return Ok(Invocation::Help),
        Some(&"-Q") => {
            reader.at = 1;
            return Ok(Invocation::Daemon {
                logs: reader.only_logs("-Q")?,
            });
        }
        Some(first) if !first.starts_with('-') && application(first).is_none() => {
            reader.at = 1;
            return Ok(Invocation::Script {
                path: (*first).to_owned(),
                logs: reader.only_logs("the script")?,
            });
        }
        Some(_) => {}
    }
    if words.contains(&"--help") {
        return Ok(Invocation::Help);
    }
    Ok(Invocation::Flow(Box::new(reader.flow()?)))
}

/// Reads the text of a script: one flow a line; empty lines and those that begin with `#` are none.
///
/// # Errors
/// If a line is no flow, or has options of logs, which stand on the command line; the message has the line's number. If there is no flow at all.
pub fn script(text: &str) -> Result<Vec<Command>, Error> {
    let mut commands = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.first().is_none_or(|first| first.starts_with('#')) {
            continue;
        }
        if commands.len() == MOST_FLOWS {
            return Err(Error::TooMany);
        }
        let command = Reader::new(&words, true).flow();
        commands.push(command.map_err(|error| Error::Line {
            line: number + 1,
            error: Box::new(error),
        })?);
    }
    if commands.is_empty() {
        Err(Error::Nothing)
    } else {
        Ok(commands)
    }
}

fn application(word: &str) -> Option<&'static (&'static str, Application, Option<Protocol>)> {
    APPLICATIONS.iter().find(|(name, ..)| *name == word)
}

/// The words of a line, how far it is read, and what was understood.
struct Reader<'a> {
    words: &'a [&'a str],
    at: usize,
    flag: &'static Flag,
    is_script: bool,
    command: Command,
    logs: Logs,
    duration: Option<Time>,
    gap_flag: Option<&'static str>,
    size_flag: Option<&'static str>,
}

impl<'a> Reader<'a> {
    fn new(words: &'a [&'a str], is_script: bool) -> Reader<'a> {
        Reader {
            words,
            at: 0,
            flag: &FLAGS[0],
            is_script,
            command: Command::default(),
            logs: Logs::default(),
            duration: None,
            gap_flag: None,
            size_flag: None,
        }
    }

    fn flow(mut self) -> Result<Command, Error> {
        let mut last = None;
        while let Some(word) = self.words.get(self.at).copied() {
            self.at += 1;
            let is_voip = last == Some("VoIP");
            let flag = FLAGS
                .iter()
                .find(|flag| flag.word == word && (flag.part == Part::Voip) == is_voip);
            if let Some(last) = last
                && (flag.is_none() || !is_voip)
            {
                return Err(Error::AfterLast {
                    word: word.to_owned(),
                    last,
                });
            }
            if let Some((name, chosen, _)) = application(word) {
                last = Some(*name);
                self.command.application = Some(*chosen);
                continue;
            }
            let Some(flag) = flag else {
                return Err(Error::Unknown(word.to_owned()));
            };
            self.flag = flag;
            if flag.part == Part::Log && self.is_script {
                return Err(Error::LogInScript(flag.word));
            }
            (flag.set)(&mut self)?;
            if word == "-B" {
                last = Some("-B");
            }
        }
        self.finish()
    }

    /// What only the whole line tells.
    fn finish(mut self) -> Result<Command, Error> {
        if let Some(chosen) = self.command.application
            && let Some((application, _, carrier)) = APPLICATIONS.iter().find(|(_, known, _)| {
                std::mem::discriminant(known) == std::mem::discriminant(&chosen)
            })
        {
            if let Some(flag) = self.gap_flag.or(self.size_flag) {
                return Err(Error::Application { flag, application });
            }
            if let Some(carrier) = *carrier
                && carrier != std::mem::replace(&mut self.command.protocol, carrier)
                && self.words.contains(&"-T")
            {
                self.remark(format!(
                    "`-T` has no effect: `{application}` goes over {carrier:?}"
                ));
            }
        }
        if self.command.meter == Meter::RoundTrip && self.command.metadata != Metadata::Full {
            return Err(Error::RoundTripWithoutTimes);
        }
        let limits = &mut self.command.limits;
        if self.duration.is_some() || (limits.packets.is_some() || limits.bytes.is_some()) {
            limits.duration = self.duration;
        }
        if !self.is_script {
            self.command.logs = std::mem::take(&mut self.logs);
        }
        if self.command.protocol == Protocol::Icmp {
            self.remark(
                "`-T ICMP`: ours counts each request once; the original also counts the replies",
            );
        }
        self.remark_on_laws();
        Ok(self.command)
    }

    fn remark_on_laws(&mut self) {
        if let Values::Drawn {
            law,
            numbers,
            unit: Unit::PerSecond,
        } = &self.command.gap
        {
            let remark = match (law, numbers.as_slice()) {
                (Law::Constant, [rate])
                    if (1e6 / rate).fract() != 0.0 && self.gap_flag.is_some() =>
                {
                    Some(format!(
                        "`-C {rate}`: ours keeps the gap of {:.3} µs; the original rounds it up to whole microseconds",
                        1e6 / rate
                    ))
                }
                (Law::Uniform, [low, high]) => Some(format!(
                    "`-U {low} {high}`: the gap, not the rate, is uniform, as documented; the mean rate is {:.3} packets/s",
                    2.0 * low * high / (low + high)
                )),
                _ => None,
            };
            self.command.remarks.extend(remark);
        }
        for values in [&self.command.gap, &self.command.size] {
            if let Values::Drawn {
                law: Law::Weibull,
                numbers,
                ..
            } = values
                && let [shape, scale] = numbers.as_slice()
            {
                self.command.remarks.push(format!(
                    "Weibull: {shape} is the shape and {scale} the scale, as documented; the original takes them the other way round"
                ));
            }
        }
        let head = super::signalling::head_length(self.command.metadata, self.command.protocol);
        if let Values::Drawn {
            law: Law::Constant,
            numbers,
            ..
        } = &self.command.size
            && let [bytes] = numbers.as_slice()
            && *bytes < head as f64
            && self.command.application.is_none()
        {
            self.command.remarks.push(format!(
                "`-c {bytes}`: packets are of {head} bytes, as long as what `-p` puts into them"
            ));
        }
    }

    fn only_logs(mut self, last: &'static str) -> Result<Logs, Error> {
        while let Some(word) = self.words.get(self.at).copied() {
            self.at += 1;
            let Some(flag) = FLAGS
                .iter()
                .find(|flag| flag.word == word && flag.part == Part::Log)
            else {
                return Err(if FLAGS.iter().any(|flag| flag.word == word) {
                    Error::AfterLast {
                        word: word.to_owned(),
                        last,
                    }
                } else {
                    Error::Unknown(word.to_owned())
                });
            };
            self.flag = flag;
            (flag.set)(&mut self)?;
        }
        Ok(self.logs)
    }

    fn remark(&mut self, remark: impl Into<String>) {
        self.command.remarks.push(remark.into());
    }

    fn word(&mut self) -> Result<&'a str, Error> {
        let flag = self.flag;
        let word = self.words.get(self.at).copied().ok_or(Error::Missing {
            flag: flag.word,
            wants: flag.wants,
            example: flag.example,
        })?;
        self.at += 1;
        Ok(word)
    }

    fn unfit(&self, word: &str) -> Error {
        let Flag {
            word: flag,
            wants,
            example,
            ..
        } = *self.flag;
        Error::Unfit {
            flag,
            word: word.to_owned(),
            wants,
            example,
        }
    }

    /// The next word, if it belongs to the flag.
    fn peek(&self) -> Option<&'a str> {
        let word = self.words.get(self.at).copied()?;
        (!word.starts_with('-') && application(word).is_none()).then_some(word)
    }

    fn optional(&mut self, otherwise: &str) -> String {
        let word = self.peek();
        self.at += usize::from(word.is_some());
        word.unwrap_or(otherwise).to_owned()
    }

    fn choice<T: Copy>(&mut self, of: &[(&str, T)]) -> Result<T, Error> {
        let word = self.word()?;
        of.iter()
            .find(|(name, _)| *name == word)
            .map(|(_, value)| *value)
            .ok_or_else(|| self.unfit(word))
    }

    fn number(&mut self, least: f64, most: f64) -> Result<f64, Error> {
        let word = self.word()?;
        let number: f64 = word.parse().map_err(|_| self.unfit(word))?;
        if number.is_finite() && (least..=most).contains(&number) {
            Ok(number)
        } else {
            Err(self.unfit(word))
        }
    }

    fn whole(&mut self, least: u64, most: u64) -> Result<u64, Error> {
        let word = self.word()?;
        word.parse()
            .ok()
            .filter(|number| (least..=most).contains(number))
            .ok_or_else(|| self.unfit(word))
    }

    fn byte(&mut self) -> Result<u8, Error> {
        let word = self.word()?;
        let byte = match word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
            // `from_str_radix` would take a sign.
            Some(digits) if !digits.starts_with('+') => u8::from_str_radix(digits, 16),
            _ => word.parse(),
        };
        byte.map_err(|_| self.unfit(word))
    }

    fn port(&mut self) -> Result<u16, Error> {
        // In range by the bounds.
        Ok(self.whole(0, u16::MAX.into())? as u16)
    }

    /// As long as [`Time`] can hold.
    fn milliseconds(&mut self) -> Result<Time, Error> {
        Ok(Time::from_secs_f64(self.number(0.0, 1e10)? / 1e3))
    }

    fn host(&mut self) -> Result<Host, Error> {
        let word = self.word()?;
        if let Ok(address) = word.parse::<IpAddr>() {
            return Ok(Host::Address(address));
        }
        let is_name = word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || ".:%_-".contains(c));
        if is_name && !word.starts_with('-') && word.len() <= 255 {
            Ok(Host::Name(word.to_owned()))
        } else {
            Err(self.unfit(word))
        }
    }

    fn server(&mut self) -> Result<LogServer, Error> {
        let is_protocol = |word: &str| word == "UDP" || word == "TCP";
        let host = match self.peek() {
            Some(word) if !is_protocol(word) => self.host()?,
            _ => Host::Address(IpAddr::from([127, 0, 0, 1])),
        };
        let protocol = match self.peek() {
            Some(word) if is_protocol(word) => self.choice(&PROTOCOLS)?,
            Some(word) => return Err(self.unfit(word)),
            None => Protocol::Udp,
        };
        Ok(LogServer { host, protocol })
    }

    fn protocol(&mut self) -> Result<(), Error> {
        self.command.protocol = self.choice(&PROTOCOLS)?;
        match self.command.protocol {
            Protocol::Icmp
                if self
                    .peek()
                    .is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit())) =>
            {
                self.command.icmp_type = self.byte()?;
            }
            Protocol::Sctp => {
                let most = u64::from(u32::MAX);
                self.command.sctp =
                    Some((self.whole(0, most)? as u32, self.whole(1, most)? as u32));
            }
            _ => {}
        }
        Ok(())
    }

    /// The numbers of the law with this letter.
    fn law(&mut self, letter: char, unit: Option<Unit>) -> Result<Values, Error> {
        let &(_, law, count, is_rate) = LAWS
            .iter()
            .find(|(known, ..)| *known == letter.to_ascii_uppercase())
            .ok_or_else(|| self.unfit(&letter.to_string()))?;
        let unit = unit.unwrap_or(if is_rate {
            Unit::PerSecond
        } else {
            Unit::Milliseconds
        });
        // Neither a rate nor a shape or a scale may be 0; a mean, a deviation or a size may.
        let least = match law {
            Law::Pareto | Law::Cauchy | Law::Gamma | Law::Weibull => f64::MIN_POSITIVE,
            _ if unit == Unit::PerSecond => f64::MIN_POSITIVE,
            _ => 0.0,
        };
        let mut numbers = Vec::with_capacity(count);
        for _ in 0..count {
            numbers.push(self.number(least, f64::MAX)?);
        }
        if law == Law::Uniform && numbers[0] > numbers[1] {
            let most = self.words[self.at - 1];
            return Err(self.unfit(most));
        }
        Ok(Values::Drawn { law, numbers, unit })
    }

    fn gap(&mut self) -> Result<(), Error> {
        let values = self.law(letter(self.flag.word), None)?;
        self.set_gap(values);
        Ok(())
    }

    fn size(&mut self) -> Result<(), Error> {
        let values = self.law(letter(self.flag.word), Some(Unit::Bytes))?;
        self.set_size(values);
        Ok(())
    }

    fn set_gap(&mut self, values: Values) {
        if let Some(before) = self.gap_flag.replace(self.flag.word) {
            self.remark(format!(
                "`{before}` has no effect: `{}` comes after it",
                self.flag.word
            ));
        }
        self.command.gap = values;
    }

    fn set_size(&mut self, values: Values) {
        if let Some(before) = self.size_flag.replace(self.flag.word) {
            self.remark(format!(
                "`{before}` has no effect: `{}` comes after it",
                self.flag.word
            ));
        }
        self.command.size = values;
    }

    fn bursts(&mut self) -> Result<(), Error> {
        let mut part = || -> Result<Values, Error> {
            let word = self.word()?;
            let mut letters = word.chars();
            match (letters.next(), letters.next()) {
                (Some(letter), None) if letter.is_ascii_uppercase() => {
                    self.law(letter, Some(Unit::Milliseconds))
                }
                _ => Err(self.unfit(word)),
            }
        };
        let (on, off) = (part()?, part()?);
        self.command.bursts = Some(super::command::Bursts { on, off });
        Ok(())
    }
}

/// The letter of a law's flag.
fn letter(flag: &str) -> char {
    flag.chars()
        .nth(1)
        .expect("the flags of laws are of two characters")
}

#[cfg(test)]
mod tests;
