//! Runs a script against our TCP, in virtual time.
//!
//! Nothing waits: the clock goes from event to event and from timer to timer. What a connection
//! sends is queued with its time; a line that expects a segment takes the first that was not looked
//! at, or lets the clock run until there is one or it is too late for it. So, as in the original, a
//! segment that is sent and that no line expects is an error as soon as a line expects another one.
//!
//! | file | concern |
//! | --- | --- |
//! | `host` | connections and the clock |
//! | `wire` | the script's numbers and ours |
//! | `expect` | what left against what was expected |
//! | `call`, `option`, `socket` | system calls, socket options, file descriptors |
//! | `info` | fields of `tcp_info` |

mod call;
mod expect;
mod host;
mod info;
mod option;
mod socket;
mod wire;

use crate::assert::{self, Fault, Statement, Variables};
use crate::scope;
use crate::script::{Action, Call, Event, Place, ReadError, Script, SegmentLine, When};
use crate::setup::{self, Files, Settings};
use call::Reply;
use expect::{Due, Expected, Stamps};
use host::{EPOCH, Host};
use socket::{Role, Socket};
use std::collections::BTreeMap;
use trammel_core::time::{Span, Time};
use trammel_tcp::connection::{Failure as TcpFailure, State};
use trammel_tcp::stack::Stack;

/// How far an event may be off where the script does not say (`--tolerance_usecs`).
const TOLERANCE: Span = Span::from_ms(4);

/// What became of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScriptOutcome {
    /// All that it expects came to pass.
    Passed,
    /// Something else came to pass.
    Failed(Failure),
    /// It uses what is not modelled.
    Skipped {
        /// Where it does.
        place: Place,
        /// What it uses, as a noun.
        what: String,
    },
}

/// What a script expected, and what came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The line that expected it.
    pub place: Place,
    /// Time since the script's start.
    pub at: Span,
    /// What was expected, in packetdrill's notation where it is a segment.
    pub expected: String,
    /// What came.
    pub got: String,
}

/// A script that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What became of it.
    pub outcome: ScriptOutcome,
    /// A line for each segment, call and print: seconds since the start, and what it was.
    pub trace: Vec<String>,
}

/// Runs the script `text`. `files` reads what its commands name, such as `../common/defaults.sh`;
/// nothing else is looked at outside the text, and no command is executed.
///
/// # Errors
/// [`ReadError::Malformed`] where the script is not in the language.
pub fn run(text: &str, files: Files<'_>) -> Result<Report, ReadError> {
    run_on(text, files, &Tested::default())
}

/// The TCP that a script is run against, before the script's own settings.
#[derive(Clone, Copy, Debug)]
pub struct Tested {
    /// The congestion control of new sockets, by its name.
    pub congestion_control: &'static str,
    /// Changes the stack: nothing of Linux 6 where it does nothing.
    pub stack: fn(&mut Stack),
}

impl Default for Tested {
    /// Linux 6 with its defaults.
    fn default() -> Tested {
        Tested {
            congestion_control: "cubic",
            stack: |_| {},
        }
    }
}

/// As [`run`], against another TCP.
pub fn run_on(text: &str, files: Files<'_>, tested: &Tested) -> Result<Report, ReadError> {
    let skipped = |place, what| Report {
        outcome: ScriptOutcome::Skipped { place, what },
        trace: Vec::new(),
    };
    let script = match Script::read(text) {
        Err(ReadError::OutOfScope { place, what }) => return Ok(skipped(place, what)),
        other => other?,
    };
    let mut blocks = Vec::new();
    for event in &script.events {
        if let Action::Code(text) = &event.action {
            match assert::read(text, event.place) {
                Err(ReadError::OutOfScope { place, what }) => return Ok(skipped(place, what)),
                other => blocks.push(other?),
            }
        }
    }
    let mut runner = Runner::new(files, tested);
    let played = runner.script(&script, &blocks);
    if played.is_err()
        && let Some((place, what)) = scope::out_of_scope(&script)
    {
        return Ok(Report {
            outcome: ScriptOutcome::Skipped { place, what },
            trace: runner.host.trace,
        });
    }
    let outcome = match played {
        Ok(()) => ScriptOutcome::Passed,
        Err((place, Stop::Skip(what))) => ScriptOutcome::Skipped { place, what },
        Err((place, Stop::Fail { expected, got })) => ScriptOutcome::Failed(Failure {
            place,
            at: runner.host.now - EPOCH,
            expected,
            got,
        }),
    };
    Ok(Report {
        outcome,
        trace: runner.host.trace,
    })
}

/// Why a script goes no further.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stop {
    /// It uses what is not modelled.
    Skip(String),
    /// It expected something else.
    Fail { expected: String, got: String },
}

/// A call that blocks.
#[derive(Clone, Debug)]
struct Pending<'a> {
    call: &'a Call,
    place: Place,
    /// When it is to return.
    due: Due,
}

/// A script that is being run.
struct Runner<'a> {
    settings: Settings,
    files: Files<'a>,
    host: Host,
    sockets: BTreeMap<i64, Socket>,
    variables: Variables,
    tolerance: Span,
    stamps: Stamps,
    is_strict: bool,
    /// What relative times count from: the time of the last event.
    base: Time,
    pending: Option<Pending<'a>>,
}

impl<'a> Runner<'a> {
    fn new(files: Files<'a>, tested: &Tested) -> Runner<'a> {
        let mut settings = Settings {
            congestion_control: tested.congestion_control,
            ..Settings::default()
        };
        (tested.stack)(&mut settings.stack);
        Runner {
            settings,
            files,
            host: Host::new(),
            sockets: BTreeMap::new(),
            variables: Variables::new(),
            tolerance: TOLERANCE,
            stamps: Stamps::Names,
            is_strict: false,
            base: EPOCH,
            pending: None,
        }
    }

    fn script(
        &mut self,
        script: &'a Script,
        blocks: &[Vec<Statement>],
    ) -> Result<(), (Place, Stop)> {
        for (place, name, value) in &script.options {
            self.option(name, value)
                .map_err(|what| (*place, Stop::Skip(what)))?;
        }
        let mut blocks = blocks.iter();
        for event in &script.events {
            let block = match event.action {
                Action::Code(_) => blocks.next().map_or(&[][..], Vec::as_slice),
                _ => &[],
            };
            self.event(event, block)?;
        }
        self.finish_pending()
    }

    /// `--name=value` at a script's top.
    fn option(&mut self, name: &str, value: &str) -> Result<(), String> {
        let unknown = || format!("the option `--{name}={value}`");
        match (name, value) {
            // Addresses and ports are nobody's here.
            // Nor is memory, whose freeing a script may leave out.
            (
                "local_ip" | "remote_ip" | "gateway_ip" | "netmask_ip" | "bind_port"
                | "connect_port" | "send_omit_free",
                _,
            )
            | ("ip_version", "ipv4") => {}
            // How large segments come together to what the receiver sees as one; a script's line is
            // one here in any case.
            ("mss", _) if value.parse::<u16>().is_ok() => {}
            ("strict_segments", "") => self.is_strict = true,
            ("mtu", _) => {
                let mtu: u16 = value.parse().map_err(|_| unknown())?;
                // RFC 791 §3.1: any link carries 576 bytes.
                let mtu = Some(mtu).filter(|mtu| *mtu >= 576).ok_or_else(unknown)?;
                self.settings.stack.mss = mtu - 40;
            }
            ("tcp_ts_tick_usecs", "0") => self.stamps = Stamps::Names,
            ("tcp_ts_tick_usecs", "1000") => self.stamps = Stamps::Milliseconds,
            ("tolerance_usecs", _) => {
                let us: u32 = value.parse().map_err(|_| unknown())?;
                self.tolerance = Span::from_us(us.into());
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }

    fn event(&mut self, event: &'a Event, block: &[Statement]) -> Result<(), (Place, Stop)> {
        let due = self.due(event.when);
        let here = |stop| (event.place, stop);
        match &event.action {
            Action::Expect(line) => {
                self.expect(line, due)
                    .map_err(|(place, stop)| (place.unwrap_or(event.place), stop))?;
            }
            other => {
                let at = if event.when == When::Any {
                    self.host.now
                } else {
                    due.from
                };
                self.run_until(at)?;
                match other {
                    Action::Inject(line) => self.inject(line).map_err(here)?,
                    Action::Call(call) => {
                        // The end of a call that blocks counts from where its beginning does.
                        let origin = match event.when {
                            When::Absolute(_) | When::AbsoluteRange(..) => EPOCH,
                            _ => self.base,
                        };
                        let until = call.until.map(|until| origin + until);
                        self.call(call, event.place, due, until)?;
                    }
                    Action::Command(text) => {
                        setup::run(&mut self.settings, text, self.files)
                            .map_err(|what| here(Stop::Skip(what)))?;
                        // A kernel asks for this one whenever it sends.
                        for end in &mut self.host.ends {
                            let option = self.settings.stack.ecn_option;
                            end.connection.set_ecn_option(option);
                        }
                    }
                    Action::Code(_) | Action::Expect(_) => self.check(block)?,
                }
                self.settle()?;
            }
        }
        self.base = match event.when {
            When::Absolute(_) | When::Relative(_) => due.from,
            _ => self.host.now,
        };
        Ok(())
    }

    fn due(&self, when: When) -> Due {
        let (from, to) = match when {
            When::Absolute(at) => (EPOCH + at, EPOCH + at),
            When::Relative(after) => (self.base + after, self.base + after),
            When::AbsoluteRange(from, to) => (EPOCH + from, EPOCH + to),
            When::RelativeRange(from, to) => (self.base + from, self.base + to),
            When::Any => (Time::ZERO, Time::MAX),
        };
        Due {
            from,
            to,
            tolerance: self.tolerance,
        }
    }

    /// Lets time pass until `at`.
    fn run_until(&mut self, at: Time) -> Result<(), (Place, Stop)> {
        while self.host.next_timer() <= at {
            self.host.fire(self.host.next_timer());
            self.settle()?;
        }
        self.host.now = self.host.now.max(at);
        Ok(())
    }

    fn inject(&mut self, line: &SegmentLine) -> Result<(), Stop> {
        if self.host.opens(line) {
            let listening = |socket: &Socket| socket.role == Role::Listening;
            let listener = self.sockets.iter().find(|(_, socket)| listening(socket));
            if let Some((fd, socket)) = listener {
                let connection = socket.connection(&self.settings, self.host.ends.len());
                self.host.add(connection, Some(*fd));
            }
        }
        if self.host.ends.is_empty() {
            return Err(Stop::Skip("a segment for no connection".to_owned()));
        }
        if line.len > 0
            && self.nobody_reads()
            && let Some(end) = self.host.ends.last_mut()
        {
            end.connection.discard();
        }
        self.host.deliver(line);
        Ok(())
    }

    /// Whether the last connection is half closed and its other half has no reader: a kernel resets
    /// it when more data comes.
    fn nobody_reads(&self) -> bool {
        let end = self.host.ends.len() - 1;
        let state = self.host.ends[end].connection.state();
        let reads =
            |socket: &Socket| socket.role == Role::Connected(end) && !socket.is_shut_for_reading;
        matches!(state, State::FinWait1 | State::FinWait2) && !self.sockets.values().any(reads)
    }

    /// Expects a segment. The place of a call that failed meanwhile comes with its failure.
    fn expect(&mut self, line: &SegmentLine, due: Due) -> Result<(), (Option<Place>, Stop)> {
        let mut expected = Expected {
            line,
            met: 0,
            stamps: self.stamps,
            elapsed: due.from.saturating_since(EPOCH),
            is_strict: self.is_strict,
            due,
        };
        let mut has_begun = false;
        while !has_begun || !expected.is_met() {
            has_begun = true;
            let fail = |got: String| Stop::Fail {
                expected: format!("{line}{}", window_text(due)),
                got,
            };
            while self.host.sent.is_empty() {
                let next = self.host.next_timer();
                if next > due.latest() {
                    let sent = if expected.met > 0 {
                        format!("only {} of its bytes", expected.met)
                    } else {
                        "nothing".to_owned()
                    };
                    return Err((None, fail(sent)));
                }
                self.host.fire(next);
                self.settle().map_err(|(place, stop)| (Some(place), stop))?;
            }
            let Some(sent) = self.host.sent.pop_front() else {
                continue;
            };
            let end = &mut self.host.ends[sent.end];
            let tp = end.connection.tp();
            if let Err(what) = expected.meet(&sent, &mut end.wire, tp) {
                let is = end.wire.outbound(&sent.segment);
                let at = (sent.at - EPOCH).as_secs_f64();
                return Err((None, fail(format!("{is} at {at:.6} s: another {what}"))));
            }
        }
        Ok(())
    }

    fn call(
        &mut self,
        call: &'a Call,
        place: Place,
        mut due: Due,
        until: Option<Time>,
    ) -> Result<(), (Place, Stop)> {
        self.finish_pending()?;
        if let Some(until) = until {
            (due.from, due.to) = (until, until);
        }
        self.pending = Some(Pending { call, place, due });
        self.host.note(&call.name);
        self.settle()?;
        if self.pending.is_some() && call.until.is_none() {
            let expected = reply_text(call);
            let got = "a call that blocks".to_owned();
            return Err((place, Stop::Fail { expected, got }));
        }
        Ok(())
    }

    /// Tries the call that blocks again.
    fn settle(&mut self) -> Result<(), (Place, Stop)> {
        let Some(pending) = self.pending.take() else {
            return Ok(());
        };
        let (call, place) = (pending.call, pending.place);
        let reply = call::make(self, call).map_err(|stop| (place, stop))?;
        let got = match reply {
            Reply::Blocks => {
                self.pending = Some(pending);
                return Ok(());
            }
            Reply::Value(value) if call.result.is_none_or(|result| result == value) => None,
            Reply::Error(error)
                if call.result.is_none_or(|result| result == -1)
                    && call.errno.as_deref().is_none_or(|errno| errno == error) =>
            {
                None
            }
            Reply::Value(value) => Some(value.to_string()),
            Reply::Error(error) => Some(format!("-1 {error}")),
        };
        let got = match got {
            None if !pending.due.holds(self.host.now) => {
                let at = (self.host.now - EPOCH).as_secs_f64();
                Some(format!("a return at {at:.6} s"))
            }
            other => other,
        };
        match got {
            None => Ok(()),
            Some(got) => {
                let expected = format!("{}{}", reply_text(call), window_text(pending.due));
                Err((place, Stop::Fail { expected, got }))
            }
        }
    }

    /// Lets time pass until the call that blocks has returned.
    fn finish_pending(&mut self) -> Result<(), (Place, Stop)> {
        loop {
            let Some(pending) = &self.pending else {
                return Ok(());
            };
            let (call, place, due) = (pending.call, pending.place, pending.due);
            let next = self.host.next_timer();
            if next > due.latest() {
                let expected = format!("{}{}", reply_text(call), window_text(due));
                let got = "a call that still blocks".to_owned();
                return Err((place, Stop::Fail { expected, got }));
            }
            self.run_until(next)?;
        }
    }

    fn check(&mut self, block: &[Statement]) -> Result<(), (Place, Stop)> {
        let last = Role::Connected(self.host.ends.len().saturating_sub(1));
        let is_open = self.sockets.values().any(|socket| socket.role == last);
        for statement in block {
            if !is_open {
                // They are read by a descriptor.
                let expected = format!("an open connection for `{}`", statement.text);
                let got = "none".to_owned();
                return Err((statement.place, Stop::Fail { expected, got }));
            }
            let now = self.host.now;
            if let Some(last) = self.host.ends.len().checked_sub(1) {
                self.host.count(last);
            }
            let end = self.host.ends.last();
            let lookup = |name: &str| {
                let time = |span: Span| i64::try_from(span.as_us()).unwrap_or(i64::MAX);
                match (name, end) {
                    ("tcpi_busy_time", Some(end)) => Some(time(end.limits.busy)),
                    ("tcpi_rwnd_limited", Some(end)) => Some(time(end.limits.held_by_peer)),
                    _ => info::value(name, end.map(|end| &end.connection), now),
                }
            };
            match statement.run(&mut self.variables, &lookup) {
                Ok(None) => {}
                Ok(Some(line)) => self.host.note(&line),
                Err(Fault::Unknown(name)) => {
                    let what = format!("`{name}` in an assertion");
                    return Err((statement.place, Stop::Skip(what)));
                }
                Err(Fault::Untrue(got) | Fault::Wrong(got)) => {
                    let expected = format!("`{}`", statement.text);
                    return Err((statement.place, Stop::Fail { expected, got }));
                }
            }
        }
        Ok(())
    }

    /// The socket of a descriptor.
    fn socket(&mut self, fd: i64) -> Result<&mut Socket, Stop> {
        self.sockets.get_mut(&fd).ok_or_else(|| Stop::Fail {
            expected: format!("an open descriptor {fd}"),
            got: "EBADF".to_owned(),
        })
    }

    /// Opens a descriptor. The script's are names, which a later call may take again; where it
    /// expects none it is the lowest that is free.
    fn open(&mut self, wanted: Option<i64>, socket: Socket) -> i64 {
        let is_free = |fd: &i64| !self.sockets.contains_key(fd);
        let wanted = wanted.filter(|fd| *fd >= 0);
        let fd = wanted.unwrap_or_else(|| (3..1 << 20).find(is_free).unwrap_or(3));
        self.sockets.insert(fd, socket);
        fd
    }

    /// Why the connection of a descriptor failed, the first time that it is asked.
    fn take_failure(&mut self, fd: i64) -> Option<TcpFailure> {
        let socket = self.sockets.get_mut(&fd)?;
        let Role::Connected(end) = socket.role else {
            return None;
        };
        let failure = self.host.ends[end].connection.failure()?;
        (!std::mem::replace(&mut socket.has_told_failure, true)).then_some(failure)
    }
}

/// ` from 0.1 s to 0.2 s`, in the script's time.
fn window_text(due: Due) -> String {
    let seconds = |at: Time| at.saturating_since(EPOCH).as_secs_f64();
    if due.to == Time::MAX {
        return String::new();
    }
    let (from, to) = (seconds(due.earliest()), seconds(due.latest()));
    format!(" between {from:.6} and {to:.6} s")
}

/// `read(…) = 5`.
fn reply_text(call: &Call) -> String {
    let result = call
        .result
        .map_or_else(|| "...".to_owned(), |result| result.to_string());
    let errno = call
        .errno
        .as_ref()
        .map_or_else(String::new, |errno| format!(" {errno}"));
    format!("{}(…) = {result}{errno}", call.name)
}
